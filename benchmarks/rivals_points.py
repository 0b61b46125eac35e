"""Points that rivals published or reached with their own code, beside our curves: who dominates whom.

A point is a network, a number of clusters, Q and a fairness. It is dominated if one of the labels on our curves, with
bounds on sizes or without (rivals have none), has at least its Q and its fairness. A point with more Q than any labels
that we find at dial 0 is said to be out of reach: it must come from another graph or number of clusters.
``python -m benchmarks rivals_points [--networks diaries facebook]``.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections import Counter
from typing import NamedTuple

import equigraph as eg
from equigraph.apps.reproduction.scoring import REAL, TITLES, printed
from equigraph.exceptions import EquigraphWarning

# Printed numbers have three digits.
ROUNDING = 5e-4
# Curves of these notions are searched; their labels are judged by the measure of the point.
NOTIONS = ("normalized", "evenness", "balance")


class Point(NamedTuple):
    """A published point; the measure is a score of `equigraph.metrics.evaluate`."""

    source: str
    network: str
    k: int
    Q: float
    measure: str
    value: float


FAIR_SC = "FairSC, normalised (raw results of the authors of DFNMF)"
FNM = "FNM (its public code)"
DFNMF = "DFNMF (its paper)"
PAPER = "{} (table 1 of the paper on iFairNMTF)"
POINTS = [
    *(
        Point(FAIR_SC, network, k, q, "B", b)
        for network, cells in {
            "diaries": ((0.534, 0.839), (0.684, 0.809), (0.686, 0.527), (0.698, 0.494)),
            "facebook": ((0.485, 0.596), (0.500, 0.602), (0.517, 0.493), (0.512, 0.436)),
            "friendship": ((0.571, 0.664), (0.627, 0.485), (0.672, 0.577), (0.665, 0.399)),
            "drugnet": ((0.211, 0.087), (0.270, 0.052), (0.407, 0.027), (0.526, 0.026)),
            "lastfm": ((0.029, 0.112), (0.035, 0.067), (0.036, 0.042), (0.041, 0.033)),
        }.items()
        for k, (q, b) in zip((3, 5, 8, 10), cells, strict=True)
    ),
    Point(FNM, "facebook", 8, 0.459, "PB", 0.855),
    Point(FNM, "facebook", 8, 0.459, "min_PB", 0.804),
    Point(FNM, "drugnet", 5, 0.282, "PB", 0.887),
    *(
        Point(DFNMF, network, k, q, "B", b)
        for network, k, q, b in (
            ("diaries", 5, 0.716, 0.787),
            ("facebook", 3, 0.408, 0.818),
            ("facebook", 5, 0.503, 0.768),
            ("facebook", 8, 0.437, 0.652),
            ("friendship", 5, 0.666, 0.614),
            ("drugnet", 3, 0.482, 0.170),
            ("drugnet", 5, 0.591, 0.162),
            ("drugnet", 8, 0.456, 0.158),
            ("nba", 2, 0.134, 0.438),
            ("lastfm", 3, 0.516, 0.147),
            ("lastfm", 5, 0.420, 0.091),
            ("lastfm", 8, 0.384, 0.090),
        )
    ),
    *(
        Point(PAPER.format(TITLES[method]), network, 5, values["Q"], "B", values["B"])
        for network in REAL
        for method in TITLES
        if (values := printed(network, method))
    ),
]


def our_labels(data, k, seed):
    """Return the scores of all labels on our fronts."""
    found = []
    for notion, size_bounds in itertools.product(NOTIONS, ("auto", None)):
        model = eg.FairPartition(notion=notion, size_bounds=size_bounds, random_state=seed)
        curve = eg.tradeoff_curve(
            data.adjacency, sensitive_features=data.sensitive_features, n_clusters=k, estimator=model
        )
        found += [
            eg.metrics.evaluate(
                data.adjacency,
                point.labels,
                sensitive_features=data.sensitive_features,
                further=["PB", "min_PB", "ncut"],
            )
            for point in curve.front
        ]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", nargs="*", default=sorted({point.network for point in POINTS}))
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("ignore", EquigraphWarning)
    print(f"seed {options.seed}; ours: the best Q among labels as fair as the point")
    kept: dict[tuple[str, int], list[dict[str, float]]] = {}
    counts: Counter[str] = Counter()
    points = [point for point in POINTS if point.network in options.networks]
    for point in sorted(points, key=lambda one: (one.network, one.k)):
        key = point.network, point.k
        if key not in kept:
            kept[key] = our_labels(eg.datasets.load(point.network), point.k, options.seed)
        fair = [one["Q"] for one in kept[key] if one[point.measure] >= point.value - ROUNDING]
        best = max(fair, default=float("nan"))
        most = max(one["Q"] for one in kept[key])
        verdict = "dominated" if best >= point.Q - ROUNDING else "AHEAD OF US"
        if most + ROUNDING < point.Q:
            verdict = f"out of reach (most Q {most:.3f})"
        counts[verdict.partition(" (")[0]] += 1
        fairest = max(one[point.measure] for one in kept[key])
        print(
            f"{point.network:11}k={point.k:<3}{point.measure:7}{point.value:.3f}  Q {point.Q:.3f}  ours Q {best:.3f} "
            f"(fairest {fairest:.3f})  {verdict}  {point.source}",
            flush=True,
        )
    print(f"{len(points)} points:", ", ".join(f"{number} {verdict}" for verdict, number in counts.items()))


if __name__ == "__main__":
    main()
