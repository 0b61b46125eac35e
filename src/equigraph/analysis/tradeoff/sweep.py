"""Sweep of the fairness dial: labels for every value and restart, as a curve."""

from __future__ import annotations

import itertools
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from equigraph._utils.callbacks import Callbacks, Notifier, Watched
from equigraph._utils.hooks import hook
from equigraph._utils.parameters import Integer, Real, check_parameters
from equigraph._utils.randomness import RandomState, as_seed
from equigraph._utils.records import Tabular, parameters_of, write_json
from equigraph._utils.text import GIVE_GROUPS, counted, one_line
from equigraph.analysis.tradeoff.contents import TradeoffPoint
from equigraph.analysis.tradeoff.curve import TradeoffCurve
from equigraph.analysis.tradeoff.points import Sweep, points_and_front, single_point
from equigraph.base import GraphClusterer
from equigraph.exceptions import GroupsError, ParameterError, warn
from equigraph.metrics.notions import Notion, get_notion
from equigraph.results.features import facts_of, featured_graph
from equigraph.rules.conflict import OnConflict

# Points by default: evenly spaced in the fairness reached, and values of a dial whose method is fitted at each.
_N_REACHED, _N_VALUES = 11, 21
_STAGE = "trade-off"
Notes = list[tuple[type[Warning], str]]
# Labels of one task with their scores, and the warnings of their fits.
Solved = tuple[list[TradeoffPoint], Notes]


class TradeoffCurves(Tabular, dict[int, TradeoffCurve]):
    """Curves by number of clusters, as a dict."""

    def table(self) -> dict[str, NDArray]:
        """Return the tables of all curves below each other, with the column n_clusters in front."""
        tables = [{"n_clusters": np.full(len(curve.points), k), **curve.table()} for k, curve in self.items()]
        return {name: np.concatenate([one[name] for one in tables]) for name in tables[0]}

    def summary(self) -> dict[str, Any]:
        """Return the summaries of all curves, ready for JSON."""
        return {"curves": [curve.summary() for curve in self.values()]}

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write `summary` as JSON."""
        write_json(path, self.summary())

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the fronts of all curves; see `equigraph.plotting.TradeoffCurvesDisplay`."""
        return hook("TradeoffCurvesDisplay")(self).plot(ax)

    def __repr__(self) -> str:
        curves = ", ".join(f"{k}: {len(curve.points)} points" for k, curve in self.items())
        return f"TradeoffCurves({{{curves}}})"


@overload
def tradeoff_curve(graph: Any, *, n_clusters: int | None = None, **options: Any) -> TradeoffCurve: ...


@overload
def tradeoff_curve(graph: Any, *, n_clusters: Iterable[int], **options: Any) -> TradeoffCurves: ...


