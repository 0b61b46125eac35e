"""What the weight of iFairNMTF does to a graph of 45 nodes: fairer clusters, fewer edges inside them.

Single runs of iFairNMTF scatter. So the figure shows typical runs: of all graphs and starts, those whose modularity and
minimum balance are nearest to the means of their weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.tables import number, save, with_spread, write_page, write_rows, write_text
from equigraph.apps.reproduction.toys import ROMAN, tradeoff_toy

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
    return {
        "runs": [
            _fit(seed, start, weight) for weight in WEIGHTS.values() for start in range(seed, seed + n_starts)
        ]
    }


def _fit(seed: int, start: int, weight: float) -> Run:
    import warnings

    from equigraph import metrics
    from equigraph.analysis.tradeoff.alignment import align_labels
    from equigraph.exceptions import EmptyClusterWarning
    from equigraph.factorization import IFairNMTF

    toy = tradeoff_toy(seed)
    with warnings.catch_warnings():
        # An empty cluster counts as unfair below, and the run stays in the table.
        warnings.simplefilter("ignore", EmptyClusterWarning)
        model = IFairNMTF(N_CLUSTERS, weight, tol=0, random_state=start).fit(toy.graph)
    scores = metrics.evaluate(toy.graph, model.labels_, n_clusters=N_CLUSTERS, empty="zero")
    return {
        "weight": weight,
        "seed": seed,
        "start": start,
        **{name: scores[name] for name in _SCORES},
        "labels": align_labels(model.labels_, toy.target, N_CLUSTERS).tolist(),
    }


def finish(settings: Settings, results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw the typical runs side by side (png), and write all runs (csv) and their means (md)."""
    runs = [run for cell in cells(settings) if cell.key in results for run in results[cell.key]["runs"]]
    if not runs:
        return [write_text(folder / "fig-tradeoff-toy.md", "All cells failed.")]
    shown = typical_runs(runs)
    rows = [{name: value for name, value in run.items() if name != "labels"} for run in runs]
    return [
        save(draw_runs(shown), folder / "fig-tradeoff-toy.png"),
        write_page(folder / "fig-tradeoff-toy.md", **_page(runs, shown)),
        write_rows(folder / "fig-tradeoff-toy.csv", rows),
    ]


def typical_runs(runs: Sequence[Run]) -> list[Run]:
    """Return one run per weight, all on one graph: those nearest to the means of modularity and minimum balance."""
    weights = sorted({run["weight"] for run in runs})
    center = {weight: _means(runs, weight, ("Q", "min_balance")) for weight in weights}

    def distance(run: Run) -> float:
        return float(np.hypot(*(np.array([run["Q"], run["min_balance"]]) - center[run["weight"]])))

    def nearest(seed: int) -> list[Run]:
        own = [run for run in runs if run["seed"] == seed]
        return [min((run for run in own if run["weight"] == weight), key=distance) for weight in weights]

    seeds = dict.fromkeys(run["seed"] for run in runs)
    return min(map(nearest, seeds), key=lambda candidates: sum(map(distance, candidates)))


def _means(runs: Sequence[Run], weight: float, names: Sequence[str]) -> NDArray[np.float64]:
    return np.mean([[run[name] for name in names] for run in runs if run["weight"] == weight], axis=0)


def _page(runs: Sequence[Run], shown: Sequence[Run]) -> dict[str, Any]:
    n_graphs = len({run["seed"] for run in runs})
    n_starts = len(runs) // (n_graphs * len(WEIGHTS))
    rows = []
    for (name, weight), run in zip(WEIGHTS.items(), shown, strict=True):
        own = [[run[score] for score in _SCORES] for run in runs if run["weight"] == weight]
        scores = map(with_spread, np.mean(own, axis=0), np.std(own, axis=0, ddof=1))
        rows.append(
            [f"{name} (λ = {weight:g})", *scores, f"{number(run['Q'])} / {number(run['min_balance'])}"]
        )
    return {"seed": shown[0]["seed"], "n_graphs": n_graphs, "n_starts": n_starts, "rows": rows}


def draw_runs(shown: Sequence[Run]) -> Any:
    """Return a figure with one panel per run; every node is at the same place in all of them."""
    from matplotlib.figure import Figure

    from equigraph.plotting import GraphDisplay
    from equigraph.plotting.graph import draw_legends
    from equigraph.plotting.layout import spring_layout
    from equigraph.plotting.style import look

    toy = tradeoff_toy(shown[0]["seed"])
    (groups,) = toy.graph.features.values()
    positions = spring_layout(toy.graph, labels=toy.target, seed=0)
    names = np.array(ROMAN[:N_CLUSTERS])
    with look():
        figure = Figure(figsize=(15, 5.6), layout="constrained")
        axes = figure.subplots(1, len(shown))
        for ax, name, run in zip(axes, WEIGHTS, shown, strict=True):
            labels = np.array(run["labels"])
            scores = f"Q = {run['Q']:.2f}, minimum balance = {run['min_balance']:.2f}"
            title = f"Weight: {name} (λ = {run['weight']:g})\n{scores}\n{_counts(labels, groups)}"
            display = GraphDisplay(toy.graph, names[labels], positions=positions)
            display.plot(ax, names=False, legend=False, title=title)
        sizes = [f"{group} ({np.count_nonzero(groups == group)})" for group in ("A", "B")]
        draw_legends(axes[-1], list(names), sizes, title="group")
    return figure


def _counts(labels: NDArray[np.intp], groups: NDArray[np.str_]) -> str:
    """Return how many of each group every cluster has."""
    parts = []
    for cluster in range(N_CLUSTERS):
        own = groups[labels == cluster]
        parts.append(f"{ROMAN[cluster]} {np.count_nonzero(own == 'A')}+{np.count_nonzero(own == 'B')}")
    return f"A+B: {', '.join(parts)}"
