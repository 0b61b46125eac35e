"""Operations of the search on the nodes of a large graph, in a store of rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.graph.validate import largest_weight, shares_of, unit_weights
from equigraph.search.arrays import LabelState, Level, SwapCandidates, Tour
from equigraph.search.kernels.local import visit
from equigraph.search.kernels.parts import collapse, own_weight, spread_rows
from equigraph.search.kernels.swap import swap_rows
from equigraph.search.level import aggregate, count_groups, level_of, links_to
from equigraph.search.level_rules import NO_RULES
from equigraph.search.moves import (
    LEAST_SWAP,
    SWAP_PASSES,
    empty_candidates,
    local_search,
    neighbour_buffers,
    no_check,
    repeat_swaps,
)
from equigraph.search.objective import Objective
from equigraph.search.partition import Partition
from equigraph.stores.block_files import RowBlock
from equigraph.stores.blocks import MemoryBlocks
from equigraph.stores.rows import Rows, StreamedRows
from equigraph.stores.stores import RowStore
from equigraph.stores.threads import most_threads


class GraphRows:
    """The nodes of a graph in a store of rows.

    Parameters
    ----------
    store : RowStore
        The rows.
    scale : float, optional
        Largest weight before scaling, if the weights are scaled to a maximum of 1 already; by default they are scaled
        on the fly.
    """

    nodes: Level

    def __init__(self, store: RowStore, scale: float | None = None):
        self.store, self.n_nodes, self.n_entries = store, store.n_nodes, store.n_entries
        # Divisor of the weights; None if they are scaled already.
        self.unit: float | None = None
        if scale is None:
            self.unit = scale = max(store.gather(largest_of_block)) or 1.0
        self.scale = scale
        self.strength = np.concatenate(list(store.gather(strength_of_block, self.unit)))
        store.place("strength", self.strength)

    @property
    def n_walks(self) -> int:
        """Number of walks along the rows that may run at a time: in memory one per thread."""
        in_memory = isinstance(self.store, StreamedRows) and isinstance(self.store.graph, MemoryBlocks)
        return most_threads() if in_memory else 1

    def divide(self, columns: NDArray[np.int32], n_groups: int) -> None:
        """Set the groups of the nodes, as in `Level`, and ``nodes``, the level of the nodes without edges."""
        self.store.place("columns", columns)
        no_edges = np.zeros(self.n_nodes + 1), np.zeros(0), np.zeros(0)
        self.nodes = level_of(no_edges, self.strength, columns, n_groups)

    def leave_workers(self) -> None:
        """Continue in this process after the workers were lost."""
        self.store = self.store.without_workers()
        self.store.place("strength", self.strength)
        self.store.place("columns", self.nodes.columns)

    def own(self, labels: NDArray) -> NDArray[np.float64]:
        """Return the weight from each node to its own cluster."""
        labels = labels.astype(np.int32, copy=False)
        return np.concatenate(list(self.store.gather(own_of_block, labels, self.unit)))

    def scores(self, labels: NDArray, objective: Objective) -> tuple[float, float]:
        """Return Q and the notion."""
        table = count_groups(self.nodes, labels, int(labels.max()) + 1)
        volume = np.bincount(labels, self.strength).astype(np.float64)
        return objective.modularity(self.own(labels).sum(), volume), objective.notion_value(table)

    def links(self, nodes: NDArray, labels: NDArray, n_clusters: int) -> NDArray[np.float64]:
        """Return the weight from each of the nodes, in ascending order, to every cluster."""
        return np.concatenate(list(self.store.gather(links_of_block, nodes, labels, n_clusters, self.unit)))

    def aggregate(self, labels: NDArray[np.int32]) -> Level:
        """Return the quotient graph with one super-node per cluster; labels must be compact."""
        n_clusters = int(labels.max()) + 1
        between = sparse.csr_array((n_clusters, n_clusters))
        for number, (indptr, indices, data) in enumerate(
            self.store.gather(collapse_block, labels, n_clusters, self.unit)
        ):
            # The sum is symmetric: transposing the parts only sorts their columns.
            part = sparse.csc_array((data, indices, indptr), shape=between.shape).tocsr()
            between = part if number == 0 else between + part
        return aggregate(self.nodes, labels, between)

    def interaction(self, labels: NDArray) -> sparse.csr_array:
        """Return the mean weight of the node pairs between every two clusters, in the unit of the graph."""
        level = self.aggregate(labels.astype(np.int32, copy=False))
        inside = np.bincount(labels, self.own(labels), level.n_sites)
        between = sparse.csr_array((level.data, level.indices, level.indptr), shape=(inside.size,) * 2)
        weights = (between + sparse.diags_array(inside)).tocoo()
        rows, columns = weights.coords
        sizes = level.sizes.astype(np.float64)
        mean = (self.scale * weights.data) / (sizes[rows] * sizes[columns])
        return sparse.csr_array((mean, (rows, columns)), shape=weights.shape)

    def spread(self, cells: NDArray | None, most: float, n_passes: int) -> NDArray[np.int32]:
        """Return labels by label propagation; no label gets more strength than ``most``.

        Labels are node numbers. Nodes of different cells never share a label.
        """
        labels = np.arange(self.n_nodes, dtype=np.int32)
        state: Sequence[NDArray] = [labels, self.strength.copy(), np.zeros(1, dtype=np.int64)]
        within = np.zeros(0, dtype=np.int32) if cells is None else cells.astype(np.int32, copy=False)
        for _ in range(n_passes):
            state[2][0] = 0
            state = self.store.walk(spread_block, state, within, float(most), self.unit)
            if state[2][0] == 0:
                break
        return state[0]

    def settle(
        self,
        labels: NDArray,
        objective: Objective,
        *,
        max_passes: int,
        least_gain: float,
        pause: Callable[[], Any] = no_check,
    ) -> tuple[NDArray[np.int32], float]:
        """Local search: move single nodes, in index order, while the objective rises; k is fixed.

        Returns the labels and the gain of modularity.
        """
        partition = Partition(self.nodes, objective, labels)

        def sweep(awake: NDArray, wanted: NDArray, gained: NDArray) -> None:
            state = [awake, gained, *partition.state]
            new = self.store.walk(visit_block, state, objective, wanted, self.unit, needed=any_awake)
            # The partition refers to the arrays passed in, so these are updated.
            for old, updated in zip(state, new, strict=True):
                if old is not updated:
                    old[...] = updated

        limits: dict[str, Any] = {"max_passes": max_passes, "least_gain": least_gain, "pause": pause}
        gains = local_search(partition, sweep=sweep, **limits)
        return partition.labels, float(gains[0])

    def swap(
        self,
        labels: NDArray,
        objective: Objective,
        *,
        max_passes: int = SWAP_PASSES,
        least_gain: float = LEAST_SWAP,
        pause: Callable[[], Any] = no_check,
    ) -> NDArray[np.int32]:
        """Swap pairs of nodes while the objective rises; see `equigraph.search.moves.swap`."""
        labels = labels.astype(np.int32)
        n_clusters = int(labels.max()) + 1

        def swapped(labels: NDArray[np.int32]) -> tuple[NDArray[np.int32], float]:
            waiting = empty_candidates(objective, n_clusters)
            state: list[NDArray] = [*waiting, *Partition(self.nodes, objective, labels, n_clusters).state]
            found = self.store.walk(swap_block, state, objective, self.unit)[len(waiting)]
            pause()
            return found, objective.value(*self.scores(found, objective))

        start = labels, objective.value(*self.scores(labels, objective))
        return repeat_swaps(swapped, start, n_clusters, max_passes, least_gain * (1.0 - objective.fairness))


def rows_of(graph: Any) -> GraphRows:
    """Return the rows of a graph in a store or in memory."""
    if not sparse.issparse(graph):
        return GraphRows(graph)
    unit = unit_weights(graph.astype(np.float64, copy=False))
    if unit.indices.dtype != np.int32 and max(unit.shape[0], unit.nnz) < 2**31:
        arrays = unit.data, unit.indices.astype(np.int32), unit.indptr.astype(np.int32)
        unit = sparse.csr_array(arrays, shape=unit.shape)
    return GraphRows(StreamedRows(MemoryBlocks.of(unit)), largest_weight(graph.data))


def any_awake(state: Sequence[NDArray], low: int, high: int) -> bool:
    """Return whether any node in a range of rows is awake."""
    return bool(state[0][low:high].any())


def largest_of_block(rows: Rows, block: RowBlock) -> float:
    """Return the largest weight of a block; 0 without edges."""
    return float(block.weights_or_value().max(initial=0.0))


def entries_of(block: RowBlock, unit: float | None) -> tuple[NDArray, NDArray, NDArray[np.float64]]:
    """Return the CSR arrays of a block, with weights divided by a unit and rounded as in `unit_weights`."""
    if block.data is None:
        # Equal weights are all 1 after scaling.
        ones = _ones(block.n_entries)
        return block.indptr, block.indices, ones if unit is not None else ones * block.value
    data = block.data.astype(np.float64, copy=False)
    return block.indptr, block.indices, data if unit is None else shares_of(data, unit)


_kept_ones = np.ones(0)


def _ones(size: int) -> NDArray[np.float64]:
    """Return a view of a shared array of ones."""
    global _kept_ones
    if _kept_ones.size < size:
        _kept_ones = np.ones(size)
    return _kept_ones[:size]


def block_level(rows: Rows, block: RowBlock, n_groups: int, unit: float | None) -> Level:
    """Return the rows of a block as a level."""
    columns = rows.get("columns") if n_groups else np.zeros((0, 1), dtype=np.int32)
    return level_of(entries_of(block, unit), rows.get("strength"), columns, n_groups)


def strength_of_block(rows: Rows, block: RowBlock, unit: float | None) -> NDArray[np.float64]:
    """Return the degree of every node of a block."""
    indptr, indices, data = entries_of(block, unit)
    shape = (block.high - block.low, int(indices.max(initial=0)) + 1)
    return np.asarray(sparse.csr_array((data, indices, indptr), shape=shape).sum(axis=1)).ravel()


def own_of_block(rows: Rows, block: RowBlock, labels: NDArray, unit: float | None) -> NDArray[np.float64]:
    """Return the weight from every node of a block to its own cluster."""
    level = block_level(rows, block, 0, unit)
    return own_weight(level.indptr, level.indices, level.data, block.low, labels)


def links_of_block(
    rows: Rows, block: RowBlock, nodes: NDArray, labels: NDArray, n_clusters: int, unit: float | None
) -> NDArray[np.float64]:
    """Return the weight to every cluster from those of the nodes that are in a block."""
    first, last = np.searchsorted(nodes, (block.low, block.high))
    level = block_level(rows, block, 0, unit)
    return links_to(level, nodes[first:last] - block.low, labels, n_clusters)


def collapse_block(
    rows: Rows, block: RowBlock, labels: NDArray, n_parts: int, unit: float | None
) -> tuple[NDArray, NDArray, NDArray]:
    """Return the part of the quotient graph that comes from the rows of a block."""
    level = block_level(rows, block, 0, unit)
    indptr, indices, data = collapse(level.indptr, level.indices, level.data, block.low, labels, n_parts)
    return indptr, indices.copy(), data.copy()


def spread_block(
    rows: Rows, block: RowBlock, state: Sequence[NDArray], within: NDArray, most: float, unit: float | None
) -> None:
    """Propagate labels to the nodes of a block."""
    labels, volume, n_moves = state
    n_moves[0] += spread_rows(block_level(rows, block, 0, unit), block.low, labels, volume, within, most)


def visit_block(
    rows: Rows,
    block: RowBlock,
    state: Sequence[NDArray],
    objective: Objective,
    wanted: NDArray,
    unit: float | None,
) -> None:
    """Move the nodes of a block that are awake."""
    awake, gained, *arrays = state
    level = block_level(rows, block, objective.population.size, unit)
    order, nothing = np.arange(block.high - block.low), np.zeros(0, dtype=np.int32)
    tour = Tour(block.low, order, nothing, True, awake, wanted, gained, *neighbour_buffers(arrays[1].size))
    visit(level, objective.terms, objective.notion.compiled(), NO_RULES, LabelState(*arrays), tour)


def swap_block(
    rows: Rows, block: RowBlock, state: Sequence[NDArray], objective: Objective, unit: float | None
) -> None:
    """Swap nodes of a block with candidates found before, or add them to the candidates."""
    n_fields = len(SwapCandidates._fields)
    waiting, arrays = SwapCandidates(*state[:n_fields]), LabelState(*state[n_fields:])
    level = block_level(rows, block, objective.population.size, unit)
    swap_rows(level, objective.terms, objective.notion.compiled(), NO_RULES, arrays, block.low, waiting)