def tradeoff_curve(  # type: ignore[misc]  # the overloads leave its options open
    graph: Any,
    *,
    sensitive_features: Any = None,
    n_clusters: int | Iterable[int] | None = None,
    fairness: Iterable[float] | None = None,
    n_points: int | None = None,
    notion: str | Notion | None = None,
    estimator: GraphClusterer | None = None,
    n_restarts: int = 1,
    random_state: RandomState = None,
    effort: Any = None,
    rules: Any = None,
    on_conflict: OnConflict | None = None,
    size_bounds: Any = "auto",
    n_jobs: int | None = None,
    callbacks: Callbacks = None,
) -> TradeoffCurve | TradeoffCurves:
    """Compute the trade-off curve: labels from the most cohesive to the fairest.

    A weighted sum reaches only the convex hull of the attainable scores: over most of its range the dial gives the same
    labels, and then they jump. `FairPartition` therefore also searches between, and ``curve.front`` holds all
    non-dominated labels found, at any value and in any restart. ``curve.at_least(0.9)`` takes the most
    cohesive of them with a fairness of at least .9.

    Parameters
    ----------
    graph : graph
        A `BlockGraph`, or anything that `equigraph.graph.as_graph` takes.
    sensitive_features : array-like of shape (n_nodes,), dict of columns, frame or 2-D array, optional
        Group of each node by one attribute or several, as for ``fit``; by default those that came with the graph. There
        must be some. Several attributes count as the estimator's ``attribute_weights`` say, or else the graph's.
    n_clusters : int or iterable of int, optional
        Number of clusters; it must be given unless the estimator has it. Several numbers, such as ``range(2, 8)``,
        give one curve each.
    fairness : iterable of float, optional
        Values of the dial, ascending; one point each. By default the points are evenly spaced in the fairness that is
        *reached*, if the method searches its whole dial at once (`FairPartition`), and even values of the dial in
        [0, 1] otherwise. A dial without an upper end, such as the weight of `IFairNMTF`, needs values.
    n_points : int, optional
        Number of points if no values are given, and at most that many if some would be the same: 11 by
        default, 21 even values of the dial.
    notion : {"normalized", "balance", "mouflon", "evenness"} or Notion, optional
        Notion of fairness. It is set in the estimator if that has a notion, and says by which score
        (NB, B, mouflon or evenness) points are picked. By default that of the estimator, or "normalized".
    estimator : GraphClusterer, optional
        Any method with a ``fairness`` parameter; by default `FairPartition`. It is not changed.
    n_restarts : int, default=1
        Number of seeds per value: ``random_state``, ``random_state + 1``, ...
    random_state : int, Generator, RandomState or None
        The first seed; by default that of the estimator.
    effort : optional
        Set in the estimator, which must have such a parameter; by default its own.
    rules : Rules or dict, optional
        Hard rules that all labels keep, set in the estimator, which must take rules (`FairPartition`).
    on_conflict : {"error", "relax"}, optional
        How to handle rules that contradict each other, set in the estimator.
    size_bounds : "auto", None or tuple, default="auto"
        Bounds on the sizes of clusters, or None for none, set in the estimator; "auto" leaves it as it is.
    n_jobs : int, optional
        Number of processes; by default 1, and -1 for all cores. It does not change the result.
    callbacks : callable or list of callables, optional
        Called after every fit, with the stage "trade-off" (and the number of clusters); one that returns True ends the
        sweep with the points done so far. A method that computes all values together also reports its own progress,
        unless it runs in another process.

    Returns
    -------
    TradeoffCurve or TradeoffCurves
        A curve, or with several ``n_clusters`` a mapping from each to its curve.

    Raises
    ------
    ParameterError
        If a parameter is out of range, or the estimator has no dial.
    GraphError, GroupsError
        If the graph or the groups are not usable, or there are no groups.

    Notes
    -----
    The labels of a value of a dial in [0, 1] are those with the largest :math:`(1 - f) Q + f N` of all restarts, N
    being the measure of the notion (at 1: those with the largest Q whose N is within .01 of the largest). Labels of a
    method that searches its whole dial at once may have been found at another value, so they are at least as good as
    those of a single fit with the same seed. For a dial without an upper end, which has no such meaning, they are those
    whose Q and N are closest to the means.

    Clusters keep their number from point to point, and along the front: those of the first are numbered by size, those
    of each further one by their overlap with the one before.

    Warnings of the fits are issued once for each kind, with the number of times.

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> curve = eg.tradeoff_curve(
    ...     room.adjacency,
    ...     sensitive_features=room.sensitive_features,
    ...     estimator=eg.FairLouvain(n_clusters=3),
    ...     fairness=[0, 0.1, 0.5, 1],
    ...     random_state=0,
    ... )
    >>> [point.fairness for point in curve.points]
    [0.0, 0.1, 0.5, 1.0]
    >>> curve.select("knee").scores["NB"] > curve.points[0].scores["NB"]
    True
    >>> curve = eg.tradeoff_curve(
    ...     room.adjacency, sensitive_features=room.sensitive_features, n_clusters=3, random_state=0
    ... )
    >>> curve.at_least(0.8).scores["NB"] >= 0.8
    True
    """
    check_parameters(
        "tradeoff_curve",
        {"n_restarts": Integer(low=1), "n_points": Integer(low=2, optional=True)},
        {"n_restarts": n_restarts, "n_points": n_points},
    )
    if n_clusters is None and estimator is None:
        raise ParameterError(
            "n_clusters is not given: a curve needs the number of clusters; stability(graph) and `equigraph choose-k` "
            "compare several numbers."
        )
    if n_jobs == 0:
        raise ParameterError("n_jobs is 0: give the number of processes, or -1 for all cores.")
    given = {"effort": effort, "rules": rules, "on_conflict": on_conflict}
    others = {name: value for name, value in given.items() if value is not None}
    if size_bounds != "auto":
        others["size_bounds"] = size_bounds
    model, notion = _configured(estimator, notion, others)
    values, bounded = _dial_values(model, fairness, n_points)
    # numpy's annotation of ndim leaves out ranges, which it takes.
    several = n_clusters is not None and np.ndim(n_clusters) > 0  # type: ignore[arg-type]
    numbers = _cluster_numbers(n_clusters) if several else [n_clusters]
    graph = featured_graph(graph, sensitive_features, getattr(model, "attribute_weights", None))
    if graph.attributes is None:
        raise GroupsError(f"A trade-off curve needs groups: {GIVE_GROUPS}.")
    if random_state is None:
        random_state = getattr(model, "random_state", None)
    first = as_seed(random_state)
    seeds = tuple(range(first, first + n_restarts))
    curves: dict[Any, TradeoffCurve] = {}
    watch = Watched(callbacks)
    for number in numbers:
        one = model if number is None else clone(model).set_params(n_clusters=number)
        stage = f"{_STAGE}, {number} clusters" if several else _STAGE
        sweep = Sweep(one, graph, notion, values, bounded, seeds, n_jobs, stage, n_points or _N_REACHED)
        curves[number] = _curve(sweep, watch)
        if watch.stopped:
            break
    return TradeoffCurves(curves) if several else next(iter(curves.values()))


