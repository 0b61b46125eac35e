"""Files that a page sends: kept under names of our own, looked at and read by another process, and removed."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equigraph.apps.explore.matter import Matter
from equigraph.apps.explore.persistence import read_board
from equigraph.apps.explore.steps import Step
from equigraph.exceptions import EquigraphError, InputError, RosterError

MAX_BYTES = 32 << 20
MAX_FILES = 8
_ROWS, _COLUMNS, _LETTERS = 6, 24, 60
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
            raise InputError(
                f"{shown} is of no known kind: expected a table (.xlsx, .ods, .csv), a graph (.graphml, .mtx, ...) "
                "or a saved board (.json)."
            )
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
            raise InputError(f"{shown} has more than {MAX_BYTES >> 20} MB: expected at most that.")
        upload = self._files[key] = Upload(key, shown, path)
        return upload

    def get(self, key: Any) -> Upload:
        """Return a file by its key."""
        if not isinstance(key, str) or key not in self._files:
            raise InputError("This file is not here any more: choose it again.")
        return self._files[key]

    def drop(self, key: str) -> None:
        """Remove a file."""
        upload = self._files.pop(key, None)
        if upload is not None:
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


def inspect(path: str, name: str, tell: Any) -> dict[str, Any]:
    """Return the first rows of a file, and what its columns are taken for.

    They are ``kind`` ("people", "links" or "board"), ``rows``, ``columns`` with their guessed roles, and ``error`` with
    a sentence where the columns have to be told.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        matter, _ = _board(path, name)
        return {"kind": "board", "name": name, "people": matter.n_people}
    if suffix not in _SHEETS:
        return {"kind": "links", "name": name, "rows": [], "columns": []}
    with _named(path, name):
        return _looked_at(path, name)


def _looked_at(path: str, name: str) -> dict[str, Any]:
    from equigraph.apps.classes.roster.columns import make_layout
    from equigraph.apps.classes.roster.people import read_people
    from equigraph.apps.classes.roster.questions import find_questions
    from equigraph.apps.classes.roster.read import read_sheet
    from equigraph.apps.classes.roster.sheet import letters

    sheet = read_sheet(path)
    found: dict[str, Any] = {"kind": "people", "name": name, "error": "", "header": 0}
    columns: list[dict[str, Any]] = []
    try:
        layout = make_layout(sheet)
        found["header"] = layout.header
        asked = {one.column.place for one in find_questions(sheet, layout, read_people(sheet, layout))}
        columns = [
            {
                "letter": one.letter,
                "header": one.header[:_LETTERS],
                "role": "" if one.place in asked else one.role,
            }
            for one in layout.columns
        ]
    except RosterError as error:
        found["error"] = _without_path(str(error), path, name)
        first = sheet.rows[0] if sheet.rows else []
        columns = [
            {"letter": letters(i), "header": cell[:_LETTERS], "role": "unused"}
            for i, cell in enumerate(first)
        ]
        found["kind"] = "links" if 2 <= len(first) <= 3 else "people"
    start = found["header"]
    rows = [[cell[:_LETTERS] for cell in row[:_COLUMNS]] for row in sheet.rows[start : start + _ROWS]]
    return found | {"rows": rows, "columns": columns[:_COLUMNS], "n_rows": len(sheet.rows) - start - 1}


def read(
    path: str,
    name: str,
    tell: Any,
    kind: str = "people",
    columns: Mapping[str, Any] | None = None,
    people: tuple[str, str] | None = None,
    attribute: str | None = None,
    accept_near: bool = False,
    names: Mapping[str, str | None] | None = None,
) -> tuple[Matter, Step | None]:
    """Read a file that was sent.

    It holds people, whose columns may be told as in `equigraph.read_roster`; links, with path and name of the table of
    their people; or a board.
    """
    if kind == "board":
        return _board(path, name)
    with _named(path, name), _named(*(people or (path, name))):
        if kind == "people":
            from equigraph.apps.classes.roster import read_roster

            roster = read_roster(path, columns=columns, accept_near=accept_near, names=names)
            return Matter.of_roster(roster, name), None
        return _links(path, name, people, attribute), None


def preview(
    path: str,
    name: str,
    tell: Any,
    number: int | None = None,
    kind: str = "people",
    columns: Mapping[str, Any] | None = None,
    people: tuple[str, str] | None = None,
    attribute: str | None = None,
    accept_near: bool = False,
    names: Mapping[str, str | None] | None = None,
) -> dict[str, Any]:
    """Return what is understood of a file before a board is made of it, or whom its unknown names may mean."""
    from equigraph.apps.classes.attributes import describe_roster
    from equigraph.apps.classes.roster import read_roster
    from equigraph.apps.classes.roster.wishes import UnknownNamesError
    from equigraph.apps.explore.steps import first_step

    if kind != "people":
        matter, _ = read(path, name, tell, kind, columns, people, attribute)
        said = f"{matter.n_people} people, {matter.adjacency.nnz // 2} links."
        return {"unknown": [], "said": said, "notes": list(matter.notes)}
    with _named(path, name):
        try:
            roster = read_roster(path, columns=columns, accept_near=accept_near, names=names)
        except UnknownNamesError as error:
            unknown = {
                one.text: {"text": one.text, "place": one.place, "near": list(near)}
                for one, near in error.unknown
            }
            return {"unknown": list(unknown.values()), "said": "", "notes": []}
        step = first_step(Matter.of_roster(roster, name), number)
        notes = [note for note in roster.notes if not note.startswith("Column ")]
        return {"unknown": [], "said": describe_roster(roster, step.attributes), "notes": notes}


def _links(path: str, name: str, people: tuple[str, str] | None, attribute: str | None) -> Matter:
    from equigraph.graph import read_graph

    origin = {"read": "graph", "file": name, "groups": people[1] if people else None, "attribute": attribute}
    graph = read_graph(path) if people is None else read_graph(path, people[0], attribute)
    return Matter.of_graph(graph, name, origin)


def _board(path: str, name: str) -> tuple[Matter, Step]:
    with _named(path, name):
        return read_board(path)


@contextmanager
def _named(path: str, name: str) -> Iterator[None]:
    """Call a file in errors by the name it was sent under, and never say where it lies."""
    try:
        yield
    except EquigraphError as error:
        raise InputError(_without_path(str(error), path, name)) from None


def _without_path(text: str, path: str, name: str) -> str:
    return text.replace(path, name).replace(Path(path).name, name).replace(Path(path).stem, Path(name).stem)
