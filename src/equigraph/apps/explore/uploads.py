"""Uploaded files: stored under random keys, read by another process, and removed."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from equigraph._utils.text import one_line
from equigraph.apps.classes.attributes import understood
from equigraph.apps.classes.messages import SheetError
from equigraph.apps.classes.roster import read_roster
from equigraph.apps.classes.roster.columns import make_table
from equigraph.apps.classes.roster.people import read_people
from equigraph.apps.classes.roster.read import own_roles, read_sheet
from equigraph.apps.classes.roster.sheet import letters
from equigraph.apps.classes.roster.wishes import UnknownNamesError, find_questions
from equigraph.apps.explore.errors import BoardError, refusal_facts
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.persistence import read_board
from equigraph.apps.explore.steps import Step, first_step
from equigraph.exceptions import EquigraphError, RosterError
from equigraph.graph import read_graph
from equigraph.graph.read import SUFFIXES

MAX_BYTES = 32 << 20
MAX_FILES = 8
_ROWS, _COLUMNS, _CELLS, _LETTERS = 6, 24, 3, 60
_SHEETS = (".xlsx", ".xls", ".ods", ".csv", ".tsv", ".txt")
_NAME = re.compile(r"[^\w .()+-]")


@dataclass(frozen=True)
class Upload:
    """A file to read, with its options."""

    path: str
    name: str  # name to show
    options: Mapping[str, Any] = field(default_factory=dict)  # of `read_roster`
    kind: str = "people"  # or "links", or "board"
    people: Upload | None = None  # the table of the people of the links
    attribute: str | None = None  # attribute to spread evenly; for links a column of that table
    language: str = "en"  # of messages about it


@dataclass(frozen=True)
class OfferedSheet:
    """A sheet given to the command, to be confirmed on the page."""

    upload: Upload
    seen: dict[str, Any]  # the result of `inspect`
    number: int | None = None  # of groups


class Uploads:
    """Uploaded files of a server by key, in a temporary folder; a file given to the command is read in place."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, Upload] = {}

    async def take(self, name: str, chunks: AsyncIterator[bytes]) -> str:
        """Store a file, unless it is too large, and return its key; its name is shown but never used as a path."""
        shown = shown_name(name)
        suffix = Path(shown).suffix.lower()
        if suffix not in (*SUFFIXES, ".json"):
            raise BoardError("file-kind", name=shown)
        while len(self._files) >= MAX_FILES:
            self.drop(next(iter(self._files)))
        path = self._folder / f"{secrets.token_hex(8)}{suffix}"
        key = self.keep(Upload(str(path), shown))
        size = 0
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            async for chunk in chunks:
                size += len(chunk)
                if size > MAX_BYTES:
                    self.drop(key)
                    raise BoardError("file-size", name=shown, most=MAX_BYTES >> 20)
                stream.write(chunk)
        return key

    def keep(self, upload: Upload) -> str:
        """Register a file, and return its key."""
        key = secrets.token_hex(8)
        self._files[key] = upload
        return key

    def get(self, key: Any) -> Upload:
        """Return a file by its key."""
        if not isinstance(key, str) or key not in self._files:
            raise BoardError("file-gone")
        return self._files[key]

    def drop(self, key: str) -> None:
        """Remove a file."""
        path = Path(self._files.pop(key).path)
        if path.parent == self._folder:
            path.unlink(missing_ok=True)

    def clear(self) -> None:
        """Remove all files."""
        for key in list(self._files):
            self.drop(key)


def shown_name(name: str) -> str:
    r"""Return the name to show for a file: its last part, without misleading characters.

    >>> shown_name("../../etc/<b>class</b>.csv"), shown_name("C:\\x\\list.xlsx")
    ('b.csv', 'list.xlsx')
    """
    last = re.split(r"[/\\]", name)[-1]
    return _NAME.sub("", last).strip()[-100:] or "file"


def inspect(upload: Upload, notify: Any = None) -> dict[str, Any]:
    """Return the first rows of a file, and the guessed roles of its columns.

    The entries are ``kind`` ("people", "links" or "board"), ``rows``, ``columns`` with their guessed roles, and
    ``error`` with a sentence if the columns have to be given.
    """
    suffix = Path(upload.path).suffix.lower()
    with _named(upload):
        if suffix == ".json":
            people, _ = read_board(upload.path)
            return {"kind": "board", "name": upload.name, "people": people.n_people}
        if suffix not in _SHEETS:
            return {"kind": "links", "name": upload.name, "rows": [], "columns": []}
        return _first_rows(upload)


