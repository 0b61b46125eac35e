"""Search under rules: find feasible labels, or relax the rules, then search among the labels that keep them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Notifier
from equigraph._utils.text import count
from equigraph.exceptions import (
    EquigraphError,
    InfeasibleError,
    NotFoundError,
    ParameterError,
    RulesRelaxedWarning,
    SmallClusterWarning,
    warn,
)
from equigraph.rules import (
    CompiledRules,
    Facts,
    Rule,
    Rules,
    Sizes,
    compile_rules,
    feasible_labels,
    keeps,
    settle_rules,
)
from equigraph.rules.base import in_words
from equigraph.rules.conflict import OnConflict
from equigraph.rules.solve import is_refuted
from equigraph.search.bounds import SizeBounds, check_size_bounds
from equigraph.search.level import aggregate, compact, first_level
from equigraph.search.level_rules import LevelRules
from equigraph.search.plans import is_large
from equigraph.search.pool import Pool, Target

# Annealing for feasibility alone: temperatures and penalty of a violation in units of a typical change, number of
# attempts, and least number of steps.
_HOT, _COLD, _PENALTY, _ATTEMPTS, _LEAST_STEPS = 400.0, 50.0, 1000.0, 6, 20_000


@dataclass(frozen=True, eq=False)
class HomeLabels:
    """Home cluster of each node, and the cost of leaving it.

    Attributes
    ----------
    labels : ndarray of shape (n_nodes,)
        Home cluster of each node, -1 for a new node.
    max_moves : int or None
        Largest number of nodes that may leave their home cluster.
    price, rate : float
        Penalty for each node that leaves, in units of the objective and of modularity.
    """

    labels: NDArray
    max_moves: int | None
    price: float
    rate: float

    def limit_error(self, moved: int, fewest: bool) -> EquigraphError:
        """Return the error to raise if more nodes move than allowed."""
        if fewest and (self.labels >= 0).all():
            return InfeasibleError(
                f"The rules cannot be kept with max_moves={self.max_moves!r}: at least "
                f"{count(moved, 'node')} must move."
            )
        return NotFoundError(
            f"No labels that keep the rules with max_moves={self.max_moves!r} were found; {moved} moves "
            "suffice. Whether fewer do is not known."
        )


class FeasibleSearch:
    """Search among the labels that keep rules: `Search` on units, the sets of nodes that must be together.

    Parameters
    ----------
    facts : Facts
        The graph.
    codes : ndarray or None
        Groups, as of `make_search`.
    compiled : CompiledRules
        The rules and bounds on sizes.
    home : HomeLabels, optional
        Home clusters and the cost of leaving them.
    effort, seed, options
        As of `make_search`.

    Attributes
    ----------
    kept : Rules
        The rules that the labels keep.
    given_up : tuple of Rule
        The rules that were given up, in the order given.
    """

    kept = Rules()
    given_up: tuple[Rule, ...] = ()

    def __init__(
        self,
        facts: Facts,
        codes: NDArray | None,
        compiled: CompiledRules,
        home: HomeLabels | None = None,
        *,
        effort: float = 1.0,
        seed: int = 0,
        **options: Any,
    ) -> None:
        from equigraph.search.objective import make_objective
        from equigraph.search.search import Search

        adjacency = facts.graph.unit_adjacency
        self._unconstrained = adjacency, codes, {**options, "effort": effort, "seed": seed}
        self.unit, self.rules, self.n_clusters = compiled.unit, compiled, compiled.n_clusters
        self.level_rules = LevelRules.of(compiled)
        if home is not None:
            self.level_rules = LevelRules.of(compiled, home.labels, home.max_moves, home.price, home.rate)
        objective, columns = make_objective(
            codes, n_nodes=self.unit.size, total=float(adjacency.sum(dtype=np.float64)), **options
        )
        level = first_level(adjacency, columns, objective.population.size)
        if compiled.n_units < self.unit.size:
            level = aggregate(level, self.unit)
        bounded = replace(
            objective, least=compiled.least_size, most=compiled.most_size, rules=self.level_rules
        )
        self.inner = Search(level, bounded, self.n_clusters, effort=effort, seed=seed)
        # A large graph is searched without rules, and the labels are repaired afterwards.
        self.is_large = is_large(self.unit.size, adjacency.nnz) and effort > 0

    @property
    def stopped(self) -> bool:
        """Whether the search was ended early."""
        return self.inner.watch.stopped

    @property
    def pool(self) -> Pool:
        """Pareto front of the labels found that keep the rules."""
        inner = self.inner.pool
        return Pool([labels[self.unit] for labels in inner.labels], list(inner.scores))

    def score(self, labels: NDArray) -> tuple[float, float]:
        """Return modularity and notion."""
        return self.inner.score(self._on_units(labels))

    def keep(self, labels: NDArray) -> None:
        """Add labels to the pool if they keep the rules."""
        self.inner.keep(self._on_units(labels))

    def first_labels(self, starts: Iterable[NDArray]) -> tuple[bool, NDArray[np.int32] | None]:
        """Return whether labels that keep the rules are in the pool or may be found, and the nearest ones if not.

        There are no nearest ones if it is proven that no labels keep the rules.
        """
        if self.is_large:
            answer = feasible_labels(self.rules)
            if answer.labels is not None:
                self.keep(answer.labels)
            return answer.status != "impossible", None
        return (False, None) if is_refuted(self.rules) else self.find_feasible(starts)

    def find_feasible(
        self, starts: Iterable[NDArray] = (), step_factor: int = 1
    ) -> tuple[bool, NDArray[np.int32]]:
        """Search for labels that keep the rules; return whether any were found, and those with fewest violations."""
        from equigraph.search.moves import anneal, local_search
        from equigraph.search.partition import Partition

        inner = self.inner
        objective = inner.objective.at(0.0)
        n_steps = step_factor * max(inner.plan.n_steps // 2, _LEAST_STEPS)
        given = [inner.exactly(self._on_units(start)) for start in starts]
        found = []
        for number in range(_ATTEMPTS):
            rng = inner.rng(4, number, step_factor)
            labels = given[number % len(given)] if given else inner.division(rng).labels
            partition = Partition(inner.level, objective, labels, self.n_clusters)
            local_search(partition, rng)
            if partition.broken:
                partition = anneal(partition, rng, n_steps, _HOT, cold=_COLD, prices=(_PENALTY, _PENALTY))
                local_search(partition, rng)
            found.append(inner.keep(partition.labels))
            if found[-1].broken == 0:
                break
        best = inner.best_of(found, objective)
        return best.broken == 0, best.labels[self.unit]

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
            If no labels that keep the rules were found.
        """
        if self.is_large:
            free = self._without_rules().solve(targets, starts, notify, n_runs)
            for target, labels in zip(targets, free, strict=True):
                self._repair(labels, target)
            pool = self._checked_pool()
            return [target.best(pool) for target in targets]
        found = self.inner.solve(targets, map(self._on_units, starts), notify, n_runs)
        return [self.checked(labels[self.unit]) for labels in found]

    def front(self, starts: Iterable[NDArray] = (), notify: Notifier | None = None, n_runs: int = 1) -> Pool:
        """Return the Pareto front of the labels found; see `Search.front`."""
        if self.is_large:
            free = self._without_rules().front(starts, notify, n_runs)
            for (_, notion), labels in zip(free.scores, free.labels, strict=True):
                self._repair(labels, Target(at_least=notion))
        else:
            self.inner.front(map(self._on_units, starts), notify, n_runs)
        return self._checked_pool()

    def checked(self, labels: NDArray) -> NDArray:
        """Return labels unchanged, or raise an EquigraphError if they break a rule; every result passes this check."""
        if not keeps(self.rules, labels):
            raise EquigraphError(
                "The search under rules has found labels that break one: please report this error of equigraph."
            )
        return labels

    def _without_rules(self) -> Any:
        from equigraph.search.large import make_search

        adjacency, codes, options = self._unconstrained
        return make_search(adjacency, codes, self.n_clusters, **options)

    def _checked_pool(self) -> Pool:
        pool = self.pool
        if not pool.labels:
            raise NotFoundError(
                "No labels that keep the rules were found. Whether there are any is not known: the graph is too large "
                "to ask a solver."
            )
        for labels in pool.labels:
            self.checked(labels)
        return pool

    def _repair(self, labels: NDArray, target: Target) -> None:
        """Move as few units as the rules require, then apply local search under the rules; keep the labels."""
        from equigraph.search.moves import anneal, local_search
        from equigraph.search.partition import Partition

        inner: Any = self.inner
        limits: dict[str, Any] = {"max_passes": 20, "least_gain": 1e-7}
        objective = inner.objective.for_target(target)
        units = Partition(inner.level, objective, inner.exactly(self._on_units(labels)), self.n_clusters)
        local_search(units, **limits)
        if units.broken:
            answer = feasible_labels(self.rules, start=units.labels[self.unit])
            if answer.labels is None:
                return
            units = units.relabelled(self._on_units(answer.labels))
            local_search(units, **limits)
        inner.keep(units.labels.copy())
        # Under tight bounds on sizes or shares only swaps are feasible.
        units = anneal(units, inner.rng(0), inner.level.n_sites, 0.0)
        local_search(units, **limits)
        inner.keep(units.labels)

    def _on_units(self, labels: NDArray) -> NDArray[np.int32]:
        """Return the most frequent label in each unit."""
        labels = compact(np.asarray(labels)) if int(np.min(labels)) < 0 else np.asarray(labels)
        n_labels, n_units = int(labels.max()) + 1, self.inner.level.n_sites
        if n_units == labels.size:
            return labels.astype(np.int32)
        pairs, votes = np.unique(self.unit * n_labels + labels, return_counts=True)
        order = np.lexsort((pairs, votes))
        units = np.empty(n_units, dtype=np.int32)
        units[pairs[order] // n_labels] = pairs[order] % n_labels
        return units


def make_feasible_search(
    rules: Rules,
    facts: Facts,
    codes: NDArray | None,
    n_clusters: int,
    *,
    on_conflict: OnConflict = "error",
    size_bounds: SizeBounds = None,
    starts: Iterable[NDArray] = (),
    home: HomeLabels | None = None,
    **options: Any,
) -> FeasibleSearch:
    """Determine which rules can be kept, and return a search among the labels that keep them.

    Local search for feasible labels comes first, and the solver only if it finds none. Rules that are slow to solve,
    such as friends, are easy for local search.

    Parameters
    ----------
    rules : Rules
        The rules.
    facts : Facts
        The graph and its attributes.
    codes, options
        As of `FeasibleSearch`.
    n_clusters : int
        Number of clusters.
    on_conflict : {"error", "relax"}
        How to handle rules that contradict each other; see `equigraph.rules.settle_rules`.
    size_bounds : "auto", (least, most) or None
        Bounds that are always met. "auto" is lowered as far as the rules require, and dropped if a rule is on sizes.
    starts : iterable of ndarray
        Labels to start from.
    home : HomeLabels, optional
        Home clusters and the cost of leaving them.

    Raises
    ------
    ConflictError
        If the rules contradict each other.
    NotFoundError
        If neither labels nor a contradiction were found.
    """
    n, starts = facts.graph.n_nodes, list(starts)

    def make(items: Rules) -> FeasibleSearch:
        search = FeasibleSearch(facts, codes, compile_rules(items, facts, None, n_clusters), home, **options)
        search.kept = rules
        return search

    if size_bounds == "auto":
        found = _with_least_size(rules, n, n_clusters, starts, make)
        if found is not None:
            return found
        size_bounds = None
    wanted = Rules.of([*_as_rule(size_bounds, rules, n, n_clusters), *rules.items])
    search = make(wanted)
    kept, near = search.first_labels(starts)
    if kept:
        return search

    def finder(part: CompiledRules) -> NDArray | None:
        """Return labels that keep some of the rules, None if none are found."""
        search = FeasibleSearch(facts, codes, part, **options)
        found, labels = (False, None) if search.is_large else search.find_feasible()
        return labels.astype(np.intp) if found and labels is not None else None

    try:
        settled = settle_rules(
            wanted,
            facts,
            n_clusters=n_clusters,
            on_conflict=on_conflict,
            hint=near,
            start=starts[0] if home is not None and starts else None,
            finder=finder,
        )
    except NotFoundError:
        # Neither found nor refuted: a longer search may still find labels.
        if search.rules.contradiction or not search.find_feasible(starts, step_factor=10)[0]:
            raise
        return search
    if settled.given_up:
        search = make(settled.rules)
        search.kept = Rules.of(rule for rule in rules.items if rule not in settled.given_up)
        search.given_up = settled.given_up
        words = in_words(settled.given_up)
        warn(f"FairPartition: not all rules can be kept; given up: {words}.", RulesRelaxedWarning)
    search.keep(settled.labels)
    if not search.inner.pool.labels and home is not None:
        moved = search.level_rules.moved(search._on_units(settled.labels))
        raise home.limit_error(moved, settled.fewest)
    search.checked(settled.labels)
    return search


def _with_least_size(
    rules: Rules, n: int, n_clusters: int, starts: list[NDArray], make: Any
) -> FeasibleSearch | None:
    """Return a search under the largest feasible least size of a cluster, found by bisection; None if none is."""
    wanted = check_size_bounds("auto", n, n_clusters)[0]
    if any(isinstance(rule, Sizes) for rule in rules.items):
        return None
    found, kept_least, least, most = None, 1, wanted, wanted
    while least > kept_least:
        search = make(Rules.of([Sizes(((least, None),)), *rules.items]))
        if search.rules.contradiction:
            return None
        kept, near = search.first_labels(starts)
        if near is not None and not kept and (answer := feasible_labels(search.rules)).labels is not None:
            search.keep(answer.labels)
            kept = bool(search.inner.pool.labels)
        if kept:
            found, kept_least = search, least
        else:
            most = least - 1
        least = (kept_least + most + 1) // 2
    if found is not None and kept_least < wanted:
        warn(
            f"The rules leave no room for clusters of at least {count(wanted, 'node')}, a third of the mean: "
            f"the least that is kept is {kept_least}.",
            SmallClusterWarning,
        )
    return found


def _as_rule(bounds: SizeBounds, rules: Rules, n_nodes: int, n_clusters: int) -> list[Rule]:
    """Return bounds on sizes as a rule; it comes first, so that it is given up last.

    Raises
    ------
    ParameterError
        If no size meets both the bounds and the rules.
    """
    if bounds is None:
        return []
    least, most = check_size_bounds(bounds, n_nodes, n_clusters)
    for rule in rules.items:
        for low, high in rule.bounds if isinstance(rule, Sizes) else ():
            if max(least, low or 0) > min(most, n_nodes if high is None else high):
                raise ParameterError(
                    f"size_bounds={bounds!r} contradicts the rule {rule.describe()!r}: give one of them."
                )
    return [Sizes(((least, most),))]
