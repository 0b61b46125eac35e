r"""Search for labels that maximise :math:`(1 - f) Q + f N`, at one value of the dial or at many, or under a bound on N.

All labels found go into one pool, and each target takes the best labels of the pool. Good clusters are easy to find at
some values of the dial and hard at others, and labels found for one target are often better for another.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Notifier, Stopwatch
from equigraph.search.arrays import Level
from equigraph.search.bounds import within_bounds
from equigraph.search.kernels.parts import own_weight
from equigraph.search.level import aggregate, common_parts, compact, links_to
from equigraph.search.merge import fix_clusters, merge, split
from equigraph.search.moves import anneal, climb, local_search, swap
from equigraph.search.objective import Objective
from equigraph.search.partition import Partition, scores_of
from equigraph.search.plans import DIAL, LADDER, plan_for
from equigraph.search.pool import Pool, Target

# Initial temperatures in units of a typical change: two that preserve the structure, and one that may change it.
_WARM, _GUIDED, _HOT = 0.02, 0.05, 0.1
_TURNS = (_WARM, _HOT, 0.3)
# Lengths of annealings after a recombination and in a gap of the front, relative to the first one.
_AFTER, _FILL = 0.25, 0.4
# The final annealings start with this length and go on, ever longer, while the gain of one is at least this. Graphs
# without clear clusters have many near-optimal divisions, and only long annealings find better ones.
_LONGER, _WORTH_LONGER = 4.0, 2e-4
# Clusters are unclear if the overlay of two divisions has so many parts more than clusters, as a share of the sites.
_UNCLEAR = 0.06
# How many proposals without fairness cost as much as one with it.
_PLAIN = 3
# The dial for divisions that include fairness from the first move on.
_MIXED = 0.35
# Values of the dial searched before a bound, and the increasing shares of the bound searched before the bound itself.
_AROUND_BOUND, _STEPS_TO_BOUND = (0.2, 0.5, 0.8), (0.4, 0.6, 0.7, 0.8, 0.9)
_AROUND_RULED = (0.5,)
# First key of random draws that belong to no single start.
_BASE = 1000
# Two divisions are not recombined if their overlay has more parts than this share of the sites.
_MOST_SHARED = 0.9
# Least number of proposals on parts.
_LEAST_COARSE = 5_000
# A difference of the notion between neighbours on the front above this is a gap, which is searched.
_GAP = 0.05
# Positions in a wide gap, if it stays empty, at which the full search for a bound runs. On few nodes narrow gaps are
# normal.
_FURTHER, _WIDE = (0.3, 0.1), 0.2
# Least gain, in modularity, for another round of swaps and moves.
_WORTH_SWAPS = 4e-4
# Most rounds of polishing for a target; each round adds only better labels to the pool.
_MOST_ROUNDS = 5


class Found(NamedTuple):
    """Labels with their scores and the total violation of bounds and rules."""

    labels: NDArray[np.int32]
    modularity: float
    notion: float
    broken: int


class Search:
    """Search on one level: make divisions, raise the dial, recombine, polish, and choose the best for each target.

    Parameters
    ----------
    level : Level
        The graph.
    objective : Objective
        The objective at any value of the dial: notion, bounds on sizes, rules.
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
        size = level.n_sites, level.data.size, n_clusters, objective.population.size
        self._plan_for = partial(plan_for, *size, effort, ruled=objective.rules is not None)
        self.plan = self._plan_for()
        self.pool = Pool()
        self.watch = Stopwatch()
        # Divisions along the dial, by lineage, of the last run.
        self.lineages: list[list[Found]] = []

    @property
    def stopped(self) -> bool:
        """Whether the search was ended early."""
        return self.watch.stopped

    def rng(self, *keys: int) -> np.random.Generator:
        """Return a random generator for one step, independent of all other steps."""
        return np.random.default_rng([self.seed, *keys])

    def score(self, labels: NDArray) -> tuple[float, float]:
        """Return modularity and notion."""
        return scores_of(self.level, labels, self.objective)

    def keep(self, labels: NDArray) -> Found:
        """Score labels with k clusters, and add them to the pool if they are feasible."""
        partition, rules = Partition(self.level, self._judge, labels, self.n_clusters), self.objective.rules
        modularity, notion = partition.scores
        modularity += self.objective.preference(partition.state.table)
        if rules is not None:
            modularity -= rules.rate * rules.moved(labels)
        if not partition.broken:
            self.pool.add(labels, modularity, notion)
        return Found(labels, modularity, notion, partition.broken)

    def best_of(self, found: Sequence[Found], objective: Objective) -> Found:
        """Return the best labels: smallest violation first, then largest objective."""
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
            The targets. The steps for one do not depend on the others, and all share the pool: the labels for each
            are at least as good as those of a search for it alone.
        starts : iterable of ndarray
            Further labels to start from, with any number of clusters.
        notify : Notifier, optional
            Called after every step; if it asks to stop, the best labels so far are returned.
        n_runs : int, default=1
            Number of runs of the whole search; they share the pool.
        """
        # Without groups the dial has no effect: one search serves all targets.
        wanted = list(targets) if self.objective.is_fair else [Target()]
        n_lineages = self.plan.n_raised if any(target.wants_fairness for target in wanted) else 0
        n_searches = sum(1 if target.at_least is None else 1 + len(_AROUND_BOUND) for target in wanted)
        n_steps = n_runs * (self.plan.n_starts + n_lineages + n_searches * (max(n_lineages, 1) + 2))
        n_steps = n_steps if self.effort else len(wanted)
        self.watch = Stopwatch(notify, n_steps, lambda: bool(self.pool.labels))
        with self.watch.watching():
            self.run(wanted, list(starts), n_runs)
            for target in wanted:
                self._polish(target)
        found = [target.best(self.pool) for target in wanted]
        return found if self.objective.is_fair else found * len(targets)

    def front(self, starts: Iterable[NDArray] = (), notify: Notifier | None = None, n_runs: int = 1) -> Pool:
        """Return the Pareto front of all labels found, along the whole dial and in the gaps between its values.

        A weighted sum reaches only the convex hull of the front. If the notions of two neighbours on the front differ
        by more than `_GAP`, the search continues under bounds on the notion between them, until it finds no more.
        """
        # Many values of the dial share the pool, so each of them needs less work.
        self.plan = self._plan_for(front=True)
        self.solve([Target(value) for value in DIAL], starts, notify, n_runs)
        given_up: set[tuple[float, float]] = set()
        going_on = self.effort > 0 and self.objective.is_fair and not self.watch.stopped
        with self.watch.watching():
            while going_on and (gap := self._widest_gap(given_up)):
                if not self._fill(*gap):
                    given_up.add(gap)
                self.watch.step("front")
        return self.pool

    def run(self, targets: Sequence[Target], starts: list[NDArray], n_runs: int = 1) -> None:
        """Search, and add all labels found to the pool."""
        given = [self.keep(self.exactly(start)) for start in starts]
        if not self.effort:
            self._without_effort(targets, given)
            return
        for run in range(n_runs):
            bases = []
            for start in range(self.plan.n_starts):
                bases.append(self.division(self.rng(run, start)))
                self.watch.step()
            base = self._recombined(bases, self.objective, self.rng(run, _BASE))
            # For cohesion alone every lineage is a single division.
            plain = [[base], *([one] for one in bases[: self.plan.n_raised - 1])]
            self.lineages = plain
            if any(target.wants_fairness for target in targets):
                self.lineages = []
                for number in range(self.plan.n_raised):
                    self.lineages.append(self._raised(number, base, bases, self.rng(run, _BASE + 1 + number)))
                    self.watch.step()
            for target in targets:
                lineages = (self.lineages if target.wants_fairness else plain) + [[one] for one in given]
                if target.at_least is not None:
                    lineages = self._near_bound(target, target.at_least, lineages, run)
                self._search_at(target, lineages, self.rng(run, *target.key))

    def exactly(self, labels: NDArray) -> NDArray[np.int32]:
        """Return labels with exactly k clusters, within the size bounds if there are no rules."""
        labels = np.asarray(labels, dtype=np.int32)
        if np.unique(labels).size != self.n_clusters or int(labels.max()) >= self.n_clusters:
            labels = compact(labels)
        if int(labels.max()) + 1 != self.n_clusters:
            objective = self.objective.free()
            labels = fix_clusters(self.level, labels, self.n_clusters, objective, self.rng(0))
        return self._allowed(labels)

    def _allowed(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return labels within the size bounds; under rules with clusters renumbered and fixed sites in place."""
        objective = self.objective
        if objective.rules is not None:
            return objective.rules.renumbered(self.level, labels)
        if not objective.least.size:
            return labels
        bounds = int(objective.least[0]), int(objective.most[0])
        level = self.level
        own = partial(own_weight, level.indptr, level.indices, level.data, 0)
        links = partial(links_to, level)
        return within_bounds(links, own, level.sizes, labels, *bounds, self.n_clusters)

    def division(self, rng: np.random.Generator, fairness: float = 0.0) -> Found:
        """Return k clusters by multilevel local moves from singletons, at a value of the dial."""
        objective = self.guide.at(fairness).free()
        alone = np.arange(self.level.n_sites, dtype=np.int32)
        free, _ = climb(self.level, alone, objective, rng, tol=1e-3, pause=self.watch.look)
        n_free, k = int(free.max()) + 1, self.n_clusters
        labels = free if n_free >= k else split(self.level, free, k, objective, rng)
        labels = merge(self.level, labels, k, k, objective)
        if n_free > k:
            # Regroup the free clusters into k by annealing: greedy merging is poor for small k.
            n_steps = min(self.plan.n_steps, _LEAST_COARSE + 100 * n_free)
            parts = common_parts(free, labels)
            labels = self._annealed_parts(labels, parts, objective, rng, n_steps, _TURNS[-1]).labels[parts]
        labels, _ = climb(self.level, labels, objective, rng, fixed=True, max_cycles=2, pause=self.watch.look)
        return self.keep(self._settled(self._allowed(labels), self.guide.at(fairness), rng))

    def _settled(self, labels: NDArray, objective: Objective, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return labels after local search with single sites."""
        partition = Partition(self.level, objective, labels, self.n_clusters)
        local_search(partition, rng, pause=self.watch.look)
        return partition.labels

    def _raised(
        self, number: int, base: Found, bases: Sequence[Found], rng: np.random.Generator
    ) -> list[Found]:
        """Return a lineage, a division at increasing values of the dial; it starts cohesive or mixed, alternately."""
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

    def _near_bound(
        self, target: Target, at_least: float, lineages: list[list[Found]], run: int
    ) -> list[list[Found]]:
        """Search at some values of the dial and under lower bounds; return the lineages with the best labels found."""
        # A search at a value of the dial often reaches a bound with labels that a search under it does not find.
        for value in _AROUND_BOUND if self.objective.rules is None else _AROUND_RULED:
            dial = Target(value)
            self._search_at(dial, lineages, self.rng(run, *dial.key))
        # Raising a bound step by step leads to labels that one large step does not reach.
        rng, nearer = self.rng(run, *target.key, 1), target
        for share in _STEPS_TO_BOUND if self.pool.labels and self.objective.rules is None else ():
            nearer = Target(at_least=share * at_least)
            self._annealed(nearer.best(self.pool), self.objective.for_target(nearer), rng, _WARM)
        if not self.pool.labels:
            return lineages
        return [*lineages, *([self.keep(one.best(self.pool))] for one in (target, nearer))]

    def _search_at(self, target: Target, lineages: list[list[Found]], rng: np.random.Generator) -> None:
        """Optimise one division of every lineage for a target, recombine them, and anneal the best, ever longer."""
        objective = self.objective.for_target(target)
        found = []
        for number, lineage in enumerate(lineages):
            labels = self._settled(self.best_of(lineage, objective).labels, objective, rng)
            # The best temperature depends on the graph, so the initial temperatures alternate.
            found.append(self._annealed(labels, objective, rng, _TURNS[number % len(_TURNS)]))
            self.watch.step()
        best = self._recombined(found, objective, rng)
        self.watch.step()
        parts = [int(common_parts(best.labels, one.labels).max()) + 1 for one in found]
        unclear = np.mean(parts) - self.n_clusters > _UNCLEAR * self.level.n_sites
        least = self.plan.n_unclear / self.plan.n_steps if unclear else 0.0
        least *= 1 if objective.fairness > 0 else _PLAIN
        missed, turns = 0, ((_HOT, objective), (_TURNS[-1], objective))
        guided = self.guide.notion is not objective.notion and objective.rules is None
        if guided and objective.fairness > 0 and target.at_least is None:
            # Labels at the maximum of a notion that takes the worst group are left only by the guide.
            turns = (_HOT, objective), (_GUIDED, self.guide.for_target(target))
        n_turns = self.plan.n_longer if objective.fairness > 0 else self.plan.n_plain
        for turn in range(-(-n_turns // 2) if unclear else n_turns):
            share, (hot, guide) = max(_LONGER * 2 ** (turn // 2), least), turns[turn % 2]
            longer = self._annealed(best.labels, objective, rng, hot, share, guide)
            best, before = self.best_of([best, longer], objective), best
            gain = objective.value(*best[1:3]) - objective.value(*before[1:3])
            missed = 0 if gain >= _WORTH_LONGER else missed + 1
            if missed == 2:
                break
        self.watch.step()
        self._annealed(best.labels, objective, rng, _WARM)

    def _annealed(
        self,
        labels: NDArray,
        objective: Objective,
        rng: np.random.Generator,
        hot: float,
        share: float = 1.0,
        guide: Objective | None = None,
    ) -> Found:
        """Anneal under the objective or a guide, then apply local search; add the labels to the pool."""
        partition = Partition(self.level, guide or objective, labels, self.n_clusters)
        partition = anneal(partition, rng, int(share * self.plan.n_steps), hot, pause=self.watch.look)
        return self.keep(self._settled(partition.labels, objective, rng))

    def _annealed_parts(
        self,
        labels: NDArray,
        parts: NDArray,
        objective: Objective,
        rng: np.random.Generator,
        n_steps: int,
        hot: float,
    ) -> Partition:
        """Anneal labels of sets of sites, each inside one cluster."""
        if objective.rules is not None:
            objective = replace(objective, rules=objective.rules.on_parts(parts))
        level = aggregate(self.level, parts)
        coarse = np.empty(level.n_sites, dtype=np.int32)
        coarse[parts] = labels
        partition = Partition(level, objective, coarse, self.n_clusters)
        return anneal(partition, rng, n_steps, hot, pause=self.watch.look)

    def _recombined(
        self, divisions: Sequence[Found], objective: Objective, rng: np.random.Generator
    ) -> Found:
        """Recombine the best division with each of the others, and return the best result."""
        best = self.best_of(divisions, objective)
        n = self.level.n_sites
        for other in divisions:
            parts = common_parts(best.labels, other.labels)
            n_parts = int(parts.max()) + 1
            if other is best or n_parts > _MOST_SHARED * n:
                continue
            # Both are divisions of the graph of the parts that they share, which is small: a move there moves a set.
            n_steps = max(self.plan.n_steps * n_parts // n, _LEAST_COARSE)
            partition = self._annealed_parts(best.labels, parts, objective, rng, n_steps, _HOT)
            local_search(partition, rng, pause=self.watch.look)
            labels = partition.labels[parts]
            best = self.best_of([best, self._annealed(labels, objective, rng, _WARM, _AFTER)], objective)
        return best

    def _without_effort(self, targets: Sequence[Target], given: Sequence[Found]) -> None:
        """Apply moves and swaps that do not lower the objective; under tight size bounds only swaps are feasible."""
        rules = self.objective.rules
        for target in targets:
            objective, rng = self.objective.for_target(target), self.rng(*target.key)
            # Under a limit on the number of moves, annealing helps to choose the nodes that move.
            turns = (0.0, *_TURNS) if rules is not None and rules.home.size else (0.0,)
            for one in given or [self.division(self.rng(0))]:
                labels = self._settled(one.labels, objective, rng)
                for hot in turns:
                    self._annealed(labels if hot == 0.0 else one.labels, objective, rng, hot)
            self.watch.step()

    def _polish(self, target: Target) -> None:
        """Move nodes and parts of clusters and swap pairs while this improves the best labels for a target."""
        objective = self.objective.for_target(target)
        for _ in range(_MOST_ROUNDS):
            labels = target.best(self.pool)
            if self.plan.n_swaps and objective.rules is None:
                labels, _ = climb(
                    self.level, labels, objective, self.rng(3), fixed=True, pause=self.watch.look
                )
            partition = Partition(self.level, objective, labels, self.n_clusters)
            local_search(partition, self.rng(3), pause=self.watch.look)
            for _ in range(
                self.plan.n_swaps if objective.terms.everywhere and self.level.columns.shape[0] else 0
            ):
                swapped = swap(partition)
                local_search(swapped, self.rng(3), pause=self.watch.look)
                partition, before = swapped.relabelled(swapped.labels), partition.value
                if partition.value - before <= _WORTH_SWAPS * (1 - objective.fairness):
                    break
            size = len(self.pool.labels), self.pool.scores[-1]
            self.keep(partition.labels)
            if size == (len(self.pool.labels), self.pool.scores[-1]):
                break

    def _widest_gap(self, given_up: set[tuple[float, float]]) -> tuple[float, float] | None:
        notions = sorted(notion for _, notion in self.pool.scores)
        gaps = [gap for gap in itertools.pairwise(notions) if gap[1] - gap[0] > _GAP and gap not in given_up]
        return max(gaps, key=lambda gap: gap[1] - gap[0], default=None)

    def _fill(self, low: float, high: float) -> bool:
        """Search in a gap between two neighbours on the front; return whether labels were found there."""
        above, below = (Target(at_least=bound).best(self.pool) for bound in (high, low))
        for place in (0.5, 0.25, 0.75):
            target = Target(at_least=low + place * (high - low))
            objective, rng = self.objective.for_target(target), self.rng(*target.key)
            found = [self._annealed(labels, objective, rng, _WARM, _FILL) for labels in (above, below)]
            if not self._found_between(low, high):
                self._recombined(found, objective, rng)
            if self._found_between(low, high):
                return True
        # Earlier members of the lineages are nearer to a low bound than either end of the gap.
        for place in _FURTHER if self.lineages and high - low > _WIDE else ():
            target = Target(at_least=low + place * (high - low))
            self._search_at(target, self.lineages, self.rng(*target.key))
            if self._found_between(low, high):
                return True
        return False

    def _found_between(self, low: float, high: float) -> bool:
        return any(low < notion < high for _, notion in self.pool.scores)
