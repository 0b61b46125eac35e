"""The rule that nodes share a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from equigraph._utils.text import listed
from equigraph.rules.base import NodeSetRule
from equigraph.rules.violation import Placement, Violation
from equigraph.rules.words import Words

if TYPE_CHECKING:
    from equigraph.rules.arrays import Arrays


@dataclass(frozen=True)
class Together(NodeSetRule):
    """All of these nodes share a cluster."""

    keyword: ClassVar[str] = "together"

    def describe(self) -> str:
        """Say the rule in words."""
        return f"{listed(self.nodes)} together"

    def sentence(self, words: Words) -> str:
        """Say the rule in a sentence."""
        return f"{listed(self.nodes)} are in one {words.cluster}."

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return every node that is not where the first is."""
        first, *others = self.nodes
        for other in others:
            if placement.of(other) != placement.of(first):
                yield Violation(self, (placement.of(first), placement.of(other)), (first, other))

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Say who is in another cluster."""
        (first, other), (one, two) = violation.nodes, map(words.place, violation.clusters)
        return f"{first} and {other} are to be together, and {first} is in {one}, {other} in {two}."

    def compile(self, arrays: Arrays) -> None:
        """Join the nodes to one unit."""
        arrays.joined.extend(pairwise(map(arrays.facts.node, self.nodes)))
