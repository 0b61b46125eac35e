"""What every kind of rule is able to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from equigraph.rules.reading import tuples
from equigraph.rules.violation import Placement, Violation
from equigraph.rules.words import Words

if TYPE_CHECKING:
    from equigraph.rules.arrays import Arrays


class Rule(ABC):
    """A single rule. A kind of rule is a frozen dataclass in a file of its own, and a line in `rules.registry`.

    `violations` is the oracle: it counts, and shares nothing with `compile`, which the search and the solver read.
    """

    keyword: ClassVar[str]  # the argument of `equigraph.rules.Rules` that makes rules of this kind
    single: ClassVar[bool] = False  # whether a second rule on the same attribute, or none, takes its place

    @property
    def named_nodes(self) -> tuple[Hashable, ...]:
        """The nodes that it is about, if it is about single ones."""
        return ()

    @property
    def named_clusters(self) -> tuple[int, ...]:
        """The clusters that it calls by number; all others could trade their numbers."""
        return ()

    @property
    def named_attribute(self) -> str | None:
        """The attribute that it is about, if any."""
        return None

    @classmethod
    @abstractmethod
    def parse(cls, value: Any) -> Iterator[Rule]:
        """Return the rules that a keyword argument stands for; anything else is a ParameterError."""

    @classmethod
    @abstractmethod
    def argument(cls, rules: Sequence[Any]) -> Any:
        """Return the keyword argument that makes these rules, of plain values as JSON has them."""

    @abstractmethod
    def describe(self) -> str:
        """Say the rule in words."""

    @abstractmethod
    def sentence(self, words: Words) -> str:
        """Say the rule in a sentence, in the words of a reader."""

    @abstractmethod
    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return everything in which labels break the rule."""

    @abstractmethod
    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Say in a sentence what is wrong."""

    @abstractmethod
    def compile(self, arrays: Arrays) -> None:
        """Add the rule to the arrays that the search and the solver read."""


@dataclass(frozen=True)
class NodeSetRule(Rule):
    """A rule about a set of nodes; the argument is a list of tuples."""

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


def in_words(rules: Iterable[Rule]) -> str:
    """Say several rules in words."""
    return ", ".join(rule.describe() for rule in rules)
