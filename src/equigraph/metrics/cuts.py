"""Scores of the edges between clusters: conductance and normalised cut."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.parameters import check_known
from equigraph.metrics._table import Labels, read_nodes
from equigraph.metrics.quality import _degrees, _same_cluster


def conductance_score(adjacency: Any, labels: Any, *, average: Literal["mean", "max"] = "mean") -> float:
    """Return the conductance of a clustering.

    The conductance of a cluster is ``cut(C) / min(vol(C), 2m - vol(C))``: the weight of the edges that leave it over
    the smaller of its volume and that of the rest. It lies in [0, 1]; lower is better.

    Parameters
    ----------
    adjacency : graph-like
        Anything that :func:`equigraph.graph.as_graph` takes; edge weights count.
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    average : {"mean", "max"}, default "mean"
        Over the clusters: the mean, or the worst cluster.

    Returns
    -------
    float
        The conductance; a cluster that has no edge, or all of them, counts as 0.

    References
    ----------
    R. Kannan, S. Vempala, A. Vetta, "On Clusterings: Good, Bad and Spectral", Journal of the ACM 51(3), 2004.

    Examples
    --------
    A path of four nodes, cut in the middle:

    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> round(conductance_score(path, [0, 0, 1, 1]), 3)
    0.333
    """
    check_known("average", average, ("mean", "max"))
    nodes = read_nodes(adjacency)
    return _conductance(nodes.adjacency, nodes.labels(labels), average)


def normalized_cut_score(adjacency: Any, labels: Any) -> float:
    """Return the normalised cut of a clustering.

    It is ``sum_C cut(C) / vol(C)`` over the clusters, from 0 to their number; lower is better.

    Parameters
    ----------
    adjacency : graph-like
        Anything that :func:`equigraph.graph.as_graph` takes; edge weights count.
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.

    Returns
    -------
    float
        The normalised cut; a cluster without edges counts as 0.

    References
    ----------
    J. Shi, J. Malik, "Normalized Cuts and Image Segmentation", IEEE TPAMI 22(8), 2000.

    Examples
    --------
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> round(normalized_cut_score(path, [0, 0, 1, 1]), 3)
    0.667
    """
    nodes = read_nodes(adjacency)
    return _normalized_cut(nodes.adjacency, nodes.labels(labels))


def _conductance(adjacency: sparse.csr_array, labels: Labels, average: str = "mean") -> float:
    cuts, volumes = _cuts_and_volumes(adjacency, labels)
    smaller = np.minimum(volumes, volumes.sum() - volumes)
    each = np.divide(cuts, smaller, out=np.zeros_like(cuts), where=smaller > 0)
    return float(each.max() if average == "max" else each.mean())


def _normalized_cut(adjacency: sparse.csr_array, labels: Labels) -> float:
    cuts, volumes = _cuts_and_volumes(adjacency, labels)
    return float(np.divide(cuts, volumes, out=np.zeros_like(cuts), where=volumes > 0).sum())


def _cuts_and_volumes(
    adjacency: sparse.csr_array, labels: Labels
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of the edges that leave each cluster, and the sum of its degrees."""
    volumes: NDArray[Any] = np.bincount(
        labels.codes, weights=_degrees(adjacency), minlength=labels.n_clusters
    )
    cuts = np.zeros(labels.n_clusters)
    for start, stop, same, data in _same_cluster(adjacency, labels.codes):
        own = np.repeat(labels.codes[start:stop], np.diff(adjacency.indptr[start : stop + 1]))
        cuts += np.bincount(own[~same], weights=data[~same], minlength=labels.n_clusters)
    return cuts, volumes
