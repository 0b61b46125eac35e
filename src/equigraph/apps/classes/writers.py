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
from equigraph._utils.text import joined, shown
from equigraph.apps.classes.lists import ClassLists
from equigraph.apps.classes.roster.columns import is_number_column

_FORBIDDEN = re.compile(r"[\[\]:*?/\\]")
_MAX_SHEET_NAME = 31
_MAX_VALUES = 8  # an attribute with more values, such as a village, is not counted in the overview
_HEAD = 3  # row of the header on the sheet of a class
_LINE = 15  # height of a line, in points
_NARROW, _WIDEST = 6, 46  # widths of a column, in letters
# Cells of a row: a text or a number, and its format.
Row = list[tuple[Any, str]]
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
        names = sheet_names((lists.words["overview"], *lists.class_names))
        pages = [_overview(lists, attributes)]
        pages += [_class_rows(lists, number, attributes) for number in range(lists.n_classes)]
        for number, (name, (rows, widths)) in enumerate(zip(names, pages, strict=True)):
            sheet = book.add_worksheet(name)
            sheet.set_footer(f"&L&A&R{lists.words['page']}")
            _write_rows(sheet, rows, widths, formats)
            if number > 0:
                _set_heights(sheet, rows, widths)
        book.close()


def _write_rows(sheet: Any, rows: list[Row], widths: list[int], formats: dict[tuple[str, bool], Any]) -> None:
    """Write cells as texts or numbers; blank ones without a format are left out."""
    sheet.hide_gridlines(1)
    sheet.set_margins(left=0.5, right=0.5, top=0.6, bottom=0.6)
    sheet.fit_to_pages(1, 0)
    sheet.set_landscape()
    for i, row in enumerate(rows):
        for j, (value, how) in enumerate(row):
            text = shown(value)
            if isinstance(value, int):
                sheet.write_number(i, j, value, formats[how, False])
            elif text or how != "plain":
                sheet.write_string(i, j, text, formats[how, harmless(text) != text])
    for column, width in enumerate(widths):
        sheet.set_column(column, column, width)


