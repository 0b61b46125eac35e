"""Interaction between clusters: W of iFairNMTF on a graph of 40 nodes with known clusters.

W is determined up to the scale of the columns of H. It is shown for columns in which the nodes of a cluster have
membership 1 on average: an entry is then the modelled number of edges per pair of nodes between two clusters.
Multiplicative updates preserve zeros, so the authors' start, whose W is diagonal, cannot show interaction. The figure
is of the spectral start; the table has all starts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.tables import panels, write_files
from equigraph.apps.reproduction.toys import ROMAN, Toy, interaction_toy

TITLE = "Which clusters interact"
STARTS = {"spectral": "spectral", "svd": "authors' (svd)", "random": "random"}
WEIGHT = 1.0
# Entries of W below this many edges per pair of nodes count as 0; one edge between two clusters is 0.01.
ZERO = 1e-6
_K = len(ROMAN)


def cells(settings: Settings) -> list[Cell]:
    """Return one cell per graph."""
    return [
        Cell(f"interaction-{seed}", f"{__name__}:fit_toy", {"seed": seed})
        for seed in range(settings.seed, settings.seed + (3 if settings.quick else 10))
    ]


def fit_toy(seed: int) -> dict[str, Any]:
    """Fit the graph of a seed from every start.

    Returns by start: ``labels`` and ``interaction``, in the order of the true clusters, and ``accuracy``.
    """
    toy = interaction_toy(seed)
    return {start: _fit(toy, start, seed) for start in STARTS}


def _fit(toy: Toy, start: str, seed: int) -> dict[str, Any]:
    from equigraph.analysis.tradeoff.alignment import best_numbers
    from equigraph.factorization import IFairNMTF
    from equigraph.graph.groups import contingency_table

    model = IFairNMTF(_K, WEIGHT, init=start, tol=0, random_state=seed).fit(toy.graph)
    number = best_numbers(contingency_table(model.labels_, toy.target, _K, _K))
    order = np.argsort(number)
    labels = number[model.labels_]
    scaled = per_pair(model.membership_[:, order], model.interaction_[np.ix_(order, order)], labels)
    accuracy = float((labels == toy.target).mean())
    return {"labels": labels.tolist(), "interaction": scaled.tolist(), "accuracy": accuracy}


def per_pair(H: NDArray, W: NDArray, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return W for columns of H in which own nodes average 1; zeros for an empty cluster."""
    members = labels[:, None] == np.arange(len(W))
    own = (H * members).sum(axis=0) / np.maximum(members.sum(axis=0), 1)
    return W * np.outer(own, own)


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the graph beside W (png), and write W of every run (csv) and a summary (md)."""
    done = {cell.arguments["seed"]: results[cell.key] for cell in cells(settings)}
    pairs = {f"{ROMAN[i]}-{ROMAN[j]}": (i, j) for i in range(_K) for j in range(i, _K)}
    rows = [
        {
            "start": start,
            "seed": seed,
            "accuracy": runs[start]["accuracy"],
            **{name: runs[start]["interaction"][i][j] for name, (i, j) in pairs.items()},
        }
        for seed, runs in done.items()
        for start in STARTS
    ]
    toy = interaction_toy(0)
    is_in = (toy.target[:, None] == np.arange(_K)).astype(float)
    sizes = is_in.sum(axis=0)
    density = (is_in.T @ (toy.graph.adjacency @ is_in)) / (np.outer(sizes, sizes) - np.diag(sizes))
    page = {
        "zero": f"{ZERO:g}",
        "names": list(ROMAN),
        "starts": [_summary(rows, start) for start in STARTS],
        "links": [[name, *(f"{value:.2f}" for value in density[i])] for i, name in enumerate(ROMAN)],
    }
    seed, runs = next(iter(done.items()))
    figure = _draw(interaction_toy(seed), runs["spectral"])
    return write_files(folder, "fig-interaction", page, rows, figure)


def _summary(rows: list[dict[str, Any]], start: str) -> list[str]:
    """Return how often a start finds the clusters, and the ranges of the entries of W in these runs."""
    own = [row for row in rows if row["start"] == start]
    found = [row for row in own if row["accuracy"] == 1]
    spans = []
    for name in ("I-II", "I-IV", "II-IV"):
        values = [row[name] for row in found]
        ends = [min(values), max(values)] if values else []
        spans.append(" to ".join("0" if value < ZERO else f"{value:.3f}" for value in ends) or "-")
    return [STARTS[start], f"{len(found)} of {len(own)}", *spans]


def _draw(toy: Toy, run: dict[str, Any]) -> Any:
    from equigraph.plotting import GraphDisplay, InteractionDisplay
    from equigraph.plotting.layout import spring_layout

    W, names = np.array(run["interaction"]), np.array(ROMAN)
    with panels(1, 2, (12.5, 5.2), grid=False, width_ratios=(1.25, 1)) as (figure, ((left, right),)):
        positions = spring_layout(toy.graph, labels=toy.target, seed=0)
        display = GraphDisplay(toy.graph, names[run["labels"]], positions=positions)
        display.plot(left, names=False, title=f"Clusters of iFairNMTF, λ = {WEIGHT:g}")
        InteractionDisplay(np.where(W < ZERO, 0.0, W), clusters=names).plot(right)
        right.set_title("Interaction W, in edges per pair of nodes")
    return figure
