"""The rule that nodes do not share a cluster."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

from equigraph._utils.text import listed
from equigraph.rules.base import Rule
from equigraph.rules.reading import tuples
from equigraph.rules.violation import Placement, Violation
from equigraph.rules.words import Words

if TYPE_CHECKING:
    from equigraph.rules.arrays import Arrays


@dataclass(frozen=True)
class Apart(Rule):
    """No two of these nodes share a cluster."""

    keyword: ClassVar[str] = "apart"
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
        return f"{listed(self.nodes)} apart"

    def sentence(self, words: Words) -> str:
        """Say the rule in a sentence."""
        return f"{listed(self.nodes)} are in different {words.clusters}."

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return every pair that shares a cluster."""
        for pair in combinations(self.nodes, 2):
            one, other = map(placement.of, pair)
            if one == other:
                yield Violation(self, (one,), pair)

    def tell(self, violation: Violation, words: Words) -> str:
        """Say who shares which cluster."""
        (one, other), (cluster,) = violation.nodes, map(words.place, violation.clusters)
        return f"{one} and {other} are to be apart, and both are in {cluster}."

    def compile(self, arrays: Arrays) -> None:
        """Add the nodes as a set of which a cluster has at most one."""
        arrays.apart.append([arrays.facts.node(node) for node in self.nodes])