def _configured(
    estimator: GraphClusterer | None, notion: str | Notion | None, others: dict[str, Any]
) -> tuple[GraphClusterer, str | Notion]:
    """Return a copy of the estimator with the notion and others of its parameters set, and the notion."""
    if estimator is None:
        from equigraph.community import FairPartition

        estimator = FairPartition()
    if not isinstance(estimator, GraphClusterer) or "fairness" not in estimator.get_params(deep=False):
        name = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise ParameterError(
            f"The estimator {name} has no fairness dial: expected an instance of a method with a fairness "
            "parameter, such as FairPartition, FairNMTF, IFairNMTF, DFNMF or FairLouvain."
        )
    model = clone(estimator)
    known = model.get_params(deep=False)
    for name, value in others.items():
        if name not in known:
            raise ParameterError(f"{type(model).__name__} has no parameter {name!r}: leave it out.")
        model.set_params(**{name: value})
    if known.get("at_least") is not None:
        raise ParameterError(
            f"The estimator has at_least={known['at_least']!r}, and a curve has labels for every bound: leave it out, "
            "and take them by curve.at_least(...)."
        )
    if notion is None:
        notion = known.get("notion", "normalized")
    elif "notion" in known:
        model.set_params(notion=notion)
    get_notion(notion)
    return model, notion


def _dial_values(
    model: GraphClusterer, fairness: Iterable[float] | None, n_points: int | None
) -> tuple[tuple[float, ...] | None, bool]:
    """Return the checked values of the dial, None for the whole front, and whether it is in [0, 1]."""
    name, dial = type(model).__name__, model._parameters["fairness"]
    bounded = isinstance(dial, Real) and (dial.low, dial.high) == (0, 1)
    if fairness is None:
        if not bounded:
            raise ParameterError(
                f"The dial of {name} has no upper end: give its values, such as 0, 1, 10 and 100, as fairness "
                "(fairness_values on the command line)."
            )
        if model._searches_dial:
            return None, bounded
        return tuple(np.linspace(0, 1, n_points or _N_VALUES).round(12).tolist()), bounded
    if n_points is not None:
        raise ParameterError("n_points is for curves without values: give it or fairness, not both.")
    given = list(fairness) if isinstance(fairness, Iterable) and not isinstance(fairness, str) else [fairness]
    if not given:
        raise ParameterError("fairness is empty: give at least one value of the dial.")
    for value in given:
        check_parameters(name, {"fairness": dial}, {"fairness": value})
    values = tuple(float(value) for value in given)
    for low, high in itertools.pairwise(values):
        if low >= high:
            raise ParameterError(f"The values of fairness must ascend; {high:g} comes after {low:g}.")
    return values, bounded


