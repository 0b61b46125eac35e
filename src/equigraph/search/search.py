r"""Search for labels that maximise :math:`(1 - f) Q + f N`, at one value of the dial or at many, or under a bound on N.

Everything found goes into one pool, and each target takes from it what is best there: good clusters are easy to find at
some values of the dial and hard at others, and labels found at one often serve another better than its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.callbacks import Notifier
from equigraph.graph.units import unit_weights
from equigraph.metrics.notions import Notion
from equigraph.search.bounds import check_size_bounds, within_bounds
from equigraph.search.coarsen import coarsen
from equigraph.search.levels import Level, aggregate, compact, compact_pairs, first_level, scores_of
from equigraph.search.objective import HIGHEST, Objective, make_objective
from equigraph.search.plans import DIAL, LADDER, Plan, plan_for
from equigraph.search.pool import Pool
from equigraph.search.steps import Steps

# Where annealings begin, in units of a typical change: one that keeps the structure, and one that may change it.
_WARM, _HOT = 0.02, 0.1
_TURNS = (_WARM, _HOT, 0.3)
# Lengths of annealings after a recombination, after a kick and at the end, in those of a first one.
_AFTER, _KICK, _LAST = 0.25, 0.25, 1.0
# The dial at which clusters are made that are fair from the first moves on.
_MIXED = 0.35
# Values of the dial that are searched before a bound is.
_AROUND_BOUND = (0.2, 0.5, 0.8)
# Keys of random draws beyond those of single starts.
_BASE = 1000
# Two divisions whose common parts are more than this share of the nodes have nothing in common.
_MOST_SHARED = 0.9
# Proposals on parts, at least.
_LEAST_COARSE = 5_000
# On a large graph: most passes of a climb on its nodes, the gain of a pass that is worth another, and the passes at a
# value of the dial on the way up.
_PASSES, _LEAST_GAIN, _RUNG_PASSES = 20, 1e-7, 3
# Neighbours on the front that differ by more in the notion leave a gap that is searched.
_GAP = 0.05
# Settling at one target may find what another's choice is made of; each round only adds what is better.
_MOST_ROUNDS = 5


@dataclass(frozen=True)
class Target:
    """What labels are wanted: the best at a value of the dial, or the most cohesive at least so fair."""

    fairness: float = 0.0
    at_least: float | None = None

    @property
    def wants_fairness(self) -> bool:
        """Whether fairness counts at all."""
        return self.at_least is not None or self.fairness > 0

    def of(self, objective: Objective) -> Objective:
        """Return the objective that a move climbs for this target."""
        if self.at_least is None:
            return objective.at(self.fairness)
        return objective.at(HIGHEST, cap=self.at_least)

    def best(self, pool: Pool) -> NDArray[np.int32]:
        """Return the best labels of a pool."""
        return pool.best(self.fairness) if self.at_least is None else pool.reaching(self.at_least)


class Search:
    """One graph, one notion, one number of clusters.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A validated graph.
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
    """

    def __init__(
        self,
        adjacency: sparse.csr_array,
        codes: NDArray | None,
        n_clusters: int,
        *,
        notion: str | Notion = "normalized",
        weights: NDArray | None = None,
        size_bounds: tuple[int | None, int | None] | None = None,
        effort: float = 1.0,
        seed: int = 0,
    ):
        n = adjacency.shape[0]
        adjacency = unit_weights(adjacency.astype(np.float64, copy=False))
        total = float(adjacency.sum(dtype=np.float64))
        objective, columns = make_objective(codes, n_nodes=n, total=total, notion=notion, weights=weights)
        least, most = check_size_bounds(size_bounds, n, n_clusters)
        ground = first_level(adjacency, columns, objective.population.size)
        self._begin(ground, replace(objective, least=least, most=most), n_clusters, effort, seed)

    @classmethod
    def on_level(
        cls, level: Level, objective: Objective, n_clusters: int, *, effort: float = 1.0, seed: int = 0
    ) -> Search:
        """Return a search on a graph of super-nodes; the objective is that of the nodes inside them."""
        search = cls.__new__(cls)
        search._begin(level, objective.unbounded(), n_clusters, effort, seed)
        search.plan = replace(search.plan, n_parts=0)
        return search

    def _begin(self, level: Level, objective: Objective, n_clusters: int, effort: float, seed: int) -> None:
        self.level, self.objective, self.n_clusters = level, objective, n_clusters
        self.effort, self.seed = effort, seed
        self.plan: Plan = plan_for(level, n_clusters, effort)
        self.steps = Steps(level, n_clusters)
        self.guide = replace(objective, notion=objective.notion.guided())
        self.pool = Pool()

    def rng(self, *keys: int) -> np.random.Generator:
        """Return a generator of one step's own, so that what else is searched for does not change its draws."""
        return np.random.default_rng([self.seed, *keys])

    def score(self, labels: NDArray) -> tuple[float, float]:
        """Return modularity and notion."""
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
        if not self.objective.is_fair and any(target != Target() for target in targets):
            # Without groups there is cohesion alone, whatever the dial says: one search serves all.
            return self.solve([Target()], starts, notify, n_runs) * len(targets)
        work = self._work(targets, list(starts), n_runs)
        n_steps = self._n_steps(targets, n_runs)
        for step, _ in enumerate(work, start=1):
            if (notify or Notifier())("search", min(step, n_steps), n_steps) and self.pool.labels:
                break
        return [self._settled(target) for target in targets]

    def front(self, starts: Iterable[NDArray] = (), notify: Notifier | None = None, n_runs: int = 1) -> Pool:
        """Return all labels found that nothing dominates, along the whole dial and, where it jumps, between.

        A weighted sum reaches only the convex hull of the front. Where the notion of two neighbours on it differs by
        more than `_GAP`, the most cohesive labels at least as fair as the middle are searched for, as long as that
        finds any.
        """
        self.solve([Target(value) for value in DIAL], starts, notify, n_runs)
        given_up: set[tuple[float, float]] = set()
        while self.effort and self.objective.is_fair and (gap := self._widest_gap(given_up)):
            if not self._fill(*gap):
                given_up.add(gap)
            if (notify or Notifier())("front", len(self.pool.scores), len(self.pool.scores) + 1):
                break
        return self.pool

    def _widest_gap(self, given_up: set[tuple[float, float]]) -> tuple[float, float] | None:
        notions = sorted(notion for _, notion in self.pool.scores)
        gaps = [gap for gap in itertools.pairwise(notions) if gap[1] - gap[0] > _GAP and gap not in given_up]
        return max(gaps, key=lambda gap: gap[1] - gap[0], default=None)

    def _fill(self, low: float, high: float) -> bool:
        """Search between two neighbours of the front; return whether anything was found there."""
        above, below = self.pool.reaching(high), self.pool.reaching(low)
        for place in (0.5, 0.25, 0.75):
            target = Target(at_least=low + place * (high - low))
            objective, rng = target.of(self.objective), self.rng(*_key(target))
            found = [self._towards(labels, objective, rng) for labels in (above, below)]
            if not self.plan.n_parts:
                self._recombined(found, objective, rng)
            if any(low < notion < high for _, notion in self.pool.scores):
                return True
        return False

    def _towards(self, labels: NDArray, objective: Objective, rng: np.random.Generator) -> NDArray[np.int32]:
        if self.plan.n_parts:
            return self.add(self._settle(labels, objective))
        return self._anneal(labels, objective, rng, hot=_WARM)

    def _n_steps(self, targets: Sequence[Target], n_runs: int) -> int:
        """Return about how many steps `_work` takes, for who watches."""
        if not self.effort:
            return len(targets)
        fair = _any_fair(targets) and self.objective.is_fair
        n_lineages = self.plan.n_raised if fair else 1
        searches = sum(1 if target.at_least is None else 1 + len(_AROUND_BOUND) for target in targets)
        steps = self.plan.n_starts + n_lineages * fair + searches * (n_lineages + 2)
        return n_runs * steps * (2 if self.plan.n_parts else 1)

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
        if self.plan.n_parts:
            yield from self._work_on_parts(targets, given, n_runs)
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
            if _any_fair(targets) and self.objective.is_fair:
                lineages = []
                for number in range(self.plan.n_raised):
                    lineages.append(self._raised(number, base, bases, run))
                    yield
            for target in targets:
                known = lineages if target.wants_fairness else plain
                known = known + [[labels] for labels in given]
                if target.at_least is not None:
                    # The dial often leads past a bound to labels that a search under the bound does not find.
                    for value in _AROUND_BOUND:
                        dial = Target(value)
                        yield from self._search_at(dial, known, self.rng(run, *_key(dial)))
                    known = [*known, [target.best(self.pool)]]
                yield from self._search_at(target, known, self.rng(run, *_key(target)))

    def _work_on_parts(self, targets: Sequence[Target], given: list[NDArray], n_runs: int) -> Iterator[None]:
        """Do on a few thousand parts of a large graph what is done on the nodes of a small one, and then climb.

        Parts are moved and merged first. Where they leave clusters unfair, single nodes make them fair at less cost, as
        the dial is raised. Parts of what is known by then are searched once more for every target.
        """
        yield from self._search_parts(targets, given, n_runs, turn=0)
        if _any_fair(targets) and self.objective.is_fair:
            labels = Target(0.0).best(self.pool)
            for value in LADDER:
                guide = self.guide.at(value)
                labels = self.add(self.steps.settle(labels, guide, None, max_passes=_RUNG_PASSES))
        known = []
        for target in targets:
            known.append(self._climbed(target.best(self.pool), target))
            yield
        yield from self._search_parts(targets, known, n_runs, turn=1)

    def _search_parts(
        self, targets: Sequence[Target], known: Sequence[NDArray], n_runs: int, turn: int
    ) -> Iterator[None]:
        """Search on parts that lie within one cluster of every division known, as far as that leaves few enough."""
        cells, starts = None, []
        for labels in known:
            finer = labels if cells is None else compact_pairs(cells, labels)
            if cells is None or int(finer.max()) < self.plan.n_parts:
                cells = finer
                starts.append(labels)
        parts, level = coarsen(self.level, cells, self.plan.n_parts, self.objective)
        seed = int(self.rng(0, turn).integers(2**31))
        search = Search.on_level(level, self.objective, self.n_clusters, effort=self.effort, seed=seed)
        coarse = np.empty((len(starts), level.n_nodes), dtype=np.int32)
        for place, labels in enumerate(starts):
            coarse[place, parts] = labels
        yield from search._work(targets, list(coarse), n_runs)
        for target in targets:
            self._climbed(target.best(search.pool)[parts], target)

    def _climbed(self, labels: NDArray, target: Target) -> NDArray[np.int32]:
        """Move the nodes of a large graph, in index order, for a bounded number of passes."""
        objective = target.of(self.objective)
        if self.objective.is_bounded:
            labels = within_bounds(
                self.level, labels, self.n_clusters, self.objective.least, self.objective.most
            )
        labels = self.add(self._settle(labels, objective))
        if self.objective.is_bounded:
            # Where sizes are tied, only swaps help.
            labels = self.steps.anneal(labels, objective, self.rng(0), self.plan.n_steps, 0.0)
            labels = self.add(self._settle(labels, objective))
        return labels

    def _settle(self, labels: NDArray, objective: Objective) -> NDArray[np.int32]:
        """Move single nodes while the objective rises: to the end on a small graph, nearly so on a large one."""
        if self.plan.n_parts:
            return self.steps.settle(labels, objective, None, max_passes=_PASSES, least_gain=_LEAST_GAIN)
        return self.steps.settle(labels, objective, self.rng(3))

    def exactly(self, labels: NDArray) -> NDArray[np.int32]:
        """Make exactly k clusters within the size bounds of any labels."""
        labels = compact(np.asarray(labels))
        if self.plan.n_parts and int(labels.max()) + 1 != self.n_clusters:
            return self._exactly_on_parts(labels)
        return self.steps.with_k(labels, self.objective, self.rng(0))

    def _exactly_on_parts(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Split or merge the clusters of a large graph: too few are first divided into parts."""
        parts = labels
        if int(labels.max()) + 1 < self.n_clusters:
            parts, _ = coarsen(self.level, labels, self.plan.n_parts, self.objective)
        level = aggregate(self.level, parts, self.objective)
        alone = np.arange(level.n_nodes, dtype=np.int32)
        merged = Steps(level, self.n_clusters).with_k(alone, self.objective.unbounded(), self.rng(0))
        return within_bounds(
            self.level, merged[parts], self.n_clusters, self.objective.least, self.objective.most
        )

    def _cohesive(self, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return k cohesive clusters."""
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
        return steps.anneal(coarse, objective, rng, n_steps, _TURNS[-1])[parts]

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
            found.append(self._anneal(labels, objective, rng, hot=_TURNS[number % len(_TURNS)]))
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
        def value(labels: NDArray) -> float:
            modularity, notion = self.score(labels)
            return objective.value(modularity, min(notion, objective.cap))

        return max(candidates, key=value)

    def _rise(self, labels: NDArray, target: Target) -> NDArray[np.int32]:
        """Take moves and swaps that do not lower the objective: where sizes are tied, only swaps help."""
        objective, rng = target.of(self.objective), self.rng(*_key(target))
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


def _any_fair(targets: Sequence[Target]) -> bool:
    return any(target.wants_fairness for target in targets)


def _key(target: Target) -> tuple[int, int]:
    """Return whole numbers that tell targets apart, for the seed of what is done for one."""
    return 1 + (target.at_least is not None), round(1e9 * (target.at_least or target.fairness))
