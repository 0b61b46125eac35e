"""Levels of aggregation: a graph whose nodes are sets of nodes of the graph below."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.groups import group_sums
from equigraph.refinement.objective import Objective


@dataclass(frozen=True)
class Level:
    """A graph at one level of aggregation.

    Attributes
    ----------
    graph : csr_array of shape (n, n)
        Weights between different super-nodes, in float64, without a diagonal: what lies inside a super-node
        moves with it and never changes a gain.
    strength : ndarray of shape (n,)
        Sum of the degrees of the nodes inside.
    counts : ndarray of shape (n, n_groups), int64
        Number of nodes of each group inside, so that fairness is exact at every level.
    """

    graph: sparse.csr_array
    strength: NDArray[np.float64]
    counts: NDArray[np.int64]

    @property
    def n_nodes(self) -> int:
        """Number of super-nodes."""
        return int(self.strength.size)


def first_level(adjacency: sparse.csr_array, codes: NDArray[np.intp], n_groups: int) -> Level:
    """Return the graph itself as a level."""
    graph = adjacency.astype(np.float64, copy=False)
    counts = np.zeros((graph.shape[0], n_groups), dtype=np.int64)
    counts[np.arange(codes.size), codes] = 1
    return Level(graph, np.asarray(graph.sum(axis=1), dtype=np.float64).ravel(), counts)


def aggregate(level: Level, labels: NDArray[np.int64]) -> Level:
    """Make one super-node of each cluster; labels are compact."""
    from equigraph.refinement.large_kernels import collapse

    n_clusters = int(labels.max()) + 1
    graph = level.graph
    # Labels are read at random, so they are kept short.
    arrays = collapse(graph.indptr, graph.indices, graph.data, labels.astype(np.int32), n_clusters)
    indptr, indices, data = arrays
    # The transpose is the same graph, with its columns sorted.
    coarse = sparse.csc_array((data, indices, indptr), shape=(n_clusters, n_clusters)).tocsr()
    index = graph.indices.dtype
    # One index type throughout, so that the kernels are compiled once.
    coarse = sparse.csr_array(
        (coarse.data, coarse.indices.astype(index, copy=False), coarse.indptr.astype(index, copy=False)),
        shape=coarse.shape,
    )
    strength = _sums(labels, level.strength, n_clusters)
    counts = group_sums(level.counts, labels, n_clusters).astype(np.int64)
    return Level(coarse, strength, counts)


def _sums(labels: NDArray[np.int64], values: NDArray, n_clusters: int) -> NDArray[np.float64]:
    return np.bincount(labels, weights=values, minlength=n_clusters).astype(np.float64, copy=False)


def compact(labels: NDArray) -> NDArray[np.int64]:
    """Renumber labels to 0, 1, ..., in the order of the old numbers.

    Examples
    --------
    >>> compact(np.array([7, 2, 7])).tolist()
    [1, 0, 1]
    """
    if labels.size == 0:
        return labels.astype(np.int64)
    used = np.bincount(labels) > 0
    return (np.cumsum(used) - 1)[labels].astype(np.int64)


def scores_of(level: Level, labels: NDArray[np.int64], objective: Objective) -> tuple[float, float]:
    """Return Q and the notion of a labelling of the first level, computed from scratch."""
    n_clusters = int(labels.max()) + 1
    rows = np.repeat(labels, np.diff(level.graph.indptr))
    within = rows == labels[level.graph.indices]
    inside = _sums(rows[within], level.graph.data[within], n_clusters)
    volume = _sums(labels, level.strength, n_clusters)
    table = group_sums(level.counts, labels, n_clusters).astype(np.int64)
    return objective.modularity(inside, volume), objective.notion_value(table)
