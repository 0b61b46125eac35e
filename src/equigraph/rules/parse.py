"""From what people write to single rules; whatever is not a rule is refused in one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any, TypedDict

import numpy as np

from equigraph._utils.parameters import Constraint, Integer, Real
from equigraph._utils.text import did_you_mean
from equigraph.exceptions import ParameterError
from equigraph.rules.items import (
    Apart,
    AtLeast,
    AtMost,
    Fixed,
    Friends,
    NotAlone,
    Pair,
    Rule,
    Shares,
    Sizes,
    Together,
)


class RuleArguments(TypedDict, total=False):
    """The keyword arguments of `equigraph.rules.Rules`."""

    together: Sequence[Sequence[Hashable]] | None
    apart: Sequence[Sequence[Hashable]] | None
    fixed: Mapping[Any, int] | None
    sizes: Pair | Sequence[Pair] | None
    friends: int | Mapping[str, Any] | None
    at_least: Mapping[str, Mapping[Any, int]] | None
    at_most: Mapping[str, Mapping[Any, int]] | None
    not_alone: Mapping[str, int] | None
    shares: Mapping[str, float] | None


def parse_rules(arguments: Mapping[str, Any]) -> tuple[Rule, ...]:
    """Return the single rules of keyword arguments, in their order; None stands for no rule."""
    items: list[Rule] = []
    for keyword, value in arguments.items():
        if keyword not in PARSERS:
            raise ParameterError(
                f"Rules: there is no rule {keyword!r}{did_you_mean(keyword, PARSERS)}: "
                f"expected {', '.join(PARSERS)}."
            )
        if value is not None:
            items.extend(PARSERS[keyword](value))
    return tuple(items)


def _tuples(keyword: str, value: Any) -> Iterator[tuple[Hashable, ...]]:
    if not _is_list(value) or not all(_is_list(nodes) for nodes in value):
        raise ParameterError(
            f'Rules: {keyword} must be a list of tuples of nodes, such as [("Ada", "Ben")]; got {value!r}.'
        )
    for nodes in value:
        names = tuple(_name(keyword, node) for node in nodes)
        if len(names) < 2 or len(set(names)) < len(names):
            raise ParameterError(
                f"Rules: {keyword} needs at least two nodes in every tuple, all different; got {names!r}."
            )
        yield names


def _fixed(value: Any) -> Iterator[Rule]:
    for node, cluster in _entries("fixed", value, '{"Finn": 0}'):
        yield Fixed(_name("fixed", node), int(_number(f"fixed[{node!r}]", cluster, Integer(low=0))))


def _sizes(value: Any) -> Iterator[Rule]:
    if _is_list(value) and value and all(_is_list(pair) for pair in value):
        yield Sizes(tuple(_pair(pair) for pair in value), per_cluster=True)
    else:
        yield Sizes((_pair(value),))


def _pair(value: Any) -> Pair:
    sides = tuple(None if _is_open(side) else side for side in value) if _is_list(value) else ()
    if len(sides) != 2 or not all(Integer(optional=True).accepts(side) for side in sides):
        raise ParameterError(
            "Rules: sizes must be a pair (least, most) of whole numbers or None, or a list with one pair per "
            f"cluster; got {value!r}."
        )
    least, most = (None if side is None else int(side) for side in sides)
    if least is not None and most is not None and least > most:
        raise ParameterError(f"Rules: sizes={value!r}: the least size is above the most.")
    return least, most


def _is_open(side: Any) -> bool:
    # TOML has no null, so infinity says "no limit" there.
    return side is None or (isinstance(side, float) and math.isinf(side) and side > 0)


_FRIENDS = ("least", "but", "of")


def _friends(value: Any) -> Iterator[Rule]:
    told = value if isinstance(value, Mapping) else {"least": value}
    if "least" not in told or not set(told) <= set(_FRIENDS):
        raise ParameterError(
            f"Rules: friends={value!r}: expected a number, or a dict such as "
            '{"least": 2, "but": {"Ada": 1}, "of": {"Ada": ["Ben", "Cem"]}}.'
        )
    least = int(_number("friends", told["least"], Integer(low=1)))
    but, of = told.get("but", ()), told.get("of")
    yield Friends(least, _fewer(but, least), None if of is None else _asked(of))


def _fewer(value: Any, least: int) -> Iterator[tuple[Hashable, int]]:
    pairs = (
        ((name, 0) for name in value) if _is_list(value) else _entries("friends: but", value, '{"Ada": 1}')
    )
    for name, number in pairs:
        where = f"friends: but[{name!r}]"
        if _number(where, number, Integer(low=0)) > least:
            raise ParameterError(f"Rules: {where} must be at most {least}, as for everybody; got {number!r}.")
        yield _name("friends", name), int(number)


def _asked(value: Any) -> Iterator[tuple[Hashable, tuple[Hashable, ...]]]:
    for name, others in _entries("friends: of", value, '{"Ada": ["Ben", "Cem"]}'):
        if not _is_list(others):
            raise ParameterError(f"Rules: friends: of[{name!r}] must be a list of nodes; got {others!r}.")
        asked = tuple(_name("friends", other) for other in others)
        if len({name, *asked}) <= len(asked):
            raise ParameterError(
                f"Rules: friends: of[{name!r}] must name others, all different; got {list(asked)!r}."
            )
        yield _name("friends", name), asked


def _counts(keyword: str, value: Any) -> Iterator[tuple[str, Hashable, int]]:
    shape = '{"gender": {"girl": 3}}'
    for attribute, groups in _entries(keyword, value, shape):
        for group, number in _entries(keyword, groups, shape):
            where = f"{keyword}[{attribute!r}][{group!r}]"
            yield str(attribute), _name(keyword, group), int(_number(where, number, Integer(low=0)))


def _not_alone(value: Any) -> Iterator[Rule]:
    for attribute, least in _entries("not_alone", value, '{"gender": 2}'):
        yield NotAlone(str(attribute), int(_number(f"not_alone[{attribute!r}]", least, Integer(low=2))))


def _shares(value: Any) -> Iterator[Rule]:
    for attribute, within in _entries("shares", value, '{"gender": 0.1}'):
        yield Shares(str(attribute), float(_number(f"shares[{attribute!r}]", within, Real(low=0, high=1))))


def _entries(keyword: str, value: Any, shape: str) -> Iterator[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise ParameterError(f"Rules: {keyword} must look like {shape}; got {value!r}.")
    yield from value.items()


def _number(where: str, value: Any, constraint: Constraint) -> Any:
    if not constraint.accepts(value):
        raise ParameterError(f"Rules: {where} must be {constraint.describe()}; got {value!r}.")
    return value


def _name(keyword: str, value: Any) -> Hashable:
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value != value or not isinstance(value, Hashable):
        raise ParameterError(f"Rules: {keyword} names {value!r}, which is neither text nor a number.")
    return value


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


PARSERS: dict[str, Callable[[Any], Iterable[Rule]]] = {
    "together": lambda value: map(Together, _tuples("together", value)),
    "apart": lambda value: map(Apart, _tuples("apart", value)),
    "fixed": _fixed,
    "sizes": _sizes,
    "friends": _friends,
    "at_least": lambda value: starmap(AtLeast, _counts("at_least", value)),
    "at_most": lambda value: starmap(AtMost, _counts("at_most", value)),
    "not_alone": _not_alone,
    "shares": _shares,
}
