"""Rules while they are turned into arrays: what each kind adds to, and columns of nodes that are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.text import count
from equigraph.exceptions import ParameterError
from equigraph.rules.facts import Facts

Integers = NDArray[np.int64]


@dataclass
class CountColumn:
    """Nodes of which every cluster may have so many; see `equigraph.rules.CompiledRules`."""

    name: tuple[str, ...]
    nodes: Integers
    least: Integers  # in each cluster
    most: Integers
    alone: int = 1
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(1)


@dataclass
class Arrays:
    """What rules add to, one after another."""

    facts: Facts
    n_clusters: int
    least_size: Integers = field(init=False)
    most_size: Integers = field(init=False)
    joined: list[tuple[int, int]] = field(default_factory=list)  # pairs of nodes that share a cluster
    fixed: list[tuple[int, int]] = field(default_factory=list)  # nodes with their clusters
    apart: list[list[int]] = field(default_factory=list)  # sets of nodes of which none share a cluster
    columns: dict[tuple[str, ...], CountColumn] = field(default_factory=dict)
    friends: dict[Any, tuple[sparse.csr_array, Integers]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.least_size = np.ones(self.n_clusters, dtype=np.int64)
        self.most_size = np.full(self.n_clusters, self.n, dtype=np.int64)

    @property
    def n(self) -> int:
        """Number of nodes."""
        return self.facts.graph.n_nodes

    def check_cluster(self, where: str, cluster: int) -> None:
        """Raise if there is no cluster of a number."""
        if cluster >= self.n_clusters:
            raise ParameterError(
                f"Rules: {where} is cluster {cluster}, and there are {count(self.n_clusters, 'cluster')}: expected "
                f"0 to {self.n_clusters - 1}."
            )

    def column(self, name: tuple[str, ...], nodes: Sequence[int] | Integers) -> CountColumn:
        """Return the column of a name, with these nodes added to it."""
        found = self.columns.get(name)
        if found is None:
            least = np.zeros(self.n_clusters, dtype=np.int64)
            found = CountColumn(name, np.zeros(0, dtype=np.int64), least, np.full_like(least, self.n))
            self.columns[name] = found
        found.nodes = np.union1d(found.nodes, np.asarray(nodes, dtype=np.int64))
        return found

    def group(self, attribute: str, value: str) -> CountColumn:
        """Return the column of a value of an attribute."""
        names, codes = self.facts.codes(attribute)
        key = ("group", attribute, value)
        return self.columns.get(key) or self.column(key, np.flatnonzero(codes == names.index(value)))

    def groups(self, attribute: str) -> list[CountColumn]:
        """Return the columns of all values of an attribute."""
        return [self.group(attribute, value) for value in self.facts.codes(attribute)[0]]
