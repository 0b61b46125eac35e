"""Explanations of a person's cluster and of two separate clusters, as numbers and in words.

Use `equigraph.ClusteringResult.explain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.records import plain
from equigraph._utils.text import count, listed
from equigraph.analysis.wording import in_words, objective_in_words
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
# Maximum number of names, groups and clusters in a text; the fields have all of them.
_NAMES, _GROUPS, _CLUSTERS = 6, 6, 12
# Smaller changes are rounding.
_TOLERANCE = 1e-12


def explain(
    result: Any, one: Any, other: Any, *, graph: Any, sensitive_features: Any, rules: Any
) -> NodeExplanation | PairExplanation:
    """Explain a node, or a pair of clusters; see `equigraph.ClusteringResult.explain`."""
    subject = subject_of(result, graph, sensitive_features, rules)
    return explain_node(subject, one) if other is None else explain_pair(subject, one, other)


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
        return objective_in_words(self.fairness, self.notion.measure)


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

    def cluster(self, number: Any) -> int:
        """Return the number of a cluster; raise ParameterError if there is none of that number."""
        text = name_text(number)
        if not text.isdecimal() or int(text) >= self.n_clusters:
            raise ParameterError(
                f"There is no cluster {number!r}: expected a whole number from 0 to {self.n_clusters - 1}."
            )
        return int(text)

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

    def change(self, Q: float, labels: NDArray[np.intp], n_clusters: int | None) -> dict[str, Any]:
        """Return the fields of a `Change` to other labels, from their change of the modularity.

        A violation before and after, even with other numbers, is neither added nor removed.
        """
        fairness, aim = self.notions(labels), self.aim
        gains = {name: value - self.fairness[name] for name, value in fairness.items()}
        after = self._violations(labels, n_clusters)
        now, then = ({one.about for one in found} for found in (self.broken, after))
        return {
            "Q": Q,
            "fairness": gains,
            "objective": aim.objective(Q, gains),
            "breaks": tuple(one for one in after if one.about not in now),
            "mends": tuple(one for one in self.broken if one.about not in then),
            "fair_enough": aim.at_least is None or aim.mean(fairness) >= aim.at_least - _TOLERANCE,
        }


def subject_of(result: Any, graph: Any, sensitive_features: Any, rules: Any) -> Subject:
    """Return the subject of a result: its graph, labels, attributes, objective and rules."""
    known, parameters = graph_of(result, graph), result.parameters
    attributes = read_nodes(known).attributes(sensitive_features, known.attribute)
    aim = Aim(notion_of(result))
    if attributes is not None:
        fairness = parameters.get("fairness") if result.method in _DIALS else None
        weights = dict(zip(attributes.names, attributes.weights.tolist(), strict=True))
        aim = Aim(aim.notion, fairness, parameters.get("at_least"), weights)
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


def _as_json(value: Any) -> Any:
    """Return a value of an explanation for JSON: violations and aims in words, moves and links by their fields."""
    if isinstance(value, Aim):
        return value.in_words
    if isinstance(value, Violation):
        return str(value)
    if isinstance(value, (Linked, Move)):
        value = vars(value)
    if isinstance(value, tuple):
        return [_as_json(one) for one in value]
    if isinstance(value, Mapping):
        return {str(key): _as_json(one) for key, one in value.items()}
    return plain(value)


@dataclass(frozen=True)
class Linked:
    """Linked people of a person in one cluster: number, weight and names."""

    cluster: int
    number: int
    weight: float
    names: tuple[Any, ...]


@dataclass(frozen=True, kw_only=True)
class Change:
    """Effect of other labels on the scores and the rules; ``fair_enough`` is whether they keep the bound on N."""

    Q: float
    fairness: Mapping[str, float]
    objective: float | None
    breaks: tuple[Violation, ...]
    mends: tuple[Violation, ...]
    fair_enough: bool

    @property
    def gain(self) -> float:
        """Change of the objective, which is the modularity for a method without a dial."""
        return self.Q if self.objective is None else self.objective


@dataclass(frozen=True, kw_only=True)
class Move(Change):
    """Effect of moving one person to another cluster.

    Attributes
    ----------
    cluster : int
        The other cluster.
    Q : float
        Change of the modularity.
    fairness : dict of str to float
        Change of the notion for each attribute.
    objective : float or None
        Change of the objective; None if the method has no dial.
    breaks, mends : tuple of Violation
        Violations of rules that would be added, and that would be removed.
    fair_enough : bool
        Whether the notion keeps the lower bound of the method, if there is one.
    """

    cluster: int


class _Explanation:
    """What explanations of both kinds have in common."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {name: _as_json(value) for name, value in vars(self).items()}

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class NodeExplanation(_Explanation):
    """Explanation of a person's cluster; printing it gives sentences.

    Attributes
    ----------
    node : object
        Name of the person.
    cluster, size : int
        The cluster, and its number of nodes.
    groups : dict of str to object
        Value of each attribute; None if there is none.
    linked : tuple of Linked
        Linked people, by cluster, for every cluster.
    moves : tuple of Move
        One for every other cluster.
    broken : tuple of Violation
        Current violations of rules.
    aim : Aim
        Objective of the method.
    fairness : dict of str to float
        Current value of the notion for each attribute.
    """

    node: Any
    cluster: int
    size: int
    groups: Mapping[str, Any]
    linked: tuple[Linked, ...]
    moves: tuple[Move, ...]
    broken: tuple[Violation, ...]
    aim: Aim
    fairness: Mapping[str, float]

    def __str__(self) -> str:
        return in_words("node", told=self, where=self._where(), links=self._links(), most=_CLUSTERS)

    def _where(self) -> str:
        others = "alone" if self.size == 1 else f"with {count(self.size - 1, 'other')}"
        values = ", ".join(f"{name} {value!r}" for name, value in self.groups.items() if value is not None)
        return f"{self.node}{f' ({values})' if values else ''} is in cluster {self.cluster}, {others}."

    def _links(self) -> str:
        total = sum(one.number for one in self.linked)
        if total == 0:
            return f"{self.node} is linked to nobody, so links favour no cluster."
        some = sorted((one for one in self.linked if one.number), key=lambda one: -one.number)
        text = [f"{one.number} in cluster {one.cluster} ({_few(one.names)})" for one in some[:_CLUSTERS]]
        own = next((one.number for one in self.linked if one.cluster == self.cluster), 0)
        none = "" if own else f", and none in cluster {self.cluster}"
        return f"{count(total, 'linked person', 'linked people')}: {listed(text)}{none}."

    @property
    def conclusion(self) -> str:
        """The answer in one sentence: whether any single move would improve the objective.

        Moves that would empty a cluster do not count.
        """
        if self.size == 1:
            return f"{self.node} stays: cluster {self.cluster} would be empty."
        allowed = [move for move in self.moves if not move.breaks and move.fair_enough]
        best = max(allowed, key=lambda move: move.gain, default=None)
        if best is None or best.gain <= _TOLERANCE:
            within = " within the rules" if any(move.breaks for move in self.moves) else ""
            return f"No move of {self.node} alone raises {self.aim.in_words}{within}."
        return (
            f"Moving {self.node} alone to cluster {best.cluster} would raise {self.aim.in_words} by "
            f"{best.gain:.4f}."
        )


