"""Infeasible rules: irreducible conflicts among them, and relaxation by giving up the last rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph._utils.parameters import Choice, Integer, check_parameters
from equigraph._utils.text import count
from equigraph.exceptions import ConflictError, NotFoundError
from equigraph.rules.base import Rule, in_words
from equigraph.rules.check import violations
from equigraph.rules.compile import CompiledRules, compile_rules
from equigraph.rules.facts import Facts
from equigraph.rules.model import alike, n_entries
from equigraph.rules.rules import Rules
from equigraph.rules.solve import NODE_LIMIT, Answer, feasible_labels, is_refuted

# Searches for labels that keep the rules if the solver has found none; returns None if it fails.
Finder = Callable[[CompiledRules], NDArray[np.intp] | None]
# Finding a conflict takes many calls of the solver; after this many without an answer it is not called any more.
_MOST_UNANSWERED = 6
# A question left open is asked again, with more effort, if the program has at most so many entries.
_MOST_ENTRIES = 10_000
OnConflict = Literal["error", "relax"]
ON_CONFLICT = Choice(
    values=("error", "relax"),
    help="Whether rules that contradict each other are an error, or the last of them are given up.",
)
_PARAMETERS = {
    "n_clusters": Integer(low=1),
    "on_conflict": ON_CONFLICT,
    "node_limit": Integer(low=1),
}


@dataclass(frozen=True)
class Conflict:
    """Rules that cannot all be kept.

    Attributes
    ----------
    rules : tuple
        The rules, in the order given.
    irreducible : bool
        Whether dropping any one of them leaves rules that can be kept; False if the solver could not decide.
    """

    rules: tuple[Rule, ...]
    irreducible: bool

    def describe(self) -> str:
        """Return the rules in words."""
        more = "" if self.irreducible else " (perhaps not all of these are needed for that)"
        return in_words(self.rules) + more


@dataclass(frozen=True, eq=False)
class Settlement:
    """Rules that can be kept, and labels that keep them.

    Attributes
    ----------
    rules : Rules
        The rules that are kept.
    labels : ndarray of shape (n_nodes,), dtype intp
        Labels in ``range(n_clusters)``, all of them used, with the numbers that the rules refer to.
    given_up : tuple
        The rules that were given up, in the order given.
    fewest : bool
        Whether it is proven that no labels keep the rules with fewer changes from the start.
    """

    rules: Rules
    labels: NDArray[np.intp]
    given_up: tuple[Rule, ...] = ()
    fewest: bool = False

    def describe(self) -> str:
        """Return the rules that were given up in words."""
        return f"Given up: {in_words(self.given_up)}." if self.given_up else "Every rule is kept."


@dataclass(eq=False)
class _Solver:
    """Solver for subsets of rules on one graph, with a cache of the labels found."""

    rules: Rules
    facts: Facts
    n_clusters: int
    node_limit: int
    hint: ArrayLike | None = None
    finder: Finder | None = None
    unanswered: float = 0.0
    # Cached labels, each with the rules that they break.
    found: list[tuple[NDArray[np.intp], set[Rule]]] = field(default_factory=list)

    def refutes(self, rules: Sequence[Rule], single: bool = False) -> bool:
        """Return whether a quick proof shows that a subset of the rules is infeasible."""
        return is_refuted(compile_rules(rules, self.facts, None, self.n_clusters))

    def ask(self, rules: Sequence[Rule], start: ArrayLike | None = None, effort: float = 1.0) -> Answer:
        """Solve a subset of the rules; labels that the oracle rejects do not count as found.

        ``effort`` multiplies the node limit.
        """
        known = [labels for labels, broken in self.found if broken.isdisjoint(rules)]
        if known and start is None:
            return Answer("found", known[0])
        if self.unanswered >= _MOST_UNANSWERED:
            reason = f"the solver left {_MOST_UNANSWERED} questions without an answer"
            return Answer("not found", reason=reason)
        compiled = compile_rules(rules, self.facts, None, self.n_clusters)
        if effort > 1.0 and n_entries(compiled, alike(compiled)) > _MOST_ENTRIES:
            return Answer("not found", reason="the program is too large for more effort")
        answer = feasible_labels(compiled, max(round(effort * self.node_limit), 1), start, self.hint)
        if answer.status == "not found" and self.finder is not None and effort == 1.0:
            found = self.finder(compiled)
            answer = answer if found is None else Answer("found", found)
        if answer.labels is None:
            self.unanswered += effort * (answer.status == "not found")
            return answer
        violated = violations(self.rules, self.facts, answer.labels, None, self.n_clusters)
        broken = {violation.rule for violation in violated}
        self.found.append((answer.labels, broken))
        if broken.isdisjoint(rules):
            return answer
        return Answer("not found", reason="the solver's labels are not exact enough")


def find_conflict(
    rules: Rules, graph: Any, groups: Any = None, *, n_clusters: int, node_limit: int = NODE_LIMIT
) -> Conflict | None:
    """Find an irreducible set of rules that cannot all be kept: without any one of them the rest can.

    Parameters
    ----------
    rules : Rules
        The rules.
    graph : graph
        Anything that `equigraph.as_graph` takes.
    groups : dict of columns, table, Series or array, optional
        The attributes that the rules name; by default those of the graph.
    n_clusters : int
        Number of clusters.
    node_limit : int, default=100
        Most nodes of the branch-and-bound tree for each call of the solver.

    Returns
    -------
    Conflict or None
        None if it is not proven that the rules contradict each other.

    Examples
    --------
    >>> rules = Rules(sizes=(1, 3), together=[(0, 1), (1, 2)], fixed={3: 0}, apart=[(0, 2)])
    >>> ring = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    >>> find_conflict(rules, ring, n_clusters=2).describe()
    '0 and 1 together, 1 and 2 together, 0 and 2 apart'
    """
    check_parameters("find_conflict", _PARAMETERS, locals())
    solver = _Solver(rules, Facts.of(graph, groups), n_clusters, node_limit)
    if solver.ask(rules.items).status != "impossible":
        return None
    return _irreducible(solver, rules.items)


def _irreducible(solver: _Solver, rules: Sequence[Rule]) -> Conflict:
    """Return an irreducible infeasible subset: drop halves of the rules, then smaller parts, finally single rules.

    The remaining rules are proven to be infeasible at every step. After the pass over single rules none can be dropped:
    a rule needed for infeasibility with more rules present is also needed with fewer. If a quick proof shows the
    conflict, quick proofs reduce it first, which leaves few rules for the solver. If it could not decide about a single
    rule, the pass is repeated once with five times the effort.
    """
    left, sure = list(rules), False
    if solver.refutes(left):
        left = _reduced(left, solver.refutes)

    def impossible(effort: float, some: Sequence[Rule], single: bool) -> bool:
        nonlocal sure
        # Proofs are mostly quick; labels for feasible subsets are only needed for single rules.
        answer = solver.ask(some, effort=effort if single else 0.2)
        if single and answer.status != "impossible":
            sure &= answer.status == "found"
        return answer.status == "impossible"

    for effort in (1.0, 5.0):
        if not sure:
            sure = True
            left = _reduced(left, partial(impossible, effort))
    return Conflict(tuple(left), sure)


def _reduced(rules: list[Rule], impossible: Callable[[Sequence[Rule], bool], bool]) -> list[Rule]:
    """Drop rules, ever fewer at a time, while the others remain infeasible."""
    left = list(rules)
    size = max(len(left) // 2, 1)
    while True:
        end = len(left)
        while end > 0:
            begin = max(end - size, 0)
            if impossible(left[:begin] + left[end:], size == 1):
                del left[begin:end]
            end = begin
        if size == 1:
            return left
        size = max(min(size // 2, len(left) // 2), 1)


def settle_rules(
    rules: Rules,
    graph: Any,
    groups: Any = None,
    *,
    n_clusters: int,
    on_conflict: OnConflict = "error",
    start: ArrayLike | None = None,
    hint: ArrayLike | None = None,
    node_limit: int = NODE_LIMIT,
    finder: Finder | None = None,
) -> Settlement:
    """Find labels that keep the rules, or the rules that contradict each other.

    Parameters
    ----------
    rules, graph, groups, n_clusters, node_limit
        As in `find_conflict`.
    on_conflict : {"error", "relax"}, default="error"
        Whether rules that contradict each other are an error, or the last of them are given up: going through the
        rules in order, each is kept if it can be kept along with those that are kept already.
    start : array-like of shape (n_nodes,), optional
        Labels in ``range(n_clusters)``, of which as many as possible are kept.
    hint : array-like of shape (n_nodes,), optional
        Cohesive labels; the solver looks first near them.
    finder : callable, optional
        Function of compiled rules that searches for labels if the solver has found none.

    Returns
    -------
    Settlement
        Labels, the rules they keep and the rules that were given up.

    Raises
    ------
    ConflictError
        If the rules contradict each other; the message names an irreducible set of them.
    NotFoundError
        If the solver has found neither labels nor a contradiction. No rule is given up for that.

    Examples
    --------
    >>> ring = [[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]]
    >>> rules = Rules(together=[(0, 1)], apart=[(0, 1), (2, 3)])
    >>> settle_rules(rules, ring, n_clusters=2)
    Traceback (most recent call last):
    ...
    equigraph.exceptions.ConflictError: These rules cannot all be kept in 2 clusters: 0 and 1 together, 0 and 1 apart.
    >>> settled = settle_rules(rules, ring, n_clusters=2, on_conflict="relax")
    >>> settled.describe(), settled.labels.tolist()
    ('Given up: 0 and 1 apart.', [0, 0, 0, 1])
    """
    check_parameters("settle_rules", _PARAMETERS, locals())
    solver = _Solver(rules, Facts.of(graph, groups), n_clusters, node_limit, hint, finder)
    answer = _answered(solver, rules.items, start)
    if answer.labels is not None:
        return Settlement(rules, answer.labels, fewest=answer.fewest)
    if on_conflict == "relax":
        return _relaxed(solver, rules.items, start)
    conflict = _irreducible(solver, rules.items)
    raise ConflictError(
        f"These rules cannot all be kept in {count(n_clusters, 'cluster')}: {conflict.describe()}.",
        conflict.rules,
    )


def _answered(solver: _Solver, rules: Sequence[Rule], start: ArrayLike | None = None) -> Answer:
    """Solve for the fewest changes from a start or, if that takes too long, for any labels.

    "not found" raises a NotFoundError: a rule is given up only if that is proven to be necessary.
    """
    answer = solver.ask(rules, start)
    if answer.status == "not found" and start is not None:
        answer = solver.ask(rules)
    longer = answer if answer.status != "not found" else solver.ask(rules, effort=10.0)
    if longer.status == "not found":
        raise NotFoundError(
            f"No labels that keep the rules were found: {answer.reason}. Whether there are any is not known."
        )
    return longer


def _relaxed(solver: _Solver, rules: Sequence[Rule], start: ArrayLike | None) -> Settlement:
    """Give up the last rule of the shortest infeasible prefix, repeatedly, until the rules are feasible."""
    kept, given_up, holds = list(rules), [], 0
    while _answered(solver, kept).labels is None:
        # The first ``holds`` rules can be kept together, the first ``fails`` cannot.
        fails = len(kept)
        while fails - holds > 1:
            middle = (holds + fails) // 2
            if _answered(solver, kept[:middle]).labels is not None:
                holds = middle
            else:
                fails = middle
        holds = fails - 1
        given_up.append(kept.pop(holds))
    answer = _answered(solver, kept, start)
    assert answer.labels is not None
    return Settlement(Rules.of(kept), answer.labels, tuple(given_up), answer.fewest)
