"""What the oracle works on and finds: nodes with their clusters, and rules that they break.

Nothing here is shared with a search or a solver, and nothing is clever: labels and groups are texts, and counts are
counted. Whatever makes labels is judged by this.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from equigraph.graph.groups.encode import is_missing
from equigraph.graph.names import texts
from equigraph.rules.facts import Facts
from equigraph.rules.words import NODES, Words

if TYPE_CHECKING:
    from equigraph.rules.base import Rule


@dataclass(frozen=True)
class Violation:
    """A rule that labels break, and where.

    Attributes
    ----------
    rule : Rule
        The rule.
    clusters : tuple of str
        The clusters in which it is broken, as the texts of their labels.
    nodes : tuple
        The nodes that break it; empty where a whole cluster does.
    group : str or None
        The value of the rule's attribute that there is too much or too little of.
    number, least, most : int or None
        What was counted, and the bounds on it.
    among : int or None
        The number of nodes of the cluster, where bounds depend on it.
    """

    rule: Rule
    clusters: tuple[str, ...]
    nodes: tuple[Hashable, ...] = ()
    group: str | None = None
    number: int | None = None
    least: int | None = None
    most: int | None = None
    among: int | None = None

    @property
    def about(self) -> tuple[Hashable, ...]:
        """What is wrong, whatever the numbers: the rule with the nodes, or with the cluster and the group."""
        return (self.rule, self.nodes) if self.nodes else (self.rule, self.clusters, self.group)

    def describe(self, words: Words = NODES) -> str:
        """Say in a sentence what is wrong."""
        return self.rule.describe_violation(self, words)

    __str__ = describe


@dataclass(frozen=True)
class Placement:
    """Nodes and who is where: the label of each node, and all clusters, as texts."""

    facts: Facts
    labels: list[str]
    clusters: list[str]

    def of(self, name: Hashable) -> str:
        """Return the cluster of a node."""
        return self.labels[self.facts.node(name)]

    def sizes(self) -> Counter[str]:
        """Return the number of nodes of each cluster."""
        return Counter(self.labels)

    def counts(self, attribute: str) -> Counter[tuple[str, str]]:
        """Return the number of nodes of each cluster and value."""
        return Counter(
            (label, value)
            for label, value in zip(self.labels, self._values(attribute), strict=True)
            if value is not None
        )

    def population(self, attribute: str) -> Counter[str]:
        """Return the number of nodes of each value."""
        return Counter(value for value in self._values(attribute) if value is not None)

    def _values(self, attribute: str) -> list[str | None]:
        """Return the value of each node as text, None where it has none."""
        values = self.facts.values(attribute)
        return [
            None if missing else text for text, missing in zip(texts(values), is_missing(values), strict=True)
        ]