def _cluster_numbers(n_clusters: Any) -> list[int]:
    numbers = list(n_clusters)
    for number in numbers:
        check_parameters("tradeoff_curve", {"n_clusters": Integer(low=2)}, {"n_clusters": number})
    if not numbers or len(set(numbers)) < len(numbers):
        raise ParameterError(f"n_clusters must be different numbers, at least one; got {numbers!r}.")
    return [int(number) for number in numbers]


def _curve(sweep: Sweep, watch: Watched) -> TradeoffCurve:
    """Run the tasks, one at least, until a callback asks to stop."""
    start = time.perf_counter()
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
    points, front = points_and_front(sweep, [point for found, _ in in_order for point in found])
    for category, text in counted((note for _, notes in in_order for note in notes), " in the sweep"):
        warn(text, category)
    return TradeoffCurve(
        points=points,
        front=front,
        spacing="reached" if sweep.values is None else "dial",
        method=type(sweep.model).__name__,
        parameters=parameters_of(sweep.model, without=("fairness", "random_state")),
        n_clusters=getattr(sweep.model, "n_clusters", None),
        notion=sweep.notion,
        seeds=sweep.seeds,
        seconds=time.perf_counter() - start,
        stopped=stopped,
        **facts_of(sweep.graph),
    )


def _results(sweep: Sweep, notify: Notifier) -> Iterator[tuple[int, Solved]]:
    """Yield the indices of tasks with their points and warnings, as they are done."""
    if sweep.n_jobs in (None, 1):
        together = _solve_together(sweep)
        if together is not None:
            yield from together
            return
        for place, (seed, values) in enumerate(sweep.tasks):
            yield place, _noted(partial(_solve, sweep, seed, values, notify))
        return
    from joblib import Parallel, delayed, effective_n_jobs

    # In batches, so that callbacks can stop the sweep between them.
    size = 2 * effective_n_jobs(sweep.n_jobs)
    with Parallel(n_jobs=sweep.n_jobs) as pool:
        for start in range(0, len(sweep.tasks), size):
            fits = [partial(_solve, sweep, *task, Notifier()) for task in sweep.tasks[start : start + size]]
            yield from enumerate(pool(delayed(_noted)(fit) for fit in fits), start)


def _solve(
    sweep: Sweep, seed: int, values: tuple[float, ...] | None, notify: Notifier
) -> list[TradeoffPoint]:
    """Return the points of one task; runs in any process."""
    model = clone(sweep.model).set_params(random_state=seed)
    if not model._searches_dial:
        (value,) = values or ()
        return [sweep.fitted(model.set_params(fairness=value).fit(sweep.graph))]
    found = model._fit_dial(model._prepare(sweep.graph, None), values, notify)
    # A method that was stopped halfway may have fewer labels than values.
    dials = [*(values or ())[: len(found.labels)], *([np.nan] * len(found.front))]
    return [
        single_point(sweep.graph, np.asarray(labels, dtype=np.intp), sweep.notion, dial, seed)
        for dial, labels in zip(dials, (*found.labels, *found.front), strict=True)
    ]


def _solve_together(sweep: Sweep) -> Iterator[tuple[int, Solved]] | None:
    """Return indices of tasks with their points and warnings, in any order, or None if fits run one by one."""
    if not sweep.model._shares_fits or len(sweep.tasks) < 2:
        return None
    pairs = [(seed, value) for seed, values in sweep.tasks for value in values or ()]
    highest = max(value for _, value in pairs)
    problem = clone(sweep.model).set_params(fairness=highest)._prepare(sweep.graph, None)
    models = [clone(sweep.model).set_params(random_state=seed, fairness=value) for seed, value in pairs]
    ready = sweep.model._fit_together(problem, models)

    def points(finish: Callable[[], GraphClusterer]) -> list[TradeoffPoint]:
        return [sweep.fitted(finish())]

    return None if ready is None else ((place, _noted(partial(points, finish))) for place, finish in ready)


def _noted(fit: Callable[[], list[TradeoffPoint]]) -> Solved:
    """Return the points of a fit with its warnings, which are not shown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        points = fit()
    return points, [(warning.category, one_line(warning.message)) for warning in caught]
