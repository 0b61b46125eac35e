"""The people of a sheet: one row each, spellings of their names, and approximate matching."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.classes.messages import Note, note
from equigraph.apps.classes.roster.columns import SheetTable
from equigraph.apps.classes.roster.sheet import letters, tidy
from equigraph.apps.classes.roster.vocabulary import (
    NAMES,
    Role,
    folded,
    is_time,
    is_total,
    phrase,
    without_accents,
)
from equigraph.exceptions import ParameterError

MAX_NAME = 200
_FEW = 10  # if at most one row in ten has a name only, it may be a title within the list
_ERROR_VALUE = re.compile(r"#[A-ZÀ-Ý0-9/]{2,}[!?]?\Z")
_ZONE = re.compile(r"\s+[A-Z]{3,5}(?:[+-]\d{1,2}(?::?\d{2})?)?\Z|Z\Z|(?<=:\d\d)[+-]\d\d:?\d\d\Z")
_BEFORE_TIME = re.compile(r"(?<=\d)(?:T|, ?)(?=\d)")
_DATES = (
    *("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y"),
    *("%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d-%m-%Y"),
)
_TIMES = (" %H:%M:%S", " %I:%M:%S %p", " %H:%M", " %I:%M %p", " %H:%M:%S.%f", "")
_WORD = re.compile(r"[^\W_]+")
_INITIALS = re.compile(r"\s*(?:[^\W\d_]\.[\s-]*){2,4}\Z")
_SHORT = 3  # letters of a name that may as well be a word
_SURE = 6  # letters per wrong letter in a sure match; a near match needs half as many


@dataclass(frozen=True)
class People:
    """Names of the people, their rows, and lookup by name."""

    names: tuple[str, ...]
    rows: tuple[int, ...]  # row of each, from 0
    known: dict[str, int]  # index of the person by folded name
    notes: tuple[Note, ...] = ()
    # People given for unknown names, None for nobody; and whether a single near match is accepted.
    given: Mapping[str, int | None] = field(default_factory=dict)
    accept_near: bool = False

    def find(self, text: str) -> int | None:
        """Return the index of the person with a name, ignoring case and blanks."""
        return self.known.get(same(text))

    def mentioned(self, text: str, *, by_first_name: bool) -> set[int]:
        """Return the people whom a text mentions: by their whole names or initials, perhaps by first names alone."""
        if _INITIALS.match(text):
            return self._written.get((*_in_words(text), "initials"), set())
        words = _in_words(text)
        ends = range(1, self._longest + 1)
        found = [self._written.get(words[i : i + n], set()) for i in range(len(words)) for n in ends]
        if by_first_name:
            found += [self._by_first_name.get(word, set()) for word in _WORD.findall(text)]
        return set().union(*found)

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._written), default=0)

    @cached_property
    def _written(self) -> dict[tuple[str, ...], set[int]]:
        """The people by the words of their names, as sentences and e-mail addresses have them, and by initials."""
        found: dict[tuple[str, ...], set[int]] = {}
        for person, name in enumerate(self.names):
            first, *others = words = _in_words(" ".join(reversed(name.split(",", 1)))) or (name,)
            letters = [word[0] for word in words]
            if others:
                ways = [
                    words,
                    (*others, first),
                    ("".join(words),),
                    (first[0], *others),
                    (*letters, "initials"),
                ]
            else:
                ways = [words] if len(name) > _SHORT else []
            for way in ways:
                found.setdefault(tuple(way), set()).add(person)
        return found

    @cached_property
    def _by_first_name(self) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for person, name in enumerate(self.names):
            if len(name) > _SHORT:
                found.setdefault(first_name(name), set()).add(person)
        return found


def same(text: str) -> str:
    """Return a key for a name that ignores case and invisible characters."""
    visible = "".join(letter for letter in text if unicodedata.category(letter) != "Cf")
    return tidy(visible).casefold()


def _in_words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(folded(text)))


def first_name(name: str) -> str:
    """Return the first name.

    >>> first_name("Ada Roth"), first_name("Roth, Ada"), first_name("Ada,")
    ('Ada', 'Ada', 'Ada,')
    """
    return (name.rpartition(",")[2].split() or name.split())[0]


def check_cells(table: SheetTable) -> None:
    """Raise SheetError for merged cells, and for formulas without a value, where people are read."""
    sheet, used = table.sheet, {column.place for column in table.used}
    for block in sheet.merged:
        columns = range(block.left, block.right + 1)
        if block.bottom > table.header and block.top < len(sheet.rows) and not used.isdisjoint(columns):
            last = f"{letters(block.right)}{block.bottom + 1}"
            raise sheet.error("merged", block.top, block.left, last=last)
    for row, column in sorted(sheet.broken):
        if row >= table.header and column in used:
            raise sheet.why_broken(row, column)
    for row, column in product(table.below, sorted(used)):
        text = sheet.cell(row, column)
        if text.startswith("=") and len(text) > 1:
            raise sheet.error("formula_text", row, column, text=text[:40])
        if _ERROR_VALUE.match(text):
            raise sheet.error("formula_error", row, column, text=text)


def read_people(
    table: SheetTable, meant: Mapping[str, str | None] | None = None, accept_near: bool = False
) -> People:
    """Return the people, or raise SheetError if a row has no name or two people have the same."""
    found = [(name, row) for row in table.below if (name := name_in(table, row))]
    if len(found) < 2:
        raise table.sheet.error("too_few", n=len(found), row=table.header + 1)
    kept, notes = last_answers(table, found)
    if len(found) < len(table.below):
        notes.append(note("blank_rows", n=len(table.below) - len(found)))
    names, rows = zip(*kept, strict=True)
    known = _known(table, kept)
    given = {same(text): _given_person(text, name, known) for text, name in (meant or {}).items()}
    return People(names, rows, known, (*notes, *_doubtful(table, kept)), given, accept_near)


def _given_person(text: str, name: str | None, known: Mapping[str, int]) -> int | None:
    """Return the person given for a name, None for nobody."""
    if name is None or name.casefold() == "none":
        return None
    if same(str(name)) not in known:
        raise ParameterError(f"names says that {text!r} is {name!r}, who is not on the list.")
    return known[same(str(name))]


def name_in(table: SheetTable, row: int) -> str:
    """Return the name in a row, "" if the row is blank; raise SheetError if it is not a name."""
    parts, sheet = _parts(table, row), table.sheet
    name = parts.get(Role.NAME) or " ".join(filter(None, map(parts.get, NAMES[1:])))
    own = table.of(*NAMES)[0].place
    if not name:
        filled = [column for column in table.used if sheet.cell(row, column.place)]
        if not filled:
            return ""
        text = tidy(sheet.cell(row, filled[0].place))[:40]
        raise sheet.error("name_blank", row, own, column=filled[0].letter, text=text)
    if len(name) > MAX_NAME:
        raise sheet.error("name_too_long", row, own, n=len(name), most=MAX_NAME)
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in name):
        raise sheet.error("name_unprintable", row, own, name=ascii(name[:40])[1:-1])
    if not any(map(str.isalnum, name)):
        raise sheet.error("name_of_signs", row, own, name=name)
    if is_total(name) or " = " in name or sheet.rows[row] == sheet.rows[table.header]:
        raise sheet.error("no_person", row, own, name=name)
    return name


def _doubtful(table: SheetTable, kept: Sequence[tuple[str, int]]) -> Iterator[Note]:
    """Yield notes on rows that may not be people, or may be duplicates."""
    further = [column.place for column in table.used if column.role not in NAMES]
    # Without attributes, people without a wish have a name only, too.
    bare = [
        [name, row + 1]
        for name, row in kept
        if (table.of(Role.ATTRIBUTE) or any(map(str.isdigit, name)))
        and not any(table.sheet.cell(row, place) for place in further)
    ]
    if 0 < _FEW * len(bare) <= len(kept):
        yield note("name_only", people=bare)
    alike: dict[str, list[Any]] = {}
    for name, row in kept:
        alike.setdefault(" ".join(sorted(phrase(name).split())), []).append([name, row + 1])
    for people in alike.values():
        if len(people) > 1:
            yield note("perhaps_one", people=people)


def _parts(table: SheetTable, row: int) -> dict[str, str]:
    """Return the parts of a name by role; several columns of last names are joined."""
    parts: dict[str, str] = {}
    for column in table.of(*NAMES):
        text = tidy(table.sheet.cell(row, column.place))
        parts[column.role] = f"{parts.get(column.role, '')} {text}".strip()
    return parts


def _known(table: SheetTable, found: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return the person by each spelling of a name; ambiguous spellings are left out."""
    known: dict[str, int] = {}
    others: dict[str, set[int]] = {}
    for place, (name, row) in enumerate(found):
        before = known.setdefault(same(name), place)
        if before != place:
            raise table.sheet.error("name_twice", rows=[found[before][1] + 1, row + 1], name=name)
        for way in _ways(name, _parts(table, row)):
            others.setdefault(same(way), set()).add(place)
    return {way: min(places) for way, places in others.items() if len(places) == 1} | known


