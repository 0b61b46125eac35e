"""Cells that name other people: friends, people not to be with, people to be with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from equigraph._utils.text import count
from equigraph.apps.classes.roster.columns import Column, SheetLayout
from equigraph.apps.classes.roster.nearest import is_sure, nearest
from equigraph.apps.classes.roster.notes import Note, note
from equigraph.apps.classes.roster.people import People, same
from equigraph.apps.classes.roster.sheet import Sheet
from equigraph.exceptions import ParameterError, RosterError

_MAX_UNKNOWN = 200
_SHOWN = 40
_DASHES = re.compile(r"[-\u2013\u2014\u2212/.]+\Z")
_LINES = re.compile(r"[;\n|]")
_JOINED = re.compile(r"\s*[/&+]\s*|\s+(?:and|und|et|y|e|en)\s+")


@dataclass(frozen=True)
class Unknown:
    """A name that is not on the list: where it stands, and who may be meant."""

    text: str
    person: int
    column: Column
    row: int
    sheet: Sheet

    @property
    def place(self) -> str:
        """Where it stands."""
        return self.sheet.place(self.row, self.column.place)

    def note(self, kind: str, **values: str) -> Note:
        """Return a note on what it was taken for."""
        sheet = self.sheet.title if self.sheet.is_further else ""
        cell = {"row": self.row + 1, "column": self.column.letter, "sheet": sheet}
        return Note(kind, {"text": self.text, **cell, **values})


class UnknownNamesError(RosterError):
    """Names of other people are not on the list.

    Attributes
    ----------
    unknown : list of (Unknown, tuple of str)
        Each of them, and who may be meant.
    """

    def __init__(self, message: str, unknown: list[tuple[Unknown, tuple[str, ...]]]) -> None:
        super().__init__(message)
        self.unknown = unknown


@dataclass
class Named:
    """Who names whom."""

    # By role: pairs of people in the order of the sheet, and where they stand.
    pairs: dict[str, dict[tuple[int, int], str]]
    notes: list[Note] = field(default_factory=list)  # what was taken for something else than it says


@dataclass(frozen=True)
class SheetTable:
    """A sheet, what its columns are, and whom its rows are about."""

    sheet: Sheet
    layout: SheetLayout
    rows: tuple[tuple[int, int], ...]  # person and row
    notes: tuple[Note, ...] = ()


def read_named(
    tables: Sequence[SheetTable],
    people: People,
    roles: tuple[str, ...],
    accept: bool,
    meant: Mapping[str, str | None],
) -> Named:
    """Return who names whom in the columns of some roles.

    A name that is not on the list is an error, unless `meant` says whose it is (None: nobody's), or `accept` is true
    and only one name comes near.
    """
    named = Named({role: {} for role in roles})
    unknown: list[Unknown] = []
    dashes = 0
    for table in tables:
        sheet = table.sheet
        for person, row in table.rows:
            for column in table.layout.of(*roles):
                text = sheet.cell(row, column.place)
                dashes += bool(_DASHES.match(text))
                for part in names_in(text, people):
                    one = Unknown(part, person, column, row, sheet)
                    found = find_person(one, people, meant, named.notes)
                    if found is None:
                        unknown.append(one)
                    elif found >= 0:
                        _add(named, one, found, people)
    if dashes:
        named.notes.append(note("dashes", n=dashes))
    for one, other in take_near(unknown, people, accept, named.notes):
        _add(named, one, other, people)
    return named


def find_person(
    one: Unknown, people: People, meant: Mapping[str, str | None], notes: list[Note]
) -> int | None:
    """Return who is named: a person of the list, -1 where `meant` says nobody, or None if that is not known."""
    found = people.find(one.text)
    known = _meant_people(people, meant)
    if found is not None or same(one.text) not in known:
        return found
    found = known[same(one.text)]
    if found is None:
        notes.append(one.note("name_left_out"))
        return -1
    notes.append(one.note("name_given", name=people.names[found]))
    return found


def _meant_people(people: People, meant: Mapping[str, str | None]) -> dict[str, int | None]:
    """Return the people that names which are not on the list stand for."""
    known: dict[str, int | None] = {}
    for text, name in meant.items():
        found = None if name is None or name.casefold() == "none" else people.find(name)
        if found is None and name is not None and name.casefold() != "none":
            raise ParameterError(f"names says that {text!r} is {name!r}, who is not on the list.")
        known[same(text)] = found
    return known


def names_in(text: str, people: People) -> Iterator[str]:
    """Yield the names in a cell: a whole cell that is a name is one, whatever signs are in it."""
    for line in _LINES.split(text):
        line = line.strip()
        if not line or _DASHES.match(line):
            continue
        if people.find(line) is not None:
            yield line
            continue
        parts = [part.strip() for part in line.split(",")]
        yield from _comma_names([part for part in parts if part and not _DASHES.match(part)], people)


def _comma_names(parts: list[str], people: People) -> Iterator[str]:
    """Yield the names between commas, where a comma may also stand between the last name and the first."""
    pairs = [", ".join(pair) for pair in zip(parts[::2], parts[1::2], strict=False)]
    if len(parts) % 2 == 0 and all(people.find(pair) is not None for pair in pairs):
        yield from pairs
        return
    for part in parts:
        joined = _JOINED.split(part)
        whole = people.find(part) is not None or any(people.find(one) is None for one in joined)
        yield from [part] if whole else joined


def _add(named: Named, one: Unknown, other: int, people: People) -> None:
    if one.person == other:
        raise RosterError(
            f"{one.sheet.where(one.row, one.column.place)}: {people.names[other]!r} is named in their own row: name "
            "somebody else, or clear the cell."
        )
    named.pairs[one.column.role].setdefault((one.person, other), one.place)


def take_near(
    unknown: list[Unknown], people: People, accept: bool, notes: list[Note]
) -> list[tuple[Unknown, int]]:
    """Return the only near name for each that is not on the list, or raise RosterError with what may be meant."""
    if not unknown:
        return []
    first = unknown[0]
    if len(unknown) > _MAX_UNKNOWN:
        raise RosterError(
            f"{first.sheet.source}: {len(unknown):,} names of other people are not on the list, first "
            f"{first.text[:40]!r} ({first.place}): look whether {first.column.header!r} is a column of people, and "
            "which column has their own names."
        )
    found = [(one, nearest(one.text, people.names)) for one in unknown]
    open_ones = [(one, near) for one, near in found if not (accept and _is_plain(one, near, people))]
    if open_ones:
        names = [(one, tuple(people.names[place] for place in near)) for one, near in open_ones]
        raise UnknownNamesError(_sentence(first.sheet, people, open_ones, accept), names)
    notes += [one.note("name_near", name=people.names[near[0]]) for one, near in found]
    return [(one, near[0]) for one, near in found]


def _sentence(sheet: Sheet, people: People, found: list[tuple[Unknown, list[int]]], accept: bool) -> str:
    shown = "; ".join(
        f"{one.text[:60]!r} ({one.place}), {_meant(people, near)}" for one, near in found[:_SHOWN]
    )
    n = len(found)
    more = f"; and {n - _SHOWN} more" if n > _SHOWN else ""
    hint = "correct or clear the cell"
    plain = sum(_is_plain(one, near, people) for one, near in found)
    if not accept and plain:
        several = "the near names" if plain == n else f"{plain} of them as the nearest name"
        hint += f", or take {several} with accept_near (--accept-near)"
    are = "is" if n == 1 else "are"
    return f"{sheet.source}: {count(n, 'name')} {are} not on the list: {shown}{more}: {hint}."


def _is_plain(one: Unknown, near: list[int], people: People) -> bool:
    """Return whether only one other person can be meant."""
    return len(near) == 1 and near[0] != one.person and is_sure(one.text, people.names[near[0]])


def _meant(people: People, near: list[int]) -> str:
    if not near:
        return "and nobody has a name like it"
    names = [repr(people.names[place]) for place in near[:3]]
    return f"perhaps {' or '.join(names)}"
