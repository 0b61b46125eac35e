"""Cells that name other people, and questions about columns of such cells."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from typing import Any

from equigraph.apps.classes.messages import Note, SheetError, note
from equigraph.apps.classes.roster.columns import Column, SheetTable, Unknown
from equigraph.apps.classes.roster.people import People, is_sure, nearest, same
from equigraph.apps.classes.roster.vocabulary import AND, LISTS, Role, is_nobody, is_rank, phrase, role_of

# By role, pairs of people in the order of the sheet, and their positions.
NamedPairs = dict[str, dict[tuple[int, int], dict[str, Any]]]
_MAX_UNKNOWN = 200
_SHOWN = 40  # unknown names in one message
_LINES = re.compile(r"[;\n|]|\s+(?=\d{1,2}[.)]\s)")
_BULLET = re.compile(r"(?:\d{1,2}[.):]|[-\u2013*\u2022\u00b7])\s+")
_JOINED = re.compile(rf"\s*[/&+]\s*|\s+(?:{'|'.join(AND)})\s+", re.IGNORECASE)
_BRACKETS = re.compile(r"\(.*?\)|\[.*?\]")
_CELLS = 3  # cells shown in a question
_LOOKED_AT = 400  # cells of a column that are sampled, evenly over its rows
_LONGEST = 60  # most letters of a cell that may be a name
NOBODY = -2  # given for a name that means nobody
_ASKED = {"people": (Role.APART, Role.TOGETHER, Role.FRIENDS, "none")}  # roles to choose from, by reason
_RANK = re.compile(r"\d{1,4}")
HALF = 0.5  # share of cells with people of the list that makes a column one of people


class UnknownNamesError(SheetError):
    """Names of other people are not on the list.

    Attributes
    ----------
    unknown : list of (Unknown, tuple of str)
        Each name with the people it may mean.
    people : tuple of str
        Everybody on the list.
    """

    unknown: list[tuple[Unknown, tuple[str, ...]]]
    people: tuple[str, ...]


def read_named(tables: Sequence[SheetTable], people: People) -> tuple[NamedPairs, list[Note]]:
    """Return the named people by role, and notes on names that were matched or left out.

    A name that is not on the list is an error, unless its person is given or a single near match is accepted.
    """
    pairs: NamedPairs = {role: {} for role in LISTS}
    notes: list[Note] = []
    unknown = [one for table in tables for one in table.unknown]
    blanks: Counter[str] = Counter()
    rows = [(table, _by_number(table.of(*LISTS)), *row) for table in tables for row in table.rows]
    for table, columns, person, row in rows:
        group: list[tuple[int, Unknown]] = []
        for column in columns:
            text = table.sheet.cell(row, column.place)
            if is_nobody(text) and people.find(text) is None:
                blanks[text if any(map(str.isalnum, text)) else "-"] += 1
            for part in names_in(text, people):
                one = Unknown(part, person, column, row, table.sheet)
                found = find_person(one, people, notes)
                if found is None:
                    unknown.append(one)
                elif found == person:
                    raise SheetError.of("own_row", at=one.at, name=people.names[found])
                elif found != NOBODY:
                    pairs[column.role].setdefault((person, found), one.at)
                    group += [(found, one)] * (column.place in table.grouped)
        for (first, one), (second, other) in combinations(group, 2):
            if one.column != other.column and first != second:
                pairs[Role.APART].setdefault((first, second), other.at)
    if unknown:
        raise _unknown_names(unknown, people)
    if dashes := blanks.pop("-", 0):
        notes.append(note("dashes", n=dashes))
    if blanks:
        notes.append(note("nobody", words=[list(pair) for pair in blanks.most_common()]))
    return pairs, notes


def by_rank(table: SheetTable) -> SheetTable:
    """Return a list of pairs whose rows are in the order of the ranks that a column gives the wishes of a person.

    A column of unclear meaning whose numbers would give the wishes of a person another order is asked about.
    """
    wishes: dict[int, list[int]] = {}  # rows by person
    for person, row in table.rows if table.of(Role.FRIENDS) else ():
        wishes.setdefault(person, []).append(row)
    several = [rows for person, rows in wishes.items() if person >= 0 and len(rows) > 1]
    for column in table.of(Role.ATTRIBUTE, Role.UNUSED) if several else ():
        texts = {row: text for _, row, text in table.texts(column)} if column.guessed else {}
        ranks = {row: int(number[0]) for row, text in texts.items() if (number := _RANK.search(text))}
        found = [[ranks.get(row, -1) for row in rows] for rows in several]
        clear = all(-1 not in one and len(set(one)) == len(one) for one in found)
        known = bool(texts) and is_rank(column.header)
        if known and clear:
            ordered = sorted(table.rows, key=lambda one: ranks.get(one[1], 0))
            ranked = note("ranked_by", header=column.header, sheet=table.sheet.title)
            return replace(table, rows=tuple(ordered), notes=(*table.notes, ranked))
        numbers = all(map(_RANK.fullmatch, texts.values()))
        if known or (clear and numbers and any(one != sorted(one) for one in found)):
            cells = list(dict.fromkeys(texts.values()))[:_CELLS]
            raise table.sheet.error("which_rank", **column.shown, cells=cells)
    return table


def _by_number(columns: Sequence[Column]) -> list[Column]:
    """Return columns that are called alike, such as "2. Wunsch" and "1. Wunsch", in the order of their numbers."""
    alike = [phrase(column.header) for column in columns]

    def place(column: Column) -> tuple[int, int]:
        number = re.search(r"\d+", column.header)
        return alike.index(phrase(column.header)), int(number[0]) if number else 0

    return sorted(columns, key=place)


def find_person(one: Unknown, people: People, notes: list[Note]) -> int | None:
    """Return the named person, NOBODY if that was given, or None if unknown."""
    found, kind = people.find(one.text), ""
    if found is None and same(one.text) in people.given:
        found, kind = people.given[same(one.text)], "name_given"
        if found is None:
            notes.append(one.note("name_left_out"))
            return NOBODY
    elif found is None and people.accept_near:
        near = nearest(one.text, people.names)
        found, kind = near[0] if _is_plain(one, near, people) else None, "name_near"
    if found is not None and kind:
        notes.append(one.note(kind, name=people.names[found]))
    return found


def names_in(text: str, people: People) -> Iterator[str]:
    """Yield the names in a cell; a cell that is a name as a whole is not split."""
    if people.find(text) is not None:
        yield text
        return
    for line in _LINES.split(text):
        line = _BULLET.sub("", line.strip(), count=1)
        if people.find(line) is not None:
            yield line
        else:
            parts = [_BULLET.sub("", part.strip(), count=1) for part in line.split(",")]
            yield from _comma_names([part for part in parts if part and not is_nobody(part)], people)


def _comma_names(parts: list[str], people: People) -> Iterator[str]:
    """Yield the names between commas; a comma may also separate last and first name."""
    pairs = [", ".join(pair) for pair in zip(parts[::2], parts[1::2], strict=False)]
    if len(parts) % 2 == 0 and all(people.find(pair) is not None for pair in pairs):
        yield from pairs
        return
    for part in parts:
        joined = [one for one in _JOINED.split(part) if one]
        whole = len(joined) < 2 or _is_near(part, people) or not any(_is_near(one, people) for one in joined)
        yield from [part] if whole else joined


def _is_near(text: str, people: People) -> bool:
    return people.find(text) is not None or bool(nearest(text, people.names))


def _unknown_names(unknown: list[Unknown], people: People) -> SheetError:
    """Return the error about all names that are not on the list, with suggestions."""
    first, sheet, n = unknown[0], unknown[0].sheet, len(unknown)
    if n > _MAX_UNKNOWN:
        header = first.column.header
        return sheet.error("hardly_names", n=n, text=first.text[:40], at=first.at, header=header)
    # A remark in brackets, such as a class, is not part of a name.
    found = [
        (one, nearest(one.text, people.names) or nearest(_BRACKETS.sub(" ", one.text), people.names))
        for one in unknown
    ]
    names = [(one, tuple(people.names[place] for place in near)) for one, near in found]
    shown = [[one.text[:60], one.at, list(near[:3])] for one, near in names[:_SHOWN]]
    plain = sum(_is_plain(one, near, people) for one, near in found)
    values = {"names": shown, "n": n, "n_plain": plain, "accept": people.accept_near}
    error = UnknownNamesError.of("unknown_names", source=sheet.source, **values)
    error.unknown, error.people = names, people.names
    return error


def _is_plain(one: Unknown, near: list[int], people: People) -> bool:
    """Return whether exactly one other person can be meant."""
    return len(near) == 1 and near[0] != one.person and is_sure(one.text, people.names[near[0]])


def find_questions(table: SheetTable, people: People) -> list[tuple[Column, str]]:
    """Return guessed columns that name people but are not read as such, and vice versa.

    The reason is "people", "nobody" or "no_class".
    """
    columns = [one for one in table.of(Role.ATTRIBUTE, Role.UNUSED, Role.FIXED, *LISTS) if one.guessed]
    return [(column, why) for column in columns if (why := _why_asked(table, column, people))]


def _why_asked(table: SheetTable, column: Column, people: People) -> str:
    """Return the reason to ask about a column, "" for none."""
    filled, cells = table.filled(column), table.cells(column)
    values = {text for _, text in filled}
    if column.role in LISTS:
        # Repeated values are an attribute such as a language, not misspelt friends, and numbers may be groups.
        certain = cells and (len(cells) < 4 or 2 * len(values) > len(cells))
        return "nobody" if filled and not certain and share_naming_people(filled, people) == 0 else ""
    if cells and share_naming_people(cells, people) >= HALF:
        return "people"
    # A remark is known by its header; the note on it says whom it mentions.
    if cells and column.role != Role.FIXED and role_of(column.header) is None:
        mentioned = cache(partial(people.mentioned, by_first_name=column.role == Role.UNUSED))
        sample = _sampled(cells)
        others = sum(bool(found := mentioned(text)) and person not in found for person, text in sample)
        return "people" if others > HALF * len(sample) else ""
    if cells:
        return ""
    is_marked = column.role == Role.FIXED and values and not any(map(str.isdigit, "".join(values)))
    return "no_class" if is_marked else ""  # a cross, or a yes


def raise_questions(table: SheetTable, people: People) -> None:
    """Raise SheetError with the first question about a column, which lists the others."""
    sheet = table.sheet
    for column in table.columns:
        if column.guessed and people.find(column.header) is not None and table.filled(column):
            values = {"head": column.header, "letter": column.letter}
            raise sheet.error("people_by_people", table.header, column.place, **values)
    questions = find_questions(table, people)
    if not questions:
        return
    headers = Counter(one.header for one in table.columns)
    # Columns with equal headers are identified by letter, which only the main sheet has.
    options = [
        one.letter if headers[one.header] > 1 and not sheet.is_further else one.option for one, _ in questions
    ]
    column, why = questions[0]
    texts = list(dict.fromkeys(text for _, text in table.filled(column)))[:_CELLS]
    cells = [text.replace("\n", "; ")[:_LONGEST] for text in texts]
    roles = _ASKED.get(why, (Role.ATTRIBUTE, "none"))
    shown = {**column.shown, "option": options[0], "others": options[1:]}
    numbers = _numbers_of_people(table, column) if why == "nobody" else ""
    raise sheet.error("question", **shown, why=why, cells=cells, roles=roles, numbers=numbers)


def _numbers_of_people(table: SheetTable, asked: Column) -> str:
    """Return the column with a number of its own for everybody that has all numbers in a column, "" if none has."""
    numbers = {part for _, text in table.filled(asked) for part in re.findall(r"\w+", text)}
    for column in table.of(Role.UNUSED, Role.ATTRIBUTE):
        own = [text for _, _, text in table.texts(column)]
        if numbers <= set(own) and len(set(own)) == len(own) == len(table.rows):
            return column.option
    return ""


def share_naming_people(cells: list[tuple[int, str]], people: People) -> float:
    """Return the share of cells that name another person of the list, exactly or approximately.

    One exact name counts for two others, so that a quarter of them makes a column one of people.
    """
    sample = _sampled(cells)
    match = cache(lambda part: match_person(part, people))
    score = 0
    for person, text in sample:
        parts = list(names_in(text, people))
        if _most_are_others([people.find(part) for part in parts], person):
            score += 2
        else:
            score += _most_are_others([match(part) for part in parts], person)
    return min(1.0, score / len(sample)) if sample else 0.0


def _sampled(cells: list[tuple[int, str]]) -> list[tuple[int, str]]:
    return cells[:: max(1, len(cells) // _LOOKED_AT)]


def _most_are_others(found: list[int | None], person: int) -> bool:
    others = sum(other is not None and other != person for other in found)
    return 2 * others >= len(found) > 0


def match_person(text: str, people: People) -> int | None:
    """Return the first person who may be meant by a text, or None; "bus" is not a misspelt Gus."""
    found = people.find(text)
    if found is not None or len(text) > _LONGEST:
        return found
    bare = _BRACKETS.sub(" ", text).strip()
    near = nearest(bare, people.names)
    return near[0] if near and is_sure(bare, people.names[near[0]]) else None


def mentions(table: SheetTable, people: People) -> Iterable[Note]:
    """Yield notes on columns that are not read as names, but mention people in sentences."""
    for column in table.of(Role.UNUSED, Role.ATTRIBUTE):
        used = column.role != Role.UNUSED
        texts = table.texts(column) if column.guessed else []
        # A school or a religion may be called as a pupil's first name is.
        mentioned = cache(partial(people.mentioned, by_first_name=not used))
        rows = [row + 1 for person, row, text in texts if mentioned(text) - {person}]
        if rows:
            yield note("mentions", header=column.header, n=len(rows), rows=rows[:5], used=used)
