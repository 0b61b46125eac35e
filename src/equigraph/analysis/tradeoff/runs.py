"""The fits of a sweep, here or in other processes, and the points and the front that are made of their labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from equigraph._utils.callbacks import Notifier, Watched
from equigraph._utils.sizes import number_by_size
from equigraph._utils.text import one_line
from equigraph.analysis.tradeoff.alignment import align_all, align_labels
from equigraph.analysis.tradeoff.contents import DIVERGED, TradeoffPoint, index_of
from equigraph.analysis.tradeoff.selection import evenly_spaced, front_in_order, passing_weights
from equigraph.base import GraphClusterer
from equigraph.graph import Graph
from equigraph.metrics.agreement import seed_stability
from equigraph.metrics.notions import get_notion
from equigraph.results.cluster import score_labels
from equigraph.search.agree import as_rules
from equigraph.search.pool import TOLERANCE
from equigraph.stores.blocks import BlockGraph

_NAN = float("nan")
Notes = list[tuple[type[Warning], str]]


@dataclass(frozen=True)
class Sweep:
    """What is to be computed."""

    model: GraphClusterer
    graph: Graph | BlockGraph
    notion: str
    # None: the whole front, of which so many points are shown.
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
        """Whether clusters have numbers that rules speak of, and keep them."""
        rules = getattr(self.model, "rules", None)
        return rules is not None and as_rules(rules).names_clusters

    @cached_property
    def tasks(self) -> list[tuple[int, tuple[float, ...] | None]]:
        """Seeds with values; all values at once where the method searches for them together."""
        parts: list[tuple[float, ...] | None] = [self.values]
        if self.values is not None and not self.model._searches_dial:
            parts = [(value,) for value in self.values]
        return [(seed, part) for seed in self.seeds for part in parts]

    def most_clusters(self, labelings: Sequence[NDArray]) -> int:
        """Return the largest number of clusters, that of the method included."""
        most = max(int(labels.max()) + 1 for labels in labelings)
        return max(most, getattr(self.model, "n_clusters", None) or 0)


class _Solved(NamedTuple):
    """Labels for each value of a task with how their fits ended, labels on the front, and the warnings."""

    fits: list[tuple[NDArray[np.intp], str | None]]
    front: list[NDArray[np.intp]]
    notes: Notes


@dataclass
class Runs:
    """Fits by value of the dial, what else may be on the front, and the warnings."""

    fits: dict[float, list[TradeoffPoint]] = field(default_factory=dict)
    front: list[TradeoffPoint] = field(default_factory=list)
    notes: Notes = field(default_factory=list)
    stopped: bool = False


@contextmanager
def _noted() -> Iterator[Notes]:
    """Collect warnings instead of showing them."""
    notes: Notes = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    notes += [(warning.category, one_line(warning.message)) for warning in caught]


def _outcome(model: Any) -> tuple[NDArray[np.intp], str | None]:
    return np.asarray(model.labels_, dtype=np.intp), getattr(model, "status_", None)


def _solve(
    model: GraphClusterer, graph: Graph | BlockGraph, seed: int, values: tuple[float, ...] | None, notify: Any
) -> _Solved:
    """Return what is found for one task; runs in any process."""
    model = clone(model).set_params(random_state=seed)
    with _noted() as notes:
        if model._searches_dial:
            found = model._fit_dial(model._prepare(graph, None), values, notify)
            labels, front = (
                [np.asarray(one, dtype=np.intp) for one in some] for some in (found.labels, found.front)
            )
            return _Solved([(one, None) for one in labels], front, notes)
        fits = [_outcome(clone(model).set_params(fairness=value).fit(graph)) for value in values or ()]
    return _Solved(fits, [], notes)


def _solve_together(sweep: Sweep) -> Iterator[tuple[int, _Solved]] | None:
    """Return places of tasks with what `_solve` gives for them, in any order, or None where fits run one by one."""
    if not sweep.model._shares_fits or len(sweep.tasks) < 2:
        return None
    pairs = [(seed, value) for seed, values in sweep.tasks for value in values or ()]
    highest = max(value for _, value in pairs)
    problem = clone(sweep.model).set_params(fairness=highest)._prepare(sweep.graph, None)
    models = [clone(sweep.model).set_params(random_state=seed, fairness=value) for seed, value in pairs]
    ready = sweep.model._fit_together(problem, models)
    return None if ready is None else _finished(sweep, ready)


def _finished(sweep: Sweep, ready: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, _Solved]]:
    for place, finish in ready:
        with _noted() as notes:
            fit = _outcome(finish())
        yield place, _Solved([fit], [], notes)


def _results(sweep: Sweep, notify: Notifier) -> Iterator[tuple[int, _Solved]]:
    """Yield the places of tasks, and what each gives, as they are done."""
    if sweep.n_jobs in (None, 1):
        together = _solve_together(sweep)
        if together is not None:
            yield from together
            return
        for place, (seed, values) in enumerate(sweep.tasks):
            yield place, _solve(sweep.model, sweep.graph, seed, values, notify)
        return
    from joblib import Parallel, delayed, effective_n_jobs

    # In portions, so that a wish to stop is heard between them.
    size = 2 * effective_n_jobs(sweep.n_jobs)
    with Parallel(n_jobs=sweep.n_jobs) as pool:
        for start in range(0, len(sweep.tasks), size):
            done = pool(
                delayed(_solve)(sweep.model, sweep.graph, seed, values, Notifier())
                for seed, values in sweep.tasks[start : start + size]
            )
            yield from enumerate(done, start)


def run_sweep(sweep: Sweep, watch: Watched) -> Runs:
    """Return the labels of every task that was done; at least one is."""
    runs, total = Runs(), len(sweep.tasks)
    solved: dict[int, _Solved] = {}
    notify = Notifier(watch)
    notify(sweep.stage, 0, total)
    for place, one in _results(sweep, notify):
        solved[place] = one
        halfway = watch.stopped
        if notify(sweep.stage, len(solved), total):
            runs.stopped = halfway or len(solved) < total
            break
    # Tasks end in any order, which must not show in the result.
    found: dict[float, list[TradeoffPoint]] = {}
    for place, one in sorted(solved.items()):
        seed, values = sweep.tasks[place]
        runs.notes += one.notes
        runs.front += [single_point(sweep.graph, labels, sweep.notion, _NAN, seed) for labels in one.front]
        # A method that was stopped halfway may have fewer labels than values.
        for value, (labels, status) in zip(values or (), one.fits, strict=not watch.stopped):
            point = single_point(sweep.graph, labels, sweep.notion, value, seed, status)
            found.setdefault(value, []).append(point)
    runs.fits = {value: found[value] for value in sweep.values or () if value in found}
    return runs


def mean_and_spread(points: Sequence[TradeoffPoint]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean and the standard deviation (n - 1 in the denominator; NaN for one value) by score."""
    columns = {name: _column(points, name) for name in points[0].scores}
    means = {name: float(values.mean()) for name, values in columns.items()}
    if len(points) == 1:
        return means, dict.fromkeys(columns, _NAN)
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


