"""Base class of the rules, and the functions that parse their arguments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from equigraph._utils.parameters import Constraint, Integer
from equigraph.exceptions import ParameterError
from equigraph.graph.names import name_text
from equigraph.rules.check import Placement, Violation, Words
from equigraph.rules.compile import Arrays


class Rule(ABC):
    """Base class of a single rule. A kind of rule is a frozen dataclass, registered in `rules.rules`.

    `violations` is the oracle: it only counts, and shares no code with `compile`, which serves the search and the
    solver.
    """

    keyword: ClassVar[str]  # the argument of `equigraph.rules.Rules` that makes rules of this kind
    single: ClassVar[bool] = (
        False  # whether a second rule of the kind, on the same attribute if any, replaces it
    )

    @property
    def named_nodes(self) -> tuple[Hashable, ...]:
        """The nodes that the rule names; empty if it names none."""
        return getattr(self, "nodes", ())

    @property
    def named_clusters(self) -> tuple[int, ...]:
        """The clusters that the rule names by number; all others are interchangeable."""
        return getattr(self, "clusters", ())

    @property
    def named_attribute(self) -> str | None:
        """The attribute that the rule names, if any."""
        return getattr(self, "attribute", None)

    @classmethod
    @abstractmethod
    def parse(cls, value: Any) -> Iterator[Rule]:
        """Return the rules given by a keyword argument; raise a ParameterError if it is not valid."""

    @classmethod
    @abstractmethod
    def argument(cls, rules: Sequence[Any]) -> Any:
        """Return the keyword argument that gives these rules, as values that JSON can hold."""

    def fields(self) -> dict[str, Any]:
        """Return the fields of the rule other than nodes, for a page with its own wording."""
        return {name: value for name, value in vars(self).items() if name not in ("node", "nodes")}

    @abstractmethod
    def describe(self) -> str:
        """Return the rule in words."""

    @abstractmethod
    def sentence(self, words: Words) -> str:
        """Return the rule as a sentence, with the given nouns."""

    @abstractmethod
    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return all violations of the rule by labels."""

    @abstractmethod
    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Return a violation as a sentence."""

    @abstractmethod
    def compile(self, arrays: Arrays) -> None:
        """Add the rule to the arrays for the search and the solver."""


class DictRule(Rule):
    """Base class of the kinds whose argument is a dict; the two fields of a rule are a key and its value."""

    example: ClassVar[str]

    @classmethod
    @abstractmethod
    def read(cls, where: str, value: Any) -> Any:
        """Return the value of an entry, if it is valid."""

    @classmethod
    def parse(cls, value: Any) -> Iterator[Rule]:
        """Parse a dict."""
        make: Callable[[Hashable, Any], Rule] = cls
        for key, given in entries(cls.keyword, value, cls.example):
            known = str(key) if "attribute" in cls.__annotations__ else name(cls.keyword, key)
            yield make(known, cls.read(f"{cls.keyword}[{key!r}]", given))

    @classmethod
    def argument(cls, rules: Sequence[Any]) -> Any:
        """Return a dict."""
        pairs = (tuple(vars(rule).values()) for rule in rules)
        return {key: list(value) if isinstance(value, tuple) else value for key, value in pairs}


def in_words(rules: Iterable[Rule]) -> str:
    """Return several rules in words."""
    return ", ".join(rule.describe() for rule in rules)


def is_list(value: Any) -> bool:
    """Return whether a value is a list, tuple or array."""
    return isinstance(value, (list, tuple, np.ndarray))


def entries(keyword: str, value: Any, shape: str) -> Iterator[tuple[Any, Any]]:
    """Return the entries of a dict, whose keys differ also as texts."""
    if not isinstance(value, Mapping):
        raise ParameterError(f"Rules: {keyword} must look like {shape}; got {value!r}.")
    for text, number in Counter(map(name_text, value)).items():
        if number > 1:
            raise ParameterError(
                f"Rules: {keyword} names {text} twice, as text and as number: expected it once."
            )
    yield from value.items()


def number(where: str, value: Any, constraint: Constraint) -> Any:
    """Return a number, if it meets a constraint."""
    if not constraint.accepts(value):
        raise ParameterError(f"Rules: {where} must be {constraint.describe()}; got {value!r}.")
    return value


def whole(where: str, value: Any, low: int = 0) -> int:
    """Return a whole number of at least ``low``."""
    return int(number(where, value, Integer(low=low)))


def name(keyword: str, value: Any) -> Hashable:
    """Return the name of a node or a group."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value != value or not isinstance(value, Hashable):
        raise ParameterError(f"Rules: {keyword} names {value!r}, which is neither text nor a number.")
    return value


def names(keyword: str, value: Any) -> tuple[Hashable, ...]:
    """Return the names of at least two nodes, all different, also as texts."""
    found = tuple(name(keyword, node) for node in value)
    if len(found) < 2 or len(set(map(name_text, found))) < len(found):
        raise ParameterError(
            f"Rules: {keyword} needs at least two nodes in every tuple, all different; got {found!r}."
        )
    return found
