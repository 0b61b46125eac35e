"""Labels of a graph with attributes and rules, and the exact effect of moves and merges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import ParameterError
from equigraph.graph import Graph
from equigraph.graph.groups import Groups, contingency_table
from equigraph.graph.names import NodePlaces, name_text
from equigraph.metrics._table import read_nodes
from equigraph.metrics.notions import NORMALIZED, Notion
from equigraph.results.features import graph_of, notion_of
from equigraph.rules import Facts, Rules, Violation, violations

# Methods whose dial weighs Q against a notion; that of a factorisation weighs something else.
_DIALS = ("FairPartition", "FairLouvain", "refine_labels")


@dataclass(frozen=True)
class Aim:
    """Objective of the method."""

    notion: Notion = NORMALIZED  # the fairness N
    fairness: float | None = None  # the dial f of ``(1 - f) Q + f N``; None if the method has no such dial
    at_least: float | None = None  # lower bound on N, in place of a dial
    weights: Mapping[str, float] | None = None  # weight of attributes in N; 1 for those that are not named

    def mean(self, values: Mapping[str, float]) -> float:
        """Return N, or a change of it, from that of each attribute."""
        weights = [(self.weights or {}).get(name, 1.0) for name in values]
        return float(np.average(list(values.values()), weights=weights)) if values else 0.0

    def objective(self, modularity: float, fairness: Mapping[str, float]) -> float | None:
        """Return the objective, or a change of it; None if there is no dial."""
        if self.fairness is None or self.at_least is not None:
            return None
        return (1 - self.fairness) * modularity + self.fairness * self.mean(fairness)

    @property
    def in_words(self) -> str:
        """The objective as a formula."""
        if self.at_least is not None:
            return f"Q with {self.notion.measure} of at least {self.at_least:g}"
        f = self.fairness
        return "Q" if f is None else f"{1 - f:g} Q + {f:g} {self.notion.measure}"


@dataclass(frozen=True, eq=False)
class Subject:
    """Labels of a graph, in ``range(n_clusters)``, with attributes and, if there are any, rules."""

    graph: Graph
    labels: NDArray[np.intp]
    n_clusters: int
    attributes: Mapping[str, Groups] = field(default_factory=dict)
    aim: Aim = Aim()
    rules: Rules | None = None
    sensitive_features: Any = None

    @cached_property
    def degrees(self) -> NDArray[np.float64]:
        """Link weight of each node."""
        return self.graph.adjacency @ np.ones(self.graph.n_nodes)

    @cached_property
    def volumes(self) -> NDArray[np.float64]:
        """Link weight of each cluster."""
        sums: NDArray[Any] = np.bincount(self.labels, weights=self.degrees, minlength=self.n_clusters)
        return sums

    @cached_property
    def sizes(self) -> NDArray[np.intp]:
        """Nodes of each cluster."""
        return np.bincount(self.labels, minlength=self.n_clusters)

    def table(self, name: str, labels: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the nodes of every (cluster, group) pair of an attribute, for any labels."""
        groups = self.attributes[name]
        return contingency_table(labels, groups.codes, self.n_clusters, groups.n_groups)

    def notions(self, labels: NDArray[np.intp]) -> dict[str, float]:
        """Return N of each attribute, for any labels."""
        return {
            name: self.aim.notion.value(self.table(name, labels), groups.sizes)
            for name, groups in self.attributes.items()
        }

    @cached_property
    def fairness(self) -> dict[str, float]:
        """N of each attribute."""
        return self.notions(self.labels)

    def gains(self, labels: NDArray[np.intp]) -> dict[str, float]:
        """Return the gain in N of each attribute by other labels."""
        return {name: value - self.fairness[name] for name, value in self.notions(labels).items()}

    def node(self, name: Any) -> int:
        """Return the position of a node; names are compared as text."""
        places = NodePlaces(self.graph.node_names)
        return places.of(name, "There is no node {}", ", or the numbers of two clusters")

    def cluster(self, number: Any) -> int:
        """Return the number of a cluster; raise ParameterError if there is none of that number."""
        text = name_text(number)
        if not text.isdecimal() or int(text) >= self.n_clusters:
            raise ParameterError(
                f"There is no cluster {number!r}: expected a whole number from 0 to {self.n_clusters - 1}."
            )
        return int(text)

    def row(self, node: int) -> tuple[NDArray[np.integer], NDArray[Any]]:
        """Return the neighbours of a node, and the weights of its links."""
        part = slice(*self.graph.adjacency.indptr[node : node + 2].tolist())
        return self.graph.adjacency.indices[part], self.graph.adjacency.data[part]

    def move_modularity(self, node: int) -> NDArray[np.float64]:
        """Return the gain in Q of moving a node to each cluster; 0 for its own."""
        total, own = float(self.degrees.sum()), self.labels[node]
        if total == 0:
            return np.zeros(self.n_clusters)
        others, data = self.row(node)
        to: NDArray[Any] = np.bincount(self.labels[others], weights=data, minlength=self.n_clusters)
        degree = self.degrees[node]
        gain = 2 * (to - to[own]) / total
        gain -= 2 * (degree / total) * ((self.volumes - self.volumes[own] + degree) / total)
        gain[own] = 0.0
        return gain

    def merge_modularity(self, one: int, other: int, between: float) -> float:
        """Return the gain in Q of merging two clusters."""
        total = float(self.degrees.sum())
        if total == 0:
            return 0.0
        return float(2 * (between / total - (self.volumes[one] / total) * (self.volumes[other] / total)))

    @cached_property
    def broken(self) -> tuple[Violation, ...]:
        """Violations of the rules."""
        return self._violations(self.labels, self.n_clusters)

    @cached_property
    def _facts(self) -> Facts:
        return Facts(self.graph, self.sensitive_features)

    def _violations(self, labels: NDArray[np.intp], n_clusters: int | None) -> tuple[Violation, ...]:
        if self.rules is None:
            return ()
        return tuple(violations(self.rules, self._facts, labels, None, n_clusters))

    def rules_after(
        self, labels: NDArray[np.intp], n_clusters: int | None
    ) -> tuple[tuple[Violation, ...], tuple[Violation, ...]]:
        """Return the violations that other labels add, and those that they remove.

        A violation before and after, even with other numbers, is neither.
        """
        after = self._violations(labels, n_clusters)
        now, then = ({one.about for one in found} for found in (self.broken, after))
        return (
            tuple(one for one in after if one.about not in now),
            tuple(one for one in self.broken if one.about not in then),
        )


def subject_of(result: Any, graph: Any, sensitive_features: Any, rules: Any) -> Subject:
    """Return the subject of a result: its graph, labels, attributes, objective and rules."""
    known, parameters = graph_of(result, graph), result.parameters
    attributes = read_nodes(known).attributes(sensitive_features, known.attribute)
    weights = {}
    if attributes is not None:
        weights = dict(zip(attributes.names, attributes.weights.tolist(), strict=True))
    aim = Aim(
        notion=notion_of(result),
        fairness=parameters.get("fairness") if result.method in _DIALS else None,
        at_least=parameters.get("at_least"),
        weights=weights,
    )
    given = parameters.get("rules") if rules is None else rules
    return Subject(
        graph=known,
        labels=result.labels,
        n_clusters=result.n_clusters,
        attributes={} if attributes is None else attributes.groups,
        aim=aim,
        rules=Rules.from_dict(given) if isinstance(given, Mapping) else given,
        sensitive_features=sensitive_features,
    )
