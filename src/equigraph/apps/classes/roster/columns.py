"""Roles of the columns of a sheet: given, or guessed from headers and cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from equigraph._utils.text import did_you_mean, listed
from equigraph.apps.classes.messages import Note, note
from equigraph.apps.classes.roster.sheet import Sheet, letters, tidy
from equigraph.apps.classes.roster.vocabulary import LISTS, NAMES, Role, is_nobody, is_unknown, role_of
from equigraph.exceptions import ParameterError

# Role of a column by header or letter; None if it is not to be used.
ColumnRoles = Mapping[str, str | None]

_DEPTH = 20  # rows searched for the header, below titles and dates
# Roles by name, and other names of them.
_ROLES = {str(role): role for role in Role}
_ROLES |= {"apart": Role.APART, "together": Role.TOGETHER, "fixed": Role.FIXED, "wishes": Role.FRIENDS}
_ROLES |= {"none": Role.UNUSED, "not_used": Role.UNUSED}
_MARK = re.compile(r"(?:[-+]?[\d.,%]+|x|yes|no|y|n|ja|nein|j|oui|non|o|si|s|nee|sim|nao|true|false|\W+)\Z")
_NUMBER = re.compile(r"[-+]?\d{1,15}(?:[.,]\d{1,15})?\Z", re.ASCII)
_FEW_VALUES = 6  # columns with more different numbers are binned


@dataclass(frozen=True)
class Column:
    """A column of the sheet and its role.

    Attributes
    ----------
    place : int
        Its index, from 0.
    header : str
        Its header, as given.
    role : str
        ``"name"``, ``"first_name"``, ``"middle_name"``, ``"last_name"``, ``"friends"``, ``"not_with"``,
        ``"together_with"``, ``"fixed_class"``, ``"attribute"`` or ``"unused"``.
    guessed : bool
        Whether the role was guessed from the header and the cells.
    """

    place: int
    header: str
    role: str
    guessed: bool = True

    @property
    def letter(self) -> str:
        """The letters of the column in a spreadsheet."""
        return letters(self.place)

    @property
    def option(self) -> str:
        """How an option refers to it: by header, or by letter if the header has separators of the option."""
        return self.letter if '"' in self.header or "=" in self.header else self.header

    @property
    def shown(self) -> dict[str, str]:
        """How messages and the options in them refer to it."""
        return {"letter": self.letter, "header": self.header, "option": self.option}

    @property
    def note(self) -> Note:
        """Note on its role."""
        return note("column", letter=self.letter, header=self.header, role=self.role, guessed=self.guessed)


@dataclass(frozen=True)
class Unknown:
    """A name that is not on the list, with its position and the person of its row."""

    text: str
    person: int
    column: Column
    row: int
    sheet: Sheet

    @property
    def at(self) -> dict[str, Any]:
        """Its position."""
        return self.sheet.at(self.row, self.column.place)

    def note(self, kind: str, **values: str) -> Note:
        """Return a note on its interpretation."""
        at = {key: value for key, value in self.at.items() if key != "source"}
        return note(kind, text=self.text, **at, **values)


@dataclass(frozen=True)
class SheetTable:
    """A sheet, the roles of its columns, and the people of its rows."""

    sheet: Sheet
    header: int  # its row
    columns: tuple[Column, ...]
    notes: tuple[Note, ...] = ()
    rows: tuple[tuple[int, int], ...] = ()  # person and row; -1 for a person who is not on the list
    unknown: tuple[Unknown, ...] = ()  # whose rows these are
    # Columns whose people are also kept apart from each other, because only the title of the sheet gives their role.
    grouped: frozenset[int] = frozenset()

    @property
    def below(self) -> range:
        """The rows below the header."""
        return range(self.header + 1, len(self.sheet.rows))

    def of(self, *roles: str) -> list[Column]:
        """Return the columns with one of some roles, from left to right."""
        return [column for column in self.columns if column.role in roles]

    @property
    def used(self) -> list[Column]:
        """The columns that are read."""
        return [column for column in self.columns if column.role != Role.UNUSED]

    def texts(self, column: Column) -> list[tuple[int, int, str]]:
        """Return the nonblank cells of a column, each with its person and row."""
        cells = [(person, row, self.sheet.cell(row, column.place)) for person, row in self.rows]
        return [cell for cell in cells if cell[2]]

    def filled(self, column: Column) -> list[tuple[int, str]]:
        """Return the cells of a column that do not say that nobody is named, each with the person of its row."""
        return [(person, text) for person, _, text in self.texts(column) if not is_nobody(text)]

    def cells(self, column: Column) -> list[tuple[int, str]]:
        """Return the cells of a column that may name a person."""
        return [(person, text) for person, text in self.filled(column) if not is_mark(text)]


def make_table(sheet: Sheet, roles: ColumnRoles | None = None) -> SheetTable:
    """Return a sheet with the roles of its columns; raise SheetError if there is no column of names."""
    given = _given_roles(roles or {})
    row = _header_row(sheet, given)
    headers, notes = _headers(sheet, row)
    if not any(headers):
        raise sheet.error("empty")
    rows = range(row + 1, len(sheet.rows))
    # Rows and texts of the nonblank cells of each column.
    filled = [[(i, text) for i in rows if (text := sheet.cell(i, place))] for place in range(len(headers))]
    known = _given_columns(sheet, row, headers, given)
    names_given = any(column.role in NAMES for column in known.values())
    columns = [
        known.get(place)
        or _guess(place, header, [text for _, text in filled[place]], names_given, bool(rows))
        for place, header in enumerate(headers)
        if header
    ]
    columns = _settle_names(sheet, row, columns)
    _check_repeats(sheet, columns)
    if not any(column.role in NAMES for column in columns):
        shown = [[letters(place), header] for place, header in enumerate(headers[:8]) if header]
        raise sheet.error("no_names", row=row + 1, columns=shown)
    for place, header in enumerate(headers):
        if not header and filled[place]:
            first, text = filled[place][0]
            values = {"text": text[:40], "header_row": row + 1, "in_text": sheet.is_text}
            raise sheet.error("no_header", first, place, **values)
    if row > 0:
        notes.append(note("header_row", row=row + 1))
    empty = [column for column in columns if column.role != Role.UNUSED and not filled[column.place]]
    notes += [note("column_empty", letter=column.letter, header=column.header) for column in empty]
    return SheetTable(sheet, row, tuple(columns), tuple(notes))


def _given_roles(roles: ColumnRoles) -> dict[str, str]:
    """Return the role given for each header; raise ParameterError for an unknown role."""
    if not isinstance(roles, Mapping):
        raise ParameterError(f"columns={roles!r} is no mapping: expected such as {{'Pupil': 'name'}}.")
    given: dict[str, str] = {}
    for header, value in roles.items():
        word = "none" if value is None else str(value).strip().casefold().replace(" ", "_")
        if word not in _ROLES:
            raise ParameterError(
                f"columns says that {header!r} is {value!r}{did_you_mean(word, _ROLES)}: expected one of "
                f"{listed([*list(Role)[:-1], 'none'])}."
            )
        given[tidy(str(header))] = _ROLES[word]
    return given


def _header_row(sheet: Sheet, given: dict[str, str]) -> int:
    top = range(min(_DEPTH, len(sheet.rows)))
    if any(role in NAMES for role in given.values()):
        for row in top:
            if given.keys() <= {tidy(cell) for cell in sheet.rows[row]}:
                return row
    guessed = known_header(sheet)
    if guessed is not None:
        return guessed
    return next((row for row in top if any(sheet.rows[row])), 0)


def known_header(sheet: Sheet) -> int | None:
    """Return the first row with the most known headers, including one of names."""
    best, most = None, 0
    for row, cells in enumerate(sheet.rows[:_DEPTH]):
        roles = [role for role in map(role_of, filter(None, cells)) if role is not None]
        if len(roles) > most and any(role in NAMES for role in roles):
            best, most = row, len(roles)
    return best


def _headers(sheet: Sheet, row: int) -> tuple[list[str], list[Note]]:
    """Return the header of each column; one that is merged over several holds for all of them."""
    cells = sheet.rows[row] if sheet.rows else []
    headers = [tidy(cell) for cell in cells] + [""] * (sheet.width - len(cells))
    notes = []
    for block in sheet.merged:
        if block.top == block.bottom == row and block.right < len(headers) and headers[block.left]:
            first, last = letters(block.left), letters(block.right)
            notes.append(note("header_merged", header=headers[block.left], first=first, last=last))
            headers[block.left : block.right + 1] = [headers[block.left]] * (block.right - block.left + 1)
    return headers, notes


def _given_columns(sheet: Sheet, row: int, headers: list[str], given: dict[str, str]) -> dict[int, Column]:
    """Return the columns whose roles are given by header or, where no header is the same, by letters."""
    known: dict[int, Column] = {}
    named = {place: text for place, text in enumerate(headers) if text}
    for header, role in given.items():
        places = [place for place, text in named.items() if text == header]
        places = places or [place for place in named if letters(place) == header]
        if not places:
            shown = [f"{letters(place)} {text!r}" for place, text in named.items()]
            some = ", ".join([*shown[:12], *["..."] * (len(shown) > 12)])
            raise ParameterError(
                f"{sheet.file} has no column {header!r} in its header, row {row + 1}"
                f"{did_you_mean(header, named.values())}: expected one of {some}."
            )
        if len(places) > 1 and role not in (*LISTS, Role.UNUSED):
            raise ParameterError(
                f"{sheet.file} has the header {header!r} in columns {letters(places[0])} and "
                f"{letters(places[1])}: name one of them by its letter in columns."
            )
        for place in places:
            if place in known:
                raise ParameterError(f"columns names column {letters(place)}, {headers[place]!r}, twice.")
            known[place] = Column(place, headers[place], role, guessed=False)
    return known


def _guess(place: int, header: str, texts: list[str], names_given: bool, has_rows: bool) -> Column:
    role = role_of(header)
    if role in NAMES and (names_given or (has_rows and not texts)):
        role = Role.UNUSED  # a given column of names replaces it, or it names nobody
    marks = [text for text in texts if not is_nobody(text)]
    if role in LISTS and marks and all(map(is_mark, marks)) and not _may_be_codes(role, marks):
        role = None  # "Sibling: yes" is about the person, not about another one
    if role is None:
        role = (
            Role.ATTRIBUTE if splits_people([text for text in texts if not is_unknown(text)]) else Role.UNUSED
        )
    return Column(place, header, role)


def _may_be_codes(role: str, marks: list[str]) -> bool:
    """Return whether numbers may stand for people or groups of them; small ones from 0 on count siblings."""
    if role != Role.FRIENDS and "0" in marks and max(map(len, marks)) == 1:
        return False
    return any(map(str.isdigit, "".join(marks)))


def is_mark(text: str) -> bool:
    """Return whether a cell holds a yes, a no, a cross or a number."""
    return bool(_MARK.match(text.casefold()))


def splits_people(texts: list[str]) -> bool:
    """Return whether a column splits people into groups: by shared values, or by numbers.

    >>> splits_people(["a", "b", "a", "b"]), splits_people(["2.5", "3.1", "1.7", "2.2", "4.0", "3.3", "2.9"])
    (True, True)
    >>> splits_people(["101", "102", "103", "104", "105", "106", "107"])
    False
    """
    values = set(texts)
    if 0 < 2 * len(values) <= len(texts):
        return True
    if not is_number_column(texts):
        return False
    # Whole numbers that all differ are identifiers, not amounts.
    return len(values) < len(texts) or any("." in text or "," in text for text in texts)


def is_number_column(values: Iterable[str | None]) -> bool:
    """Return whether a column holds numbers with more than six values, which are binned."""
    known = [value for value in values if value is not None]
    return len(set(known)) > _FEW_VALUES and all(number_of(value) is not None for value in known)


def number_of(text: str) -> float | None:
    """Return the number in a cell, with a decimal point or comma, or None.

    >>> number_of("2,5"), number_of("-3"), number_of("1e5"), number_of("2.5 kg")
    (2.5, -3.0, None, None)
    """
    return float(text.replace(",", ".")) if _NUMBER.match(text) else None


def _settle_names(sheet: Sheet, row: int, columns: list[Column]) -> list[Column]:
    """Take a column `Name` beside `First name` as last names, unless it also contains the first names."""
    whole = [column for column in columns if column.role == Role.NAME]
    parts = [column for column in columns if column.role in (Role.FIRST, Role.LAST)]
    if len(whole) != 1 or len({column.role for column in parts}) != 1 or not whole[0].guessed:
        return columns
    rows = range(row + 1, len(sheet.rows))
    both = [[sheet.cell(i, one.place).casefold() for one in (whole[0], parts[0])] for i in rows]
    held = [set(part.split()) <= set(name.replace(",", " ").split()) for name, part in both if name and part]
    if 2 * sum(held) > len(held):
        return columns
    other = Role.LAST if parts[0].role == Role.FIRST else Role.FIRST
    return [replace(column, role=other) if column is whole[0] else column for column in columns]


def _check_repeats(sheet: Sheet, columns: list[Column]) -> None:
    """Raise SheetError if two columns have a role that must be unique."""
    seen: dict[tuple[str, str], Column] = {}
    for column in columns:
        if column.role in (Role.UNUSED, Role.LAST, *LISTS):
            continue
        attribute = column.header if column.role == Role.ATTRIBUTE else ""
        before = seen.setdefault((column.role, attribute), column)
        if before is not column:
            both = [[one.letter, one.header] for one in (before, column)]
            raise sheet.error("two_columns", columns=both, role=column.role, attribute=attribute)
