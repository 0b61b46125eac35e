"""Findings: everything that is computed for a page, before it is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph.analysis.tradeoff import TradeoffCurve
from equigraph.apps.report import baseline as baselines
from equigraph.apps.report.baseline import Baseline, Costs
from equigraph.base import interaction_of
from equigraph.exceptions import ParameterError
from equigraph.graph import Graph
from equigraph.graph.groups import Attributes, Groups
from equigraph.graph.labels import labels_in_order
from equigraph.metrics import composition, evaluate
from equigraph.metrics.quality import share_inside
from equigraph.metrics.summary import Composition
from equigraph.results.features import clustered_graph
from equigraph.results.result import ClusteringResult

if TYPE_CHECKING:
    from equigraph.analysis.tradeoff.point import TradeoffPoint


@dataclass(frozen=True, eq=False)
class Findings:
    """A clustering (on its own, or the chosen point of a curve) with everything that the page says about it."""

    subject: ClusteringResult | TradeoffCurve  # what the page is about
    # The clusters, the number that was asked for (empty ones included), and their scores.
    labels: NDArray[np.intp]
    n_clusters: int
    scores: Mapping[str, Any]
    groups: Groups | None
    attribute: str | None  # what the groups are called
    graph: Graph | None  # the graph, if it is known
    dial: float | None  # where the fairness dial stands; None for a method without one
    seed: int  # seed of these labels
    interaction: NDArray | sparse.csr_array | None  # how strongly the clusters are linked
    curve: TradeoffCurve | None  # the curve, and these labels as a point of it
    point: TradeoffPoint | None
    baseline: Baseline | None  # what the clusters are compared with
    left_out: list[str] = field(default_factory=list)  # what the page does not show and why, in sentences
    better: TradeoffPoint | None = None

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of nodes of each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    @property
    def parameters(self) -> Mapping[str, Any]:
        """Parameters of the method."""
        return self.subject.parameters

    @property
    def is_curve(self) -> bool:
        """Whether the page is about a whole curve."""
        return isinstance(self.subject, TradeoffCurve)

    @property
    def attributes(self) -> Attributes | None:
        """All attributes of the nodes."""
        return self.subject.attributes

    @property
    def n_attributes(self) -> int:
        """Number of attributes."""
        return 0 if self.attributes is None else len(self.attributes)

    def compositions(self) -> list[tuple[str | None, Groups, Composition]]:
        """Return each attribute with its groups, and these in each cluster that has a node; nothing without groups."""
        if self.attributes is None:
            return []
        several = self.n_attributes > 1
        return [
            (name if several else self.attribute, groups, composition(self.labels, sensitive_features=groups))
            for name, groups in self.attributes.groups.items()
        ]

    def within(self, labels: NDArray) -> float | None:
        """Return the share of the links (by weight) that stay inside a cluster; None if that is not known."""
        if self.graph is None or not self.graph.n_edges:
            return None
        return share_inside(self.graph.unit_adjacency, labels)


def of_result(
    result: ClusteringResult, graph: Any, baseline: ClusteringResult | ArrayLike | bool | Baseline
) -> Findings:
    """Return the findings about a clustering."""
    left_out: list[str] = []
    known = _checked_graph(graph, result, result.attribute, left_out)
    groups = result.groups
    if groups is None:
        left_out.append("The nodes have no groups, so nothing is said about fairness.")
    # Labels that were asked for by a bound have no dial.
    dial = None if result.parameters.get("at_least") is not None else result.parameters.get("fairness")
    costs: Costs | None = None
    if isinstance(baseline, Baseline):
        compared: Baseline | None = baseline
    elif isinstance(baseline, bool):
        compared = None
        if baseline and known is not None and groups is not None:
            costs = baselines.without_fairness(result, known, left_out)
            compared = None if costs is None else costs.baseline
        elif not baseline:
            left_out.append("The comparison without fairness was not wanted.")
    else:
        compared = _given_baseline(baseline, result, known)
    return Findings(
        subject=result,
        labels=result.labels,
        n_clusters=result.n_clusters,
        scores=result.scores,
        groups=groups,
        attribute=result.attribute,
        graph=known,
        dial=None if dial is None else float(dial),
        seed=result.seed,
        interaction=_interaction(known, result.labels, result.n_clusters, result.interaction),
        curve=None if costs is None else costs.curve,
        point=None if costs is None else costs.point,
        baseline=compared,
        left_out=left_out,
        better=None if costs is None else costs.better,
    )


def of_curve(curve: TradeoffCurve, graph: Any, select: Any) -> Findings:
    """Return the findings about a curve and one of its points."""
    left_out: list[str] = []
    # A wrong name is refused by select itself.
    point: TradeoffPoint = curve.select(select) if isinstance(select, str) else select  # type: ignore[arg-type]
    if not any(one is point for one in curve.candidates()):
        raise ParameterError(
            "The selected point is not one of the curve: expected one of its points, or a rule."
        )
    attribute = curve.attribute
    known = _checked_graph(graph, curve, attribute, left_out)
    n_clusters = int(point.sizes.size)
    first = curve.points[0]
    compared = None
    if first is point:
        left_out.append(
            "The chosen point has the lowest dial of the curve, so there is nothing to compare it with."
        )
    else:
        phrase = "without fairness" if first.fairness == 0 else f"at dial {first.fairness:g}"
        compared = baselines.aligned(first.labels, point.labels, first.scores, phrase, left_out)
    return Findings(
        subject=curve,
        labels=point.labels,
        n_clusters=n_clusters,
        scores=point.scores,
        groups=curve.groups,
        attribute=attribute if known is None or known.attribute is None else known.attribute,
        graph=known,
        dial=point.fairness,
        seed=point.seed,
        interaction=_interaction(known, point.labels, n_clusters),
        curve=curve,
        point=point,
        baseline=compared,
        left_out=left_out,
    )


def _interaction(graph: Graph | None, labels: NDArray, n_clusters: int, known: Any = None) -> Any:
    """Return the interaction that the method found, or else the mean weight between clusters."""
    if known is not None or graph is None:
        return known
    return interaction_of(graph, labels, n_clusters)


def _checked_graph(
    graph: Any, subject: ClusteringResult | TradeoffCurve, attribute: str | None, left_out: list[str]
) -> Graph | None:
    """Return the graph if it is the one of the subject; raise if it is another."""
    if graph is None:
        left_out.append(
            "The graph was not at hand, so its drawing, the share of links inside clusters and the comparison "
            "without fairness, where there is no curve, are left out."
        )
        return None
    return clustered_graph(graph, subject, attribute)


def _given_baseline(
    given: ClusteringResult | ArrayLike, result: ClusteringResult, graph: Graph | None
) -> Baseline:
    """Return other clusters of the same nodes, numbered like those of the result."""
    from equigraph.graph.groups.encode import unique_values

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
    found = baselines.aligned(codes, result.labels, scores, "in the baseline", [])
    if found is None:
        raise ParameterError(
            f"The baseline has more than {baselines.MAX_ALIGNED:,} clusters, too many to find out which are the same."
        )
    return found
