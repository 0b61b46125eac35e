"""The methods by name, for the command line, comparisons and the tests that run over all of them."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from equigraph._utils.text import did_you_mean
from equigraph.exceptions import ParameterError


@dataclass(frozen=True)
class Method:
    """One clustering method."""

    name: str
    estimator: str  # name of the class in the namespace of equigraph
    summary: str  # description in one line
    extra: str | None = None  # extra of equigraph that it needs

    def load(self) -> Any:
        """Import and return the class."""
        return getattr(importlib.import_module("equigraph"), self.estimator)


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("fair-partition", "FairPartition", "search on labels for cohesion and fairness; the default"),
        Method("fair-nmtf", "FairNMTF", "well-posed fair tri-factorisation with a scale-free dial"),
        Method("nmtf", "NMTF", "tri-factorisation without fairness"),
        Method("ifair-nmtf", "IFairNMTF", "the paper's individually fair tri-factorisation"),
        Method("sym-nmf", "SymNMF", "symmetric factorisation without fairness"),
        Method("dfnmf", "DFNMF", "deep fair factorisation with a group-parity penalty"),
        Method("sc", "SpectralClustering", "spectral clustering without fairness"),
        Method("fair-sc", "FairSC", "spectral clustering under exact group fairness (ratio cut)"),
        Method("scalable-fair-sc", "ScalableFairSC", "the same for the normalised cut, matrix-free"),
        Method("individual-fair-sc", "IndividualFairSC", "spectral clustering under a representation graph"),
        Method("dmon", "DMoN", "graph neural network that maximises modularity", extra="neural"),
        Method("fair-louvain", "FairLouvain", "local moves on modularity and fairness"),
        Method("leiden", "Leiden", "modularity without fairness, by igraph", extra="peers"),
        Method("louvain", "Louvain", "modularity without fairness, by networkit", extra="peers"),
        Method("random", "RandomClustering", "random labels, a baseline for every comparison"),
    )
}


def get_method(name: str) -> Method:
    """Return a method by name."""
    if name not in METHODS:
        raise ParameterError(
            f"There is no method {name!r}{did_you_mean(name, METHODS)}; the methods are {', '.join(METHODS)}."
        )
    return METHODS[name]
