"""The oracle: all violations of rules, by direct counting.

It shares no code with the search and the solver, and is as simple as possible: labels and groups are texts. All labels
are checked by it, whatever made them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from equigraph._utils.text import count
from equigraph.graph.groups.encode import is_missing
from equigraph.graph.labels import labels_in_order
from equigraph.graph.names import texts
from equigraph.rules.facts import Facts

if TYPE_CHECKING:
    from equigraph.rules.base import Rule

Pair = tuple[int | None, int | None]


@dataclass(frozen=True)
class Words:
    """Nouns and names for nodes and clusters.

    Attributes
    ----------
    node, nodes, cluster, clusters : str
        The nouns, in the singular and in the plural.
    names : sequence of str
        Names of the clusters, by number; empty if clusters have no names.

    Examples
    --------
    >>> words = Words("person", "people", "class", "classes", ("5a", "5b"))
    >>> words.place(1), Words().place(1), words.range((25, None))
    ('5b', 'cluster 1', 'at least 25 people')
    """

    node: str = "node"
    nodes: str = "nodes"
    cluster: str = "cluster"
    clusters: str = "clusters"
    names: Sequence[str] = ()

    def place(self, cluster: int | str) -> str:
        """Return the name of a cluster, or the noun and its number."""
        number = int(cluster) if str(cluster).isdecimal() else -1
        return self.names[number] if 0 <= number < len(self.names) else f"{self.cluster} {cluster}"

    def subject(self, cluster: int | str) -> str:
        """Return the name of a cluster for the beginning of a sentence."""
        name = self.place(cluster)
        return name if self.names else name[:1].upper() + name[1:]

    def count(self, number: int) -> str:
        """Return a number of nodes in words."""
        return count(number, self.node, self.nodes)

    def range(self, pair: Pair) -> str:
        """Return the range of a pair (least, most) in words."""
        return f"any number of {self.nodes}" if pair == (None, None) else bounds_in_words(pair, self.count)


NODES = Words()


def bounds_in_words(pair: Pair, say: Callable[[int], str] = str) -> str:
    """Return a pair (least, most), not both None, in words."""
    least, most = pair
    if most is None:
        return f"at least {say(least or 0)}"
    if least is None:
        return f"at most {say(most)}"
    return say(most) if least == most else f"{least} to {say(most)}"


@dataclass(frozen=True)
class Violation:
    """Violation of a rule by labels.

    Attributes
    ----------
    rule : Rule
        The rule.
    clusters : tuple of str
        The clusters in which it is broken, as the texts of their labels.
    nodes : tuple
        The nodes that break it; empty if a whole cluster does.
    group : str or None
        The value of the rule's attribute with too many or too few nodes.
    number, least, most : int or None
        The count, and the bounds on it.
    among : int or None
        The number of nodes of the cluster, if a group of it was counted.
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
        """Identity of the violation, without the numbers: the rule with the nodes, or with the cluster and group."""
        return (self.rule, self.nodes) if self.nodes else (self.rule, self.clusters, self.group)

    def describe(self, words: Words = NODES) -> str:
        """Return the violation as a sentence."""
        return self.rule.describe_violation(self, words)

    __str__ = describe


@dataclass(frozen=True)
class Placement:
    """Labels of the nodes of a graph, and all clusters, as texts."""

    facts: Facts
    labels: list[str]
    clusters: list[str]

    def of(self, name: Hashable) -> str:
        """Return the cluster of a node."""
        return self.labels[self.facts.node(name)]

    def sizes(self) -> Counter[str]:
        """Return the number of nodes of each cluster."""
        return Counter(self.labels)

    def counts(self, attribute: str) -> Counter[tuple[str, str | None]]:
        """Return the number of nodes of each cluster and value; nodes without a value are left out."""
        values = self.facts.values(attribute)
        nodes = zip(self.labels, texts(values), is_missing(values), strict=True)
        return Counter((label, value) for label, value, missing in nodes if not missing)


def violations(
    rules: Iterable[Rule],
    graph: Any,
    labels: Any,
    sensitive_features: Any = None,
    n_clusters: int | None = None,
) -> list[Violation]:
    """List every violation, in the order of the rules.

    Parameters are those of `equigraph.rules.Rules.check`; `graph` may also be `Facts`.
    """
    facts = Facts.of(graph, sensitive_features)
    given = labels_in_order(labels, facts.graph)
    column = texts(given.astype(int) if given.dtype == bool else given)
    clusters = {*column, *map(str, range(n_clusters or 0))}
    placement = Placement(facts, column, sorted(clusters, key=_by_number))
    return [violation for rule in rules for violation in rule.violations(placement)]


def _by_number(text: str) -> tuple[int, str]:
    return (int(text) if text.isdecimal() else -1, text)
