"""Q and B over the number of clusters, on DrugNet and LastFM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from equigraph.apps.reproduction import scoring
from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.scoring import Entry
from equigraph.apps.reproduction.tables import FAILED, STYLES, number, panels, save, write_page, write_rows

SHOWN = ("drugnet", "lastfm")
Lines = dict[
    tuple[str, str], list[Entry]
]  # the entries of a network and a method, one for each number of clusters


def numbers_of(settings: Settings) -> tuple[int, ...]:
    """Return the numbers of clusters."""
    return (2, 5, 8) if settings.quick else tuple(range(2, 11))


def cells(settings: Settings) -> list[Cell]:
    """Return one cell per network, method and number of clusters; those with five are the table's."""
    return [
        scoring.score_cell(settings, network, method, k)
        for network in SHOWN
        for method in scoring.COMPARED
        for k in numbers_of(settings)
    ]


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the four charts (png), and write what they show (csv, md)."""
    own = cells(settings)
    entries = scoring.entries_of(own, results)
    lines: Lines = {}
    for entry in entries:
        lines.setdefault((entry.network, entry.method), []).append(entry)
    balances = {network: scoring.load_network(network).balance for network in SHOWN}
    rows = [
        {
            "network": entry.network_title,
            "method": entry.title,
            "n_clusters": cell.arguments["n_clusters"],
            "weight": entry.chosen,
            "runs": entry.n_runs,
            **{name: entry.means.get(name) for name in scoring.MEASURES[:-1]},
            **{f"{name}_std": entry.spreads.get(name) for name in ("Q", "B")},
        }
        for cell, entry in zip(own, entries, strict=True)
    ]
    numbers = numbers_of(settings)
    head = ["method", *(f"k = {k}" for k in numbers)]
    parts = [_part(network, lines, balances[network]) for network in SHOWN]
    return [
        _draw(numbers, lines, balances, folder / "fig-k.png"),
        write_page(folder / "fig-k.md", head=head, networks=parts),
        write_rows(folder / "fig-k.csv", rows),
    ]


def _draw(numbers: tuple[int, ...], lines: Lines, balances: dict[str, float], path: Path) -> Path:
    from equigraph.plotting.style import MUTED

    with panels(len(SHOWN), 2, (10, 7.2), sharex=True) as (figure, axes):
        for row, network in zip(axes, SHOWN, strict=True):
            for ax, measure in zip(row, ("Q", "B"), strict=True):
                for method in scoring.COMPARED:
                    values = [entry.means.get(measure) for entry in lines[network, method]]
                    done = [(k, value) for k, value in zip(numbers, values, strict=True) if value is not None]
                    places = zip(*done, strict=True) if done else ((), ())
                    ax.plot(*places, label=scoring.TITLES[method], **STYLES[method])
                ax.set_title(f"{scoring.NETWORKS[network]}: {scoring.NAMES[measure]}")
                ax.set_xticks(numbers)
                ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
            row[1].axhline(
                balances[network], color=MUTED, linestyle=(0, (5, 3)), label="balance of the data set"
            )
        for ax in axes[-1]:
            ax.set_xlabel("number of clusters k")
        figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return save(figure, path)


def _part(network: str, lines: Lines, balance: float) -> dict[str, Any]:
    """Return what the page shows of a network."""
    rows = [
        [
            scoring.TITLES[method],
            *(FAILED if one.failed else one.pair(one.means) for one in lines[network, method]),
        ]
        for method in scoring.COMPARED
    ]
    rows += [
        [f"weight of {scoring.TITLES[method]}", *(one.weight for one in lines[network, method])]
        for method in scoring.CROSSED
    ]
    return {"title": scoring.NETWORKS[network], "balance": number(balance), "rows": rows}
