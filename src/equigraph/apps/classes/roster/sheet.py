"""A sheet of cells as text, whatever file it came from, and where a cell is."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from equigraph.apps.classes.messages import Note, SheetError, say

# A sheet of people is small; what is larger is a mistake or meant to do harm.
MAX_BYTES = 32 * 2**20
MAX_UNPACKED = 256 * 2**20
MAX_CELLS = 4_000_000
MAX_ROWS = 20_000
MAX_COLUMNS = 500
MAX_TEXT = 2_000

_T = TypeVar("_T")
_BLANKS = re.compile(r"\s+")


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
    # Cells that show no value: the error of a formula that failed, or "" where it was never computed.
    broken: Mapping[tuple[int, int], str] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()  # what was guessed to read it
    # Whether it was a text file, in which a cell cannot hold its own separator without quotes.
    is_text: bool = False
    title: str = ""  # name of the sheet in its workbook
    is_one_of_several: bool = False  # whether its workbook has other sheets
    others: tuple[Sheet, ...] = ()  # the other sheets of the workbook that have cells
    hidden: tuple[str, ...] = ()  # names of the sheets of the workbook that are hidden
    is_further: bool = False  # whether people are read from another sheet, and this one is joined to it

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
        """What messages call it: the file, and the sheet if there are several."""
        return [self.file, self.title] if self.is_one_of_several else self.file

    def at(self, row: int, column: int) -> dict[str, Any]:
        """Return where a cell is, for messages."""
        sheet = self.title if self.is_further else ""
        return {"source": self.source, "sheet": sheet, "row": row + 1, "column": letters(column)}

    def where(self, row: int, column: int) -> str:
        """Say where a cell is, as the sheet itself counts.

        >>> Sheet("class.xlsx", []).where(6, 2)
        'class.xlsx, row 7, column C'
        """
        return say("en", "where", at=self.at(row, column))

    def why_broken(self, row: int, column: int) -> SheetError:
        """Return the error about a cell that shows no value."""
        error = self.broken[row, column]
        kind = "formula_failed" if error else "formula_uncomputed"
        return SheetError.of(kind, at=self.at(row, column), error=error)


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
    """Return the text of a value of a spreadsheet: 5.0 is 5, as it is shown.

    >>> cell_text(5.0), cell_text(True), cell_text(datetime.date(2016, 2, 3)), cell_text("a")
    ('5', 'TRUE', '2016-02-03', 'a')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    return "" if value is None else str(value)


def check_bounds(sheet: Sheet) -> Sheet:
    """Return the sheet with its cells tidied, or raise SheetError if it is too large to be one of people."""
    kept = [_without_end(row, lambda text: not text.strip()) for row in sheet.rows]
    kept = _without_end(kept, lambda row: not row)
    if len(kept) > MAX_ROWS:
        raise SheetError.of("too_many_rows", source=sheet.source, n=len(kept), most=MAX_ROWS)
    width = max(map(len, kept), default=0)
    if width > MAX_COLUMNS:
        last = letters(width - 1)
        raise SheetError.of("too_many_columns", source=sheet.source, column=last, most=MAX_COLUMNS)
    return replace(sheet, rows=[_tidy_row(sheet, number, row) for number, row in enumerate(kept)])


def _without_end(values: list[_T], is_blank: Callable[[_T], bool]) -> list[_T]:
    """Return a list without what is blank at its end."""
    end = len(values)
    while end and is_blank(values[end - 1]):
        end -= 1
    return values[:end]


def _tidy_row(sheet: Sheet, number: int, row: list[str]) -> list[str]:
    """Return the tidied cells of a row."""
    for column, text in enumerate(row):
        if len(text) > MAX_TEXT:
            raise SheetError.of("cell_too_long", at=sheet.at(number, column), n=len(text), most=MAX_TEXT)
    # Lines part the names of a list.
    return ["\n".join(filter(None, map(tidy, text.splitlines()))) for text in row]
