"""From the labels of all runs to the points of a curve and to its front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.numbering import number_by_size
from equigraph.analysis.tradeoff.alignment import align_all, align_labels
from equigraph.analysis.tradeoff.front import evenly_spaced, front_in_order, passing_weights
from equigraph.analysis.tradeoff.point import DIVERGED, TradeoffPoint, index_of
from equigraph.analysis.tradeoff.runs import FitLabels, Runs, Sweep
from equigraph.graph import Graph
from equigraph.metrics.notions import get_notion
from equigraph.results.cluster import score_labels
from equigraph.search.agree import as_rules
from equigraph.search.pool import TOLERANCE
from equigraph.stores.blocks import BlockGraph


def mean_and_spread(scores: Sequence[dict[str, float]]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean and the standard deviation (n - 1 in the denominator; NaN for one value) by score."""
    columns = {name: np.array([one[name] for one in scores], dtype=np.float64) for name in scores[0]}
    means = {name: float(values.mean()) for name, values in columns.items()}
    if len(scores) == 1:
        return means, dict.fromkeys(columns, float("nan"))
    return means, {name: float(values.std(ddof=1)) for name, values in columns.items()}


def best_restart(scores: Sequence[Mapping[str, float]], fairness: float, measure: str) -> int:
    """Return the restart with the largest ``(1 - f) Q + f N``; equal: the larger Q, then the first.

    At 1, as in the search, the one with the largest Q among those whose N is within .01 of the largest.
    """
    enough = max(one[measure] for one in scores) - TOLERANCE

    def key(i: int) -> tuple[float, float, int]:
        quality, notion = scores[i]["Q"], scores[i][measure]
        value = (
            (1 - fairness) * quality + fairness * notion if fairness < 1 else float(notion >= enough - 1e-12)
        )
        return round(value, 12), round(quality, 12), -i

    return max(range(len(scores)), key=key)


def typical_restart(scores: Sequence[Mapping[str, float]], measure: str) -> int:
    """Return the restart whose Q and N are closest to their means (Euclidean); equal: the first."""
    points = np.array([[one["Q"], one[measure]] for one in scores])
    distance = np.linalg.norm(points - points.mean(axis=0), axis=1)
    return int(np.argmin(np.round(distance, 12)))


_NAN = float("nan")


def points_and_front(sweep: Sweep, runs: Runs) -> tuple[tuple[TradeoffPoint, ...], tuple[TradeoffPoint, ...]]:
    """Return one point for each value of the dial, or evenly spaced ones of the front; and the front."""
    measure = get_notion(sweep.notion).measure
    others = _alone(sweep, runs)
    if sweep.values is None:
        front = _numbered(sweep, nondominated(others, measure))
        return tuple(front[i] for i in evenly_spaced(_column(front, measure), sweep.n_points)), front
    points = _points(sweep, runs, others)
    # Of equal ones the first is kept, and the points come first.
    return points, _numbered(sweep, nondominated((*points, *others), measure), points)


def nondominated(points: Sequence[TradeoffPoint], measure: str) -> tuple[TradeoffPoint, ...]:
    """Return what no other point dominates in Q and a measure, in order of the measure; of equal ones the first."""
    places = front_in_order(_column(points, "Q"), _column(points, measure))
    return tuple(points[place] for place in places)


def single_point(
    graph: Graph | BlockGraph,
    labels: NDArray[np.intp],
    notion: str,
    fairness: float,
    seed: int,
    status: str | None = None,
) -> TradeoffPoint:
    """Return the point of labels that stand alone, without restarts."""
    scores = score_labels(graph, labels, notion)
    return TradeoffPoint(
        fairness=fairness,
        labels=labels,
        sizes=np.bincount(labels),
        scores=scores,
        means=scores,
        spreads=dict.fromkeys(scores, _NAN),
        stability=_NAN,
        seed=seed,
        n_restarts=1,
        status=status,
    )


def _column(points: Sequence[TradeoffPoint], name: str) -> NDArray[np.float64]:
    return np.array([point.scores[name] for point in points])


