"""The oracle: every violation of every rule, found by looking.

Nothing here is shared with a search or a solver, and nothing is clever: labels and groups are texts, counts are
counted, shares are fractions. Whatever makes labels is judged by this.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from numpy.typing import ArrayLike

from equigraph._utils.text import count
from equigraph.graph.labels import labels_in_order
from equigraph.graph.names import texts
from equigraph.rules.facts import Facts
from equigraph.rules.items import (
    Apart,
    AtLeast,
    AtMost,
    Fixed,
    Friends,
    NotAlone,
    Rule,
    Shares,
    Sizes,
    Together,
    range_in_words,
)


@dataclass(frozen=True)
class PlacedNodes:
    """Nodes and who is where: the label of each node, and all clusters, as texts."""

    facts: Facts
    labels: list[str]
    clusters: list[str]

    def of(self, name: Any) -> str:
        """Return the cluster of a node."""
        return self.labels[self.facts.node(name)]

    def sizes(self) -> Counter[str]:
        """Return the number of nodes of each cluster."""
        return Counter(self.labels)

    def counts(self, attribute: str) -> Counter[tuple[str, str]]:
        """Return the number of nodes of each cluster and value."""
        return Counter(zip(self.labels, texts(self.facts.values(attribute)), strict=True))

    def population(self, attribute: str) -> Counter[str]:
        """Return the number of nodes of each value."""
        return Counter(texts(self.facts.values(attribute)))


def violations(
    rules: Iterable[Rule],
    graph: Any,
    labels: ArrayLike,
    sensitive_features: Any = None,
    n_clusters: int | None = None,
) -> list[tuple[Rule, str]]:
    """List every violation: the rule, and a sentence that says what is wrong.

    Parameters are those of `equigraph.rules.Rules.check`; `graph` may also be `Facts`.
    """
    facts = Facts.of(graph, sensitive_features)
    column = texts(labels_in_order(labels, facts.graph))
    asked = set() if n_clusters is None else set(map(str, range(n_clusters)))
    division = PlacedNodes(facts, column, sorted({*column, *asked}, key=_by_number))
    return [(rule, sentence) for rule in rules for sentence in CHECKS[type(rule)](rule, division)]


def _by_number(text: str) -> tuple[int, str]:
    return (int(text) if text.isdecimal() else -1, text)


def _together(rule: Together, division: PlacedNodes) -> Iterator[str]:
    first = rule.nodes[0]
    for other in rule.nodes[1:]:
        if division.of(other) != division.of(first):
            yield (
                f"{first} and {other} are to be together, and {first} is in cluster {division.of(first)}, {other} in "
                f"cluster {division.of(other)}."
            )


def _apart(rule: Apart, division: PlacedNodes) -> Iterator[str]:
    for one, other in combinations(rule.nodes, 2):
        if division.of(one) == division.of(other):
            yield f"{one} and {other} are to be apart, and both are in cluster {division.of(one)}."


def _fixed(rule: Fixed, division: PlacedNodes) -> Iterator[str]:
    if division.of(rule.node) != str(rule.cluster):
        yield (f"{rule.node} is to be in cluster {rule.cluster}, and is in cluster {division.of(rule.node)}.")


def _sizes(rule: Sizes, division: PlacedNodes) -> Iterator[str]:
    pairs = dict.fromkeys(division.clusters, rule.bounds[0])
    if rule.per_cluster:
        pairs = {str(cluster): pair for cluster, pair in enumerate(rule.bounds)}
    sizes = division.sizes()
    for cluster, (least, most) in pairs.items():
        size = sizes[cluster]
        if (least is not None and size < least) or (most is not None and size > most):
            yield f"Cluster {cluster} has {count(size, 'node')}: expected {range_in_words((least, most))}."
    for cluster in division.clusters:
        if cluster not in pairs:
            yield f"Cluster {cluster} is none of the {len(pairs)} clusters whose sizes are given."


def _friends(rule: Friends, division: PlacedNodes) -> Iterator[str]:
    facts, labels = division.facts, division.labels
    adjacency, asked = facts.graph.adjacency, None
    if rule.of is not None:
        asked = {facts.node(name): {facts.node(other) for other in others} for name, others in rule.of}
    fewer = {facts.node(name): number for name, number in rule.but}
    for node, name in enumerate(facts.graph.node_names.tolist()):
        if asked is None:
            friends = set(adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]].tolist())
        else:
            friends = asked.get(node, set())
        kept = sum(labels[other] == labels[node] for other in friends)
        needed = min(fewer.get(node, rule.least), len(friends))
        if kept < needed:
            number = count(len(friends), "linked node") if asked is None else f"{len(friends)} asked for"
            yield f"{name} has {kept} of {number} in cluster {labels[node]}: expected at least {needed}."


def _at_least(rule: AtLeast, division: PlacedNodes) -> Iterator[str]:
    value, counts = division.facts.group(rule.attribute, rule.value), division.counts(rule.attribute)
    for cluster in division.clusters:
        if counts[cluster, value] < rule.least:
            yield f"{_has(counts, cluster, rule.attribute, value)}: expected at least {rule.least}."


def _at_most(rule: AtMost, division: PlacedNodes) -> Iterator[str]:
    value, counts = division.facts.group(rule.attribute, rule.value), division.counts(rule.attribute)
    for cluster in division.clusters:
        if counts[cluster, value] > rule.most:
            yield f"{_has(counts, cluster, rule.attribute, value)}: expected at most {rule.most}."


def _not_alone(rule: NotAlone, division: PlacedNodes) -> Iterator[str]:
    counts, values = division.counts(rule.attribute), sorted(division.population(rule.attribute))
    for cluster in division.clusters:
        for value in values:
            if 0 < counts[cluster, value] < rule.least:
                yield (
                    f"{_has(counts, cluster, rule.attribute, value)}: expected none or at least {rule.least}."
                )


def _shares(rule: Shares, division: PlacedNodes) -> Iterator[str]:
    counts, sizes = division.counts(rule.attribute), division.sizes()
    population = sorted(division.population(rule.attribute).items())
    for cluster in division.clusters:
        for value, total in population:
            share = Fraction(total, len(division.labels))
            least = max(math.floor((share - rule.tolerance) * sizes[cluster]), 0)
            most = min(math.ceil((share + rule.tolerance) * sizes[cluster]), sizes[cluster])
            if not least <= counts[cluster, value] <= most:
                yield (
                    f"{_has(counts, cluster, rule.attribute, value)} among {count(sizes[cluster], 'node')}: "
                    f"expected {least if least == most else f'{least} to {most}'}."
                )


def _has(counts: Counter[tuple[str, str]], cluster: str, attribute: str, value: str) -> str:
    return f"Cluster {cluster} has {counts[cluster, value]} of {attribute} {value!r}"


CHECKS: dict[type[Rule], Callable[[Any, PlacedNodes], Iterable[str]]] = {
    Together: _together,
    Apart: _apart,
    Fixed: _fixed,
    Sizes: _sizes,
    Friends: _friends,
    AtLeast: _at_least,
    AtMost: _at_most,
    NotAlone: _not_alone,
    Shares: _shares,
}
