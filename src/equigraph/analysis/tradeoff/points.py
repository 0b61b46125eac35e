"""Points of a sweep: the labels of each value of the dial, the front, and the numbers of their clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.sizes import number_by_size
from equigraph.analysis.tradeoff.alignment import align_labels
from equigraph.analysis.tradeoff.contents import DIVERGED, TradeoffPoint, scores_of
from equigraph.analysis.tradeoff.selection import evenly_spaced, front_in_order, passing_weights
from equigraph.base import GraphClusterer
from equigraph.graph import Graph
from equigraph.metrics.agreement import seed_stability
from equigraph.metrics.notions import Notion, get_notion
from equigraph.results.cluster import score_labels
from equigraph.rules.rules import as_rules
from equigraph.search.pool import Pool, Target
from equigraph.stores.blocks import BlockGraph

_NAN = float("nan")


@dataclass(frozen=True)
class Sweep:
    """Parameters of a sweep."""

    model: GraphClusterer
    graph: Graph | BlockGraph
    notion: str | Notion
    # None: the whole front, of which `n_points` points are shown.
    values: tuple[float, ...] | None
    bounded: bool
    seeds: tuple[int, ...]
    n_jobs: int | None
    stage: str
    n_points: int = 0

    @property
    def measure(self) -> str:
        """Name of the score that belongs to the notion."""
        return get_notion(self.notion).measure

    @property
    def names_clusters(self) -> bool:
        """Whether clusters keep their numbers, since rules refer to them."""
        rules = getattr(self.model, "rules", None)
        return rules is not None and as_rules(rules).names_clusters

    @cached_property
    def tasks(self) -> list[tuple[int, tuple[float, ...] | None]]:
        """Seeds with values; all values at once if the method searches for them together."""
        parts: list[tuple[float, ...] | None] = [self.values]
        if self.values is not None and not self.model._searches_dial:
            parts = [(value,) for value in self.values]
        return [(seed, part) for seed in self.seeds for part in parts]

    def fitted(self, model: Any) -> TradeoffPoint:
        """Return the point of a fitted estimator."""
        labels = np.asarray(model.labels_, dtype=np.intp)
        status = getattr(model, "status_", None)
        return single_point(self.graph, labels, self.notion, model.fairness, model.random_state, status)


def single_point(
    graph: Graph | BlockGraph,
    labels: NDArray[np.intp],
    notion: str | Notion,
    fairness: float,
    seed: int,
    status: str | None = None,
) -> TradeoffPoint:
    """Return the point of labels that stand alone, without restarts."""
    scores = score_labels(graph, labels, notion)
    spreads = dict.fromkeys(scores, _NAN)
    return TradeoffPoint(
        fairness, labels, np.bincount(labels), scores, scores, spreads, _NAN, seed, 1, status
    )


def points_and_front(
    sweep: Sweep, found: Sequence[TradeoffPoint]
) -> tuple[tuple[TradeoffPoint, ...], tuple[TradeoffPoint, ...]]:
    """Return one point for each value of the dial, or evenly spaced ones of the front; and the front.

    The front is that of the points and of the fronts of all runs, or of the labels of all restarts.
    """
    others = found
    if sweep.model._searches_dial:
        others = [one for one in found if np.isnan(one.fairness)]
    points = () if sweep.values is None else _points(sweep, found, others)
    # Of equal ones the first is kept, and the points come first.
    front = _numbered(sweep, nondominated((*points, *others), sweep.measure), points)
    weights = passing_weights(scores_of(front, "Q"), scores_of(front, sweep.measure)).tolist()
    front = tuple(
        replace(one, fairness=weight) if np.isnan(one.fairness) else one
        for one, weight in zip(front, weights, strict=True)
    )
    if sweep.values is None:
        points = tuple(front[i] for i in evenly_spaced(scores_of(front, sweep.measure), sweep.n_points))
    return points, front


def _points(
    sweep: Sweep, found: Sequence[TradeoffPoint], others: Sequence[TradeoffPoint]
) -> tuple[TradeoffPoint, ...]:
    """Return the point of each value of the dial, with means and spreads over the restarts."""
    # A search has one pool for all values; what another restart or value found may be the best here.
    shared = others if sweep.model._searches_dial else ()
    points = []
    for value in sweep.values or ():
        fits = [one for one in found if one.fairness == value]
        if not fits:
            continue  # stopped before
        # A fit that diverged is used only if all did.
        sound = [one for one in (*fits, *shared) if one.status != DIVERGED] or fits
        scores, measure = [one.scores for one in sound], sweep.measure
        best = best_restart(scores, value, measure) if sweep.bounded else typical_restart(scores, measure)
        stability = seed_stability([fit.labels for fit in fits])
        columns = {name: scores_of(fits, name) for name in fits[0].scores}
        points.append(
            replace(
                sound[best],
                fairness=value,
                means={name: float(column.mean()) for name, column in columns.items()},
                spreads={
                    name: float(column.std(ddof=1)) if len(fits) > 1 else _NAN
                    for name, column in columns.items()
                },
                stability=_NAN if stability is None else stability,
                n_restarts=len(fits),
            )
        )
    return _numbered(sweep, points)


def best_restart(scores: Sequence[Mapping[str, float]], fairness: float, measure: str) -> int:
    """Return the restart that is best at a value of a dial in [0, 1]; see `Target.best`."""
    pairs = [(round(one["Q"], 12), round(one[measure], 12)) for one in scores]
    # In place of labels, the pool has the indices of the restarts.
    pool = Pool([np.array(place) for place in range(len(pairs))], pairs)
    return int(Target(fairness).best(pool))


def typical_restart(scores: Sequence[Mapping[str, float]], measure: str) -> int:
    """Return the restart whose Q and N are closest to their means (Euclidean); equal: the first."""
    points = np.array([[one["Q"], one[measure]] for one in scores])
    distance = np.linalg.norm(points - points.mean(axis=0), axis=1)
    return int(np.argmin(np.round(distance, 12)))


def nondominated(points: Sequence[TradeoffPoint], measure: str) -> tuple[TradeoffPoint, ...]:
    """Return the non-dominated points by Q and a measure, in order of the measure; of equal ones the first."""
    places = front_in_order(scores_of(points, "Q"), scores_of(points, measure))
    return tuple(points[place] for place in places)


def _numbered(
    sweep: Sweep, points: Sequence[TradeoffPoint], fixed: Sequence[TradeoffPoint] = ()
) -> tuple[TradeoffPoint, ...]:
    """Align the numbers of clusters of each point with the previous one, the first by size; fixed points stay.

    Clusters keep their numbers if rules refer to them.
    """
    most = max(int(one.labels.max()) + 1 for one in points)
    n_clusters = max(most, getattr(sweep.model, "n_clusters", None) or 0)
    known = [one for one in points if one in fixed]
    before = known[0].labels if known else number_by_size(points[0].labels, n_clusters)
    numbered = []
    for one in points:
        if one not in fixed:
            labels = one.labels
            if not sweep.names_clusters:
                labels = align_labels(labels, before, n_clusters)
            one = replace(one, labels=labels, sizes=np.bincount(labels, minlength=n_clusters))
        before = one.labels
        numbered.append(one)
    return tuple(numbered)
