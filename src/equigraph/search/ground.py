"""The nodes of a large graph, wherever its rows are kept: all that the search on parts asks of them.

Every operation is a walk along the rows in index order, with the loops that serve a graph in memory; so the same graph
gives the same labels in memory, in blocks on disk and on the workers of a Dask cluster. Where weights differ, the graph
of the parts is summed block by block, and may differ in the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.graph.units import largest_weight, shares_of, unit_weights
from equigraph.search.folding import NOTHING_HELD
from equigraph.search.levels import Level, clusters_level, links_to, narrow, scores_from, sums
from equigraph.search.objective import Objective
from equigraph.search.plans import is_large
from equigraph.search.swaps import swap_in_rows, swapped
from equigraph.stores.block_files import RowBlock
from equigraph.stores.blocks import MemoryBlocks
from equigraph.stores.distributed import StreamedRows
from equigraph.stores.distributed.rows import Rows, RowStore

if TYPE_CHECKING:
    from equigraph.search.kernels.state import Sites


class Ground:
    """The nodes of a graph in a store of rows.

    Parameters
    ----------
    store : RowStore
        The rows.
    scale : float, optional
        The weight that the largest had before it was made 1; by default weights are still to be brought to that unit.
    """

    def __init__(self, store: RowStore, scale: float | None = None):
        self.store = store
        # What is a weight of 1; None where the weights are in that unit already.
        self.unit: float | None = None
        if scale is None:
            self.unit = scale = max(store.gather(largest_of_block)) or 1.0
        self.scale = scale
        unit = self.unit
        self.strength = np.concatenate(list(store.gather(strength_of_block, unit)))
        store.place("strength", self.strength)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.store.n_nodes

    @property
    def sizes(self) -> NDArray[np.int64]:
        """One for each node, as a `Level` has them for sets of nodes."""
        return self.nodes.sizes

    @property
    def n_entries(self) -> int:
        """Number of stored entries."""
        return self.store.n_entries

    def divide(self, columns: NDArray[np.int32], n_columns: int) -> None:
        """Say which groups the nodes have, as `Level` does."""
        self.store.place("columns", columns)
        nothing = sparse.csr_array((0, 0))
        sizes = np.ones(self.n_nodes, dtype=np.int64)
        counts = np.zeros((0, n_columns), dtype=np.int64)
        self.nodes = Level(nothing, self.strength, sizes, columns, counts)

    def leave_workers(self) -> None:
        """Go on in this process: the workers that had the rows are gone."""
        self.store = self.store.without_workers()
        self.store.place("strength", self.strength)
        self.store.place("columns", self.nodes.columns)

    @cached_property
    def _sites(self) -> Sites:
        """The nodes without their edges, in the form that compiled code takes."""
        from equigraph.search.kernels.state import Sites

        empty = np.zeros(0, dtype=np.int32)
        nodes = self.nodes
        return Sites(
            empty, empty, np.zeros(0), nodes.strength, nodes.sizes, nodes.columns, nodes.counts, *NOTHING_HELD
        )  # fmt: skip

    def inside(self, labels: NDArray, n_clusters: int) -> NDArray[np.float64]:
        """Return twice the weight of the edges inside each cluster."""
        own = self.store.gather(own_of_block, labels.astype(np.int32, copy=False), self.unit)
        return sums(labels, np.concatenate(list(own)), n_clusters)

    def scores(self, labels: NDArray, objective: Objective) -> tuple[float, float]:
        """Return Q and the notion."""
        n_clusters = int(labels.max()) + 1
        return scores_from(self.nodes, labels, self.inside(labels, n_clusters), objective)

    def links(self, nodes: NDArray, labels: NDArray, n_clusters: int) -> NDArray[np.float64]:
        """Return the weight of some nodes, in ascending order, to every cluster."""
        return np.concatenate(list(self.store.gather(links_of_block, nodes, labels, n_clusters, self.unit)))

    def aggregate(self, labels: NDArray[np.int32], objective: Objective) -> Level:
        """Make one super-node of each cluster; labels are compact."""
        n_clusters = int(labels.max()) + 1
        between = sparse.csr_array((n_clusters, n_clusters))
        for number, (indptr, indices, data) in enumerate(
            self.store.gather(collapse_block, labels, n_clusters, self.unit)
        ):
            # The transposes sum up to the same graph, with columns sorted.
            part = sparse.csc_array((data, indices, indptr), shape=between.shape).tocsr()
            between = part if number == 0 else between + part
        return clusters_level(self.nodes, between, labels, n_clusters, objective)

    def interaction(self, labels: NDArray, objective: Objective) -> sparse.csr_array:
        """Return the mean weight of the pairs between every two clusters, in the unit of the graph."""
        level = self.aggregate(labels.astype(np.int32, copy=False), objective)
        inside = self.inside(labels, level.n_nodes)
        weights = (level.graph + sparse.diags_array(inside)).tocoo()
        rows, columns = weights.coords
        sizes = level.sizes.astype(np.float64)
        mean = (self.scale * weights.data) / (sizes[rows] * sizes[columns])
        return sparse.csr_array((mean, (rows, columns)), shape=weights.shape)

    def spread(self, cells: NDArray | None, most: float, n_passes: int) -> NDArray[np.int32]:
        """Return labels, which are node numbers, that spread along edges; none gets more strength than ``most``.

        Nodes of different cells never share a label.
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
        self, labels: NDArray, objective: Objective, *, max_passes: int, least_gain: float
    ) -> NDArray[np.int32]:
        """Move single nodes, in index order, while the objective rises; the number of clusters stays."""
        from equigraph.search.kernels.climb import examples_of, goes_on, wanted_clusters
        from equigraph.search.kernels.state import Clusters, start

        score, terms = objective.score, objective.terms()
        labels = labels.astype(np.int32)
        clusters = start(self._sites, labels, int(labels.max()) + 1, score, terms)
        examples = examples_of(self.nodes.columns, clusters.volume.size, True, score, terms)
        awake, gained, whole = np.ones(self.n_nodes, dtype=np.bool_), np.zeros(4), True
        for _ in range(max_passes):
            n_before, gain_before = gained[0], gained[3]
            wanted = wanted_clusters(self._sites, clusters, score, terms, examples)
            labels, awake, gained, *rest = self.store.walk(
                climb_block,
                [labels, awake, gained, *clusters],
                objective,
                wanted,
                self.unit,
                needed=any_awake,
            )
            clusters = Clusters(*rest)
            more, whole = goes_on(gained, n_before, gain_before, least_gain, whole, awake)
            if not more:
                break
        return labels

    def swap(self, labels: NDArray, objective: Objective, **limits: Any) -> NDArray[np.int32]:
        """Let pairs of nodes change places while the objective rises; `limits` as in `swapped`."""

        def visit(state: list[NDArray]) -> Sequence[NDArray]:
            return self.store.walk(swap_block, state, objective, self.unit)

        return swapped(self._sites, labels, objective, visit, **limits)


