"""The table of results: nine networks, seven methods, k = 5, measured and printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from equigraph.reproduction import networks
from equigraph.reproduction.cells import Cell, Settings
from equigraph.reproduction.differences import TOLERANCE, differences
from equigraph.reproduction.method_entries import DIAL, Entry, entry_of
from equigraph.reproduction.networks_led import at_dial, bar_of, dominating, leads, rules
from equigraph.reproduction.plans import score_cell
from equigraph.reproduction.scoring import COMPARED, LEADING, MEASURES, RIVALS, TITLES
from equigraph.reproduction.tables import FAILED, markdown_table, number, with_spread, write_rows, write_text


def networks_of(settings: Settings) -> list[str]:
    """Return the names of the networks; a quick run has the smallest block model only."""
    return [*networks.REAL, *list(networks.SBM)[: 1 if settings.quick else None]]


def cells(settings: Settings) -> list[Cell]:
    """Return one cell per network and method."""
    return [score_cell(settings, network, method) for network in networks_of(settings) for method in COMPARED]


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Write the table with all measures (csv), and a page with everything that follows from it (md)."""
    entries = [
        entry_of(network, method, results.get(score_cell(settings, network, method).key))
        for network in networks_of(settings)
        for method in COMPARED
    ]
    sections = [
        "Means over the runs; the printed value in brackets, where the paper has one. Each cell is Q / B, on block "
        f"models accuracy / B. Runs: {_run_counts(entries)}; on block models every run has a graph of its own.",
        _side_by_side(entries),
        "## All measures",
        "Mean ± standard deviation over the runs. k is the mean number of clusters that have a node, weight the value "
        "of the dial.",
        _all_measures(entries),
        "## FairPartition against the rivals",
        _leading(entries),
        f"## Cells that differ from the print by more than {number(TOLERANCE)}",
        _differences(entries),
    ]
    return [
        write_text(folder / "table1.md", "\n\n".join(sections)),
        write_rows(folder / "table1.csv", [_csv_row(entry) for entry in entries]),
    ]


def _run_counts(entries: Sequence[Entry]) -> str:
    counts = sorted({entry.n_runs for entry in entries if not entry.failed}, reverse=True)
    if not counts:
        return "none"
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} ({counts[-1]} of DMoN on block models)"


def _side_by_side(entries: Sequence[Entry]) -> str:
    head = ["network", *(TITLES[method] for method in COMPARED)]
    rows = []
    for network in dict.fromkeys(entry.network for entry in entries):
        own = [entry for entry in entries if entry.network == network]
        rows.append([networks.TITLES[network], *map(_pair, own)])
    return markdown_table(head, rows)


def _pair(entry: Entry) -> str:
    names = (entry.quality, "B")
    if entry.failed:
        return FAILED
    measured = " / ".join(number(entry.means[name]) for name in names)
    if not entry.printed:
        return measured
    return f"{measured} ({' / '.join(number(entry.printed[name]) for name in names)})"


def _all_measures(entries: Sequence[Entry]) -> str:
    head = ["network", "method", "Q", "accuracy", "B", "NB", "rho", "k", "weight"]
    return markdown_table(head, [[entry.network_title, entry.title, *_measures(entry)] for entry in entries])


def _measures(entry: Entry) -> list[str]:
    if entry.failed:
        return [FAILED, *["-"] * 6]
    scores = [
        with_spread(entry.means.get(name), entry.spreads.get(name))
        for name in ("Q", "accuracy", "B", "NB", "rho")
    ]
    weight = "-" if entry.chosen is None else f"{entry.chosen:g}"
    return [*scores, f"{entry.means['n_nonempty']:.1f}", weight]


def _csv_row(entry: Entry) -> dict[str, Any]:
    row: dict[str, Any] = {"network": entry.network_title, "method": entry.title, "runs": entry.n_runs}
    row["weight"] = entry.chosen
    for name in MEASURES:
        row[name] = entry.means.get(name)
        row[f"{name}_std"] = entry.spreads.get(name)
        if name in ("Q", "B", "accuracy"):
            row[f"{name}_printed"] = entry.printed.get(name)
    return row


def _leading(entries: Sequence[Entry]) -> str:
    """Say where FairPartition leads, at its value of the dial and by other rules, and where one point has both."""
    real = [entry for entry in entries if entry.network in networks.REAL]
    curves, rows = [], []
    for own in (entry for entry in real if entry.method == LEADING and not entry.failed):
        rivals = [entry for entry in real if entry.network == own.network and entry.method in RIVALS]
        measured, both = bar_of(rivals), bar_of(rivals, with_printed=True)
        curves.append((own.sweep, measured, both))
        point = dominating(own.sweep, both)
        shown = "none" if point is None else f"{number(point['Q'])} / {number(point['B'])}"
        rows.append(
            [
                own.network_title,
                f"{number(measured.Q)} / {number(measured.B)}",
                f"{number(both.Q)} / {number(both.B)}",
                f"{number(own.means['Q'])} / {number(own.means['B'])}",
                shown,
                "-" if point is None else f"{point['weight']:g}",
            ]
        )
    if not rows:
        return "No result of FairPartition."
    head = [
        "network",
        "rivals measured",
        "or printed",
        f"FairPartition at {DIAL:g}",
        "point with both",
        "its dial",
    ]
    return "\n\n".join(
        [
            f"On {len(rows)} real networks, each Q / B. The rivals' columns are the highest Q and the highest B of any "
            "rival, mostly not of the same one; the second also counts what the paper prints. A point with both "
            "reaches that Q and that B at once (of several: the largest product).",
            markdown_table(head, rows),
            _headline(curves),
            "How often FairPartition leads all rivals in Q, in B, and in both at once, by the rule that chooses the "
            f"point of its curve. The tables take the dial {DIAL:g}, which we settled on after seeing these networks; "
            "the other rows show how much hangs on it.",
            _rule_table(curves),
        ]
    )


def _headline(curves: Sequence[tuple[Any, ...]]) -> str:
    measured, both = (
        leads(at_dial(DIAL), [(curve[0], curve[place]) for curve in curves]) for place in (1, 2)
    )
    n_both = sum(dominating(sweep, bar) is not None for sweep, _, bar in curves)
    return (
        f"**At the dial {DIAL:g} FairPartition leads all measured rivals in Q on {measured.Q}, in B on {measured.B} "
        f"and in both on {measured.both} of {len(curves)} networks; with what the paper prints counted too, on "
        f"{both.Q}, {both.B} and {both.both}. A point with both exists on {n_both} of {len(curves)}.**"
    )


def _rule_table(curves: Sequence[tuple[Any, ...]]) -> str:
    rows = []
    for name, rule in rules().items():
        against = [leads(rule, [(curve[0], curve[i]) for curve in curves]) for i in (1, 2)]
        rows.append([name, *(str(value) for one in against for value in (one.Q, one.B, one.both))])
    head = ["rule", "Q", "B", "both", "Q (print too)", "B (print too)", "both (print too)"]
    return markdown_table(head, rows)


def _differences(entries: Sequence[Entry]) -> str:
    found = differences(entries)
    n_printed = sum(len(entry.printed) for entry in entries if not entry.failed)
    summary = f"{len(found)} of {n_printed} printed values."
    if not found:
        return summary
    rows = [
        [
            one.entry.network_title,
            one.entry.title,
            one.measure,
            number(one.measured),
            number(one.printed),
            one.explanation,
        ]
        for one in found
    ]
    head = ["network", "method", "measure", "measured", "printed", "why"]
    return f"{summary}\n\n{markdown_table(head, rows)}"
