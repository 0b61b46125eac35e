"""Levels of aggregation: a graph whose nodes are sets of nodes of the graph below."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.search.folding import NOTHING_HELD, Held

if TYPE_CHECKING:
    from equigraph.search.kernels.state import Sites
    from equigraph.search.objective import Objective


@dataclass(frozen=True, eq=False)
class Level:
    """A graph at one level of aggregation.

    Attributes
    ----------
    graph : csr_array of shape (n, n)
        Weights between different super-nodes, in float64, without a diagonal: what lies inside a super-node
        moves with it and never changes a gain.
    strength : ndarray of shape (n,)
        Sum of the degrees of the nodes inside.
    sizes : ndarray of shape (n,), int64
        Number of nodes inside.
    columns : ndarray of shape (n, n_attributes), int32
        Column of each node by each attribute, -1 for no group, less for a folded one; without rows where sites are sets
        of nodes.
    counts : ndarray of shape (n, n_columns), int64
        Number of nodes of each group inside, so that fairness is exact at every level; without rows for the nodes
        themselves, and 0 where columns are those of folded groups.
    held : Held
        The folded groups inside; nothing for the nodes themselves.
    """

    graph: sparse.csr_array
    strength: NDArray[np.float64]
    sizes: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.int64]
    held: Held = NOTHING_HELD

    @property
    def n_nodes(self) -> int:
        """Number of super-nodes."""
        return int(self.strength.size)

    def links(self, nodes: NDArray, labels: NDArray, n_clusters: int) -> NDArray[np.float64]:
        """Return the weight of some super-nodes to every cluster."""
        return links_to(self.graph, nodes, labels, n_clusters)

    def sites(self) -> Sites:
        """Return the level in the form that compiled code takes."""
        from equigraph.search.kernels.state import Sites

        graph = self.graph
        return Sites(
            graph.indptr, graph.indices, graph.data, self.strength, self.sizes, self.columns, self.counts, *self.held
        )  # fmt: skip


def narrow(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return a graph with weights in float64 and indices of four bytes where they fit: loops are compiled once."""
    graph = adjacency.astype(np.float64, copy=False)
    if graph.indices.dtype == np.int32 or max(graph.shape[0], graph.nnz) >= 2**31:
        return graph
    arrays = graph.data, graph.indices.astype(np.int32), graph.indptr.astype(np.int32)
    return sparse.csr_array(arrays, shape=graph.shape)


def first_level(adjacency: sparse.csr_array, columns: NDArray[np.int32], n_columns: int) -> Level:
    """Return the graph itself as a level."""
    graph = narrow(adjacency)
    n = graph.shape[0]
    return Level(
        graph,
        np.asarray(graph.sum(axis=1), dtype=np.float64).ravel(),
        np.ones(n, dtype=np.int64),
        columns,
        np.zeros((0, n_columns), dtype=np.int64),
    )


def aggregate(level: Level, labels: NDArray, objective: Objective) -> Level:
    """Make one super-node of each cluster; labels are compact."""
    from equigraph.search.kernels.parts import collapse

    n_clusters = int(labels.max()) + 1
    graph = level.graph
    indptr, indices, data = collapse(graph.indptr, graph.indices, graph.data, 0, labels, n_clusters)
    # The transpose is the same graph, with its columns sorted.
    coarse = sparse.csc_array((data, indices, indptr), shape=(n_clusters, n_clusters)).tocsr()
    return clusters_level(level, coarse, labels, n_clusters, objective)


def clusters_level(
    level: Level, between: sparse.csr_array, labels: NDArray, n_clusters: int, objective: Objective
) -> Level:
    """Return the level whose super-nodes are the clusters of another one, from the weights between them."""
    index = np.int32 if max(between.nnz, n_clusters) < 2**31 else np.int64
    arrays = between.data, between.indices.astype(index, copy=False), between.indptr.astype(index, copy=False)
    graph = sparse.csr_array(arrays, shape=between.shape)
    sizes = sums(labels, level.sizes, n_clusters).astype(np.int64)
    counts = count_groups(level, labels, n_clusters, objective)
    held = hold_groups(level, labels, n_clusters, objective)
    return Level(graph, sums(labels, level.strength, n_clusters), sizes, level.columns[:0], counts, held)


