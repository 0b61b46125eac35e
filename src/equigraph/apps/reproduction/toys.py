"""iFairNMTF on small graphs with known clusters, drawn by a seed.

W is determined up to the scale of the columns of H. It is shown for columns in which the nodes of a cluster have
membership 1 on average: an entry is then the modelled number of edges per pair of nodes between two clusters.
Multiplicative updates preserve zeros, so the authors' start, whose W is diagonal, cannot show interaction. The figure
is of the spectral start; the table has all starts.

Single runs of iFairNMTF vary. So the figure shows typical runs: those of all graphs and starts whose modularity and
minimum balance are nearest to the means at their weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.experiment import Done, Experiment, Output, panels, render
from equigraph.datasets.sbm import adjacency_from_edges
from equigraph.graph import Graph

ROMAN = ("I", "II", "III", "IV")
_SIZE = 10
# Edges inside each cluster, of 45 pairs: the first is the densest.
_INSIDE = (44, 40, 36, 40)
# Neighbours of every node of one cluster in another. I and II share no edge, IV and II most.
_ACROSS = {(0, 2): 1, (1, 2): 1, (2, 3): 1, (0, 3): 1, (1, 3): 3}
_FIRST_GROUP = (3, 4, 3, 4)

# Members of groups A and B in each circle.
_CIRCLES = ((14, 1), (10, 5), (3, 12))
# Nodes with friends in another circle: circle, group, other circle, number. If all of them moved, every circle would
# have nine of A and six of B.
_TORN = ((0, 0, 2, 5), (1, 0, 2, 1), (2, 1, 0, 5), (2, 1, 1, 1))
# Probabilities of an edge to the own and to the other circle, from the least to the most undecided node.
_TIES = ((0.42, 0.12), (0.36, 0.18), (0.30, 0.24))
_LOYAL, _ELSEWHERE = 0.5, 0.02


class Toy(NamedTuple):
    """A graph with groups A and B, and its planted clusters."""

    graph: Graph
    target: NDArray[np.intp]


def interaction_toy(seed: int) -> Toy:
    """Draw 40 nodes in four clusters of ten; 14 are of group A and 26 of group B, spread over the clusters.

    Clusters I and II share no edge, IV has three times as many edges to II as to I. Edges between two clusters are
    spread evenly over their nodes. This matters because W models only what all nodes of a cluster share; uneven edges
    would become memberships in two clusters.
    """
    rng = np.random.default_rng(seed)
    ends = [_inside(cluster, n_edges, rng) for cluster, n_edges in enumerate(_INSIDE)]
    ends += [_across(first, second, degree, rng) for (first, second), degree in _ACROSS.items()]
    rows, columns = np.concatenate(ends, axis=1)
    groups = np.concatenate([np.repeat(["A", "B"], [n_first, _SIZE - n_first]) for n_first in _FIRST_GROUP])
    return _toy(rows, columns, groups, np.repeat(np.arange(len(ROMAN)), _SIZE))


def _inside(cluster: int, n_edges: int, rng: np.random.Generator) -> NDArray[np.intp]:
    rows, columns = np.triu_indices(_SIZE, 1)
    chosen = rng.choice(rows.size, n_edges, replace=False)
    return np.stack((rows[chosen], columns[chosen])) + cluster * _SIZE


def _across(first: int, second: int, degree: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return edges between two clusters, the same number at every node."""
    one, two = rng.permutation(_SIZE), rng.permutation(_SIZE)
    return np.concatenate(
        [np.stack((one + first * _SIZE, np.roll(two, shift) + second * _SIZE)) for shift in range(degree)],
        axis=1,
    )


