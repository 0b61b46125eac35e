"""Whether rules can be kept at all, asked of a solver."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import optimize

from equigraph._utils.text import count
from equigraph.exceptions import ParameterError
from equigraph.rules.compile import CompiledRules
from equigraph.rules.model import Program, alike, make_program, n_entries, only_preferred
from equigraph.rules.propagate import propagated
from equigraph.rules.quiet import no_stray_output

# Beyond this many entries of the program the solver is not asked.
MAX_ENTRIES = 2_000_000
# Nodes of the tree that the solver searches for one question.
NODE_LIMIT = 100


@dataclass(frozen=True, eq=False)
class Answer:
    """What the solver says."""

    # "impossible" is proven; "not found" says nothing about whether there are such labels.
    status: Literal["found", "impossible", "not found"]
    labels: NDArray[np.intp] | None = None
    fewest: bool = False  # no others that keep the rules move fewer nodes from the start: that is proven
    reason: str = ""  # why nothing was found


def feasible_labels(
    compiled: CompiledRules,
    node_limit: int = NODE_LIMIT,
    start: ArrayLike | None = None,
    hint: ArrayLike | None = None,
) -> Answer:
    """Find labels that keep rules, or prove that there are none.

    Of a start as many labels as possible are kept. Without one the solver looks first near a hint, cohesive labels that
    are made here if they are not given; the closer they are to keeping the rules, the sooner it is done. It ends after
    so many nodes of its tree, never by the clock: the same question has the same answer everywhere.
    """
    if compiled.contradiction or (compiled.least_size > compiled.most_size).any():
        return Answer("impossible")
    labels = None if start is None else checked_labels("start", start, compiled)
    near = None if hint is None else checked_labels("hint", hint, compiled)
    entries = n_entries(compiled, alike(compiled, labels))
    if entries > MAX_ENTRIES:
        return Answer(
            "not found",
            reason=f"the program has about {entries:,} entries, and the solver is asked up to {MAX_ENTRIES:,}",
        )
    compiled, allowed = propagated(compiled)
    if compiled.contradiction:
        return Answer("impossible")
    program = make_program(compiled, alike(compiled, labels), labels, near, allowed)
    if start is None:
        answer = _first_try(program, compiled)
        if answer is not None:
            return answer
        # Nothing near the hint: labels from anywhere, or a proof, for which no two numberings are looked at.
        program = replace(program.numbered(compiled), cost=np.zeros(program.cost.size))
    return solve_program(program, compiled, node_limit)


def is_refuted(compiled: CompiledRules) -> bool:
    """Return whether rules are impossible by what follows from them one by one, or even in fractions of nodes.

    A proof that takes milliseconds; False says nothing.
    """
    if compiled.contradiction or (compiled.least_size > compiled.most_size).any():
        return True
    if n_entries(compiled, alike(compiled)) > MAX_ENTRIES:
        return False
    compiled, allowed = propagated(compiled)
    if compiled.contradiction:
        return True
    hint = np.zeros(compiled.n_nodes, dtype=np.int64)
    program = make_program(compiled, alike(compiled), hint=hint, allowed=allowed).numbered(compiled)
    with no_stray_output():
        result = optimize.milp(
            np.zeros(program.cost.size),
            bounds=optimize.Bounds(program.low, program.high),
            constraints=program.rows,
        )
    return bool(result.status == 2)


def _first_try(program: Program, compiled: CompiledRules) -> Answer | None:
    """Look for labels near the hint, without branching; None if that answers nothing."""
    if compiled.needed.any():
        # Any numbering of the clusters will do: the more there are, the more labels are near.
        answer = solve_program(program, compiled, node_limit=1)
        return None if answer.status == "not found" else answer
    # Without links to keep the hint often does: only numbers of nodes that are alike are then left to find.
    answer = solve_program(only_preferred(program, compiled.n_clusters), compiled, node_limit=1)
    return None if answer.labels is None else answer


def checked_labels(name: str, given: ArrayLike, compiled: CompiledRules) -> NDArray[np.int64]:
    """Return given labels as whole numbers, if they are such."""
    labels = np.asarray(given)
    fits = labels.shape == (compiled.n_nodes,) and labels.dtype.kind in "iu"
    if not fits or labels.min() < 0 or labels.max() >= compiled.n_clusters:
        raise ParameterError(
            f"{name} must be one whole number in 0 to {compiled.n_clusters - 1} per node, {compiled.n_nodes} in all."
        )
    return labels.astype(np.int64)


def solve_program(program: Program, compiled: CompiledRules, node_limit: int) -> Answer:
    """Solve a program; return labels and, where something is minimised, whether they are proven to be best."""
    with no_stray_output():
        result = optimize.milp(
            program.cost,
            integrality=np.ones(program.cost.size),
            bounds=optimize.Bounds(program.low, program.high),
            constraints=program.rows,
            # Where nothing is to be minimised, the first labels that are found will do.
            options={"mip_rel_gap": 0.0 if program.minimise else 1e9, "node_limit": node_limit},
        )
    if result.status == 2:
        return Answer("impossible")
    if result.x is None:
        stopped = f"the solver says {result.message!r}"
        if result.status == 1:
            stopped = f"the limit of {count(node_limit, 'node')} of the solver's tree is reached"
        return Answer("not found", reason=stopped)
    labels = _labels(program, compiled, result.x)
    if labels is None:
        return Answer("not found", reason="the numbers of the solver are not whole")
    return Answer("found", labels, fewest=program.minimise and result.status == 0)


def _labels(program: Program, compiled: CompiledRules, solution: NDArray) -> NDArray[np.intp] | None:
    """Deal the units of every class out to the clusters; None if the numbers do not add up."""
    k, classes = compiled.n_clusters, program.classes
    numbers = np.rint(solution[: classes.sizes.size * k]).astype(np.int64).reshape(-1, k)
    if (numbers.sum(axis=1) != classes.sizes).any() or numbers.min() < 0:
        return None
    order = np.argsort(classes.of_unit, kind="stable")
    labels = np.empty(compiled.n_units, dtype=np.intp)
    labels[order] = np.repeat(np.tile(np.arange(k), classes.sizes.size), numbers.ravel())
    return labels[compiled.unit]
