"""The rules about how many nodes of a group, or of a list, every cluster has at least or at most."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from equigraph._utils.text import listed
from equigraph.exceptions import ParameterError
from equigraph.rules.base import Rule, entries, is_list, name, names, whole
from equigraph.rules.check import Placement, Violation, Words
from equigraph.rules.compile import Arrays, CountColumn

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
    def bound(self) -> str:
        """The bound in words."""
        return f"{self.keyword.replace('_', ' ')} {self.number}"

    @classmethod
    def parse(cls, value: Any) -> Iterator[Rule]:
        """Read a dict of attributes to dicts of groups to numbers, or a list of those and of (nodes, number)."""
        make: Callable[..., Rule] = cls  # the fields of both kinds are in the same order
        for part in value if is_list(value) else [value]:
            if is_list(part):
                if len(part) != 2 or not is_list(part[0]):
                    raise ParameterError(
                        f"Rules: {cls.keyword} must look like {_GROUP} or {_LIST}; got {part!r} in it."
                    )
                nodes = names(cls.keyword, part[0])
                yield make(None, None, whole(cls.keyword, part[1]), nodes)
                continue
            if not isinstance(part, Mapping):
                raise ParameterError(
                    f"Rules: {cls.keyword} must look like {_GROUP} or {_LIST}; got {value!r}."
                )
            for attribute, groups in part.items():
                for group, number in entries(cls.keyword, groups, _GROUP):
                    where = f"{cls.keyword}[{attribute!r}][{group!r}]"
                    yield make(str(attribute), name(cls.keyword, group), whole(where, number))

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
        return f"{self.bound} of {self._whom(self.value)} in every cluster"

    def _whom(self, group: Hashable) -> str:
        return listed(self.nodes) if self.attribute is None else f"{self.attribute} {group!r}"

    def sentence(self, words: Words) -> str:
        """Say the rule in a sentence."""
        if self.attribute is None:
            return f"Every {words.cluster} has {self.bound} of {listed(self.nodes)}."
        limit = self.bound.removesuffix(str(self.number))
        return (
            f"Every {words.cluster} has {limit}{words.count(self.number)} with {self.attribute} {self.value}."
        )

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
        (cluster,) = map(words.subject, violation.clusters)
        return f"{cluster} has {violation.number} of {self._whom(violation.group)}: expected {self.bound}."

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

    def holds(self, number: int) -> bool:
        """Return whether a cluster may have so many."""
        return number <= self.most

    def compile(self, arrays: Arrays) -> None:
        """Lower the greatest count."""
        column = self.column(arrays)
        column.most = np.minimum(column.most, self.most)