def _alone(sweep: Sweep, runs: Runs) -> list[TradeoffPoint]:
    """Return what was found beside the points: all of the front of every run, or the labels of every restart.

    The dial of labels on the front of a run is not known yet; it is NaN.
    """
    found = [(_NAN, one) for one in runs.front]
    if not sweep.model._searches_dial:
        found = [(value, one) for value, ones in runs.labels.items() for one in ones]
    return [
        single_point(sweep.graph, one.labels, sweep.notion, value, one.seed, one.status)
        for value, one in found
    ]


def _numbered(
    sweep: Sweep, front: Sequence[TradeoffPoint], points: Sequence[TradeoffPoint] = ()
) -> tuple[TradeoffPoint, ...]:
    """Number the clusters of all but the points like those of the neighbour before, and give what has none a dial."""
    weights = passing_weights(_column(front, "Q"), _column(front, get_notion(sweep.notion).measure))
    n_clusters = _most_clusters(sweep, [one.labels for one in front])
    known = [one for one in front if index_of(one, points) is not None]
    kept = _names_clusters(sweep)
    before = known[0].labels if known else number_by_size(front[0].labels, n_clusters)
    numbered = []
    for one, weight in zip(front, weights.tolist(), strict=True):
        if index_of(one, points) is None:
            labels = one.labels if kept else align_labels(one.labels, before, n_clusters)
            one = replace(
                one,
                fairness=weight if np.isnan(one.fairness) else one.fairness,
                labels=labels,
                sizes=np.bincount(labels, minlength=n_clusters),
            )
        before = one.labels
        numbered.append(one)
    return tuple(numbered)


def _names_clusters(sweep: Sweep) -> bool:
    """Return whether clusters have numbers that rules speak of, and keep them."""
    rules = getattr(sweep.model, "rules", None)
    return rules is not None and as_rules(rules).names_clusters


def _most_clusters(sweep: Sweep, labelings: Sequence[NDArray]) -> int:
    most = max(int(labels.max()) + 1 for labels in labelings)
    return max(most, getattr(sweep.model, "n_clusters", None) or 0)


def _points(sweep: Sweep, runs: Runs, others: Sequence[TradeoffPoint]) -> tuple[TradeoffPoint, ...]:
    measure = get_notion(sweep.notion).measure
    # A search has one pool for all values; what another restart or value found may be the best here.
    shared = others if sweep.model._searches_dial else ()
    scores = {
        value: [score_labels(sweep.graph, labels, sweep.notion) for _, labels, _ in found]
        for value, found in runs.labels.items()
    }
    picked: list[FitLabels] = []
    for value, ones in scores.items():
        found = [*runs.labels[value], *(FitLabels(one.seed, one.labels, one.status) for one in shared)]
        every = [*ones, *(one.scores for one in shared)]
        # A fit that diverged stands for the value only where all did.
        sound = [i for i, one in enumerate(found) if one.status != DIVERGED] or range(len(found))
        known = [every[i] for i in sound]
        best = best_restart(known, value, measure) if sweep.bounded else typical_restart(known, measure)
        picked.append(found[sound[best]])
    aligned = [one.labels for one in picked]
    n_clusters = _most_clusters(sweep, aligned)
    if not _names_clusters(sweep):
        aligned = list(align_all(aligned, n_clusters))
    return tuple(
        _point(sweep, value, one._replace(labels=labels), runs.labels[value], scores[value], n_clusters)
        for value, one, labels in zip(runs.labels, picked, aligned, strict=True)
    )


def _point(
    sweep: Sweep,
    value: float,
    chosen: FitLabels,
    found: Sequence[FitLabels],
    scores: Sequence[dict[str, float]],
    n_clusters: int,
) -> TradeoffPoint:
    from equigraph.metrics.agreement import seed_stability

    means, spreads = mean_and_spread(scores)
    stability = seed_stability([one.labels for one in found])
    return TradeoffPoint(
        fairness=value,
        labels=chosen.labels,
        sizes=np.bincount(chosen.labels, minlength=n_clusters),
        # Of the aligned labels: another numbering may change the last digit.
        scores=score_labels(sweep.graph, chosen.labels, sweep.notion),
        means=means,
        spreads=spreads,
        stability=_NAN if stability is None else stability,
        seed=chosen.seed,
        n_restarts=len(found),
        status=chosen.status,
    )
