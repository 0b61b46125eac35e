"""Moves of the search, as functions of a `Partition`; the same functions serve with and without rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.search.arrays import BROKEN, MET, Cooling, Level, SwapCandidates, Tour
from equigraph.search.kernels import anneal as annealing
from equigraph.search.kernels.local import MOST_DENSE, N_WANTED, visit, wanted_clusters
from equigraph.search.kernels.swap import swap_rows
from equigraph.search.level import aggregate, compact
from equigraph.search.objective import Objective
from equigraph.search.partition import Partition

# Annealing: share of swaps among the proposals; final temperature, and penalty of a violation at the start and at the
# end, in units of a typical change; number of random moves that measure this unit.
_SWAPS, _COLD, _CHEAP, _DEAR, _TRIALS = 0.3, 0.03, 0.3, 3.0, 1000
# Number of proposals between two calls of ``pause``.
_PIECE = 1_000_000
# Parts of clusters make the next level if it has at most this share of the sites; otherwise whole clusters do.
_LEAST_SHRINKAGE = 0.8
# Most passes of swaps, and the least gain, in modularity, for another pass.
SWAP_PASSES, LEAST_SWAP = 10, 1e-6
# Limits of swap candidates: pairs of clusters, candidates per slot, and counts read for all kinds of a pair. Evaluating
# a candidate reads the counts of all groups, so with many groups there are fewer kinds.
_MOST_PAIRS, _MOST_WAITING, _MOST_READ = 2**22, 128, 144

Pause = Callable[[], Any]


def no_check() -> None:
    """Do nothing."""


def local_search(
    partition: Partition,
    rng: np.random.Generator | None = None,
    *,
    within: NDArray[np.int32] | None = None,
    fixed: bool = True,
    max_passes: int = 100,
    least_gain: float = 0.0,
    pause: Pause = no_check,
    sweep: Callable[[NDArray[np.bool_], NDArray[np.int64], NDArray[np.float64]], Any] | None = None,
) -> NDArray[np.float64]:
    """Move single sites while the objective rises; return the total gains of Q, of the notion and of the objective.

    A pass visits the sites with a neighbour that moved. If its gain is at most ``least_gain``, the next pass visits all
    sites, since fairness couples clusters that share no edge. The search ends if the gain of that pass is as small.

    Parameters
    ----------
    partition : Partition
        The labels; changed.
    rng : Generator, optional
        Draws the order of the visits; index order by default.
    within : ndarray of shape (n_sites,), optional
        A site only joins clusters of neighbours with the same entry.
    fixed : bool
        Whether the number of clusters is fixed.
    max_passes : int
        Most passes over the sites.
    least_gain : float
        See above; with 0 the search ends when no site moves.
    pause : callable
        Called between passes.
    sweep : callable, optional
        Does one pass, from ``awake``, ``wanted`` and ``gained`` of `Tour`; by default on the level of the partition.
    """
    level, terms, score, _, state = partition.arrays
    n, k, objective = level.n_sites, partition.n_clusters, partition.objective
    order = np.arange(n) if rng is None else rng.permutation(n)
    if objective.rules is not None:
        order = order[objective.rules.fixed[order] < 0]
    seen, room = np.zeros(0, dtype=np.int32) if within is None else within, neighbour_buffers(k)
    awake, wanted, gained = np.ones(n, dtype=np.bool_), np.zeros((0, 1), dtype=np.int64), np.zeros(5)
    examples = np.zeros(0, dtype=np.int64)
    if fixed and objective.fairness and k > MOST_DENSE and level.columns.shape[0]:
        # Too many clusters to try all: a node of each group of the first attribute preselects candidates.
        examples = np.full(int(objective.offsets[1]), -1, dtype=np.int64)
        known = np.flatnonzero(level.columns[:, 0] >= 0)
        examples[level.columns[known, 0]] = known
    for _ in range(max_passes):
        whole, n_moves, gain, missed = bool(awake.all()), gained[0], gained[3], state.tally[BROKEN]
        if examples.size:
            wanted = wanted_clusters(level, terms, score, state, examples)
        if sweep is None:
            visit(*partition.arrays, Tour(0, order, seen, fixed, awake, wanted, gained, *room))
        else:
            sweep(awake, wanted, gained)
        pause()
        if gained[0] > n_moves and (gained[3] - gain > least_gain or state.tally[BROKEN] < missed):
            continue
        if whole:
            break
        awake[:] = True
    return gained[1:4]


def neighbour_buffers(n_clusters: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return work arrays for the candidate clusters of a site; see `Tour`."""
    return np.zeros(n_clusters), np.empty(n_clusters + 1 + 2 * N_WANTED, dtype=np.int64)


