"""Attributes to spread evenly: columns of a roster as groups, bins of numbers, default selection."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.text import count, did_you_mean, listed
from equigraph.apps.classes.messages import say
from equigraph.apps.classes.roster import Roster
from equigraph.apps.classes.roster.columns import is_number_column, number_of
from equigraph.apps.classes.roster.vocabulary import Role
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph.groups import bin_groups
from equigraph.rules import Facts

# Group of the people whose cell is blank in a column that marks some.
UNMARKED = "(blank)"
# Default number of bins for a column of numbers.
BINS = 3
# A column is spread by default if it has at most as many values as half a class has people, or at most BINS.
_HALF = 2


def group_columns(roster: Roster) -> dict[str, NDArray]:
    """Return the group of each person by attribute, None for a blank cell.

    A column with one value marks people, and the others are a second group. A column of numbers with more than six
    values, or one that `Roster.bins` names, is put into bins of about equal size.
    """
    return {name: _groups(roster, name, values) for name, values in roster.attributes.items()}


def roster_facts(roster: Roster) -> Facts:
    """Return people and their groups as `Facts` for rules; a blank cell means no group."""
    return Facts(roster.graph(), group_columns(roster), missing="ignore")


def _groups(roster: Roster, name: str, values: Sequence[str | None]) -> NDArray:
    column = np.empty(len(values), dtype=object)
    if not is_binned(roster, name):
        marks = len(set(values) - {None}) == 1
        column[:] = [UNMARKED if value is None and marks else value for value in values]
        return column
    numbers = [number_of(value) if value else None for value in values]
    for value, number in zip(values, numbers, strict=True):
        if value and number is None:
            raise GroupsError(f"bins names {name!r}, which has the value {value!r}: expected numbers.")
    known = np.array([np.nan if number is None else number for number in numbers])
    groups = bin_groups(known, roster.bins.get(name, BINS), missing="ignore", name=name)
    column[:] = [None if code < 0 else str(groups.names[code]) for code in groups.codes.tolist()]
    return column


def is_binned(roster: Roster, name: str) -> bool:
    """Return whether an attribute is spread by bins of its numbers; 0 in `Roster.bins` disables them."""
    return roster.bins[name] > 0 if name in roster.bins else is_number_column(roster.attributes[name])


def default_attributes(columns: Mapping[str, Iterable[Any]], n_people: int, n_classes: int) -> list[str]:
    """Return the columns spread evenly by default: those that split people into large groups.

    Examples
    --------
    >>> default_attributes({"gender": "fmdfmd", "village": "abcdef", "year": "555555"}, 6, 2)
    ['gender']
    """
    most = n_people / (_HALF * n_classes)
    values = {name: {value for value in column if value is not None} for name, column in columns.items()}
    return [name for name, found in values.items() if 2 <= len(found) <= max(BINS, most)]


def chosen_attributes(
    roster: Roster, attributes: Iterable[str] | Mapping[str, float] | None, n_classes: int
) -> dict[str, float]:
    """Return the attributes to spread evenly with their weights: those given, else the default ones."""
    values = group_columns(roster)
    if attributes is None:
        return dict.fromkeys(default_attributes(values, len(roster.people), n_classes), 1.0)
    given = dict(attributes) if isinstance(attributes, Mapping) else dict.fromkeys(attributes, 1.0)
    for name, weight in given.items():
        said = f"attributes names {name!r}"
        if name not in values:
            known = listed(map(repr, values)) if values else "none"
            hint = did_you_mean(name, values)
            raise ParameterError(f"{said}{hint}: expected columns of the sheet, which are {known}.")
        if not (isinstance(weight, (int, float)) and 0 < weight < np.inf):
            raise ParameterError(
                f"attributes gives {name!r} the weight {weight!r}: expected a number above 0."
            )
        n_values = len(set(values[name]) - {None})
        if n_values < 2:
            has = count(n_values, "value")
            raise ParameterError(f"{said}, which has {has}: nothing can be spread evenly.")
    return {name: float(weight) for name, weight in given.items()}


def describe_roster(roster: Roster, attributes: Iterable[str], language: str = "en") -> str:
    """Return a paragraph on the content of a sheet and the columns that are spread evenly.

    Examples
    --------
    >>> roster = Roster(("Ada", "Ben", "Cem"), {"gender": ("f", "m", "m")}, friends=(("Ada", "Ben"),))
    >>> describe_roster(roster, ["gender"])
    '3 people. 1 wish of 1 person. Spread evenly: gender.'
    """
    return say(language, "described", **understood(roster, list(attributes)))


def understood(roster: Roster, even: Sequence[str]) -> dict[str, Any]:
    """Return counts and headers of a sheet, and the columns spread evenly with their number of bins."""
    columns = group_columns(roster)
    ranges = {name: len(set(columns[name]) - {None}) for name in even if is_binned(roster, name)}
    return {
        "people": len(roster.people),
        "wishes": len(roster.friends),
        "wishing": len({one for one, _ in roster.friends}),
        "apart": len(roster.apart),
        "together": len(roster.together),
        "fixed": len(roster.fixed),
        "even": [{"name": name, "ranges": ranges.get(name, 0)} for name in even],
        "shown": [name for name in roster.attributes if name not in even],
        "unused": [column.header for column in roster.columns if column.role == Role.UNUSED],
    }
