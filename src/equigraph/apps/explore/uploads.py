"""Files that a page sends: kept under names of our own, looked at and read by another process, and removed."""

from __future__ import annotations

import itertools
import os
import re
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equigraph._utils.text import one_line
from equigraph.apps.classes.attributes import understood as numbers_understood
from equigraph.apps.classes.messages import SheetError
from equigraph.apps.classes.roster import read_roster
from equigraph.apps.classes.roster.columns import make_layout
from equigraph.apps.classes.roster.joining import own_roles
from equigraph.apps.classes.roster.people import read_people
from equigraph.apps.classes.roster.read import read_sheet
from equigraph.apps.classes.roster.sheet import Sheet, letters
from equigraph.apps.classes.roster.wishes import SheetTable, UnknownNamesError, find_questions
from equigraph.apps.explore.errors import BoardError, refusal_facts
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.persistence import read_board
from equigraph.apps.explore.steps import Step, first_step
from equigraph.exceptions import EquigraphError, RosterError
from equigraph.graph import read_graph

MAX_BYTES = 32 << 20
MAX_FILES = 8
_ROWS, _COLUMNS, _CELLS, _LETTERS = 6, 24, 3, 60
SUFFIXES = (
    ".xlsx", ".xls", ".ods", ".csv", ".tsv", ".txt", ".edges", ".graphml", ".gml", ".mtx", ".npz", ".mat",
    ".parquet", ".json",
)  # fmt: skip
_SHEETS = (".xlsx", ".xls", ".ods", ".csv", ".tsv", ".txt")
_NAME = re.compile(r"[^\w .()+-]")


@dataclass(frozen=True)
class Upload:
    """A file that was sent: what to call it, and where it lies under a name of our own."""

    key: str
    name: str
    path: Path
    # Options of `read_roster` and of the board that the command was given; a page may change them.
    options: Mapping[str, Any] = field(default_factory=dict)
    borrowed: bool = False  # whether it is a file of the user, which is read where it is and never removed


@dataclass(frozen=True)
class OfferedSheet:
    """A sheet that the command was given: what was seen of it, and how to read it once that is confirmed."""

    path: Path
    seen: dict[str, Any]  # what `inspect` returns
    options: Mapping[str, Any]  # of `read_roster`
    number: int | None = None  # of groups
    attribute: str | None = None  # what to spread evenly


class Uploads:
    """The files of one server, in a folder that ends with it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Upload] = {}

    async def take(self, name: str, chunks: AsyncIterator[bytes]) -> Upload:
        """Take a file, as long as it is not too large; the name is shown and never opened."""
        shown = shown_name(name)
        suffix = Path(shown).suffix.lower()
        if suffix not in SUFFIXES:
            raise BoardError("file-kind", name=shown)
        while len(self._files) >= MAX_FILES:
            self.drop(next(iter(self._files)))
        key = secrets.token_hex(8)
        path = self._folder / f"{key}{suffix}"
        size = 0
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            async for chunk in chunks:
                size += len(chunk)
                if size > MAX_BYTES:
                    break
                stream.write(chunk)
        if size > MAX_BYTES:
            path.unlink()
            raise BoardError("file-size", name=shown, most=MAX_BYTES >> 20)
        return self._keep(Upload(key, shown, path))

    def borrow(self, path: Path, options: Mapping[str, Any]) -> Upload:
        """Take a file of the user as if it had been sent."""
        return self._keep(Upload(secrets.token_hex(8), shown_name(path.name), path, options, borrowed=True))

    def _keep(self, upload: Upload) -> Upload:
        self._files[upload.key] = upload
        return upload

    def get(self, key: Any) -> Upload:
        """Return a file by its key."""
        if not isinstance(key, str) or key not in self._files:
            raise BoardError("file-gone")
        return self._files[key]

    def drop(self, key: str) -> None:
        """Remove a file."""
        upload = self._files.pop(key, None)
        if upload is not None and not upload.borrowed:
            upload.path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove all files."""
        for key in list(self._files):
            self.drop(key)


def shown_name(name: str) -> str:
    r"""Return what to call a file: its last part, without what could mislead.

    >>> shown_name("../../etc/<b>class</b>.csv"), shown_name("C:\\x\\list.xlsx")
    ('b.csv', 'list.xlsx')
    """
    last = re.split(r"[/\\]", name)[-1]
    return _NAME.sub("", last).strip()[-100:] or "file"


