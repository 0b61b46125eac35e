"""The rule that nodes do not share a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar

from equigraph._utils.text import listed
from equigraph.rules.base import NodeSetRule
from equigraph.rules.violation import Placement, Violation
from equigraph.rules.words import Words

if TYPE_CHECKING:
    from equigraph.rules.arrays import Arrays


@dataclass(frozen=True)
class Apart(NodeSetRule):
    """No two of these nodes share a cluster."""

    keyword: ClassVar[str] = "apart"

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

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Say who shares which cluster."""
        (one, other), (cluster,) = violation.nodes, map(words.place, violation.clusters)
        return f"{one} and {other} are to be apart, and both are in {cluster}."

    def compile(self, arrays: Arrays) -> None:
        """Add the nodes as a set of which a cluster has at most one."""
        arrays.apart.append([arrays.facts.node(node) for node in self.nodes])
