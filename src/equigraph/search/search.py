r"""Search for labels that maximise :math:`(1 - f) Q + f N`, at one value of the dial or at many, or under a bound on N.

Everything found goes into one pool, and each target takes from it what is best there: good clusters are easy to find at
some values of the dial and hard at others, and labels found at one often serve another better than its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Notifier
from equigraph.exceptions import SchedulerLostError, SchedulerLostWarning, warn
from equigraph.metrics.notions import Notion
from equigraph.search.bounds import check_size_bounds
from equigraph.search.ground import Ground, ground_of, in_doubles
from equigraph.search.levels import Level, compact, first_level, scores_of
from equigraph.search.objective import Objective, make_objective
from equigraph.search.on_parts import (
    LEAST_GAIN,
    PASSES,
    climbed,
    exactly_on_parts,
    settle_nodes,
    work_on_parts,
)
from equigraph.search.plans import DIAL, LADDER, plan_for
from equigraph.search.pool import Pool
from equigraph.search.steps import Steps
from equigraph.search.targets import Target, any_fair

__all__ = ["Search", "Target"]

# Where annealings begin, in units of a typical change: one that keeps the structure, and one that may change it.
_WARM, _HOT = 0.02, 0.1
TURNS = (_WARM, _HOT, 0.3)
# Lengths of annealings after a recombination, after a kick and at the end, in those of a first one.
_AFTER, _KICK, _LAST = 0.25, 0.25, 1.0
# The dial at which clusters are made that are fair from the first moves on.
_MIXED = 0.35
# Values of the dial that are searched before a bound is.
_AROUND_BOUND = (0.2, 0.5, 0.8)
# Shares of a bound on the way up to it.
_STEPS_TO_BOUND = (0.4, 0.6, 0.7, 0.8, 0.9)
# Keys of random draws beyond those of single starts.
_BASE = 1000
# Two divisions whose common parts are more than this share of the nodes have nothing in common.
_MOST_SHARED = 0.9
# Proposals on parts, at least.
_LEAST_COARSE = 5_000
# Neighbours on the front that differ by more in the notion leave a gap that is searched.
_GAP = 0.05
# Where in a wide gap that stays empty the whole search for a bound is tried; few nodes leave narrow ones by themselves.
_FURTHER, _WIDE = (0.3, 0.1), 0.2
# What a round of swaps and moves must bring, in modularity, to be followed by another.
_WORTH_SWAPS = 4e-4
# Settling at one target may find what another's choice is made of; each round only adds what is better.
_MOST_ROUNDS = 5


class Search:
    """One graph, one notion, one number of clusters.

    Parameters
    ----------
    graph : csr_array of shape (n_nodes, n_nodes), or RowStore
        A validated graph, or its rows wherever they are kept: these are searched as a large graph in memory is.
    codes : ndarray of shape (n_nodes,) or (n_nodes, n_attributes), or None
        Group of each node, -1 for none; None leaves modularity alone.
    n_clusters : int
        k; every result has exactly k non-empty clusters.
    notion : str or Notion
        The fairness N.
    weights : ndarray of shape (n_attributes,), optional
        Weights of several attributes.
    size_bounds : (int, int), optional
        Least and most nodes of a cluster.
    effort : float
        Multiplies the length of the search; 0 only climbs from the starts given.
    seed : int
        The same seed gives the same labels.

    Attributes
    ----------
    lost : bool
        Whether the search ended because the workers with the rows were lost.
    is_inner : bool
        Whether it is a step of another search, which has said what there is to say.
    """

    ground: Ground | None

    def __init__(
        self,
        graph: Any,
        codes: NDArray | None,
        n_clusters: int,
        *,
        notion: str | Notion = "normalized",
        weights: NDArray | None = None,
        size_bounds: tuple[int | None, int | None] | None = None,
        effort: float = 1.0,
        seed: int = 0,
    ):
        ground = ground_of(graph)
        if ground is not None:
            n, total = ground.n_nodes, float(ground.strength.sum())
        else:
            graph = in_doubles(graph)
            n, total = graph.shape[0], float(graph.sum(dtype=np.float64))
        objective, columns = make_objective(codes, n_nodes=n, total=total, notion=notion, weights=weights)
        least, most = check_size_bounds(size_bounds, n, n_clusters)
        objective = replace(objective, least=least, most=most)
        if ground is None:
            level = first_level(graph, columns, objective.population.size)
            self._begin(level, objective, n_clusters, effort, seed)
            return
        ground.divide(columns, objective.population.size)
        self._begin(ground.nodes, objective, n_clusters, effort, seed)
        self.ground = ground
        self.plan = plan_for(n, ground.n_entries, n_clusters, effort, on_parts=True)

    @classmethod
    def on_level(
        cls, level: Level, objective: Objective, n_clusters: int, *, effort: float = 1.0, seed: int = 0
    ) -> Search:
        """Return a search on a graph of super-nodes; the objective is that of the nodes inside them."""
        search = cls.__new__(cls)
        search._begin(level, objective.unbounded(), n_clusters, effort, seed)
        search.is_inner = True
        search.plan = plan_for(level.n_nodes, level.graph.nnz, n_clusters, effort, on_parts=False)
        return search

    def _begin(self, level: Level, objective: Objective, n_clusters: int, effort: float, seed: int) -> None:
        self.level, self.objective, self.n_clusters = level, objective, n_clusters
        self.effort, self.seed = effort, seed
        self.ground = None
        self.plan = plan_for(level.n_nodes, level.graph.nnz, n_clusters, effort)
        self.steps = Steps(level, n_clusters)
        self.lost, self.is_inner = False, False
        # Labels found on parts that are not in the pool before their nodes have moved.
        self.pending: tuple[NDArray, Target] | None = None
        # Divisions as the dial was raised, of the last run.
        self.lineages: list[list[NDArray]] = []
        self.guide = replace(objective, notion=objective.notion.guided())
        self.pool = Pool()

    def rng(self, *keys: int) -> np.random.Generator:
        """Return a generator of one step's own, so that what else is searched for does not change its draws."""
        return np.random.default_rng([self.seed, *keys])

    def score(self, labels: NDArray) -> tuple[float, float]:
        """Return modularity and notion."""
        if self.ground is not None:
            return self.ground.scores(labels, self.objective)
        return scores_of(self.level, labels, self.objective)

    def add(self, labels: NDArray) -> NDArray[np.int32]:
        """Put labels with exactly k clusters within the bounds into the pool, and return them."""
        self.pool.add(labels, *self.score(labels))
        return labels

    def solve(
        self,
        targets: Sequence[Target],
        starts: Iterable[NDArray] = (),
        notify: Notifier | None = None,
        n_runs: int = 1,
    ) -> list[NDArray[np.int32]]:
        """Return labels for every target, all found together.

        Parameters
        ----------
        targets : sequence of Target
            What is wanted. What is done for one does not depend on the others, and all share the pool: together they
            are found at least as good as each alone.
        starts : iterable of ndarray
            Labels from elsewhere that take part in the search, with any number of clusters.
        notify : Notifier, optional
            Told after every step; when it asks to stop, the best labels so far are returned.
        n_runs : int, default=1
            How often all is searched; further runs go on with the pool of those before.
        """
        # Without groups there is cohesion alone, whatever the dial says: one search serves all.
        alike = not self.objective.is_fair
        wanted = [Target()] if alike else targets
        if any_fair(wanted) and not self.is_inner:
            n_entries = self.level.graph.nnz if self.ground is None else self.ground.n_entries
            self.objective.warn_if_slow(n_entries, self.n_clusters, self.effort)
        work = self._work(wanted, list(starts), n_runs)
        n_steps = self._n_steps(wanted, n_runs)
        with self._kept_if_lost():
            for step, _ in enumerate(work, start=1):
                if (notify or Notifier())("search", min(step, n_steps), n_steps) and self.pool.labels:
                    break
        return [self._settled(target) for target in wanted] * (len(targets) if alike else 1)

    def front(self, starts: Iterable[NDArray] = (), notify: Notifier | None = None, n_runs: int = 1) -> Pool:
        """Return all labels found that nothing dominates, along the whole dial and, where it jumps, between.

        A weighted sum reaches only the convex hull of the front. Where the notion of two neighbours on it differs by
        more than `_GAP`, the most cohesive labels at least as fair as the middle are searched for, as long as that
        finds any.
        """
        self.solve([Target(value) for value in DIAL], starts, notify, n_runs)
        given_up: set[tuple[float, float]] = set()
        going_on = self.effort > 0 and self.objective.is_fair and not self.lost
        with self._kept_if_lost():
            while going_on and (gap := self._widest_gap(given_up)):
                if not self._fill(*gap):
                    given_up.add(gap)
                if (notify or Notifier())("front", len(self.pool.scores), len(self.pool.scores) + 1):
                    break
        return self.pool

    @contextmanager
    def _kept_if_lost(self) -> Iterator[None]:
        """End a search whose workers are gone with what was found; what is left to do is done in this process."""
        try:
            yield
        except SchedulerLostError as error:
            if self.ground is None or not (self.pool.labels or self.pending):
                raise
            self.lost = True
            self.ground.leave_workers()
            if self.pending and not self.pool.labels:
                climbed(self, self.ground, *self.pending)
            cause = str(error).partition(",")[0]
            warn(f"{cause}: the labels are the best that the search had found by then.", SchedulerLostWarning)

    def _widest_gap(self, given_up: set[tuple[float, float]]) -> tuple[float, float] | None:
        notions = sorted(notion for _, notion in self.pool.scores)
        gaps = [gap for gap in itertools.pairwise(notions) if gap[1] - gap[0] > _GAP and gap not in given_up]
        return max(gaps, key=lambda gap: gap[1] - gap[0], default=None)

    def _fill(self, low: float, high: float) -> bool:
        """Search between two neighbours of the front; return whether anything was found there."""
        above, below = self.pool.reaching(high), self.pool.reaching(low)
        for place in (0.5, 0.25, 0.75):
            target = Target(at_least=low + place * (high - low))
            objective, rng = target.of(self.objective), self.rng(*key_of(target))
            found = [self._towards(labels, objective, rng) for labels in (above, below)]
            if self.ground is None:
                self._recombined(found, objective, rng)
            if self._found_between(low, high):
                return True
        # What the dial passed on its way up is nearer to a low bound than either end of the gap.
        for place in _FURTHER if self.lineages and high - low > _WIDE else ():
            target = Target(at_least=low + place * (high - low))
            for _ in self._search_at(target, self.lineages, self.rng(*key_of(target))):
                pass
            if self._found_between(low, high):
                return True
        return False

    def _found_between(self, low: float, high: float) -> bool:
        return any(low < notion < high for _, notion in self.pool.scores)

    def _towards(self, labels: NDArray, objective: Objective, rng: np.random.Generator) -> NDArray[np.int32]:
        if self.ground is not None:
            return self.add(self._settle(labels, objective))
        return self._anneal(labels, objective, rng, hot=_WARM)

    def _n_steps(self, targets: Sequence[Target], n_runs: int) -> int:
        """Return about how many steps `_work` takes, for who watches."""
        if not self.effort:
            return len(targets)
        fair = any_fair(targets) and self.objective.is_fair
        n_lineages = self.plan.n_raised if fair else 1
        searches = sum(1 if target.at_least is None else 1 + len(_AROUND_BOUND) for target in targets)
        steps = self.plan.n_starts + n_lineages * fair + searches * (n_lineages + 2)
        return n_runs * steps * (2 if self.ground is not None else 1)

    def _work(self, targets: Sequence[Target], starts: list[NDArray], n_runs: int) -> Iterator[None]:
        """Do the search, step by step."""
        given = [self.add(self.exactly(start)) for start in starts]
        if not self.effort:
            given = given or [self.add(self._cohesive(self.rng(0)))]
            for target in targets:
                for labels in given:
                    self.add(self._rise(labels, target))
                yield
            return
        if self.ground is not None:
            yield from work_on_parts(self, self.ground, targets, given, n_runs)
            return
        for run in range(n_runs):
            bases = []
            for start in range(self.plan.n_starts):
                bases.append(self.add(self._cohesive(self.rng(run, start))))
                yield
            base = self._recombined(bases, self.objective, self.rng(run, _BASE))
            # For cohesion alone single divisions take the place of lineages.
            plain = [[base], *([labels] for labels in bases[: self.plan.n_raised - 1])]
            lineages = plain
            if any_fair(targets) and self.objective.is_fair:
                lineages = []
                for number in range(self.plan.n_raised):
                    lineages.append(self._raised(number, base, bases, run))
                    yield
            self.lineages = lineages
            for target in targets:
                known = lineages if target.wants_fairness else plain
                known = known + [[labels] for labels in given]
                if target.at_least is not None:
                    # The dial often leads past a bound to labels that a search under the bound does not find.
                    for value in _AROUND_BOUND:
                        dial = Target(value)
                        yield from self._search_at(dial, known, self.rng(run, *key_of(dial)))
                    # A bound that is raised step by step leads to labels that one far away does not.
                    rng = self.rng(run, *key_of(target), 1)
                    for share in _STEPS_TO_BOUND:
                        nearer = Target(at_least=share * target.at_least)
                        self._towards(nearer.best(self.pool), nearer.of(self.objective), rng)
                    known = [*known, [target.best(self.pool)], [nearer.best(self.pool)]]
                yield from self._search_at(target, known, self.rng(run, *key_of(target)))

    def _settle(self, labels: NDArray, objective: Objective) -> NDArray[np.int32]:
        """Move single nodes while the objective rises: to the end on a small graph, nearly so on a large one."""
        if self.ground is not None:
            return settle_nodes(self.ground, labels, objective)
        if self.plan.n_parts:
            return self.steps.settle(labels, objective, None, max_passes=PASSES, least_gain=LEAST_GAIN)
        labels = self.steps.settle(labels, objective, self.rng(3))
        return self._exchanged(labels, objective)

    def _exchanged(self, labels: NDArray, objective: Objective) -> NDArray[np.int32]:
        """Let pairs of nodes change places where clusters must mirror the population or sizes are tied."""
        reached = self._value(labels, objective)
        for _ in range(self.plan.n_swaps if objective.fairness or objective.is_bounded else 0):
            labels = self.steps.settle(self.steps.swap(labels, objective), objective, self.rng(3))
            before, reached = reached, self._value(labels, objective)
            if reached - before <= _WORTH_SWAPS * (1 - objective.fairness):
                break
        return labels

    def exactly(self, labels: NDArray) -> NDArray[np.int32]:
        """Make exactly k clusters within the size bounds of any labels."""
        labels = compact(np.asarray(labels))
        if self.ground is not None:
            return exactly_on_parts(self, self.ground, labels)
        return self.steps.with_k(labels, self.objective, self.rng(0))

    def _cohesive(self, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return k cohesive clusters."""
        if self.ground is not None:
            return exactly_on_parts(self, self.ground, np.zeros(self.ground.n_nodes, dtype=np.int32))
        free = self.steps.cohesive(self.objective, rng)
        labels = self._regrouped(free, self.steps.with_k(free, self.objective, rng), self.objective, rng)
        return self.steps.climb(labels, self.objective, rng, cycles=2)

    def _mixed(self, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return k clusters that were fair from the first moves on."""
        guide = self.guide.at(_MIXED)
        free = self.steps.cohesive(guide, rng)
        return self._regrouped(free, self.steps.with_k(free, guide, rng), guide, rng)

    def _regrouped(
        self, free: NDArray, labels: NDArray, objective: Objective, rng: np.random.Generator
    ) -> NDArray[np.int32]:
        """Anneal which of the free clusters make up each of k: greedy merging alone is short-sighted for few."""
        if int(free.max()) + 1 <= self.n_clusters or objective.is_bounded:
            return labels.astype(np.int32)
        steps, parts = self.steps.overlay(free, labels, objective)
        coarse = np.empty(steps.level.n_nodes, dtype=np.int32)
        coarse[parts] = labels
        n_steps = min(self.plan.n_steps, _LEAST_COARSE + 100 * steps.level.n_nodes)
        return steps.anneal(coarse, objective, rng, n_steps, TURNS[-1])[parts]

    def _raised(
        self, number: int, base: NDArray, bases: Sequence[NDArray], run: int
    ) -> list[NDArray[np.int32]]:
        """Return a division and what becomes of it as the dial is raised: a cohesive one, and a mixed one in turn."""
        rng = self.rng(run, _BASE + 1 + number)
        if number % 2:
            return self._along_dial(self._mixed(rng), rng, least=_MIXED)
        start = base if number == 0 else bases[number // 2 % len(bases)]
        return self._along_dial(start, rng)

    def _along_dial(
        self, labels: NDArray, rng: np.random.Generator, least: float = 0.0
    ) -> list[NDArray[np.int32]]:
        lineage = [self.add(labels)]
        for value in LADDER:
            if value >= least:
                labels = self.steps.climb(labels, self.guide.at(value), rng, cycles=1)
                lineage.append(self.add(labels))
        return lineage

    def _recombined(
        self, divisions: Sequence[NDArray], objective: Objective, rng: np.random.Generator
    ) -> NDArray[np.int32]:
        """Return the best of some divisions after it was recombined with all others."""
        best = self._best_of(divisions, objective)
        for other in divisions:
            if other is not best:
                best = self._recombine(best, other, objective, rng)
        return best

    def _search_at(
        self, target: Target, lineages: list[list[NDArray]], rng: np.random.Generator
    ) -> Iterator[None]:
        """Bring one division of every lineage to a target, recombine them, and kick the best."""
        objective = target.of(self.objective)
        found = []
        for number, lineage in enumerate(lineages):
            labels = self._best_of(lineage, objective)
            labels = self.steps.settle(labels, objective, rng, max_passes=20)
            # Which temperature suits a graph is not known beforehand, so they take turns.
            found.append(self._anneal(labels, objective, rng, hot=TURNS[number % len(TURNS)]))
            yield
        best = self._recombined(found, objective, rng)
        yield
        for _ in range(self.plan.n_kicks):
            kicked = self.steps.kick(best, objective, rng)
            settled = self._anneal(kicked, objective, rng, hot=_HOT, share=_KICK)
            best = self._best_of([best, settled], objective)
        yield
        self._anneal(best, objective, rng, hot=_WARM, share=_LAST)

    def _anneal(
        self,
        labels: NDArray,
        objective: Objective,
        rng: np.random.Generator,
        *,
        hot: float,
        share: float = 1.0,
    ) -> NDArray[np.int32]:
        """Anneal on the nodes, climb, and put what is found into the pool."""
        n_steps = int(share * self.plan.n_steps)
        annealed = self.steps.anneal(labels, objective, rng, n_steps, hot)
        return self.add(self.steps.settle(annealed, objective, rng))

    def _recombine(
        self, one: NDArray, other: NDArray, objective: Objective, rng: np.random.Generator
    ) -> NDArray[np.int32]:
        """Search on the parts that two divisions have in common, from the better one, and go on with the nodes."""
        parts_steps, parts = self.steps.overlay(one, other, objective)
        n_parts = parts_steps.level.n_nodes
        if n_parts > _MOST_SHARED * self.level.n_nodes:
            return one.astype(np.int32)
        coarse = np.empty(n_parts, dtype=np.int32)
        coarse[parts] = one
        n_steps = max(self.plan.n_steps * n_parts // self.level.n_nodes, _LEAST_COARSE)
        coarse = parts_steps.anneal(coarse, objective, rng, n_steps, _HOT)
        coarse = parts_steps.climb(coarse, objective, rng, cycles=1)
        return self._best_of(
            [one, self._anneal(coarse[parts], objective, rng, hot=_WARM, share=_AFTER)], objective
        )

    def _best_of(self, candidates: Sequence[NDArray], objective: Objective) -> NDArray[np.int32]:
        return max(candidates, key=lambda labels: self._value(labels, objective))

    def _value(self, labels: NDArray, objective: Objective) -> float:
        modularity, notion = self.score(labels)
        return objective.value(modularity, min(notion, objective.cap))

    def _rise(self, labels: NDArray, target: Target) -> NDArray[np.int32]:
        """Take moves and swaps that do not lower the objective: where sizes are tied, only swaps help."""
        objective, rng = target.of(self.objective), self.rng(*key_of(target))
        if self.ground is not None:
            return climbed(self, self.ground, labels, target)
        labels = self.steps.settle(labels, objective, rng)
        return self.steps.settle(
            self.steps.anneal(labels, objective, rng, self.plan.n_steps, 0.0), objective, rng
        )

    def _settled(self, target: Target) -> NDArray[np.int32]:
        """Return the best labels of the pool for a target, once no move of a single node makes them better."""
        for _ in range(_MOST_ROUNDS):
            best = target.best(self.pool)
            settled = self._settle(best, target.of(self.objective))
            if not self.pool.add(settled, *self.score(settled)):
                break
        return target.best(self.pool)


def key_of(target: Target) -> tuple[int, int]:
    """Return whole numbers that tell targets apart, for the seed of what is done for one."""
    return 1 + (target.at_least is not None), round(1e9 * (target.at_least or target.fairness))
