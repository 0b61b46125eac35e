"""The loss over the passes over the graph: multiplicative updates, as in the paper, and coordinate descent.

The two solvers minimise different fair objectives, so they are compared on the one that they share: the relative error
||A - HWH'||^2 / ||A||^2 of NMTF without a penalty, from the same starts (those of the paper's authors). The objective
of iFairNMTF, over ||A||^2, is drawn by itself. An iteration of either solver is one pass over the graph, and one more
is made at the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.networks import TITLES, load_network
from equigraph.apps.reproduction.tables import FAILED, save, write_page, write_rows

NETWORKS = ("diaries", "drugnet", "facebook")
N_CLUSTERS = 5
WEIGHT = 1.0
# Name of each curve, and its number of iterations: coordinate descent stands still long before the end.
CURVES = {"multiplicative": 500, "coordinate": 100, "ifair-nmtf": 500}
_LABELS = {
    "multiplicative": "NMTF, multiplicative updates",
    "coordinate": "NMTF, coordinate descent",
    "ifair-nmtf": f"iFairNMTF, multiplicative updates, λ = {WEIGHT:g}",
}
_LISTED = (10, 30, 100, 500)


def cells(settings: Settings) -> list[Cell]:
    """Return one cell per network."""
    n_starts = _n_starts(settings)
    seeds = list(range(settings.seed, settings.seed + n_starts))
    return [
        Cell(
            f"convergence-{network}-{settings.seed}-{n_starts}",
            f"{__name__}:trace_losses",
            {"network": network, "seeds": seeds},
        )
        for network in NETWORKS
    ]


def _n_starts(settings: Settings) -> int:
    return 3 if settings.quick else 10


def trace_losses(network: str, seeds: Sequence[int]) -> dict[str, Any]:
    """Run every solver from every start.

    A start is the same for all solvers. Returns by curve: for every start the loss after each iteration, over the
    squared norm of the graph.
    """
    from equigraph.factorization import NMTF, IFairNMTF

    graph = load_network(network).graph
    squared_norm = float(graph.adjacency.multiply(graph.adjacency).sum())
    settings: dict[str, Any] = {"n_clusters": N_CLUSTERS, "init": "svd", "tol": 0}
    curves: dict[str, list[list[float]]] = {name: [] for name in CURVES}
    for seed in seeds:
        own = {**settings, "random_state": seed}
        models = {
            "multiplicative": NMTF(**own, solver="mu", max_iter=CURVES["multiplicative"]),
            "coordinate": NMTF(**own, solver="cd", max_iter=CURVES["coordinate"]),
            "ifair-nmtf": IFairNMTF(**own, fairness=WEIGHT, max_iter=CURVES["ifair-nmtf"]),
        }
        for name, model in models.items():
            history = model.fit(graph).objective_history_
            # Coordinate descent works on the graph over its norm already.
            scale = 1.0 if name == "coordinate" else squared_norm
            curves[name].append((history / scale).tolist())
    return curves


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the curves with their bands (png), and write them (csv) and a few of their values (md)."""
    curves: dict[str, dict[str, NDArray[np.float64]]] = {}
    for cell in cells(settings):
        if cell.key in results:
            found = results[cell.key]
            curves[cell.arguments["network"]] = {name: _rectangle(found[name]) for name in CURVES}
    rows = [
        {
            "network": TITLES[network],
            "curve": _LABELS[name],
            "passes": step + 2,
            **dict(zip(("mean", "low", "high"), band, strict=True)),
        }
        for network, own in curves.items()
        for name, values in own.items()
        for step, band in enumerate(zip(*_band(values), strict=True))
    ]
    files = [write_page(folder / "fig-convergence.md", **_page(settings, curves))]
    if curves:
        files.append(write_rows(folder / "fig-convergence.csv", rows))
        files.append(_draw(curves, folder / "fig-convergence.png"))
    return files


def _rectangle(histories: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Return histories as rows of one length; a solver that ended early keeps its last value."""
    length = max(map(len, histories))
    return np.array(
        [[*history, *[history[-1]] * (length - len(history))] for history in histories], dtype=float
    )


def _band(values: NDArray[np.float64]) -> tuple[list[float], list[float], list[float]]:
    """Return mean, smallest and largest value after each iteration."""
    return values.mean(axis=0).tolist(), values.min(axis=0).tolist(), values.max(axis=0).tolist()


def _page(settings: Settings, curves: dict[str, dict[str, NDArray[np.float64]]]) -> dict[str, Any]:
    rows = []
    for network in NETWORKS:
        if network not in curves:
            rows.append([TITLES[network], FAILED, *["-"] * (len(_LISTED) + 1)])
            continue
        multiplicative = curves[network]["multiplicative"].mean(axis=0)
        for name, values in curves[network].items():
            mean = values.mean(axis=0)
            listed = [f"{mean[step - 1]:.4f}" if step <= mean.size else "-" for step in _LISTED]
            reached = np.flatnonzero(mean <= multiplicative[-1])
            needed = "-" if name == "ifair-nmtf" or not reached.size else str(reached[0] + 1)
            rows.append([TITLES[network], _LABELS[name], *listed, needed])
    head = ["network", "curve", *(f"after {step}" for step in _LISTED), "iterations to that mean"]
    return {"n_clusters": N_CLUSTERS, "n_starts": _n_starts(settings), "head": head, "rows": rows}


def _draw(curves: dict[str, dict[str, NDArray[np.float64]]], path: Path) -> Path:
    from matplotlib.figure import Figure
    from matplotlib.ticker import ScalarFormatter

    from equigraph.plotting.style import PALETTE, look

    styles = dict(zip(CURVES, ((PALETTE[0], "-"), (PALETTE[5], "--"), (PALETTE[2], "-.")), strict=True))
    with look():
        figure = Figure(figsize=(4.2 * len(curves) + 0.8, 6.6), layout="constrained")
        axes = figure.subplots(2, len(curves), sharex=True, squeeze=False)
        for column, (network, own) in enumerate(curves.items()):
            for name, values in own.items():
                ax = axes[int(name == "ifair-nmtf"), column]
                mean, low, high = _band(values)
                passes = np.arange(len(mean)) + 2
                color, dashes = styles[name]
                ax.fill_between(passes, low, high, color=color, alpha=0.18, linewidth=0)
                ax.plot(passes, mean, color=color, linestyle=dashes, linewidth=1.8, label=_LABELS[name])
            axes[0, column].set_title(TITLES[network])
            axes[1, column].set_xlabel("passes over the graph")
        for ax in axes.flat:
            ax.set_xscale("log")
            ax.set_xticks([2, 5, 10, 20, 50, 100, 200, 500])
            ax.xaxis.set_major_formatter(ScalarFormatter())
            ax.minorticks_off()
            ax.grid(color="#E6E6E6", linewidth=0.7)
            ax.set_axisbelow(True)
        axes[0, 0].set_ylabel("relative error ||A - HWH'||² / ||A||²")
        axes[1, 0].set_ylabel("objective of iFairNMTF / ||A||²")
        handles = [handle for ax in axes[:, 0] for handle in ax.get_legend_handles_labels()[0]]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return save(figure, path)
