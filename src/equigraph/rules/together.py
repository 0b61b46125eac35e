"""The rule that nodes share a cluster."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from equigraph._utils.text import listed
from equigraph.rules.base import Rule
from equigraph.rules.reading import tuples
from equigraph.rules.violation import Placement, Violation
from equigraph.rules.words import Words

if TYPE_CHECKING:
    from equigraph.rules.arrays import Arrays


@dataclass(frozen=True)
class Together(Rule):
    """All of these nodes share a cluster."""

    keyword: ClassVar[str] = "together"
    nodes: tuple[Hashable, ...]

    @property
    def named_nodes(self) -> tuple[Hashable, ...]:
        """The nodes."""
        return self.nodes

    @classmethod
    def parse(cls, value: Any) -> Iterator[Rule]:
        """Read a list of tuples of nodes."""
        return map(cls, tuples(cls.keyword, value))

    @classmethod
    def argument(cls, rules: Sequence[Any]) -> Any:
        """Return a list of tuples of nodes."""
        return [rule.nodes for rule in rules]

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

    def tell(self, violation: Violation, words: Words) -> str:
        """Say who is in another cluster."""
        (first, other), (one, two) = violation.nodes, map(words.place, violation.clusters)
        return f"{first} and {other} are to be together, and {first} is in {one}, {other} in {two}."

    def compile(self, arrays: Arrays) -> None:
        """Join the nodes to one unit."""
        arrays.joined.extend(pairwise(map(arrays.facts.node, self.nodes)))
