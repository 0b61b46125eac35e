"""Which clusters interact: W of iFairNMTF on a graph of 40 nodes whose clusters are known.

W is only given up to the scale of the columns of H. It is shown for columns in which the nodes of a cluster belong to
it by 1 on average: an entry is then the number of edges per pair of nodes that the model sees between two clusters.

Multiplicative updates never leave a zero, so the authors' start, whose W is diagonal, can show no interaction at all.
The figure is of the spectral start; the table has all starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.tables import FAILED, save, write_page, write_rows
from equigraph.apps.reproduction.toys import ROMAN, Toy, interaction_toy

STARTS = {"spectral": "spectral", "svd": "authors' (svd)", "random": "random"}
SHOWN = "spectral"
WEIGHT = 1.0
# Below this many edges per pair of nodes an entry of W is called 0; one edge between two clusters is 0.01.
ZERO = 1e-6
_PAIRS = [(i, j) for i in range(len(ROMAN)) for j in range(i, len(ROMAN))]


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
    from scipy.optimize import linear_sum_assignment

    from equigraph.factorization import IFairNMTF
    from equigraph.graph.groups import contingency_table

    k = len(ROMAN)
    model = IFairNMTF(k, WEIGHT, init=start, tol=0, random_state=seed).fit(toy.graph)
    overlap = contingency_table(model.labels_, toy.target, k, k)
    _, number = linear_sum_assignment(overlap, maximize=True)
    order = np.argsort(number)
    labels = number[model.labels_]
    scaled = per_pair(model.membership_[:, order], model.interaction_[np.ix_(order, order)], labels)
    return {
        "labels": labels.tolist(),
        "interaction": scaled.tolist(),
        "accuracy": float((labels == toy.target).mean()),
    }


def per_pair(H: NDArray, W: NDArray, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return W for columns of H whose own nodes have 1 on average; a cluster without nodes has zeros."""
    own = np.array(
        [
            H[labels == cluster, cluster].mean() if (labels == cluster).any() else 0
            for cluster in range(len(W))
        ]
    )
    return W * np.outer(own, own)


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the graph beside W (png), and write W of every run (csv) and what the runs have in common (md)."""
    done = {cell.arguments["seed"]: results[cell.key] for cell in cells(settings) if cell.key in results}
    rows = [_row(seed, start, runs[start]) for seed, runs in done.items() for start in STARTS]
    files = [write_rows(folder / "fig-interaction.csv", rows)] if rows else []
    toy = interaction_toy(0)
    links = [
        [name, *(_density(toy.graph.adjacency, toy.target, i, j) for j in range(len(ROMAN)))]
        for i, name in enumerate(ROMAN)
    ]
    starts = [_summary(rows, start) for start in STARTS]
    page = {"zero": f"{ZERO:g}", "names": list(ROMAN), "starts": starts, "links": links}
    files.append(write_page(folder / "fig-interaction.md", **page))
    if done:
        seed, runs = next(iter(done.items()))
        files.append(_draw(interaction_toy(seed), runs[SHOWN], folder / "fig-interaction.png"))
    return files


def _row(seed: int, start: str, run: dict[str, Any]) -> dict[str, Any]:
    entries = {f"{ROMAN[i]}-{ROMAN[j]}": run["interaction"][i][j] for i, j in _PAIRS}
    return {"start": start, "seed": seed, "accuracy": run["accuracy"], **entries}


def _density(adjacency: Any, target: NDArray[np.intp], i: int, j: int) -> str:
    one, two = np.flatnonzero(target == i), np.flatnonzero(target == j)
    pairs = one.size * (two.size - 1 if i == j else two.size)
    return f"{adjacency[one][:, two].sum() / pairs:.2f}"


def _summary(rows: Sequence[dict[str, Any]], start: str) -> list[str]:
    own = [row for row in rows if row["start"] == start]
    found = [row for row in own if row["accuracy"] == 1]
    if not own:
        return [STARTS[start], FAILED, "-", "-", "-"]
    spans = []
    for name in ("I-II", "I-IV", "II-IV"):
        values = [row[name] for row in found]
        spans.append(f"{_entry(min(values))} to {_entry(max(values))}" if values else "-")
    return [STARTS[start], f"{len(found)} of {len(own)}", *spans]


def _entry(value: float) -> str:
    return "0" if value < ZERO else f"{value:.3f}"


def _draw(toy: Toy, run: dict[str, Any], path: Path) -> Path:
    from matplotlib.figure import Figure

    from equigraph.plotting import GraphDisplay, InteractionDisplay
    from equigraph.plotting.layout import spring_layout
    from equigraph.plotting.style import look

    W = np.array(run["interaction"])
    names = np.array(ROMAN)
    with look():
        figure = Figure(figsize=(12.5, 5.2), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
        positions = spring_layout(toy.graph, labels=toy.target, seed=0)
        display = GraphDisplay(toy.graph, names[run["labels"]], positions=positions)
        display.plot(left, names=False, title=f"Clusters of iFairNMTF, λ = {WEIGHT:g}")
        InteractionDisplay(np.where(W < ZERO, 0.0, W), clusters=names).plot(right)
        right.set_title("Interaction W, in edges per pair of nodes")
        return save(figure, path)
