"""Multilevel search on a large graph: coarsen it, search on the quotient graph, then refine the nodes.

The same code serves a graph in memory, in blocks on disk and on the workers of a Dask cluster: the nodes are visited
only in walks along the rows in index order, by the loops of the search on a small graph. The same graph therefore gives
the same labels everywhere, except that the quotient graph of a weighted graph is summed block by block, and may differ
in the last digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.callbacks import Notifier, Stopwatch
from equigraph.exceptions import InfeasibleError, SchedulerLostError, SchedulerLostWarning, warn
from equigraph.graph.validate import unit_weights
from equigraph.search.arrays import Level
from equigraph.search.bounds import check_size_bounds, within_bounds
from equigraph.search.level import aggregate, common_parts, compact, count_groups, first_level
from equigraph.search.merge import merge
from equigraph.search.moves import SWAP_PASSES, climb
from equigraph.search.objective import Objective, make_objective
from equigraph.search.partition import scores_of
from equigraph.search.plans import DIAL, LADDER, is_large, n_parts_for
from equigraph.search.pool import Pool, Target
from equigraph.search.rows import GraphRows, rows_of
from equigraph.search.search import Search
from equigraph.stores.threads import run_all

# Most passes of local search on the nodes, and the least gain for another pass.
_PASSES, _LEAST_GAIN = 20, 1e-7
# Labels that are fair on the parts are raised from half the dial of the target on, counted up to this dial.
_HIGHEST_START = 0.5
# Values of the dial through which nodes are raised, with one pass each: the smaller the steps, the more of the nodes
# that move for fairness are those that lose least.
_RUNGS = (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.65, 0.8)
# Least gain of a pass of swaps, in modularity, for another pass; entries visited by all passes of a search, and the
# number of passes on graphs with more.
_LEAST_SWAP, _SWAP_ENTRIES, _FEW_PASSES = 6e-4, 80_000_000, 4
# Passes of label propagation; after these, hardly any node still changes its part.
_SPREAD_PASSES = 4
# Number of parts to cluster if the number of clusters is free.
_FREE_PARTS = 50_000
# Up to so many nodes the number of clusters is improved by short searches of this effort.
_FEW_NODES, _SHORT = 500, 0.1
# Small parts are packed if there are this many times as many parts as wanted.
_EXCESS = 4


class LargeSearch:
    """Counterpart of `Search` for large graphs.

    Parameters
    ----------
    rows : GraphRows
        The graph and the groups of its nodes.
    objective : Objective
        The objective at any value of the dial: notion and bounds on sizes.
    n_clusters, effort, seed
        As of `Search`.
    """

    def __init__(
        self, rows: GraphRows, objective: Objective, n_clusters: int, *, effort: float = 1.0, seed: int = 0
    ):
        self.rows, self.objective, self.n_clusters = rows, objective, n_clusters
        self.effort, self.seed = effort, seed
        self.n_parts = n_parts_for(rows.n_nodes, rows.n_entries, n_clusters)
        self.pool = Pool()
        self.watch = Stopwatch()
        # The search on parts under way, and the part of each node.
        self._inner: tuple[Search, NDArray] | None = None

    @property
    def stopped(self) -> bool:
        """Whether the search was ended early."""
        return self.watch.stopped

    def score(self, labels: NDArray) -> tuple[float, float]:
        """Return modularity and notion."""
        return self.rows.scores(labels, self.objective)

    def interaction(self, labels: NDArray) -> sparse.csr_array:
        """Return the mean weight of the node pairs between every two clusters."""
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
        with self._kept_if_lost(wanted), self.watch.watching():
            self._run(wanted, list(starts), n_runs)
        if not self.pool.labels:
            self._take_parts(wanted)
        found = [target.best(self.pool) for target in wanted]
        return found if self.objective.is_fair else found * len(targets)

    def front(self, starts: Iterable[NDArray] = (), notify: Notifier | None = None, n_runs: int = 1) -> Pool:
        """Return the Pareto front of all labels found along the whole dial; see `Search.front`."""
        self.solve([Target(value) for value in DIAL], starts, notify, n_runs)
        return self.pool

    def exactly(self, labels: NDArray) -> NDArray[np.int32]:
        """Return labels with exactly k clusters within the bounds; too few clusters are first split into parts."""
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
        rows = self.rows
        return within_bounds(rows.links, rows.own, rows.nodes.sizes, labels, *bounds, self.n_clusters)

    def _has_some(self) -> bool:
        return bool(self.pool.labels or (self._inner is not None and self._inner[0].pool.labels))

    def _keep(self, labels: NDArray) -> NDArray[np.int32]:
        self.pool.add(labels, *self.score(labels))
        return labels

    def _placed(self, target: Target) -> NDArray[np.int32]:
        """Return the labels of the nodes that are best for a target on the parts."""
        assert self._inner is not None
        inner, parts = self._inner
        return self._within_bounds(target.best(inner.pool)[parts])

    def _take_parts(self, targets: Sequence[Target]) -> None:
        """Refine the labels found on the parts by moves of single nodes, and add them to the pool."""

        def refine(target: Target) -> NDArray[np.int32]:
            return self._settled(self._placed(target), self.objective.for_target(target))

        for labels in run_all([partial(refine, target) for target in targets], self.rows.n_walks):
            self._keep(labels)

    @contextmanager
    def _kept_if_lost(self, targets: Sequence[Target]) -> Iterator[None]:
        """Keep the labels found if the workers are lost, and finish the search in this process."""
        try:
            yield
        except SchedulerLostError as error:
            if not self._has_some():
                raise
            self.watch.stopped = True
            self.rows.leave_workers()
            if not self.pool.labels:
                self._take_parts(targets)
                self._climbed([targets[0].best(self.pool)], targets[0])
            cause = str(error).partition(",")[0]
            warn(f"{cause}: the labels are the best that the search had found by then.", SchedulerLostWarning)

    def _run(self, targets: Sequence[Target], starts: list[NDArray], n_runs: int) -> None:
        """Search on parts, raise the dial on the nodes, and refine the best labels for each target."""
        given = [self._keep(self.exactly(start)) for start in starts]
        if not self.effort:
            given = given or [self._keep(self.exactly(np.zeros(self.rows.n_nodes, dtype=np.int32)))]
            for target in targets:
                self._climbed(given, target)
                self.watch.step()
            return
        cohesion, fair = Target(0.0), [target for target in targets if target.wants_fairness]
        wanted = list(dict.fromkeys([cohesion, *targets])) if fair else targets
        self._search_parts(wanted, given, n_runs)
        self._take_parts([cohesion] if fair else targets)
        pools = [self.pool]
        if fair:
            # Single nodes make clusters fair at less cost than parts, while the dial is raised: from the most cohesive
            # labels and the given ones, and from those that are best for each target on the parts.
            cohesive = (cohesion.best(self.pool), *given)
            tasks = [partial(self._raised, labels, 0.0, targets) for labels in cohesive]
            for target in fair:
                # From lower values of the dial on, nodes would leave fair clusters for the cohesive ones.
                low = min(self.objective.for_target(target).fairness, _HIGHEST_START) / 2
                tasks.append(partial(self._raised, self._placed(target), low, targets))
            pools = [Pool(), Pool()]
            for number, pool in enumerate(run_all(tasks, self.rows.n_walks)):
                for labels, scores in zip(pool.labels, pool.scores, strict=True):
                    pools[number > len(given)].add(labels, *scores)
                    self.pool.add(labels, *scores)
            self.watch.step()
        for target in targets:
            self._climbed([target.best(pool) for pool in pools], target)
            self.watch.step()

    def _raised(self, labels: NDArray, low: float, targets: Sequence[Target]) -> Pool:
        """Raise the dial on the nodes, from a value on; return the best labels for each target."""
        pool = Pool()
        modularity, notion = self.score(labels)
        pool.add(labels, modularity, notion)
        for value in (value for value in _RUNGS if value >= low):
            guide = self.objective.guided().at(value)
            labels, gain = self.rows.settle(
                labels, guide, max_passes=1, least_gain=0.0, pause=self.watch.look
            )
            modularity += gain
            notion = self.objective.notion_value(count_groups(self.rows.nodes, labels, self.n_clusters))
            pool.add(labels, modularity, notion)
            pool.keep(targets)
        return pool

    def _search_parts(self, targets: Sequence[Target], known: Sequence[NDArray], n_runs: int) -> None:
        """Search on parts of the overlay of the known divisions, as far as that has few enough parts."""
        cells, starts = None, []
        for labels in known:
            finer = labels if cells is None else common_parts(cells, labels)
            if cells is None or int(finer.max()) < self.n_parts:
                cells = finer
                starts.append(labels)
        parts, level = coarsen(self.rows, cells, self.n_parts)
        # Parts are too coarse to meet tight bounds, so these are relaxed by the largest part.
        largest = int(level.sizes.max())
        looser = replace(
            self.objective,
            least=np.maximum(self.objective.least - largest, 1),
            most=np.minimum(self.objective.most + largest, self.rows.n_nodes),
        )
        inner = Search(level, looser, self.n_clusters, effort=self.effort, seed=self.seed)
        inner.plan, inner.watch = replace(inner.plan, n_longer=0, n_plain=0), self.watch
        self._inner = inner, parts
        coarse = np.empty((len(starts), level.n_sites), dtype=np.int32)
        for place, labels in enumerate(starts):
            coarse[place, parts] = labels
        inner.run(targets, list(coarse), n_runs)

    def _climbed(self, starts: Sequence[NDArray], target: Target) -> None:
        """Move and swap nodes in index order, for a bounded number of passes; add the labels to the pool."""
        objective = self.objective.for_target(target)

        def climb(start: NDArray) -> NDArray[np.int32]:
            labels = self._within_bounds(start)
            if objective.terms.everywhere:
                # Under tight size bounds or a high dial, swaps find gains that single moves cannot.
                labels = self._settled(labels, objective, 2)
                labels = self.rows.swap(
                    labels,
                    objective,
                    max_passes=max(min(SWAP_PASSES, _SWAP_ENTRIES // (self.rows.n_entries + 1)), _FEW_PASSES),
                    least_gain=_LEAST_SWAP,
                    pause=self.watch.look,
                )
            return self._settled(labels, objective)

        for labels in run_all([partial(climb, start) for start in starts], self.rows.n_walks):
            self._keep(labels)

    def _settled(self, labels: NDArray, objective: Objective, max_passes: int = _PASSES) -> NDArray[np.int32]:
        return self.rows.settle(
            labels, objective, max_passes=max_passes, least_gain=_LEAST_GAIN, pause=self.watch.look
        )[0]


def coarsen(rows: GraphRows, cells: NDArray | None, n_parts: int) -> tuple[NDArray[np.int32], Level]:
    """Coarsen a graph to about the wanted number of parts, each within one cell.

    Parts come from label propagation with a bound on the strength of a part. If that leaves many small parts, such as
    leaves of a full hub, small components and nodes without edges, these are packed together: first by the part to
    which they have most weight, then by their largest group.

    Parameters
    ----------
    rows : GraphRows
        The graph.
    cells : ndarray of shape (n_nodes,), int32, or None
        Nodes with different entries are never in the same part.
    n_parts : int
        Approximate number of parts: a part has at most about ``1 / n_parts`` of the strength (if packed, of the nodes).

    Returns
    -------
    labels : ndarray of shape (n_nodes,)
        Part of each node, compact.
    coarse : Level
        The quotient graph of the parts.
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
    """Return compact labels that pack small super-nodes of the same cell; large ones stay single."""
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
    # Bins of equal mass along that order, cut where the cell changes, or the group of nodes without edges.
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
        A validated graph, or a store of its rows, which is searched like a large graph in memory.
    codes : ndarray of shape (n_nodes,) or (n_nodes, n_attributes), or None
        Group of each node, -1 for none; None for modularity alone.
    n_clusters : int
        k; every result has exactly k non-empty clusters.
    size_bounds : "auto", (int, int) or None
        Least and most nodes of a cluster.
    effort, seed
        See `Search`.
    options
        The notion, and weights of several attributes; see `make_objective`.
    """
    rows = None
    if not sparse.issparse(graph) or is_large(graph.shape[0], graph.nnz):
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
    # In large clusters rounding to whole nodes is negligible, so there are no ties for evenness to break.
    return LargeSearch(rows, replace(objective, even=0.0), n_clusters, effort=effort, seed=seed)


def best_number(
    graph: Any,
    codes: NDArray | None,
    target: Target,
    *,
    size_bounds: Any = None,
    seed: int = 0,
    **options: Any,
) -> int:
    """Return the best number of clusters for a target, at least two.

    The number of clusters is free in a local search while the dial is raised from cohesion alone to the target. Then
    pairs are merged while the objective rises. A large graph is clustered by its parts; on a small one the number is
    changed by one while a short search finds better labels.
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
    number = max(int(np.unique(best).size), 2)
    if level.n_sites > _FEW_NODES or isinstance(search, LargeSearch):
        return number
    options["effort"] = _SHORT

    def allowed(k: int) -> bool:
        """Return whether k clusters can be within the bounds."""
        try:
            check_size_bounds(size_bounds, level.n_sites, k)
        except InfeasibleError:
            return False
        return k > 1

    @cache
    def reached(k: int) -> float:
        """Return the objective of a short search for k clusters."""
        short = make_search(graph, codes, k, size_bounds=size_bounds, seed=seed, **options)
        return objective.value(*short.score(short.solve([target])[0]))

    feasible = filter(allowed, range(2, level.n_sites + 1))
    number = min(feasible, key=lambda k: abs(k - number), default=number)
    for step in (-1, 1):
        while allowed(number + step) and reached(number + step) > reached(number):
            number += step
    return number
