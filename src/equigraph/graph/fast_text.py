"""Large text files, read by pyarrow in batches; anything odd is left to the csv module."""

from __future__ import annotations

import codecs
import csv
import importlib.util
import io
import itertools
import zlib
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GraphError
from equigraph.graph.arrow_tables import TextCodes
from equigraph.graph.delimited import COMMENTS, WHITESPACE, SheetFile, TextFile, declared_separator
from equigraph.graph.limits import open_bytes
from equigraph.graph.names import INTEGER, names_from_text, text_array

# What the csv module takes for one field at most; longer lines are left to it.
LONGEST_FIELD = csv.field_size_limit()
_NEWLINE, _RETURN, _QUOTE = b'\n\r"'
# What the two readers part or leave out differently where white space is the separator.
_BLANKS = (b"  ", b" \n", b" \r", b"\n ", b'""', b"\t", b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e", b"\x1f")


class StrictBytes(io.RawIOBase):
    """A stream that reads ahead of pyarrow and notes whether the csv module would read the same records.

    pyarrow takes ``"ann"x`` for the field ``annx``, knows no comments, and decodes only the columns it is asked for. As
    soon as something of the kind is seen the stream ends, and `same` is false; the file is then for the csv module,
    which knows what to do or to say. With `all_columns` pyarrow looks into every field; `start` was read from the
    stream already, and belongs before the rest.
    """

    def __init__(self, stream: IO[bytes], delimiter: str, *, all_columns: bool, start: bytes = b"") -> None:
        super().__init__()
        self._stream, self._start = stream, start
        self._separator = ord(delimiter)
        self._parts_blanks = delimiter == WHITESPACE and not all_columns
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        # The last two bytes, whose neighbours are not both known yet; a file starts as if after a new line.
        self._tail = b"\n"
        self._line = 0  # bytes since the last new line
        self._after_newline = np.zeros(256, dtype=np.int64)
        self._in_quotes = False
        self._odd = False
        self._ended = False

    def readable(self) -> bool:
        """Return that this is a stream to read from."""
        return True

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes; none at the end, or where the csv module must decide."""
        if self._odd or self._ended:
            return b""
        data = self._next(size)
        if data:
            self._look(data)
        elif size != 0:
            self._ended = True
            end = b"" if self._tail.endswith(b"\n") else b"\n"
            self._look_at_neighbours(self._tail + end + b"\0")
        return b"" if self._odd else data

    def _next(self, size: int) -> bytes:
        if not self._start:
            return self._stream.read(size)
        end = len(self._start) if size < 0 else size
        data, self._start = self._start[:end], self._start[end:]
        return data if size >= 0 else data + self._stream.read()

    def same(self, n_rows: int) -> bool:
        """Return whether the csv module finds the same records, of which pyarrow found this many."""
        n_empty = self._after_newline[[_NEWLINE, _RETURN]].sum()
        one_line_each = n_rows == self._after_newline.sum() - n_empty
        return bool(self._ended and not self._odd and not self._in_quotes and one_line_each)

    def _look(self, data: bytes) -> None:
        if b"\0" in data:
            self._odd = True
        try:
            # Decoded only to be checked, and not at all where every byte is ASCII.
            if not data.isascii() or self._decoder.getstate()[0]:
                self._decoder.decode(data)
        except UnicodeDecodeError:
            self._odd = True
        block = self._tail + data
        if self._parts_blanks and (not data.isascii() or any(mark in block for mark in _BLANKS)):
            self._odd = True
        self._look_at_neighbours(block)
        self._tail = block[-2:]

    def _look_at_neighbours(self, block: bytes) -> None:
        """Look at what stands beside new lines, returns and quotes; the first and last byte only stand beside."""
        codes = np.frombuffer(block, dtype=np.uint8)
        ends = _places(codes, _NEWLINE)
        self._look_at_lengths(ends, codes.size)
        after = np.bincount(codes[ends + 1], minlength=256)
        self._after_newline += after
        if after[[ord(mark) for mark in COMMENTS]].any():
            self._odd = True
        if b"\r" in block and (codes[_places(codes, _RETURN) + 1] != _NEWLINE).any():
            self._odd = True  # a return alone ends a line for some readers and not for others
        if b'"' in block:
            at = _places(codes, _QUOTE)
            opening = np.isin(codes[at - 1], (self._separator, _NEWLINE))
            closing = np.isin(codes[at + 1], (self._separator, _NEWLINE, _RETURN))
            # By turns one opens a whole field and one closes it: then both readers see the same fields.
            due = (np.arange(at.size) + self._in_quotes) % 2 == 0
            if (opening != due).any() or (closing == due).any():
                self._odd = True
            self._in_quotes ^= at.size % 2 == 1

    def _look_at_lengths(self, ends: NDArray[np.intp], size: int) -> None:
        """Note a line that may hold a field longer than the csv module takes."""
        longest = self._line + (int(ends[0]) if ends.size else size)
        if ends.size > 1:
            longest = max(longest, int(np.diff(ends).max()))
        self._line = size - int(ends[-1]) if ends.size else longest
        if longest > LONGEST_FIELD:
            self._odd = True


def _places(codes: NDArray[np.uint8], byte: int) -> NDArray[np.intp]:
    return np.flatnonzero(codes[1:-1] == byte) + 1


# Smaller files do not repay the time to load pyarrow.
FAST_BYTES = 1_000_000
# How much larger the text of a packed file is, about.
_PACKED = 5
# Bytes of a batch. The texts of a small one fit the processor's caches while they are encoded.
BATCH = 1 << 20


class Columns(NamedTuple):
    """Columns of a text file."""

    codes: list[NDArray[np.int32]]  # for each column of texts, positions in `texts`
    texts: NDArray[Any]  # the distinct texts, as int64 if all are plain integers
    numbers: NDArray[np.float64] | None


def is_for_pyarrow(file: TextFile) -> bool:
    """Return whether a file is large enough for pyarrow, and pyarrow installed."""
    if isinstance(file, SheetFile):
        return False
    times = _PACKED if file.path.suffix.lower() == ".gz" else 1
    return times * file.path.stat().st_size > FAST_BYTES and importlib.util.find_spec("pyarrow") is not None


def read_columns(
    file: TextFile, *, header: int | None, width: int, texts: tuple[int, ...], number: int | None
) -> Columns | None:
    """Read columns of a file with pyarrow, or return None if the csv module might read anything else.

    Columns of `texts` are read as text, `number` as numbers; `header` is the line of the header.
    """
    import pyarrow as pa
    from pyarrow import csv

    if not file.delimiter.isascii() or file.delimiter in '"\r\n':
        return None
    names = [f"c{k}" for k in range(width + file.n_empty)]
    text = pa.dictionary(pa.int32(), pa.string())
    kinds = {names[k]: text for k in texts}
    if number is not None:
        kinds[names[number]] = pa.float64()
    codes, numbers, n_rows = TextCodes(len(texts)), [], 0
    try:
        with open_bytes(file.path) as stream:
            start = _first_record(stream, header)
            if start is None:
                return None
            checked = StrictBytes(stream, file.delimiter, all_columns=len(kinds) == len(names), start=start)
            reader = csv.open_csv(
                checked,
                read_options=csv.ReadOptions(column_names=names, block_size=BATCH),
                parse_options=csv.ParseOptions(delimiter=file.delimiter),
                convert_options=csv.ConvertOptions(
                    column_types=kinds, include_columns=list(kinds), null_values=[], strings_can_be_null=False
                ),
            )
            with reader:
                for batch in reader:
                    n_rows += batch.num_rows
                    codes.add([batch.column(k) for k in range(len(texts))])
                    if number is not None:
                        numbers.append(batch.column(len(texts)).to_numpy().copy())
    except (pa.ArrowException, GraphError, OSError, EOFError, zlib.error):
        return None
    if not n_rows or not checked.same(n_rows):
        return None
    encoded, distinct = codes.finish()
    cleaned = _cleaned(distinct, file.delimiter)
    if cleaned is None:
        return None
    values, place = cleaned
    if place is not None:
        encoded = [place[column] for column in encoded]
    return Columns(encoded, values, np.concatenate(numbers) if numbers else None)


def _first_record(stream: IO[bytes], header: int | None) -> bytes | None:
    """Return the first line of data: behind byte order mark, the line sep=, comments on top and the header."""
    marks = tuple(mark.encode() for mark in COMMENTS)
    for line in itertools.count(1):
        content = stream.readline(LONGEST_FIELD)
        if line == 1:
            content = content.removeprefix(codecs.BOM_UTF8)
        if b"\r" in content.removesuffix(b"\n").removesuffix(b"\r") or len(content) >= LONGEST_FIELD:
            return None  # lines that end in a return alone are counted otherwise
        skip = content.startswith(marks) or not content.strip()
        if line == 1 and declared_separator(content[:8].decode("utf-8", "ignore")) is not None:
            skip = True
        if not content or not (skip or (header is not None and line <= header)):
            # pyarrow drops a byte order mark before its first record, wherever that stands in the file.
            return None if content.startswith(codecs.BOM_UTF8) else content
    return None


def _cleaned(texts: Any, delimiter: str) -> tuple[NDArray[Any], NDArray[np.int32] | None] | None:
    """Return the texts without outer blanks and, where some then agree, the place of each among them.

    Returns None where a text holds white space that only the csv module takes for a separator.
    """
    import pyarrow as pa
    from pyarrow import compute

    if compute.all(compute.match_substring_regex(texts, f"^({INTEGER})$")).as_py():
        return texts.cast(pa.int64()).to_numpy(), None  # millions of integers never become Python objects
    objects = texts.to_numpy(zero_copy_only=False)
    if compute.all(compute.match_substring_regex(texts, "^[!-~]+$")).as_py():
        return text_array(objects.tolist()), None
    stripped = [text.strip() for text in objects]
    if delimiter == WHITESPACE and any(len(text.split()) != 1 for text in stripped):
        return None
    place: dict[str, int] = {}
    codes = [place.setdefault(text, len(place)) for text in stripped]
    changed = len(place) < len(codes)
    return names_from_text(list(place)), np.asarray(codes, dtype=np.int32) if changed else None
