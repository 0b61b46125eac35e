"""Cluster a graph so that the clusters are cohesive and fair, and see the trade-off between the two.

Public names are imported when they are first used (PEP 562), so that ``import equigraph`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from equigraph._version import __version__

if TYPE_CHECKING:
    from equigraph import (
        callbacks,
        classes,
        community,
        datasets,
        exceptions,
        metrics,
        neural,
        penalties,
        plotting,
        roster,
        rules,
        spectral,
        tradeoff,
    )
    from equigraph.choosing import Stability, stability
    from equigraph.citation import cite
    from equigraph.classes import ClassLists, Division, read_class_lists
    from equigraph.classes.divide import divide  # its module has the same name
    from equigraph.community import (
        FairLouvain,
        FairPartition,
        Leiden,
        Louvain,
        RandomClustering,
        refine_labels,
    )
    from equigraph.comparison import Comparison, compare
    from equigraph.execution.blocks import BlockGraph, open_blocks, write_blocks
    from equigraph.execution.edge_blocks import write_edge_blocks
    from equigraph.factorization import DFNMF, NMTF, FairNMTF, IFairNMTF, SymNMF
    from equigraph.graph import Graph, as_graph, read_graph
    from equigraph.neural import DMoN
    from equigraph.results import ClusteringResult, cluster
    from equigraph.roster import Roster, read_roster
    from equigraph.rules import Rules
    from equigraph.spectral import FairSC, IndividualFairSC, ScalableFairSC, SpectralClustering
    from equigraph.tradeoff import TradeoffCurve, TradeoffCurves, tradeoff_curve

_MODULES = (
    "callbacks", "classes", "community", "datasets", "exceptions", "metrics", "neural", "penalties", "plotting",
    "roster", "rules", "spectral", "tradeoff",
)  # fmt: skip
_NAMES = {
    name: f"equigraph.{module}"
    for module, names in {
        "choosing": "Stability stability",
        "citation": "cite",
        "classes": "ClassLists Division divide read_class_lists",
        "community": "FairLouvain FairPartition Leiden Louvain RandomClustering refine_labels",
        "comparison": "Comparison compare",
        "execution.blocks": "BlockGraph open_blocks write_blocks",
        "execution.edge_blocks": "write_edge_blocks",
        "factorization": "DFNMF FairNMTF IFairNMTF NMTF SymNMF",
        "graph": "Graph as_graph read_graph",
        "neural": "DMoN",
        "results": "ClusteringResult cluster",
        "roster": "Roster read_roster",
        "rules": "Rules",
        "spectral": "FairSC IndividualFairSC ScalableFairSC SpectralClustering",
        "tradeoff": "TradeoffCurve TradeoffCurves tradeoff_curve",
    }.items()
    for name in names.split()
}

__all__ = [
    "DFNMF", "NMTF", "BlockGraph", "ClassLists", "ClusteringResult", "Comparison", "DMoN", "Division", "FairLouvain",
    "FairNMTF", "FairPartition", "FairSC", "Graph", "IFairNMTF", "IndividualFairSC", "Leiden", "Louvain",
    "RandomClustering", "Roster", "Rules", "ScalableFairSC", "SpectralClustering", "Stability", "SymNMF",
    "TradeoffCurve", "TradeoffCurves", "__version__", "as_graph", "callbacks", "cite", "classes", "cluster",
    "community", "compare", "datasets", "divide", "exceptions", "metrics", "neural", "open_blocks", "penalties",
    "plotting", "read_class_lists", "read_graph", "read_roster", "refine_labels", "roster", "rules", "spectral",
    "stability", "tradeoff", "tradeoff_curve", "write_blocks", "write_edge_blocks",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"equigraph.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'equigraph' has no attribute {name!r}")


def __dir__() -> list[str]:
    # What the module needs for itself, such as importlib, is nobody's to use.
    return sorted(__all__)
