"""The search on a large graph: on a few thousand parts of it what is done on the nodes of a small one, then climbs.

Written once for a graph in memory, in blocks on disk and on Dask workers: it sees the nodes only through `Ground`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equigraph.search.bounds import within_bounds
from equigraph.search.coarsen import coarsen
from equigraph.search.ground import Ground
from equigraph.search.levels import compact_pairs
from equigraph.search.objective import Objective
from equigraph.search.plans import LADDER
from equigraph.search.steps import Steps
from equigraph.search.targets import Target, any_fair

if TYPE_CHECKING:
    from equigraph.search.search import Search

# Most passes of a climb on the nodes, the gain of a pass that is worth another, and the passes at a value of the dial
# on the way up.
PASSES, LEAST_GAIN, _RUNG_PASSES = 20, 1e-7, 3
# Values of the dial that parts are searched at whatever value is asked for.
_AROUND = (0.2, 0.5, 0.8)


def work_on_parts(
    search: Search, ground: Ground, targets: Sequence[Target], given: list[NDArray], n_runs: int
) -> Iterator[None]:
    """Do on parts of a large graph what is done on the nodes of a small one, and then climb.

    Parts are moved and merged first. Where they leave clusters unfair, single nodes make them fair at less cost, as
    the dial is raised. Parts of what is known by then are searched once more for every target.
    """
    yield from _search_parts(search, ground, targets, given, n_runs, turn=0)
    if any_fair(targets) and search.objective.is_fair:
        labels = Target(0.0).best(search.pool)
        for value in LADDER:
            guide = search.guide.at(value)
            labels = search.add(ground.settle(labels, guide, max_passes=_RUNG_PASSES, least_gain=0.0))
    known = []
    for target in targets:
        known.append(climbed(search, ground, target.best(search.pool), target))
        yield
    yield from _search_parts(search, ground, targets, known, n_runs, turn=1)


def _search_parts(
    search: Search,
    ground: Ground,
    targets: Sequence[Target],
    known: Sequence[NDArray],
    n_runs: int,
    turn: int,
) -> Iterator[None]:
    """Search on parts that lie within one cluster of every division known, as far as that leaves few enough."""
    cells, starts = None, []
    for labels in known:
        finer = labels if cells is None else compact_pairs(cells, labels)
        if cells is None or int(finer.max()) < search.plan.n_parts:
            cells = finer
            starts.append(labels)
    parts, level = coarsen(ground, cells, search.plan.n_parts, search.objective)
    seed = int(search.rng(0, turn).integers(2**31))
    inner = search.on_level(level, search.objective, search.n_clusters, effort=search.effort, seed=seed)
    coarse = np.empty((len(starts), level.n_nodes), dtype=np.int32)
    for place, labels in enumerate(starts):
        coarse[place, parts] = labels
    yield from inner._work(_around(targets), list(coarse), n_runs)
    for target in targets:
        search.pending = target.best(inner.pool)[parts], target
        climbed(search, ground, *search.pending)


def _around(targets: Sequence[Target]) -> list[Target]:
    """Return the targets and further values of the dial: parts are few, and what is found at one serves another."""
    further = [Target(value) for value in _AROUND] if any_fair(targets) else []
    return [*targets, *(target for target in further if target not in targets)]


def climbed(search: Search, ground: Ground, labels: NDArray, target: Target) -> NDArray[np.int32]:
    """Move the nodes of a large graph, in index order, for a bounded number of passes, into the pool."""
    objective = target.of(search.objective)
    if objective.is_bounded:
        labels = within_bounds(ground, labels, search.n_clusters, objective.least, objective.most)
    labels = search.add(settle_nodes(ground, labels, objective))
    if not objective.is_bounded and objective.fairness == 0:
        return labels
    # Where sizes are tied, or each cluster must mirror the population, two nodes get further than one.
    labels = search.add(ground.swap(labels, objective))
    return search.add(settle_nodes(ground, labels, objective))


def settle_nodes(ground: Ground, labels: NDArray, objective: Objective) -> NDArray[np.int32]:
    """Move single nodes while the objective rises, until a pass brings next to nothing."""
    return ground.settle(labels, objective, max_passes=PASSES, least_gain=LEAST_GAIN)


def exactly_on_parts(search: Search, ground: Ground, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Split or merge clusters until there are k, within the bounds: too few are first divided into parts."""
    n_clusters, objective = search.n_clusters, search.objective
    n_given = int(labels.max()) + 1
    if n_given != n_clusters:
        parts = labels
        if n_given < n_clusters:
            parts, _ = coarsen(ground, labels, search.plan.n_parts, objective)
        level = ground.aggregate(parts, objective)
        alone = np.arange(level.n_nodes, dtype=np.int32)
        labels = Steps(level, n_clusters).with_k(alone, objective.unbounded(), search.rng(0))[parts]
    return within_bounds(ground, labels, n_clusters, objective.least, objective.most)
