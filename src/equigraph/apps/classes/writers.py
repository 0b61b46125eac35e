"""Writers of class lists: a workbook and a page, with an overview and one sheet per class."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from typing import Any

from equigraph._utils.files import atomic_path, write_text
from equigraph._utils.records import harmless
from equigraph._utils.templates import render
from equigraph._utils.text import shown
from equigraph.apps.classes.lists import ClassLists
from equigraph.apps.classes.roster.columns import is_number_column

_FORBIDDEN = re.compile(r"[\[\]:*?/\\]")
_MAX_SHEET_NAME = 31
_MAX_VALUES = 8  # an attribute with more values, such as a village, is not counted in the overview
_HEAD = 3  # row of the header on the sheet of a class
_LINE = 15  # height of a line, in points
_NARROW, _WIDEST = 6, 46  # widths of a column, in letters
# Texts are written as texts: no name becomes a formula, a number or a link.
_OPTIONS = {"strings_to_formulas": False, "strings_to_numbers": False, "strings_to_urls": False}
_FORMATS: dict[str, dict[str, Any]] = {
    "plain": {"valign": "top"},
    "wrap": {"text_wrap": True, "valign": "top"},
    "title": {"bold": True, "font_size": 16},
    "heading": {"bold": True, "font_size": 12},
    "head": {"bold": True, "bottom": 2, "text_wrap": True, "valign": "bottom"},
    "muted": {"font_color": "#5C6066"},
    "number": {"align": "center", "valign": "top", "font_color": "#5C6066"},
    "count": {"align": "center", "valign": "top"},
    "count head": {"bold": True, "bottom": 2, "align": "center", "text_wrap": True, "valign": "bottom"},
    "over": {"bold": True},
    "yes": {"bg_color": "#DDF1E4", "font_color": "#14532D", "align": "center", "valign": "top"},
    "no": {"bg_color": "#FBDCD5", "font_color": "#7F1D1D", "align": "center", "bold": True, "valign": "top"},
    "alone": {"bg_color": "#FFF0CC", "text_wrap": True, "valign": "top"},
}
_MAX_ATTRIBUTES = 4
# Room for a table on paper (the smaller of A4 and Letter each way), in points.
_WIDTH, _HEIGHT = 515.0, 615.0
_TITLE = 50.0  # above the first class, without an overview
_LETTERS = (11.0, 10.5, 10.0, 9.5, 9.0, 8.5, 8.0, 7.5, 7.0)
_WIDE, _HIGH, _GAP = 0.58, 1.25, 8.0  # a letter and a line in units of its size; between columns in points


def write_workbook(lists: ClassLists, path: str | os.PathLike[str], attributes: list[str]) -> None:
    """Write the workbook as `ClassLists.to_xlsx` says."""
    import xlsxwriter

    with atomic_path(path) as partial:
        book = xlsxwriter.Workbook(str(partial), _OPTIONS)
        # Texts that look like formulas stay texts when they are edited.
        formats = {
            (name, quoted): book.add_format({**how, "quote_prefix": quoted})
            for name, how in _FORMATS.items()
            for quoted in (False, True)
        }
        overview, *names = sheet_names((lists.words["overview"], *lists.class_names))
        footer = f"&L&A&R{lists.words['page']}"
        _write_overview(_Page(book.add_worksheet(overview), formats, footer), lists, attributes)
        for number, name in enumerate(names):
            _write_class(_Page(book.add_worksheet(name), formats, footer), lists, number, attributes)
        book.close()


def sheet_names(titles: tuple[str, ...]) -> list[str]:
    """Return a name for each sheet that spreadsheet programs allow, all different.

    >>> sheet_names(("Overview", "5/6 a", "5:6 a", "Overview"))
    ['Overview', '5-6 a', '5-6 a (2)', 'Overview (2)']
    """
    taken, names = {"history"}, []
    for title in titles:
        base = _FORBIDDEN.sub("-", shown(title)).strip("' ") or "-"
        name, turn = base[:_MAX_SHEET_NAME], 1
        while name.casefold() in taken:
            turn += 1
            end = f" ({turn})"
            name = base[: _MAX_SHEET_NAME - len(end)] + end
        taken.add(name.casefold())
        names.append(name)
    return names


class _Page:
    """One sheet, written row by row as text or numbers."""

    def __init__(self, sheet: Any, formats: dict[tuple[str, bool], Any], footer: str) -> None:
        self.sheet = sheet
        self.row = 0
        self._formats = formats
        sheet.hide_gridlines(1)
        sheet.set_margins(left=0.5, right=0.5, top=0.6, bottom=0.6)
        sheet.fit_to_pages(1, 0)
        sheet.set_footer(footer)

    def put(self, column: int, value: str | int, how: str = "plain") -> None:
        """Write a cell of the row."""
        if isinstance(value, int):
            self.sheet.write_number(self.row, column, value, self._formats[how, False])
            return
        text = shown(value)
        if text or how != "plain":
            self.sheet.write_string(self.row, column, text, self._formats[how, harmless(text) != text])

    def put_row(self, values: Sequence[str | int], how: str = "plain", *, start: int = 0) -> None:
        """Write the rest of the row, and start the next."""
        for column, value in enumerate(values, start=start):
            self.put(column, value, how)
        self.row += 1


def _write_overview(page: _Page, lists: ClassLists, attributes: list[str]) -> None:
    words = lists.words
    page.put_row([lists.title], "title")
    page.put_row([lists.size_line()], "muted")
    page.row += 1
    for fact in lists.facts():
        page.put_row([fact])
    page.row += 1
    _write_sizes(page, lists, attributes)
    page.row += 1
    if lists.rules:
        page.put_row([words["rules"]], "heading")
        page.put(0, words["holds"], "count head")
        page.put_row([words["rule"]], "over", start=1)
        for sentence, holds in lists.rules:
            how = "yes" if holds else "no"
            page.put(0, words[how], how)
            page.put_row([sentence], start=1)
    if lists.roster.notes:
        page.row += 1
        page.put_row([words["notes"]], "heading")
        for note in lists.notes():
            page.put_row([note], "muted")
    page.sheet.set_column(0, 0, _width(lists.class_names, 12))
    page.sheet.set_landscape()


def _write_sizes(page: _Page, lists: ClassLists, attributes: list[str]) -> None:
    """Write one row per class: number of people, of each value, and without a friend."""
    words, (counted, means) = lists.words, _counted(lists, attributes)
    heads = [words["people"]]
    for attribute, values in counted.items():
        page.put(1 + len(heads), attribute, "over")
        heads += [value or words["blank"] for value in values]
    heads += [f"{attribute}, {words['mean']}" for attribute in means]
    page.row += 1
    page.put(0, words["class"], "head")
    page.put_row([*heads, words["alone"]], "count head", start=1)
    for column, head in enumerate(heads, start=1):
        page.sheet.set_column(column, column, _width([head], 10))
    page.sheet.set_column(len(heads) + 1, len(heads) + 1, 17)
    for number, name in enumerate(lists.class_names):
        members = lists.members(number)
        counts = [lists.counts(number, a)[value] for a, values in counted.items() for value in values]
        found = [lists.mean(number, attribute) for attribute in means]
        shown_means = ["" if mean is None else f"{mean:.2f}" for mean in found]
        page.put(0, name)
        alone = sum(map(lists.is_friendless, members))
        page.put_row([len(members), *counts, *shown_means, alone], "count", start=1)


def _counted(lists: ClassLists, attributes: list[str]) -> tuple[dict[str, list[str]], list[str]]:
    """Return the values of the attributes that are counted one by one, and the attributes that have a mean.

    Blank values come last; an attribute with too many values, such as a village, is neither.
    """
    counted = {}
    for attribute in attributes:
        found = {value or "" for value in lists.roster.attributes[attribute]}
        if len(found) <= _MAX_VALUES:
            counted[attribute] = [*sorted(found - {""}), *(found & {""})]
    means = [a for a in attributes if a not in counted and is_number_column(lists.roster.attributes[a])]
    return counted, means


def _write_class(page: _Page, lists: ClassLists, number: int, attributes: list[str]) -> None:
    members, words = lists.members(number), lists.words
    heads = [words["name"], *attributes, words["here"], words["elsewhere"]]
    rows = [_cells(lists, name, attributes) for name in members]
    widths = [_width([head, *(row[j] for row in rows)], _NARROW) for j, head in enumerate(heads)]
    page.put_row([lists.class_names[number]], "title")
    page.put_row([lists.say("people", n=len(members))], "muted")
    page.row = _HEAD
    page.put(0, words["number"], "count head")
    page.put_row(heads, "head", start=1)
    for i, (name, cells) in enumerate(zip(members, rows, strict=True), start=1):
        # Not every program computes the height of a row with wrapped text.
        lines = max(-(-len(cell) // width) for cell, width in zip(cells, widths, strict=True))
        page.sheet.set_row(page.row, _LINE * max(lines, 1))
        page.put(0, i, "number")
        for column, cell in enumerate(cells, start=1):
            is_alone = column == len(cells) - 1 and lists.is_friendless(name)
            page.put(column, cell, "alone" if is_alone else "wrap")
        page.row += 1
    for column, width in enumerate([_NARROW, *widths]):
        page.sheet.set_column(column, column, width)
    page.sheet.freeze_panes(_HEAD + 1, 2)
    page.sheet.repeat_rows(_HEAD)
    page.sheet.set_landscape()


def _cells(lists: ClassLists, name: str, attributes: list[str]) -> list[str]:
    values = [lists.value(name, attribute) for attribute in attributes]
    return [name, *values, lists.here_text(name) or no_friend(lists, name), lists.elsewhere_text(name)]


def no_friend(lists: ClassLists, name: str) -> str:
    """Return the reason why a person has no friend in class."""
    return lists.words["none" if lists.is_friendless(name) else "no_wish"]


def _width(texts: Sequence[str], least: int) -> int:
    return min(max(least, *(len(text) + 2 for text in texts)), _WIDEST)


def write_page(lists: ClassLists, path: str | os.PathLike[str], attributes: list[str], friends: bool) -> None:
    """Write the page as `ClassLists.to_html` says."""
    printed = attributes[:_MAX_ATTRIBUTES]
    counted, means = _counted(lists, printed)
    page = render(
        "equigraph.apps.classes",
        title=lists.title,
        date=lists.date,
        friends=friends,
        attributes=printed,
        left_out=attributes[len(printed) :],
        language=lists.language,
        words=lists.words,
        size_line=lists.size_line(),
        facts=lists.facts(),
        rules=lists.rules,
        notes=lists.notes(),
        overview=[*counted, *(f"{attribute}, {lists.words['mean']}" for attribute in means)],
        means=means,
        classes=[_class(lists, number, printed, counted, friends) for number in range(lists.n_classes)],
    )
    write_text(path, page)


def _class(
    lists: ClassLists, number: int, attributes: list[str], counted: dict[str, list[str]], friends: bool
) -> dict[str, Any]:
    """Return the data of a class for the page."""
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
    """Return the counts of values in a class, such as "13 f" and "13 m"."""
    counts = lists.counts(number, attribute)
    blank = lists.words["blank"]
    return [f"{counts[value]} {value or blank}" for value in values if value or counts[value]]


def _letter_size(lists: ClassLists, members: tuple[str, ...], attributes: list[str], friends: bool) -> float:
    """Return the largest font size with which the table of a class fits on one sheet of paper, or the smallest."""
    texts = [[name, *(lists.value(name, attribute) for attribute in attributes)] for name in members]
    heads = [lists.words["name"], *attributes]
    fixed = [max(len(row[j]) for row in (heads, *texts)) for j in range(len(heads))]
    named = [(lists.here_text(name), lists.elsewhere_text(name)) for name in members] if friends else []
    # A browser divides the remaining width by the longest text of each column.
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
