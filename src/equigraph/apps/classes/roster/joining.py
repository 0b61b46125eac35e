"""Further sheets about the same people, joined by name: wishes of their own sheet, lists of pairs, web forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from equigraph.apps.classes.roster.answers import last_answers
from equigraph.apps.classes.roster.columns import Column, ColumnRoles, SheetLayout, has_header, make_layout
from equigraph.apps.classes.roster.notes import Note, note
from equigraph.apps.classes.roster.people import People, name_in, same
from equigraph.apps.classes.roster.questions import find_questions, share_naming_people
from equigraph.apps.classes.roster.sheet import Sheet, letters, tidy
from equigraph.apps.classes.roster.vocabulary import (
    ATTRIBUTE,
    FRIENDS,
    LISTS,
    NAME,
    NAMES,
    UNUSED,
    is_time,
    role_of,
)
from equigraph.apps.classes.roster.wishes import SheetTable, Unknown, find_person, take_near
from equigraph.exceptions import RosterError

_DEPTH = 20  # rows in which a header is looked for
_HALF = 0.5  # a column half of whose cells are people of the list is one of people


def choose_people(filled: list[Sheet]) -> Sheet | None:
    """Return the sheet with the people: the only one with a known header that is no list of wishes or pairs."""
    known = [one for one in filled if has_header(one)]
    first = [one for one in known if not _is_about_others(one)]
    return known[0] if len(known) == 1 else first[0] if len(first) == 1 else None


def _is_about_others(sheet: Sheet) -> bool:
    """Return whether a sheet is called after wishes or rules, or is a list of pairs or the export of a form."""
    try:
        layout = make_layout(sheet)
        rows = range(layout.header + 1, len(sheet.rows))
        names = [same(name_in(sheet, layout, row)) for row in rows if any(sheet.rows[row])]
    except RosterError:
        return False
    repeated = len(set(names)) < len(names)
    return role_of(sheet.title) in LISTS or repeated or any(is_time(one.header) for one in layout.columns)


def own_roles(sheet: Sheet, columns: ColumnRoles | None) -> ColumnRoles | None:
    """Return the roles that were given, but for headers that only the other sheets have."""
    if not isinstance(columns, Mapping):
        return columns
    here, there = _headers(sheet), set[str]().union(*map(_headers, sheet.others))
    return {name: role for name, role in columns.items() if tidy(name) in here or tidy(name) not in there}


def _headers(sheet: Sheet) -> set[str]:
    return {tidy(cell) for row in sheet.rows[:_DEPTH] for cell in row if cell}


def join_tables(
    main: Sheet,
    people: People,
    wanted: Sheet | None,
    columns: ColumnRoles | None,
    accept: bool,
    meant: Mapping[str, str | None],
) -> tuple[list[SheetTable], list[Note]]:
    """Return the other sheets that are about the people of the main one, and notes on those that are not read.

    A sheet is joined if it is the one that is wanted, is called after wishes or rules, is the export of a form, or is a
    list of pairs.
    """
    tables, notes = [], []
    others = [one for one in main.others if wanted is None or one.title != wanted.title]
    for sheet in [*([] if wanted is None else [wanted]), *others]:
        sheet = replace(sheet, is_further=True)
        key = _key(sheet, people)
        if key is None:
            if wanted is not None and sheet.title == wanted.title:
                raise RosterError(
                    f"{sheet.source} has no column with names of the list below a header: expected one that tells "
                    "who wishes, and one or more that tell for whom."
                )
            notes.append(note("sheet_without_names", sheet=sheet.title))
            continue
        is_wanted = wanted is not None and sheet.title == wanted.title
        layout = _layout(sheet, people, key, columns, is_wanted)
        if is_wanted or _joins_itself(sheet, layout, people):
            tables.append(_table(sheet, layout, people, accept, meant))
        else:
            notes.append(note("sheet_not_joined", sheet=sheet.title))
    return tables, notes


def _joins_itself(sheet: Sheet, layout: SheetLayout, people: People) -> bool:
    if role_of(sheet.title) in LISTS or any(is_time(one.header) for one in layout.columns):
        return True
    asked = find_questions(sheet, layout, people, _rows(sheet, layout, people))
    naming = {one.place for one in layout.of(*LISTS)} | {one.column.place for one in asked}
    return len(naming) == 1 and not [one for one in layout.of(ATTRIBUTE) if one.place not in naming]


def _key(sheet: Sheet, people: People) -> dict[str, str] | None:
    """Return the column that tells whom a row is about, nothing if its header is known; None without one."""
    if has_header(sheet):
        try:
            layout = make_layout(sheet)
            names = [_name(sheet, layout, row) for row in range(layout.header + 1, len(sheet.rows))]
        except RosterError:
            return None
        return {} if _are_people(names, people) else None
    header = next((row for row, cells in enumerate(sheet.rows[:_DEPTH]) if sum(map(bool, cells)) > 1), None)
    if header is None:
        return None
    heads = [tidy(cell) for cell in sheet.rows[header]]
    for place, head in enumerate(heads):
        cells = [sheet.cell(row, place) for row in range(header + 1, len(sheet.rows))]
        if _are_people(cells, people):
            if people.find(head) is not None:
                raise RosterError(
                    f"{sheet.where(header, place)}: {head!r} is one of the people: expected a header above the names, "
                    "such as 'From' and 'To'."
                )
            return {head if heads.count(head) == 1 and head else letters(place): NAME}
    return None


def _name(sheet: Sheet, layout: SheetLayout, row: int) -> str:
    return name_in(sheet, layout, row) if any(sheet.cell(row, one.place) for one in layout.used) else ""


def _are_people(names: Sequence[str], people: People) -> bool:
    filled = [name for name in names if name]
    found = sum(people.find(name) is not None for name in filled)
    return found > 0 and found >= _HALF * len(filled)


def _layout(
    sheet: Sheet, people: People, key: dict[str, str], columns: ColumnRoles | None, is_wanted: bool
) -> SheetLayout:
    """Return what the columns of a further sheet are."""
    given = {name: role for name, role in (columns or {}).items() if tidy(name) in _headers(sheet)}
    layout = make_layout(sheet, {**key, **given})
    rows = _rows(sheet, layout, people)
    roles = tuple(_role(sheet, one, people, rows, is_wanted) for one in layout.columns)
    return replace(layout, columns=roles)


def _rows(sheet: Sheet, layout: SheetLayout, people: People) -> list[tuple[int, int]]:
    """Return the rows about people whose names are as on the list, with these people."""
    names = [(_name(sheet, layout, row), row) for row in range(layout.header + 1, len(sheet.rows))]
    return [(person, row) for name, row in names if (person := people.find(name)) is not None]


def _table(
    sheet: Sheet, layout: SheetLayout, people: People, accept: bool, meant: Mapping[str, str | None]
) -> SheetTable:
    """Return a further sheet with the people of its rows."""
    own = layout.of(*NAMES)[0]
    notes: list[Note] = []
    found: list[tuple[int, int]] = []
    unknown: list[Unknown] = []
    for row in range(layout.header + 1, len(sheet.rows)):
        one = Unknown(_name(sheet, layout, row), -1, own, row, sheet)
        person = find_person(one, people, meant, notes) if one.text else -1
        if person is None:
            unknown.append(one)
        elif person >= 0:
            found.append((person, row))
    found += [(person, one.row) for one, person in take_near(unknown, people, accept, notes)]
    found.sort(key=lambda one: one[1])
    kept, repeated = last_answers(sheet, layout, [(people.names[person], row) for person, row in found])
    counting = {row for _, row in kept}
    rows = tuple((person, row) for person, row in found if row in counting)
    lists = [[one.header, one.role] for one in layout.of(*LISTS)]
    joined = note("sheet_joined", sheet=sheet.title, n_rows=len(rows), columns=lists)
    return SheetTable(sheet, layout, rows, (joined, *repeated, *notes))


def _role(
    sheet: Sheet, column: Column, people: People, rows: Sequence[tuple[int, int]], is_wanted: bool
) -> Column:
    """Return a column with the role that the name of its sheet tells, where its own header leaves that open."""
    title_role = role_of(sheet.title)
    if not column.guessed or column.role in NAMES:
        return column
    if column.role in LISTS:
        if title_role in LISTS and title_role != column.role:
            raise RosterError(
                f"{sheet.source}: column {column.letter}, {column.header!r}, looks like {column.role}, and the name of "
                f'the sheet like {title_role}: say what it is, --columns "{column.header}={column.role}" or '
                f'--columns "{column.header}={title_role}".'
            )
        return column
    cells = [(person, text) for person, row in rows if (text := sheet.cell(row, column.place))]
    if cells and share_naming_people(cells, people) >= _HALF:
        if title_role in LISTS:
            return replace(column, role=title_role)
        return replace(column, role=FRIENDS) if is_wanted else column
    repeats = len({person for person, _ in rows}) < len(rows)
    return replace(column, role=UNUSED) if repeats else column