def climb(
    level: Level,
    labels: NDArray[np.int32],
    objective: Objective,
    rng: np.random.Generator,
    *,
    fixed: bool = False,
    max_passes: int = 100,
    max_cycles: int = 20,
    tol: float = 1e-4,
    exact: bool = False,
    pause: Pause = no_check,
) -> tuple[NDArray[np.int32], int]:
    """Multilevel local search: move sites and sets of sites until neither raises the objective; rules are ignored.

    Parameters
    ----------
    level, labels, objective
        The graph, compact labels to start from, and the objective.
    rng, fixed, max_passes, pause
        See `local_search`.
    max_cycles : int
        Most rounds from the sites up to the largest sets.
    tol : float
        Least gain of a round for another one.
    exact : bool
        Whether to end with labels that are locally optimal for moves of single sites.

    Returns
    -------
    labels : ndarray of shape (n_sites,)
        Compact labels.
    n_cycles : int
        Rounds done.
    """
    options: dict[str, Any] = {"fixed": fixed, "max_passes": max_passes, "pause": pause}
    objective = objective if fixed and objective.rules is None else objective.free()
    n_cycles, gain = 0, np.inf
    while n_cycles < max_cycles and gain >= tol:
        partition = Partition(level, objective, labels, None if fixed else level.n_sites)
        gain = local_search(partition, rng, least_gain=tol / 10, **options)[2]
        labels, further = _coarse_moves(partition, rng, tol / 10, options)
        gain += further
        n_cycles += 1
    if exact:
        partition = Partition(level, objective, labels, None if fixed else level.n_sites)
        local_search(partition, rng, **options)
        labels = compact(partition.labels)
    return labels, n_cycles


def _coarse_moves(
    partition: Partition, rng: np.random.Generator, least_gain: float, options: dict[str, Any]
) -> tuple[NDArray[np.int32], float]:
    """Move ever larger parts of clusters; return the labels of the sites and the gain.

    As in the Leiden method, the moves are of parts found inside the clusters, not only of whole clusters. Parts are
    made for cohesion alone: parts made for the objective take twice the time for the same gain.
    """
    level, objective, labels = partition.level, partition.objective, compact(partition.labels)
    cohesion = objective.free().at(0.0)
    path, gain = [], 0.0
    while True:
        n_clusters = int(labels.max()) + 1
        if n_clusters == level.n_sites:
            break
        alone = Partition(level, cohesion, np.arange(level.n_sites))
        local_search(alone, rng, within=labels, fixed=False, max_passes=1, pause=options["pause"])
        parts = compact(alone.labels)
        if int(parts.max()) + 1 > _LEAST_SHRINKAGE * level.n_sites:
            parts = labels
        path.append(parts)
        level = aggregate(level, parts)
        coarse = np.empty(level.n_sites, dtype=np.int32)
        coarse[parts] = labels
        moved = Partition(level, objective, coarse, None if options["fixed"] else level.n_sites)
        risen = local_search(moved, rng, least_gain=least_gain, **options)[2]
        labels, gain = compact(moved.labels), gain + risen
        if risen == 0 and level.n_sites == n_clusters:
            break
    for parts in reversed(path):
        labels = labels[parts]
    return labels, gain