def in_doubles(graph: sparse.csr_array) -> sparse.csr_array:
    """Return the graph in its unit, in the precision in which gains are compared."""
    return unit_weights(graph.astype(np.float64, copy=False))


def ground_of(graph: Any) -> Ground | None:
    """Return the nodes of a graph that is searched on parts: a store of rows, or a large one in memory."""
    if not sparse.issparse(graph):
        return Ground(graph)
    if is_large(graph.shape[0], graph.nnz):
        scale = largest_weight(graph.data)
        return Ground(StreamedRows(MemoryBlocks(narrow(in_doubles(graph)))), scale)
    return None


def any_awake(state: Sequence[NDArray], low: int, high: int) -> bool:
    """Return whether a node of some rows has to be visited."""
    return bool(state[1][low:high].any())


def largest_of_block(rows: Rows, block: RowBlock) -> float:
    """Return the largest weight of a block; 0 without edges."""
    return float(block.weights_or_value().max(initial=0.0))


def entries_of(block: RowBlock, unit: float | None) -> tuple[NDArray, NDArray, NDArray[np.float64]]:
    """Return the arrays of a block, its weights in a unit and rounded as `unit_weights` does."""
    if block.data is None:
        # Equal weights are all the largest.
        ones = _ones(block.n_entries)
        return block.indptr, block.indices, ones if unit is not None else ones * block.value
    data = block.data.astype(np.float64, copy=False)
    return block.indptr, block.indices, data if unit is None else shares_of(data, unit)


