"""Feasibility of rules, by propagation and mixed-integer programming."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from equigraph._utils.text import count
from equigraph.exceptions import ParameterError
from equigraph.rules.compile import CompiledRules, entries_of, join_units
from equigraph.rules.model import Program, alike, cohesive_hint, make_program, n_entries

# Larger programs are not solved.
MAX_ENTRIES = 2_000_000
# Default limit of nodes of the branch-and-bound tree.
NODE_LIMIT = 100


@dataclass(frozen=True, eq=False)
class Answer:
    """Answer of the solver."""

    # "impossible" is proven; "not found" leaves open whether such labels exist.
    status: Literal["found", "impossible", "not found"]
    labels: NDArray[np.intp] | None = None
    fewest: bool = False  # whether it is proven that no feasible labels move fewer nodes from the start
    reason: str = ""  # why nothing was found


def feasible_labels(
    compiled: CompiledRules,
    node_limit: int = NODE_LIMIT,
    start: ArrayLike | None = None,
    hint: ArrayLike | None = None,
) -> Answer:
    """Find labels that keep rules, or prove that there are none.

    With a start the number of changed labels is minimised. Without one the solver looks first near a hint, by default a
    greedy assignment; the fewer rules the hint breaks, the faster the solver. The limit is a number of nodes of the
    branch-and-bound tree, not a time, so that results are reproducible.
    """
    labels = None if start is None else checked_labels("start", start, compiled)
    near = None if hint is None else checked_labels("hint", hint, compiled)
    compiled, allowed, answer = _prepared(compiled, labels)
    if answer is not None:
        return answer
    classes = alike(compiled, labels)
    program = make_program(compiled, classes, allowed)
    if labels is not None:
        # Minimise the number of nodes that leave their cluster.
        of_node = classes.of_unit[compiled.unit]
        np.add.at(program.cost, (of_node, labels), -1.0 / classes.sizes[of_node])
        program.minimise = True
        return solve_program(program, compiled, node_limit)
    if near is None:
        preferred = cohesive_hint(compiled, classes.named)
    else:
        preferred = np.full(compiled.n_units, -1, dtype=np.int64)
        preferred[compiled.unit] = near
    units = np.flatnonzero(classes.named & (preferred >= 0))
    program.cost[classes.of_unit[units], preferred[units]] = -1.0
    answer = _first_try(program, compiled)
    if answer is None:
        # No solution near the hint: solve without it, with the symmetry of the clusters broken.
        program.number_clusters(compiled)
        answer = solve_program(program, compiled, node_limit)
    return answer


def is_refuted(compiled: CompiledRules) -> bool:
    """Return whether rules are infeasible by propagation or by the linear relaxation of the program.

    This takes milliseconds; False proves nothing.
    """
    compiled, allowed, answer = _prepared(compiled)
    if answer is not None:
        return answer.status == "impossible"
    program = make_program(compiled, alike(compiled), allowed)
    program.number_clusters(compiled)
    return bool(_milp(program).status == 2)


def _prepared(
    compiled: CompiledRules, start: NDArray[np.int64] | None = None
) -> tuple[CompiledRules, NDArray[np.bool_] | None, Answer | None]:
    """Return the propagated rules and the allowed clusters of their units, or an answer if no program is needed."""
    if compiled.contradiction or (compiled.least_size > compiled.most_size).any():
        return compiled, None, Answer("impossible")
    entries = n_entries(compiled, alike(compiled, start))
    if entries > MAX_ENTRIES:
        reason = f"the program has about {entries:,} entries, and the solver is asked up to {MAX_ENTRIES:,}"
        return compiled, None, Answer("not found", reason=reason)
    reduced, allowed = propagated(compiled)
    return reduced, allowed, Answer("impossible") if reduced.contradiction else None


def _first_try(program: Program, compiled: CompiledRules) -> Answer | None:
    """Solve near the hint, without branching; None if that is inconclusive."""
    if compiled.needed.any():
        # The symmetry of the clusters is left unbroken, so that more solutions are near the hint.
        answer = solve_program(program, compiled, node_limit=1)
        return None if answer.status == "not found" else answer
    # Without rules on friends the hint is often feasible, and only counts of interchangeable nodes are left to find.
    answer = solve_program(replace(program, high=program.only_preferred()), compiled, node_limit=1)
    return None if answer.labels is None else answer


def checked_labels(name: str, given: ArrayLike, compiled: CompiledRules) -> NDArray[np.int64]:
    """Return labels given by the caller as int64; raise a ParameterError if they are not valid."""
    labels = np.asarray(given)
    fits = labels.shape == (compiled.n_nodes,) and labels.dtype.kind in "iu"
    if not fits or labels.min() < 0 or labels.max() >= compiled.n_clusters:
        raise ParameterError(
            f"{name} must be one whole number in 0 to {compiled.n_clusters - 1} per node, {compiled.n_nodes} in all."
        )
    return labels.astype(np.int64)


def solve_program(program: Program, compiled: CompiledRules, node_limit: int) -> Answer:
    """Solve a program; return labels and, if there is an objective, whether they are proven to be optimal."""
    result = _milp(
        program,
        integrality=np.ones(program.cost.size),
        # Without an objective the first solution is enough.
        options={"mip_rel_gap": 0.0 if program.minimise else 1e9, "node_limit": node_limit},
    )
    if result.status == 2:
        return Answer("impossible")
    if result.x is None:
        stopped = f"the solver says {result.message!r}"
        if "limit" in result.message:
            stopped = f"the limit of {count(node_limit, 'node')} of the solver's tree is reached"
        return Answer("not found", reason=stopped)
    labels = _labels(program, compiled, result.x)
    if labels is None:
        return Answer("not found", reason="the numbers of the solver are not whole")
    return Answer("found", labels, fewest=program.minimise and result.status == 0)


def _milp(program: Program, **options: Any) -> Any:
    bounds = optimize.Bounds(program.low.ravel(), program.high.ravel())
    with no_stray_output():
        return optimize.milp(program.cost.ravel(), bounds=bounds, constraints=program.rows, **options)


def _labels(program: Program, compiled: CompiledRules, solution: NDArray) -> NDArray[np.intp] | None:
    """Assign the units of every class to clusters by a solution; None if its numbers do not add up."""
    k, classes = compiled.n_clusters, program.classes
    numbers = np.rint(solution[: classes.sizes.size * k]).astype(np.int64).reshape(-1, k)
    if (numbers.sum(axis=1) != classes.sizes).any() or numbers.min() < 0:
        return None
    order = np.argsort(classes.of_unit, kind="stable")
    labels = np.empty(compiled.n_units, dtype=np.intp)
    labels[order] = np.repeat(np.tile(np.arange(k), classes.sizes.size), numbers.ravel())
    return labels[compiled.unit]


def propagated(compiled: CompiledRules) -> tuple[CompiledRules, NDArray[np.bool_]]:
    """Return rules with the same solutions on fewer units, and the clusters allowed for each unit.

    If a node needs all its possible friends, it is together with them. A friend is impossible if it must be apart, is
    fixed elsewhere, or makes the unit too large for every cluster. These steps are repeated until none applies. The
    solver finds most of these consequences only by branching.

    If the rules turn out to contradict each other, ``contradiction`` is set.
    """
    rules = compiled
    while not rules.contradiction:
        allowed = _allowed(rules)
        joins = _forced(rules, allowed)
        if joins:
            rules = join_units(rules, joins)
        elif rules.n_units < rules.n_clusters or not allowed.any(axis=1).all():
            break
        else:
            return rules, allowed
    shape = (compiled.n_units, compiled.n_clusters)
    return replace(compiled, contradiction=True), np.zeros(shape, dtype=bool)


def _allowed(rules: CompiledRules) -> NDArray[np.bool_]:
    """Return the allowed clusters of each unit by its size, its counts and the fixed units it must be apart from."""
    clusters = np.arange(rules.n_clusters)
    allowed = (rules.fixed[:, None] < 0) | (rules.fixed[:, None] == clusters)
    allowed &= rules.unit_size[:, None] <= rules.most_size
    members = rules.counts.tocoo()
    for cluster in clusters:
        beyond = members.row[members.data > rules.most_count[cluster, members.col]]
        allowed[beyond, cluster] = False
    for unit in np.flatnonzero(rules.fixed >= 0).tolist():
        allowed[entries_of(rules.apart, unit)[0], rules.fixed[unit]] = False
    return allowed


def _forced(rules: CompiledRules, allowed: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return pairs of units that must share a cluster; remove impossible clusters from ``allowed`` in place."""
    joins: list[tuple[int, int]] = []
    if not rules.needed.any():
        return joins
    units, lacking, matrix = rules.unit_friends
    rows = [
        (int(units[row]), lacking[row], *entries_of(matrix, row))
        for row in np.flatnonzero(lacking > 0).tolist()
    ]
    again = True
    while again and not joins:
        again = False
        for own, missing, friends, numbers in rows:
            common = allowed[friends] & allowed[own]
            room = rules.unit_size[friends, None] + rules.unit_size[own] <= rules.most_size
            common &= room & ~np.isin(friends, entries_of(rules.apart, own)[0])[:, None]
            enough = numbers @ common >= missing
            if not enough[allowed[own]].all():
                again = True
                allowed[own] &= enough
                common &= enough
            possible = numbers * common.any(axis=1)
            forced = (possible > 0) & (possible.sum() - possible < missing)
            joins += [(own, friend) for friend in friends[forced].tolist()]
    return joins


_lock = threading.Lock()


@contextmanager
def no_stray_output() -> Iterator[None]:
    """Discard the standard output of the process while the block runs, in one thread at a time.

    HiGHS 1.12 prints a line when it repairs a solution, whatever its options (ERGO-Code/HiGHS, issue 2783). It goes
    directly to the standard output of the process, where it could damage a JSON document.
    """
    with _lock, ExitStack() as stack:
        with suppress(OSError):  # a process without standard output has nothing to protect
            real = os.dup(1)
            stack.callback(os.close, real)
            nowhere = stack.enter_context(open(os.devnull, "wb"))
            _flush()
            os.dup2(nowhere.fileno(), 1)
            stack.callback(os.dup2, real, 1)
            stack.callback(_flush)
        yield


def _flush() -> None:
    """Flush the buffers of Python and C, so that their content goes to the current output."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stdout.flush()
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)
