"""Columns whose cells name people although their headers do not say what for: they have to be asked about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from equigraph._utils.text import listed
from equigraph.apps.classes.roster.columns import Column, SheetLayout, is_mark
from equigraph.apps.classes.roster.nearest import is_sure, nearest
from equigraph.apps.classes.roster.notes import Note, note
from equigraph.apps.classes.roster.people import People
from equigraph.apps.classes.roster.sheet import Sheet
from equigraph.apps.classes.roster.vocabulary import APART, ATTRIBUTE, FIXED, FRIENDS, LISTS, TOGETHER, UNUSED
from equigraph.apps.classes.roster.wishes import names_in
from equigraph.exceptions import RosterError

_SHOWN = 3  # cells that a question shows
_LOOKED_AT = 400  # cells of a column that are looked at, evenly over its rows
_LONGEST = 60  # letters of a cell that may be a name


@dataclass(frozen=True)
class ColumnQuestion:
    """A column that has to be asked about, some of its cells, and the roles it may have."""

    column: Column
    cells: tuple[str, ...]
    names_people: bool

    @property
    def roles(self) -> tuple[str, ...]:
        """What the column may be."""
        return (APART, TOGETHER, FRIENDS, "none") if self.names_people else (ATTRIBUTE, "none")


def find_questions(
    sheet: Sheet, layout: SheetLayout, people: People, rows: Iterable[tuple[int, int]] | None = None
) -> list[ColumnQuestion]:
    """Return the guessed columns that name people and are not read as such, and those read as such that name nobody.

    Each row comes with the person it is about; by default the rows are those of the people.
    """
    about = list(enumerate(people.rows) if rows is None else rows)
    found = []
    for column in layout.columns:
        if not column.guessed or column.role not in (ATTRIBUTE, UNUSED, FIXED, *LISTS):
            continue
        cells = [
            (person, text)
            for person, row in about
            if (text := sheet.cell(row, column.place)) and not is_mark(text)
        ]
        is_list = column.role in LISTS
        if not cells or (is_list and not _are_groups(cells)):
            continue
        named = share_naming_people(cells, people)
        if (named == 0) if is_list else (named >= 0.5):
            texts = dict.fromkeys(text for _, text in cells)
            found.append(ColumnQuestion(column, tuple(texts)[:_SHOWN], not is_list))
    return found


def question_text(sheet: Sheet, questions: list[ColumnQuestion]) -> str:
    """Return one sentence that asks about the first column and names the others."""
    first = questions[0]
    header = _option(first.column, sheet)
    cells = listed(repr(text.replace("\n", "; ")[:_LONGEST]) for text in first.cells)
    options = " or ".join(f'--columns "{header}={role}"' for role in first.roles)
    what = f"column {first.column.letter}, {first.column.header!r}, "
    if first.names_people:
        what += f"names people ({cells}), and its header does not say whether they are to be apart, together or wished"
    else:
        what += f"looks like one of people, and none of its cells ({cells}) is on the list"
    others = [repr(one.column.header) for one in questions[1:]]
    more = f" (and the same for {listed(others)})" if others else ""
    return f"{sheet.source}: {what}: say what it is, {options}{more}."


def mentions(sheet: Sheet, layout: SheetLayout, people: People) -> list[Note]:
    """Return notes on columns that are not used and yet speak of people in a sentence."""
    notes = []
    for column in layout.of(UNUSED):
        if not column.guessed:
            continue
        places = [
            row + 1
            for person, row in enumerate(people.rows)
            if _mentions(sheet.cell(row, column.place).casefold(), person, people)
        ]
        if places:
            notes.append(note("mentions", header=column.header, n=len(places), rows=places[:5]))
    return notes


def _mentions(text: str, person: int, people: People) -> bool:
    return bool(text) and any(
        name.casefold() in text
        for other, name in enumerate(people.names)
        if other != person and len(name) > 3
    )


def _option(column: Column, sheet: Sheet) -> str:
    """Return how the column is named in an option: by its header, or by its letter where that is not the only one."""
    return column.letter if '"' in column.header or "=" in column.header else column.header


def _are_groups(cells: list[tuple[int, str]]) -> bool:
    """Return whether people share the values of a column, as they share a language and not a misspelt friend."""
    return len(cells) >= 4 and 2 * len({text for _, text in cells}) <= len(cells)


def share_naming_people(cells: list[tuple[int, str]], people: People) -> float:
    """Return the share of cells that name another person of the list, exactly or in whatever spelling.

    One exact name counts for two others, so that a quarter of them makes a column one of people.
    """
    step = max(1, len(cells) // _LOOKED_AT)
    sample = cells[::step]
    known: dict[str, int | None] = {}
    exact = near = 0
    for person, text in sample:
        parts = list(names_in(text, people))
        found = [people.find(part) for part in parts]
        if _most_are_others(found, person):
            exact += 1
        else:
            for part in parts:
                known.setdefault(part, _meant(part, people))
            near += _most_are_others([known[part] for part in parts], person)
    return min(1.0, (2 * exact + near) / len(sample))


def _most_are_others(found: list[int | None], person: int) -> bool:
    others = sum(other is not None and other != person for other in found)
    return 2 * others >= len(found) > 0


def _meant(part: str, people: People) -> int | None:
    found = people.find(part)
    if found is not None or len(part) > _LONGEST:
        return found
    near = nearest(part, people.names)
    return near[0] if near and (len(near) > 1 or is_sure(part, people.names[near[0]])) else None


def raise_questions(
    sheet: Sheet, layout: SheetLayout, people: People, rows: Iterable[tuple[int, int]]
) -> None:
    """Raise RosterError where a column has to be asked about."""
    questions = find_questions(sheet, layout, people, rows)
    if questions:
        raise RosterError(question_text(sheet, questions))