def _first_rows(upload: Upload) -> dict[str, Any]:
    options = upload.options
    sheet = read_sheet(upload.path, encoding=options.get("encoding"), sheet=options.get("sheet"))
    found: dict[str, Any] = {"kind": "people", "name": upload.name, "error": ""}
    first = sheet.rows[0] if sheet.rows else []
    columns = [(place, header, "unused") for place, header in enumerate(first)]
    table, unclear, start = None, set(), 0
    try:
        table = make_table(sheet, own_roles(sheet, options.get("columns")))
        start, columns = table.header, [(one.place, one.header, str(one.role)) for one in table.columns]
        people = read_people(table)
        asked = find_questions(replace(table, rows=tuple(enumerate(people.rows))), people)
        unclear = {column.place for column, _ in asked}
    except RosterError as error:
        found |= refusal_facts(_unreadable(error, upload))
        found["kind"] = "links" if table is None and 2 <= len(first) <= 3 else "people"
    shown = []
    for place, header, role in columns[:_COLUMNS]:
        texts = (sheet.cell(row, place)[:_LETTERS] for row in range(start + 1, len(sheet.rows)))
        cells = list(dict.fromkeys(filter(None, texts)))[:_CELLS]
        role = "" if place in unclear else role
        shown.append({"letter": letters(place), "header": header[:_LETTERS], "role": role, "cells": cells})
    rows = [[cell[:_LETTERS] for cell in row[:_COLUMNS]] for row in sheet.rows[start : start + _ROWS]]
    return found | {"rows": rows, "columns": shown}


def read(upload: Upload, notify: Any = None) -> tuple[BoardPeople, Step | None]:
    """Read the people of a file, and the state of a saved board."""
    path, people = upload.path, upload.people
    with _named(upload):
        if upload.kind == "board":
            return read_board(path)
        if upload.kind == "people":
            return BoardPeople.of_roster(read_roster(path, **upload.options), upload.name), None
        graph = read_graph(path) if people is None else read_graph(path, people.path, upload.attribute)
        return BoardPeople.of_graph(graph, upload.name), None


def preview(upload: Upload, number: int | None, notify: Any = None) -> dict[str, Any]:
    """Return how a file is read before a board is made of it, or suggestions for its unknown names."""
    try:
        found, _ = read(upload)
    except BoardError as refused:
        if not isinstance(error := refused.__cause__, UnknownNamesError):
            raise
        unknown = {}
        for one, near in error.unknown:
            place = {"row": one.row + 1, "column": one.column.letter}
            unknown[one.text] = {"text": one.text, **place, "near": list(near)}
        asked = {"unknown": list(unknown.values()), "people": list(error.people)}
        return {**asked, "understood": None, "number": None, "notes": []}
    notes = [note.texts() for note in found.sheet.notes if note.kind != "column"]
    step = first_step(found, number, upload.attribute if found.directed else None)
    facts = {"people": found.n_people, "links": found.adjacency.nnz // 2}
    if found.directed:
        facts = understood(found.sheet, step.attributes)
    return {"unknown": [], "people": [], "understood": facts, "number": step.n_clusters, "notes": notes}


@contextmanager
def _named(upload: Upload) -> Iterator[None]:
    """Replace paths in errors by the names of the uploads."""
    try:
        yield
    except EquigraphError as error:
        raise _unreadable(error, upload) from error


def _unreadable(error: EquigraphError, upload: Upload) -> BoardError:
    """Return an error about a file without server paths; about a sheet, in every language."""

    def said(text: str) -> str:
        for file in filter(None, (upload, upload.people)):
            path, name = Path(file.path), file.name
            text = text.replace(file.path, name).replace(path.name, name)
            text = text.replace(path.stem, Path(name).stem)
        return text

    if isinstance(error, SheetError):
        texts = {one: said(text) for one, text in error.note.texts().items()}
        return BoardError("sheet", reason=texts[upload.language], texts=texts)
    return BoardError("unreadable", name=upload.name, reason=said(one_line(error)))