_kept_ones = np.ones(0)


def _ones(size: int) -> NDArray[np.float64]:
    """Return the weights of edges that are all alike; blocks share one array."""
    global _kept_ones
    if _kept_ones.size < size:
        _kept_ones = np.ones(size)
    return _kept_ones[:size]


def strength_of_block(rows: Rows, block: RowBlock, unit: float | None) -> NDArray[np.float64]:
    """Return the degree of every node of a block."""
    indptr, indices, data = entries_of(block, unit)
    shape = (block.high - block.low, int(indices.max(initial=0)) + 1)
    return np.asarray(sparse.csr_array((data, indices, indptr), shape=shape).sum(axis=1)).ravel()


def own_of_block(rows: Rows, block: RowBlock, labels: NDArray, unit: float | None) -> NDArray[np.float64]:
    """Return the weight of every node of a block to its own cluster."""
    from equigraph.stores.kernels import weight_to_own

    return weight_to_own(*entries_of(block, unit), block.low, labels)


def links_of_block(
    rows: Rows, block: RowBlock, nodes: NDArray, labels: NDArray, n_clusters: int, unit: float | None
) -> NDArray[np.float64]:
    """Return the weight of those of some nodes that a block has to every cluster."""
    first, last = np.searchsorted(nodes, (block.low, block.high))
    indptr, indices, data = entries_of(block, unit)
    shape = (block.high - block.low, labels.size)
    return links_to(
        sparse.csr_array((data, indices, indptr), shape=shape),
        nodes[first:last] - block.low,
        labels,
        n_clusters,
    )


def collapse_block(
    rows: Rows, block: RowBlock, labels: NDArray, n_parts: int, unit: float | None
) -> tuple[NDArray, NDArray, NDArray]:
    """Return the weights from the parts that a block has nodes of to all others."""
    from equigraph.search.kernels.parts import collapse

    return collapse(*entries_of(block, unit), block.low, labels, n_parts)


def spread_block(
    rows: Rows, block: RowBlock, state: Sequence[NDArray], within: NDArray, most: float, unit: float | None
) -> None:
    """Let the labels of all nodes spread to the nodes of a block."""
    from equigraph.search.kernels.parts import spread_rows

    labels, volume, n_moves = state
    strength = rows.get("strength")
    n_moves[0] += spread_rows(*entries_of(block, unit), strength, block.low, labels, volume, within, most)


def climb_block(
    rows: Rows,
    block: RowBlock,
    state: Sequence[NDArray],
    objective: Objective,
    wanted: NDArray,
    unit: float | None,
) -> None:
    """Move the nodes of a block that are awake."""
    from equigraph.search.kernels.climb import climb_rows
    from equigraph.search.kernels.state import Clusters

    labels, awake, gained, *clusters = state
    order, nothing = np.arange(block.high - block.low), np.zeros(0, dtype=np.int32)
    climb_rows(
        _sites_of(rows, block, objective, unit), labels, Clusters(*clusters), objective.score, objective.terms(),
        block.low, order, nothing, True, awake, wanted, gained,
    )  # fmt: skip


def swap_block(
    rows: Rows, block: RowBlock, state: Sequence[NDArray], objective: Objective, unit: float | None
) -> None:
    """Let nodes of a block change places with nodes that wait for it."""
    swap_in_rows(_sites_of(rows, block, objective, unit), state, objective, block.low)


def _sites_of(rows: Rows, block: RowBlock, objective: Objective, unit: float | None) -> Any:
    """Return the nodes of a block in the form that compiled code takes."""
    from equigraph.search.kernels.state import Sites

    sizes = np.ones(block.high - block.low, dtype=np.int64)
    counts = np.zeros((0, objective.population.size), dtype=np.int64)
    strength, columns = rows.get("strength"), rows.get("columns")
    return Sites(*entries_of(block, unit), strength, sizes, columns, counts, *NOTHING_HELD)
