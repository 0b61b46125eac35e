"""The table of results: nine networks, seven methods, k = 5, measured against printed values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from equigraph.analysis.tradeoff import selection
from equigraph.apps.reproduction import scoring
from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.experiment import Done, Experiment, Output, number, render
from equigraph.apps.reproduction.scoring import Entry, Sweep, column

TOLERANCE = 0.05
UNEXPLAINED = "unexplained"


def differences(entries: Iterable[Entry]) -> list[list[str]]:
    """Return a row for each measured value that differs from the printed one by more than .05, with an explanation."""
    rows = []
    for entry in entries:
        for measure, value in entry.printed.items():
            if abs(entry.means[measure] - value) > TOLERANCE:
                pair = map(number, (entry.means[measure], value))
                rows.append([*entry.titles, measure, *pair, explain(entry, measure)])
    return rows


def explain(entry: Entry, measure: str) -> str:
    """Return the known explanation of a difference, or that there is none."""
    family = "sbm" if entry.network in scoring.SBM else entry.network
    known = [scoring.PAPER["why"].get(network, {}).get(entry.method, {}) for network in (family, "*")]
    found = (one[name] for one in known for name in (measure, "*") if name in one)
    why = next(found, UNEXPLAINED)
    point = nearest(entry)
    if point is None or why == UNEXPLAINED:
        return why
    values = ", ".join(f"{name} {point[name]:.3f}" for name in entry.printed)
    return f"{why} (weight {entry.chosen:g} here; nearest to the print is {point['weight']:g}, with {values})"


def nearest(entry: Entry) -> dict[str, Any] | None:
    """Return the point of a sweep with the least maximum deviation from the two printed values."""
    if not entry.sweep or not entry.printed:
        return None
    misses = [abs(column(entry.sweep, name) - value) for name, value in entry.printed.items()]
    return entry.sweep[int(np.argmin(np.max(misses, axis=0)))]


# Thresholds on a network: the highest Q and the highest B of any rival.
Bar = Mapping[str, float]


def bar_of(rivals: Sequence[Entry], *, with_printed: bool = False) -> Bar:
    """Return the highest Q and B of the rivals as measured, or also as printed."""
    sources = [entry.means for entry in rivals]
    if with_printed:
        sources += [entry.printed for entry in rivals]
    return {name: max(source[name] for source in sources) for name in ("Q", "B")}


def _at_dial(value: float, sweep: Sweep) -> int:
    return int(np.argmin(np.abs(column(sweep, "weight") - value)))


def _by(rule: Callable[..., int], sweep: Sweep) -> int:
    return rule(column(sweep, "Q"), column(sweep, "B"))


# Rules that choose a point of a curve without looking at rivals; a weight means the nearest one available.
RULES: dict[str, Callable[[Sweep], int]] = {
    **{
        f"dial {value:g}".replace("0.", "."): partial(_at_dial, value)
        for value in (0.05, 0.1, scoring.DIAL, 0.2, 0.3, 0.5)
    },
    "product": partial(_by, selection.product),
    "intersection": partial(_by, selection.intersection),
    "knee": partial(_by, selection.knee),
    "at most 3 % of Q given up": partial(_by, partial(selection.within_loss, loss=0.03)),
}


def leads(rule: Callable[[Sweep], int], curves: Iterable[tuple[Sweep, Bar]]) -> dict[str, int]:
    """Count the networks on which the point chosen by a rule passes the thresholds on Q, on B and on both."""
    points = [(sweep[rule(sweep)], bar) for sweep, bar in curves]
    passed = [[point[name] > bar[name] for name in ("Q", "B")] for point, bar in points]
    return {"Q": sum(q for q, _ in passed), "B": sum(b for _, b in passed), "both": sum(map(all, passed))}


def dominating(sweep: Sweep, bar: Bar) -> dict[str, Any] | None:
    """Return the point with the largest product of Q and B among those that reach both thresholds, if any."""
    reached = [point for point in sweep if all(point[name] >= bar[name] for name in ("Q", "B"))]
    return max(reached, key=lambda point: point["Q"] * point["B"], default=None)


def cells(settings: Settings) -> list[Cell]:
    """Return one cell per network and method; a quick run has the smallest block model only."""
    networks = [*scoring.REAL, *list(scoring.SBM)[: 1 if settings.quick else None]]
    return [
        scoring.score_cell(settings, network, method) for network in networks for method in scoring.COMPARED
    ]


def output(done: Done) -> Output:
    """Return the table with all measures, and a page with its analysis."""
    entries = [scoring.entry_of(*one) for one in done]
    n_runs = sorted({entry.n_runs for entry in entries}, reverse=True)
    fewer = f" ({n_runs[-1]} of DMoN and FairPartition on block models)" if len(n_runs) > 1 else ""
    page = render(
        "table1",
        n_runs=f"{n_runs[0]}{fewer}",
        methods=[scoring.TITLES[method] for method in scoring.COMPARED],
        entries=entries,
        nearest=nearest,
        leading=_leading(entries),
        dial=f"{scoring.DIAL:g}",
        tolerance=number(TOLERANCE),
        n_printed=sum(len(entry.printed) for entry in entries),
        differences=differences(entries),
    )
    return Output(page, {"table1": [_csv_row(entry) for entry in entries]})


def _csv_row(entry: Entry) -> dict[str, Any]:
    network, method = entry.titles
    row: dict[str, Any] = {"network": network, "method": method, "runs": entry.n_runs, "weight": entry.chosen}
    for name in scoring.MEASURES:
        row |= {name: entry.means.get(name), f"{name}_std": entry.spreads.get(name)}
        if name in ("Q", "B", "accuracy"):
            row[f"{name}_printed"] = entry.printed.get(name)
    return row


def _leading(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return on which networks FairPartition leads, by its weight and other rules, and where one point has both."""
    # Its curve on each network with the thresholds of the rivals: measured, and measured or printed.
    curves: tuple[list[tuple[Sweep, Bar]], ...] = ([], [])
    rows = []
    for own in entries:
        if own.method != scoring.LEADING or own.network not in scoring.REAL:
            continue
        rivals = [one for one in entries if one.network == own.network and one.method in scoring.RIVALS]
        bars = bar_of(rivals), bar_of(rivals, with_printed=True)
        for curve, bar in zip(curves, bars, strict=True):
            curve.append((own.sweep, bar))
        point = dominating(own.sweep, bars[1])
        found = ["none", "-"] if point is None else [own.pair(point), f"{point['weight']:g}"]
        rows.append([own.titles[0], *map(own.pair, (*bars, own.means)), *found])
    at_dial = partial(_at_dial, scoring.DIAL)
    return {
        "rows": rows,
        "measured": leads(at_dial, curves[0]),
        "printed": leads(at_dial, curves[1]),
        "n_both": sum(dominating(sweep, bar) is not None for sweep, bar in curves[1]),
        "rules": [
            [name, *(value for one in curves for value in leads(rule, one).values())]
            for name, rule in RULES.items()
        ],
    }


EXPERIMENT = Experiment("Nine networks, seven methods, five clusters", cells, output)
