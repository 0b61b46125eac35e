"""Q and B over the number of clusters, on DrugNet and LastFM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from equigraph.apps.reproduction import scoring
from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.scoring import Entry
from equigraph.apps.reproduction.tables import STYLES, number, panels, write_files
from equigraph.plotting.style import MUTED

TITLE = "Over the number of clusters"
SHOWN = ("drugnet", "lastfm")
Lines = dict[tuple[str, str], dict[int, Entry]]  # by network and method: entries by number of clusters


def cells(settings: Settings) -> list[Cell]:
    """Return one cell per network, method and number of clusters; those with k = 5 are shared with the table."""
    numbers = (2, 5, 8) if settings.quick else range(2, 11)
    return [
        scoring.score_cell(settings, network, method, k)
        for network in SHOWN
        for method in scoring.COMPARED
        for k in numbers
    ]


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the four charts (png), and write their data (csv, md)."""
    own = cells(settings)
    lines: Lines = {}
    rows = []
    for cell, entry in zip(own, scoring.entries_of(own, results), strict=True):
        k = cell.arguments["n_clusters"]
        lines.setdefault((entry.network, entry.method), {})[k] = entry
        rows.append(
            {
                **dict(zip(("network", "method"), entry.titles, strict=True)),
                "n_clusters": k,
                "weight": entry.chosen,
                "runs": entry.n_runs,
                **{name: entry.means.get(name) for name in scoring.MEASURES[:-1]},
                **{f"{name}_std": entry.spreads.get(name) for name in ("Q", "B")},
            }
        )
    balances = {}
    for network in SHOWN:
        sizes = np.unique(scoring.load_network(network).group_numbers, return_counts=True)[1]
        balances[network] = float(sizes.min() / sizes.max())
    head = ["method", *(f"k = {k}" for k in next(iter(lines.values())))]
    parts = [_part(network, lines, balances[network]) for network in SHOWN]
    return write_files(folder, "fig-k", {"head": head, "networks": parts}, rows, _draw(lines, balances))


def _draw(lines: Lines, balances: dict[str, float]) -> Any:
    with panels(len(SHOWN), 2, (10, 7.2), sharex=True) as (figure, axes):
        for row, network in zip(axes, SHOWN, strict=True):
            for ax, measure in zip(row, ("Q", "B"), strict=True):
                for method in scoring.COMPARED:
                    shown = {k: one.means[measure] for k, one in lines[network, method].items()}
                    ax.plot(list(shown), list(shown.values()), label=scoring.TITLES[method], **STYLES[method])
                ax.set_title(f"{scoring.NETWORKS[network]}: {scoring.NAMES[measure]}")
                ax.set_xticks(list(lines[network, method]))
                ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
            row[1].axhline(
                balances[network], color=MUTED, linestyle=(0, (5, 3)), label="balance of the data set"
            )
        for ax in axes[-1]:
            ax.set_xlabel("number of clusters k")
        figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _part(network: str, lines: Lines, balance: float) -> dict[str, Any]:
    """Return the data of a network for the page."""
    rows = []
    for method in scoring.COMPARED:
        pairs = [one.pair(one.means) for one in lines[network, method].values()]
        rows.append([scoring.TITLES[method], *pairs])
    for method in scoring.CROSSED:
        weights = [one.weight for one in lines[network, method].values()]
        rows.append([f"weight of {scoring.TITLES[method]}", *weights])
    return {"title": scoring.NETWORKS[network], "balance": number(balance), "rows": rows}
