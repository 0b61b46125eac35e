"""The rule that nobody is the only one of a group, or one of few, in a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from equigraph.rules.base import Rule
from equigraph.rules.reading import entries, whole
from equigraph.rules.violation import Placement, Violation
from equigraph.rules.words import Words

if TYPE_CHECKING:
    from equigraph.rules.arrays import Arrays


@dataclass(frozen=True)
class NotAlone(Rule):
    """Of each group of an attribute a cluster has none or at least so many."""

    keyword: ClassVar[str] = "not_alone"
    single: ClassVar[bool] = True
    attribute: str
    least: int

    @property
    def named_attribute(self) -> str:
        """The attribute."""
        return self.attribute

    @classmethod
    def parse(cls, value: Any) -> Iterator[Rule]:
        """Read a dict of attributes to numbers."""
        for attribute, least in entries("not_alone", value, '{"gender": 2}'):
            yield cls(str(attribute), whole(f"not_alone[{attribute!r}]", least, low=2))

    @classmethod
    def argument(cls, rules: Sequence[Any]) -> Any:
        """Return a dict of attributes to numbers."""
        return {rule.attribute: rule.least for rule in rules}

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
