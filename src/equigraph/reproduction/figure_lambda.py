"""Q and B of iFairNMTF over its weight, beside methods without one, on DrugNet and LastFM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from equigraph.reproduction.cells import Cell, Settings
from equigraph.reproduction.figure_lambda_chart import draw
from equigraph.reproduction.method_entries import Entry, entry_of
from equigraph.reproduction.networks import TITLES as NETWORK_TITLES
from equigraph.reproduction.plans import K, score_cell
from equigraph.reproduction.scoring import TITLES, crossing
from equigraph.reproduction.tables import FAILED, markdown_table, number, write_rows, write_text

NETWORKS = ("drugnet", "lastfm")
FLAT = (
    "fair-sc",
    "scalable-fair-sc",
    "individual-fair-sc",
    "dmon",
    "fair-nmtf",
    "fair-partition",
    "sc",
    "nmtf",
)
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
    flat = [score_cell(settings, network, method) for network in NETWORKS for method in FLAT]
    return [*flat, *(cell for network in NETWORKS for cell in _sweep_cells(settings, network))]


def _sweep_cells(settings: Settings, network: str) -> list[Cell]:
    weights = weights_of(settings, network)
    return [
        Cell(
            key=f"weights.{network}.{start:02d}",
            function="equigraph.reproduction.scoring:sweep_weights",
            arguments={
                "network": network,
                "n_clusters": K,
                "weights": weights[start : start + _WEIGHTS_PER_CELL],
                "first_seed": settings.seed,
                "n_runs": 2 if settings.quick else 10,
            },
        )
        for start in range(0, len(weights), _WEIGHTS_PER_CELL)
    ]


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw one chart per network (png), and write what it shows (csv, md)."""
    pages = [
        "Mean over the runs. The chosen weight is where Q and B, each scaled to [0, 1] over the sweep, first cross. B "
        "averages over the clusters that have a node, so it rises when clusters vanish: the strip below the "
        "chart counts them, which the paper's chart does not."
    ]
    paths = []
    for network in NETWORKS:
        own = [cell.key for cell in _sweep_cells(settings, network)]
        sweep = [point for key in own if key in results for point in results[key]["sweep"]]
        missing = [key for key in own if key not in results]
        flat = [
            entry_of(network, method, results.get(score_cell(settings, network, method).key))
            for method in FLAT
        ]
        pages.append(_page(network, sweep, missing, flat))
        if sweep:
            rows = [{name: value for name, value in point.items() if name != "spreads"} for point in sweep]
            spreads = [{f"{name}_std": point["spreads"][name] for name in ("Q", "B")} for point in sweep]
            together = [row | spread for row, spread in zip(rows, spreads, strict=True)]
            paths.append(draw(network, sweep, flat, folder / f"fig-lambda-{network}.png"))
            paths.append(write_rows(folder / f"fig-lambda-{network}.csv", together))
    return [*paths, write_text(folder / "fig-lambda.md", "\n\n".join(pages))]


def _page(network: str, sweep: list[dict[str, Any]], missing: list[str], flat: list[Entry]) -> str:
    parts = [f"## {NETWORK_TITLES[network]}"]
    if missing:
        parts.append(f"Parts of the sweep {FAILED}: {', '.join(missing)}.")
    rows = [
        [entry.title, FAILED, "-", "-"]
        if entry.failed
        else [
            entry.title,
            number(entry.means["Q"]),
            number(entry.means["B"]),
            f"{entry.means['n_nonempty']:.1f}",
        ]
        for entry in flat
    ]
    if sweep:
        points = {
            "where Q and B cross": sweep[crossing(sweep)],
            "highest Q": max(sweep, key=lambda point: point["Q"]),
            "highest B": max(sweep, key=lambda point: point["B"]),
        }
        rows[:0] = [
            [
                f"{TITLES['ifair-nmtf']}, weight {point['weight']:g} ({words})",
                number(point["Q"]),
                number(point["B"]),
                f"{point['n_nonempty']:.1f}",
            ]
            for words, point in points.items()
        ]
    parts.append(markdown_table(["method", "Q", "B", "clusters with a node"], rows))
    return "\n\n".join(parts)