def points_and_front(sweep: Sweep, runs: Runs) -> tuple[tuple[TradeoffPoint, ...], tuple[TradeoffPoint, ...]]:
    """Return one point for each value of the dial, or evenly spaced ones of the front; and the front.

    Beside the points there is all of the front of every run, or the labels of every restart. The dial of labels on the
    front of a run is not known yet; it is NaN.
    """
    others = runs.front
    if not sweep.model._searches_dial:
        others = [one for fits in runs.fits.values() for one in fits]
    if sweep.values is None:
        front = _numbered(sweep, nondominated(others, sweep.measure))
        return tuple(front[i] for i in evenly_spaced(_column(front, sweep.measure), sweep.n_points)), front
    points = _points(sweep, runs, others)
    # Of equal ones the first is kept, and the points come first.
    return points, _numbered(sweep, nondominated((*points, *others), sweep.measure), points)


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
    spreads = dict.fromkeys(scores, _NAN)
    return TradeoffPoint(
        fairness, labels, np.bincount(labels), scores, scores, spreads, _NAN, seed, 1, status
    )


def _column(points: Sequence[TradeoffPoint], name: str) -> NDArray[np.float64]:
    return np.array([point.scores[name] for point in points], dtype=np.float64)


def _numbered(
    sweep: Sweep, front: Sequence[TradeoffPoint], points: Sequence[TradeoffPoint] = ()
) -> tuple[TradeoffPoint, ...]:
    """Number the clusters of all but the points like those of the neighbour before, and give what has none a dial."""
    weights = passing_weights(_column(front, "Q"), _column(front, sweep.measure))
    n_clusters = sweep.most_clusters([one.labels for one in front])
    known = [one for one in front if index_of(one, points) is not None]
    before = known[0].labels if known else number_by_size(front[0].labels, n_clusters)
    numbered = []
    for one, weight in zip(front, weights.tolist(), strict=True):
        if index_of(one, points) is None:
            labels = one.labels
            if not sweep.names_clusters:
                labels = align_labels(labels, before, n_clusters)
            one = replace(
                one,
                fairness=weight if np.isnan(one.fairness) else one.fairness,
                labels=labels,
                sizes=np.bincount(labels, minlength=n_clusters),
            )
        before = one.labels
        numbered.append(one)
    return tuple(numbered)


def _points(sweep: Sweep, runs: Runs, others: Sequence[TradeoffPoint]) -> tuple[TradeoffPoint, ...]:
    # A search has one pool for all values; what another restart or value found may be the best here.
    shared = others if sweep.model._searches_dial else ()
    picked: list[TradeoffPoint] = []
    for value, fits in runs.fits.items():
        # A fit that diverged stands for the value only where all did.
        sound = [one for one in (*fits, *shared) if one.status != DIVERGED] or fits
        scores = [one.scores for one in sound]
        best = typical_restart(scores, sweep.measure)
        if sweep.bounded:
            best = best_restart(scores, value, sweep.measure)
        picked.append(sound[best])
    aligned: Sequence[NDArray[np.intp]] = [one.labels for one in picked]
    n_clusters = sweep.most_clusters(aligned)
    if not sweep.names_clusters:
        aligned = align_all(aligned, n_clusters)
    points = []
    for (value, fits), one, labels in zip(runs.fits.items(), picked, aligned, strict=True):
        means, spreads = mean_and_spread(fits)
        stability = seed_stability([fit.labels for fit in fits])
        points.append(
            replace(
                one,
                fairness=value,
                labels=labels,
                sizes=np.bincount(labels, minlength=n_clusters),
                # Of the aligned labels: another numbering may change the last digit.
                scores=score_labels(sweep.graph, labels, sweep.notion),
                means=means,
                spreads=spreads,
                stability=_NAN if stability is None else stability,
                n_restarts=len(fits),
            )
        )
    return tuple(points)
