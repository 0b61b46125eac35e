"""Class lists as one page: on paper, an overview and then a sheet for every class."""

from __future__ import annotations

import math
import os
from typing import Any

from equigraph._utils.files import write_text
from equigraph._utils.templates import render
from equigraph.apps.classes.lists import ClassLists
from equigraph.apps.classes.workbook import countable, no_friend

_MAX_ATTRIBUTES = 4
# What a table has of a sheet of paper (the shorter of A4 and Letter high, the narrower wide), in points.
_WIDTH, _HEIGHT = 515.0, 615.0
_TITLE = 50.0  # above the first class, where there is no overview
_LETTERS = (11.0, 10.5, 10.0, 9.5, 9.0, 8.5, 8.0, 7.5, 7.0)
_WIDE, _HIGH, _GAP = 0.58, 1.25, 8.0  # a letter and a line in units of its size; between columns in points


def write_page(lists: ClassLists, path: str | os.PathLike[str], attributes: list[str], friends: bool) -> None:
    """Write the page as `ClassLists.to_html` says."""
    shown = attributes[:_MAX_ATTRIBUTES]
    counted = {attribute: values for attribute in shown if (values := countable(lists, attribute))}
    means = [a for a in shown if a not in counted and lists.mean(0, a) is not None]
    page = render(
        "equigraph.apps.classes",
        title=lists.title,
        date=lists.date,
        friends=friends,
        attributes=shown,
        left_out=attributes[len(shown) :],
        language=lists.language,
        words=lists.words,
        size_line=lists.size_line(),
        facts=lists.facts(),
        rules=lists.rules,
        notes=lists.notes(),
        overview=[*counted, *(f"{attribute}, {lists.words['mean']}" for attribute in means)],
        means=means,
        classes=[_class(lists, number, shown, counted, friends) for number in range(lists.n_classes)],
    )
    write_text(path, page)


def _class(
    lists: ClassLists, number: int, attributes: list[str], counted: dict[str, list[str]], friends: bool
) -> dict[str, Any]:
    """Return what the page shows of a class."""
    members = lists.members(number)
    means = {attribute: lists.mean(number, attribute) for attribute in attributes}
    return {
        "name": lists.class_names[number],
        "size": lists.say("people", n=len(members)),
        "letters": f"{_letter_size(lists, members, attributes, friends):g}",
        "alone": [member for member in members if lists.is_friendless(member)],
        "counts": {attribute: _counts(lists, number, attribute, counted[attribute]) for attribute in counted},
        "means": {attribute: f"{mean:.2f}" for attribute, mean in means.items() if mean is not None},
        "people": [
            {
                "name": name,
                "cells": [lists.value(name, attribute) for attribute in attributes],
                "here": lists.friends_here(name),
                "elsewhere": [f"{other} ({where})" for other, where in lists.friends_elsewhere(name)],
                "nobody": no_friend(lists, name),
                "alone": lists.is_friendless(name),
            }
            for name in members
        ],
    }


def _counts(lists: ClassLists, number: int, attribute: str, values: list[str]) -> list[str]:
    """Return how many people of a class have each value, such as "13 f" and "13 m"."""
    counts = lists.counts(number, attribute)
    blank = lists.words["blank"]
    return [f"{counts[value]} {value or blank}" for value in values if value or counts[value]]


def _letter_size(lists: ClassLists, members: tuple[str, ...], attributes: list[str], friends: bool) -> float:
    """Return the largest letters with which the table of a class stays on one sheet of paper, as far as any do."""
    texts = [[name, *(lists.value(name, attribute) for attribute in attributes)] for name in members]
    heads = [lists.words["name"], *attributes]
    fixed = [max(len(row[j]) for row in (heads, *texts)) for j in range(len(heads))]
    named = [(lists.here_text(name), lists.elsewhere_text(name)) for name in members] if friends else []
    # A browser parts the width that is left by the longest text of each column.
    longest = [max((len(pair[j]) for pair in named), default=0) + 12 for j in (0, 1)]
    share = longest[0] / sum(longest)
    height = _HEIGHT if friends else _HEIGHT - _TITLE
    for size in _LETTERS:
        letters = _WIDTH / (_WIDE * size) - sum(fixed) - 4 - _GAP * (len(fixed) + 2) / size
        lines = sum(
            max(_lines(here, share * letters), _lines(there, (1 - share) * letters)) for here, there in named
        )
        if max(lines, len(members)) * _HIGH * size + len(members) * 0.5 * size <= height:
            return size
    return _LETTERS[-1]


def _lines(text: str, letters: float) -> int:
    return max(1, math.ceil(len(text) / max(letters, 8)))
