"""Read the records of delimited text files and of spreadsheets, with their lines."""

from __future__ import annotations

import csv
import io
import itertools
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

from equigraph.exceptions import GraphError, ParameterError, reason
from equigraph.graph.limits import LONGEST_LINE, open_bytes

COMMENTS = ("#", "%")
WHITESPACE = " "
_SAMPLE = 50
_SEPARATOR = re.compile(r'"?sep=(.)"?[\r\n]*\Z')
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+\Z")


class Record(NamedTuple):
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
        """Return the location of a line, for messages."""
        return f"{self.path.name}, line {line}"

    def sample(self, count: int = _SAMPLE) -> list[Record]:
        """Return the first records; raise GraphError if there are none."""
        found = list(itertools.islice(self.records(), count))
        if not found:
            raise GraphError(f"{self.path.name} is empty: expected an edge list, a matrix or groups.")
        return found

    def records(self, *, empty: bool = False) -> Iterator[Record]:
        """Yield the records without comments, fields stripped; with `empty`, also empty records."""
        if self.delimiter == WHITESPACE:
            for number, line in read_lines(self.path):
                if not _is_comment(number, line):
                    fields = self._split_blank(line, number)
                    if fields or empty:
                        yield Record(number, fields)
            return
        within = commented = False

        def lines() -> Iterator[str]:
            """Yield the lines, with an empty one in place of each comment.

            A line that starts with # may also be inside a quoted field: it is if the csv reader asks for it before it
            has returned a record.
            """
            nonlocal within, commented
            for number, line in read_lines(self.path):
                commented = not within and _is_comment(number, line)
                within = True
                yield "\n" if commented else line

        reader = csv.reader(lines(), delimiter=self.delimiter, skipinitialspace=True, strict=True)
        try:
            for fields in reader:
                within = False
                if len(fields) > 1 or (fields and fields[0].strip()) or (empty and not commented):
                    kept = fields[: -self.n_empty] if self.n_empty else fields
                    yield Record(reader.line_num, [field.strip() for field in kept])
        except csv.Error as error:
            raise GraphError(f"{self.where(reader.line_num)}: {error}.") from error

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
    """The cells of a spreadsheet, with the interface of a text file."""

    rows: list[list[str]] = field(default_factory=list)

    def where(self, line: int) -> str:
        """Return the location of a row, for messages."""
        return f"{self.path.name}, row {line}"

    def records(self, *, empty: bool = False) -> Iterator[Record]:
        """Yield the rows that have a cell; with `empty`, all rows."""
        for number, row in enumerate(self.rows, start=1):
            if empty or any(row):
                yield Record(number, row)


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a plain or gzipped file in UTF-8 with their numbers; raise GraphError if it cannot be read.

    A line that is longer than any row of a graph is an error, and is not read to its end.
    """
    try:
        with open_text(path) as stream:
            lines = iter(partial(stream.readline, LONGEST_LINE + 1), "")
            for number, line in enumerate(lines, start=1):
                if len(line) > LONGEST_LINE:
                    raise GraphError(
                        f"{path.name}, line {number}: expected at most {LONGEST_LINE:,} characters in a line, got more."
                    )
                yield number, line
    except UnicodeDecodeError as error:
        raise GraphError(f"{path.name} is not UTF-8 text: {error.reason}; save it as UTF-8.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise GraphError(f"{path.name} cannot be read: {reason(error)}.") from error


def open_text(path: Path) -> io.TextIOWrapper:
    """Open a plain or gzipped file of text in UTF-8, with its line ends as they are."""
    return io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="")


def _is_comment(number: int, line: str) -> bool:
    """Return whether a line is a comment, or a first one that declares the separator."""
    return line.startswith(COMMENTS) or (number == 1 and declared_separator(line) is not None)


def open_text_file(path: Path, delimiter: str | None) -> TextFile:
    """Return the file with its separator, as given or as detected in the first lines."""
    if delimiter is None:
        delimiter = _sniff(path)
    elif delimiter in ("whitespace", "space", ""):
        delimiter = WHITESPACE
    elif len(delimiter) != 1:
        raise ParameterError(f"delimiter={delimiter!r}: expected one character, such as ',' or '\\t'.")
    file = TextFile(path, delimiter)
    return file if delimiter == WHITESPACE else TextFile(path, delimiter, _empty_fields(file))


def declared_separator(line: str) -> str | None:
    r"""Return the separator that a first line declares, as spreadsheet programs write it, or None.

    >>> declared_separator("sep=;\n"), declared_separator("sep=;x")
    (';', None)
    """
    match = _SEPARATOR.match(line)
    return None if match is None else match[1]


def _empty_fields(file: TextFile) -> int:
    """Return the number of fields at the end that are empty in every record; stop at the first record with none."""
    fewest = 0
    for number, record in enumerate(file.records()):
        filled = max((k + 1 for k, field in enumerate(record.fields) if field), default=0)
        empty = len(record.fields) - filled if filled else 0
        fewest = empty if number == 0 else min(fewest, empty)
        if fewest == 0:
            return 0
    return fewest


def _sniff(path: Path) -> str:
    """Return the separator that the first line declares, or guess it from the first lines.

    The guess is the one of tab, semicolon and comma that splits most lines, or else white space.
    """
    sample: list[str] = []
    for number, line in read_lines(path):
        declared = declared_separator(line) if number == 1 else None
        if declared is not None:
            return declared
        if line.strip() and not line.startswith(COMMENTS):
            sample.append(line)
        if len(sample) == _SAMPLE:
            break
    if not sample:
        raise GraphError(f"{path.name} is empty: expected an edge list, a matrix or groups.")
    unquoted = ["".join(line.strip().split('"')[::2]) for line in sample]
    n_split = {delimiter: sum(delimiter in line for line in unquoted) for delimiter in "\t;,"}
    best = max(n_split, key=n_split.__getitem__)
    most = n_split[best]
    if 2 * most >= len(sample):
        return best
    blanks = sum(len(line.split()) > 1 for line in sample)
    return WHITESPACE if blanks >= max(most, 1) else best if most else ","


def is_number(text: str) -> bool:
    """Return whether a field is a number in ASCII, without digits of other scripts or underscores."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def comma_hint(text: str) -> str:
    """Return a hint for messages if a text is a number with a decimal comma."""
    return " with a decimal point, not a decimal comma" if _DECIMAL_COMMA.match(text.strip()) else ""