def inspect(
    path: str, name: str, notify: Any, options: Mapping[str, Any] | None = None, language: str = "en"
) -> dict[str, Any]:
    """Return the first rows of a file, and what its columns are taken for; `options` are those of `read_roster`.

    They are ``kind`` ("people", "links" or "board"), ``rows``, ``columns`` with their guessed roles, and ``error`` with
    a sentence where the columns have to be payload.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        people, _ = _board(path, name)
        return {"kind": "board", "name": name, "people": people.n_people}
    if suffix not in _SHEETS:
        return {"kind": "links", "name": name, "rows": [], "columns": []}
    with _named((path, name), language=language):
        return _first_rows(path, name, options or {}, language)


def _first_rows(path: str, name: str, options: Mapping[str, Any], language: str) -> dict[str, Any]:
    sheet = read_sheet(path, encoding=options.get("encoding"), sheet=options.get("sheet"))
    found: dict[str, Any] = {"kind": "people", "name": name, "error": "", "header": 0}
    first = sheet.rows[0] if sheet.rows else []
    columns = [(place, header, "unused") for place, header in enumerate(first)]
    start = 0
    try:
        layout = make_layout(sheet, own_roles(sheet, options.get("columns")))
        start = layout.header
        people = read_people(sheet, layout)
        table = SheetTable(sheet, layout, tuple(enumerate(people.rows)))
        asked = {one.column.place for one in find_questions(table, people)}
        columns = [(one.place, one.header, "" if one.place in asked else one.role) for one in layout.columns]
    except RosterError as error:
        found |= refusal_facts(_unreadable(error, (path, name), language=language))
        found["kind"] = "links" if 2 <= len(first) <= 3 else "people"
    return found | {
        "header": start,
        "rows": [[cell[:_LETTERS] for cell in row[:_COLUMNS]] for row in sheet.rows[start : start + _ROWS]],
        "columns": [
            {
                "letter": letters(place),
                "header": header[:_LETTERS],
                "role": role,
                "cells": _some_cells(sheet, place, start + 1),
            }
            for place, header, role in columns[:_COLUMNS]
        ],
        "n_rows": len(sheet.rows) - start - 1,
    }


def _some_cells(sheet: Sheet, column: int, first: int) -> list[str]:
    """Return the first different cells of a column that are not blank."""
    texts = (sheet.cell(row, column)[:_LETTERS] for row in range(first, len(sheet.rows)))
    return list(itertools.islice(dict.fromkeys(text for text in texts if text), _CELLS))


@dataclass(frozen=True)
class ReadRequest:
    """A file that is to be read, and how."""

    path: str
    name: str
    kind: str = "people"  # or "links", or "board"
    options: Mapping[str, Any] = field(default_factory=dict)  # of `read_roster`
    people: tuple[str, str] | None = None  # path and name of the table of the people whose links these are
    attribute: str | None = None  # what to spread evenly; of links a column of that table
    language: str = "en"  # of what is said about it


def read(request: ReadRequest, notify: Any) -> tuple[BoardPeople, Step | None]:
    """Read a file that was sent."""
    if request.kind == "board":
        return _board(request.path, request.name)
    return _read_people(request), None


def _read_people(request: ReadRequest, *but: type[Exception]) -> BoardPeople:
    path, name, people, attribute = request.path, request.name, request.people, request.attribute
    files = [(path, name)] if people is None else [(path, name), people]
    with _named(*files, but=but, language=request.language):
        if request.kind == "people":
            return BoardPeople.of_roster(read_roster(path, **request.options), name)
        graph = read_graph(path) if people is None else read_graph(path, people[0], attribute)
        return BoardPeople.of_graph(graph, name)


def preview(request: ReadRequest, number: int | None, notify: Any) -> dict[str, Any]:
    """Return what is understood of a file before a board is made of it, or whom its unknown names may mean."""
    try:
        found = _read_people(request, UnknownNamesError)
    except UnknownNamesError as error:
        unknown = {
            one.text: {"text": one.text, "row": one.row + 1, "column": one.column.letter, "near": list(near)}
            for one, near in error.unknown
        }
        return {"unknown": list(unknown.values()), "understood": None, "number": None, "notes": []}
    notes = [note.texts() for note in found.notes if note.kind != "column"]
    step = first_step(found, number, request.attribute if found.directed else None)
    facts = understood(found, step.attributes)
    return {"unknown": [], "understood": facts, "number": step.n_clusters, "notes": notes}


def understood(people: BoardPeople, even: Sequence[str]) -> dict[str, Any]:
    """Return in numbers and headers what was understood of people; the words are those of the page."""
    if people.sheet is None:
        return {"people": people.n_people, "links": people.adjacency.nnz // 2}
    return numbers_understood(people.sheet, even)


def _board(path: str, name: str) -> tuple[BoardPeople, Step]:
    with _named((path, name)):
        return read_board(path)


@contextmanager
def _named(
    *files: tuple[str, str], but: tuple[type[Exception], ...] = (), language: str = "en"
) -> Iterator[None]:
    """Call files, given by path and name, in errors (but some) by the names they were sent under."""
    try:
        yield
    except but:
        raise
    except EquigraphError as error:
        raise _unreadable(error, *files, language=language) from None


def _unreadable(error: EquigraphError, *files: tuple[str, str], language: str) -> BoardError:
    """Return the refusal of the first file, which never says where files lie; of a sheet it is in every language."""

    def said(text: str) -> str:
        for path, name in files:
            text = text.replace(path, name).replace(Path(path).name, name)
            text = text.replace(Path(path).stem, Path(name).stem)
        return text

    if isinstance(error, SheetError):
        texts = {one: said(text) for one, text in error.note.texts().items()}
        return BoardError("sheet", reason=texts[language], texts=texts)
    return BoardError("unreadable", name=files[0][1], reason=said(one_line(error)))
