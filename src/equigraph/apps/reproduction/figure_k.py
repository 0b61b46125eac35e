"""Q and B over the number of clusters, on DrugNet and LastFM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.method_entries import Entry, entry_of
from equigraph.apps.reproduction.networks import TITLES as NETWORK_TITLES
from equigraph.apps.reproduction.networks import load_network
from equigraph.apps.reproduction.scoring import COMPARED, CROSSED, MEASURES, TITLES, score_cell
from equigraph.apps.reproduction.tables import FAILED, STYLES, number, save, write_page, write_rows

NETWORKS = ("drugnet", "lastfm")
_NAMES = {"Q": "modularity Q", "B": "balance B"}


def numbers_of(settings: Settings) -> tuple[int, ...]:
    """Return the numbers of clusters."""
    return (2, 5, 8) if settings.quick else tuple(range(2, 11))


def cells(settings: Settings) -> list[Cell]:
    """Return one cell per network, method and number of clusters; those with five are the table's."""
    return [
        score_cell(settings, network, method, k)
        for network in NETWORKS
        for method in COMPARED
        for k in numbers_of(settings)
    ]


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the four charts (png), and write what they show (csv, md)."""
    entries = {
        (network, method, k): entry_of(
            network, method, results.get(score_cell(settings, network, method, k).key)
        )
        for network in NETWORKS
        for method in COMPARED
        for k in numbers_of(settings)
    }
    balances = {network: load_network(network).balance for network in NETWORKS}
    rows = [
        {
            "network": entry.network_title,
            "method": entry.title,
            "n_clusters": k,
            "weight": entry.chosen,
            "runs": entry.n_runs,
            **{name: entry.means.get(name) for name in MEASURES[:-1]},
            **{f"{name}_std": entry.spreads.get(name) for name in ("Q", "B")},
        }
        for (_, _, k), entry in entries.items()
    ]
    return [
        _draw(settings, entries, balances, folder / "fig-k.png"),
        write_page(folder / "fig-k.md", **_page(settings, entries, balances)),
        write_rows(folder / "fig-k.csv", rows),
    ]


def _draw(
    settings: Settings, entries: dict[tuple[str, str, int], Entry], balances: dict[str, float], path: Path
) -> Path:
    from matplotlib.figure import Figure

    from equigraph.plotting.style import MUTED, look

    with look():
        figure = Figure(figsize=(10, 7.2), layout="constrained")
        axes = figure.subplots(len(NETWORKS), 2, sharex=True)
        for row, network in zip(axes, NETWORKS, strict=True):
            for ax, measure in zip(row, ("Q", "B"), strict=True):
                for method in COMPARED:
                    own = [(k, entries[network, method, k]) for k in numbers_of(settings)]
                    done = [(k, entry.means[measure]) for k, entry in own if not entry.failed]
                    ax.plot(
                        *zip(*done, strict=True) if done else ((), ()), label=TITLES[method], **STYLES[method]
                    )
                ax.set_title(f"{NETWORK_TITLES[network]}: {_NAMES[measure]}")
                ax.set_xticks(numbers_of(settings))
                ax.set_ylim(bottom=min(0, ax.get_ylim()[0]))
                ax.grid(color="#E6E6E6", linewidth=0.7)
                ax.set_axisbelow(True)
            row[1].axhline(
                balances[network], color=MUTED, linestyle=(0, (5, 3)), label="balance of the data set"
            )
        for ax in axes[-1]:
            ax.set_xlabel("number of clusters k")
        figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return save(figure, path)


def _page(
    settings: Settings, entries: dict[tuple[str, str, int], Entry], balances: dict[str, float]
) -> dict[str, Any]:
    numbers = numbers_of(settings)
    parts = []
    for network in NETWORKS:
        own = {method: [entries[network, method, k] for k in numbers] for method in COMPARED}
        rows = [[TITLES[method], *map(_pair, own[method])] for method in COMPARED]
        rows += [
            [f"weight of {TITLES[method]}", *(entry.weight for entry in own[method])] for method in CROSSED
        ]
        parts.append({"title": NETWORK_TITLES[network], "balance": number(balances[network]), "rows": rows})
    return {"head": ["method", *(f"k = {k}" for k in numbers)], "networks": parts}


def _pair(entry: Entry) -> str:
    return FAILED if entry.failed else f"{number(entry.means['Q'])} / {number(entry.means['B'])}"