def anneal(
    partition: Partition,
    rng: np.random.Generator,
    n_steps: int,
    hot: float,
    *,
    cold: float = _COLD,
    prices: tuple[float, float] | None = None,
    pause: Pause = no_check,
) -> Partition:
    """Simulated annealing; return the best feasible labels visited, or the last ones if none were feasible.

    Parameters
    ----------
    partition : Partition
        The labels; changed.
    rng : Generator
        Seeds the proposals.
    n_steps : int
        Number of proposals.
    hot, cold : float
        Initial and final temperature, in units of a typical change; with ``hot=0`` no proposal with a loss is accepted.
    prices : (float, float), optional
        Penalty of a violation at the start and at the end, in that unit.
    pause : callable
        Called after every million proposals.
    """
    cheap, dear = prices or ((_CHEAP, _DEAR) if hot > 0 else (1e6, 1e6))
    seed = rng.integers(2**63, size=1, dtype=np.uint64)
    sums, best = np.zeros(4), partition.labels.copy()
    sums[MET] = partition.broken == 0
    done = 0
    while done < n_steps:
        size = min(_PIECE, n_steps - done)
        at, after = done / n_steps, (done + size) / n_steps
        cooling = Cooling(
            hot=hot * (cold / hot) ** at if hot > 0 else 0.0,
            cold=hot * (cold / hot) ** after if hot > 0 else 0.0,
            cheap=cheap * (dear / cheap) ** at,
            dear=cheap * (dear / cheap) ** after,
            n_trials=_TRIALS if done == 0 else 0,
            n_steps=size,
            swaps=_SWAPS,
            random=seed,
            best=best,
            sums=sums,
            **by_cluster(partition),
        )
        annealing.anneal(*partition.arrays, cooling)
        done += size
        pause()
    return Partition(partition.level, partition.objective, best, partition.n_clusters)


def by_cluster(partition: Partition) -> dict[str, NDArray[np.int64]]:
    """Return the sites sorted by cluster, the position of each site among them, and the end of each cluster."""
    members = np.argsort(partition.labels, kind="stable")
    place = np.empty_like(members)
    place[members] = np.arange(members.size)
    ends = np.cumsum(np.bincount(partition.labels, minlength=partition.n_clusters))
    return {"members": members, "place": place, "ends": ends}


def swap(partition: Partition, max_passes: int = SWAP_PASSES, least_gain: float = LEAST_SWAP) -> Partition:
    """Swap pairs of nodes, in index order, while the objective rises; return the best partition.

    Sizes do not change. ``least_gain`` is the least gain of a pass, in modularity, for another pass.
    """

    def swapped(labels: NDArray[np.int32]) -> tuple[NDArray[np.int32], float]:
        found = partition.relabelled(labels)
        swap_rows(*found.arrays, 0, empty_candidates(partition.objective, partition.n_clusters))
        return found.labels, found.value

    start = partition.labels.copy(), partition.relabelled(partition.labels).value
    least_gain *= 1 - partition.objective.fairness
    return partition.relabelled(repeat_swaps(swapped, start, partition.n_clusters, max_passes, least_gain))


def repeat_swaps(
    swapped: Callable[[NDArray[np.int32]], tuple[NDArray[np.int32], float]],
    start: tuple[NDArray[np.int32], float],
    n_clusters: int,
    max_passes: int,
    least_gain: float,
) -> NDArray[np.int32]:
    """Repeat passes of swaps while their gain is large enough; return the best labels."""
    best, value = start
    # With more clusters there would be too many heaps.
    for _ in range(max_passes if n_clusters**2 <= _MOST_PAIRS else 0):
        labels, reached = swapped(best)
        gain = reached - value
        if gain > 0:
            best, value = labels, reached
        if gain <= least_gain:
            break
    return best


def empty_candidates(objective: Objective, n_clusters: int) -> SwapCandidates:
    """Return empty heaps of swap candidates."""
    n_groups = objective.population.size
    n_kinds = max(min(n_groups, _MOST_PAIRS // n_clusters**2, max(_MOST_READ // n_groups, 1)), 1)
    n_slots = n_clusters**2 * n_kinds
    size = n_slots * min(_MOST_WAITING, _MOST_PAIRS // n_slots)
    return SwapCandidates(
        number=np.zeros(n_slots, dtype=np.int64),
        who=np.zeros(size, dtype=np.int64),
        gain=np.zeros(size),
        strength=np.zeros(size),
        columns=np.zeros((size, objective.weights.size), dtype=np.int32),
    )
