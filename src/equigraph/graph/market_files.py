"""Matrix Market files: the sizes in the header are weighed against the lines that can follow."""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, Any

from equigraph.exceptions import GraphError
from equigraph.graph.limits import LONGEST_LINE, check_nodes, open_bytes

# The shortest line of an entry: "1 1" of a pattern, "0" of an array, each with its new line.
_LEAST_COORDINATE, _LEAST_ARRAY = 4, 2


class _Ended(io.RawIOBase):
    """A stream with a new line at its end: scipy's reader walks past a last line without one."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__()
        self._stream = stream
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        data = self._stream.read(len(buffer))
        if not data and not self._ended:
            data, self._ended = b"\n", True
        buffer[: len(data)] = data
        return len(data)


def read_matrix_market(path: Path) -> Any:
    """Read a matrix with scipy, after a look at its header."""
    from scipy.io import mmread

    with open_bytes(path) as stream:
        if path.suffix.lower() == ".gz":
            unpacked = stream.read()
            _check_header(io.BytesIO(unpacked), len(unpacked), path)
            return mmread(io.BytesIO(unpacked + b"\n"))
        n_bytes = path.stat().st_size
        _check_header(stream, n_bytes, path)
        stream.seek(max(n_bytes - 1, 0))
        if stream.read() == b"\n":
            return mmread(path)
        stream.seek(0)
        return mmread(io.BufferedReader(_Ended(stream)))


def _check_header(stream: IO[bytes], n_bytes: int, path: Path) -> None:
    """Raise GraphError if the matrix has more nodes or entries than the file has room for."""
    words = stream.readline(1 << 10).decode("latin-1").lower().split()
    if len(words) < 5 or words[0] != "%%matrixmarket":
        raise GraphError(f"{path.name} has no header of Matrix Market: expected a first line '%%MatrixMarket matrix ...'.")
    line = b"%"
    while line.startswith(b"%") or (line and not line.strip()):
        line = stream.readline(LONGEST_LINE)
    sizes = line.decode("latin-1").split()
    coordinate = words[2] == "coordinate"
    if len(sizes) != (3 if coordinate else 2) or not all(size.isascii() and size.isdigit() for size in sizes):
        raise GraphError(
            f"{path.name} has the sizes {' '.join(sizes[:4])[:40]!r}: expected the number of rows, of columns and, where "
            "entries have coordinates, of entries."
        )
    n_rows, n_columns = int(sizes[0]), int(sizes[1])
    check_nodes(max(n_rows, n_columns), n_bytes, path.name)
    full = n_rows * n_columns if words[4] == "general" else n_rows * (n_rows - 1) // 2
    n_entries, least = (int(sizes[2]), _LEAST_COORDINATE) if coordinate else (full, _LEAST_ARRAY)
    if n_entries * least > n_bytes + 1:
        raise GraphError(
            f"{path.name} says that it has {n_entries:,} entries, and has {n_bytes:,} bytes: expected a line for each."
        )
