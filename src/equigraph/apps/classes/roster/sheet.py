"""Sheets of cells as text, positions of cells, and reading of text files with a guessed encoding."""

from __future__ import annotations

import codecs
import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from equigraph.apps.classes.messages import Note, SheetError, note, say
from equigraph.exceptions import ParameterError
from equigraph.graph.delimited import declared_separator

# Bounds on a sheet of people; larger ones are mistakes or attacks.
MAX_BYTES = 32 * 2**20
MAX_UNPACKED = 256 * 2**20
MAX_CELLS = 4_000_000
MAX_ROWS = 20_000
MAX_COLUMNS = 500
MAX_TEXT = 2_000

_BLANKS = re.compile(r"\s+")
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_SEPARATORS = (";", ",", "\t", "|")
_MARKUP = re.compile(r"\s*(<!doctype html|<html|<\?xml|<table|<meta)", re.IGNORECASE)
# UTF-8 that was read as cp1252 has one of these letters before each accented one.
_READ_TWICE = re.compile(
    "[ÂÃ][\u0080-\u00bf\u0152-\u0178\u2013-\u2122\u0192\u02c6\u02dc]|[ÄÅ][\u0080-\u00bf]"
)
# What cp1252 makes of the accented letters of the older Macintosh and DOS encodings, inside a word or at its end.
_MISREAD = re.compile("[^\\W\\d_][„”‡†‰ŽŸ€ƒ¤¢£¥¦§©®°±¶](?=[a-zß-ÿ])|[a-zß-ÿ][‡†‰ŽŸƒ¤¢¥¦§¶](?![^\\W\\d_])")
_SAMPLE = 50


@dataclass(frozen=True)
class Block:
    """Merged cells: first and last row, first and last column, counted from 0."""

    top: int
    bottom: int
    left: int
    right: int


