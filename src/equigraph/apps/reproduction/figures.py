"""Q and B over the number of clusters, and over the weight of iFairNMTF, on DrugNet and LastFM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from equigraph.analysis.tradeoff.selection import min_max
from equigraph.apps.reproduction import scoring
from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.experiment import Done, Experiment, Output, panels, render
from equigraph.apps.reproduction.scoring import NAMES, Entry, Sweep, column
from equigraph.plotting.style import MUTED, PALETTE, TEXT

SHOWN = ("drugnet", "lastfm")
STYLES: dict[str, dict[str, Any]] = {
    method: {**style, "markersize": 6, "color": dict(enumerate(PALETTE)).get(style["color"], style["color"])}
    for method, style in scoring.PAPER["styles"].items()
}
Lines = dict[tuple[str, str], dict[int, Entry]]  # by network and method: entries by number of clusters


def _k_cells(settings: Settings) -> list[Cell]:
    """Return one cell per network, method and number of clusters; those with k = 5 are shared with the table."""
    numbers = (2, 5, 8) if settings.quick else range(2, 11)
    return [
        scoring.score_cell(settings, network, method, k)
        for network in SHOWN
        for method in scoring.COMPARED
        for k in numbers
    ]


def _over_k(done: Done) -> Output:
    lines: Lines = {}
    rows = []
    for cell, result in done:
        entry, k = scoring.entry_of(cell, result), cell.arguments["n_clusters"]
        lines.setdefault((entry.network, entry.method), {})[k] = entry
        rows.append(
            {
                **dict(zip(("network", "method"), entry.titles, strict=True)),
                "n_clusters": k,
                "weight": entry.chosen,
                "runs": entry.n_runs,
                **{name: entry.means.get(name) for name in scoring.MEASURES[:-1]},
                **{f"{name}_std": entry.spreads.get(name) for name in NAMES},
            }
        )
    balances = {}
    for network in SHOWN:
        sizes = np.unique(scoring.load_network(network).group_numbers, return_counts=True)[1]
        balances[network] = float(sizes.min() / sizes.max())
    page = render(
        "fig-k",
        lines=lines,
        balances=balances,
        heads=["method", *(f"k = {k}" for k in next(iter(lines.values())))],
        titles={**scoring.NETWORKS, **scoring.TITLES},
        methods=scoring.COMPARED,
        crossed=scoring.CROSSED,
    )
    return Output(page, {"fig-k": rows}, {"fig-k": _draw_k(lines, balances)})


def _draw_k(lines: Lines, balances: dict[str, float]) -> Any:
    with panels(len(SHOWN), 2, (10, 7.2), sharex=True) as (figure, axes):
        for row, network in zip(axes, SHOWN, strict=True):
            for ax, measure in zip(row, NAMES, strict=True):
                for method in scoring.COMPARED:
                    shown = {k: one.means[measure] for k, one in lines[network, method].items()}
                    ax.plot(list(shown), list(shown.values()), label=scoring.TITLES[method], **STYLES[method])
                ax.set_title(f"{scoring.NETWORKS[network]}: {NAMES[measure]}")
                ax.set_xticks(list(shown))
                ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
            row[1].axhline(
                balances[network], color=MUTED, linestyle=(0, (5, 3)), label="balance of the data set"
            )
        for ax in axes[-1]:
            ax.set_xlabel("number of clusters k")
        figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


FLAT = (*(method for method in scoring.COMPARED if method != "ifair-nmtf"), "sc", "nmtf")
_WEIGHTS_PER_CELL = 10


def weights_of(settings: Settings, network: str) -> list[float]:
    """Return the weights: 50 in [0, 100] with median 3 on DrugNet, 100 in [0, 5000] on LastFM.

    >>> weights = weights_of(Settings(), "drugnet")
    >>> len(weights), weights[0], weights[-1], float(np.median(weights))
    (50, 0.0, 100.0, 3.0)
    >>> weights = weights_of(Settings(), "lastfm")
    >>> len(weights), weights[0], weights[-1]
    (100, 0.0, 5000.0)
    """
    if network == "drugnet":
        below, above = (6, 6) if settings.quick else (24, 25)
        values = [*np.geomspace(0.05, 2.8, below), *np.geomspace(3.2, 100, above)]
    else:
        values = [*np.geomspace(1, 5000, 11 if settings.quick else 99)]
    return [0.0, *(float(f"{value:.3g}") for value in values)]


def lambda_cells(settings: Settings) -> list[Cell]:
    """Return the cells of the flat lines, shared with the table, and cells of ten weights each."""
    cells = []
    for network in SHOWN:
        weights = weights_of(settings, network)
        cells += [scoring.score_cell(settings, network, method) for method in FLAT]
        cells += [
            Cell(
                key=f"weights.{network}.{start:02d}",
                function="equigraph.apps.reproduction.scoring:sweep_weights",
                arguments={
                    "network": network,
                    "n_clusters": scoring.K,
                    "weights": weights[start : start + _WEIGHTS_PER_CELL],
                    "first_seed": settings.seed,
                    "n_runs": 2 if settings.quick else 10,
                },
                seconds={"drugnet": 7.0, "lastfm": 16.0}[network],
            )
            for start in range(0, len(weights), _WEIGHTS_PER_CELL)
        ]
    return cells


def _over_weight(done: Done) -> Output:
    parts, tables, figures = [], {}, {}
    for network in SHOWN:
        own = [(cell, result) for cell, result in done if cell.arguments["network"] == network]
        sweep = [point for cell, result in own if "method" not in cell.arguments for point in result["sweep"]]
        flat = [scoring.entry_of(cell, result) for cell, result in own if "method" in cell.arguments]
        points = {
            "where Q and B cross": sweep[scoring.crossing(sweep)],
            "highest Q": max(sweep, key=lambda point: point["Q"]),
            "highest B": max(sweep, key=lambda point: point["B"]),
        }
        parts.append({"title": scoring.NETWORKS[network], "points": points, "flat": flat})
        tables[f"fig-lambda-{network}"] = [
            {name: value for name, value in point.items() if name != "spreads"}
            | {f"{name}_std": point["spreads"][name] for name in NAMES}
            for point in sweep
        ]
        figures[f"fig-lambda-{network}"] = _draw_lambda(network, sweep, flat)
    return Output(render("fig-lambda", networks=parts), tables, figures)


def _draw_lambda(network: str, sweep: Sweep, flat: Sequence[Entry]) -> Any:
    """Draw Q and B scaled as in the rule, and below each with its spread and a flat line per other method."""
    weights, chosen = column(sweep, "weight"), sweep[scoring.crossing(sweep)]
    with panels(3, 1, (9, 11), sharex=True) as (figure, axes):
        scaled, *rest = axes[:, 0]
        n_used = column(sweep, "n_nonempty") / scoring.K
        scaled.step(weights, n_used, where="mid", color=MUTED, label="clusters with a node")
        for measure, color, dashes in (("Q", PALETTE[0], "-"), ("B", PALETTE[5], (0, (5, 2)))):
            style: dict[str, Any] = {"color": color, "linestyle": dashes, "linewidth": 2}
            scaled.plot(weights, min_max(column(sweep, measure)), label=NAMES[measure], **style)
        scaled.legend(loc="best")
        scaled.set_ylabel("from lowest to highest; clusters of all")
        scaled.set_title(
            f"iFairNMTF on {scoring.NETWORKS[network]}, {scoring.K} clusters: "
            f"Q and B cross at weight {chosen['weight']:g} (Q {chosen['Q']:.3f}, B {chosen['B']:.3f})"
        )
        for ax, measure in zip(rest, NAMES, strict=True):
            values = column(sweep, measure)
            spread = np.array([point["spreads"][measure] for point in sweep])
            own = {"color": STYLES["ifair-nmtf"]["color"]}
            # B is nonnegative.
            below = values - spread if measure == "Q" else np.maximum(values - spread, 0)
            ax.fill_between(weights, below, values + spread, alpha=0.15, linewidth=0, **own)
            ax.plot(weights, values, linewidth=2.4, zorder=3, label="iFairNMTF (mean ± sd)", **own)
            for entry in flat:
                style = {**STYLES[entry.method], "markevery": [0, -1]}
                level = np.full(weights.size, entry.means[measure])
                ax.plot(weights, level, label=entry.titles[1], **style)
            ax.set_ylabel(NAMES[measure])
        first = float(weights[weights > 0].min())
        for ax in axes.flat:
            ax.axvline(chosen["weight"], color=TEXT, linewidth=1, linestyle=(0, (1, 2)), zorder=0)
            # From 0 to the first value the axis is linear, and short.
            ax.set_xscale("symlog", linthresh=first, linscale=0.4)
            ax.xaxis.set_major_formatter("{x:g}")
            ax.set_xlim(0, weights.max() * 1.1)
        rest[-1].set_xlabel("weight λ of iFairNMTF")
        figure.legend(*rest[-1].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


OVER_K = Experiment("Over the number of clusters", _k_cells, _over_k)
OVER_WEIGHT = Experiment("Over the weight of iFairNMTF", lambda_cells, _over_weight)
