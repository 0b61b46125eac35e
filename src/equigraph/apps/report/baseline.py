"""What the clusters are compared with: the same method without fairness, and who changes the cluster."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.parameters import Real
from equigraph.analysis.tradeoff import TradeoffCurve, tradeoff_curve
from equigraph.analysis.tradeoff.alignment import align_labels
from equigraph.analysis.tradeoff.contents import TradeoffPoint, index_of
from equigraph.analysis.tradeoff.runs import nondominated, single_point
from equigraph.analysis.tradeoff.selection import passing_weights
from equigraph.graph import Graph
from equigraph.methods import METHODS, Method
from equigraph.results.result import ClusteringResult

MAX_ALIGNED = 2000  # clusters; the assignment holds a dense table of them
# A whole curve is computed up to this size, and this time of the fit; above, the dial at 0 only.
_CHEAP_SIZE, _CHEAP_SECONDS = 50_000, 20.0
_GRID = tuple(i / 10 for i in range(11))


@dataclass(frozen=True, eq=False)
class Baseline:
    """Other clusters of the same nodes."""

    labels: NDArray[np.intp]  # cluster of each node, numbered like the clusters they are compared with
    scores: Mapping[str, Any]  # their scores; empty where they are not known
    phrase: str  # when or where they are, such as "without fairness"

    def moved(self, labels: NDArray) -> NDArray[np.intp]:
        """Return the nodes whose cluster is another one."""
        return np.flatnonzero(self.labels != labels)


@dataclass(frozen=True, eq=False)
class Costs:
    """What fairness costs a result."""

    # The method at other values of its dial; with the result, unless something there dominates it.
    curve: TradeoffCurve
    point: TradeoffPoint
    # Labels of the curve that are at least as good by both measures, and better by one.
    better: TradeoffPoint | None
    baseline: Baseline | None  # the labels of dial 0


def aligned(
    labels: NDArray, reference: NDArray, scores: Mapping[str, Any], phrase: str, left_out: list[str]
) -> Baseline | None:
    """Return a baseline whose clusters are numbered like those of the reference; None if there are too many."""
    n_clusters = int(max(labels.max(), reference.max())) + 1
    if n_clusters > MAX_ALIGNED:
        left_out.append(
            f"There are {n_clusters:,} clusters, too many (more than {MAX_ALIGNED:,}) to find out which are the "
            f"same {phrase}, so nobody is said to have moved."
        )
        return None
    return Baseline(align_labels(labels, reference, n_clusters), scores, phrase)


def without_fairness(result: ClusteringResult, graph: Graph, left_out: list[str]) -> Costs | None:
    """Fit the method of a result with its dial at 0, and along the whole dial where that is cheap.

    Returns None, with a sentence in `left_out`, where there is nothing to compare with.
    """
    reason = None
    model = None
    # Clusters that were to be at least so fair stand at no value of the dial.
    bound = result.parameters.get("at_least")
    if "fairness" not in result.parameters:
        reason = f"{result.method} has no fairness dial"
    elif float(result.parameters["fairness"]) == 0 and bound is None:
        reason = "the fairness dial is at 0"
    elif result.groups is None or result.groups.n_groups < 2:
        reason = "there is only one group"
    else:
        model = _made_again(result)
        if model is None:
            reason = f"{result.method} cannot be made again from the parameters in the record"
    if model is None:
        left_out.append(f"There is no comparison without fairness: {reason}.")
        return None
    dial = float(result.parameters["fairness"])
    scale = model._parameters["fairness"]
    bounded = isinstance(scale, Real) and scale.high == 1
    # The time of a result that was not timed is NaN, which is not above anything.
    cheap = graph.n_nodes + graph.n_edges <= _CHEAP_SIZE and not result.seconds > _CHEAP_SECONDS
    values = sorted({*(_GRID if bounded and cheap else (0.0,))} - ({dial} if bound is None else set()))
    with warnings.catch_warnings():
        # What those fits have to remark is not about the result.
        warnings.simplefilter("ignore", UserWarning)
        others = tradeoff_curve(graph, estimator=model, fairness=values, random_state=result.seed)
    point = single_point(graph, result.labels, others.notion, dial, result.seed)
    first = others.points[0]
    compared = aligned(first.labels, result.labels, first.scores, "without fairness", left_out)
    return _with_result(others, point, compared, has_dial=bound is None)


def _with_result(
    others: TradeoffCurve, point: TradeoffPoint, compared: Baseline | None, *, has_dial: bool
) -> Costs:
    """Put a result on a curve, unless something on the curve dominates it."""
    front = nondominated((point, *others.front), others.measure)
    place = index_of(point, front)
    if place is None:
        # At least as good by both measures, up to rounding.
        names = ("Q", others.measure)
        better = next(
            one
            for one in front
            if all(round(one.scores[name] - point.scores[name], 12) >= 0 for name in names)
        )
        return Costs(others, point, better, compared)
    if not has_dial:
        # Asked for by a bound: its dial is the one at which it is passed.
        scores = [[one.scores[name] for one in front] for name in ("Q", others.measure)]
        point = replace(point, fairness=float(passing_weights(*scores)[place]))
        front = (*front[:place], point, *front[place + 1 :])
    points = sorted((*others.points, point), key=lambda one: (one.fairness, one.scores[others.measure]))
    return Costs(replace(others, points=tuple(points), front=front), point, None, compared)


def method_of(estimator: str) -> Method | None:
    """Return the method whose class has a name, or None where there is none."""
    return next((method for method in METHODS.values() if method.estimator == estimator), None)


def _made_again(result: ClusteringResult) -> Any:
    """Return the estimator of a result, or None where its record does not tell all of it."""
    method = method_of(result.method)
    if method is None:
        return None
    estimator = method.load()
    parameters = {
        name: tuple(value) if isinstance(value, list) else value for name, value in result.parameters.items()
    }
    if "random_state" in parameters:
        parameters["random_state"] = result.seed
    if "at_least" in parameters:
        parameters["at_least"] = None
    if "execution" in parameters:
        # Workers that were there for the fit may be gone, and a page needs the graph in memory anyway.
        parameters["execution"] = None
    # Objects are recorded by their repr, which is no value of theirs.
    constraints = estimator._parameters
    if not all(
        name in constraints and constraints[name].accepts(value) for name, value in parameters.items()
    ):
        return None
    return estimator(**parameters)
