"""Where links go: how many stay inside clusters, and those of each node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.graph.groups.sums import indicator
from equigraph.metrics._table import read_nodes


def link_shares(adjacency: Any, labels: Any) -> NDArray[np.float64]:
    """Return the share of each node's link weight that goes into each cluster.

    Parameters
    ----------
    adjacency : graph-like
        Anything that :func:`equigraph.graph.as_graph` takes; edge weights count.
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.

    Returns
    -------
    ndarray of shape (n_nodes, n_clusters)
        Rows sum to 1, and to 0 for a node without a link; columns are the non-empty clusters by label value.

    Raises
    ------
    ParameterError
        If the labels do not fit the graph.

    Examples
    --------
    A path of three nodes, the last one in a cluster of its own:

    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> link_shares(path, ["a", "a", "b"]).tolist()
    [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]]
    """
    nodes = read_nodes(adjacency)
    encoded = nodes.labels(labels)
    weights = np.asarray(
        (nodes.adjacency @ indicator(encoded.codes, encoded.n_clusters)).todense(), dtype=np.float64
    )
    degrees = weights.sum(axis=1, keepdims=True)
    return np.divide(weights, degrees, out=np.zeros_like(weights), where=degrees > 0)


def share_inside(adjacency: sparse.csr_array, labels: NDArray) -> float:
    """Return the share of the links, by weight, whose two ends are in the same cluster; NaN without links."""
    links = adjacency.tocoo()
    rows, columns = links.coords
    total = float(links.data.sum(dtype=np.float64))
    kept = float(links.data[labels[rows] == labels[columns]].sum(dtype=np.float64))
    return kept / total if total else float("nan")
