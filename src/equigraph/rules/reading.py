"""What the kinds of rules read their arguments with; whatever is not a rule is refused in one sentence."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from equigraph._utils.parameters import Constraint, Integer
from equigraph.exceptions import ParameterError


def is_list(value: Any) -> bool:
    """Return whether a value is a list of some kind."""
    return isinstance(value, (list, tuple, np.ndarray))


def entries(keyword: str, value: Any, shape: str) -> Iterator[tuple[Any, Any]]:
    """Return the entries of a dict."""
    if not isinstance(value, Mapping):
        raise ParameterError(f"Rules: {keyword} must look like {shape}; got {value!r}.")
    yield from value.items()


def number(where: str, value: Any, constraint: Constraint) -> Any:
    """Return a number, if it is one that is allowed."""
    if not constraint.accepts(value):
        raise ParameterError(f"Rules: {where} must be {constraint.describe()}; got {value!r}.")
    return value


def whole(where: str, value: Any, low: int = 0) -> int:
    """Return a whole number of at least so much."""
    return int(number(where, value, Integer(low=low)))


def name(keyword: str, value: Any) -> Hashable:
    """Return the name of a node or a group."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or value != value or not isinstance(value, Hashable):
        raise ParameterError(f"Rules: {keyword} names {value!r}, which is neither text nor a number.")
    return value


def names(keyword: str, value: Any) -> tuple[Hashable, ...]:
    """Return the names of at least two nodes, all different."""
    found = tuple(name(keyword, node) for node in value)
    if len(found) < 2 or len(set(found)) < len(found):
        raise ParameterError(
            f"Rules: {keyword} needs at least two nodes in every tuple, all different; got {found!r}."
        )
    return found


def tuples(keyword: str, value: Any) -> Iterator[tuple[Hashable, ...]]:
    """Return tuples of names of nodes."""
    if not is_list(value) or not all(is_list(nodes) for nodes in value):
        raise ParameterError(
            f'Rules: {keyword} must be a list of tuples of nodes, such as [("Ada", "Ben")]; got {value!r}.'
        )
    for nodes in value:
        yield names(keyword, nodes)