def explain_node(subject: Subject, name: Any) -> NodeExplanation:
    """Explain the cluster of a node, which is found by the text of its name."""
    graph, labels, k = subject.graph, subject.labels, subject.n_clusters
    places = NodePlaces(graph.node_names)
    node = places.of(name, "There is no node {}", ", or the numbers of two clusters")
    own, row = int(labels[node]), slice(*graph.adjacency.indptr[node : node + 2].tolist())
    others, data = graph.adjacency.indices[row], graph.adjacency.data[row]
    weights: NDArray[Any] = np.bincount(labels[others], weights=data, minlength=k)
    names: list[list[Any]] = [[] for _ in range(k)]
    for cluster, other in zip(labels[others].tolist(), graph.node_names[others].tolist(), strict=True):
        names[cluster].append(other)
    # The gain in Q of moving the node to each cluster.
    degree, total = subject.degrees[node], float(subject.degrees.sum()) or 1.0
    gain = 2 * (weights - weights[own]) / total
    gain -= 2 * (degree / total) * ((subject.volumes - subject.volumes[own] + degree) / total)
    moves = []
    for cluster in np.delete(np.arange(k), own).tolist():
        moved = labels.copy()
        moved[node] = cluster
        moves.append(Move(cluster=cluster, **subject.change(float(gain[cluster]), moved, k)))
    return NodeExplanation(
        node=graph.node_names[node : node + 1].tolist()[0],
        cluster=own,
        size=int(subject.sizes[own]),
        groups={
            attribute: None if groups.codes[node] < 0 else groups.names.tolist()[groups.codes[node]]
            for attribute, groups in subject.attributes.items()
        },
        linked=tuple(
            Linked(cluster, len(those), weight, tuple(those))
            for cluster, (those, weight) in enumerate(zip(names, weights.tolist(), strict=True))
        ),
        moves=tuple(moves),
        broken=subject.broken,
        aim=subject.aim,
        fairness=subject.fairness,
    )


