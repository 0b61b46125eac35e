"""Labels from an embedding of the nodes, by k-means."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from equigraph._utils.randomness import random_state_kept
from equigraph.graph.groups.encode import group_sums
from equigraph.graph.groups.placement import place_isolated
from equigraph.spectral.embedding import constrained_embedding


def spectral_labels(adjacency: sparse.csr_array, n_clusters: int, *, seed: int) -> NDArray[np.intp]:
    """Return the labels of plain normalised spectral clustering.

    This is k-means with ten starts on the k smallest eigenvectors of the normalised Laplacian, with rows scaled to unit
    length.
    """

    def embed(connected: sparse.csr_array, codes: NDArray | None, n_vectors: int) -> NDArray:
        return constrained_embedding(connected, None, n_vectors, normalized=True)[1]

    return embedded_labels(adjacency, None, n_clusters, embed, n_init=10, seed=seed)


def embedded_labels(
    adjacency: sparse.csr_array,
    codes: NDArray[np.intp] | None,
    n_clusters: int,
    embed: Callable[[sparse.csr_array, NDArray | None, int], NDArray],
    *,
    n_init: int,
    seed: int,
) -> NDArray[np.intp]:
    """Return labels by k-means on the unit rows of an embedding of the nodes with an edge.

    ``embed`` maps the subgraph of these nodes, their groups and a number of vectors to one row per node. The other
    nodes are assigned last, to the clusters where they improve fairness most; no cluster is empty.
    """
    active = np.diff(adjacency.indptr) > 0
    n_active = int(np.count_nonzero(active))
    n_groups = 1 if codes is None else int(codes.max()) + 1
    labels = np.zeros(active.size, dtype=np.intp)
    if n_active:
        connected = adjacency if n_active == active.size else adjacency[active][:, active]
        n_parts = min(n_clusters, n_active)
        points = unit_rows(embed(connected, None if codes is None else codes[active], n_parts))
        labels[active] = fill_empty(kmeans_labels(points, n_parts, n_init=n_init, seed=seed), points, n_parts)
    return _use_all(place_isolated(labels, ~active, codes, n_clusters, n_groups), ~active, n_clusters)


def _use_all(labels: NDArray[np.intp], movable: NDArray[np.bool_], n_clusters: int) -> NDArray[np.intp]:
    """Return labels without an empty cluster; isolated nodes may have been assigned to a few clusters only."""
    sizes = np.bincount(labels, minlength=n_clusters)
    for cluster in np.flatnonzero(sizes == 0):
        node = np.flatnonzero(movable & (sizes[labels] > 1))[-1]
        sizes[labels[node]] -= 1
        sizes[cluster] += 1
        labels[node] = cluster
    return labels


def unit_rows(points: NDArray) -> NDArray[np.float64]:
    """Scale every row to unit length; rows of zeros are unchanged."""
    # Rows are divided by the largest entry first, because squares of very small numbers underflow.
    largest = np.abs(points).max(axis=1, keepdims=True)
    points = points / np.where(largest > 0, largest, 1)
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.where(norms > 0, norms, 1)


def kmeans_labels(points: NDArray, n_clusters: int, *, n_init: int, seed: int) -> NDArray[np.intp]:
    """Return labels by k-means; fewer than ``n_clusters`` are used if there are fewer distinct points."""
    with random_state_kept():
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
    """Move the point farthest from its centre to each empty cluster, without emptying another one."""
    labels = labels.copy()
    for empty in np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0):
        sizes = np.bincount(labels, minlength=n_clusters)
        centres = group_sums(points, labels, n_clusters) / np.maximum(sizes, 1)[:, None]
        distance = ((points - centres[labels]) ** 2).sum(axis=1)
        distance[sizes[labels] < 2] = -1
        # Ties are resolved in favour of the largest cluster.
        farthest = np.flatnonzero(distance >= distance.max() - 1e-12)
        labels[farthest[np.argmax(sizes[labels[farthest]])]] = empty
    return labels
