"""The search on a large graph, wherever its rows are: parts of it, the search on the graph of the parts, then passes.

Written once for a graph in memory, in blocks on disk and on the workers of a Dask cluster: the nodes are seen only in
walks along the rows in index order, with the loops that serve a small graph. So the same graph gives the same labels
everywhere. Where weights differ, the graph of the parts is summed block by block, and may differ in the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.callbacks import Notifier
from equigraph.exceptions import SchedulerLostError, SchedulerLostWarning, warn
from equigraph.graph.units import unit_weights
from equigraph.search.arrays import Level
from equigraph.search.bounds import check_size_bounds, within_bounds
from equigraph.search.level import aggregate, common_parts, compact, first_level
from equigraph.search.merge import merge
from equigraph.search.moves import climb
from equigraph.search.objective import Objective, make_objective
from equigraph.search.partition import scores_of
from equigraph.search.plans import DIAL, LADDER, n_parts_for
from equigraph.search.pool import Pool, Target
from equigraph.search.rows import GraphRows, rows_of
from equigraph.search.search import Search
from equigraph.search.stopping import Stopwatch
from equigraph.stores.stores import RowStore
from equigraph.stores.threads import run_all

# Most passes of a climb on the nodes, the gain of a pass that is worth another, and the passes at a value of the dial
# on the way up.
_PASSES, _LEAST_GAIN, _RUNG_PASSES = 20, 1e-7, 3
# Passes of the propagation that makes parts. After these, hardly any node still changes its part.
_SPREAD_PASSES = 4
# Parts that are clustered in place of the nodes where the number of clusters is free.
_FREE_PARTS = 50_000
# Small parts that are left over are packed when there are this many times as many parts as wanted.
_EXCESS = 4


class LargeSearch:
    """What `Search` does, on a graph that is too large for it.

    Parameters
    ----------
    rows : GraphRows
        The graph and the groups of its nodes.
    objective : Objective
        What is wanted, whatever the dial: notion and bounds on sizes.
    n_clusters, effort, seed
        As of `Search`.

    Attributes
    ----------
    lost : bool
        Whether the search ended because the workers with the rows were lost.
    """

    def __init__(
        self, rows: GraphRows, objective: Objective, n_clusters: int, *, effort: float = 1.0, seed: int = 0
    ):
        self.rows, self.objective, self.n_clusters = rows, objective, n_clusters
        self.effort, self.seed = effort, seed
        self.n_parts = n_parts_for(rows.n_nodes, rows.n_entries, n_clusters)
        self.pool = Pool()
        self.watch = Stopwatch()
        self.lost = False
        # The search on parts under way, and the part of each node.
        self._inner: tuple[Search, NDArray] | None = None

    @property
    def store(self) -> RowStore:
        """Where the rows are; another one after the workers were lost."""
        return self.rows.store

    @property
    def stopped(self) -> bool:
        """Whether the search was ended early."""
        return self.lost or self.watch.stopped

    def score(self, labels: NDArray) -> tuple[float, float]:
        """Return modularity and notion."""
        return self.rows.scores(labels, self.objective)

    def interaction(self, labels: NDArray) -> sparse.csr_array:
        """Return the mean weight of the pairs between every two clusters."""
        return self.rows.interaction(labels)

    def solve(
        self,
        targets: Sequence[Target],
        starts: Iterable[NDArray] = (),
        notify: Notifier | None = None,
        n_runs: int = 1,
    ) -> list[NDArray[np.int32]]:
        """Return labels for every target; see `Search.solve`."""
        wanted = list(targets) if self.objective.is_fair else [Target()]
        n_steps = n_runs * (6 + 3 * len(wanted)) + len(wanted) if self.effort else len(wanted)
        self.watch = Stopwatch(notify, n_steps, self._has_some)
        with self._kept_if_lost(wanted), self.watch:
            for _ in self._steps(wanted, list(starts), n_runs):
                self.watch.step()
        if not self.pool.labels:
            self._take_parts(wanted)
        found = [target.best(self.pool) for target in wanted]
        return found if self.objective.is_fair else found * len(targets)

    def front(self, starts: Iterable[NDArray] = (), notify: Notifier | None = None, n_runs: int = 1) -> Pool:
        """Return all labels found along the whole dial that nothing dominates; see `Search.front`."""
        self.solve([Target(value) for value in DIAL], starts, notify, n_runs)
        return self.pool

    def exactly(self, labels: NDArray) -> NDArray[np.int32]:
        """Make exactly k clusters of any labels, within the bounds: too few are first divided into parts."""
        labels = compact(np.asarray(labels))
        n_given = int(labels.max()) + 1
        if n_given != self.n_clusters:
            parts = labels
            if n_given < self.n_clusters:
                parts, _ = coarsen(self.rows, labels, self.n_parts)
            level = self.rows.aggregate(parts)
            inner = Search(level, self.objective.free(), self.n_clusters, seed=self.seed)
            labels = inner.exactly(np.arange(level.n_sites))[parts]
        return self._within_bounds(labels)

    def _within_bounds(self, labels: NDArray) -> NDArray[np.int32]:
        bounds = int(self.objective.least[0]), int(self.objective.most[0])
        return within_bounds(self.rows.links, self.rows.nodes.sizes, labels, *bounds, self.n_clusters)

    def _has_some(self) -> bool:
        return bool(self.pool.labels or (self._inner is not None and self._inner[0].pool.labels))

    def _keep(self, labels: NDArray) -> NDArray[np.int32]:
        self.pool.add(labels, *self.score(labels))
        return labels

    def _take_parts(self, targets: Sequence[Target]) -> None:
        """Put what the search on parts has found by now into the pool, after moves of single nodes."""
        assert self._inner is not None
        inner, parts = self._inner

        def place(target: Target) -> NDArray[np.int32]:
            labels = self._within_bounds(target.best(inner.pool)[parts])
            return self._settled(labels, self.objective.for_target(target))

        for labels in run_all([partial(place, target) for target in targets], self.rows.n_walks):
            self._keep(labels)

    @contextmanager
    def _kept_if_lost(self, targets: Sequence[Target]) -> Iterator[None]:
        """End a search whose workers are gone with what was found; what is left to do is done in this process."""
        try:
            yield
        except SchedulerLostError as error:
            if not self._has_some():
                raise
            self.lost = True
            self.rows.leave_workers()
            if not self.pool.labels:
                self._take_parts(targets)
                self._climbed([targets[0].best(self.pool)], targets[0])
            cause = str(error).partition(",")[0]
            warn(f"{cause}: the labels are the best that the search had found by then.", SchedulerLostWarning)

    def _steps(self, targets: Sequence[Target], starts: list[NDArray], n_runs: int) -> Iterator[None]:
        """Search on parts, raise the dial on the nodes, and polish the best found for each target."""
        given = [self._keep(self.exactly(start)) for start in starts]
        if not self.effort:
            given = given or [self._keep(self.exactly(np.zeros(self.rows.n_nodes, dtype=np.int32)))]
            for target in targets:
                self._climbed(given, target)
                yield
            return
        cohesion, pools = Target(0.0), [self.pool]
        is_fair = self.objective.is_fair and any(target.wants_fairness for target in targets)
        wanted = list(dict.fromkeys([cohesion, *targets])) if is_fair else targets
        yield from self._search_parts(wanted, given, n_runs)
        if is_fair:
            # Where parts leave clusters unfair, single nodes make them fair at less cost, as the dial is raised.
            raised = Pool()
            for labels in (cohesion.best(self.pool), *given):
                for value in LADDER:
                    guide = self.objective.guided().at(value)
                    labels = self._settled(labels, guide, _RUNG_PASSES, 0.0)
                    raised.add(labels, *self.score(labels))
            pools.append(raised)
        for target in targets:
            self._climbed([target.best(pool) for pool in pools], target)
            yield

    def _search_parts(
        self, targets: Sequence[Target], known: Sequence[NDArray], n_runs: int
    ) -> Iterator[None]:
        """Search on parts that lie within one cluster of every division known, as far as that leaves few enough."""
        cells, starts = None, []
        for labels in known:
            finer = labels if cells is None else common_parts(cells, labels)
            if cells is None or int(finer.max()) < self.n_parts:
                cells = finer
                starts.append(labels)
        parts, level = coarsen(self.rows, cells, self.n_parts)
        # Parts are too coarse to meet bounds to the node.
        largest = int(level.sizes.max())
        looser = replace(
            self.objective,
            least=np.maximum(self.objective.least - largest, 1),
            most=np.minimum(self.objective.most + largest, self.rows.n_nodes),
        )
        inner = Search(level, looser, self.n_clusters, effort=self.effort, seed=self.seed)
        inner.plan, inner.watch = replace(inner.plan, n_longer=0), self.watch
        self._inner = inner, parts
        coarse = np.empty((len(starts), level.n_sites), dtype=np.int32)
        for place, labels in enumerate(starts):
            coarse[place, parts] = labels
        yield from inner.steps(targets, list(coarse), n_runs)
        self._take_parts(targets)

    def _climbed(self, starts: Sequence[NDArray], target: Target) -> None:
        """Move and swap the nodes, in index order, for a bounded number of passes, into the pool."""
        objective = self.objective.for_target(target)

        def climb(start: NDArray) -> NDArray[np.int32]:
            labels = self._settled(self._within_bounds(start), objective)
            if objective.is_tight:
                # Where sizes are tied, or each cluster must mirror the population, two nodes get further than one.
                labels = self.rows.swap(labels, objective, pause=self.watch.look)
                labels = self._settled(labels, objective)
            return labels

        for labels in run_all([partial(climb, start) for start in starts], self.rows.n_walks):
            self._keep(labels)

    def _settled(
        self,
        labels: NDArray,
        objective: Objective,
        max_passes: int = _PASSES,
        least_gain: float = _LEAST_GAIN,
    ) -> NDArray[np.int32]:
        return self.rows.settle(
            labels, objective, max_passes=max_passes, least_gain=least_gain, pause=self.watch.look
        )


def coarsen(rows: GraphRows, cells: NDArray | None, n_parts: int) -> tuple[NDArray[np.int32], Level]:
    """Divide a graph into about as many parts as wanted, none of them across two cells.

    Labels spread along edges up to a bound on the strength of a part. Where that leaves many small parts, such as
    leaves of a hub that is full, components of their own and nodes without edges, those are packed together: first by
    the part that they have most weight to, then by their largest group.

    Parameters
    ----------
    rows : GraphRows
        The graph.
    cells : ndarray of shape (n_nodes,), int32, or None
        Nodes with different entries are never in the same part.
    n_parts : int
        The strength of a part, or its nodes if they were packed, are at most about this part of the whole.

    Returns
    -------
    labels : ndarray of shape (n_nodes,)
        Part of each node, compact.
    coarse : Level
        The graph of the parts.
    """
    labels = compact(rows.spread(cells, float(rows.nodes.strength.sum()) / n_parts, _SPREAD_PASSES))
    coarse = rows.aggregate(labels)
    if coarse.n_sites <= _EXCESS * n_parts:
        return labels, coarse
    coarse_cells = np.zeros(coarse.n_sites, dtype=np.int32)
    if cells is not None:
        coarse_cells[labels] = cells
    packed = _packed(coarse, coarse_cells, n_parts)
    return packed[labels], aggregate(coarse, packed)


def _packed(level: Level, cells: NDArray, n_parts: int) -> NDArray[np.int32]:
    """Return compact labels that put small super-nodes of the same cell together; large ones stay alone."""
    sizes, n = level.sizes, level.n_sites
    mass = sizes / sizes.sum()
    if level.strength.sum() > 0:
        mass = (mass + level.strength / level.strength.sum()) / 2
    small = np.flatnonzero(mass < 0.5 / n_parts)
    graph = sparse.csr_array((level.data, level.indices, level.indptr), shape=(n, n))[small]
    linked = np.diff(graph.indptr) > 0
    toward = np.where(linked, np.asarray(graph.argmax(axis=1)).ravel(), -1)
    group = level.counts[small].argmax(axis=1)
    order = np.lexsort((group, toward, cells[small]))
    small = small[order]
    # Bins of even mass along that order; one is cut where the cell changes, or the group of what has no edges.
    loose = toward[order] < 0
    filled = np.floor(np.cumsum(mass[small]) * n_parts)
    kind = np.column_stack([filled, cells[small], np.where(loose, group[order], -1)])
    starts = np.any(kind[1:] != kind[:-1], axis=1)
    labels = np.arange(n)
    labels[small] = n + np.concatenate([[0], np.cumsum(starts)])
    return compact(labels)


def make_search(
    graph: Any,
    codes: NDArray | None,
    n_clusters: int,
    *,
    size_bounds: Any = None,
    effort: float = 1.0,
    seed: int = 0,
    **options: Any,
) -> Search | LargeSearch:
    """Return the search for a graph in memory or in a store of rows.

    Parameters
    ----------
    graph : csr_array of shape (n_nodes, n_nodes), or RowStore
        A validated graph, or its rows wherever they are kept: these are searched as a large graph in memory is.
    codes : ndarray of shape (n_nodes,) or (n_nodes, n_attributes), or None
        Group of each node, -1 for none; None leaves modularity alone.
    n_clusters : int
        k; every result has exactly k non-empty clusters.
    size_bounds : "auto", (int, int) or None
        Least and most nodes of a cluster.
    effort, seed
        See `Search`.
    options
        The notion, and weights of several attributes; see `make_objective`.
    """
    rows = rows_of(graph)
    if rows is None:
        graph = unit_weights(graph.astype(np.float64, copy=False))
        n, total = graph.shape[0], float(graph.sum(dtype=np.float64))
    else:
        n, total = rows.n_nodes, float(rows.strength.sum())
    objective, columns = make_objective(codes, n_nodes=n, total=total, **options)
    least, most = check_size_bounds(size_bounds, n, n_clusters)
    objective = replace(objective, least=np.full(n_clusters, least), most=np.full(n_clusters, most))
    n_groups = objective.population.size
    if rows is None:
        level = first_level(graph, columns, n_groups)
        return Search(level, objective, n_clusters, effort=effort, seed=seed)
    rows.divide(columns, n_groups)
    # Clusters of a large graph are so large that rounding to whole nodes does not show.
    return LargeSearch(rows, replace(objective, even=0.0), n_clusters, effort=effort, seed=seed)


def best_number(graph: Any, codes: NDArray | None, target: Target, *, seed: int = 0, **options: Any) -> int:
    """Return the number of clusters, at least two, that local moves find best for a target.

    Cohesive clusters, as many as come out, are raised along the dial while their number is free, and then merged pair
    by pair as long as that pays. On a large graph it is parts that are clustered.
    """
    search = make_search(graph, codes, 2, seed=seed, **options)
    if isinstance(search, LargeSearch):
        _, level = coarsen(search.rows, None, max(min(_FREE_PARTS, search.rows.n_nodes // 2), 2))
    else:
        level = search.level
    free = search.objective.free()
    objective, rng = free.for_target(target), np.random.default_rng([seed, 0])
    labels, _ = climb(level, np.arange(level.n_sites, dtype=np.int32), free, rng, tol=1e-3)
    for value in LADDER:
        if value < objective.fairness:
            labels, _ = climb(level, labels, free.guided().at(value), rng, max_cycles=1)
    labels, _ = climb(level, labels, objective, rng)
    candidates = [labels]
    if int(labels.max()) > 1:
        candidates.append(merge(level, labels, 2, int(labels.max()) + 1, objective))
    best = max(candidates, key=lambda found: objective.value(*scores_of(level, found, objective)))
    return max(int(np.unique(best).size), 2)
