"""The attributes that a command works with: which, how much each counts, bins and joint groups."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable
from typing import Any

from equigraph.exceptions import ParameterError


def column_of(name: str | None) -> str | int | None:
    """Return a number as one, so that it may be a position; the reader looks for a column of that name first."""
    return int(name) if name is not None and name.isdecimal() and str(int(name)) == name else name


def attribute_choice(options: dict[str, Any]) -> dict[str, Any]:
    """Take the options on attributes out of the reading options, and return them as `read_graph` takes them.

    >>> attribute_choice({"attribute": ("gender", "needs:2"), "bins": None, "intersect": None})
    {'attribute': ['gender', 'needs'], 'attribute_weights': {'needs': 2.0}, 'bins': None, 'intersect': None}
    >>> attribute_choice({"attribute": "gender", "bins": ("age=4",), "intersect": ("gender,age",)})
    {'attribute': 'gender', 'attribute_weights': None, 'bins': {'age': 4}, 'intersect': [['gender', 'age']]}
    """
    pairs = [_weighed(text) for text in _texts(options.pop("attribute"))]
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ParameterError(f"--attribute {twice} is given twice: give every attribute once.")
    weights = {name: weight for name, weight in pairs if weight is not None}
    bins = dict(_binned(text) for text in _texts(options.pop("bins"))) or None
    joints = [_joined(text) for text in _texts(options.pop("intersect"))] or None
    return {
        "attribute": None if not names else names[0] if len(names) == 1 else names,
        # The weight of a single attribute says nothing.
        "attribute_weights": weights if weights and (len(names) > 1 or joints) else None,
        "bins": bins,
        "intersect": joints,
    }


def _texts(given: str | Iterable[str] | None) -> list[str]:
    """Return what was typed for an option that may be repeated; folders keep a single value as it is."""
    return [] if given is None else [given] if isinstance(given, str) else list(given)


def _weighed(text: str) -> tuple[Any, float | None]:
    """Return an attribute and its weight; a colon before what is no number belongs to the name."""
    name, colon, weight = text.rpartition(":")
    try:
        number = float(weight)
    except ValueError:
        return column_of(text), None
    if not colon or not name:
        return column_of(text), None
    if not math.isfinite(number) or number < 0:
        raise ParameterError(f"--attribute {text} has the weight {weight}: expected a number of at least 0.")
    return column_of(name), number


def _binned(text: str) -> tuple[Any, int]:
    name, _, number = text.rpartition("=")
    if not name or not number.isdecimal() or int(number) < 2:
        raise ParameterError(
            f"--bins {text} is not NAME=NUMBER: expected such as age=4, with two bins or more."
        )
    return column_of(name), int(number)


def _joined(text: str) -> list[Any]:
    """Return the attributes of joint groups; one whose name has a comma is put between double quotes."""
    names = [column_of(name.strip()) for name in next(csv.reader([text], skipinitialspace=True), [])]
    if len(names) < 2 or "" in names:
        raise ParameterError(f"--intersect {text} names no two attributes: expected such as gender,needs.")
    return names
