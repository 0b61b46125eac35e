"""Sheets of spreadsheet programs: xlsx, xls and ods, by calamine.

An xlsx or ods file is an archive of XML, which is inspected before it is read. A small one may unpack to gigabytes, and
one cell at the far corner makes a reader reserve memory for all cells before it. The reader also returns blank cells
for formulas that failed or were never computed; those are detected here.
"""

from __future__ import annotations

import io
import json
import os
import posixpath
import re
import struct
import subprocess
import sys
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

from equigraph.apps.classes.messages import SheetError, note
from equigraph.apps.classes.roster.sheet import (
    MAX_BYTES,
    MAX_CELLS,
    MAX_UNPACKED,
    Block,
    Sheet,
    cell_text,
    check_bounds,
    letters,
)
from equigraph.exceptions import GraphError, ParameterError

READER = Path(__file__).with_name("reader_process.py")
_SECONDS = 60
ZIP = b"PK\x03\x04"
# Part of an encrypted workbook, which the reader reports as damaged.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MAX_PARTS = 5_000
_DAMAGE = (
    *(zipfile.BadZipFile, struct.error, zlib.error, ElementTree.ParseError),
    *(OSError, EOFError, ValueError, LookupError, RuntimeError),
)
_POSITION = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})\Z")


class Workbook:
    """A workbook, inspected first and then read in a separate process: its visible sheets, and the chosen one."""

    def __init__(self, raw: bytes, source: str, sheet: str | int | None = None) -> None:
        self.source = source
        self.unreadable: list[str] = []
        self.is_old = raw.startswith(OLE)
        if self.is_old and _ENCRYPTED in raw:
            raise SheetError.of("password", source=source)
        self._contents = inspect_archive(raw, source) if raw.startswith(ZIP) else {}
        answer = _run_reader(raw, source, sheet)
        self.names: list[str] = answer["names"]
        self.visible: list[str] = answer["visible"]
        self._sheets: dict[str, Any] = answer["sheets"]
        self.chosen: str | None = answer["chosen"]
        if sheet is not None and self.chosen is None:
            listed = ", ".join(map(repr, self.names[:8]))
            raise ParameterError(f"sheet={sheet!r} is not in {source}: it has {listed}.")

    def read(self, name: str) -> Sheet:
        """Return the cells of a sheet."""
        found, contents = self._sheets[name], self._contents.get(name, Contents())
        # A damaged file may swap the corners.
        merged = [
            Block(min(top, bottom), max(top, bottom), min(left, right), max(left, right))
            for (top, left), (bottom, right) in found["merged"]
            if (top, left) != (bottom, right)
        ]
        rows = [[cell_text(value) for value in row] for row in found["rows"]]
        notes = (note("old_workbook"),) if self.is_old else ()
        sheet = Sheet(self.source, rows, (*merged, *contents.merged), contents.broken, notes, title=name)
        return check_bounds(replace(sheet, is_one_of_several=len(self.names) > 1))

    def filled(self, must: bool = True) -> list[Sheet]:
        """Return the visible sheets that have cells; `unreadable` names those that cannot be read unless all must."""
        found = []
        for name in self.visible:
            try:
                found.append(self.read(name))
            except SheetError:
                if must:
                    raise
                self.unreadable.append(name)
        return [one for one in found if one.rows]


def _run_reader(raw: bytes, source: str, sheet: str | int | None) -> dict[str, Any]:
    """Return the output of the reader; raise SheetError if it returns none."""
    command = [sys.executable, "-P", str(READER), json.dumps(sheet)]
    # The process needs the same path to find the same package.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1"}
    options: dict[str, Any] = {"capture_output": True, "timeout": _SECONDS, "env": environment, "check": True}
    try:
        answer: dict[str, Any] = json.loads(subprocess.run(command, input=raw, **options).stdout)
    except (subprocess.SubprocessError, OSError, ValueError):
        answer = {"error": "damaged"}
    if "error" in answer:
        raise SheetError.of(answer["error"], source=source)
    return answer


def read_cells(path: Path) -> list[list[str]]:
    """Return the cells of the only nonempty sheet of a workbook, to read a graph from.

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


@dataclass
class Contents:
    """Facts about a sheet in the archive of a workbook."""

    width: int = 0
    # Cells without a value, as `Sheet.broken` has them.
    broken: dict[tuple[int, int], str] = field(default_factory=dict)
    merged: list[Block] = field(default_factory=list)  # only for ods, where the reader does not return them


class Part(NamedTuple):
    """A cell or some equal ones, or merged cells."""

    sheet: str
    block: Block
    error: str | None = None  # of a formula; "" if it was never computed
    is_merged: bool = False


def inspect_archive(raw: bytes, source: str) -> dict[str, Contents]:
    """Return facts about the sheets of a workbook; raise SheetError if it must not be opened."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            _check_size(archive, source)
            names = set(archive.namelist())
            if "xl/workbook.xml" in names:
                return _contents(_xlsx_parts(archive), source)
            if "content.xml" in names:
                manifest = "META-INF/manifest.xml"
                if manifest in names and b"encryption-data" in archive.read(manifest):
                    raise SheetError.of("password", source=source)
                return _contents(_ods_parts(archive), source)
    except SheetError:
        raise
    except _DAMAGE as error:
        raise SheetError.of("damaged", source=source, reason=str(error)) from error
    is_numbers = any(name.startswith("Index/") for name in names)
    kind = "numbers_document" if is_numbers else "no_known_sheet"
    raise SheetError.of("binary_workbook" if "xl/workbook.bin" in names else kind, source=source)