def _ways(name: str, parts: dict[str, str]) -> list[str]:
    """Return other spellings of a name: last name first, with or without a comma."""
    ways = []
    last, comma, first = name.partition(",")
    if comma and first.strip():
        ways += [f"{first} {last}", f"{last} {first}"]
    first = " ".join(filter(None, (parts.get(Role.FIRST), parts.get(Role.MIDDLE))))
    last = parts.get(Role.LAST, "")
    if first and last:
        ways += [f"{last} {first}", f"{last}, {first}", f"{first} {last}"]
    return ways


def last_answers(
    table: SheetTable, rows: Sequence[tuple[str, int]]
) -> tuple[list[tuple[str, int]], list[Note]]:
    """Return the rows that count, each with its person, and notes on the others.

    Without a column of times all rows count. Times that cannot be read, or that can be read in two ways, leave the
    order of the rows, which is that of the answers where a form wrote them.
    """
    column = next((one.place for one in table.columns if is_time(one.header)), None)
    if column is None:
        return list(rows), []
    answers: dict[str, list[tuple[str, int]]] = {}
    for place in _order([table.sheet.cell(row, column) for _, row in rows]):
        answers.setdefault(same(rows[place][0]), []).append(rows[place])
    last = {found[-1] for found in answers.values()}
    # A person keeps the first spelling.
    people = [
        [min(found, key=lambda one: one[1])[0], [row + 1 for _, row in found]]
        for found in answers.values()
        if len(found) > 1
    ]
    return [one for one in rows if one in last], [note("answers", people=people)] if people else []