def tradeoff_toy(seed: int) -> Toy:
    """Draw 45 nodes in three circles of 15 with unequal shares of groups; 27 are of group A and 18 of group B.

    Twelve nodes have friends in a second circle as well, some hardly and some nearly as many. If all of them moved,
    every circle would mirror the population.
    """
    rng = np.random.default_rng(seed)
    sizes = np.array(_CIRCLES)
    circle = np.repeat(np.arange(len(sizes)), sizes.sum(axis=1))
    is_second = np.repeat(np.tile([False, True], len(sizes)), sizes.ravel())
    pull = _pulls(circle, is_second)
    rows, columns = np.triu_indices(circle.size, 1)
    # Inside a circle the smaller probability of the two counts, across circles the larger.
    inside = np.minimum(pull[rows, circle[rows]], pull[columns, circle[columns]])
    across = np.maximum(pull[rows, circle[columns]], pull[columns, circle[rows]])
    chance = np.where(circle[rows] == circle[columns], inside, across)
    while True:
        drawn = rng.random(rows.size) < chance
        toy = _toy(rows[drawn], columns[drawn], np.where(is_second, "B", "A"), circle)
        if connected_components(toy.graph.adjacency, directed=False)[0] == 1:
            return toy


def _pulls(circle: NDArray[np.intp], is_second: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the probability of an edge from each node to the members of each circle."""
    pull = np.full((circle.size, len(_CIRCLES)), _ELSEWHERE)
    pull[np.arange(circle.size), circle] = _LOYAL
    taken = np.zeros(circle.size, dtype=bool)
    for own, group, other, n_torn in _TORN:
        torn = np.flatnonzero((circle == own) & (is_second == bool(group)) & ~taken)[:n_torn]
        taken[torn] = True
        # A single node is among the most undecided.
        degrees = np.arange(n_torn) * len(_TIES) // n_torn if n_torn > 1 else np.array([len(_TIES) - 1])
        pull[torn, own], pull[torn, other] = np.array(_TIES)[degrees].T
    return pull


def _toy(rows: NDArray, columns: NDArray, groups: NDArray[np.str_], target: NDArray[np.intp]) -> Toy:
    adjacency = adjacency_from_edges(rows, columns, target.size)
    return Toy(Graph(adjacency, sensitive_features=groups, attribute="group"), target)


# Which clusters interact.

STARTS = {"spectral": "spectral", "svd": "authors' (svd)", "random": "random"}
INTERACTION_WEIGHT = 1.0
# Entries of W below this many edges per pair of nodes count as 0; one edge between two clusters is 0.01.
ZERO = 1e-6
_K = len(ROMAN)


def _interaction_cells(settings: Settings) -> list[Cell]:
    """Return one cell per graph."""
    return [
        Cell(f"interaction-{seed}", f"{__name__}:fit_interaction", {"seed": seed})
        for seed in range(settings.seed, settings.seed + (3 if settings.quick else 10))
    ]


def fit_interaction(seed: int) -> dict[str, Any]:
    """Fit the graph of a seed from every start.

    Returns by start: ``labels`` and ``interaction``, in the order of the true clusters, and ``accuracy``.
    """
    toy = interaction_toy(seed)
    return {start: _fit(toy, start, seed) for start in STARTS}


def _fit(toy: Toy, start: str, seed: int) -> dict[str, Any]:
    from equigraph.analysis.tradeoff.alignment import best_numbers
    from equigraph.factorization import IFairNMTF
    from equigraph.graph.groups import contingency_table

    model = IFairNMTF(_K, INTERACTION_WEIGHT, init=start, tol=0, random_state=seed).fit(toy.graph)
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


def _interaction(done: Done) -> Output:
    """Return W of every run, a summary, and the first graph beside its W."""
    pairs = {f"{ROMAN[i]}-{ROMAN[j]}": (i, j) for i in range(_K) for j in range(i, _K)}
    rows = [
        {
            "start": start,
            "seed": cell.arguments["seed"],
            "accuracy": runs[start]["accuracy"],
            **{name: runs[start]["interaction"][i][j] for name, (i, j) in pairs.items()},
        }
        for cell, runs in done
        for start in STARTS
    ]
    toy = interaction_toy(0)
    is_in = (toy.target[:, None] == np.arange(_K)).astype(float)
    sizes = is_in.sum(axis=0)
    density = (is_in.T @ (toy.graph.adjacency @ is_in)) / (np.outer(sizes, sizes) - np.diag(sizes))
    values = {"zero": ZERO, "names": ROMAN, "starts": STARTS, "rows": rows, "density": density.tolist()}
    cell, runs = done[0]
    figure = _draw_interaction(interaction_toy(cell.arguments["seed"]), runs["spectral"])
    return Output(render("fig-interaction", **values), {"fig-interaction": rows}, {"fig-interaction": figure})


def _draw_interaction(toy: Toy, run: dict[str, Any]) -> Any:
    from equigraph.plotting import GraphDisplay, InteractionDisplay
    from equigraph.plotting.layout import spring_layout

    W, names = np.array(run["interaction"]), np.array(ROMAN)
    with panels(1, 2, (12.5, 5.2), grid=False, width_ratios=(1.25, 1)) as (figure, ((left, right),)):
        positions = spring_layout(toy.graph, labels=toy.target, seed=0)
        display = GraphDisplay(toy.graph, names[run["labels"]], positions=positions)
        display.plot(left, names=False, title=f"Clusters of iFairNMTF, λ = {INTERACTION_WEIGHT:g}")
        InteractionDisplay(np.where(W < ZERO, 0.0, W), clusters=names).plot(right)
        right.set_title("Interaction W, in edges per pair of nodes")
    return figure


# What the weight does.

WEIGHTS = {"none": 0.0, "medium": 15.0, "large": 400.0}
N_CIRCLES = 3
_SCORES = ("Q", "min_balance", "B", "NB")

Run = dict[str, Any]


def tradeoff_cells(settings: Settings) -> list[Cell]:
    """Return one cell per graph."""
    n_graphs, n_starts = (3, 5) if settings.quick else (10, 10)
    return [
        Cell(
            f"tradeoff-toy-{seed}-{n_starts}",
            f"{__name__}:fit_tradeoff",
            {"seed": seed, "n_starts": n_starts},
        )
        for seed in range(settings.seed, settings.seed + n_graphs)
    ]


def fit_tradeoff(seed: int, n_starts: int) -> dict[str, Any]:
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
                labels = IFairNMTF(N_CIRCLES, weight, tol=0, random_state=start).fit(toy.graph).labels_
            scores = metrics.evaluate(toy.graph, labels, n_clusters=N_CIRCLES, empty="zero")
            run = {"weight": weight, "seed": seed, "start": start, **{name: scores[name] for name in _SCORES}}
            runs.append({**run, "labels": align_labels(labels, toy.target, N_CIRCLES).tolist()})
    return {"runs": runs}


def _tradeoff(done: Done) -> Output:
    """Return all runs, their means, and the typical runs side by side."""
    runs = [run for _, result in done for run in result["runs"]]
    shown = typical_runs(runs)
    kinds = []
    for (name, weight), run in zip(WEIGHTS.items(), shown, strict=True):
        own = scores_at(runs, weight)
        scores = [*zip(own.mean(axis=0), own.std(axis=0, ddof=1), strict=True)]
        kinds.append({"name": name, "scores": scores, "run": run})
    n_starts = done[0][0].arguments["n_starts"]
    page = render("fig-tradeoff-toy", n_graphs=len(done), n_starts=n_starts, kinds=kinds)
    rows = [{name: value for name, value in run.items() if name != "labels"} for run in runs]
    return Output(page, {"fig-tradeoff-toy": rows}, {"fig-tradeoff-toy": draw_runs(shown)})


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
    names = np.array(ROMAN[:N_CIRCLES])
    with panels(1, len(shown), (15, 5.6), grid=False) as (figure, axes):
        for ax, name, run in zip(axes[0], WEIGHTS, shown, strict=True):
            labels = np.array(run["labels"])
            counts = [
                "+".join(str(np.count_nonzero(groups[labels == cluster] == group)) for group in "AB")
                for cluster in range(N_CIRCLES)
            ]
            mixed = ", ".join(f"{name} {one}" for name, one in zip(names, counts, strict=True))
            scores = f"Q = {run['Q']:.2f}, minimum balance = {run['min_balance']:.2f}"
            title = f"Weight: {name} (λ = {run['weight']:g})\n{scores}\nA+B: {mixed}"
            display = GraphDisplay(toy.graph, names[labels], positions=positions)
            display.plot(ax, names=False, legend=False, title=title)
        sizes = [f"{group} ({np.count_nonzero(groups == group)})" for group in "AB"]
        draw_legends(axes[0, -1], list(names), sizes, title="group")
    return figure


INTERACTION = Experiment("Which clusters interact", _interaction_cells, _interaction)
TRADEOFF = Experiment("What the weight does to a small graph", tradeoff_cells, _tradeoff)
