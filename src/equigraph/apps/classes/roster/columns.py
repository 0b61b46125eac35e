"""Which column of a sheet is what: guessed from the headers, or told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from equigraph._utils.text import count
from equigraph.apps.classes.roster.nearest import distances, nearest
from equigraph.apps.classes.roster.sheet import Sheet, letters, tidy
from equigraph.apps.classes.roster.vocabulary import (
    ATTRIBUTE,
    FIRST,
    FIXED,
    LAST,
    LISTS,
    NAME,
    NAMES,
    ROLES,
    UNUSED,
    role_of,
)
from equigraph.exceptions import ParameterError, RosterError

Told = Mapping[str, str | Sequence[str] | None]

Wanted = dict[str, list[str]]  # headers told for each role or attribute
Filled = list[list[tuple[int, str]]]  # of each column, rows and texts of the cells that are not blank
_DEPTH = 20  # rows in which the header is looked for, below titles and dates
_MEANINGS = {
    NAME: "names",
    FIRST: "first names",
    "middle_name": "middle names",
    LAST: "last names",
    "friends": "friends wished",
    "not_with": "people not to be with",
    "together_with": "people to be with",
    FIXED: "the class that is fixed",
    UNUSED: "not used",
}


# Roles by the names that the fields of a roster have.
_ALIASES = {"apart": "not_with", "together": "together_with", "fixed": FIXED}


@dataclass(frozen=True)
class Column:
    """One column of the sheet and what it is taken for.

    Attributes
    ----------
    place : int
        Its place, from 0.
    header : str
        Its header, as given.
    role : str
        ``"name"``, ``"first_name"``, ``"middle_name"``, ``"last_name"``, ``"friends"``, ``"not_with"``,
        ``"together_with"``, ``"fixed_class"``, ``"attribute"`` or ``"unused"``.
    attribute : str or None
        Name of the attribute.
    told : bool
        Whether that was told, not guessed.
    """

    place: int
    header: str
    role: str
    attribute: str | None = None
    told: bool = False

    @property
    def letter(self) -> str:
        """The letters of the column in a spreadsheet."""
        return letters(self.place)

    def __str__(self) -> str:
        what = f"the attribute {self.attribute!r}" if self.role == ATTRIBUTE else _MEANINGS[self.role]
        return f"Column {self.letter}, {self.header!r}: {what}{'' if self.told else ' (guessed)'}."


@dataclass(frozen=True)
class SheetLayout:
    """Where the header is, and what the columns are."""

    header: int
    columns: tuple[Column, ...]
    notes: tuple[str, ...]

    def of(self, *roles: str) -> list[Column]:
        """Return the columns that have one of some roles, from left to right."""
        return [column for column in self.columns if column.role in roles]

    @property
    def used(self) -> list[Column]:
        """The columns that are read."""
        return [column for column in self.columns if column.role != UNUSED]


def has_header(sheet: Sheet) -> bool:
    """Return whether a sheet has a header with a column of names."""
    return _guessed_header(sheet) is not None


def make_layout(sheet: Sheet, told: Told | None) -> SheetLayout:
    """Return which column is what, or raise if there is no column of names."""
    wanted = _wanted(told or {})
    row = _header_row(sheet, wanted)
    headers, notes = _headers(sheet, row)
    filled = [_filled(sheet, row, place) for place in range(len(headers))]
    if not any(headers):
        raise RosterError(f"{sheet.source} is empty: expected one row per person below a header.")
    columns = _assign(sheet, row, headers, filled, wanted)
    if not any(column.role in NAMES for column in columns):
        raise RosterError(_no_names(sheet, row, headers))
    _check_headers(sheet, row, headers, filled)
    if row > 0:
        notes.append(f"The header is in row {row + 1}; what stands above it is not read.")
    for column in columns:
        if column.role != UNUSED and not filled[column.place]:
            notes.append(f"Column {column.letter}, {column.header!r}, is empty.")
    return SheetLayout(row, tuple(columns), tuple(notes))


def _wanted(told: Told) -> Wanted:
    """Return the headers told for each role or attribute, or raise ParameterError for what is no such thing."""
    if not isinstance(told, Mapping):
        raise ParameterError(f"columns={told!r} is no mapping: expected such as {{'name': 'Pupil'}}.")
    wanted: Wanted = {}
    for key, value in told.items():
        role = _ALIASES.get(str(key), str(key).replace(" ", "_"))
        near = [known for known, steps in zip(ROLES, distances(role, ROLES, 2), strict=True) if steps <= 2]
        if near and role not in ROLES:
            raise ParameterError(f"columns has the key {key!r}: did you mean {near[0]!r}?")
        headers: list[Any] = (
            [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]
        )
        if not all(isinstance(header, str) and header for header in headers):
            raise ParameterError(f"columns[{key!r}]={value!r}: expected a header of the sheet, or several.")
        name = role if role in ROLES else str(key)
        wanted[name] = [*wanted.get(name, []), *map(tidy, headers)]
    return wanted


def _header_row(sheet: Sheet, wanted: Wanted) -> int:
    headers = {header for listed in wanted.values() for header in listed}
    top = range(min(_DEPTH, len(sheet.rows)))
    if any(wanted.get(role) for role in NAMES):
        for row in top:
            if headers and headers <= {tidy(cell) for cell in sheet.rows[row]}:
                return row
    guessed = _guessed_header(sheet)
    if guessed is not None:
        return guessed
    return next((row for row in top if any(sheet.rows[row])), 0)


def _guessed_header(sheet: Sheet) -> int | None:
    """Return the row with the most headers that are known, a name among them; the first of equals."""
    best, most = None, 0
    for row, cells in enumerate(sheet.rows[:_DEPTH]):
        roles = [role for role in map(role_of, filter(None, cells)) if role is not None]
        if len(roles) > most and any(role in NAMES for role in roles):
            best, most = row, len(roles)
    return best


def _headers(sheet: Sheet, row: int) -> tuple[list[str], list[str]]:
    """Return the header of each column; one that is merged over several holds for all of them."""
    cells = sheet.rows[row] if sheet.rows else []
    headers = [tidy(cell) for cell in cells] + [""] * (sheet.width - len(cells))
    notes = []
    for block in sheet.merged:
        if block.top == block.bottom == row and block.right < len(headers) and headers[block.left]:
            span = f"{letters(block.left)} to {letters(block.right)}"
            notes.append(
                f"The header {headers[block.left]!r} is merged over columns {span} and holds for all."
            )
            headers[block.left : block.right + 1] = [headers[block.left]] * (block.right - block.left + 1)
    return headers, notes


def _filled(sheet: Sheet, row: int, place: int) -> list[tuple[int, str]]:
    """Return the rows and texts of the cells of a column that are not blank."""
    return [(i, sheet.cell(i, place)) for i in range(row + 1, len(sheet.rows)) if sheet.cell(i, place)]


def _check_headers(sheet: Sheet, row: int, headers: list[str], filled: Filled) -> None:
    for place, header in enumerate(headers):
        if not header and filled[place]:
            first, text = filled[place][0]
            quotes = (
                " (a cell that holds the separator itself needs quotation marks)" if sheet.is_text else ""
            )
            raise RosterError(
                f"{sheet.where(first, place)}: the cell has {text[:40]!r}, but column {letters(place)} has no header "
                f"in row {row + 1}: give the column one, such as 'Friend 2', or clear it{quotes}."
            )


def _assign(sheet: Sheet, row: int, headers: list[str], filled: Filled, wanted: Wanted) -> list[Column]:
    told = _told_columns(sheet, row, headers, wanted)
    columns = []
    for place, header in enumerate(headers):
        if place in told:
            columns.append(told[place])
        elif header:
            columns.append(_guess(place, header, [text for _, text in filled[place]], wanted))
    columns = _settle_names(sheet, row, columns)
    _check_repeats(sheet, columns)
    return columns


def _told_columns(sheet: Sheet, row: int, headers: list[str], wanted: Wanted) -> dict[int, Column]:
    told: dict[int, Column] = {}
    for key, listed in wanted.items():
        role, attribute = (key, None) if key in ROLES else (ATTRIBUTE, key)
        if role not in LISTS and role != LAST and len(listed) > 1:
            raise ParameterError(f"columns[{key!r}] names {count(len(listed), 'column')}: expected one.")
        for header in listed:
            for place in _places(sheet, row, headers, header, role):
                if place in told:
                    before = told[place].attribute or told[place].role
                    raise ParameterError(f"columns names {header!r} twice, for {before!r} and for {key!r}.")
                told[place] = Column(place, headers[place], role, attribute, told=True)
    return told


def _places(sheet: Sheet, row: int, headers: list[str], header: str, role: str) -> list[int]:
    """Return the columns that have a header; in default of one, the column with these letters."""
    places = [place for place, text in enumerate(headers) if text == header]
    if not places:
        places = [place for place, text in enumerate(headers) if text and letters(place) == header]
    if not places:
        near = nearest(header, headers)
        hint = f"did you mean {headers[near[0]]!r}" if near and headers[near[0]] else _listed(headers)
        raise ParameterError(f"{sheet.source} has no column {header!r} in its header, row {row + 1}: {hint}?")
    if len(places) > 1 and role not in LISTS:
        raise ParameterError(
            f"{sheet.source} has the header {header!r} in columns {letters(places[0])} and {letters(places[1])}: "
            f"say columns={{...: {letters(places[0])!r}}} for one of them."
        )
    return places


def _listed(headers: list[str]) -> str:
    shown = [f"{letters(place)} {header!r}" for place, header in enumerate(headers) if header]
    more = ", ..." if len(shown) > 12 else ""
    return f"did you mean one of {', '.join(shown[:12])}{more}"


def _guess(place: int, header: str, texts: list[str], wanted: Wanted) -> Column:
    role = role_of(header)
    if role in wanted or (role in NAMES and any(wanted.get(name) for name in NAMES)):
        role = UNUSED  # what was told replaces what would be guessed
    if role is None:
        # A column parts people into groups if it has at most half as many values as there are people.
        role = ATTRIBUTE if 0 < 2 * len(set(texts)) <= len(texts) else UNUSED
    return Column(place, header, role, header if role == ATTRIBUTE else None)


def _settle_names(sheet: Sheet, row: int, columns: list[Column]) -> list[Column]:
    """Take a column `Name` beside `First name` for the last names, unless it holds the first names too."""
    whole = [column for column in columns if column.role == NAME]
    parts = [column for column in columns if column.role in (FIRST, LAST)]
    if len(whole) != 1 or len({column.role for column in parts}) != 1 or whole[0].told:
        return columns
    place, part = whole[0].place, parts[0]
    rows = [i for i in range(row + 1, len(sheet.rows)) if sheet.cell(i, place) and sheet.cell(i, part.place)]
    held = sum(_holds(sheet.cell(i, place), sheet.cell(i, part.place)) for i in rows)
    if 2 * held > len(rows):
        return columns
    other = LAST if part.role == FIRST else FIRST
    return [replace(column, role=other) if column is whole[0] else column for column in columns]


def _holds(whole: str, part: str) -> bool:
    return set(part.casefold().split()) <= set(whole.casefold().replace(",", " ").split())


def _check_repeats(sheet: Sheet, columns: list[Column]) -> None:
    """Raise RosterError if two columns claim to be the one column of something."""
    seen: dict[tuple[str, str | None], Column] = {}
    for column in columns:
        if column.role in (UNUSED, LAST, *LISTS):
            continue
        before = seen.setdefault((column.role, column.attribute), column)
        if before is not column:
            what = f"the attribute {column.attribute!r}" if column.attribute else _MEANINGS[column.role]
            raise RosterError(
                f"{sheet.source}: columns {before.letter} ({before.header!r}) and {column.letter} ({column.header!r}) "
                f"both look like {what}: rename one, or say columns={{{column.attribute or column.role!r}: "
                f"{before.letter!r}}}."
            )


def _no_names(sheet: Sheet, row: int, headers: list[str]) -> str:
    shown = ", ".join(f"{letters(place)} {header!r}" for place, header in enumerate(headers[:8]) if header)
    return (
        f"{sheet.source} has no column of names that is known in row {row + 1} ({shown}): expected a header row with "
        "one such as 'Name', or say which it is, columns={'name': '...'}."
    )
