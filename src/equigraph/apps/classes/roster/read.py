"""Read a sheet of people, one row each, and join further sheets by name: wishes, lists of pairs, web forms."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path

from equigraph._utils.parameters import check_known
from equigraph.apps.classes.messages import Note, SheetError, note
from equigraph.apps.classes.roster.columns import (
    Column,
    ColumnRoles,
    SheetTable,
    Unknown,
    is_mark,
    known_header,
    make_table,
)
from equigraph.apps.classes.roster.people import People, check_cells, last_answers, name_in, read_people, same
from equigraph.apps.classes.roster.roster import WISHES, Roster
from equigraph.apps.classes.roster.sheet import MAX_BYTES, Sheet, letters, read_text_sheet, tidy
from equigraph.apps.classes.roster.vocabulary import (
    LISTS,
    NAMES,
    Role,
    is_nobody,
    is_time,
    is_unknown,
    names_one,
    role_of,
)
from equigraph.apps.classes.roster.wishes import (
    HALF,
    NOBODY,
    NamedPairs,
    by_rank,
    find_person,
    find_questions,
    match_person,
    mentions,
    raise_questions,
    read_named,
    share_naming_people,
)
from equigraph.apps.classes.roster.workbooks import OLE, ZIP, Workbook
from equigraph.exceptions import RosterError

_SHOWN = 5  # people named in a note
_DEPTH = 20  # rows in which a header is looked for


def read_roster(
    path: str | os.PathLike[str],
    *,
    columns: ColumnRoles | None = None,
    encoding: str | None = None,
    wishes: str = "any",
    accept_near: bool = False,
    sheet: str | int | None = None,
    wishes_sheet: str | int | None = None,
    bins: Mapping[str, int] | None = None,
    names: Mapping[str, str | None] | None = None,
) -> Roster:
    """Read a sheet of people: names, attributes, wishes, and who must or must not be with whom.

    What each column is, is guessed from its header in English, German, French, Spanish, Italian, Dutch and some more
    languages. Everything that was guessed is in the `notes` of the result. A column of names with an unclear header is
    an error that asks for its role. Nothing is repaired: a name that is not on the list is an error that proposes the
    nearest one.

    Parameters
    ----------
    path : path-like
        An .xlsx, .xls or .ods file, or text as spreadsheet programs write it (.csv, .tsv).
    columns : mapping of str to str, optional
        What columns are, by their headers (or letters): ``name``, ``first_name``, ``middle_name``, ``last_name``,
        ``friends``, ``not_with``, ``together_with``, ``fixed_class``, ``attribute``, or None where a column is not
        to be used. The others are guessed.
    encoding : str, optional
        Encoding of a text file. By default what its first bytes say, UTF-8, or Windows-1252, whichever fits.
    wishes : {"any", "mutual", "ranked"}, default="any"
        Which wishes count: any, mutual ones only, or any, the first of a person three times and the second twice as
        much as a further one.
    accept_near : bool, default=False
        Take a name that is not on the list for the nearest one if only one comes near; `notes` lists them.
    sheet : str or int, optional
        Name of the sheet of a workbook, or its number from 1. By default the only one with people.
    wishes_sheet : str or int, optional
        A further sheet that is joined by name: its name or number, or another file. It has one row for each person, or
        one for each pair (from, to). Sheets that are called after wishes or rules, exports of forms, and lists of pairs
        are found without it. Of several answers of one person to a form the last counts.
    bins : mapping of str to int, optional
        Columns of numbers, and into how many ranges they go; three where a column has more than six numbers.
    names : mapping of str to str, optional
        Who is meant by names that are not on the list; None where nobody is.

    Returns
    -------
    Roster
        The people.

    Raises
    ------
    RosterError
        If the sheet cannot be read, or says something that cannot be; the message names the row and the column.
    ParameterError
        If a parameter is wrong.

    Examples
    --------
    >>> import tempfile
    >>> text = (
    ...     "Name;Gender;Friend 1;Friend 2;Not with"
    ...     + chr(10)
    ...     + "Ada;f;Ben;;"
    ...     + chr(10)
    ...     + "Ben;m;Ada;Cem;"
    ...     + chr(10)
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "class.csv"
    ...     _ = path.write_text(text + "Cem;m;;;Ada")
    ...     roster = read_roster(path)
    >>> roster.people, roster.attributes, roster.apart
    (('Ada', 'Ben', 'Cem'), {'Gender': ('f', 'm', 'm')}, (('Cem', 'Ada'),))
    >>> roster.graph("Gender")
    Graph(3 nodes, 2 edges, 'Gender': 2 groups)
    """
    check_known("wishes", wishes, WISHES)
    cells = read_sheet(path, encoding=encoding, sheet=sheet)
    main = make_table(cells, own_roles(cells, columns))
    check_cells(main)
    people = read_people(main, names, accept_near)
    main = replace(main, rows=tuple(enumerate(people.rows)))
    wanted = None if wishes_sheet is None else _wanted(path, cells, wishes_sheet, encoding)
    further, left_out = join_tables(cells, people, wanted, columns, is_chosen=sheet is not None)
    tables = [main, *further]
    for table in tables:
        check_cells(table)
        raise_questions(table, people)
    if wishes == "ranked":
        further = [by_rank(table) for table in further]
        tables = [main, *further]
    pairs, on_names = read_named(tables, people)
    _check_contradictions(cells, people, pairs)
    attributes, on_attributes = _attributes(tables, people)
    hidden = [title for title in cells.hidden if wanted is None or title != wanted.title]
    notes = [*cells.notes, *main.notes, *(column.note for column in main.columns), *people.notes]
    notes += [one for table in further for one in table.notes]
    notes += [note("sheet_hidden", sheet=title) for title in hidden]
    notes += [*left_out, *on_attributes, *on_names]
    notes += [one for table in tables for one in mentions(table, people)]
    notes += [*_notes_on_blanks(people, attributes), *_notes_on_wishes(people, pairs, wishes)]
    friends, apart, together = (
        tuple((people.names[one], people.names[other]) for one, other in pairs[role])
        for role in (Role.FRIENDS, Role.APART, Role.TOGETHER)
    )
    apart, together, fixed = _unordered(apart), _unordered(together), _fixed(tables, people)
    roster = Roster(people.names, attributes, friends, apart, together, fixed, wishes, dict(bins or {}))
    return replace(roster, columns=main.columns, notes=tuple(notes), source=Path(path).name)


def read_sheet(
    path: str | os.PathLike[str], *, encoding: str | None = None, sheet: str | int | None = None
) -> Sheet:
    """Return the cells of a file as text; its kind is known by its first bytes, not its name."""
    path = Path(path)
    raw = read_bytes(path)
    if raw.startswith((ZIP, OLE)):
        return _chosen(Workbook(raw, path.name, sheet))
    if sheet is not None:
        raise SheetError.of("text_has_no_sheets", source=path.name, sheet=sheet)
    return read_text_sheet(raw, path.name, encoding, path.suffix.lower())


def _chosen(book: Workbook) -> Sheet:
    """Return one sheet of a workbook, with the others: the given one, or the one with the people."""
    named = None if book.chosen is None else book.read(book.chosen)
    filled = book.filled(must=named is None)
    if not filled and named is None:
        raise SheetError.of("no_cells", source=book.source)
    found = named or (filled[0] if len(filled) == 1 else choose_people(filled))
    if found is None:
        raise SheetError.of("which_sheet", source=book.source, n=len(filled), names=book.visible[:8])
    others = tuple(one for one in filled if one.title != found.title)
    hidden = tuple(name for name in book.names if name not in book.visible and name != found.title)
    unreadable = [note("sheet_unreadable", sheet=name) for name in book.unreadable if name != found.title]
    return replace(found, others=others, hidden=hidden, notes=(*found.notes, *unreadable))


def _wanted(path: str | os.PathLike[str], main: Sheet, wanted: str | int, encoding: str | None) -> Sheet:
    """Return the requested sheet of wishes: of the workbook, or of another file."""
    others = {one.title: one for one in main.others}
    if isinstance(wanted, str) and wanted not in others and Path(wanted).is_file():
        found = read_sheet(wanted, encoding=encoding)
        return replace(found, title=found.title or Path(wanted).name)
    if main.is_text:
        raise SheetError.of("no_such_file", source=Path(path).name, wanted=wanted)
    found = read_sheet(path, sheet=wanted)
    if found.title == main.title:
        raise SheetError.of("same_sheet", wanted=wanted)
    return found


def read_bytes(path: Path) -> bytes:
    """Return a file of reasonable size, or raise SheetError."""
    try:
        size = path.stat().st_size
        raw = path.read_bytes() if size <= MAX_BYTES else b""
    except OSError as error:
        raise SheetError.of("unreadable", path=str(path), reason=error.strerror or str(error)) from error
    if size > MAX_BYTES:
        raise SheetError.of("too_large", source=path.name, n=size // 2**20, most=MAX_BYTES // 2**20)
    if not raw.strip():
        raise SheetError.of("empty", source=path.name)
    return raw


def _unordered(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Return each pair once, ignoring order."""
    return tuple({frozenset(pair): pair for pair in reversed(pairs)}.values())[::-1]


def _check_contradictions(sheet: Sheet, people: People, pairs: NamedPairs) -> None:
    """Raise SheetError if two people are to be together and apart."""
    apart = {frozenset(pair): at for pair, at in pairs[Role.APART].items()}
    for pair, at in pairs[Role.TOGETHER].items():
        if frozenset(pair) in apart:
            both = [people.names[one] for one in pair]
            raise sheet.error("together_and_apart", names=both, together=at, apart=apart[frozenset(pair)])


def _columns(tables: list[SheetTable], role: str) -> list[tuple[SheetTable, Column]]:
    return [(table, column) for table in tables for column in table.of(role)]


def _attributes(
    tables: list[SheetTable], people: People
) -> tuple[dict[str, tuple[str | None, ...]], list[Note]]:
    """Return the values of all people by attribute, and notes on repeated columns and unknown values."""
    found: dict[str, tuple[str | None, ...]] = {}
    notes = []
    for table, column in _columns(tables, Role.ATTRIBUTE):
        if column.header in found:
            notes.append(note("column_repeated", header=column.header, sheet=table.sheet.title))
            continue
        values = {person: tidy(text) for person, _, text in table.texts(column)}
        known = {person: text for person, text in values.items() if not is_unknown(text)}
        if len(known) < len(values):
            notes.append(note("unknown_values", attribute=column.header, n=len(values) - len(known)))
        found[column.header] = tuple(known.get(i) for i in range(len(people.names)))
    return found, notes


def _fixed(tables: list[SheetTable], people: People) -> dict[str, str]:
    """Return the fixed classes; raise SheetError if two sheets contradict each other."""
    fixed: dict[str, str] = {}
    for table, column in _columns(tables, Role.FIXED):
        for person, row, cell in table.texts(column):
            text, name = tidy(cell), people.names[person]
            if is_nobody(text):
                continue
            is_cross = column.guessed and is_mark(text) and not any(map(str.isdigit, text))
            if is_cross or not names_one(text):
                raise table.sheet.error("no_single_class", row, column.place, text=text)
            if fixed.setdefault(name, text) != text:
                both = {"here": text, "elsewhere": fixed[name]}
                raise table.sheet.error("fixed_twice", row, column.place, name=name, **both)
    return fixed


def _notes_on_blanks(people: People, attributes: dict[str, tuple[str | None, ...]]) -> Iterator[Note]:
    for attribute, values in attributes.items():
        pairs = zip(people.names, people.rows, values, strict=True)
        blank = [[name, row + 1] for name, row, value in pairs if value is None]
        if 0 < len(blank) < len(values):
            some = blank if len(blank) <= _SHOWN else blank[:1]
            yield note("blanks", attribute=attribute, n=len(blank), n_people=len(values), people=some)


def _notes_on_wishes(people: People, pairs: NamedPairs, wishes: str) -> Iterator[Note]:
    friends = pairs[Role.FRIENDS]
    if friends:
        mutual = sum((other, one) in friends for one, other in friends) // 2
        yield note("wishes", n=len(friends), n_mutual=mutual, counting=wishes)
        nobody = len(people.names) - len({one for one, _ in friends})
        if nobody:
            yield note("no_wish", n=nobody)
    for one, other in pairs[Role.APART]:
        if (one, other) in friends or (other, one) in friends:
            yield note("apart_wished", one=people.names[one], other=people.names[other])


def choose_people(filled: list[Sheet]) -> Sheet | None:
    """Return the sheet with the people: the only one with a known header that is no list of wishes or pairs."""
    known = [one for one in filled if known_header(one) is not None]
    first = [one for one in known if not _is_about_others(one)]
    return known[0] if len(known) == 1 else first[0] if len(first) == 1 else None


def _is_about_others(sheet: Sheet) -> bool:
    """Return whether the title of a sheet means wishes or rules, or it is a list of pairs or a form export."""
    if role_of(sheet.title) in LISTS:
        return True
    try:
        table = make_table(sheet)
        names = [same(name) for name in _names(table) if name]
    except RosterError:
        return False
    return len(set(names)) < len(names) or any(is_time(one.header) for one in table.columns)


def _names(table: SheetTable) -> list[str]:
    """Return the name in each row below the header."""
    return [name_in(table, row) for row in table.below]


def own_roles(sheet: Sheet, columns: ColumnRoles | None) -> ColumnRoles | None:
    """Return the given roles without those for headers of the other sheets."""
    if not isinstance(columns, Mapping):
        return columns
    here, there = _headers(sheet), set[str]().union(*map(_headers, sheet.others))
    return {name: role for name, role in columns.items() if tidy(name) in here or tidy(name) not in there}


def _headers(sheet: Sheet) -> set[str]:
    return {tidy(cell) for row in sheet.rows[:_DEPTH] for cell in row if cell}


def join_tables(
    main: Sheet, people: People, wanted: Sheet | None, columns: ColumnRoles | None, is_chosen: bool
) -> tuple[list[SheetTable], list[Note]]:
    """Return the other sheets about the people of the main one, and notes on those that are not read.

    A sheet is joined if it was requested, its title means wishes or rules, it is a form export or a list of pairs or,
    unless the main sheet was chosen among several, any of its columns names people.
    """
    tables, notes = [], []
    others = [one for one in main.others if wanted is None or one.title != wanted.title]
    for found in [*([] if wanted is None else [wanted]), *others]:
        sheet, is_wanted = replace(found, is_further=True), found is wanted
        key = _key(sheet, people)
        if key is None:
            if is_wanted or (role_of(sheet.title) in LISTS and len(sheet.rows) > 1):
                raise sheet.error("no_key")
            notes.append(note("sheet_without_names", sheet=sheet.title))
            continue
        given = {name: role for name, role in (columns or {}).items() if tidy(name) in _headers(sheet)}
        table = _table(sheet, people, {**key, **given}, is_wanted)
        if is_wanted or _is_joined(table, people, is_chosen):
            read = [[one.header, one.role] for one in table.columns if one.role not in NAMES]
            joined = note("sheet_joined", sheet=sheet.title, n_rows=len(table.rows), columns=read)
            tables.append(replace(table, notes=(joined, *table.notes)))
        else:
            notes.append(note("sheet_not_joined", sheet=sheet.title))
    return tables, notes


def _is_joined(table: SheetTable, people: People, is_chosen: bool) -> bool:
    if role_of(table.sheet.title) in LISTS or any(is_time(one.header) for one in table.columns):
        return True
    naming = {*table.of(*LISTS), *(column for column, _ in find_questions(table, people))}
    is_list_of_pairs = len(naming) == 1 and naming.issuperset(table.of(Role.ATTRIBUTE))
    return is_list_of_pairs or (bool(naming) and not is_chosen)


def _key(sheet: Sheet, people: People) -> dict[str, str] | None:
    """Return the column with the person of each row, empty if its header is known; None without one."""

    def near(text: str) -> int | None:
        return match_person(text, people)

    header = known_header(sheet)
    if header is not None:
        with suppress(RosterError):  # such as the two columns of names of a list of pairs
            if _are_people(_names(make_table(sheet)), near):
                return {}
    else:
        rows = enumerate(sheet.rows[:_DEPTH])
        header = next((row for row, cells in rows if sum(map(bool, cells)) > 1), None)
    if header is None:
        return None
    heads = [tidy(cell) for cell in sheet.rows[header]]
    below = range(header + 1, len(sheet.rows))
    # Exact names take precedence over similar ones, such as family names.
    for find, (place, head) in product((people.find, near), enumerate(heads)):
        if _are_people([sheet.cell(row, place) for row in below], find):
            if people.find(head) is not None:
                raise sheet.error("header_is_person", header, place, head=head)
            return {head if heads.count(head) == 1 and head else letters(place): Role.NAME}
    return None


def _are_people(names: Sequence[str], find: Callable[[str], int | None]) -> bool:
    filled = [name for name in names if name]
    found = sum(find(name) is not None for name in filled)
    return found > 0 and found >= HALF * len(filled)


def _table(sheet: Sheet, people: People, roles: ColumnRoles, is_wanted: bool) -> SheetTable:
    """Return a further sheet with the people of its rows."""
    table = make_table(sheet, roles)
    own = table.of(*NAMES)[0]
    notes: list[Note] = []
    whose: dict[int, int] = {}  # by row; -1 if not known yet
    written: list[tuple[str, int]] = []
    unknown: list[Unknown] = []
    for row, name in zip(table.below, _names(table), strict=True):
        one = Unknown(name, -1, own, row, sheet)
        person = find_person(one, people, notes) if name else NOBODY
        if person is None:
            unknown.append(one)
        if person != NOBODY:
            whose[row] = -1 if person is None else person
            written.append((name if person is None else people.names[person], row))
    kept, repeated = last_answers(table, written)
    rows = tuple((whose[row], row) for _, row in kept)
    table = replace(table, rows=rows, notes=(*repeated, *notes), unknown=tuple(unknown))
    columns = tuple(_with_role(table, one, people, is_wanted) for one in table.columns)
    told = zip(columns, table.columns, strict=True)
    grouped = frozenset(one.place for one, before in told if one.role == Role.APART != before.role)
    return replace(table, columns=columns, grouped=grouped)


def _with_role(table: SheetTable, column: Column, people: People, is_wanted: bool) -> Column:
    """Return a column with the role given by the title of its sheet, if its own header leaves it open."""
    title_role = role_of(table.sheet.title)
    if not column.guessed or column.role in NAMES:
        return column
    if column.role in LISTS:
        if title_role in LISTS and title_role != column.role:
            roles = {"role": column.role, "title_role": title_role}
            raise table.sheet.error("title_differs", **column.shown, **roles)
        return column
    if share_naming_people(table.cells(column), people) >= HALF:
        if title_role in LISTS:
            return replace(column, role=title_role)
        return replace(column, role=Role.FRIENDS) if is_wanted else column
    known = [person for person, _ in table.rows if person >= 0]
    return replace(column, role=Role.UNUSED) if len(set(known)) < len(known) else column
