"""Rules on counts: the number of nodes of a group, or of a list, in each cluster."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from equigraph._utils.parameters import Real
from equigraph._utils.text import listed
from equigraph.exceptions import ParameterError
from equigraph.rules.base import DictRule, Rule, entries, is_list, name, names, number, whole
from equigraph.rules.check import Pair, Placement, Violation, Words, bounds_in_words
from equigraph.rules.compile import Arrays

_GROUP, _LIST = '{"gender": {"girl": 3}}', '[(["Ann", "Bob", "Cem"], 2)]'
Tally = Counter[tuple[str, str | None]]


class _Counted(Rule):
    """Bound on the number of nodes of each group of an attribute in a cluster."""

    attribute: str | None
    unless: ClassVar[str] = ""  # what else than the bounds is allowed

    @abstractmethod
    def pair(self, number: int, share: Fraction, size: int) -> Pair:
        """Return the bounds on the count of a group in a cluster.

        ``number`` is the count, ``size`` that of all nodes of the cluster, ``share`` that of the group among all nodes.
        """

    def whom(self, group: Hashable) -> str:
        """Return the counted nodes in words."""
        return f"{self.attribute} {group!r}"

    def tally(self, placement: Placement) -> tuple[Tally, list[str | None]]:
        """Return the number of nodes of each cluster and group, and the groups that count."""
        tally = placement.counts(str(self.attribute))
        return tally, sorted({group for _, group in tally}, key=str)

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return every cluster with too many or too few of a group."""
        tally, groups = self.tally(placement)
        sizes, totals = placement.sizes(), Counter[str | None]()
        for (_, group), found in tally.items():
            totals[group] += found
        for cluster in placement.clusters:
            for group in groups:
                found, size = tally[cluster, group], sizes[cluster]
                share = Fraction(totals[group], len(placement.labels))
                least, most = self.pair(found, share, size)
                if (least is not None and found < least) or (most is not None and found > most):
                    yield Violation(self, (cluster,), (), group, found, least, most, size)

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Return the count in a cluster, and the expected one, as a sentence."""
        (cluster,), bounds = map(words.subject, violation.clusters), (violation.least, violation.most)
        return (
            f"{cluster} has {violation.number} of {self.whom(violation.group)}"
            f"{self.among(violation, words)}: expected {self.unless}{bounds_in_words(bounds)}."
        )

    def among(self, violation: Violation, words: Words) -> str:
        """Return the size of the cluster in words, with a leading space, if the bounds depend on it."""
        return ""


class _Bounded(_Counted):
    """Bound on the count of one group, or of a list of nodes if the attribute is None."""

    value: Hashable
    nodes: tuple[Hashable, ...]

    @property
    def bounds(self) -> Pair:
        """Least and most, one of which is None."""
        return getattr(self, "least", None), getattr(self, "most", None)

    @property
    def number(self) -> int:
        """The bound."""
        return next(bound for bound in self.bounds if bound is not None)

    def pair(self, number: int, share: Fraction, size: int) -> Pair:
        """Return the bounds."""
        return self.bounds

    @classmethod
    def parse(cls, value: Any) -> Iterator[Rule]:
        """Parse a dict of attributes to dicts of groups to numbers, or a list of those and of (nodes, number)."""
        make: Callable[..., Rule] = cls  # the fields of both kinds are in the same order
        for part in value if is_list(value) else [value]:
            if is_list(part) and len(part) == 2 and is_list(part[0]):
                yield make(None, None, whole(cls.keyword, part[1]), names(cls.keyword, part[0]))
                continue
            if not isinstance(part, Mapping):
                raise ParameterError(
                    f"Rules: {cls.keyword} must look like {_GROUP} or {_LIST}; got {part!r}."
                )
            for attribute, groups in part.items():
                for group, given in entries(cls.keyword, groups, _GROUP):
                    where = f"{cls.keyword}[{attribute!r}][{group!r}]"
                    yield make(str(attribute), name(cls.keyword, group), whole(where, given))

    @classmethod
    def argument(cls, rules: Sequence[Any]) -> Any:
        """Return a dict, or a list of dicts and lists of nodes if no dict has the order of the rules."""
        entries: list[Any] = []
        for rule in rules:
            if rule.attribute is None:
                entries.append((list(rule.nodes), rule.number))
                continue
            last = entries[-1] if entries and isinstance(entries[-1], dict) else {}
            if not last or rule.attribute in list(last)[:-1]:
                last = {}
                entries.append(last)
            last.setdefault(rule.attribute, {})[rule.value] = rule.number
        return entries[0] if len(entries) == 1 and isinstance(entries[0], dict) else entries

    def describe(self) -> str:
        """Return the rule in words."""
        return f"{bounds_in_words(self.bounds)} of {self.whom(self.value)} in every cluster"

    def whom(self, group: Hashable) -> str:
        """Return the counted nodes in words."""
        return listed(self.nodes) if self.attribute is None else super().whom(group)

    def sentence(self, words: Words) -> str:
        """Return the rule as a sentence."""
        if self.attribute is None:
            return f"Every {words.cluster} has {bounds_in_words(self.bounds)} of {listed(self.nodes)}."
        return f"Every {words.cluster} has {words.range(self.bounds)} with {self.attribute} {self.value}."

    def tally(self, placement: Placement) -> tuple[Tally, list[str | None]]:
        """Return the number of nodes of each cluster and group, and the one group that counts."""
        if self.attribute is None:
            return Counter((placement.of(node), None) for node in self.nodes), [None]
        return placement.counts(self.attribute), [placement.facts.group(self.attribute, self.value)]

    def compile(self, arrays: Arrays) -> None:
        """Tighten the bounds on a count."""
        if self.attribute is None:
            column = arrays.column(("nodes", repr(self.nodes)), list(map(arrays.facts.node, self.nodes)))
        else:
            column = arrays.group(self.attribute, arrays.facts.group(self.attribute, self.value))
        least, most = self.bounds
        if least is not None:
            column.least = np.maximum(column.least, least)
        if most is not None:
            column.most = np.minimum(column.most, most)


@dataclass(frozen=True)
class AtLeast(_Bounded):
    """Every cluster has at least so many nodes of a group, or of a list of nodes."""

    keyword: ClassVar[str] = "at_least"
    attribute: str | None
    value: Hashable
    least: int
    nodes: tuple[Hashable, ...] = ()


@dataclass(frozen=True)
class AtMost(_Bounded):
    """Every cluster has at most so many nodes of a group, or of a list of nodes."""

    keyword: ClassVar[str] = "at_most"
    attribute: str | None
    value: Hashable
    most: int
    nodes: tuple[Hashable, ...] = ()


@dataclass(frozen=True)
class NotAlone(DictRule, _Counted):
    """Of each group of an attribute a cluster has none or at least so many."""

    keyword: ClassVar[str] = "not_alone"
    example: ClassVar[str] = '{"gender": 2}'
    unless: ClassVar[str] = "none or "
    single: ClassVar[bool] = True
    attribute: str
    least: int

    @classmethod
    def read(cls, where: str, value: Any) -> int:
        """Return the least number."""
        return whole(where, value, low=2)

    def describe(self) -> str:
        """Return the rule in words."""
        return f"of each {self.attribute} none or at least {self.least} in a cluster"

    def sentence(self, words: Words) -> str:
        """Return the rule as a sentence."""
        return f"Of each {self.attribute} a {words.cluster} has nobody, or at least {self.least}."

    def pair(self, number: int, share: Fraction, size: int) -> Pair:
        """Return the least, unless there are none."""
        return self.least if number else 0, None

    def compile(self, arrays: Arrays) -> None:
        """Raise the least count other than 0."""
        for column in arrays.groups(self.attribute):
            column.alone = max(column.alone, self.least)


@dataclass(frozen=True)
class Shares(DictRule, _Counted):
    """The share of every group in every cluster is near its share in the population."""

    keyword: ClassVar[str] = "shares"
    example: ClassVar[str] = '{"gender": 0.1}'
    single: ClassVar[bool] = True
    attribute: str
    within: float

    @property
    def tolerance(self) -> Fraction:
        """The tolerance as written: .1 is a tenth, not the nearest binary fraction."""
        return Fraction(repr(self.within))

    @property
    def _points(self) -> str:
        return f"{float(100 * self.tolerance):g} points"

    @classmethod
    def read(cls, where: str, value: Any) -> float:
        """Return a number from 0 to 1."""
        return float(number(where, value, Real(low=0, high=1)))

    def describe(self) -> str:
        """Return the rule in words."""
        return (
            f"the share of each {self.attribute} within {self._points} of the population's (as far as whole nodes "
            "allow) in every cluster"
        )

    def sentence(self, words: Words) -> str:
        """Return the rule as a sentence."""
        return (
            f"The share of each {self.attribute} in a {words.cluster} is within {self._points} of that among all, as "
            f"far as whole {words.nodes} allow."
        )

    def pair(self, number: int, share: Fraction, size: int) -> Pair:
        """Return the bounds of the share in whole nodes, rounded outwards."""
        least = math.floor((share - self.tolerance) * size)
        return max(least, 0), min(math.ceil((share + self.tolerance) * size), size)

    def among(self, violation: Violation, words: Words) -> str:
        """Return the size of the cluster in words."""
        return f" among {words.count(violation.among or 0)}"

    def compile(self, arrays: Arrays) -> None:
        """Tighten the bounds on shares."""
        for column in arrays.groups(self.attribute):
            share = Fraction(len(column.nodes), arrays.n)
            column.low = max(column.low, share - self.tolerance)
            column.high = min(column.high, share + self.tolerance)
