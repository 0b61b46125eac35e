r"""Search for labels that maximise :math:`(1 - f) Q + f N`, at one value of the dial or at many, or under a bound on N.

Everything found goes into one pool, and each target takes from it what is best there: good clusters are easy to find at
some values of the dial and hard at others, and labels found at one often serve another better than its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Notifier
from equigraph.search.arrays import Level
from equigraph.search.bounds import within_bounds
from equigraph.search.level import aggregate, common_parts, compact, links_to
from equigraph.search.merge import merge, split
from equigraph.search.moves import anneal, climb, local_search, recombine, swap
from equigraph.search.objective import Objective
from equigraph.search.partition import Partition, scores_of
from equigraph.search.plans import DIAL, LADDER, Plan, plan_for
from equigraph.search.pool import Pool
from equigraph.search.stopping import Stopwatch
from equigraph.search.targets import Target

# Where annealings begin, in units of a typical change: one that keeps the structure, and one that may change it.
_WARM, _HOT = 0.02, 0.1
_TURNS = (_WARM, _HOT, 0.3)
# Lengths of annealings after a recombination and in a gap, in those of a first one.
_AFTER, _FILL = 0.25, 0.4
# Annealings at the end are ever longer as long as one brings so much. Graphs without clear clusters have many divisions
# that are nearly as good, and there only long annealings find better ones.
_LONGER, _WORTH_LONGER = 4.0, 2e-4
# The dial at which clusters are made that are fair from the first moves on.
_MIXED = 0.35
# Values of the dial that are searched before a bound is, and shares of it on the way up to it.
_AROUND_BOUND, _STEPS_TO_BOUND = (0.2, 0.5, 0.8), (0.4, 0.6, 0.7, 0.8, 0.9)
_AROUND_RULED = (0.5,)
# Keys of random draws beyond those of single starts.
_BASE = 1000
# Two divisions whose common parts are more than this share of the sites have nothing in common.
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


class Found(NamedTuple):
    """Labels with their scores, and by how much they miss bounds and rules."""

    labels: NDArray[np.int32]
    modularity: float
    notion: float
    broken: int


class Search:
    """The search on one level: divisions are made, raised along the dial, recombined, polished, and one is chosen.

    Parameters
    ----------
    level : Level
        The graph.
    objective : Objective
        What is wanted, whatever the dial: notion, bounds on sizes, rules.
    n_clusters : int
        k; every result has exactly k non-empty clusters.
    effort : float
        Multiplies the length of the search; 0 only climbs from the starts given.
    seed : int
        The same seed gives the same labels.
    """

    def __init__(
        self, level: Level, objective: Objective, n_clusters: int, *, effort: float = 1.0, seed: int = 0
    ):
        self.level, self.objective, self.n_clusters = level, objective, n_clusters
        self.guide, self._judge = objective.guided(), replace(objective.at(1.0), even=0.0)
        self.effort, self.seed = effort, seed
        self.plan = self._plan()
        self.pool = Pool()
        self.watch = Stopwatch()
        # Divisions as the dial was raised, of the last run.
        self.lineages: list[list[Found]] = []

    @property
    def stopped(self) -> bool:
        """Whether the search was ended early."""
        return self.watch.stopped

    def _plan(self, front: bool = False) -> Plan:
        size, ruled = (self.level.n_sites, self.level.data.size), self.objective.rules is not None
        return plan_for(*size, self.n_clusters, self.effort, ruled=ruled, front=front)

    def rng(self, *keys: int) -> np.random.Generator:
        """Return a generator of one step's own, so that what else is searched for does not change its draws."""
        return np.random.default_rng([self.seed, *keys])

    def score(self, labels: NDArray) -> tuple[float, float]:
        """Return modularity and notion."""
        return scores_of(self.level, labels, self.objective)

    def keep(self, labels: NDArray) -> Found:
        """Score labels with k clusters, and put them into the pool if they miss no bound and no rule."""
        partition, rules = Partition(self.level, self._judge, labels, self.n_clusters), self.objective.rules
        modularity, notion = partition.scores
        modularity += self.objective.preference(partition.state.table)
        if rules is not None:
            modularity -= rules.rate * rules.moved(labels)
        if not partition.broken:
            self.pool.add(labels, modularity, notion)
        return Found(labels, modularity, notion, partition.broken)

    def best_of(self, found: Sequence[Found], objective: Objective) -> Found:
        """Return the best labels: first what misses least, then the objective."""
        return max(found, key=lambda one: (-one.broken, objective.value(one.modularity, one.notion)))

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
        wanted = list(targets) if self.objective.is_fair else [Target()]
        self.watch = Stopwatch(notify, self._n_steps(wanted, n_runs), lambda: bool(self.pool.labels))
        with self.watch:
            for _ in self.steps(wanted, list(starts), n_runs):
                self.watch.step()
            for target in wanted:
                self._polish(target)
        found = [target.best(self.pool) for target in wanted]
        return found if self.objective.is_fair else found * len(targets)

    def front(self, starts: Iterable[NDArray] = (), notify: Notifier | None = None, n_runs: int = 1) -> Pool:
        """Return all labels found that nothing dominates, along the whole dial and, where it jumps, between.

        A weighted sum reaches only the convex hull of the front. Where the notion of two neighbours on it differs by
        more than `_GAP`, the most cohesive labels at least as fair as the middle are searched for, as long as that
        finds any.
        """
        # So many values share what is found that less needs to be done for each.
        self.plan = self._plan(front=True)
        self.solve([Target(value) for value in DIAL], starts, notify, n_runs)
        given_up: set[tuple[float, float]] = set()
        going_on = self.effort > 0 and self.objective.is_fair and not self.watch.stopped
        with self.watch:
            while going_on and (gap := self._widest_gap(given_up)):
                if not self._fill(*gap):
                    given_up.add(gap)
                self.watch.step("front")
        return self.pool

    def steps(self, targets: Sequence[Target], starts: list[NDArray], n_runs: int = 1) -> Iterator[None]:
        """Do the search, step by step."""
        given = [self.keep(self.exactly(start)) for start in starts]
        if not self.effort:
            yield from self._without_effort(targets, given)
            return
        for run in range(n_runs):
            bases = []
            for start in range(self.plan.n_starts):
                bases.append(self.division(self.rng(run, start)))
                yield
            base = self._recombined(bases, self.objective, self.rng(run, _BASE))
            # For cohesion alone single divisions take the place of lineages.
            plain = [[base], *([one] for one in bases[: self.plan.n_raised - 1])]
            self.lineages = plain
            if self.objective.is_fair and any(target.wants_fairness for target in targets):
                self.lineages = []
                for number in range(self.plan.n_raised):
                    self.lineages.append(self._raised(number, base, bases, self.rng(run, _BASE + 1 + number)))
                    yield
            for target in targets:
                known = self.lineages if target.wants_fairness else plain
                yield from self._search_for(target, known + [[one] for one in given], run)

    def exactly(self, labels: NDArray) -> NDArray[np.int32]:
        """Make exactly k clusters of any labels, within the size bounds where these are all."""
        labels = np.asarray(labels, dtype=np.int32)
        objective, rng = self.objective.free(), self.rng(0)
        if np.unique(labels).size != self.n_clusters or int(labels.max()) >= self.n_clusters:
            labels = compact(labels)
        if int(labels.max()) + 1 < self.n_clusters:
            labels = split(self.level, labels, self.n_clusters, objective, rng)
        if int(labels.max()) + 1 != self.n_clusters:
            labels = merge(self.level, labels, self.n_clusters, self.n_clusters, objective)
            labels, _ = climb(self.level, labels, objective, rng, fixed=True, tol=1e-3)
        return self._allowed(labels)

    def _allowed(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return labels within bounds on sizes; under rules with numbers and places as the rules say."""
        objective = self.objective
        if objective.rules is not None:
            return objective.rules.pinned(self.level, labels)
        if not objective.least.size:
            return labels
        bounds = int(objective.least[0]), int(objective.most[0])
        return within_bounds(
            partial(links_to, self.level), self.level.sizes, labels, *bounds, self.n_clusters
        )

    def division(self, rng: np.random.Generator, fairness: float = 0.0) -> Found:
        """Return k clusters that local moves on all levels make of single sites, with the dial at a value."""
        objective = self.guide.at(fairness).free()
        alone = np.arange(self.level.n_sites, dtype=np.int32)
        free, _ = climb(self.level, alone, objective, rng, tol=1e-3, pause=self.watch.look)
        n_free, k = int(free.max()) + 1, self.n_clusters
        labels = free if n_free >= k else split(self.level, free, k, objective, rng)
        labels = merge(self.level, labels, k, k, objective)
        if n_free > k:
            # Which of the free clusters make up each of k: greedy merging alone is short-sighted for few.
            n_steps = min(self.plan.n_steps, _LEAST_COARSE + 100 * n_free)
            parts = common_parts(free, labels)
            coarse = np.empty(int(parts.max()) + 1, dtype=np.int32)
            coarse[parts] = labels
            regrouped = Partition(aggregate(self.level, parts), objective, coarse, k)
            labels = anneal(regrouped, rng, n_steps, _TURNS[-1]).labels[parts]
        labels, _ = climb(self.level, labels, objective, rng, fixed=True, max_cycles=2, pause=self.watch.look)
        return self.keep(self._settled(self._allowed(labels), self.guide.at(fairness), rng))

    def _settled(self, labels: NDArray, objective: Objective, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return labels after moves of single sites."""
        partition = Partition(self.level, objective, labels, self.n_clusters)
        local_search(partition, rng, pause=self.watch.look)
        return partition.labels

    def _raised(
        self, number: int, base: Found, bases: Sequence[Found], rng: np.random.Generator
    ) -> list[Found]:
        """Return a division and what becomes of it as the dial is raised: a cohesive one, and a mixed one in turn."""
        mixed = bool(number % 2)
        start = base if number == 0 else bases[number // 2 % len(bases)]
        lineage = [self.division(rng, _MIXED) if mixed else start]
        for value in LADDER:
            if value >= _MIXED or not mixed:
                guide = self.guide.at(value)
                labels, _ = climb(
                    self.level,
                    lineage[-1].labels,
                    guide,
                    rng,
                    fixed=True,
                    max_cycles=1,
                    pause=self.watch.look,
                )
                if self.objective.rules is not None:
                    labels = self._settled(self._allowed(labels), guide, rng)
                lineage.append(self.keep(labels))
        return lineage

    def _search_for(self, target: Target, known: list[list[Found]], run: int) -> Iterator[None]:
        """Search for a target; for a bound after values of the dial around it."""
        if target.at_least is not None:
            # The dial often leads past a bound to labels that a search under the bound does not find.
            for value in _AROUND_BOUND if self.objective.rules is None else _AROUND_RULED:
                dial = Target(value)
                yield from self._search_at(dial, known, self.rng(run, *dial.key))
            # A bound that is raised step by step leads to labels that one far away does not.
            rng, nearer = self.rng(run, *target.key, 1), target
            for share in _STEPS_TO_BOUND if self.pool.labels and self.objective.rules is None else ():
                nearer = Target(at_least=share * target.at_least)
                self._annealed(nearer.best(self.pool), self.objective.for_target(nearer), rng, _WARM)
            if self.pool.labels:
                known = [*known, *([self.keep(one.best(self.pool))] for one in (target, nearer))]
        yield from self._search_at(target, known, self.rng(run, *target.key))

    def _search_at(
        self, target: Target, lineages: list[list[Found]], rng: np.random.Generator
    ) -> Iterator[None]:
        """Bring one division of every lineage to a target, recombine them, and anneal the best ever longer."""
        objective = self.objective.for_target(target)
        found = []
        for number, lineage in enumerate(lineages):
            labels = self._settled(self.best_of(lineage, objective).labels, objective, rng)
            # Which temperature suits a graph is not known beforehand, so they take turns.
            found.append(self._annealed(labels, objective, rng, _TURNS[number % len(_TURNS)]))
            yield
        best = self._recombined(found, objective, rng)
        yield
        missed = 0
        for turn in range(self.plan.n_longer):
            share = _LONGER * 2 ** (turn // 2)
            longer = self._annealed(best.labels, objective, rng, _TURNS[1 + turn % 2], share)
            best, before = self.best_of([best, longer], objective), best
            gain = objective.value(*best[1:3]) - objective.value(*before[1:3])
            missed = 0 if gain >= _WORTH_LONGER else missed + 1
            if missed == 2:
                break
        yield
        self._annealed(best.labels, objective, rng, _WARM)

    def _annealed(
        self,
        labels: NDArray,
        objective: Objective,
        rng: np.random.Generator,
        hot: float,
        share: float = 1.0,
    ) -> Found:
        """Anneal, settle, and put what is found into the pool."""
        partition = Partition(self.level, objective, labels, self.n_clusters)
        partition = anneal(partition, rng, int(share * self.plan.n_steps), hot, pause=self.watch.look)
        local_search(partition, rng, pause=self.watch.look)
        return self.keep(partition.labels)

    def _recombined(
        self, divisions: Sequence[Found], objective: Objective, rng: np.random.Generator
    ) -> Found:
        """Return the best of some divisions after it was recombined with all others."""
        best = self.best_of(divisions, objective)
        n = self.level.n_sites
        for other in divisions:
            n_parts = int(common_parts(best.labels, other.labels).max()) + 1
            if other is best or n_parts > _MOST_SHARED * n:
                continue
            partition = Partition(self.level, objective, best.labels, self.n_clusters)
            n_steps = max(self.plan.n_steps * n_parts // n, _LEAST_COARSE)
            labels = recombine(partition, other.labels, rng, n_steps, _HOT)
            best = self.best_of([best, self._annealed(labels, objective, rng, _WARM, _AFTER)], objective)
        return best

    def _without_effort(self, targets: Sequence[Target], given: Sequence[Found]) -> Iterator[None]:
        """Take moves and swaps that do not lower the objective: where sizes are tied, only swaps help."""
        rules = self.objective.rules
        for target in targets:
            objective, rng = self.objective.for_target(target), self.rng(*target.key)
            # Where few nodes may move, which of them should has to be found out.
            turns = (0.0, *_TURNS) if rules is not None and rules.home.size else (0.0,)
            for one in given or [self.division(self.rng(0))]:
                labels = self._settled(one.labels, objective, rng)
                for hot in turns:
                    self._annealed(labels if hot == 0.0 else one.labels, objective, rng, hot)
            yield

    def _polish(self, target: Target) -> None:
        """Move nodes and swap pairs until nothing makes the best labels for a target better."""
        objective = self.objective.for_target(target)
        for _ in range(_MOST_ROUNDS):
            partition = Partition(self.level, objective, target.best(self.pool), self.n_clusters)
            local_search(partition, self.rng(3), pause=self.watch.look)
            for _ in range(self.plan.n_swaps if objective.is_tight and self.level.columns.shape[0] else 0):
                swapped = swap(partition)
                local_search(swapped, self.rng(3), pause=self.watch.look)
                partition, before = swapped.relabelled(swapped.labels), partition.value
                if partition.value - before <= _WORTH_SWAPS * (1 - objective.fairness):
                    break
            size = len(self.pool.labels), self.pool.scores[-1]
            self.keep(partition.labels)
            if size == (len(self.pool.labels), self.pool.scores[-1]):
                break

    def _n_steps(self, targets: Sequence[Target], n_runs: int) -> int:
        """Estimate the number of progress steps."""
        if not self.effort:
            return len(targets)
        fair = self.objective.is_fair and any(target.wants_fairness for target in targets)
        n_lineages = self.plan.n_raised if fair else 1
        searches = sum(1 if target.at_least is None else 1 + len(_AROUND_BOUND) for target in targets)
        return n_runs * (self.plan.n_starts + n_lineages * fair + searches * (n_lineages + 2))

    def _widest_gap(self, given_up: set[tuple[float, float]]) -> tuple[float, float] | None:
        notions = sorted(notion for _, notion in self.pool.scores)
        gaps = [gap for gap in itertools.pairwise(notions) if gap[1] - gap[0] > _GAP and gap not in given_up]
        return max(gaps, key=lambda gap: gap[1] - gap[0], default=None)

    def _fill(self, low: float, high: float) -> bool:
        """Search between two neighbours of the front; return whether anything was found there."""
        above, below = self.pool.reaching(high), self.pool.reaching(low)
        for place in (0.5, 0.25, 0.75):
            target = Target(at_least=low + place * (high - low))
            objective, rng = self.objective.for_target(target), self.rng(*target.key)
            found = [self._annealed(labels, objective, rng, _WARM, _FILL) for labels in (above, below)]
            if not self._found_between(low, high):
                self._recombined(found, objective, rng)
            if self._found_between(low, high):
                return True
        # What the dial passed on its way up is nearer to a low bound than either end of the gap.
        for place in _FURTHER if self.lineages and high - low > _WIDE else ():
            target = Target(at_least=low + place * (high - low))
            for _ in self._search_at(target, self.lineages, self.rng(*target.key)):
                pass
            if self._found_between(low, high):
                return True
        return False

    def _found_between(self, low: float, high: float) -> bool:
        return any(low < notion < high for _, notion in self.pool.scores)
