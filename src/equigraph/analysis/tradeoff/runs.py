"""The fits of a sweep, in this or other processes, and the points and the front of their labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from equigraph._utils.callbacks import Notifier, Watched
from equigraph._utils.sizes import number_by_size
from equigraph._utils.text import one_line
from equigraph.analysis.tradeoff.alignment import align_labels
from equigraph.analysis.tradeoff.contents import DIVERGED, TradeoffPoint, index_of, scores_of
from equigraph.analysis.tradeoff.selection import evenly_spaced, front_in_order, passing_weights
from equigraph.base import GraphClusterer
from equigraph.graph import Graph
from equigraph.metrics.agreement import seed_stability
from equigraph.metrics.notions import Notion, get_notion
from equigraph.results.cluster import score_labels
from equigraph.search.feasible import as_rules
from equigraph.search.pool import TOLERANCE
from equigraph.stores.blocks import BlockGraph

_NAN = float("nan")
Notes = list[tuple[type[Warning], str]]
# Labels of one task with their scores, and the warnings of their fits.
Solved = tuple[list[TradeoffPoint], Notes]


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


def run_sweep(sweep: Sweep, watch: Watched) -> tuple[list[TradeoffPoint], Notes, bool]:
    """Return the points of every task that was done, one at least, the warnings, and whether it was stopped.

    Labels that a search found on its front, at no value of the dial, have NaN as their dial.
    """
    solved: dict[int, Solved] = {}
    stopped, total = False, len(sweep.tasks)
    notify = Notifier(watch)
    notify(sweep.stage, 0, total)
    for place, one in _results(sweep, notify):
        solved[place] = one
        halfway = watch.stopped
        if notify(sweep.stage, len(solved), total):
            stopped = halfway or len(solved) < total
            break
    # Tasks end in any order; sorted, so that the result does not depend on it.
    in_order = [solved[place] for place in sorted(solved)]
    points = [point for found, _ in in_order for point in found]
    return points, [note for _, notes in in_order for note in notes], stopped


def _results(sweep: Sweep, notify: Notifier) -> Iterator[tuple[int, Solved]]:
    """Yield the indices of tasks with their points and warnings, as they are done."""
    if sweep.n_jobs in (None, 1):
        together = _solve_together(sweep)
        if together is not None:
            yield from together
            return
        for place, (seed, values) in enumerate(sweep.tasks):
            yield place, _solve(sweep, seed, values, notify)
        return
    from joblib import Parallel, delayed, effective_n_jobs

    # In batches, so that callbacks can stop the sweep between them.
    size = 2 * effective_n_jobs(sweep.n_jobs)
    with Parallel(n_jobs=sweep.n_jobs) as pool:
        for start in range(0, len(sweep.tasks), size):
            tasks = sweep.tasks[start : start + size]
            done = pool(delayed(_solve)(sweep, seed, values, Notifier()) for seed, values in tasks)
            yield from enumerate(done, start)


def _solve(sweep: Sweep, seed: int, values: tuple[float, ...] | None, notify: Any) -> Solved:
    """Return the points and warnings of one task; runs in any process."""
    model = clone(sweep.model).set_params(random_state=seed)
    with _noted() as notes:
        if not model._searches_dial:
            (value,) = values or ()
            return [sweep.fitted(model.set_params(fairness=value).fit(sweep.graph))], notes
        found = model._fit_dial(model._prepare(sweep.graph, None), values, notify)
    # A method that was stopped halfway may have fewer labels than values.
    dials = [*(values or ())[: len(found.labels)], *([_NAN] * len(found.front))]
    points = [
        single_point(sweep.graph, np.asarray(labels, dtype=np.intp), sweep.notion, dial, seed)
        for dial, labels in zip(dials, (*found.labels, *found.front), strict=True)
    ]
    return points, notes


def _solve_together(sweep: Sweep) -> Iterator[tuple[int, Solved]] | None:
    """Return indices of tasks with the results of `_solve`, in any order, or None if fits run one by one."""
    if not sweep.model._shares_fits or len(sweep.tasks) < 2:
        return None
    pairs = [(seed, value) for seed, values in sweep.tasks for value in values or ()]
    highest = max(value for _, value in pairs)
    problem = clone(sweep.model).set_params(fairness=highest)._prepare(sweep.graph, None)
    models = [clone(sweep.model).set_params(random_state=seed, fairness=value) for seed, value in pairs]
    ready = sweep.model._fit_together(problem, models)
    return None if ready is None else (_finished(sweep, place, finish) for place, finish in ready)


def _finished(sweep: Sweep, place: int, finish: Callable[[], Any]) -> tuple[int, Solved]:
    with _noted() as notes:
        model = finish()
    return place, ([sweep.fitted(model)], notes)


@contextmanager
def _noted() -> Iterator[Notes]:
    """Collect warnings instead of showing them."""
    notes: Notes = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    notes += [(warning.category, one_line(warning.message)) for warning in caught]


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
        scores = [one.scores for one in sound]
        best = typical_restart(scores, sweep.measure)
        if sweep.bounded:
            best = best_restart(scores, value, sweep.measure)
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
    known = [one for one in points if index_of(one, fixed) is not None]
    before = known[0].labels if known else number_by_size(points[0].labels, n_clusters)
    numbered = []
    for one in points:
        if index_of(one, fixed) is None:
            labels = one.labels
            if not sweep.names_clusters:
                labels = align_labels(labels, before, n_clusters)
            one = replace(one, labels=labels, sizes=np.bincount(labels, minlength=n_clusters))
        before = one.labels
        numbered.append(one)
    return tuple(numbered)
