"""Findings: the data of a page, computed before it is written."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.parameters import Real
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
from equigraph.graph.groups.encode import unique_values
from equigraph.graph.labels import labels_in_order
from equigraph.methods import METHODS, Method
from equigraph.metrics import composition, evaluate
from equigraph.metrics.quality import share_inside
from equigraph.metrics.summary import Composition
from equigraph.results.contents import KIND, POSSIBLE_FILES, labels_table
from equigraph.results.features import clustered_graph
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


@dataclass(frozen=True, eq=False)
class Baseline:
    """Another clustering of the same nodes, to compare with."""

    labels: NDArray[np.intp]  # labels, aligned with those they are compared with
    scores: Mapping[str, Any]  # scores; empty if unknown
    phrase: str  # phrase that describes it, such as "without fairness"

    def moved(self, labels: NDArray) -> NDArray[np.intp]:
        """Return the nodes whose cluster differs."""
        return np.flatnonzero(self.labels != labels)


@dataclass(frozen=True, eq=False)
class Findings:
    """A clustering, or the chosen point of a curve, with the data of its page."""

    subject: ClusteringResult | TradeoffCurve  # the subject of the page
    # Labels, requested number of clusters (empty ones included), and scores.
    labels: NDArray[np.intp]
    n_clusters: int
    scores: Mapping[str, Any]
    groups: Groups | None
    attribute: str | None  # name of the groups
    graph: Graph | None  # the graph, if known
    dial: float | None  # fairness weight; None for a method without one
    interaction: NDArray | sparse.csr_array | None  # how strongly the clusters are linked
    left_out: list[str] = field(default_factory=list)  # sentences on omitted content and the reasons
    baseline: Baseline | None = None  # the clustering to compare with
    curve: TradeoffCurve | None = None  # the curve, with these labels as a point
    point: TradeoffPoint | None = None
    # A point of the curve that dominates the clustering.
    better: TradeoffPoint | None = None

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of nodes of each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    @property
    def is_curve(self) -> bool:
        """Whether the page is about a whole curve."""
        return isinstance(self.subject, TradeoffCurve)

    def compositions(self) -> list[tuple[str | None, Groups, Composition]]:
        """Return each attribute with its groups and their composition in nonempty clusters; empty without groups."""
        attributes = self.subject.attributes
        if attributes is None:
            return []
        return [
            (
                name if attributes.are_several else self.attribute,
                groups,
                composition(self.labels, sensitive_features=groups),
            )
            for name, groups in attributes.groups.items()
        ]

    def within(self, labels: NDArray) -> float | None:
        """Return the share of the links (by weight) inside clusters; None if unknown."""
        if self.graph is None or not self.graph.n_edges:
            return None
        return share_inside(self.graph.unit_adjacency, labels)


def of_result(
    result: ClusteringResult, graph: Any, baseline: ClusteringResult | ArrayLike | bool | Baseline
) -> Findings:
    """Return the findings about a clustering."""
    left_out = [] if graph is not None else [_NO_GRAPH]
    known = None if graph is None else clustered_graph(graph, result, result.attribute)
    groups = result.groups
    if groups is None:
        left_out.append("The nodes have no groups, so nothing is said about fairness.")
    # Labels found under a bound have no fairness weight.
    dial = None if result.parameters.get("at_least") is not None else result.parameters.get("fairness")
    compared: dict[str, Any] = {}
    if isinstance(baseline, Baseline):
        compared = {"baseline": baseline}
    elif not isinstance(baseline, bool):
        compared = {"baseline": _given_baseline(baseline, result, known)}
    elif not baseline:
        left_out.append("The comparison without fairness was not wanted.")
    elif known is not None and groups is not None:
        compared = _without_fairness(result, known, left_out)
    interaction = result.interaction
    if interaction is None and known is not None:
        interaction = interaction_of(known, result.labels, result.n_clusters)
    return Findings(
        subject=result,
        labels=result.labels,
        n_clusters=result.n_clusters,
        scores=result.scores,
        groups=groups,
        attribute=result.attribute,
        graph=known,
        dial=None if dial is None else float(dial),
        interaction=interaction,
        left_out=left_out,
        **compared,
    )


def of_curve(curve: TradeoffCurve, graph: Any, select: Any) -> Findings:
    """Return the findings about a curve and one of its points."""
    left_out = [] if graph is not None else [_NO_GRAPH]
    # select checks the name.
    point: TradeoffPoint = curve.select(select) if isinstance(select, str) else select  # type: ignore[arg-type]
    if not any(one is point for one in curve.candidates()):
        raise ParameterError(
            "The selected point is not one of the curve: expected one of its points, or a rule."
        )
    attribute = curve.attribute
    known = None if graph is None else clustered_graph(graph, curve, attribute)
    n_clusters = int(point.sizes.size)
    first = curve.points[0]
    compared = None
    if first is point:
        left_out.append(
            "The chosen point has the lowest dial of the curve, so there is nothing to compare it with."
        )
    else:
        phrase = "without fairness" if first.fairness == 0 else f"at dial {first.fairness:g}"
        compared = aligned(first.labels, point.labels, first.scores, phrase, left_out)
    return Findings(
        subject=curve,
        labels=point.labels,
        n_clusters=n_clusters,
        scores=point.scores,
        groups=curve.groups,
        attribute=attribute if known is None or known.attribute is None else known.attribute,
        graph=known,
        dial=point.fairness,
        interaction=None if known is None else interaction_of(known, point.labels, n_clusters),
        left_out=left_out,
        baseline=compared,
        curve=curve,
        point=point,
    )


def _given_baseline(
    given: ClusteringResult | ArrayLike, result: ClusteringResult, graph: Graph | None
) -> Baseline:
    """Return the given baseline, with clusters aligned with those of the result."""
    n = result.labels.size
    given_labels: Any = given
    scores: Mapping[str, Any] = {}
    if isinstance(given, ClusteringResult):
        given_labels = dict(zip(given.node_names.tolist(), given.labels.tolist(), strict=True))
        scores = given.scores
    nodes = Graph._trusted(sparse.csr_array((n, n)), result.node_names)
    labels = labels_in_order(given_labels, nodes, "labels of the baseline")
    if graph is not None and not isinstance(given, ClusteringResult):
        scores = evaluate(graph, labels, sensitive_features=result.attributes)
    codes = unique_values(labels)[1]
    found = aligned(codes, result.labels, scores, "in the baseline", [])
    if found is None:
        raise ParameterError(
            f"The baseline has more than {MAX_ALIGNED:,} clusters, too many to find out which are the same."
        )
    return found


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
    scale = model._parameters["fairness"]
    bounded = isinstance(scale, Real) and scale.high == 1
    # The time of an untimed result is NaN, which compares false.
    cheap = graph.n_nodes + graph.n_edges <= _CHEAP_SIZE and not result.seconds > _CHEAP_SECONDS
    values = sorted({*(_GRID if bounded and cheap else (0.0,))} - ({dial} if bound is None else set()))
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
    constraints = estimator._parameters
    if not all(
        name in constraints and constraints[name].accepts(value) for name, value in parameters.items()
    ):
        return None
    return estimator(**parameters)


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


def labels_before(stored: Stored, result: ClusteringResult, graph: Any) -> Baseline | None:
    """Return the labels that `equigraph refine` started from, None for other commands."""
    columns = labels_table(stored, result.labels.size)
    if "before" not in columns:
        return None
    before = np.array(["" if label is None else str(label) for label in columns["before"].tolist()])
    codes = np.asarray(unique_values(before)[1], dtype=np.intp)
    scores = {} if graph is None else evaluate(graph, codes, sensitive_features=result.attributes)
    return aligned(codes, result.labels, scores, "before", [])
