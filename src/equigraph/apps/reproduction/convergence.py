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
from equigraph.apps.reproduction.scoring import NETWORKS, load_network
from equigraph.apps.reproduction.tables import FAILED, panels, save, write_page, write_rows

SHOWN = ("diaries", "drugnet", "facebook")
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
Curves = dict[str, dict[str, NDArray[np.float64]]]  # by network and name: a row for each start


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
        for network in SHOWN
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
    models = {
        "multiplicative": NMTF(**settings, solver="mu"),
        "coordinate": NMTF(**settings, solver="cd"),
        "ifair-nmtf": IFairNMTF(**settings, fairness=WEIGHT),
    }
    curves: dict[str, list[list[float]]] = {name: [] for name in CURVES}
    for name, model in models.items():
        # Coordinate descent works on the graph over its norm already.
        scale = 1.0 if name == "coordinate" else squared_norm
        for seed in seeds:
            model.set_params(random_state=seed, max_iter=CURVES[name]).fit(graph)
            curves[name].append((model.objective_history_ / scale).tolist())
    return curves


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the curves with their bands (png), and write them (csv) and a few of their values (md)."""
    curves: Curves = {}
    for cell in cells(settings):
        if cell.key in results:
            found = results[cell.key]
            curves[cell.arguments["network"]] = {name: _rectangle(found[name]) for name in CURVES}
    rows = [
        {
            "network": NETWORKS[network],
            "curve": _LABELS[name],
            "passes": step + 2,
            **{measure: values[step].item() for measure, values in band.items()},
        }
        for network, own in curves.items()
        for name, values in own.items()
        for band in [_band(values)]
        for step in range(values.shape[1])
    ]
    files = [write_page(folder / "fig-convergence.md", **_page(settings, curves))]
    if curves:
        files.append(write_rows(folder / "fig-convergence.csv", rows))
        files.append(_draw(curves, folder / "fig-convergence.png"))
    return files


def _rectangle(histories: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """Return histories as rows of one length; a solver that ended early keeps its last value."""
    length = max(map(len, histories))
    return np.stack([np.pad(history, (0, length - len(history)), mode="edge") for history in histories])


def _band(values: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """Return mean, smallest and largest value after each iteration."""
    return {"mean": values.mean(axis=0), "low": values.min(axis=0), "high": values.max(axis=0)}


def _page(settings: Settings, curves: Curves) -> dict[str, Any]:
    rows = []
    for network in SHOWN:
        if network not in curves:
            rows.append([NETWORKS[network], FAILED, *["-"] * (len(_LISTED) + 1)])
            continue
        multiplicative = curves[network]["multiplicative"].mean(axis=0)
        for name, values in curves[network].items():
            mean = values.mean(axis=0)
            listed = [f"{mean[step - 1]:.4f}" if step <= mean.size else "-" for step in _LISTED]
            reached = np.flatnonzero(mean <= multiplicative[-1])
            needed = "-" if name == "ifair-nmtf" or not reached.size else str(reached[0] + 1)
            rows.append([NETWORKS[network], _LABELS[name], *listed, needed])
    head = ["network", "curve", *(f"after {step}" for step in _LISTED), "iterations to that mean"]
    return {"n_clusters": N_CLUSTERS, "n_starts": _n_starts(settings), "head": head, "rows": rows}


def _draw(curves: Curves, path: Path) -> Path:
    from matplotlib.ticker import ScalarFormatter

    from equigraph.plotting.style import PALETTE

    styles = dict(zip(CURVES, ((PALETTE[0], "-"), (PALETTE[5], "--"), (PALETTE[2], "-.")), strict=True))
    with panels(2, len(curves), (4.2 * len(curves) + 0.8, 6.6), sharex=True) as (figure, axes):
        for column, (network, own) in enumerate(curves.items()):
            for name, values in own.items():
                ax = axes[int(name == "ifair-nmtf"), column]
                band = _band(values)
                passes = np.arange(values.shape[1]) + 2
                color, dashes = styles[name]
                ax.fill_between(passes, band["low"], band["high"], color=color, alpha=0.18, linewidth=0)
                ax.plot(
                    passes, band["mean"], color=color, linestyle=dashes, linewidth=1.8, label=_LABELS[name]
                )
            axes[0, column].set_title(NETWORKS[network])
            axes[1, column].set_xlabel("passes over the graph")
        for ax in axes.flat:
            ax.set_xscale("log")
            ax.set_xticks([2, 5, 10, 20, 50, 100, 200, 500])
            ax.xaxis.set_major_formatter(ScalarFormatter())
            ax.minorticks_off()
        axes[0, 0].set_ylabel("relative error ||A - HWH'||² / ||A||²")
        axes[1, 0].set_ylabel("objective of iFairNMTF / ||A||²")
        handles = [handle for ax in axes[:, 0] for handle in ax.get_legend_handles_labels()[0]]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return save(figure, path)
