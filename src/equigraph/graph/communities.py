"""Communities as other libraries give them, as labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from typing import Any

import numpy as np

from equigraph.exceptions import ParameterError
from equigraph.graph.adapters import library_of

# What networkit gives to a node that is in no part of a partition.
_NO_PART = np.iinfo(np.uint64).max


def labels_of_communities(labels: Any) -> Any:
    """Return communities as labels: in node order, or a dict by node; whatever is no communities stays as it is.

    These are the sets of networkx, a clustering of igraph, a partition of networkit, and communities of cdlib.

    >>> labels_of_communities([{"ann", "bob"}, {"cem"}]) == {"ann": 0, "bob": 0, "cem": 1}
    True
    """
    if isinstance(labels, Iterator):
        labels = list(labels)
    library = library_of(labels)
    if library == "igraph":
        return _of_igraph(labels)
    if library == "networkit":
        return _of_networkit(labels)
    if type(labels).__module__.partition(".")[0] == "cdlib":
        return _by_node(labels.communities)
    is_listed = isinstance(labels, (list, tuple, Set, type({}.values()))) and len(labels) > 0
    if is_listed and all(isinstance(one, Set) for one in labels):
        return _by_node(labels)
    return labels


def _of_igraph(clustering: Any) -> Any:
    if hasattr(clustering, "as_clustering"):  # a dendrogram, cut where igraph would cut it
        clustering = clustering.as_clustering()
    if not hasattr(clustering, "membership") or not hasattr(clustering, "graph"):
        raise ParameterError(
            f"An igraph {type(clustering).__name__} is no clustering: expected a VertexClustering."
        )
    if "name" not in clustering.graph.vs.attributes():
        return np.asarray(clustering.membership)
    return dict(zip(clustering.graph.vs["name"], clustering.membership, strict=True))


def _of_networkit(partition: Any) -> Any:
    if not hasattr(partition, "getVector"):
        raise ParameterError(f"A networkit {type(partition).__name__} is no partition: expected a Partition.")
    parts = np.asarray(partition.getVector(), dtype=np.uint64)
    known = parts != _NO_PART
    if known.all():
        return parts.astype(np.int64)
    # Nodes that were removed from the graph keep their place in the partition.
    return dict(zip(np.flatnonzero(known).tolist(), parts[known].tolist(), strict=True))


def _by_node(communities: Iterable[Iterable[Any]]) -> dict[Any, int]:
    labels: dict[Any, int] = {}
    for number, members in enumerate(communities):
        for node in members:
            if labels.setdefault(node, number) != number:
                raise ParameterError(
                    f"The node {node!r} is in the communities {labels[node]} and {number}: expected each node in one."
                )
    return labels
