"""From an embedding of the nodes to labels."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from equigraph.groups.placement import place_isolated
from equigraph.spectral.embedding import constrained_embedding


def spectral_labels(adjacency: sparse.csr_array, n_clusters: int, *, seed: int) -> NDArray[np.intp]:
    """Return the labels of plain normalised spectral clustering.

    The k smallest eigenvectors of the normalised Laplacian, rows scaled to unit length, then k-means with ten
    starts.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A validated adjacency. Nodes without an edge go to the smallest clusters.
    n_clusters : int
        k; at most n_nodes.
    seed : int
        Seed of k-means.

    Returns
    -------
    ndarray of shape (n_nodes,), dtype intp
        Cluster of each node, in ``range(n_clusters)``; every cluster has a node.

    Examples
    --------
    >>> two_edges = sparse.csr_array([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> labels = spectral_labels(two_edges, 2, seed=0)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """
    active = np.diff(adjacency.indptr) > 0
    n_active = int(np.count_nonzero(active))
    labels = np.zeros(active.size, dtype=np.intp)
    if n_active:
        connected = adjacency if n_active == active.size else adjacency[active][:, active]
        n_parts = min(n_clusters, n_active)
        points = unit_rows(constrained_embedding(connected, None, n_parts, normalized=True)[1])
        labels[active] = fill_empty(kmeans_labels(points, n_parts, n_init=10, seed=seed), points, n_parts)
    return place_isolated(labels, ~active, None, n_clusters, 1)


def unit_rows(points: NDArray) -> NDArray[np.float64]:
    """Scale every row to unit length; rows of zeros stay as they are."""
    # First by the largest entry, because squares of very small numbers underflow.
    largest = np.abs(points).max(axis=1, keepdims=True)
    points = points / np.where(largest > 0, largest, 1)
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(norms > 0, norms, 1)


def kmeans_labels(points: NDArray, n_clusters: int, *, n_init: int, seed: int) -> NDArray[np.intp]:
    """Cluster points by k-means; fewer clusters than asked for if there are fewer different points.

    Parameters
    ----------
    points : ndarray of shape (n_points, dimension)
        One row per node.
    n_clusters : int
        k; at most n_points.
    n_init : int
        Number of starts; the best one counts.
    seed : int
        Seed of the starts.

    Returns
    -------
    ndarray of shape (n_points,), dtype intp
        Labels in ``range(n_clusters)``.
    """
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    largest = float(np.abs(points).max())
    points = points / 2.0 ** np.round(np.log2(largest)) if largest > 0 else points
    model = KMeans(n_clusters, n_init=n_init, random_state=seed % 2**32)
    # One thread: the order of summation must not depend on the machine.
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.filterwarnings("ignore", "Number of distinct clusters", ConvergenceWarning)
        return model.fit_predict(points).astype(np.intp)


def fill_empty(labels: NDArray[np.intp], points: NDArray, n_clusters: int) -> NDArray[np.intp]:
    """Give each empty cluster the point farthest from its centre, of the clusters that can spare one."""
    labels = labels.copy()
    for empty in np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0):
        sizes = np.bincount(labels, minlength=n_clusters)
        sums = np.zeros((n_clusters, points.shape[1]))
        np.add.at(sums, labels, points)
        centres = sums / np.maximum(sizes, 1)[:, None]
        distance = ((points - centres[labels]) ** 2).sum(axis=1)
        distance[sizes[labels] < 2] = -1
        # Among equals, a node of the largest cluster.
        farthest = np.flatnonzero(distance >= distance.max() - 1e-12)
        labels[farthest[np.argmax(sizes[labels[farthest]])]] = empty
    return labels
