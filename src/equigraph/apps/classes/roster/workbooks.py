"""Sheets of spreadsheet programs: xlsx, xls and ods, by calamine (extra ``sheets``)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from equigraph.apps.classes.messages import SheetError, note
from equigraph.apps.classes.roster import reader_process
from equigraph.apps.classes.roster.packages import Contents, look_into
from equigraph.apps.classes.roster.sheet import MAX_BYTES, Block, Sheet, cell_text, check_bounds
from equigraph.exceptions import GraphError, ParameterError

_SECONDS = 60
ZIP = b"PK\x03\x04"
# The name of the part that holds an encrypted workbook, which the reader takes for a damaged one.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def read_workbook(
    raw: bytes, source: str, sheet: str | int | None, choose: Callable[[list[Sheet]], Sheet | None]
) -> Sheet:
    """Return one sheet of a workbook, with the others: the one that is named, or the one with the people.

    It is given by its name, or its number from 1.
    """
    book = Workbook(raw, source, sheet)
    named = None if sheet is None else book.read(book.name_of(sheet))
    filled = book.filled(must=sheet is None)
    if not filled and named is None:
        raise SheetError.of("no_cells", source=source)
    found = named or (filled[0] if len(filled) == 1 else choose(filled))
    if found is None:
        raise SheetError.of("which_sheet", source=source, n=len(filled), names=book.visible[:8])
    return replace(found, others=tuple(one for one in filled if one.title != found.title))


class Workbook:
    """A workbook that was looked into before it was read, in a process of its own.

    Without a sheet, all that are not hidden are read.
    """

    def __init__(self, raw: bytes, source: str, sheet: str | int | None = None) -> None:
        self.source = source
        self.is_old = raw.startswith(OLE)
        if self.is_old and _ENCRYPTED in raw:
            raise SheetError.of("password", source=source)
        self._contents = look_into(raw, source) if raw.startswith(ZIP) else Contents()
        answer = _ask(raw, source, sheet)
        self.names: list[str] = answer["names"]
        self.visible: list[str] = answer["visible"]
        self._sheets: dict[str, Any] = answer["sheets"]

    def name_of(self, sheet: str | int) -> str:
        """Return the name of a sheet that is given by name, or by its number from 1."""
        if isinstance(sheet, int) and not isinstance(sheet, bool) and 1 <= sheet <= len(self.names):
            return self.names[sheet - 1]
        if sheet not in self.names:
            listed = ", ".join(repr(name) for name in self.names[:8])
            raise ParameterError(f"sheet={sheet!r} is not in {self.source}: it has {listed}.")
        return str(sheet)

    def read(self, name: str) -> Sheet:
        """Return the cells of a sheet."""
        found = self._sheets[name]
        # A damaged file may name the corners in another order.
        merged = tuple(
            Block(min(top, bottom), max(top, bottom), min(left, right), max(left, right))
            for (top, left), (bottom, right) in found["merged"]
            if (top, left) != (bottom, right)
        )
        merged += tuple(self._contents.merged.get(name, ()))
        rows = [[cell_text(value) for value in row] for row in found["rows"]]
        notes = (note("old_workbook"),) if self.is_old else ()
        broken = self._contents.broken.get(name, {})
        several = len(self.names) > 1
        sheet = Sheet(self.source, rows, merged, broken, notes, title=name, is_one_of_several=several)
        return check_bounds(sheet)

    def filled(self, must: bool = True) -> list[Sheet]:
        """Return the visible sheets that have cells; those that cannot be read are left out unless all must be."""
        found = []
        for name in self.visible:
            try:
                found.append(self.read(name))
            except SheetError:
                if must:
                    raise
        return [one for one in found if one.rows]


def _ask(raw: bytes, source: str, sheet: str | int | None) -> dict[str, Any]:
    """Return what the reader finds, or raise RosterError if it does not come back with anything."""
    command = [sys.executable, "-P", reader_process.__file__, json.dumps(sheet)]
    # It finds the package that was found here, whatever was added to the path since the start.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1"}
    try:
        done = subprocess.run(
            command, input=raw, capture_output=True, timeout=_SECONDS, env=environment, check=True
        )
        answer: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        raise SheetError.of("damaged", source=source, reason="") from error
    if answer.get("error") == "PasswordError":
        raise SheetError.of("password", source=source)
    if "error" in answer:
        raise SheetError.of("damaged", source=source, reason="")
    return answer


def read_cells(path: Path) -> list[list[str]]:
    """Return the cells of the only sheet of a workbook that has any, for who reads a graph.

    Sheets are bounded as those of people are; every row is as long as the longest.
    """
    source = path.name
    raw = path.read_bytes()
    if len(raw) > MAX_BYTES:
        raise GraphError(f"{source} has {len(raw) // 2**20} MB: save so large an edge list as .csv.")
    if not raw.startswith((ZIP, OLE)):
        raise GraphError(f"{source} is no spreadsheet: expected .xlsx, .xls or .ods.")
    try:
        book = Workbook(raw, source)
        filled = book.filled()
    except SheetError as error:
        raise GraphError(str(error)) from error
    if len(filled) != 1:
        has = f"has {len(filled)} sheets with cells" if filled else "has no cells"
        raise GraphError(f"{source} {has}: expected one sheet with an edge list.")
    sheet = filled[0]
    if sheet.broken:
        (row, column), _ = min(sheet.broken.items())
        raise GraphError(str(sheet.why_broken(row, column)))
    return [row + [""] * (sheet.width - len(row)) for row in sheet.rows]
