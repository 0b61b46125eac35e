"""One rule at a time: what it says, in values and in words.

Everything that names, drops or counts rules works on these; `equigraph.rules.Rules` is a list of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from equigraph._utils.text import count, listed

Pair = tuple[int | None, int | None]


@dataclass(frozen=True)
class Together:
    """All of these nodes share a cluster."""

    keyword: ClassVar[str] = "together"
    nodes: tuple[Hashable, ...]

    def describe(self) -> str:
        """Say the rule in words."""
        return f"{listed(self.nodes)} together"


@dataclass(frozen=True)
class Apart:
    """No two of these nodes share a cluster."""

    keyword: ClassVar[str] = "apart"
    nodes: tuple[Hashable, ...]

    def describe(self) -> str:
        """Say the rule in words."""
        return f"{listed(self.nodes)} apart"


@dataclass(frozen=True)
class Fixed:
    """A node is in the cluster of this number."""

    keyword: ClassVar[str] = "fixed"
    node: Hashable
    cluster: int

    def describe(self) -> str:
        """Say the rule in words."""
        return f"{self.node} in cluster {self.cluster}"


@dataclass(frozen=True)
class Sizes:
    """Every cluster has a number of nodes within one pair, or each cluster within its own pair."""

    keyword: ClassVar[str] = "sizes"
    bounds: tuple[Pair, ...]
    per_cluster: bool = False

    def describe(self) -> str:
        """Say the rule in words."""
        start = "clusters" if self.per_cluster else "every cluster"
        return f"{start} of {', '.join(map(range_in_words, self.bounds))}"


def range_in_words(pair: Pair) -> str:
    """Say how many nodes a pair (least, most) allows."""
    least, most = pair
    if most is None:
        return "any number of nodes" if least is None else f"at least {count(least, 'node')}"
    if least is None:
        return f"at most {count(most, 'node')}"
    return count(most, "node") if least == most else f"{least} to {count(most, 'node')}"


@dataclass(frozen=True)
class Friends:
    """Every node shares a cluster with so many of its friends, or all if it has fewer.

    Attributes
    ----------
    least : int
        How many friends.
    but : tuple of (node, int)
        Nodes for which fewer do, with the number; 0 excepts them. Also made from a mapping, or from names to except.
    of : tuple of (node, tuple of nodes), or None
        Whom each node asked for; nodes that are not listed asked for nobody. Also made from a mapping. None if the
        friends of a node are the nodes linked to it.
    """

    keyword: ClassVar[str] = "friends"
    least: int
    but: tuple[tuple[Hashable, int], ...] = ()
    of: tuple[tuple[Hashable, tuple[Hashable, ...]], ...] | None = None

    def __init__(
        self,
        least: int,
        but: Mapping[Hashable, int] | Iterable[Any] = (),
        of: Mapping[Hashable, Iterable[Hashable]]
        | Iterable[tuple[Hashable, Iterable[Hashable]]]
        | None = None,
    ) -> None:
        fewer = but.items() if isinstance(but, Mapping) else but
        asked = of.items() if isinstance(of, Mapping) else of
        object.__setattr__(self, "least", least)
        object.__setattr__(self, "but", tuple(one if isinstance(one, tuple) else (one, 0) for one in fewer))
        object.__setattr__(
            self, "of", None if asked is None else tuple((name, tuple(others)) for name, others in asked)
        )

    def describe(self) -> str:
        """Say the rule in words."""
        excepted = [name for name, least in self.but if least == 0]
        fewer = [f"{least} for {name}" for name, least in self.but if least > 0]
        but = f" but {listed(excepted)}" if excepted else ""
        whom = "linked to them" if self.of is None else "they asked for"
        less = f" (at least {listed(fewer)})" if fewer else ""
        return f"everybody{but} with at least {self.least} of the nodes {whom}{less}"


@dataclass(frozen=True)
class AtLeast:
    """Every cluster has at least so many nodes of a group."""

    keyword: ClassVar[str] = "at_least"
    attribute: str
    value: Hashable
    least: int

    def describe(self) -> str:
        """Say the rule in words."""
        return f"at least {self.least} of {self.attribute} {self.value!r} in every cluster"


@dataclass(frozen=True)
class AtMost:
    """Every cluster has at most so many nodes of a group."""

    keyword: ClassVar[str] = "at_most"
    attribute: str
    value: Hashable
    most: int

    def describe(self) -> str:
        """Say the rule in words."""
        return f"at most {self.most} of {self.attribute} {self.value!r} in every cluster"


@dataclass(frozen=True)
class NotAlone:
    """Of each group of an attribute a cluster has none or at least so many."""

    keyword: ClassVar[str] = "not_alone"
    attribute: str
    least: int

    def describe(self) -> str:
        """Say the rule in words."""
        return f"of each {self.attribute} none or at least {self.least} in a cluster"


@dataclass(frozen=True)
class Shares:
    """The share of every group in every cluster is near its share in the population."""

    keyword: ClassVar[str] = "shares"
    attribute: str
    within: float

    @property
    def tolerance(self) -> Fraction:
        """The number as it is written: .1 is a tenth, not the nearest binary fraction."""
        return Fraction(repr(self.within))

    def describe(self) -> str:
        """Say the rule in words."""
        points = f"{float(100 * self.tolerance):g}"
        return (
            f"the share of each {self.attribute} within {points} points of the population's in every cluster"
        )


Rule = Together | Apart | Fixed | Sizes | Friends | AtLeast | AtMost | NotAlone | Shares


def in_words(rules: tuple[Rule, ...]) -> str:
    """Say several rules in words."""
    return ", ".join(rule.describe() for rule in rules)
