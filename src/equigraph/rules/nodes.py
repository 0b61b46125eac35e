"""Rules on named nodes: together or apart, fixed in a cluster, or in one of several."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, ClassVar

from equigraph._utils.text import count, listed
from equigraph.exceptions import ParameterError
from equigraph.rules.base import DictRule, Rule, is_list, names, whole
from equigraph.rules.check import NODES, Placement, Violation, Words
from equigraph.rules.compile import Arrays


@dataclass(frozen=True)
class _NodeSet(Rule):
    """Base class of rules on a set of nodes; the argument is a list of tuples."""

    nodes: tuple[Hashable, ...]

    @classmethod
    def parse(cls, value: Any) -> Iterator[Rule]:
        """Parse a list of tuples of nodes."""
        if not is_list(value) or not all(is_list(nodes) for nodes in value):
            raise ParameterError(
                f'Rules: {cls.keyword} must be a list of tuples of nodes, such as [("Ada", "Ben")]; got {value!r}.'
            )
        return (cls(names(cls.keyword, nodes)) for nodes in value)

    @classmethod
    def argument(cls, rules: Sequence[Any]) -> Any:
        """Return a list of tuples of nodes."""
        return [rule.nodes for rule in rules]

    def describe(self) -> str:
        """Return the rule in words."""
        return f"{listed(self.nodes)} {self.keyword}"


@dataclass(frozen=True)
class Together(_NodeSet):
    """All of these nodes share a cluster."""

    keyword: ClassVar[str] = "together"

    def sentence(self, words: Words) -> str:
        """Return the rule as a sentence."""
        return f"{listed(self.nodes)} are in one {words.cluster}."

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return every node in another cluster than the first."""
        first, *others = self.nodes
        for other in others:
            if placement.of(other) != placement.of(first):
                yield Violation(self, (placement.of(first), placement.of(other)), (first, other))

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Return both nodes and their clusters as a sentence."""
        (first, other), (one, two) = violation.nodes, map(words.place, violation.clusters)
        return f"{first} and {other} are to be together, and {first} is in {one}, {other} in {two}."

    def compile(self, arrays: Arrays) -> None:
        """Join the nodes into one unit."""
        arrays.joined.extend(pairwise(map(arrays.facts.node, self.nodes)))


@dataclass(frozen=True)
class Apart(_NodeSet):
    """No two of these nodes share a cluster."""

    keyword: ClassVar[str] = "apart"

    def sentence(self, words: Words) -> str:
        """Return the rule as a sentence."""
        return f"{listed(self.nodes)} are in different {words.clusters}."

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return every pair that shares a cluster."""
        for pair in combinations(self.nodes, 2):
            one, other = map(placement.of, pair)
            if one == other:
                yield Violation(self, (one,), pair)

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Return both nodes and their common cluster as a sentence."""
        (one, other), (cluster,) = violation.nodes, map(words.place, violation.clusters)
        return f"{one} and {other} are to be apart, and both are in {cluster}."

    def compile(self, arrays: Arrays) -> None:
        """Add the nodes as a set with at most one member in each cluster."""
        arrays.apart.append([arrays.facts.node(node) for node in self.nodes])


class _Placed(DictRule):
    """Base class: a node is in one of some clusters."""

    node: Hashable

    @property
    def named_nodes(self) -> tuple[Hashable, ...]:
        """The node."""
        return (self.node,)

    def describe(self) -> str:
        """Return the rule in words."""
        return f"{self.node} in {self._places(NODES)}"

    def sentence(self, words: Words) -> str:
        """Return the rule as a sentence."""
        return f"{self.node} is in {self._places(words)}."

    def _places(self, words: Words) -> str:
        if words.names:
            return " or ".join(map(words.place, self.named_clusters))
        return f"{words.cluster} {' or '.join(map(str, self.named_clusters))}"

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return the node if it is in another cluster."""
        cluster = placement.of(self.node)
        if cluster not in map(str, self.named_clusters):
            yield Violation(self, (cluster,), (self.node,))

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Return the cluster of the node, and the expected one, as a sentence."""
        (cluster,) = map(words.place, violation.clusters)
        return f"{self.node} is to be in {self._places(words)}, and is in {cluster}."

    def _place_in(self, arrays: Arrays) -> int:
        """Return the index of the node, after a check that the clusters exist."""
        last, k = max(self.named_clusters), arrays.n_clusters
        if last >= k:
            raise ParameterError(
                f"Rules: {self.keyword}[{self.node!r}] is cluster {last}, and there are {count(k, 'cluster')}: "
                f"expected 0 to {k - 1}."
            )
        return arrays.facts.node(self.node)


@dataclass(frozen=True)
class Fixed(_Placed):
    """A node is in the cluster of this number."""

    keyword: ClassVar[str] = "fixed"
    example: ClassVar[str] = '{"Finn": 0}'
    node: Hashable
    cluster: int

    @property
    def named_clusters(self) -> tuple[int, ...]:
        """The only cluster."""
        return (self.cluster,)

    @classmethod
    def read(cls, where: str, value: Any) -> int:
        """Return the number of a cluster."""
        return whole(where, value)

    def compile(self, arrays: Arrays) -> None:
        """Fix the node in its cluster."""
        arrays.fixed.append((self._place_in(arrays), self.cluster))


@dataclass(frozen=True)
class Allowed(_Placed):
    """A node is in one of the clusters of these numbers."""

    keyword: ClassVar[str] = "allowed"
    example: ClassVar[str] = '{"Finn": [0, 2]}'
    node: Hashable
    clusters: tuple[int, ...]

    @classmethod
    def read(cls, where: str, value: Any) -> tuple[int, ...]:
        """Return the numbers of clusters."""
        if not is_list(value) or not len(value):
            raise ParameterError(f"Rules: {where} must be a list of clusters, such as [0, 2]; got {value!r}.")
        return tuple(sorted({whole(where, one) for one in value}))

    def compile(self, arrays: Arrays) -> None:
        """Add the node to a column with a most count of 0 in all other clusters."""
        column = arrays.column(("allowed", str(self.clusters)), [self._place_in(arrays)])
        column.most[[cluster for cluster in range(arrays.n_clusters) if cluster not in self.clusters]] = 0