def _order(texts: list[str]) -> Iterable[int]:
    """Return the indices that sort times.

    >>> list(_order(["2024/05/03 9:12:11 PM GMT+2", "2024/05/03 9:12:12 AM GMT+2"]))
    [1, 0]
    >>> list(_order(["03.05.2024 10:00", "soon"]))
    [0, 1]
    """
    plain = [_BEFORE_TIME.sub(" ", _ZONE.sub("", text)) for text in texts]
    read = []
    for date, time in product(_DATES, _TIMES):
        with suppress(ValueError):
            read.append([datetime.strptime(text, date + time) for text in plain])
    # The order of the rows, which a form writes by time, may tell days from months.
    rising = [times for times in read if times == sorted(times)]
    certain = rising[:1] or (read if len(read) == 1 else [])
    if not certain:
        return range(len(texts))
    return sorted(range(len(texts)), key=lambda place: (certain[0][place], place))


def nearest(text: str, names: Sequence[str]) -> list[int]:
    """Return the indices of the nearest names, all equally near, or none.

    Nearest first: the same letters but for accents; the same words in another order; a part of the name, such as the
    first name or the last, with initials for the rest; few letters different.

    >>> names = ["Lena Müller", "Lena Vogt", "Jonas Groß"]
    >>> [
    ...     [names[i] for i in nearest(text, names)]
    ...     for text in ("Lena Mueller", "Groß, Jonas", "Jonas", "Lena Voght")
    ... ]
    [['Lena Müller'], ['Jonas Groß'], ['Jonas Groß'], ['Lena Vogt']]
    >>> [names[i] for i in nearest("Lena", names)], nearest("Xaver", names)
    (['Lena Müller', 'Lena Vogt'], [])
    """
    return _nearest(text, names, min((len(text) + 3) // _SURE, 2))


def is_sure(text: str, name: str) -> bool:
    """Return whether a near name is a sure match; Tom is near Tim, but another name.

    >>> is_sure("Tim", "Tom"), is_sure("Tom", "Tom Voß"), is_sure("Lena Voght", "Lena Vogt")
    (False, True, True)
    """
    return bool(_nearest(text, [name], len(text) // _SURE))


def _nearest(text: str, names: Sequence[str], most: int) -> list[int]:
    """Return the indices of the nearest names, with at most so many letters wrong."""
    if not any(map(str.isalnum, text)):
        return []
    for alike in _ALIKE:
        found = [place for place, name in enumerate(names) if _are(alike, text, name)]
        if found:
            return found
    return _nearest_by_edits(text, names, most)


# Called for every pair of a person and an unknown name.
_folded = lru_cache(maxsize=1 << 15)(folded)


@lru_cache(maxsize=1 << 15)
def _spellings(text: str) -> frozenset[tuple[str, ...]]:
    """Return the words of a name in spellings without accents: Mueller and Muller are both Müller."""
    return frozenset(tuple(_words(way)) for way in (_folded(text), without_accents(text.casefold())))


def _words(text: str) -> list[str]:
    return text.replace(",", " ").replace(".", " ").replace("-", " ").split()


def _are(alike: Callable[[Any, Any], bool], text: str, name: str) -> bool:
    return any(alike(given, words) for given in _spellings(text) for words in _spellings(name))


def _same_words(given: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return sorted(given) == sorted(words)


def _is_part(given: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Return whether the first given word is one of the words, and every further one is a prefix of a later one."""
    if not given or len(given[0]) < 2 or len(given) > len(words) or given[0] not in words:
        return False
    left = iter(words[words.index(given[0]) + 1 :])
    return all(any(word.startswith(part) for word in left) for part in given[1:])


def _is_part_from_behind(given: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Return whether a last name is given with initials of first names, before or behind it."""
    return any(_is_part(one, words[::-1]) for one in (given, given[::-1]))


_ALIKE = (operator.eq, _same_words, _is_part, _is_part_from_behind)


def _nearest_by_edits(text: str, names: Sequence[str], most: int) -> list[int]:
    """Return the names at the least edit distance; longer names are also compared by their first words."""
    written = _folded(text)
    n_words = len(_words(written))
    whole = [_folded(name) for name in names]
    parts = [" ".join(name.split()[:n_words]) for name in whole]
    steps = np.minimum(edit_distances(written, whole, most), edit_distances(written, parts, most))
    return np.flatnonzero(steps == min(steps.min(initial=most + 1), most)).tolist()


def edit_distances(text: str, names: Sequence[str], most: int) -> NDArray[np.int64]:
    """Return the edit distance of each name, with changed, added, missing and swapped letters.

    The dynamic program runs over all names at once, in a band around its diagonal. Larger distances are ``most + 1``.
    """
    lengths = np.array([len(name) for name in names], dtype=np.int64)
    near = np.flatnonzero(np.abs(lengths - len(text)) <= most)
    result = np.full(len(names), most + 1, dtype=np.int64)
    width = int(lengths[near].max(initial=1))
    letters = np.array([names[place] for place in near.tolist()], dtype=f"U{width}").view(np.uint32)
    letters = letters.reshape(near.size, width).T
    before = row = np.minimum(np.arange(width + 1), most + 1)[:, None].repeat(near.size, axis=1)
    for i, letter in enumerate(text, start=1):
        new = np.full_like(row, most + 1)
        new[0] = min(i, most + 1)
        for j in range(max(1, i - most), min(width, i + most) + 1):
            changed = row[j - 1] + (letters[j - 1] != ord(letter))
            new[j] = np.minimum(np.minimum(row[j], new[j - 1]) + 1, changed)
            if i > 1 and j > 1:
                swapped = (letters[j - 2] == ord(letter)) & (letters[j - 1] == ord(text[i - 2]))
                new[j] = np.where(swapped, np.minimum(new[j], before[j - 2] + 1), new[j])
        before, row = row, new
    result[near] = np.minimum(row[lengths[near], np.arange(near.size)], most + 1)
    return result
