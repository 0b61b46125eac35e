"""Convergence: the loss by number of passes over the graph, for multiplicative updates and coordinate descent.

The two solvers minimise different fair objectives, so they are compared on a common one: the relative error ||A -
HWH'||^2 / ||A||^2 of NMTF without a penalty, from the same starts (those of the paper's authors). The objective of
iFairNMTF, over ||A||^2, is drawn separately. An iteration of either solver is one pass over the graph; initialisation
is one more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.experiment import Done, Experiment, Output, panels, render
from equigraph.apps.reproduction.scoring import NETWORKS, load_network

SHOWN = ("diaries", "drugnet", "facebook")
N_CLUSTERS = 5
WEIGHT = 1.0
# Each curve: number of iterations and name. Coordinate descent converges long before the end.
CURVES = {
    "multiplicative": (500, "NMTF, multiplicative updates"),
    "coordinate": (100, "NMTF, coordinate descent"),
    "ifair-nmtf": (500, f"iFairNMTF, multiplicative updates, λ = {WEIGHT:g}"),
}
_LISTED = (10, 30, 100, 500)
Curves = dict[str, dict[str, NDArray[np.float64]]]  # by network and curve: one row per start


def cells(settings: Settings) -> list[Cell]:
    """Return one cell per network."""
    n_starts = 3 if settings.quick else 10
    seeds = list(range(settings.seed, settings.seed + n_starts))
    return [
        Cell(
            f"convergence-{network}-{settings.seed}-{n_starts}",
            f"{__name__}:trace_losses",
            {"network": network, "seeds": seeds},
        )
        for network in SHOWN
    ]


def trace_losses(network: str, seeds: Sequence[int]) -> dict[str, Any]:
    """Run every solver from every start.

    A start is the same for all solvers. Returns by curve: for every start the loss after each iteration, over the
    squared norm of the graph.
    """
    from equigraph.factorization import NMTF, IFairNMTF

    graph = load_network(network).graph
    squared_norm = float(graph.adjacency.multiply(graph.adjacency).sum())
    settings: dict[str, Any] = {"n_clusters": N_CLUSTERS, "init": "svd", "tol": 0}
    # Coordinate descent already works on the normalised graph.
    models = {
        "multiplicative": (NMTF(**settings, solver="mu"), squared_norm),
        "coordinate": (NMTF(**settings, solver="cd"), 1.0),
        "ifair-nmtf": (IFairNMTF(**settings, fairness=WEIGHT), squared_norm),
    }
    curves: dict[str, list[list[float]]] = {name: [] for name in CURVES}
    for name, (model, scale) in models.items():
        for seed in seeds:
            model.set_params(random_state=seed, max_iter=CURVES[name][0]).fit(graph)
            losses = model.objective_history_ / scale
            # A solver that ends early keeps its last value.
            curves[name].append(np.pad(losses, (0, CURVES[name][0] - losses.size), mode="edge").tolist())
    return curves


def output(done: Done) -> Output:
    """Return the curves with their bands, and a few of their values."""
    curves: Curves = {}
    rows: list[dict[str, Any]] = []
    table: list[list[str]] = []
    for cell, result in done:
        network, title = cell.arguments["network"], NETWORKS[cell.arguments["network"]]
        curves[network] = {name: np.array(result[name]) for name in CURVES}
        level = curves[network]["multiplicative"].mean(axis=0)[-1]
        for name, values in curves[network].items():
            mean, label = values.mean(axis=0), CURVES[name][1]
            bands = np.column_stack((mean, values.min(axis=0), values.max(axis=0))).tolist()
            rows += [
                {"network": title, "curve": label, "passes": passes, "mean": middle, "low": low, "high": high}
                for passes, (middle, low, high) in enumerate(bands, start=2)
            ]
            listed = [f"{mean[step - 1]:.4f}" if step <= mean.size else "-" for step in _LISTED]
            reached = np.flatnonzero(mean <= level)
            needed = "-" if name == "ifair-nmtf" or not reached.size else str(reached[0] + 1)
            table.append([title, label, *listed, needed])
    head = ["network", "curve", *(f"after {step}" for step in _LISTED), "iterations to that mean"]
    n_starts = len(cell.arguments["seeds"])
    page = render("fig-convergence", n_clusters=N_CLUSTERS, n_starts=n_starts, head=head, rows=table)
    return Output(page, {"fig-convergence": rows}, {"fig-convergence": _draw(curves)})


def _draw(curves: Curves) -> Any:
    from matplotlib.ticker import ScalarFormatter

    from equigraph.plotting.style import PALETTE

    styles = dict(zip(CURVES, ((PALETTE[0], "-"), (PALETTE[5], "--"), (PALETTE[2], "-.")), strict=True))
    with panels(2, len(curves), (4.2 * len(curves) + 0.8, 6.6), sharex=True) as (figure, axes):
        for column, (network, own) in enumerate(curves.items()):
            for name, values in own.items():
                ax = axes[int(name == "ifair-nmtf"), column]
                passes = np.arange(values.shape[1]) + 2
                color, dashes = styles[name]
                line = {"color": color, "linestyle": dashes, "linewidth": 1.8, "label": CURVES[name][1]}
                low, high = values.min(axis=0), values.max(axis=0)
                ax.fill_between(passes, low, high, color=color, alpha=0.18, linewidth=0)
                ax.plot(passes, values.mean(axis=0), **line)
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
    return figure


EXPERIMENT = Experiment("The loss, iteration by iteration", cells, output)
