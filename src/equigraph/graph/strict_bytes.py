"""The bytes of a text file on their way to pyarrow, with a look at what it takes and the csv module does not."""

from __future__ import annotations

import codecs
import csv
import io
from typing import IO

import numpy as np
from numpy.typing import NDArray

from equigraph.graph.delimited import COMMENTS, WHITESPACE

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
