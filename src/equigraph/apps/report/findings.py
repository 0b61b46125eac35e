"""Findings: the data of a page, computed before it is written."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.parameters import Real
from equigraph._utils.text import count
from equigraph.analysis.tradeoff import TradeoffCurve, tradeoff_curve
from equigraph.analysis.tradeoff import contents as curves
from equigraph.analysis.tradeoff.alignment import align_labels
from equigraph.analysis.tradeoff.contents import TradeoffPoint, index_of
from equigraph.analysis.tradeoff.points import nondominated, single_point
from equigraph.analysis.tradeoff.selection import passing_weights
from equigraph.base import interaction_of
from equigraph.exceptions import InputError, ParameterError
from equigraph.graph import Graph
from equigraph.graph.groups import Groups
from equigraph.graph.groups.encode import is_missing, unique_values
from equigraph.graph.labels import labels_in_order
from equigraph.methods import METHODS, Method
from equigraph.metrics import evaluate
from equigraph.metrics.quality import share_inside
from equigraph.results.contents import KIND, POSSIBLE_FILES, labels_table
from equigraph.results.features import graph_of
from equigraph.results.formats import Stored
from equigraph.results.persistence import read_stored
from equigraph.results.result import ClusteringResult

MAX_ALIGNED = 2000  # most clusters to match; the assignment problem is dense
# The curve is computed up to this size and fitting time; above, only fairness=0.
_CHEAP_SIZE, _CHEAP_SECONDS = 50_000, 20.0
_GRID = tuple(i / 10 for i in range(11))
_NO_GRAPH = (
    "The graph was not at hand, so its drawing, the share of links inside clusters and the comparison without "
    "fairness, where there is no curve, are left out."
)


class Baseline(NamedTuple):
    """Another clustering of the same nodes, to compare with."""

    labels: Any  # labels, aligned with those they are compared with; a given baseline is aligned later
    scores: Mapping[str, Any]  # scores; empty if unknown
    phrase: str  # phrase that describes it, such as "without fairness"


@dataclass(frozen=True, eq=False)
class Findings:
    """A clustering, or the chosen point of a curve, with the data of its page."""

    subject: ClusteringResult | TradeoffCurve  # the subject of the page
    graph: Graph | None  # the graph, if known
    left_out: list[str]  # sentences on omitted content and the reasons
    # Labels, requested number of clusters (empty ones included), and scores.
    labels: NDArray[np.intp]
    n_clusters: int
    scores: Mapping[str, Any]
    dial: float | None  # fairness weight; None for a method without one
    baseline: Baseline | None = None  # the clustering to compare with
    curve: TradeoffCurve | None = None  # the curve, with these labels as a point
    point: TradeoffPoint | None = None
    # A point of the curve that dominates the clustering.
    better: TradeoffPoint | None = None

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Number of nodes of each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    @property
    def headline(self) -> str:
        """The number of clusters and their sizes, such as "3 clusters of 10"."""
        sizes = self.sizes[self.sizes > 0]
        least, most = int(sizes.min()), int(sizes.max())
        if sizes.size == 1:
            return f"1 cluster of all {most:,}"
        several = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        return f"{count(sizes.size, 'cluster')} of {several}"

    @property
    def is_curve(self) -> bool:
        """Whether the page is about a whole curve."""
        return isinstance(self.subject, TradeoffCurve)

    @property
    def groups(self) -> Groups | None:
        """The groups of the nodes."""
        return self.subject.groups

    @property
    def attribute(self) -> str | None:
        """Name of the groups."""
        return (None if self.graph is None else self.graph.attribute) or self.subject.attribute

    @cached_property
    def interaction(self) -> Any:
        """How strongly the clusters are linked; None if unknown."""
        found = getattr(self.subject, "interaction", None)
        if found is None and self.graph is not None:
            found = interaction_of(self.graph, self.labels, self.n_clusters)
        return found

    def within(self, labels: NDArray) -> float | None:
        """Return the share of the links (by weight) inside clusters; None if unknown."""
        if self.graph is None or not self.graph.n_edges:
            return None
        return share_inside(self.graph.unit_adjacency, labels)


def findings_of(
    subject: ClusteringResult | TradeoffCurve, graph: Any, *, baseline: Any = True, select: Any = "product"
) -> Findings:
    """Return the findings about a clustering, with its baseline, or about a selected point of a curve."""
    known = subject.graph if graph is None else graph_of(subject, graph)
    left_out = [_NO_GRAPH] if known is None else []
    if isinstance(subject, TradeoffCurve):
        parts = _of_curve(subject, select, left_out)
    else:
        parts = _of_result(subject, known, baseline, left_out)
    return Findings(subject, known, left_out, **parts)


def _of_result(
    result: ClusteringResult, graph: Graph | None, baseline: Any, left_out: list[str]
) -> dict[str, Any]:
    # Labels found under a bound have no fairness weight.
    dial = None if result.parameters.get("at_least") is not None else result.parameters.get("fairness")
    parts: dict[str, Any] = {
        "labels": result.labels,
        "n_clusters": result.n_clusters,
        "scores": result.scores,
        "dial": None if dial is None else float(dial),
    }
    if result.groups is None:
        left_out.append("The nodes have no groups, so nothing is said about fairness.")
    if not isinstance(baseline, bool):
        given = baseline if isinstance(baseline, Baseline) else Baseline(baseline, {}, "in the baseline")
        parts["baseline"] = _given_baseline(given, result, graph, left_out)
    elif not baseline:
        left_out.append("The comparison without fairness was not wanted.")
    elif graph is not None and result.groups is not None:
        parts |= _without_fairness(result, graph, left_out)
    return parts


def _of_curve(curve: TradeoffCurve, select: Any, left_out: list[str]) -> dict[str, Any]:
    # `select` checks the name.
    point = curve.select(select) if isinstance(select, str) else select  # type: ignore[arg-type]
    if not any(one is point for one in curve.candidates()):
        raise ParameterError(
            "The selected point is not one of the curve: expected one of its points, or a rule."
        )
    first = curve.points[0]
    compared = None
    if first is point:
        left_out.append(
            "The chosen point has the lowest dial of the curve, so there is nothing to compare it with."
        )
    else:
        phrase = "without fairness" if first.fairness == 0 else f"at dial {first.fairness:g}"
        compared = aligned(first.labels, point.labels, first.scores, phrase, left_out)
    return {
        "labels": point.labels,
        "n_clusters": int(point.sizes.size),
        "scores": point.scores,
        "dial": point.fairness,
        "baseline": compared,
        "curve": curve,
        "point": point,
    }


def _given_baseline(
    given: Baseline, result: ClusteringResult, graph: Graph | None, left_out: list[str]
) -> Baseline | None:
    """Align the clusters of labels, or of another result, with those of the result, and score them.

    Nodes without a label, which were not there before, count as not moved.
    """
    n, before = result.labels.size, result.labels.copy()
    labels: Any = given.labels
    scores: Mapping[str, Any] = {}
    if isinstance(labels, ClusteringResult):
        scores = labels.scores
        labels = dict(zip(labels.node_names.tolist(), labels.labels.tolist(), strict=True))
    nodes = Graph._trusted(sparse.csr_array((n, n)), result.node_names)
    column = labels_in_order(labels, nodes, "labels of the baseline", gaps=given.phrase == "before")
    known = ~is_missing(column)
    found = aligned(unique_values(column[known])[1], before[known], scores, given.phrase, left_out)
    if found is None:
        return None
    before[known] = found.labels
    if graph is not None and not scores:
        scores = evaluate(graph, before, sensitive_features=result.attributes)
    return Baseline(before, scores, given.phrase)


def aligned(
    labels: NDArray, reference: NDArray, scores: Mapping[str, Any], phrase: str, left_out: list[str]
) -> Baseline | None:
    """Return a baseline with clusters aligned with those of the reference; None if there are too many."""
    n_clusters = int(max(labels.max(), reference.max())) + 1
    if n_clusters > MAX_ALIGNED:
        left_out.append(
            f"There are {n_clusters:,} clusters, too many (more than {MAX_ALIGNED:,}) to find out which are the "
            f"same {phrase}, so nobody is said to have moved."
        )
        return None
    return Baseline(align_labels(labels, reference, n_clusters), scores, phrase)


def _without_fairness(result: ClusteringResult, graph: Graph, left_out: list[str]) -> dict[str, Any]:
    """Fit the method of a result with fairness=0, and the whole curve if that is cheap.

    Returns fields of the findings: the baseline, the curve with the result as a point, and a dominating point. Without
    a comparison they are empty, and `left_out` has a sentence.
    """
    # Labels found under a bound on fairness have no fairness weight.
    bound, reason = result.parameters.get("at_least"), ""
    if "fairness" not in result.parameters:
        reason = f"{result.method} has no fairness dial"
    elif float(result.parameters["fairness"]) == 0 and bound is None:
        reason = "the fairness dial is at 0"
    elif result.groups is None or result.groups.n_groups < 2:
        reason = "there is only one group"
    model = None if reason else _rebuilt_estimator(result)
    if model is None:
        reason = reason or f"{result.method} cannot be made again from the parameters in the record"
        left_out.append(f"There is no comparison without fairness: {reason}.")
        return {}
    dial = float(result.parameters["fairness"])
    # The time of an untimed result is NaN, which compares false.
    cheap = graph.n_nodes + graph.n_edges <= _CHEAP_SIZE and not result.seconds > _CHEAP_SECONDS
    grid = _GRID if cheap and dial_ends(model) else (0.0,)
    values = sorted(set(grid) - ({dial} if bound is None else set()))
    with warnings.catch_warnings():
        # Warnings of these fits are not about the result.
        warnings.simplefilter("ignore", UserWarning)
        others = tradeoff_curve(graph, estimator=model, fairness=values, random_state=result.seed)
    point = single_point(graph, result.labels, others.notion, dial, result.seed)
    first = others.points[0]
    compared = aligned(first.labels, result.labels, first.scores, "without fairness", left_out)
    return {"baseline": compared, **_with_result(others, point, has_dial=bound is None)}


def _with_result(others: TradeoffCurve, point: TradeoffPoint, *, has_dial: bool) -> dict[str, Any]:
    """Add a result to a curve, unless a point dominates it."""
    front = nondominated((point, *others.front), others.measure)
    place = index_of(point, front)
    if place is None:
        # At least as good in both measures, up to rounding.
        names = ("Q", others.measure)
        better = next(
            one
            for one in front
            if all(round(one.scores[name] - point.scores[name], 12) >= 0 for name in names)
        )
        return {"curve": others, "point": point, "better": better}
    if not has_dial:
        # Found under a bound: its weight is the one at which the bound is reached.
        scores = [[one.scores[name] for one in front] for name in ("Q", others.measure)]
        point = replace(point, fairness=float(passing_weights(*scores)[place]))
        front = (*front[:place], point, *front[place + 1 :])
    points = sorted((*others.points, point), key=lambda one: (one.fairness, one.scores[others.measure]))
    return {"curve": replace(others, points=tuple(points), front=front), "point": point}


def method_of(estimator: str) -> Method | None:
    """Return the method whose class has a name, or None."""
    return next((method for method in METHODS.values() if method.estimator == estimator), None)


def dial_ends(estimator: Any) -> bool:
    """Return whether the fairness weight of an estimator ends at 1."""
    constraint = estimator._parameters["fairness"]
    return isinstance(constraint, Real) and constraint.high == 1


def _rebuilt_estimator(result: ClusteringResult) -> Any:
    """Return the estimator of a result, or None if its record is incomplete."""
    method = method_of(result.method)
    if method is None:
        return None
    estimator = method.load()
    parameters = {
        name: tuple(value) if isinstance(value, list) else value for name, value in result.parameters.items()
    }
    # Dask workers of the fit may be gone, and a page needs the graph in memory anyway.
    others = {"random_state": result.seed, "at_least": None, "execution": None}
    parameters |= {name: value for name, value in others.items() if name in parameters}
    # Objects are recorded by their repr, from which they cannot be rebuilt.
    known = estimator._parameters
    accepted = all(name in known and known[name].accepts(value) for name, value in parameters.items())
    return estimator(**parameters) if accepted else None


def read_folder(folder: Path) -> tuple[ClusteringResult | TradeoffCurve, TradeoffPoint | None, Stored]:
    """Return the result or the curve that a command wrote into a folder, and the recommended point of a curve."""
    stored = read_stored(folder, {*POSSIBLE_FILES, *curves.CURVE_FILES})
    kind = stored.manifest["kind"]
    if kind == KIND:
        return ClusteringResult.from_stored(stored), None, stored
    if kind == curves.KIND:
        curve = TradeoffCurve.from_stored(stored)
        return curve, curves.recommended_point(stored, curve), stored
    raise InputError(f"{folder} holds neither a clustering nor a curve, but {kind!r}, which has no page.")


def labels_before(stored: Stored, result: ClusteringResult) -> Baseline | None:
    """Return the labels that `equigraph refine` started from, None for other commands."""
    labels = labels_table(stored, result.labels.size).get("before")
    return None if labels is None else Baseline(labels, {}, "before")
