"""Q and B of iFairNMTF over its weight, beside methods without one, on DrugNet and LastFM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from equigraph.apps.reproduction import scoring
from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.scoring import Entry, column
from equigraph.apps.reproduction.tables import FAILED, STYLES, number, save, write_page, write_rows
from equigraph.plotting.style import MUTED, PALETTE, TEXT, look

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
    """Return the flat lines' cells, which are the table's, and ten weights to each further cell."""
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
    """Draw one chart per network (png), and write what it shows (csv, md)."""
    pages = []
    paths = []
    for network in SHOWN:
        own = [cell.key for cell in _sweep_cells(settings, network)]
        sweep = [point for key in own if key in results for point in results[key]["sweep"]]
        missing = [key for key in own if key not in results]
        flat = scoring.entries_of(_flat_cells(settings, network), results)
        pages.append(_page(network, sweep, missing, flat))
        if sweep:
            rows = []
            for point in sweep:
                row = {name: value for name, value in point.items() if name != "spreads"}
                rows.append(row | {f"{name}_std": point["spreads"][name] for name in ("Q", "B")})
            paths.append(draw(network, sweep, flat, folder / f"fig-lambda-{network}.png"))
            paths.append(write_rows(folder / f"fig-lambda-{network}.csv", rows))
    return [*paths, write_page(folder / "fig-lambda.md", networks=pages)]


def _page(network: str, sweep: list[dict[str, Any]], missing: list[str], flat: list[Entry]) -> dict[str, Any]:
    rows = [
        [entry.title, FAILED, "-", "-"] if entry.failed else [entry.title, *_cells(entry.means)]
        for entry in flat
    ]
    if sweep:
        points = {
            "where Q and B cross": sweep[scoring.crossing(sweep)],
            "highest Q": max(sweep, key=lambda point: point["Q"]),
            "highest B": max(sweep, key=lambda point: point["B"]),
        }
        rows[:0] = [
            [f"{scoring.TITLES['ifair-nmtf']}, weight {point['weight']:g} ({words})", *_cells(point)]
            for words, point in points.items()
        ]
    return {"title": scoring.NETWORKS[network], "missing": missing, "rows": rows}


_COLORS = {"Q": PALETTE[0], "B": PALETTE[5]}  # of the two axes
_DASHES = {"Q": "-", "B": (0, (5, 2))}
_LABEL_GAP = 0.052  # of the height of a panel, between names of flat lines


def _cells(scores: Mapping[str, Any]) -> list[str]:
    return [number(scores["Q"]), number(scores["B"]), f"{scores['n_nonempty']:.1f}"]


def draw(network: str, sweep: Sequence[dict[str, Any]], flat: Sequence[Entry], path: Path) -> Path:
    """Draw the chart of one network and save it."""
    from matplotlib.figure import Figure

    weights, chosen = column(sweep, "weight"), sweep[scoring.crossing(sweep)]
    with look():
        figure = Figure(figsize=(10.5, 9), layout="constrained")
        grid = figure.add_gridspec(3, 2, height_ratios=(5, 1, 5))
        twin, strip = figure.add_subplot(grid[0, :]), figure.add_subplot(grid[1, :])
        panels = [figure.add_subplot(grid[2, i]) for i in (0, 1)]
        for ax in (twin, strip, *panels):
            _weight_axis(ax, weights)
            ax.axvline(chosen["weight"], color=TEXT, linewidth=1, linestyle=(0, (1, 2)), zorder=0)
        _twin(twin, sweep)
        twin.set_title(
            f"iFairNMTF on {scoring.NETWORKS[network]}, {scoring.K} clusters: "
            f"Q and B cross at weight {chosen['weight']:g} (Q {chosen['Q']:.3f}, B {chosen['B']:.3f})"
        )
        strip.step(weights, column(sweep, "n_nonempty"), where="mid", color=MUTED)
        strip.set_ylim(0.5, scoring.K + 0.5)
        strip.set_yticks([1, scoring.K])
        strip.set_ylabel("clusters\nwith a node")
        twin.tick_params(axis="x", labelbottom=False)
        for ax, measure in zip(panels, ("Q", "B"), strict=True):
            _panel(ax, sweep, flat, measure)
        for ax in (strip, *panels):
            ax.set_xlabel("weight λ of iFairNMTF")
        return save(figure, path)


def _weight_axis(ax: Any, weights: NDArray[np.float64]) -> None:
    first, last = float(weights[weights > 0].min()), float(weights.max())
    # From 0 to the first value the axis is linear, and short.
    ax.set_xscale("symlog", linthresh=first, linscale=0.4)
    ax.set_xlim(0, last * 1.1)
    powers = 10.0 ** np.arange(np.ceil(np.log10(first)), np.floor(np.log10(last)) + 1)
    ax.set_xticks([0, *powers], [f"{power:,g}" for power in (0, *powers)])
    ax.minorticks_off()


def _twin(ax: Any, sweep: Sequence[dict[str, Any]]) -> None:
    """Draw both measures from their lowest to their highest value, so that they cross where the rule looks."""
    right = ax.twinx()
    right.spines["right"].set_visible(True)
    for side, measure in ((ax, "Q"), (right, "B")):
        values = column(sweep, measure)
        margin = 0.06 * (values.max() - values.min())
        side.plot(
            column(sweep, "weight"), values, color=_COLORS[measure], linestyle=_DASHES[measure], linewidth=2
        )
        side.set_ylim(values.min() - margin, values.max() + margin)
        side.set_ylabel(
            f"{scoring.NAMES[measure]} ({'solid' if measure == 'Q' else 'dashed'})", color=_COLORS[measure]
        )
        side.tick_params(axis="y", colors=_COLORS[measure])


def _panel(ax: Any, sweep: Sequence[dict[str, Any]], flat: Sequence[Entry], measure: str) -> None:
    """Draw one measure with its spread, and a flat line per method without a weight, named at the right."""
    weights, values = column(sweep, "weight"), column(sweep, measure)
    spread = np.array([point["spreads"][measure] for point in sweep])
    own = {"color": STYLES["ifair-nmtf"]["color"]}
    # B is never below 0.
    below = values - spread if measure == "Q" else np.maximum(values - spread, 0)
    ax.fill_between(weights, below, values + spread, alpha=0.15, linewidth=0, **own)
    ax.plot(weights, values, linestyle=_DASHES[measure], linewidth=2.4, zorder=3, **own)
    done = [entry for entry in flat if not entry.failed]
    for entry in done:
        ax.axhline(
            entry.means[measure],
            color=STYLES[entry.method]["color"],
            linestyle=_DASHES[measure],
            linewidth=1.2,
        )
    ax.set_title(f"{scoring.NAMES[measure]}: iFairNMTF (mean ± sd) and others")
    ax.margins(y=0.06)
    low, high = ax.get_ylim()
    order = sorted(done, key=lambda entry: entry.means[measure])
    places = spread_out([(entry.means[measure] - low) / (high - low) for entry in order], _LABEL_GAP)
    for entry, place in zip(order, places, strict=True):
        ax.annotate(
            entry.title,
            xy=(1, entry.means[measure]),
            xycoords=ax.get_yaxis_transform(),
            xytext=(1.06, place),
            textcoords="axes fraction",
            va="center",
            fontsize=8.5,
            color=TEXT,
            arrowprops={
                "arrowstyle": "-",
                "color": STYLES[entry.method]["color"],
                "linewidth": 1.4,
                "relpos": (0, 0.5),
                "shrinkA": 1,
                "shrinkB": 0,
            },
        )


def spread_out(places: Sequence[float], gap: float) -> list[float]:
    """Return ascending places in [0, 1], moved apart by at least a gap and by as little as that needs."""
    steps = gap * np.arange(len(places))
    return (isotonic_regression(places - steps).x + steps).tolist() if len(places) else []
