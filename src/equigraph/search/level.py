"""Levels of aggregation: quotient graphs whose sites are sets of sites of the level below."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.search.arrays import Level


def first_level(adjacency: sparse.csr_array, columns: NDArray[np.int32], n_groups: int) -> Level:
    """Return the finest level of a graph, whose sites are its nodes; indices become int32, as compiled loops expect."""
    # Weights in float32 would be added in single precision; the other arrays are shared.
    data = adjacency.data.astype(np.float64, copy=False)
    double = sparse.csr_array((data, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    arrays = (double.indptr, double.indices, double.data)
    return level_of(arrays, double.sum(axis=1), columns, n_groups)


def level_of(arrays: Any, strength: NDArray, columns: NDArray[np.int32], n_groups: int) -> Level:
    """Return a range of rows of a graph as a level, from their CSR arrays, strengths and groups."""
    indptr, indices, data = arrays
    return Level(
        np.ascontiguousarray(indptr, dtype=np.int32),
        np.ascontiguousarray(indices, dtype=np.int32),
        np.ascontiguousarray(data, dtype=np.float64),
        strength,
        np.ones(strength.size, dtype=np.int64),
        columns,
        np.zeros((0, n_groups), dtype=np.int64),
    )


def aggregate(level: Level, labels: NDArray, between: sparse.csr_array | None = None) -> Level:
    """Return the quotient graph with one super-node per cluster; labels must be compact.

    ``between`` are the weights between the clusters, if they are known already.
    """
    from equigraph.search.kernels.parts import collapse

    labels = labels.astype(np.int32, copy=False)
    n_parts = int(labels.max()) + 1
    if between is None:
        indptr, indices, data = collapse(level.indptr, level.indices, level.data, 0, labels, n_parts)
        # The graph is symmetric: transposing it only sorts the columns.
        between = sparse.csc_array((data, indices, indptr), shape=(n_parts, n_parts)).tocsr()
    return Level(
        between.indptr.astype(np.int32),
        between.indices.astype(np.int32),
        between.data,
        np.bincount(labels, level.strength, n_parts).astype(np.float64),
        np.bincount(labels, level.sizes, n_parts).astype(np.int64),
        np.zeros((0, level.columns.shape[1]), dtype=np.int32),
        count_groups(level, labels, n_parts),
    )


def count_groups(level: Level, labels: NDArray, n_clusters: int) -> NDArray[np.int64]:
    """Return the number of nodes of each group in each cluster."""
    n_groups = level.counts.shape[1]
    table = np.zeros((n_clusters, n_groups), dtype=np.int64)
    if level.counts.shape[0]:
        np.add.at(table, labels, level.counts)
        return table
    flat = table.reshape(-1)
    for column in level.columns.T:
        known = column >= 0
        flat += np.bincount(labels[known] * np.int64(n_groups) + column[known], minlength=flat.size)
    return table


def links_to(level: Level, sites: NDArray, labels: NDArray, n_clusters: int) -> NDArray[np.float64]:
    """Return the weight from each of the sites to every cluster."""
    graph = sparse.csr_array((level.data, level.indices, level.indptr), shape=(level.n_sites, labels.size))
    rows = graph[sites]
    place = np.repeat(np.arange(sites.size), np.diff(rows.indptr)) * n_clusters + labels[rows.indices]
    flat = np.bincount(place, rows.data, sites.size * n_clusters).astype(np.float64, copy=False)
    return flat.reshape(sites.size, n_clusters)


def compact(labels: NDArray) -> NDArray[np.int32]:
    """Renumber labels to 0, 1, ..., in the order of the old numbers.

    Examples
    --------
    >>> compact(np.array([7, 2, 7])).tolist()
    [1, 0, 1]
    """
    if labels.size == 0:
        return labels.astype(np.int32)
    used = np.bincount(labels) > 0
    return (np.cumsum(used) - 1)[labels].astype(np.int32)


def common_parts(one: NDArray, other: NDArray) -> NDArray[np.int32]:
    """Return the overlay of two labellings: sites share a part if they share both labels."""
    pairs = one.astype(np.int64) * (int(other.max()) + 1) + other
    return np.unique(pairs, return_inverse=True)[1].astype(np.int32)
