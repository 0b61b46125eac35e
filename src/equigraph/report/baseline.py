"""What the clusters are compared with: the same method without fairness, and who changes the cluster."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.graph import Graph
from equigraph.methods import METHODS, Method
from equigraph.parameters import Real
from equigraph.results import ClusteringResult
from equigraph.tradeoff import TradeoffCurve, tradeoff_curve
from equigraph.tradeoff.alignment import align_labels
from equigraph.tradeoff.curve import TradeoffPoint
from equigraph.tradeoff.scores import score_labels

MAX_ALIGNED = 2000  # clusters; the assignment holds a dense table of them
# A whole curve is computed up to this size, and this time of the fit; above, the dial at 0 only.
_CHEAP_SIZE, _CHEAP_SECONDS = 50_000, 20.0
_GRID = tuple(i / 10 for i in range(11))


@dataclass(frozen=True, eq=False)
class Baseline:
    """Other clusters of the same nodes.

    Attributes
    ----------
    labels : ndarray of shape (n_nodes,)
        Cluster of each node, numbered like the clusters they are compared with.
    scores : mapping
        Their scores; empty where they are not known.
    phrase : str
        When or where they are, such as "without fairness".
    """

    labels: NDArray[np.intp]
    scores: Mapping[str, Any]
    phrase: str

    def moved(self, labels: NDArray) -> NDArray[np.intp]:
        """Return the nodes whose cluster is another one."""
        return np.flatnonzero(self.labels != labels)


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


def without_fairness(
    result: ClusteringResult, graph: Graph, left_out: list[str]
) -> tuple[TradeoffCurve | None, TradeoffPoint | None, Baseline | None]:
    """Fit the method of a result with its dial at 0, and along the whole dial where that is cheap.

    Parameters
    ----------
    result : ClusteringResult
        The clustering.
    graph : Graph
        Its graph.
    left_out : list of str
        Takes a sentence where there is nothing to compare with.

    Returns
    -------
    curve, point, baseline
        A curve that the result is a point of, that point, and the labels of dial 0; or None.
    """
    reason = None
    model = None
    # Clusters that were to be at least so fair stand at no value of the dial.
    asked = result.parameters.get("at_least") is not None
    if "fairness" not in result.parameters:
        reason = f"{result.method} has no fairness dial"
    elif float(result.parameters["fairness"]) == 0 and not asked:
        reason = "the fairness dial is at 0"
    elif result.groups is None or result.groups.n_groups < 2:
        reason = "there is only one group"
    else:
        model = _made_again(result)
        if model is None:
            reason = f"{result.method} cannot be made again from the parameters in the record"
    if model is None:
        left_out.append(f"There is no comparison without fairness: {reason}.")
        return None, None, None
    dial = float(result.parameters["fairness"])
    scale = model._parameters["fairness"]
    bounded = isinstance(scale, Real) and scale.high == 1
    # The time of a result that was not timed is NaN, which is not above anything.
    cheap = graph.n_nodes + graph.n_edges <= _CHEAP_SIZE and not result.seconds > _CHEAP_SECONDS
    values = [0.0] if asked else sorted({*(_GRID if bounded and cheap else (0.0,))} - {dial})
    with warnings.catch_warnings():
        # What those fits have to remark is not about the result.
        warnings.simplefilter("ignore", UserWarning)
        others = tradeoff_curve(graph, estimator=model, fairness=values, random_state=result.seed)
    first = others.points[0]
    compared = aligned(first.labels, result.labels, first.scores, "without fairness", left_out)
    if asked:
        return None, None, compared
    point = _as_point(result, graph, dial, others.notion)
    points = sorted((*others.points, point), key=lambda one: one.fairness)
    return replace(others, points=tuple(points)), point, compared


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


def _as_point(result: ClusteringResult, graph: Graph, dial: float, notion: str) -> TradeoffPoint:
    scores = score_labels(graph, result.labels, notion)
    return TradeoffPoint(
        fairness=dial,
        labels=result.labels,
        sizes=result.sizes,
        scores=scores,
        means=scores,
        spreads=dict.fromkeys(scores, float("nan")),
        stability=float("nan"),
        seed=result.seed,
        n_restarts=1,
    )
