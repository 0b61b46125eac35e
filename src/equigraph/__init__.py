"""Cluster a graph so that the clusters are cohesive and fair, and see the trade-off between the two.

Public names are imported when they are first used (PEP 562), so that ``import equigraph`` stays cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from equigraph._utils.version import __version__

if TYPE_CHECKING:
    from equigraph import community, datasets, exceptions, metrics, plotting, rules, spectral
    from equigraph._utils import callbacks
    from equigraph._utils.citation import cite
    from equigraph.analysis import tradeoff
    from equigraph.analysis.choosing import Stability, stability
    from equigraph.analysis.comparison import Comparison, compare
    from equigraph.analysis.tradeoff import TradeoffCurve, TradeoffCurves, tradeoff_curve
    from equigraph.apps import classes
    from equigraph.apps.classes import ClassLists, Division, read_class_lists, roster
    from equigraph.apps.classes.divide import divide  # its module has the same name
    from equigraph.apps.classes.roster import Roster, read_roster
    from equigraph.community import (
        FairLouvain,
        FairPartition,
        Leiden,
        Louvain,
        RandomClustering,
        neural,
        refine_labels,
    )
    from equigraph.community.neural import DMoN
    from equigraph.factorization import DFNMF, NMTF, FairNMTF, IFairNMTF, SymNMF, penalties
    from equigraph.graph import Graph, as_graph, knn_graph, read_graph
    from equigraph.results.cluster import cluster, fair_communities
    from equigraph.results.result import ClusteringResult
    from equigraph.rules import Rules
    from equigraph.spectral import FairSC, IndividualFairSC, ScalableFairSC, SpectralClustering
    from equigraph.stores.blocks import BlockGraph, open_blocks, write_blocks
    from equigraph.stores.edge_blocks import write_edge_blocks

_MODULES = {
    "callbacks": "_utils.callbacks",
    "classes": "apps.classes",
    "community": "community",
    "datasets": "datasets",
    "exceptions": "exceptions",
    "metrics": "metrics",
    "neural": "community.neural",
    "penalties": "factorization.penalties",
    "plotting": "plotting",
    "roster": "apps.classes.roster",
    "rules": "rules",
    "spectral": "spectral",
    "tradeoff": "analysis.tradeoff",
}
_NAMES = {
    name: f"equigraph.{module}"
    for module, names in {
        "_utils.citation": "cite",
        "analysis.choosing": "Stability stability",
        "analysis.comparison": "Comparison compare",
        "analysis.tradeoff": "TradeoffCurve TradeoffCurves tradeoff_curve",
        "apps.classes": "ClassLists Division divide read_class_lists",
        "apps.classes.roster": "Roster read_roster",
        "community": "FairLouvain FairPartition Leiden Louvain RandomClustering refine_labels",
        "community.neural": "DMoN",
        "factorization": "DFNMF FairNMTF IFairNMTF NMTF SymNMF",
        "graph": "Graph as_graph knn_graph read_graph",
        "results.cluster": "cluster fair_communities",
        "results.result": "ClusteringResult",
        "rules": "Rules",
        "spectral": "FairSC IndividualFairSC ScalableFairSC SpectralClustering",
        "stores.blocks": "BlockGraph open_blocks write_blocks",
        "stores.edge_blocks": "write_edge_blocks",
    }.items()
    for name in names.split()
}

__all__ = [
    "DFNMF", "NMTF", "BlockGraph", "ClassLists", "ClusteringResult", "Comparison", "DMoN", "Division", "FairLouvain",
    "FairNMTF", "FairPartition", "FairSC", "Graph", "IFairNMTF", "IndividualFairSC", "Leiden", "Louvain",
    "RandomClustering", "Roster", "Rules", "ScalableFairSC", "SpectralClustering", "Stability", "SymNMF",
    "TradeoffCurve", "TradeoffCurves", "__version__", "as_graph", "callbacks", "cite", "classes", "cluster",
    "community", "compare", "datasets", "divide", "exceptions", "fair_communities", "knn_graph", "metrics", "neural",
    "open_blocks",
    "penalties", "plotting", "read_class_lists", "read_graph", "read_roster", "refine_labels", "roster", "rules",
    "spectral", "stability", "tradeoff", "tradeoff_curve", "write_blocks", "write_edge_blocks",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"equigraph.{_MODULES[name]}")
    if name in _NAMES:
        return getattr(importlib.import_module(_NAMES[name]), name)
    raise AttributeError(f"module 'equigraph' has no attribute {name!r}")


def __dir__() -> list[str]:
    # Without what the module imports for itself, such as importlib.
    return sorted(__all__)
