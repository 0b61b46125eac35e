"""The search under rules: the same steps, in which a broken rule has a price, and a pool of what keeps all of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.callbacks import Notifier
from equigraph.exceptions import NotFoundError
from equigraph.graph.units import unit_weights
from equigraph.metrics.notions import Notion
from equigraph.rules import feasible_labels
from equigraph.search.levels import Level, aggregate, compact, scores_of
from equigraph.search.objective import Objective, problem_of
from equigraph.search.on_parts import LEAST_GAIN, PASSES
from equigraph.search.pool import Pool
from equigraph.search.ruling import Ruling
from equigraph.search.search import TURNS, Search, Target, key_of
from equigraph.search.steps import COLD, SWAPS, Steps, seed_of

# What a broken rule costs at the beginning and at the end of an annealing, in units of a typical change.
_CHEAP, _DEAR = 0.3, 3.0
# Where only the rules count: temperatures in units of what a broken rule costs, tries, and proposals for each site and
# cluster.
_REPAIR_HOT, _REPAIR_COLD = 0.4, 0.05
_TRIES, _LEAST_STEPS = 6, 20_000


@dataclass(frozen=True, eq=False)
class RuledSteps(Steps):
    """Steps in which a broken rule has a price."""

    ruling: Ruling

    def with_k(self, labels: NDArray, objective: Objective, rng: np.random.Generator) -> NDArray[np.int32]:
        """Split or merge clusters until there are exactly k, with the numbers that rules speak of."""
        return self._pinned(super().with_k(labels, objective, rng))

    def _pinned(self, labels: NDArray) -> NDArray[np.int32]:
        pinned = self.ruling.pinned(self.level, labels)
        return _filled(pinned, self.n_clusters, self.ruling.fixed < 0)

    def climb(
        self,
        labels: NDArray,
        objective: Objective,
        rng: np.random.Generator,
        *,
        cycles: int = 20,
        exact: bool = False,
        tol: float = 1e-4,
    ) -> NDArray[np.int32]:
        """Move sets of nodes as if there were no rules, and then single ones under them."""
        free = super().climb(labels, objective, rng, cycles=cycles, exact=exact, tol=tol)
        return self.settle(self._pinned(free), objective, rng)

    def settle(
        self,
        labels: NDArray,
        objective: Objective,
        rng: np.random.Generator | None,
        *,
        max_passes: int = 100,
        least_gain: float = 0.0,
    ) -> NDArray[np.int32]:
        """Move single nodes while fewer rules are broken, or as many and the objective rises."""
        from equigraph.search.kernels.ruled import climb_ruled

        n = self.level.n_nodes
        order = np.arange(n) if rng is None else rng.permutation(n)
        sites, score, terms, labels, clusters, duties, standing = self._begin(labels, objective)
        climb_ruled(sites, labels, clusters, score, terms, duties, standing, order, max_passes, least_gain)
        return labels

    def anneal(
        self, labels: NDArray, objective: Objective, rng: np.random.Generator, n_steps: int, hot: float
    ) -> NDArray[np.int32]:
        """Let labels wander, ever less; return the best that were met and keep the rules, or the last ones."""
        from equigraph.search.kernels.anneal import typical_change

        sites, score, terms, labels, clusters, _, _ = self._begin(labels, objective)
        unit = typical_change(sites, labels, clusters, score, terms, 1000, seed_of(rng)) or 1.0
        cheap, dear = (_CHEAP * unit, _DEAR * unit) if hot > 0 else (1e3, 1e3)
        return self._anneal(labels, objective, rng, n_steps, (hot * unit, COLD * unit), (cheap, dear))

    def repair(
        self, labels: NDArray, objective: Objective, rng: np.random.Generator, n_steps: int
    ) -> NDArray[np.int32]:
        """Let labels wander with regard to the rules alone, and then settle."""
        wandered = self._anneal(labels, objective, rng, n_steps, (_REPAIR_HOT, _REPAIR_COLD), (1.0, 1.0))
        return self.settle(wandered, objective, rng)

    def _anneal(
        self,
        labels: NDArray,
        objective: Objective,
        rng: np.random.Generator,
        n_steps: int,
        temperatures: tuple[float, float],
        prices: tuple[float, float],
    ) -> NDArray[np.int32]:
        from equigraph.search.kernels.ruled import anneal_ruled

        sites, score, terms, labels, clusters, duties, standing = self._begin(labels, objective)
        return anneal_ruled(
            sites, labels, clusters, score, terms, duties, standing,
            *temperatures, *prices, n_steps, SWAPS, seed_of(rng),
        )  # fmt: skip

    def _begin(self, labels: NDArray, objective: Objective) -> tuple[Any, ...]:
        """Return everything that compiled code takes."""
        from equigraph.search.kernels.duties import stand
        from equigraph.search.kernels.state import start

        sites, score, terms = self.level.sites(), objective.score, objective.terms()
        labels = np.array(labels, dtype=np.int32)
        clusters = start(sites, labels, self.n_clusters, score, terms)
        duties = self.ruling.duties
        standing = stand(duties, labels, self.n_clusters, self.level.sizes)
        return sites, score, terms, labels, clusters, duties, standing

    def kick(self, labels: NDArray, objective: Objective, rng: np.random.Generator) -> NDArray[np.int32]:
        """Throw labels out of their local optimum; rules may be broken."""
        # Bounds are on nodes, and a kick counts sites: there may be too few of them.
        return self._pinned(super().kick(labels, objective.unbounded(), rng))

    def overlay(self, one: NDArray, other: NDArray, objective: Objective) -> tuple[Steps, NDArray[np.int32]]:
        """Return the steps on the parts that lie within one cluster of both divisions, and the part of each node."""
        steps, parts = super().overlay(one, other, objective)
        return RuledSteps(steps.level, self.n_clusters, self.ruling.on_parts(parts)), parts

    def broken(self, labels: NDArray) -> int:
        """Return by how much labels miss the rules."""
        return self.ruling.broken(self.level, labels)


def _filled(labels: NDArray[np.int32], n_clusters: int, free: NDArray[np.bool_]) -> NDArray[np.int32]:
    """Give every empty cluster a free site of the largest ones, in place."""
    sizes = np.bincount(labels, minlength=n_clusters)
    for cluster in np.flatnonzero(sizes == 0):
        donors = np.flatnonzero(free & (sizes[labels] > 1))
        if not donors.size:
            break
        site = donors[np.argmax(sizes[labels[donors]])]
        sizes[labels[site]] -= 1
        labels[site] = cluster
        sizes[cluster] = 1
    return labels


class _UnitSearch(Search):
    """A search on the units of rules: only labels that keep all of them enter the pool."""

    steps: RuledSteps

    def __init__(
        self, level: Level, objective: Objective, ruling: Ruling, *, effort: float, seed: int, rate: float
    ) -> None:
        rules, self.rate = ruling.rules, rate
        bounded = replace(objective, least=int(rules.least_size.min()), most=int(rules.most_size.max()))
        self._begin(level, bounded, rules.n_clusters, effort, seed)
        # Swaps at the end of a search know single nodes and no rules; the annealings here swap units under them.
        self.plan = replace(self.plan, n_swaps=0)
        self.steps = RuledSteps(level, rules.n_clusters, ruling)

    def score(self, labels: NDArray) -> tuple[float, float]:
        """Return modularity, less what moved nodes cost, and notion."""
        modularity, notion = super().score(labels)
        return modularity - self.rate * self.steps.ruling.moved(labels), notion

    def add(self, labels: NDArray) -> NDArray[np.int32]:
        """Put labels into the pool if they keep every rule, and return them in any case."""
        if self.steps.broken(labels) == 0:
            self.pool.add(labels, *self.score(labels))
        return labels

    def _best_of(self, candidates: Sequence[NDArray], objective: Objective) -> NDArray[np.int32]:
        least = min(map(self.steps.broken, candidates))
        kept = [labels for labels in candidates if self.steps.broken(labels) == least]
        return super()._best_of(kept, objective)

    def _rise(self, labels: NDArray, target: Target) -> NDArray[np.int32]:
        """Take moves and swaps that do not lower the objective; where few may move, find out who should."""
        risen = super()._rise(labels, target)
        if not self.steps.ruling.home.size:
            return risen
        objective, rng = target.of(self.objective), self.rng(*key_of(target), 1)
        found = [self._anneal(one, objective, rng, hot=hot) for one in (labels, risen) for hot in TURNS]
        return self._best_of([risen, *found], objective)

    def first_labels(self, starts: Iterable[NDArray], patience: int) -> tuple[bool, NDArray[np.int32]]:
        """Try to find labels that keep the rules; return whether that worked, and the labels nearest to it."""
        objective = self.objective
        n_steps = patience * max(self.plan.n_steps // 2, _LEAST_STEPS)
        near: NDArray[np.int32] | None = None
        given = [self.exactly(start) for start in starts]
        for number in range(_TRIES):
            rng = self.rng(4, number, patience)
            labels = given[number % len(given)] if given else self._cohesive(rng)
            labels = self.steps.settle(labels, objective, rng)
            if self.steps.broken(labels):
                labels = self.steps.repair(labels, objective, rng, n_steps)
            near = labels if near is None else self._best_of([near, labels], objective)
            if self.steps.broken(near) == 0:
                self.add(near)
                return True, near
        assert near is not None
        return False, near


class RuledSearch:
    """What `Search` does, among the labels that keep rules.

    Parameters
    ----------
    adjacency, codes, notion, weights, effort, seed
        As of `Search`.
    ruling : Ruling
        The rules on their units.
    rate : float
        What a moved node costs in units of modularity, where labels are chosen from the pool.
    """

    def __init__(
        self,
        adjacency: sparse.csr_array,
        codes: NDArray | None,
        ruling: Ruling,
        *,
        notion: str | Notion = "normalized",
        weights: NDArray | None = None,
        effort: float = 1.0,
        seed: int = 0,
        rate: float = 0.0,
    ) -> None:
        self._plain: dict[str, Any] = {"notion": notion, "weights": weights, "effort": effort, "seed": seed}
        self._given = adjacency, codes
        adjacency = unit_weights(adjacency.astype(np.float64, copy=False))
        objective, level = problem_of(adjacency, codes, notion=notion, weights=weights)
        self.unit, self.ruling = ruling.rules.unit, ruling
        if ruling.rules.n_units < self.unit.size:
            level = aggregate(level, self.unit.astype(np.int32), objective)
        self.n_clusters = ruling.rules.n_clusters
        self.inner = _UnitSearch(level, objective, ruling, effort=effort, seed=seed, rate=rate)
        self.plan = self.inner.plan

    def first_labels(
        self, starts: Iterable[NDArray] = (), patience: int = 1
    ) -> tuple[bool, NDArray[np.int32]]:
        """Try to find labels that keep the rules; return whether that worked, and the labels nearest to it."""
        kept, labels = self.inner.first_labels(map(self._on_units, starts), patience)
        return kept, labels[self.unit]

    def keep(self, labels: NDArray) -> None:
        """Take labels from elsewhere into the pool, if they keep the rules."""
        self.inner.add(self._on_units(labels).astype(np.int32))

    def score(self, labels: NDArray) -> tuple[float, float]:
        """Return modularity and notion."""
        return scores_of(self.inner.level, self._on_units(labels), self.inner.objective)

    def moved(self, labels: NDArray) -> int:
        """Return how many nodes are elsewhere than at home."""
        return self.ruling.moved(self._on_units(labels))

    def solve(
        self,
        targets: Sequence[Target],
        starts: Iterable[NDArray] = (),
        notify: Notifier | None = None,
        n_runs: int = 1,
    ) -> list[NDArray[np.int32]]:
        """Return labels for every target; see `Search.solve`.

        Raises
        ------
        NotFoundError
            If none were found, and none are known.
        """
        if self.is_large:
            found = self._free().solve(targets, starts, notify, n_runs)
            for target, labels in zip(targets, found, strict=True):
                self._bring(labels, target)
            return [target.best(self._some())[self.unit] for target in targets]
        found = self.inner.solve(targets, map(self._on_units, starts), notify, n_runs)
        return [labels[self.unit] for labels in found]

    @property
    def is_large(self) -> bool:
        """Whether the graph is searched without rules, and what is found brought to keep them."""
        return bool(self.plan.n_parts and self.inner.effort)

    def _free(self) -> Search:
        adjacency, codes = self._given
        return Search(adjacency, codes, self.n_clusters, **self._plain)

    def _some(self) -> Pool:
        if not self.inner.pool.labels:
            raise NotFoundError(
                "No labels that keep the rules were found. Whether there are any is not known: the graph is too large "
                "to ask a solver."
            )
        return self.inner.pool

    def _bring(self, labels: NDArray, target: Target) -> None:
        """Move as few units as need be for labels to keep the rules, and then such as raise the objective."""
        inner, steps = self.inner, self.inner.steps
        objective = target.of(inner.objective)
        units = steps.with_k(self._on_units(labels), objective, inner.rng(0))
        units = self._settled(units, objective)
        if steps.broken(units):
            answer = feasible_labels(self.ruling.rules, start=units[self.unit])
            if answer.labels is None:
                return
            units = self._settled(self._on_units(answer.labels), objective)
        # Where sizes or shares are tied, only swaps help.
        units = steps.anneal(inner.add(units), objective, inner.rng(0), steps.level.n_nodes, 0.0)
        inner.add(self._settled(units, objective))

    def _settled(self, units: NDArray, objective: Objective) -> NDArray[np.int32]:
        return self.inner.steps.settle(units, objective, None, max_passes=PASSES, least_gain=LEAST_GAIN)

    def front(self, starts: Iterable[NDArray] = (), notify: Notifier | None = None, n_runs: int = 1) -> Pool:
        """Return all labels found that nothing dominates; see `Search.front`."""
        if self.is_large:
            free = self._free().front(starts, notify, n_runs)
            for (_, notion), labels in zip(free.scores, free.labels, strict=True):
                self._bring(labels, Target(at_least=notion))
            self._some()
            return self.pool
        self.inner.front(map(self._on_units, starts), notify, n_runs)
        return self.pool

    @property
    def pool(self) -> Pool:
        """All labels found that keep the rules and that nothing dominates."""
        inner = self.inner.pool
        return Pool([labels[self.unit] for labels in inner.labels], list(inner.scores))

    def _on_units(self, labels: NDArray) -> NDArray[np.int32]:
        """Return the label that most nodes of a unit have."""
        labels = compact(np.asarray(labels)) if int(np.min(labels)) < 0 else np.asarray(labels)
        n_labels = int(labels.max()) + 1
        if self.inner.level.n_nodes == labels.size:
            return labels.astype(np.int32)
        pairs, votes = np.unique(self.unit * n_labels + labels, return_counts=True)
        order = np.lexsort((pairs, votes))
        units = np.empty(self.inner.level.n_nodes, dtype=np.int32)
        units[pairs[order] // n_labels] = pairs[order] % n_labels
        return units