def sums(labels: NDArray, values: NDArray, n_clusters: int) -> NDArray[np.float64]:
    """Return the sum of the values of each cluster."""
    return np.bincount(labels, weights=values, minlength=n_clusters).astype(np.float64, copy=False)


def count_groups(level: Level, labels: NDArray, n_clusters: int, objective: Objective) -> NDArray[np.int64]:
    """Return the number of nodes of each group that has a column, of all attributes side by side, in each cluster."""
    n_columns = objective.population.size
    if level.counts.shape[0]:
        counts = np.zeros((n_clusters, n_columns), dtype=np.int64)
        for s in np.flatnonzero(objective.population >= 0):
            counts[:, s] = sums(labels, level.counts[:, s], n_clusters)
        return counts
    table = np.zeros(n_clusters * n_columns, dtype=np.int64)
    for offset, column in zip(objective.offsets[:-1], level.columns.T, strict=True):
        known = column >= 0
        pairs = labels[known].astype(np.int64) * n_columns + (offset + column[known])
        table += np.bincount(pairs, minlength=table.size)
    return table.reshape(n_clusters, n_columns)


def hold_groups(level: Level, labels: NDArray, n_clusters: int, objective: Objective) -> Held:
    """Return the folded groups in each cluster."""
    if not objective.first.size:
        return NOTHING_HELD
    if level.counts.shape[0]:
        owner, groups, numbers = np.repeat(labels, np.diff(level.held.starts)), *level.held[1:]
    else:
        owner, attribute = np.nonzero(level.columns < -1)
        groups = -2 - level.columns[owner, attribute].astype(np.int64)
        owner, numbers = labels[owner], np.ones(groups.size, dtype=np.int64)
    # By hand, since a sparse matrix of so few entries costs several times as much to set up.
    n_folded = objective.first.size
    pairs, place = np.unique(owner * np.int64(n_folded) + groups, return_inverse=True)
    starts = np.searchsorted(pairs, np.arange(n_clusters + 1) * n_folded)
    return Held(starts, pairs % n_folded, np.bincount(place, numbers, pairs.size).astype(np.int64))


def links_to(
    rows: sparse.csr_array, chosen: NDArray, labels: NDArray, n_clusters: int
) -> NDArray[np.float64]:
    """Return the weight of chosen rows of a graph to every cluster."""
    onto = np.zeros((chosen.size, n_clusters))
    graph = rows[chosen]
    place = np.repeat(np.arange(chosen.size), np.diff(graph.indptr))
    np.add.at(onto, (place, labels[graph.indices]), graph.data)
    return onto


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


def compact_pairs(one: NDArray, other: NDArray) -> NDArray[np.int32]:
    """Return a label for each pair of labels that some node has."""
    pairs = one.astype(np.int64) * (int(other.max()) + 1) + other
    return np.unique(pairs, return_inverse=True)[1].astype(np.int32)


def scores_of(level: Level, labels: NDArray, objective: Objective) -> tuple[float, float]:
    """Return Q and the notion of a labelling of the nodes or of a level, computed from scratch."""
    from equigraph.search.kernels.parts import weight_inside

    n_clusters = int(labels.max()) + 1
    graph, labels = level.graph, labels.astype(np.int32, copy=False)
    inside = weight_inside(graph.indptr, graph.indices, graph.data, labels, n_clusters)
    if level.counts.shape[0]:
        # What lies inside a super-node: its degrees less its links to others.
        inside += sums(labels, level.strength - np.asarray(graph.sum(axis=1)).ravel(), n_clusters)
    return scores_from(level, labels, inside, objective)


def scores_from(
    level: Level, labels: NDArray, inside: NDArray[np.float64], objective: Objective
) -> tuple[float, float]:
    """Return Q and the notion of a labelling, from twice the weight of the edges inside each cluster."""
    n_clusters = inside.size
    volume = sums(labels, level.strength, n_clusters)
    counts = count_groups(level, labels, n_clusters, objective)
    held = hold_groups(level, labels, n_clusters, objective)
    return objective.modularity(inside, volume), objective.notion_value(counts, held)
