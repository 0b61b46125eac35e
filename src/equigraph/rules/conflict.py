"""Rules that cannot all be kept: which of them contradict each other, and what holds without the last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
from equigraph.rules.rules import Rules
from equigraph.rules.solve import NODE_LIMIT, Answer, feasible_labels, is_refuted

# Looks for labels that keep rules where the solver has found none; None if there are none to be found.
Finder = Callable[[CompiledRules], NDArray[np.intp] | None]
# Naming a conflict takes many questions; after this many without an answer no more are asked.
_PATIENCE = 6
_PARAMETERS = {
    "n_clusters": Integer(low=1),
    "on_conflict": Choice(values=("error", "relax")),
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
        Whether the rest can be kept without any one of them; False only where the solver could not say.
    """

    rules: tuple[Rule, ...]
    irreducible: bool

    def describe(self) -> str:
        """Say the rules in words."""
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
        Labels in ``range(n_clusters)``, none of them unused. Their numbers are those that rules speak of.
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
        """Say which rules were given up."""
        return f"Given up: {in_words(self.given_up)}." if self.given_up else "Every rule is kept."


@dataclass(eq=False)
class _Solver:
    """Asks about parts of some rules on one graph, and remembers the labels that were found."""

    rules: Rules
    facts: Facts
    n_clusters: int
    node_limit: int
    hint: ArrayLike | None = None
    finder: Finder | None = None
    unanswered: float = 0.0
    # Labels, with the rules that they break.
    found: list[tuple[NDArray[np.intp], set[Rule]]] = field(default_factory=list)

    def refutes(self, rules: Sequence[Rule], single: bool = False) -> bool:
        """Return whether a quick proof says that some of the rules are impossible."""
        return is_refuted(compile_rules(rules, self.facts, None, self.n_clusters))

    def ask(self, rules: Sequence[Rule], start: ArrayLike | None = None, patience: float = 1.0) -> Answer:
        """Ask about some of the rules; what the oracle does not accept does not count as found."""
        known = [labels for labels, broken in self.found if broken.isdisjoint(rules)]
        if known and start is None:
            return Answer("found", known[0])
        if self.unanswered >= _PATIENCE:
            return Answer("not found", reason=f"the solver left {_PATIENCE} questions without an answer")
        compiled = compile_rules(rules, self.facts, None, self.n_clusters)
        answer = feasible_labels(compiled, max(round(patience * self.node_limit), 1), start, self.hint)
        if answer.status == "not found" and self.finder is not None and patience == 1.0:
            found = self.finder(compiled)
            answer = answer if found is None else Answer("found", found)
        if answer.labels is None:
            self.unanswered += patience * (answer.status == "not found")
            return answer
        wrong = violations(self.rules, self.facts, answer.labels, None, self.n_clusters)
        broken = {violation.rule for violation in wrong}
        self.found.append((answer.labels, broken))
        if broken.isdisjoint(rules):
            return answer
        return Answer("not found", reason="the solver's labels are not exact enough")


def find_conflict(
    rules: Rules, graph: Any, groups: Any = None, *, n_clusters: int, node_limit: int = NODE_LIMIT
) -> Conflict | None:
    """Find rules that cannot all be kept, though without any one of them the rest can.

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
        Nodes of the tree that the solver searches at most for each question.

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
    """Drop what the contradiction does not need: first halves, then ever smaller parts, at last single rules.

    The rules that are left are proven to contradict each other at every step. After the single rules none can go:
    what could be kept without a rule while others were still there can be kept without it later, too. Where a quick
    proof does, all this is done with quick proofs first: they leave few rules to ask the solver about.
    """
    left, sure = list(rules), True
    if solver.refutes(left):
        left = _reduced(left, solver.refutes)

    def impossible(some: Sequence[Rule], single: bool) -> bool:
        nonlocal sure
        # Proofs are mostly quick; only at the end it matters that the rest is found as well.
        answer = solver.ask(some, patience=1.0 if single else 0.2)
        if single and answer.status != "impossible":
            sure &= answer.status == "found"
        return answer.status == "impossible"

    return Conflict(tuple(_reduced(left, impossible)), sure)


def _reduced(rules: list[Rule], impossible: Callable[[Sequence[Rule], bool], bool]) -> list[Rule]:
    """Leave out rules, ever fewer at once, as long as the others are impossible."""
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
    on_conflict: Literal["error", "relax"] = "error",
    start: ArrayLike | None = None,
    hint: ArrayLike | None = None,
    node_limit: int = NODE_LIMIT,
    finder: Finder | None = None,
) -> Settlement:
    """Find labels that keep the rules, or say which rules contradict each other.

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
        Cohesive labels near to which the solver looks first.
    finder : callable, optional
        Given compiled rules, looks for labels where the solver has found none.

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
    """Ask for few changes from a start or, where that takes too long, for any labels.

    A rule is given up because it must be, and not because the solver stopped: "not found" is an error.
    """
    answer = solver.ask(rules, start)
    if answer.status == "not found" and start is not None:
        answer = solver.ask(rules)
    if answer.status == "not found":
        raise NotFoundError(
            f"No labels that keep the rules were found: {answer.reason}. Whether there are any is not known."
        )
    return answer


def _relaxed(solver: _Solver, rules: Sequence[Rule], start: ArrayLike | None) -> Settlement:
    """Give up the last rule of the shortest beginning that cannot be kept, until there is none."""
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
