"""Divisions into classes: wishes kept against the best known, people without a friend, evenness, and CPU time.

Run ``python -m benchmarks classes``. Sheets are those of `make_school_roster` and of ten made-up families (see
``_class_sheets.py``; 60 to 180 people, 3 to 12 classes). The best known division of a sheet keeps most wishes among
those that leave as few people without a friend and are as even: of all runs, of ``--long`` runs with ``--effort`` times
the length, and of HiGHS with a limit of ``--solver`` seconds, which is told what each class may have of each
group. The least unevenness is what HiGHS proves for classes without any rule: wishes for a friend or people who are
apart can make more of it unavoidable.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np
from scipy import optimize, sparse

import equigraph as eg
from benchmarks._class_sheets import FAMILIES, Sheet, made_up, school_sheet
from equigraph.apps.classes.measure import Measure, measure_of

# Unevenness that differs by less is the same.
SAME = 1e-6
# Seconds for the proof of how even classes can be.
LIMIT = 30.0


class Found(NamedTuple):
    """A division, counted."""

    labels: np.ndarray
    alone: int  # people with a wish and without a friend
    uneven: float
    wishes: float
    proven: bool
    seconds: float

    @property
    def rank(self) -> tuple[float, ...]:
        """What makes a division better, smaller first."""
        return self.alone, round(self.uneven / SAME), -self.wishes


def counted(
    sheet: Sheet, measure: Measure, labels: np.ndarray, proven: bool = False, seconds: float = 0.0
) -> Found:
    """Count a division anew, from the sheet alone."""
    wishes = sheet.roster.wish_matrix().toarray()
    kept = wishes * (labels[:, None] == labels)
    alone = int(((wishes.sum(axis=1) > 0) & (kept.sum(axis=1) == 0)).sum())
    return Found(labels, alone, measure.parts(labels)[1], float(kept.sum()), proven, seconds)


def divided(sheet: Sheet, measure: Measure, seed: int, effort: float = 1.0) -> Found:
    """Divide the people of a sheet, and check that no rule is broken."""
    start = time.process_time()
    division = eg.divide(sheet.roster, sheet.n_classes, effort=effort, random_state=seed)
    seconds = time.process_time() - start
    assert not division.broken
    return counted(sheet, measure, division.labels, division.proven, seconds)


def solved(sheet: Sheet, measure: Measure, like: Found, limit: float) -> np.ndarray | None:
    """Return what HiGHS finds that is as even as a division and leaves nobody else without a friend; None for nothing.

    With x[i, c] = 1 where a person is in a class and y[w, c] = 1 where both of a wish are, the weight of all y is to be
    large.
    """
    roster, k = sheet.roster, sheet.n_classes
    n, wishes = len(roster.people), roster.wish_matrix().tocoo()
    number = {name: i for i, name in enumerate(roster.people)}
    each, in_class = sparse.eye_array(k), sparse.csr_array(np.ones((1, k)))
    rows: list[tuple[sparse.sparray, float | np.ndarray, float | np.ndarray]] = []

    def pick(people: list[int]) -> sparse.csr_array:
        """Return a row for each of some people that has a one for them."""
        return sparse.csr_array((np.ones(len(people)), (range(len(people)), people)), shape=(len(people), n))

    def add(block: sparse.sparray, low: float | np.ndarray, high: float | np.ndarray) -> None:
        rows.append((sparse.hstack([block, sparse.csr_array((block.shape[0], wishes.nnz * k))]), low, high))

    add(sparse.kron(sparse.eye_array(n), in_class), 1, 1)
    add(sparse.kron(np.ones((1, n)), each), n // k, -(-n // k))
    for pairs, sign, high in ((roster.apart, 1, 1), (roster.together, -1, 0)):
        for one, other in pairs:
            both = pick([number[one]]) + sign * pick([number[other]])
            add(sparse.kron(both, each), -np.inf if sign == 1 else 0, high)
    counts = np.array([measure.groups[like.labels == c].sum(axis=0) for c in range(k)])
    for group, column in enumerate(measure.groups.T):
        exact = column.sum() / k
        low, high = counts[:, group].min(), counts[:, group].max()
        add(sparse.kron(column[None], each), min(np.floor(exact), low), max(np.ceil(exact), high))
    own, theirs = (sparse.kron(pick(side.tolist()), each) for side in (wishes.row, wishes.col))
    together = sparse.eye_array(wishes.nnz * k)
    rows += [(sparse.hstack([-side, together]), -np.inf, 0) for side in (own, theirs)]
    asked = np.unique(wishes.row)
    has_one = sparse.csr_array((np.ones(wishes.nnz), (np.searchsorted(asked, wishes.row), range(wishes.nnz))))
    has_one = sparse.kron(has_one, in_class)
    friends = sparse.hstack([sparse.csr_array((asked.size, n * k)), has_one])
    kept = np.bincount(wishes.row[like.labels[wishes.row] == like.labels[wishes.col]], minlength=n)[asked]
    rows.append((friends, (kept > 0).astype(float), np.inf))
    result = optimize.milp(
        np.concatenate([np.zeros(n * k), -np.repeat(wishes.data, k)]),
        integrality=np.concatenate([np.ones(n * k), np.zeros(wishes.nnz * k)]),
        bounds=optimize.Bounds(0, 1),
        constraints=[optimize.LinearConstraint(*row) for row in rows],
        options={"time_limit": limit},
    )
    return None if result.x is None else result.x[: n * k].reshape(n, k).argmax(axis=1)


def least_uneven(sheet: Sheet, measure: Measure, limit: float) -> float:
    """Return a bound on unevenness that HiGHS proves: no classes of equal size are more even, whatever rules allow.

    With x[t, c] people of a kind (the same groups) in a class, the count of every group is a whole number below its
    exact share and steps up from there, each of which costs more than the one before.
    """
    kinds, number = np.unique(measure.groups, axis=0, return_counts=True)
    n, k, n_steps = number.sum(), sheet.n_classes, 6
    sizes = np.array([n // k + (c < n % k) for c in range(k)])
    exact = np.outer(sizes, number @ kinds / n)
    low = np.maximum(np.floor(exact) - n_steps // 2, 0)
    counts = low[..., None] + np.arange(n_steps + 1)
    costs = measure.weights[:, None] * np.maximum(np.abs(counts - exact[..., None]) - 0.5, 0) ** 2
    n_counts, n_placed = exact.size, len(kinds) * k
    stepped = sparse.csr_array((len(kinds) + k, n_counts * n_steps))
    steps = sparse.kron(sparse.eye_array(n_counts), np.ones((1, n_steps)))
    rows = [
        (sparse.kron(sparse.eye_array(len(kinds)), np.ones((1, k))), number),
        (sparse.kron(np.ones((1, len(kinds))), sparse.eye_array(k)), sizes),
    ]
    constraints = [
        optimize.LinearConstraint(sparse.hstack([block, stepped[: block.shape[0]]]), right, right)
        for block, right in rows
    ]
    held = sparse.kron(kinds.T, sparse.eye_array(k)).tocsr()
    held = held[np.arange(n_counts).reshape(-1, k).T.ravel()]
    constraints.append(optimize.LinearConstraint(sparse.hstack([held, -steps]), low.ravel(), low.ravel()))
    result = optimize.milp(
        np.concatenate([np.zeros(n_placed), np.diff(costs, axis=2).ravel()]),
        integrality=np.concatenate([np.ones(n_placed), np.zeros(n_counts * n_steps)]),
        bounds=optimize.Bounds(0, np.concatenate([np.full(n_placed, np.inf), np.ones(n_counts * n_steps)])),
        constraints=constraints,
        options={"time_limit": limit},
    )
    bound = -np.inf if result.mip_dual_bound is None else result.mip_dual_bound
    return max(0.0, float(costs[..., 0].sum() + bound))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--families", nargs="+", default=["school", *sorted(FAMILIES)])
    parser.add_argument("--instances", type=int, nargs="+", default=[100], help="seeds of made-up sheets")
    parser.add_argument("--seeds", type=int, default=10, help="runs on each sheet")
    parser.add_argument("--long", type=int, default=1, help="long runs on each sheet")
    parser.add_argument("--effort", type=float, default=50.0, help="length of a long run")
    parser.add_argument("--solver", type=float, default=60.0, help="seconds for HiGHS; 0 for none")
    options = parser.parse_args()
    sheets = [
        school_sheet() if family == "school" else made_up(family, instance)
        for family in options.families
        for instance in (options.instances if family != "school" else [0])
    ]
    print(
        "sheet       people classes  kept   sd  worst  best  behind  alone proven  uneven   best  least  CPU s"
    )
    behind = []
    for sheet in sheets:
        measure = measure_of(
            sheet.roster,
            dict.fromkeys(eg.divide(sheet.roster, sheet.n_classes, effort=0.01).attributes, 1.0),
            sheet.n_classes,
        )
        runs = [divided(sheet, measure, seed) for seed in range(options.seeds)]
        known = [divided(sheet, measure, 1000 + seed, options.effort) for seed in range(options.long)]
        best = min([*runs, *known], key=lambda one: one.rank)
        if options.solver and (labels := solved(sheet, measure, best, options.solver)) is not None:
            best = min(best, counted(sheet, measure, labels), key=lambda one: one.rank)
        kept, mean_of = np.array([run.wishes for run in runs]), np.mean
        least = least_uneven(sheet, measure, LIMIT)
        behind.append(1 - kept.mean() / best.wishes)
        print(
            f"{sheet.family:<11} {len(sheet.roster.people):6} {sheet.n_classes:7} {kept.mean():5.1f} {kept.std():4.1f} "
            f"{kept.min():6.0f} {best.wishes:5.0f} {behind[-1]:7.1%} {max(run.alone for run in runs):6} "
            f"{mean_of([run.proven for run in runs]):6.0%} {mean_of([run.uneven for run in runs]):7.2f} "
            f"{best.uneven:6.2f} {least:6.2f} {mean_of([run.seconds for run in runs]):6.2f}",
            flush=True,
        )
    print(f"behind the best known: {np.mean(behind):.2%} on average, {np.max(behind):.2%} at most")


if __name__ == "__main__":
    main()