def _check_size(archive: zipfile.ZipFile, source: str) -> None:
    """Raise SheetError for passwords, and for parts that unpack to too much or more than declared."""
    parts = archive.infolist()
    if any(part.flag_bits & 1 for part in parts):
        raise SheetError.of("password", source=source)
    if sum(part.file_size for part in parts) > MAX_UNPACKED or len(parts) > _MAX_PARTS:
        raise SheetError.of("unpacks", source=source, most=MAX_UNPACKED // 2**20)
    known = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    # At most the declared size is unpacked, and the checksum is compared.
    if any(part.compress_type not in known for part in parts) or archive.testzip() is not None:
        raise zipfile.BadZipFile("a part cannot be unpacked")


def _contents(parts: Iterable[Part], source: str) -> dict[str, Contents]:
    """Return facts by sheet; raise SheetError for a cell far from the others."""
    contents: defaultdict[str, Contents] = defaultdict(Contents)
    for sheet, block, error, is_merged in parts:
        found = contents[sheet]
        if is_merged:
            found.merged.append(block)
            continue
        found.width = max(found.width, block.right + 1)
        if (block.bottom + 1) * found.width > MAX_CELLS:
            cell = f"{letters(found.width - 1)}{block.bottom + 1}"
            raise SheetError.of("far_corner", source=[source, sheet], cell=cell)
        if error is not None:
            found.broken[block.top, block.left] = error
    return contents


def _elements(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[bool, str, dict[str, str], Any]]:
    """Yield starts and ends of elements: whether it is the end, tag and attributes without namespaces, element."""
    content = archive.read(name)
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise ValueError(f"{name} declares a document type")
    for event, element in ElementTree.iterparse(io.BytesIO(content), events=("start", "end")):
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        yield event == "end", element.tag.rpartition("}")[2], attributes, element


def _xlsx_parts(archive: zipfile.ZipFile) -> Iterator[Part]:
    links = _elements(archive, "xl/_rels/workbook.xml.rels")
    targets = {found["Id"]: found["Target"] for _, tag, found, _ in links if tag == "Relationship"}
    book = _elements(archive, "xl/workbook.xml")
    files = {found["name"]: targets.get(found["id"], "") for _, tag, found, _ in book if tag == "sheet"}
    for sheet, target in files.items():
        path = posixpath.join("/xl", target)[1:]
        if path in archive.namelist():
            yield from _xlsx_cells(archive, sheet, path)


def _xlsx_cells(archive: zipfile.ZipFile, sheet: str, path: str) -> Iterator[Part]:
    row, column = -1, -1
    for is_end, tag, attributes, element in _elements(archive, path):
        if tag == "row" and not is_end:
            # Without a number of its own, a row or a cell follows the one before.
            row, column = int(attributes.get("r", row + 2)) - 1, -1
        elif tag == "c" and not is_end:
            row, column = _position(attributes.get("r"), row, column + 1)
        elif tag == "c":
            yield Part(sheet, Block(row, row, column, column), _formula_error(element))
        if is_end and tag in ("c", "row"):
            element.clear()


def _position(reference: str | None, row: int, column: int) -> tuple[int, int]:
    if reference is None:
        return row, column
    match = _POSITION.match(reference)
    if match is None:
        raise ValueError(f"a cell at {reference[:20]!r}")
    column = 0
    for letter in match[1]:
        column = 26 * column + ord(letter) - ord("A") + 1
    return int(match[2]) - 1, column - 1


def _formula_error(cell: ElementTree.Element) -> str | None:
    """Return the error of a formula of an xlsx sheet, "" if it was never computed, None if the cell has a value."""
    parts = {child.tag.rpartition("}")[2]: child.text for child in cell}
    if cell.get("t") == "e":
        return parts.get("v") or "#"
    return "" if "f" in parts and not parts.get("v") and cell.get("t") != "str" else None


def _ods_parts(archive: zipfile.ZipFile) -> Iterator[Part]:
    sheet, row, column, repeated = "", 0, 0, 1
    for is_end, tag, attributes, element in _elements(archive, "content.xml"):
        if tag == "table" and not is_end:
            sheet, row = attributes.get("name", ""), 0
        elif tag == "table-row" and not is_end:
            column, repeated = 0, int(attributes.get("number-rows-repeated", 1))
        elif tag == "table-row":
            row += repeated
            element.clear()
        elif tag in ("table-cell", "covered-table-cell") and is_end:
            counts = ("columns-repeated", "rows-spanned", "columns-spanned")
            n, down, right = (int(attributes.get(f"number-{one}", 1)) for one in counts)
            if len(element) or "formula" in attributes:
                block = Block(row, row + repeated - 1, column, column + n - 1)
                yield Part(sheet, block, _ods_formula_error(element, attributes))
            if down * right > 1:
                yield Part(sheet, Block(row, row + down - 1, column, column + right - 1), is_merged=True)
            column += n
            element.clear()


def _ods_formula_error(cell: ElementTree.Element, attributes: dict[str, str]) -> str | None:
    if "formula" not in attributes:
        return None
    shown = "".join(cell.itertext()).strip()
    if shown.startswith(("#", "Err:")):
        return shown
    return None if shown or attributes.get("value-type") else ""
