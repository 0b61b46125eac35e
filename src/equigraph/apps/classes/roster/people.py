"""The people of a sheet: one row each, and every way their names may be written."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from equigraph._utils.text import count
from equigraph.apps.classes.roster.answers import last_answers
from equigraph.apps.classes.roster.columns import SheetLayout
from equigraph.apps.classes.roster.notes import Note, note
from equigraph.apps.classes.roster.sheet import Sheet, letters, tidy
from equigraph.apps.classes.roster.vocabulary import FIRST, LAST, MIDDLE, NAME, NAMES
from equigraph.exceptions import RosterError

MAX_NAME = 200
_ERROR_VALUE = re.compile(r"#[A-ZÀ-Ý0-9/]{2,}[!?]?\Z")


@dataclass(frozen=True)
class People:
    """Names of the people, the rows they stand in, and whom a text names."""

    names: tuple[str, ...]
    rows: tuple[int, ...]  # row of each, from 0
    known: dict[str, int]  # place of the person that a folded name belongs to
    notes: tuple[Note, ...] = ()

    def find(self, text: str) -> int | None:
        """Return the place of the person a text names; capitals and blanks do not matter."""
        return self.known.get(same(text))


def same(text: str) -> str:
    """Return what two ways to write the same name have in common: neither capitals nor what cannot be seen count."""
    visible = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    return tidy(visible).casefold()


def check_cells(sheet: Sheet, layout: SheetLayout) -> None:
    """Raise RosterError for merged cells, and for formulas without a value, where people are read."""
    used = {column.place for column in layout.used}
    for block in sheet.merged:
        columns = range(block.left, block.right + 1)
        if block.bottom > layout.header and block.top < len(sheet.rows) and not used.isdisjoint(columns):
            last = f"{letters(block.right)}{block.bottom + 1}"
            raise RosterError(
                f"{sheet.where(block.top, block.left)}: cells {letters(block.left)}{block.top + 1}:{last} are merged: "
                "part them, and give every person a row and a value of their own."
            )
    for (row, column), reason in sorted(sheet.broken.items()):
        if row >= layout.header and column in used:
            raise RosterError(
                f"{sheet.where(row, column)}: {reason}, so the cell has no value: put the text there."
            )
    for row in range(layout.header + 1, len(sheet.rows)):
        for place in sorted(used):
            _check_text(sheet, row, place)


def _check_text(sheet: Sheet, row: int, place: int) -> None:
    text = sheet.cell(row, place)
    if text.startswith("=") and len(text) > 1:
        raise RosterError(
            f"{sheet.where(row, place)}: the cell holds a formula ({text[:40]!r}): put the text there."
        )
    if _ERROR_VALUE.match(text):
        raise RosterError(
            f"{sheet.where(row, place)}: the cell holds {text!r}, the error of a formula: put the text there."
        )


def read_people(sheet: Sheet, layout: SheetLayout) -> People:
    """Return the people, or raise RosterError if a row has no name or two people have the same."""
    names, rows, blank = [], [], 0
    for row in range(layout.header + 1, len(sheet.rows)):
        if not any(sheet.cell(row, column.place) for column in layout.used):
            blank += 1
            continue
        names.append(name_in(sheet, layout, row))
        rows.append(row)
    if len(names) < 2:
        raise RosterError(
            f"{sheet.source} has {count(len(names), 'person') if names else 'nobody'} below the header in row "
            f"{layout.header + 1}: expected at least two people, one row each."
        )
    spelt: dict[str, str] = {}  # each person as spelt first
    found = [(spelt.setdefault(same(name), name), row) for name, row in zip(names, rows, strict=True)]
    kept, notes = last_answers(sheet, layout, found)
    counting = {row for _, row in kept}
    names = [name for name, row in zip(names, rows, strict=True) if row in counting]
    rows = [row for _, row in kept]
    known = _known(sheet, layout, names, rows)
    if blank:
        notes.append(note("blank_rows", n=blank))
    return People(tuple(names), tuple(rows), known, tuple(notes))


def name_in(sheet: Sheet, layout: SheetLayout, row: int) -> str:
    """Return the name in a row, or raise RosterError if there is none."""
    parts = _parts(sheet, layout, row)
    name = parts.get(NAME) or " ".join(filter(None, (parts.get(part) for part in (FIRST, MIDDLE, LAST))))
    first = layout.of(*NAMES)[0].place
    if not name:
        filled = next(column for column in layout.used if sheet.cell(row, column.place))
        text = tidy(sheet.cell(row, filled.place))
        raise RosterError(
            f"{sheet.where(row, first)}: the name is blank, but column {filled.letter} has {text[:40]!r}: give the "
            "person a name, or clear the row."
        )
    if len(name) > MAX_NAME:
        raise RosterError(
            f"{sheet.where(row, first)}: the name has {len(name)} letters; expected at most {MAX_NAME}."
        )
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise RosterError(
            f"{sheet.where(row, first)}: the name {name[:40]!r} holds a sign that cannot be printed: type it again."
        )
    if not any(map(str.isalnum, name)):
        raise RosterError(
            f"{sheet.where(row, first)}: {name!r} is no name: give the person one, or clear the row."
        )
    return name


def _parts(sheet: Sheet, layout: SheetLayout, row: int) -> dict[str, str]:
    """Return the parts of a name by role; several columns of last names belong together."""
    parts: dict[str, str] = {}
    for column in layout.of(*NAMES):
        text = tidy(sheet.cell(row, column.place))
        parts[column.role] = f"{parts.get(column.role, '')} {text}".strip()
    return parts


def _known(sheet: Sheet, layout: SheetLayout, names: list[str], rows: list[int]) -> dict[str, int]:
    known: dict[str, int] = {}
    for place, name in enumerate(names):
        before = known.setdefault(same(name), place)
        if before != place:
            raise RosterError(
                f"{sheet.source}: rows {rows[before] + 1} and {rows[place] + 1} both have {name!r}: write something "
                "behind one of the names that tells them apart, in friends' cells too; a list of pairs is a sheet of "
                "its own (wishes_sheet), beside one with everybody once."
            )
    others: dict[str, set[int]] = {}
    for place, (name, row) in enumerate(zip(names, rows, strict=True)):
        for way in _ways(name, _parts(sheet, layout, row)):
            others.setdefault(same(way), set()).add(place)
    # A way to write that could be two people is none.
    return {way: min(places) for way, places in others.items() if len(places) == 1} | known


def _ways(name: str, parts: dict[str, str]) -> list[str]:
    """Return the other ways to write a name that the sheet itself shows: last name first, with a comma or without."""
    ways = []
    last, comma, first = name.partition(",")
    if comma and first.strip():
        ways += [f"{first} {last}", f"{last} {first}"]
    first = " ".join(filter(None, (parts.get(FIRST), parts.get(MIDDLE))))
    last = parts.get(LAST, "")
    if first and last:
        ways += [f"{last} {first}", f"{last}, {first}", f"{first} {last}"]
    return ways
