"""From rules to a search that keeps them: what can be kept, and first labels that do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.parameters import Choice, Constraint
from equigraph._utils.text import count
from equigraph.exceptions import (
    EquigraphError,
    InfeasibleError,
    NotFoundError,
    ParameterError,
    RulesRelaxedWarning,
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
from equigraph.search.bounds import check_size_bounds
from equigraph.search.ruled import RuledSearch
from equigraph.search.ruling import Ruling


@dataclass(frozen=True)
class _RulesOrDict(Constraint):
    """Rules, or a dict of them."""

    def _accepts(self, value: Any) -> bool:
        return isinstance(value, (Rules, Mapping))

    def _describe(self) -> str:
        return "Rules or a dict of them"


RULES = _RulesOrDict(optional=True, help="Hard rules, as Rules or a dict of them.")
ON_CONFLICT = Choice(
    values=("error", "relax"),
    help="Whether rules that contradict each other are an error, or the last of them are given up.",
)
SizeBounds = tuple[int | None, int | None] | None
OnConflict = Literal["error", "relax"]


@dataclass(frozen=True, eq=False)
class RuleKeeper:
    """A search among the labels that keep rules, some of which are known.

    Attributes
    ----------
    search : RuledSearch
        The search.
    rules : Rules
        The rules that are kept.
    given_up : tuple
        The rules that were given up, in the order given.
    compiled : CompiledRules
        The rules that are kept, and bounds on sizes that came without a rule, as arrays.
    """

    search: RuledSearch
    rules: Rules
    given_up: tuple[Rule, ...]
    compiled: CompiledRules

    def checked(self, labels: NDArray) -> NDArray:
        """Return labels that are about to be handed out, if they keep the rules: nothing else ever is."""
        if not keeps(self.compiled, labels):
            raise EquigraphError(
                "The search under rules has found labels that break one: please report this error of equigraph."
            )
        return labels

    def warn_if_relaxed(self, who: str) -> None:
        """Say which rules were given up, if any."""
        if self.given_up:
            warn(
                f"{who}: not all rules can be kept; given up: {in_words(self.given_up)}.", RulesRelaxedWarning
            )


@dataclass(frozen=True, eq=False)
class Home:
    """Where nodes should rather stay.

    Attributes
    ----------
    labels : ndarray of shape (n_nodes,)
        Cluster of each node, -1 for one that has been nowhere yet.
    start : ndarray of shape (n_nodes,)
        The same with a cluster for everybody.
    max_moves : int or None
        How many nodes may move.
    price, rate : float
        What each costs, in units of the objective that moves climb, and of modularity.
    """

    labels: NDArray
    start: NDArray
    max_moves: int | None
    price: float
    rate: float

    def too_many(self, moved: int, fewest: bool) -> EquigraphError:
        """Return the error about more moves than allowed."""
        if fewest and (self.labels >= 0).all():
            return InfeasibleError(
                f"The rules cannot be kept with max_moves={self.max_moves!r}: at least "
                f"{count(moved, 'node')} must move."
            )
        return NotFoundError(
            f"No labels that keep the rules with max_moves={self.max_moves!r} were found; {moved} moves "
            "suffice. Whether fewer do is not known."
        )


def as_rules(rules: Rules | Mapping[str, Any]) -> Rules:
    """Return rules that may have come as a dict."""
    return rules if isinstance(rules, Rules) else Rules.from_dict(rules)


def search_under(
    rules: Rules,
    facts: Facts,
    codes: NDArray | None,
    n_clusters: int,
    *,
    on_conflict: OnConflict = "error",
    size_bounds: SizeBounds = None,
    starts: Iterable[NDArray] = (),
    home: Home | None = None,
    **options: Any,
) -> RuleKeeper:
    """Find out which rules can be kept, and return a search among the labels that keep them.

    Labels are looked for first, and the solver is asked only if none are found: what it is slow at, such as links to
    keep, is easy to find.

    Parameters
    ----------
    rules : Rules
        The rules.
    facts : Facts
        The graph and its attributes.
    codes, options
        As of `RuledSearch`.
    n_clusters : int
        Number of clusters.
    on_conflict : {"error", "relax"}
        What is done about rules that contradict each other; see `equigraph.rules.settle_rules`.
    size_bounds : (least, most), optional
        Bounds that are always met.
    starts : iterable of ndarray
        Labels near to which is looked.
    home : Home, optional
        Where nodes should rather stay.

    Raises
    ------
    ConflictError
        If the rules contradict each other.
    NotFoundError
        If neither labels nor a contradiction were found.
    """
    bounds = _as_rule(size_bounds, rules, facts.graph.n_nodes, n_clusters)
    wanted = Rules.of([*bounds, *rules.items])
    starts = list(starts)
    options["home"] = home
    search, compiled = _open(wanted, facts, codes, n_clusters, options)
    kept, near = False, None
    if search.is_large:
        kept = _maybe_kept(search, compiled)
    elif not compiled.contradiction:
        kept, near = search.first_labels(starts)
    if kept:
        return RuleKeeper(search, rules, (), compiled)
    try:
        settled = settle_rules(
            wanted,
            facts,
            n_clusters=n_clusters,
            on_conflict=on_conflict,
            hint=near,
            start=None if home is None else home.start,
            finder=lambda part: _sought(part, facts, codes, options),
        )
    except NotFoundError:
        # There may be labels all the same, and a longer look is worth more than no answer.
        if compiled.contradiction or not search.first_labels(starts, patience=10)[0]:
            raise
        return RuleKeeper(search, rules, (), compiled)
    if settled.given_up:
        search, compiled = _open(settled.rules, facts, codes, n_clusters, options)
    search.keep(settled.labels)
    if not search.pool.labels and home is not None:
        raise home.too_many(search.moved(settled.labels), settled.fewest)
    remaining = Rules.of(rule for rule in rules.items if rule not in settled.given_up)
    agreement = RuleKeeper(search, remaining, settled.given_up, compiled)
    agreement.checked(settled.labels)
    return agreement


def _open(
    rules: Rules, facts: Facts, codes: NDArray | None, n_clusters: int, options: dict[str, Any]
) -> tuple[RuledSearch, CompiledRules]:
    compiled = compile_rules(rules, facts, None, n_clusters)
    others = {name: value for name, value in options.items() if name != "home"}
    if (home := options["home"]) is None:
        return RuledSearch(facts.graph.unit_adjacency, codes, Ruling.of(compiled), **others), compiled
    ruling = Ruling.of(compiled, home.labels, home.max_moves, home.price)
    return RuledSearch(facts.graph.unit_adjacency, codes, ruling, rate=home.rate, **others), compiled


def _sought(
    compiled: CompiledRules, facts: Facts, codes: NDArray | None, options: dict[str, Any]
) -> NDArray | None:
    """Look for labels that keep some of the rules; None if none are found."""
    others = {name: value for name, value in options.items() if name != "home"}
    search = RuledSearch(facts.graph.adjacency, codes, Ruling.of(compiled), **others)
    if search.is_large:
        return None
    kept, labels = search.first_labels()
    return labels.astype(np.intp) if kept else None


def _maybe_kept(search: RuledSearch, compiled: CompiledRules) -> bool:
    """Ask the solver about a large graph, and keep its labels; return whether rules are not proven to be impossible."""
    answer = feasible_labels(compiled)
    if answer.labels is not None:
        search.keep(answer.labels)
    return answer.status != "impossible"


def _as_rule(bounds: SizeBounds, rules: Rules, n_nodes: int, n_clusters: int) -> list[Rule]:
    """Return bounds on sizes as the first rule, which is the last to be given up.

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
