"""Tables of a run, and what they come to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.unseen.fits import DEFAULT
from benchmarks.unseen.measure import Duel, Outcome, Point
from equigraph.apps.cli.console import line, table

# Less than this is no difference.
MARGIN = 0.0005


def totals(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return what the points come to; parts that were not measured are None.

    Examples
    --------
    >>> points = [Point(1, "a", 2, 2, f, 0.5, 0.5 + f / 100, 1.0, 2.0, best=0.51) for f in (0.0, 0.2)]
    >>> found = totals([Outcome(1, "a", points)])
    >>> found["behind_louvain"], round(found["worst_behind_louvain"], 3), round(found["mean_behind_best"], 3)
    (1, 0.002, 0.01)
    """
    points = [point for outcome in outcomes for point in outcome.points]
    duels = [outcome.duel for outcome in outcomes if outcome.duel is not None]
    gaps = [point.behind_best for point in points if point.behind_best is not None]
    return {
        "points": len(points),
        "behind_louvain": sum(point.ahead < -MARGIN for point in points),
        "worst_behind_louvain": max((-point.ahead for point in points), default=None),
        "mean_behind_best": float(np.mean(gaps)) if gaps else None,
        "worst_behind_best": max(gaps, default=None),
        "seconds": sum(point.seconds for point in points),
        "louvain_seconds": sum(point.louvain_seconds for point in points),
        "vieclus_graphs": len(duels),
        "vieclus_reached": sum(duel.ahead >= -MARGIN for duel in duels),
        "worst_behind_vieclus": max((-duel.ahead for duel in duels), default=None),
        "failed": sum(outcome.error is not None for outcome in outcomes),
    }


def digits(value: float | None) -> str:
    """Return a score or a difference with five digits."""
    return "-" if value is None else f"{value:.5f}"


def point_cells(point: Point) -> list[Any]:
    """Return the row of a point; an exclamation mark where it is behind FairLouvain."""
    known = [] if point.best is None else [digits(point.best), digits(point.behind_best), point.best_by]
    return [
        point.case,
        point.k,
        point.n_groups,
        f"{point.fairness:g}",
        digits(point.ours),
        digits(point.louvain),
        f"{point.ahead:+.5f}" + ("!" if point.ahead < -MARGIN else " "),
        *known,
        f"{point.seconds:.2f}",
        f"{point.louvain_seconds:.2f}",
    ]


def print_points(points: Sequence[Point]) -> None:
    """Print one row for every point; the best known labels have columns where they were looked for."""
    known = ["best known", "behind", "found by"] if any(point.best is not None for point in points) else []
    heads = [
        "case",
        "k",
        "groups",
        "f",
        DEFAULT,
        "FairLouvain",
        "ahead ",
        *known,
        "CPU s",
        "Louvain s",
    ]
    table(heads, map(point_cells, points), left=("case", "found by"))


def print_duels(duels: Sequence[Duel]) -> None:
    """Print one row for every graph that VieClus clustered."""
    cells = [
        [
            duel.case,
            duel.k,
            digits(duel.ours),
            digits(duel.vieclus),
            f"{duel.ahead:+.5f}" + ("!" if duel.ahead < -MARGIN else " "),
            f"{duel.seconds:.2f}",
        ]
        for duel in duels
    ]
    line("\nModularity at dial 0 with VieClus's number of clusters")
    table(("case", "k", DEFAULT, "VieClus", "ahead ", "CPU s"), cells, left=("case",))


def print_totals(title: str, outcomes: Sequence[Outcome]) -> None:
    """Print what the points come to, in sentences."""
    found = totals(outcomes)
    if found["points"]:
        line(
            f"{title}: behind FairLouvain by more than {MARGIN} at {found['behind_louvain']} of {found['points']} "
            f"points, at worst by {max(found['worst_behind_louvain'], 0.0):.5f}"
        )
        ratio = found["seconds"] / max(found["louvain_seconds"], 1e-9)
        line(
            f"{title}: CPU {found['seconds']:.1f} s, FairLouvain {found['louvain_seconds']:.1f} s, ratio {ratio:.2f}"
        )
    if found["mean_behind_best"] is not None:
        line(
            f"{title}: behind the best known by {found['mean_behind_best']:.5f} on average, at worst by "
            f"{found['worst_behind_best']:.5f}"
        )
    if found["vieclus_graphs"]:
        line(
            f"{title}: within {MARGIN} of VieClus on {found['vieclus_reached']} of {found['vieclus_graphs']} graphs, "
            f"at worst behind by {max(found['worst_behind_vieclus'], 0.0):.5f}"
        )
    for outcome in outcomes:
        if outcome.error is not None:
            line(f"{title}: {outcome.case} failed: {outcome.error}")


def print_run(outcomes: Sequence[Outcome]) -> None:
    """Print one table for every seed, and the totals."""
    seeds = sorted({outcome.seed for outcome in outcomes})
    for seed in seeds:
        mine = [outcome for outcome in outcomes if outcome.seed == seed]
        line(f"\nSeed {seed}")
        print_points([point for outcome in mine for point in outcome.points])
        duels = [outcome.duel for outcome in mine if outcome.duel is not None]
        if duels:
            print_duels(duels)
        line()
        print_totals(f"Seed {seed}", mine)
    if len(seeds) > 1:
        line()
        print_totals("All", outcomes)
