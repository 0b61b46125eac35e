"""The rules about how many nodes of a group, or of a list, every cluster has at least or at most."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from equigraph._utils.text import listed
from equigraph.exceptions import ParameterError
from equigraph.rules.base import Rule
from equigraph.rules.reading import entries, is_list, name, names, whole
from equigraph.rules.violation import Placement, Violation
from equigraph.rules.words import Words

if TYPE_CHECKING:
    from equigraph.rules.arrays import Arrays, CountColumn

_GROUP, _LIST = '{"gender": {"girl": 3}}', '[(["Ann", "Bob", "Cem"], 2)]'


class _Counted(Rule):
    """A bound on the nodes of a group, or of a list of nodes where the attribute is None."""

    attribute: str | None
    value: Hashable
    nodes: tuple[Hashable, ...]

    @property
    @abstractmethod
    def number(self) -> int:
        """The bound."""

    @property
    @abstractmethod
    def bound(self) -> str:
        """The bound in words."""

    @property
    def named_nodes(self) -> tuple[Hashable, ...]:
        """The nodes of the list."""
        return self.nodes

    @property
    def named_attribute(self) -> str | None:
        """The attribute of the group."""
        return self.attribute

    @classmethod
    @abstractmethod
    def make(cls, attribute: str | None, value: Hashable, nodes: tuple[Hashable, ...], number: int) -> Rule:
        """Return a rule."""

    @classmethod
    def parse(cls, value: Any) -> Iterator[Rule]:
        """Read a dict of attributes to dicts of groups to numbers, or a list of those and of (nodes, number)."""
        for part in value if is_list(value) else [value]:
            if is_list(part):
                yield cls._of_nodes(part)
            elif not isinstance(part, Mapping):
                raise ParameterError(
                    f"Rules: {cls.keyword} must look like {_GROUP} or {_LIST}; got {value!r}."
                )
            for attribute, groups in () if is_list(part) else part.items():
                for group, number in entries(cls.keyword, groups, _GROUP):
                    where = f"{cls.keyword}[{attribute!r}][{group!r}]"
                    yield cls.make(str(attribute), name(cls.keyword, group), (), whole(where, number))

    @classmethod
    def _of_nodes(cls, pair: Any) -> Rule:
        if len(pair) != 2 or not is_list(pair[0]):
            raise ParameterError(
                f"Rules: {cls.keyword} must look like {_GROUP} or {_LIST}; got {pair!r} in it."
            )
        return cls.make(None, None, names(cls.keyword, pair[0]), whole(cls.keyword, pair[1]))

    @classmethod
    def argument(cls, rules: Sequence[Any]) -> Any:
        """Return a dict, or with lists of nodes a list."""
        groups: dict[str, dict[Hashable, int]] = {}
        for rule in rules:
            if rule.attribute is not None:
                groups.setdefault(rule.attribute, {})[rule.value] = rule.number
        lists = [(list(rule.nodes), rule.number) for rule in rules if rule.attribute is None]
        return [*([groups] if groups else []), *lists] if lists else groups

    def describe(self) -> str:
        """Say the rule in words."""
        whom = listed(self.nodes) if self.attribute is None else f"{self.attribute} {self.value!r}"
        return f"{self.bound} of {whom} in every cluster"

    def sentence(self, words: Words) -> str:
        """Say the rule in a sentence."""
        if self.attribute is None:
            return f"Every {words.cluster} has {self.bound} of {listed(self.nodes)}."
        number = words.count(self.number)
        limit = self.bound.removesuffix(str(self.number))
        return f"Every {words.cluster} has {limit}{number} with {self.attribute} {self.value}."

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return every cluster with too many or too few."""
        if self.attribute is None:
            places = list(map(placement.of, self.nodes))
            group, counts = None, {cluster: places.count(cluster) for cluster in placement.clusters}
        else:
            group, table = placement.facts.group(self.attribute, self.value), placement.counts(self.attribute)
            counts = {cluster: table[cluster, group] for cluster in placement.clusters}
        for cluster, number in counts.items():
            if not self.holds(number):
                yield Violation(self, (cluster,), group=group, number=number)

    @abstractmethod
    def holds(self, number: int) -> bool:
        """Return whether a cluster may have so many."""

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Say how many a cluster has."""
        whom = listed(self.nodes) if self.attribute is None else f"{self.attribute} {violation.group!r}"
        (cluster,) = map(words.subject, violation.clusters)
        return f"{cluster} has {violation.number} of {whom}: expected {self.bound}."

    def column(self, arrays: Arrays) -> CountColumn:
        """Return the nodes that are counted."""
        if self.attribute is not None:
            return arrays.group(self.attribute, arrays.facts.group(self.attribute, self.value))
        return arrays.column(("nodes", repr(self.nodes)), [arrays.facts.node(node) for node in self.nodes])


@dataclass(frozen=True)
class AtLeast(_Counted):
    """Every cluster has at least so many nodes of a group, or of a list of nodes."""

    keyword: ClassVar[str] = "at_least"
    attribute: str | None
    value: Hashable
    least: int
    nodes: tuple[Hashable, ...] = ()

    @property
    def number(self) -> int:
        """The bound."""
        return self.least

    @property
    def bound(self) -> str:
        """The bound in words."""
        return f"at least {self.least}"

    @classmethod
    def make(cls, attribute: str | None, value: Hashable, nodes: tuple[Hashable, ...], number: int) -> Rule:
        """Return a rule."""
        return cls(attribute, value, number, nodes)

    def holds(self, number: int) -> bool:
        """Return whether a cluster may have so many."""
        return number >= self.least

    def compile(self, arrays: Arrays) -> None:
        """Raise the least count."""
        column = self.column(arrays)
        column.least = np.maximum(column.least, self.least)


@dataclass(frozen=True)
class AtMost(_Counted):
    """Every cluster has at most so many nodes of a group, or of a list of nodes."""

    keyword: ClassVar[str] = "at_most"
    attribute: str | None
    value: Hashable
    most: int
    nodes: tuple[Hashable, ...] = ()

    @property
    def number(self) -> int:
        """The bound."""
        return self.most

    @property
    def bound(self) -> str:
        """The bound in words."""
        return f"at most {self.most}"

    @classmethod
    def make(cls, attribute: str | None, value: Hashable, nodes: tuple[Hashable, ...], number: int) -> Rule:
        """Return a rule."""
        return cls(attribute, value, number, nodes)

    def holds(self, number: int) -> bool:
        """Return whether a cluster may have so many."""
        return number <= self.most

    def compile(self, arrays: Arrays) -> None:
        """Lower the greatest count."""
        column = self.column(arrays)
        column.most = np.minimum(column.most, self.most)
