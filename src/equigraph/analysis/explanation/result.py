"""Explanations of a result: the graph it is of, what its method climbed, and the rules it was made under."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equigraph.analysis.explanation.node import NodeExplanation, explain_node
from equigraph.analysis.explanation.pair import PairExplanation, explain_pair
from equigraph.analysis.explanation.subject import Aim, Subject
from equigraph.graph.groups import Attributes
from equigraph.metrics._table import read_nodes
from equigraph.metrics.notions import NORMALIZED, NOTIONS
from equigraph.results.features import graph_of
from equigraph.rules import Rules

# Methods whose dial weighs Q against a notion; that of a factorisation weighs something else.
_DIALS = ("FairPartition", "FairLouvain", "refine_labels")


def explain(
    result: Any, one: Any, other: Any, *, graph: Any, sensitive_features: Any, rules: Any
) -> NodeExplanation | PairExplanation:
    """Explain a node, or a pair of clusters; see `equigraph.ClusteringResult.explain`."""
    subject = _subject(result, graph, sensitive_features, rules)
    return explain_node(subject, one) if other is None else explain_pair(subject, one, other)


def _subject(result: Any, graph: Any, sensitive_features: Any, rules: Any) -> Subject:
    known = graph_of(result, graph)
    given = result.parameters.get("rules") if rules is None else rules
    attributes = read_nodes(known).attributes(sensitive_features, known.attribute)
    return Subject(
        graph=known,
        labels=result.labels,
        n_clusters=result.n_clusters,
        attributes={} if attributes is None else attributes.groups,
        aim=_aim(result, attributes),
        rules=Rules.from_dict(given) if isinstance(given, Mapping) else given,
        sensitive_features=sensitive_features,
    )


def _aim(result: Any, attributes: Attributes | None) -> Aim:
    parameters = result.parameters
    notion = NOTIONS.get(str(parameters.get("notion")), NORMALIZED)
    dial = parameters.get("fairness") if result.method in _DIALS else None
    weights = {}
    if attributes is not None:
        weights = dict(zip(attributes.names, attributes.weights.tolist(), strict=True))
    return Aim(notion, dial, parameters.get("at_least"), weights)
