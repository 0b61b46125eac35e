"""The rules about the values of an attribute: nobody is alone with theirs, and all have about the same share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from equigraph._utils.parameters import Real
from equigraph.rules.base import DictRule, number, whole
from equigraph.rules.check import Placement, Violation, Words
from equigraph.rules.compile import Arrays


@dataclass(frozen=True)
class NotAlone(DictRule):
    """Of each group of an attribute a cluster has none or at least so many."""

    keyword: ClassVar[str] = "not_alone"
    example: ClassVar[str] = '{"gender": 2}'
    single: ClassVar[bool] = True
    attribute: str
    least: int

    @classmethod
    def read(cls, where: str, value: Any) -> int:
        """Return the least number."""
        return whole(where, value, low=2)

    def describe(self) -> str:
        """Say the rule in words."""
        return f"of each {self.attribute} none or at least {self.least} in a cluster"

    def sentence(self, words: Words) -> str:
        """Say the rule in a sentence."""
        return f"Of each {self.attribute} a {words.cluster} has nobody, or at least {self.least}."

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return every cluster with some of a group, and too few."""
        counts, groups = placement.counts(self.attribute), sorted(placement.population(self.attribute))
        for cluster in placement.clusters:
            for group in groups:
                number = counts[cluster, group]
                if 0 < number < self.least:
                    yield Violation(self, (cluster,), group=group, number=number, least=self.least)

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Say how many of a group a cluster has."""
        (cluster,) = map(words.subject, violation.clusters)
        return (
            f"{cluster} has {violation.number} of {self.attribute} {violation.group!r}: expected none or at "
            f"least {self.least}."
        )

    def compile(self, arrays: Arrays) -> None:
        """Raise the least count other than 0."""
        for column in arrays.groups(self.attribute):
            column.alone = max(column.alone, self.least)


@dataclass(frozen=True)
class Shares(DictRule):
    """The share of every group in every cluster is near its share in the population."""

    keyword: ClassVar[str] = "shares"
    example: ClassVar[str] = '{"gender": 0.1}'
    single: ClassVar[bool] = True
    attribute: str
    within: float

    @property
    def tolerance(self) -> Fraction:
        """The number as it is written: .1 is a tenth, not the nearest binary fraction."""
        return Fraction(repr(self.within))

    @property
    def _points(self) -> str:
        return f"{float(100 * self.tolerance):g} points"

    @classmethod
    def read(cls, where: str, value: Any) -> float:
        """Return a number from 0 to 1."""
        return float(number(where, value, Real(low=0, high=1)))

    def describe(self) -> str:
        """Say the rule in words."""
        return (
            f"the share of each {self.attribute} within {self._points} of the population's in every cluster"
        )

    def sentence(self, words: Words) -> str:
        """Say the rule in a sentence."""
        return f"The share of each {self.attribute} in a {words.cluster} is within {self._points} of that among all."

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return every cluster with too many or too few of a group."""
        counts, sizes = placement.counts(self.attribute), placement.sizes()
        population = sorted(placement.population(self.attribute).items())
        for cluster in placement.clusters:
            size = sizes[cluster]
            for group, total in population:
                share = Fraction(total, len(placement.labels))
                least = max(math.floor((share - self.tolerance) * size), 0)
                most = min(math.ceil((share + self.tolerance) * size), size)
                found = counts[cluster, group]
                if not least <= found <= most:
                    yield Violation(self, (cluster,), (), group, found, least, most, size)

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Say how many of a group a cluster has."""
        (cluster,) = map(words.subject, violation.clusters)
        least, most = violation.least, violation.most
        return (
            f"{cluster} has {violation.number} of {self.attribute} {violation.group!r} among "
            f"{words.count(violation.among or 0)}: expected {least if least == most else f'{least} to {most}'}."
        )

    def compile(self, arrays: Arrays) -> None:
        """Draw the bounds on shares closer."""
        for column in arrays.groups(self.attribute):
            share = Fraction(len(column.nodes), arrays.n)
            column.low = max(column.low, share - self.tolerance)
            column.high = min(column.high, share + self.tolerance)
