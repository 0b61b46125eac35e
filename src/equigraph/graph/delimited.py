"""Text files with one record per line: separators, comments, headers, and line numbers for the messages."""

from __future__ import annotations

import csv
import io
import itertools
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from equigraph.exceptions import GraphError, ParameterError, reason
from equigraph.graph.limits import LONGEST_LINE, open_bytes

COMMENTS = ("#", "%")
WHITESPACE = " "
_SAMPLE = 50
_SEPARATOR = re.compile(r'"?sep=(.)"?[\r\n]*\Z')
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+\Z")


@dataclass(frozen=True)
class Record:
    """Fields of one record, and the number of the line it ends on."""

    line: int
    fields: list[str]


@dataclass(frozen=True)
class TextFile:
    """A delimited text file whose separator is known."""

    path: Path  # the file, plain or with the suffix .gz
    delimiter: str  # the separator; a space stands for any white space
    n_empty: int = 0  # fields at the end of the records that are empty in all of them; they are left out

    def where(self, line: int) -> str:
        """Return in words where a line is."""
        return f"{self.path.name}, line {line}"

    def records(self, *, empty: bool = False) -> Iterator[Record]:
        """Yield every record that is no comment, its fields without outer blanks; empty ones if asked for."""
        with open_text(self.path) as stream:
            yield from self._records(stream, empty)

    def sample(self, count: int = _SAMPLE) -> list[Record]:
        """Return the first records, of which there must be one."""
        found = list(itertools.islice(self.records(), count))
        if not found:
            raise GraphError(f"{self.path.name} is empty: expected an edge list, a matrix or groups.")
        return found

    def _records(self, stream: IO[str], empty: bool) -> Iterator[Record]:
        lines = _Lines(stream, self)
        if self.delimiter == WHITESPACE:
            for line in lines:
                fields = self._split_blank(line, lines.number)
                if fields or (empty and not lines.commented):
                    yield Record(lines.number, fields)
            return
        reader = csv.reader(lines, delimiter=self.delimiter, skipinitialspace=True, strict=True)
        while True:
            lines.within = False
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise GraphError(f"{self.where(reader.line_num)}: {error}.") from error
            if len(fields) > 1 or (fields and fields[0].strip()) or (empty and not lines.commented):
                kept = fields[: len(fields) - self.n_empty] if self.n_empty else fields
                yield Record(reader.line_num, [field.strip() for field in kept])

    def _split_blank(self, line: str, number: int) -> list[str]:
        if '"' not in line:
            return line.split()
        # Only quoted names may hold blanks; each further blank between fields makes an empty field.
        try:
            parts = next(csv.reader([line.replace("\t", " ")], delimiter=" "))
        except csv.Error as error:
            raise GraphError(f"{self.where(number)}: {error}.") from error
        return [part.strip() for part in parts if part.strip()]


@dataclass(frozen=True)
class SheetFile(TextFile):
    """The cells of a spreadsheet, read in the way of a text file."""

    rows: list[list[str]] = field(default_factory=list)

    def where(self, line: int) -> str:
        """Return in words where a row is."""
        return f"{self.path.name}, row {line}"

    def records(self, *, empty: bool = False) -> Iterator[Record]:
        """Yield every row that has a cell, and every other one if asked for."""
        for number, row in enumerate(self.rows, start=1):
            if empty or any(row):
                yield Record(number, row)


class _Lines:
    """Lines of a text file, with an empty one in place of each comment.

    A line that starts with # may also be the inside of a quoted field; it is one where the csv reader asks for more
    before it has returned a record.
    """

    def __init__(self, stream: IO[str], file: TextFile) -> None:
        self._stream, self._file = stream, file
        self.number, self.within, self.commented = 0, False, False

    def __iter__(self) -> Iterator[str]:
        while line := read_line(self._stream, self._file.path, self.number + 1):
            self.number += 1
            declares = self.number == 1 and declared_separator(line) is not None
            self.commented = not self.within and (declares or line.startswith(COMMENTS))
            self.within = self._file.delimiter != WHITESPACE
            yield "\n" if self.commented else line


def read_line(stream: IO[str], path: Path, number: int) -> str:
    """Return the next line; one that is longer than any row of a graph is an error, before it is read to its end."""
    line = stream.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise GraphError(
            f"{path.name}, line {number}: expected at most {LONGEST_LINE:,} characters in a line, got more."
        )
    return line


def open_text_file(path: Path, delimiter: str | None) -> TextFile:
    """Return the file with its separator, as given or as the first lines show it."""
    if delimiter is None:
        delimiter = _told(path) or _sniff(path)
    elif delimiter in ("whitespace", "space", ""):
        delimiter = WHITESPACE
    elif len(delimiter) != 1:
        raise ParameterError(f"delimiter={delimiter!r}: expected one character, such as ',' or '\\t'.")
    file = TextFile(path, delimiter)
    return file if delimiter == WHITESPACE else TextFile(path, delimiter, _empty_fields(file))


def declared_separator(line: str) -> str | None:
    r"""Return the separator that a first line tells, as spreadsheet programs write it, or None.

    >>> declared_separator("sep=;\n"), declared_separator("sep=;x")
    (';', None)
    """
    match = _SEPARATOR.match(line)
    return None if match is None else match[1]


def _told(path: Path) -> str | None:
    with open_text(path) as stream:
        return declared_separator(read_line(stream, path, 1))


def _empty_fields(file: TextFile) -> int:
    """Return how many fields at the end are empty in every record; all are read only if the first end so."""
    fewest = 0
    for number, record in enumerate(file.records()):
        filled = max((k + 1 for k, field in enumerate(record.fields) if field), default=0)
        empty = len(record.fields) - filled if filled else 0
        fewest = empty if number == 0 else min(fewest, empty)
        if fewest == 0:
            return 0
    return fewest


@contextmanager
def open_text(path: Path) -> Iterator[IO[str]]:
    """Open a plain or gzipped text file as UTF-8, and say so in one sentence if it is not."""
    try:
        with io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="") as stream:
            yield stream
    except UnicodeDecodeError as error:
        raise GraphError(f"{path.name} is not UTF-8 text: {error.reason}; save it as UTF-8.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise GraphError(f"{path.name} cannot be read: {reason(error)}.") from error


def _sniff(path: Path) -> str:
    """Guess the separator: the first of tab, semicolon and comma that parts most lines, else white space."""
    with open_text(path) as stream:
        lines = (read_line(stream, path, number) for number in itertools.count(1))
        found = itertools.takewhile(bool, lines)
        sample = list(
            itertools.islice((x for x in found if x.strip() and not x.startswith(COMMENTS)), _SAMPLE)
        )
    if not sample:
        raise GraphError(f"{path.name} is empty: expected an edge list, a matrix or groups.")
    best, most = "", 0
    for delimiter in "\t;,":
        parted = sum(
            delimiter in "".join(line.strip().split('"')[::2]) for line in sample
        )  # outside of quotes
        if parted > most:
            best, most = delimiter, parted
    if 2 * most >= len(sample):
        return best
    blanks = sum(len(line.split()) > 1 for line in sample)
    return WHITESPACE if blanks >= max(most, 1) else best or ","


def is_number(text: str) -> bool:
    """Return whether a field is a number, as files write it: digits of other scripts, or parted by _, are none."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def comma_hint(text: str) -> str:
    """Return what to add to a message if a text is a number with a decimal comma."""
    return " with a decimal point, not a decimal comma" if _DECIMAL_COMMA.match(text.strip()) else ""
