"""Read delimited text files: by the csv module with line numbers, and large ones by pyarrow.

pyarrow reads blocks of whole lines in which the csv module would find the same fields; other files are left to the csv
module.
"""

from __future__ import annotations

import codecs
import csv
import importlib.util
import io
import itertools
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GraphError, ParameterError, reason
from equigraph.graph.limits import LONGEST_LINE, open_bytes
from equigraph.graph.names import INTEGER, encode_batches, names_from_text, text_array

COMMENTS = ("#", "%")
WHITESPACE = " "
_SAMPLE = 50
_SEPARATOR = re.compile(r'"?sep=(.)"?[\r\n]*\Z')
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+\Z")
# Smaller files do not repay the time to load pyarrow.
FAST_BYTES = 1_000_000
# Typical ratio of the size of a text to its gzipped size.
_GZIP_RATIO = 5
# Bytes of a block, up to the end of a line. The texts of a small one fit the processor's caches while they are encoded.
BATCH = 1 << 20
# Bytes that pyarrow treats differently: NUL and comments, besides a byte order mark at the start of a block.
_ODD = (b"\0", *(f"\n{mark}".encode() for mark in COMMENTS))
# Bytes that the two readers split or skip differently if white space is the separator.
_BLANKS = (b"  ", b" \n", b" \r", b"\n ", b'"', b"\t", b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e", b"\x1f")


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
        while True:
            within = False
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise GraphError(f"{self.where(reader.line_num)}: {error}.") from error
            if len(fields) > 1 or (fields and fields[0].strip()) or (empty and not commented):
                kept = fields[: len(fields) - self.n_empty]
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
        with io.TextIOWrapper(open_bytes(path), encoding="utf-8-sig", newline="") as stream:
            for number in itertools.count(1):
                line = stream.readline(LONGEST_LINE + 1)
                if not line:
                    return
                if len(line) > LONGEST_LINE:
                    raise GraphError(
                        f"{path.name}, line {number}: expected at most {LONGEST_LINE:,} characters in a line, got more."
                    )
                yield number, line
    except UnicodeDecodeError as error:
        raise GraphError(f"{path.name} is not UTF-8 text: {error.reason}; save it as UTF-8.") from error
    except (OSError, EOFError, zlib.error) as error:
        raise GraphError(f"{path.name} cannot be read: {reason(error)}.") from error


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


def read_columns(
    file: TextFile, *, header: bool, width: int, texts: tuple[int, ...], number: int | None
) -> tuple[list[NDArray[np.int32]], NDArray[Any], NDArray[np.float64] | None] | None:
    """Read columns of a large file with pyarrow, or return None if the csv module might read it differently.

    Columns of `texts` are read as text and returned as codes into the distinct texts, which are int64 if all are plain
    integers; the column `number` is read as numbers.
    """
    times = _GZIP_RATIO if file.path.suffix.lower() == ".gz" else 1
    if isinstance(file, SheetFile) or times * file.path.stat().st_size <= FAST_BYTES:
        return None
    if (
        importlib.util.find_spec("pyarrow") is None
        or not file.delimiter.isascii()
        or file.delimiter in '"\r\n'
    ):
        return None
    import pyarrow as pa
    from pyarrow import csv

    names = [str(k) for k in range(width + file.n_empty)]
    types = {names[k]: pa.dictionary(pa.int32(), pa.string()) for k in texts}
    if number is not None:
        types[names[number]] = pa.float64()

    def batches() -> Iterator[list[Any]]:
        for block in _blocks(file, header):
            table = csv.read_csv(
                pa.BufferReader(block),
                read_options=csv.ReadOptions(column_names=names, use_threads=False, block_size=len(block)),
                parse_options=csv.ParseOptions(delimiter=file.delimiter),
                convert_options=csv.ConvertOptions(
                    column_types=types, include_columns=list(types), null_values=[], strings_can_be_null=False
                ),
            )
            yield from (batch.columns for batch in table.to_batches())

    try:
        encoded, distinct, numbers = encode_batches(batches(), len(texts))
    except (GraphError, pa.ArrowException, OSError, EOFError, zlib.error):
        return None
    if distinct is None:
        return None
    values, place = _cleaned(distinct)
    if place is not None:
        encoded = [place[column] for column in encoded]
    return encoded, values, numbers[0] if numbers else None


def _blocks(file: TextFile, header: bool) -> Iterator[bytes]:
    """Yield blocks of lines from the first record below the header; raise GraphError if one is not plain."""
    found = file.sample(2)
    with open_bytes(file.path) as stream:
        before = b"".join(stream.readline() for _ in range(found[-1 if header else 0].line - 1))
        if len(found) <= header or _has_lone_return(before):
            raise GraphError("no record, or lines that end in a return alone, which are counted otherwise")
        start = codecs.BOM_UTF8 if not before else b""
        while block := stream.read(BATCH):
            block = (block + stream.readline()).removeprefix(start)
            if not _is_plain(block, file.delimiter):
                raise GraphError("the csv module may read something else")
            yield block
            start = b""


def _has_lone_return(block: bytes) -> bool:
    """Return whether there is a return without a newline, which ends a line for some readers only."""
    return b"\r" in block and block.count(b"\r") > block.count(b"\r\n")


def _is_plain(block: bytes, delimiter: str) -> bool:
    """Return whether the csv module finds the same fields in whole lines as pyarrow.

    pyarrow takes ``"ann"x`` for the field ``annx``, knows no comments, and decodes only the columns it is asked for.
    """
    lines = b"\n" + block
    if block.startswith(codecs.BOM_UTF8) or _has_lone_return(block) or any(mark in lines for mark in _ODD):
        return False
    if delimiter == WHITESPACE and (not block.isascii() or any(mark in lines + b"\n" for mark in _BLANKS)):
        return False
    if b'"' in block:
        # Every quote opens or closes a whole field.
        beside = re.escape(delimiter.encode())
        whole = re.findall(rb'(?<=[%b\n])"[^"\n]*"(?=[%b\r\n]|\Z)' % (beside, beside), lines)
        if 2 * len(whole) < block.count(b'"'):
            return False
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    ends = np.flatnonzero(np.frombuffer(lines + b"\n", dtype=np.uint8) == ord("\n"))
    return bool(np.diff(ends).max() <= csv.field_size_limit())


def _cleaned(texts: Any) -> tuple[NDArray[Any], NDArray[np.int32] | None]:
    """Return the texts without outer blanks and, if that changed any, the new code of each."""
    import pyarrow as pa
    from pyarrow import compute

    if compute.all(compute.match_substring_regex(texts, f"^({INTEGER})$")).as_py():
        return texts.cast(pa.int64()).to_numpy(), None  # millions of integers never become Python objects
    listed = texts.to_pylist()
    stripped = [text.strip() for text in listed]
    if stripped == listed:
        return text_array(listed), None
    place: dict[str, int] = {}
    codes = [place.setdefault(text, len(place)) for text in stripped]
    return names_from_text(list(place)), np.asarray(codes, dtype=np.int32)