def _set_heights(sheet: Any, rows: list[Row], widths: list[int]) -> None:
    """Set the heights of the rows below the header, since not every program computes them for wrapped text."""
    for i, row in enumerate(rows[_HEAD + 1 :], start=_HEAD + 1):
        cells = zip(row[1:], widths[1:], strict=True)
        sheet.set_row(i, _LINE * max(1, *(-(-len(str(text)) // width) for (text, _), width in cells)))
    sheet.freeze_panes(_HEAD + 1, 2)
    sheet.repeat_rows(_HEAD)


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


def _overview(lists: ClassLists, attributes: list[str]) -> tuple[list[Row], list[int]]:
    """Return the rows and the widths of the columns of the overview."""
    words, (sizes, heads) = lists.words, _sizes(lists, attributes)
    rows: list[Row] = [[(lists.title, "title")], [(lists.size_line(), "muted")], []]
    rows += [[(fact, "plain")] for fact in lists.facts()]
    rows += [[], *sizes, []]
    if lists.rules:
        rows += [[(words["rules"], "heading")], [(words["holds"], "count head"), (words["rule"], "over")]]
        kinds = [("yes" if holds else "no", sentence) for sentence, holds in lists.rules]
        rows += [[(words[how], how), (sentence, "plain")] for how, sentence in kinds]
    if lists.roster.notes:
        rows += [[], [(words["notes"], "heading")], *([(text, "muted")] for text in lists.notes())]
    return rows, [_width(lists.class_names, 12), *(_width([head], 10) for head in heads), 17]


def _sizes(lists: ClassLists, attributes: list[str]) -> tuple[list[Row], list[str]]:
    """Return one row per class: number of people, of each value, and without a friend; and the heads of the numbers."""
    words, (counted, means) = lists.words, _counted(lists, attributes)
    over, heads = ["", ""], [words["people"]]
    for attribute, values in counted.items():
        over += [attribute, *[""] * (len(values) - 1)]
        heads += [value or words["blank"] for value in values]
    heads += [f"{attribute}, {words['mean']}" for attribute in means]
    rows: list[Row] = [[(text, "over" if text else "plain") for text in over]]
    rows.append([(words["class"], "head"), *((head, "count head") for head in (*heads, words["alone"]))])
    for number, name in enumerate(lists.class_names):
        members = lists.members(number)
        counts = [lists.counts(number, a)[value] for a, values in counted.items() for value in values]
        found = [lists.mean_text(number, attribute) for attribute in means]
        numbers = [len(members), *counts, *found, sum(map(lists.is_friendless, members))]
        rows.append([(name, "plain"), *((value, "count") for value in numbers)])
    return rows, heads


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


def _class_rows(lists: ClassLists, number: int, attributes: list[str]) -> tuple[list[Row], list[int]]:
    """Return the rows and the widths of the columns of the sheet of a class."""
    members, words = lists.members(number), lists.words
    heads = [words["name"], *attributes, words["here"], words["elsewhere"]]
    cells = []
    for name in members:
        values = [lists.value(name, attribute) for attribute in attributes]
        here = joined(lists.friends_here(name)) or lists.no_friend(name)
        cells.append([name, *values, here, joined(lists.elsewhere(name))])
    widths = [_width(column, _NARROW) for column in zip(heads, *cells, strict=True)]
    rows: list[Row] = [
        [(lists.class_names[number], "title")],
        [(lists.say("people", n=len(members)), "muted")],
    ]
    rows += [[], [(words["number"], "count head"), *((head, "head") for head in heads)]]
    for i, texts in enumerate(cells, start=1):
        row: Row = [(i, "number"), *((text, "wrap") for text in texts)]
        if lists.is_friendless(texts[0]):
            row[-2] = texts[-2], "alone"
        rows.append(row)
    return rows, [_NARROW, *widths]


def _width(texts: Sequence[str], least: int) -> int:
    return min(max(least, *(len(text) + 2 for text in texts)), _WIDEST)


def write_page(lists: ClassLists, path: str | os.PathLike[str], attributes: list[str], friends: bool) -> None:
    """Write the page as `ClassLists.to_html` says."""
    printed = attributes[:_MAX_ATTRIBUTES]
    counted, means = _counted(lists, printed)

    def counts(number: int, attribute: str) -> list[str]:
        """Return the counts of values in a class, such as "13 f" and "13 m"."""
        found, blank = lists.counts(number, attribute), lists.words["blank"]
        return [f"{found[value]} {value or blank}" for value in counted[attribute] if value or found[value]]

    numbers, is_alone = range(lists.n_classes), lists.is_friendless
    page = render(
        "equigraph.apps.classes",
        lists=lists,
        friends=friends,
        attributes=printed,
        left_out=attributes[len(printed) :],
        counted=list(counted),
        counts=counts,
        means=means,
        overview=[*counted, *(f"{attribute}, {lists.words['mean']}" for attribute in means)],
        alone=[joined(name for name in lists.members(number) if is_alone(name)) for number in numbers],
        letters=[f"{_letter_size(lists, number, printed, friends):g}" for number in numbers],
    )
    write_text(path, page)


def _letter_size(lists: ClassLists, number: int, attributes: list[str], friends: bool) -> float:
    """Return the largest font size with which the table of a class fits on one sheet of paper, or the smallest."""
    members = lists.members(number)
    texts = [[name, *(lists.value(name, attribute) for attribute in attributes)] for name in members]
    heads = [lists.words["name"], *attributes]
    fixed = [max(len(row[j]) for row in (heads, *texts)) for j in range(len(heads))]
    named = [(joined(lists.friends_here(one)), joined(lists.elsewhere(one))) for one in members if friends]
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