def _few(names: tuple[Any, ...]) -> str:
    shown = [str(name) for name in names[:_NAMES]]
    return listed(shown) if len(names) <= _NAMES else f"{', '.join(shown)} and {len(names) - _NAMES:,} more"


@dataclass(frozen=True, repr=False, kw_only=True)
class PairExplanation(Change, _Explanation):
    """Explanation of two separate clusters; printing it gives sentences.

    Attributes
    ----------
    clusters, sizes : tuple of int
        The two, and their numbers of nodes.
    inside : tuple of float
        Link weight within each.
    between : float
        Link weight that joins them.
    by_chance : float
        Expected weight between them if links were random, with the same degrees.
    Q : float
        Change of the modularity if the two were merged.
    fairness : dict of str to float
        Change of the notion for each attribute.
    objective : float or None
        Change of the objective; None if the method has no dial.
    compositions : dict of str to dict
        For each attribute the members of each group, in the first cluster and in the second.
    breaks, mends : tuple of Violation
        Violations of rules that would be added, and that would be removed.
    fair_enough : bool
        Whether the notion would keep the lower bound of the method, if there is one.
    weighted : bool
        Whether links have weights, so that their sums are not counts.
    aim : Aim
        Objective of the method.
    """

    clusters: tuple[int, int]
    sizes: tuple[int, int]
    inside: tuple[float, float]
    between: float
    by_chance: float
    compositions: Mapping[str, Mapping[Any, tuple[int, int]]]
    weighted: bool
    aim: Aim

    def __str__(self) -> str:
        return in_words("pair", told=self, most=_GROUPS)

    @property
    def conclusion(self) -> str:
        """The answer in one sentence."""
        what, f = self.aim.in_words, self.aim.fairness
        if self.gain < -_TOLERANCE:
            has_dial = self.objective is not None
            fewer = (
                "fewer links join them than chance would give"
                if self.Q < 0 and not (has_dial and f == 1)
                else ""
            )
            unfair = "fairness would fall" if has_dial and f and self.aim.mean(self.fairness) < 0 else ""
            why = listed(filter(None, (fewer, unfair)))
            return f"They are two because as one they would lower {what} by {-self.gain:.4f}: {why}."
        change = f"raise {what} by {self.gain:.4f}" if self.gain > _TOLERANCE else f"leave {what} as it is"
        why = "so many clusters were asked for, or because no better division was found"
        if self.breaks:
            why = "together they would break a rule"
        elif not self.fair_enough:
            why = f"their {self.aim.notion.measure} would be too low"
        return f"As one they would {change}: they are two because {why}."


def explain_pair(subject: Subject, one: Any, other: Any) -> PairExplanation:
    """Explain why two clusters are separate."""
    a, b = subject.cluster(one), subject.cluster(other)
    if a == b:
        raise ParameterError(f"Cluster {a} is given twice: expected two clusters.")
    for cluster in (a, b):
        if subject.sizes[cluster] == 0:
            raise ParameterError(f"Cluster {cluster} has no node, so there is nothing to compare.")
    adjacency, labels, total = subject.graph.adjacency, subject.labels, float(subject.degrees.sum()) or 1.0
    links = {}
    for one, other in ((a, a), (a, b), (b, b)):
        rows = adjacency[np.flatnonzero(labels == one)]
        links[one, other] = float(rows.data[labels[rows.indices] == other].sum(dtype=np.float64))
    joined = np.where(labels == b, a, labels)
    volumes = subject.volumes
    Q = float(2 * (links[a, b] / total - (volumes[a] / total) * (volumes[b] / total)))
    compositions = {}
    for name, groups in subject.attributes.items():
        pairs = subject.table(name, labels)[[a, b]].T.tolist()
        compositions[name] = dict(zip(groups.names.tolist(), map(tuple, pairs), strict=True))
    return PairExplanation(
        clusters=(a, b),
        sizes=(int(subject.sizes[a]), int(subject.sizes[b])),
        inside=(links[a, a] / 2, links[b, b] / 2),
        between=links[a, b],
        by_chance=float(volumes[a] * (volumes[b] / total)),
        compositions=compositions,
        weighted=subject.graph.is_weighted,
        aim=subject.aim,
        **subject.change(Q, joined, None),
    )
