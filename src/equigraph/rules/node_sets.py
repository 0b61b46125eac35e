"""Rules on sets of nodes: together in one cluster, or apart in different clusters."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, ClassVar

from equigraph._utils.text import listed
from equigraph.exceptions import ParameterError
from equigraph.rules.base import Rule, is_list, names
from equigraph.rules.check import Placement, Violation, Words
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
