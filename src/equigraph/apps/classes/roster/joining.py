"""Further sheets about the same people, joined by name: wishes of their own sheet, lists of pairs, web forms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from equigraph.apps.classes.messages import Note, SheetError, note
from equigraph.apps.classes.roster.columns import Column, ColumnRoles, SheetLayout, known_header, make_layout
from equigraph.apps.classes.roster.people import People, last_answers, name_in, same
from equigraph.apps.classes.roster.sheet import Sheet, letters, tidy
from equigraph.apps.classes.roster.vocabulary import LISTS, NAMES, Role, is_time, role_of
from equigraph.apps.classes.roster.wishes import (
    HALF,
    NOBODY,
    SheetTable,
    Unknown,
    find_person,
    find_questions,
    meant,
    share_naming_people,
)
from equigraph.exceptions import RosterError

_DEPTH = 20  # rows in which a header is looked for


def choose_people(filled: list[Sheet]) -> Sheet | None:
    """Return the sheet with the people: the only one with a known header that is no list of wishes or pairs."""
    known = [one for one in filled if known_header(one) is not None]
    first = [one for one in known if not _is_about_others(one)]
    return known[0] if len(known) == 1 else first[0] if len(first) == 1 else None


def _is_about_others(sheet: Sheet) -> bool:
    """Return whether a sheet is called after wishes or rules, or is a list of pairs or the export of a form."""
    if role_of(sheet.title) in LISTS:
        return True
    try:
        layout = make_layout(sheet)
        names = [same(name) for name in _names(sheet, layout) if name]
    except RosterError:
        return False
    return len(set(names)) < len(names) or any(is_time(one.header) for one in layout.columns)


def _names(sheet: Sheet, layout: SheetLayout) -> list[str]:
    """Return the name in each row below the header."""
    return [name_in(sheet, layout, row) for row in range(layout.header + 1, len(sheet.rows))]


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
    is_chosen: bool,
) -> tuple[list[SheetTable], list[Note]]:
    """Return the other sheets that are about the people of the main one, and notes on those that are not read.

    A sheet is joined if it is the one that is wanted, is called after wishes or rules, is the export of a form, is a
    list of pairs or, unless the main sheet was chosen among several, has any column that names people.
    """
    tables, notes = [], []
    others = [one for one in main.others if wanted is None or one.title != wanted.title]
    for sheet in [*([] if wanted is None else [wanted]), *others]:
        sheet = replace(sheet, is_further=True)
        is_wanted = wanted is not None and sheet.title == wanted.title
        key = _key(sheet, people)
        if key is None:
            if is_wanted or (role_of(sheet.title) in LISTS and len(sheet.rows) > 1):
                raise SheetError.of("no_key", source=sheet.source)
            notes.append(note("sheet_without_names", sheet=sheet.title))
            continue
        table = _table(sheet, people, {**key, **_given(sheet, columns)})
        roles = tuple(_with_role(table, one, people, is_wanted) for one in table.layout.columns)
        told = zip(roles, table.layout.columns, strict=True)
        grouped = frozenset(one.place for one, before in told if one.role == Role.APART != before.role)
        table = replace(table, layout=replace(table.layout, columns=roles), grouped=grouped)
        if is_wanted or _joins_itself(table, people, is_chosen):
            read = [[one.header, one.role] for one in table.layout.columns if one.role not in NAMES]
            joined = note("sheet_joined", sheet=sheet.title, n_rows=len(table.rows), columns=read)
            tables.append(replace(table, notes=(joined, *table.notes)))
        else:
            notes.append(note("sheet_not_joined", sheet=sheet.title))
    return tables, notes


def _joins_itself(table: SheetTable, people: People, is_chosen: bool) -> bool:
    layout = table.layout
    if role_of(table.sheet.title) in LISTS or any(is_time(one.header) for one in layout.columns):
        return True
    naming = {one.place for one in layout.of(*LISTS)}
    naming |= {one.column.place for one in find_questions(table, people)}
    is_list_of_pairs = len(naming) == 1 and not [
        one for one in layout.of(Role.ATTRIBUTE) if one.place not in naming
    ]
    return is_list_of_pairs or (bool(naming) and not is_chosen)


def _key(sheet: Sheet, people: People) -> dict[str, str] | None:
    """Return the column that tells whom a row is about, nothing if its header is known; None without one."""
    header = known_header(sheet)
    if header is not None:
        try:
            if _are_people(_names(sheet, make_layout(sheet)), lambda text: meant(text, people)):
                return {}
        except RosterError:
            pass  # such as the two columns of names of a list of pairs
    else:
        header = next(
            (row for row, cells in enumerate(sheet.rows[:_DEPTH]) if sum(map(bool, cells)) > 1), None
        )
    if header is None:
        return None
    heads = [tidy(cell) for cell in sheet.rows[header]]
    below = range(header + 1, len(sheet.rows))
    columns = [[sheet.cell(row, place) for row in below] for place in range(len(heads))]
    # Whole names before what only resembles them, such as the names of families.
    for find in (people.find, lambda text: meant(text, people)):
        for place, head in enumerate(heads):
            if _are_people(columns[place], find):
                if people.find(head) is not None:
                    raise SheetError.of("header_is_person", at=sheet.at(header, place), head=head)
                return {head if heads.count(head) == 1 and head else letters(place): Role.NAME}
    return None


def _are_people(names: Sequence[str], find: Callable[[str], int | None]) -> bool:
    filled = [name for name in names if name]
    found = sum(find(name) is not None for name in filled)
    return found > 0 and found >= HALF * len(filled)


def _given(sheet: Sheet, columns: ColumnRoles | None) -> ColumnRoles:
    """Return the roles that were given for headers of a sheet."""
    return {name: role for name, role in (columns or {}).items() if tidy(name) in _headers(sheet)}


def _table(sheet: Sheet, people: People, roles: ColumnRoles) -> SheetTable:
    """Return a further sheet with the people of its rows."""
    layout = make_layout(sheet, roles)
    own = layout.of(*NAMES)[0]
    notes: list[Note] = []
    whose: dict[int, int] = {}  # by row; -1 where that is not known yet
    written: list[tuple[str, int]] = []
    unknown: list[Unknown] = []
    for row, name in enumerate(_names(sheet, layout), start=layout.header + 1):
        one = Unknown(name, -1, own, row, sheet)
        person = find_person(one, people, notes) if name else NOBODY
        if person is None:
            unknown.append(one)
        if person != NOBODY:
            whose[row] = -1 if person is None else person
            written.append((name if person is None else people.names[person], row))
    kept, repeated = last_answers(sheet, layout, written)
    rows = tuple((whose[row], row) for _, row in kept)
    return SheetTable(sheet, layout, rows, (*repeated, *notes), tuple(unknown))


def _with_role(table: SheetTable, column: Column, people: People, is_wanted: bool) -> Column:
    """Return a column with the role that the name of its sheet tells, where its own header leaves that open."""
    title_role = role_of(table.sheet.title)
    if not column.guessed or column.role in NAMES:
        return column
    if column.role in LISTS:
        if title_role in LISTS and title_role != column.role:
            raise SheetError.of(
                "title_differs",
                source=table.sheet.source,
                letter=column.letter,
                header=column.header,
                role=column.role,
                title_role=title_role,
                option=column.option,
            )
        return column
    if share_naming_people(table.cells(column), people) >= HALF:
        if title_role in LISTS:
            return replace(column, role=title_role)
        return replace(column, role=Role.FRIENDS) if is_wanted else column
    known = [person for person, _ in table.rows if person >= 0]
    repeats = len(set(known)) < len(known)
    return replace(column, role=Role.UNUSED) if repeats else column