@dataclass(frozen=True)
class Sheet:
    """Cells as text."""

    file: str
    rows: list[list[str]]  # the cells; the first row is row 1 of the sheet. Rows may differ in length
    merged: tuple[Block, ...] = ()
    # Cells without a value: the error of a failed formula, or "" if it was never computed.
    broken: Mapping[tuple[int, int], str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()  # guesses made while reading it
    # Whether it was a text file, in which a cell with the separator needs quotes.
    is_text: bool = False
    title: str = ""  # name of the sheet in its workbook
    is_one_of_several: bool = False  # whether its workbook has other sheets
    others: tuple[Sheet, ...] = ()  # the other sheets of the workbook that have cells
    hidden: tuple[str, ...] = ()  # names of the sheets of the workbook that are hidden
    is_further: bool = False  # whether it is joined to another sheet with the people

    @property
    def width(self) -> int:
        """Number of columns of the longest row."""
        return max(map(len, self.rows), default=0)

    def cell(self, row: int, column: int) -> str:
        """Return a cell, blank beyond the end of its row."""
        cells = self.rows[row]
        return cells[column] if column < len(cells) else ""

    @property
    def source(self) -> str | list[str]:
        """Name in messages: the file, and the sheet if there are several."""
        return [self.file, self.title] if self.is_one_of_several else self.file

    def at(self, row: int, column: int) -> dict[str, Any]:
        """Return the position of a cell, for messages."""
        sheet = self.title if self.is_further else ""
        return {"source": self.source, "sheet": sheet, "row": row + 1, "column": letters(column)}

    def where(self, row: int, column: int) -> str:
        """Return the position of a cell in words, numbered as in the sheet.

        >>> Sheet("class.xlsx", []).where(6, 2)
        'class.xlsx, row 7, column C'
        """
        return say("en", "where", at=self.at(row, column))

    def error(self, kind: str, row: int | None = None, column: int = 0, /, **values: Any) -> SheetError:
        """Return an error about the sheet or, with a row, about one of its cells."""
        where = {"source": self.source} if row is None else {"at": self.at(row, column)}
        return SheetError.of(kind, **where, **values)

    def why_broken(self, row: int, column: int) -> SheetError:
        """Return the error about a cell without a value."""
        error = self.broken[row, column]
        return self.error("formula_failed" if error else "formula_uncomputed", row, column, error=error)


def letters(column: int) -> str:
    """Return the letters of a column that is counted from 0.

    >>> letters(0), letters(25), letters(26), letters(16383)
    ('A', 'Z', 'AA', 'XFD')
    """
    text = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(ord("A") + rest) + text
    return text


def tidy(text: str) -> str:
    """Return a text in one line, without outer blanks and with composed accents."""
    return _BLANKS.sub(" ", unicodedata.normalize("NFC", text)).strip()


def cell_text(value: Any) -> str:
    """Return a spreadsheet value as displayed text: 5.0 is 5.

    >>> cell_text(5.0), cell_text(2.5), cell_text(True), cell_text("a")
    ('5', '2.5', 'TRUE', 'a')
    """
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return "" if value is None else str(value)


def check_bounds(sheet: Sheet) -> Sheet:
    """Return the sheet with its cells tidied; raise SheetError if it is too large."""
    kept = sheet.rows
    for row in kept:
        while row and not row[-1].strip():
            row.pop()
    while kept and not kept[-1]:
        kept.pop()
    if len(kept) > MAX_ROWS:
        raise sheet.error("too_many_rows", n=len(kept), most=MAX_ROWS)
    width = max(map(len, kept), default=0)
    if width > MAX_COLUMNS:
        raise sheet.error("too_many_columns", column=letters(width - 1), most=MAX_COLUMNS)
    return replace(sheet, rows=[_tidy_row(sheet, number, row) for number, row in enumerate(kept)])


def _tidy_row(sheet: Sheet, number: int, row: list[str]) -> list[str]:
    """Return the tidied cells of a row."""
    for column, text in enumerate(row):
        if len(text) > MAX_TEXT:
            raise sheet.error("cell_too_long", number, column, n=len(text), most=MAX_TEXT)
    # Line breaks separate names.
    return ["\n".join(filter(None, map(tidy, text.splitlines()))) for text in row]


def read_text_sheet(raw: bytes, source: str, encoding: str | None, suffix: str) -> Sheet:
    """Return the cells of a text file.

    The suffix may be that of another format; the encoding is guessed if not given.
    """
    text, notes = _decode(raw, source, encoding)
    _check_letters(text, source)
    if _MARKUP.match(text):
        raise SheetError.of("web_page", source=source)
    if "\0" in text:
        raise SheetError.of("no_text", source=source)
    if suffix in (".xlsx", ".xls", ".ods"):
        notes.append(note("text_file", suffix=suffix))
    first, _, rest = text.partition("\n")
    declared = declared_separator(first)
    if declared is not None:
        text = rest
    separator = declared or _separator(text)
    notes.append(note("separator", separator=separator, declared=declared is not None))
    rows = _rows(text, separator, source)
    return check_bounds(Sheet(source, rows, notes=tuple(notes), is_text=True))


def _decode(raw: bytes, source: str, encoding: str | None) -> tuple[str, list[Note]]:
    encoding = encoding or next((name for mark, name in _MARKS if raw.startswith(mark)), None)
    if encoding is not None:
        return _decode_as(raw, source, encoding), []
    try:
        text = raw.decode("utf-8")
        return text, [] if text.isascii() else [note("encoding_utf8")]
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
    if b"\0" in raw:
        raise SheetError.of("no_text", source=source)
    text = raw.decode("cp1252", errors="replace")
    sample = _MISREAD.search(text)
    if sample is not None or "\N{REPLACEMENT CHARACTER}" in text:
        word = _word(text, sample) if sample else ""
        raise SheetError.of("not_utf8", source=source, line=line, word=word)
    return text, [note("encoding_western", line=line)]


def _decode_as(raw: bytes, source: str, encoding: str) -> str:
    try:
        # Plain utf-8 would keep the byte order mark as a letter.
        text = raw.decode("utf-8-sig" if codecs.lookup(encoding).name == "utf-8" else encoding)
    except (LookupError, TypeError) as error:
        raise ParameterError(
            f"encoding={encoding!r} is unknown: expected one such as 'utf-8' or 'cp1252'."
        ) from error
    except UnicodeError as error:
        line = raw.count(b"\n", 0, getattr(error, "start", 0)) + 1
        raise SheetError.of("not_encoded", source=source, line=line, encoding=encoding) from error
    return text


def _word(text: str, match: re.Match[str]) -> str:
    # Of a long text only the end is searched: the search begins anew at every letter.
    before = re.search(r"\w*\Z", text[max(match.start() - 20, 0) : match.start()])
    after = re.match(r"\w*", text[match.end() :])
    return f"{before[0] if before else ''}{match[0]}{after[0] if after else ''}"[:40]


def _check_letters(text: str, source: str) -> None:
    """Raise SheetError for replacement characters, or letters that indicate a wrong encoding."""
    lost, twice = text.find("\N{REPLACEMENT CHARACTER}"), _READ_TWICE.search(text)
    if lost >= 0:
        raise SheetError.of("letters_lost", source=source, line=text.count("\n", 0, lost) + 1)
    if twice:
        line = text.count("\n", 0, twice.start()) + 1
        raise SheetError.of("read_twice", source=source, line=line, word=_word(text, twice))


def _separator(text: str) -> str:
    """Return the separator that splits the most lines into the same number of cells; ties go to more cells."""
    lines = [line for line in text.splitlines()[: 2 * _SAMPLE] if line.strip()][:_SAMPLE]

    def score(separator: str) -> tuple[int, int]:
        counts = Counter("".join(line.split('"')[::2]).count(separator) for line in lines)
        return max(((n, cells) for cells, n in counts.items() if cells), default=(0, 0))

    return max(_SEPARATORS, key=score)


def _rows(text: str, separator: str, source: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows: list[list[str]] = []
    try:
        rows.extend(islice(reader, 4 * MAX_ROWS))
    except csv.Error as error:
        raise SheetError.of("no_cells_in_row", source=source, row=len(rows) + 1, reason=str(error)) from error
    return rows
