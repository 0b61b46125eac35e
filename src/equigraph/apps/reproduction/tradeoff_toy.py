"""Effect of the weight of iFairNMTF on a graph of 45 nodes: fairer clusters, fewer edges inside them.

Single runs of iFairNMTF vary. So the figure shows typical runs: those of all graphs and starts whose modularity and
minimum balance are nearest to the means at their weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.tables import number, panels, with_spread, write_files
from equigraph.apps.reproduction.toys import ROMAN, tradeoff_toy

TITLE = "What the weight does to a small graph"
WEIGHTS = {"none": 0.0, "medium": 15.0, "large": 400.0}
N_CLUSTERS = 3
_SCORES = ("Q", "min_balance", "B", "NB")

Run = dict[str, Any]


def cells(settings: Settings) -> list[Cell]:
    """Return one cell per graph."""
    n_graphs, n_starts = (3, 5) if settings.quick else (10, 10)
    return [
        Cell(f"tradeoff-toy-{seed}-{n_starts}", f"{__name__}:fit_toy", {"seed": seed, "n_starts": n_starts})
        for seed in range(settings.seed, settings.seed + n_graphs)
    ]


def fit_toy(seed: int, n_starts: int) -> dict[str, Any]:
    """Fit the graph of a seed with every weight, from several starts.

    Returns ``runs``: for every weight and start the scores, and the labels in the order of the circles.
    """
    import warnings

    from equigraph import metrics
    from equigraph.analysis.tradeoff.alignment import align_labels
    from equigraph.exceptions import EmptyClusterWarning
    from equigraph.factorization import IFairNMTF

    toy = tradeoff_toy(seed)
    runs = []
    for weight in WEIGHTS.values():
        for start in range(seed, seed + n_starts):
            with warnings.catch_warnings():
                # An empty cluster counts as unfair below, and the run stays in the table.
                warnings.simplefilter("ignore", EmptyClusterWarning)
                labels = IFairNMTF(N_CLUSTERS, weight, tol=0, random_state=start).fit(toy.graph).labels_
            scores = metrics.evaluate(toy.graph, labels, n_clusters=N_CLUSTERS, empty="zero")
            run = {"weight": weight, "seed": seed, "start": start, **{name: scores[name] for name in _SCORES}}
            runs.append({**run, "labels": align_labels(labels, toy.target, N_CLUSTERS).tolist()})
    return {"runs": runs}


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the typical runs side by side (png), and write all runs (csv) and their means (md)."""
    runs = [run for cell in cells(settings) for run in results[cell.key]["runs"]]
    shown = typical_runs(runs)
    table = []
    for (name, weight), run in zip(WEIGHTS.items(), shown, strict=True):
        own = scores_at(runs, weight)
        scores = map(with_spread, own.mean(axis=0), own.std(axis=0, ddof=1))
        drawn = f"{number(run['Q'])} / {number(run['min_balance'])}"
        table.append([f"{name} (λ = {weight:g})", *scores, drawn])
    n_graphs = len({run["seed"] for run in runs})
    n_starts = len(runs) // (n_graphs * len(WEIGHTS))
    page = {"seed": shown[0]["seed"], "n_graphs": n_graphs, "n_starts": n_starts, "rows": table}
    rows = [{name: value for name, value in run.items() if name != "labels"} for run in runs]
    return write_files(folder, "fig-tradeoff-toy", page, rows, draw_runs(shown))


def scores_at(runs: Sequence[Run], weight: float) -> Any:
    """Return the scores of all runs with a weight: rows of Q, minimum balance, B and NB."""
    return np.array([[run[name] for name in _SCORES] for run in runs if run["weight"] == weight])


def typical_runs(runs: Sequence[Run]) -> list[Run]:
    """Return one run per weight, all on one graph: those nearest to the means of modularity and minimum balance."""
    center = {weight: scores_at(runs, weight).mean(axis=0) for weight in WEIGHTS.values()}

    def distance(run: Run) -> float:
        Q, worst, *_ = center[run["weight"]]
        return float(np.hypot(run["Q"] - Q, run["min_balance"] - worst))

    def nearest(seed: int) -> list[Run]:
        own = [run for run in runs if run["seed"] == seed]
        return [min((run for run in own if run["weight"] == weight), key=distance) for weight in center]

    seeds = dict.fromkeys(run["seed"] for run in runs)
    return min(map(nearest, seeds), key=lambda candidates: sum(map(distance, candidates)))


def draw_runs(shown: Sequence[Run]) -> Any:
    """Return a figure with one panel per run, with the same layout in all of them."""
    from equigraph.plotting import GraphDisplay
    from equigraph.plotting.graph import draw_legends
    from equigraph.plotting.layout import spring_layout

    toy = tradeoff_toy(shown[0]["seed"])
    (groups,) = toy.graph.features.values()
    positions = spring_layout(toy.graph, labels=toy.target, seed=0)
    names = np.array(ROMAN[:N_CLUSTERS])
    with panels(1, len(shown), (15, 5.6), grid=False) as (figure, axes):
        for ax, name, run in zip(axes[0], WEIGHTS, shown, strict=True):
            labels = np.array(run["labels"])
            counts = [
                "+".join(str(np.count_nonzero(groups[labels == cluster] == group)) for group in "AB")
                for cluster in range(N_CLUSTERS)
            ]
            mixed = ", ".join(f"{name} {one}" for name, one in zip(names, counts, strict=True))
            scores = f"Q = {run['Q']:.2f}, minimum balance = {run['min_balance']:.2f}"
            title = f"Weight: {name} (λ = {run['weight']:g})\n{scores}\nA+B: {mixed}"
            display = GraphDisplay(toy.graph, names[labels], positions=positions)
            display.plot(ax, names=False, legend=False, title=title)
        sizes = [f"{group} ({np.count_nonzero(groups == group)})" for group in "AB"]
        draw_legends(axes[0, -1], list(names), sizes, title="group")
    return figure
