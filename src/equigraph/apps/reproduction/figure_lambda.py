"""Q and B of iFairNMTF by weight, with methods without a weight, on DrugNet and LastFM."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equigraph.analysis.tradeoff.selection import min_max
from equigraph.apps.reproduction import scoring
from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.scoring import Entry, Sweep, column
from equigraph.apps.reproduction.tables import STYLES, number, panels, write_files
from equigraph.plotting.style import MUTED, PALETTE, TEXT

TITLE = "Over the weight of iFairNMTF"
SHOWN = ("drugnet", "lastfm")
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


def cells(settings: Settings) -> list[Cell]:
    """Return the cells of the flat lines, shared with the table, and cells of ten weights each."""
    return [
        cell
        for network in SHOWN
        for cell in (*_flat_cells(settings, network), *_sweep_cells(settings, network))
    ]


def _flat_cells(settings: Settings, network: str) -> list[Cell]:
    return [scoring.score_cell(settings, network, method) for method in FLAT]


def _sweep_cells(settings: Settings, network: str) -> list[Cell]:
    weights = weights_of(settings, network)
    return [
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


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw one chart per network (png), and write its data (csv, md)."""
    parts = []
    files = []
    for network in SHOWN:
        sweep = [point for cell in _sweep_cells(settings, network) for point in results[cell.key]["sweep"]]
        flat = scoring.entries_of(_flat_cells(settings, network), results)
        parts.append({"title": scoring.NETWORKS[network], "rows": _rows(sweep, flat)})
        rows = []
        for point in sweep:
            row = {name: value for name, value in point.items() if name != "spreads"}
            rows.append(row | {f"{name}_std": point["spreads"][name] for name in ("Q", "B")})
        files += write_files(folder, f"fig-lambda-{network}", None, rows, _draw(network, sweep, flat))
    return [*files, *write_files(folder, "fig-lambda", {"networks": parts}, (), None)]


def _rows(sweep: Sweep, flat: Sequence[Entry]) -> list[list[str]]:
    """Return the table of a network: points of the sweep, then the methods without a weight."""
    points = {
        "where Q and B cross": sweep[scoring.crossing(sweep)],
        "highest Q": max(sweep, key=lambda point: point["Q"]),
        "highest B": max(sweep, key=lambda point: point["B"]),
    }
    named = [(f"iFairNMTF, weight {point['weight']:g} ({words})", point) for words, point in points.items()]
    named += [(entry.titles[1], dict(entry.means)) for entry in flat]
    return [
        [name, number(scores["Q"]), number(scores["B"]), f"{scores['n_nonempty']:.1f}"]
        for name, scores in named
    ]


def _draw(network: str, sweep: Sweep, flat: Sequence[Entry]) -> Any:
    """Draw Q and B scaled as in the rule, and below each with its spread and a flat line per other method."""
    weights, chosen = column(sweep, "weight"), sweep[scoring.crossing(sweep)]
    with panels(3, 1, (9, 11), sharex=True) as (figure, axes):
        scaled, *rest = axes[:, 0]
        scaled.step(
            weights,
            column(sweep, "n_nonempty") / scoring.K,
            where="mid",
            color=MUTED,
            label="clusters with a node",
        )
        for measure, color, dashes in (("Q", PALETTE[0], "-"), ("B", PALETTE[5], (0, (5, 2)))):
            values = min_max(column(sweep, measure))
            scaled.plot(
                weights, values, color=color, linestyle=dashes, linewidth=2, label=scoring.NAMES[measure]
            )
        scaled.legend(loc="best")
        scaled.set_ylabel("from lowest to highest; clusters of all")
        scaled.set_title(
            f"iFairNMTF on {scoring.NETWORKS[network]}, {scoring.K} clusters: "
            f"Q and B cross at weight {chosen['weight']:g} (Q {chosen['Q']:.3f}, B {chosen['B']:.3f})"
        )
        for ax, measure in zip(rest, ("Q", "B"), strict=True):
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
            ax.set_ylabel(scoring.NAMES[measure])
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
