"""Limits on the number of nodes and the decompressed size of a file, relative to its actual size."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

from equigraph.exceptions import GraphError

# Any matrix may have this many nodes, and one more for every byte of its data.
FREE_NODES = 1_000_000
# A file may decompress to this many bytes, plus this many times its own size.
FREE_BYTES, TIMES = 1 << 26, 64
# A dense matrix is mostly zeros, which are dropped, so it may be larger.
FREE_DENSE = 1 << 28
# Rows of text become Python objects, some twenty times as large.
FREE_TEXT, TEXT_TIMES = 1 << 24, 32
# A table may have this many rows, plus this many for every byte: repeated rows compress well.
FREE_ROWS, ROWS_PER_BYTE = 1 << 22, 8
# Characters of a line: a row of a matrix of some million columns.
LONGEST_LINE = 1 << 24


def check_nodes(n_nodes: int, n_bytes: int, what: str) -> None:
    """Raise GraphError if a matrix has many more nodes than it has bytes: a damaged size, not a graph."""
    if n_nodes > FREE_NODES + n_bytes:
        raise GraphError(
            f"{what} has {n_nodes:,} nodes in {n_bytes:,} bytes: expected at most {FREE_NODES:,} nodes, and one "
            "more for every byte."
        )


def check_bytes(n_bytes: int, path: Path, *, free: int = FREE_BYTES) -> None:
    """Raise GraphError if the declared decompressed size is far larger than the file."""
    most = free + TIMES * path.stat().st_size
    if n_bytes > most:
        raise _too_large(path, most, f"{n_bytes:,}")


def check_rows(n_rows: int, path: Path) -> None:
    """Raise GraphError if a Parquet file declares many more rows than bytes."""
    most = FREE_ROWS + ROWS_PER_BYTE * path.stat().st_size
    if n_rows > most:
        raise GraphError(
            f"{path.name} has {n_rows:,} rows in {path.stat().st_size:,} bytes: expected at most {most:,}; read it "
            "with pyarrow first if it is really so, and give the table."
        )


def _too_large(path: Path, most: int, found: str) -> GraphError:
    return GraphError(
        f"{path.name} unpacks from {path.stat().st_size:,} bytes to {found}: expected at most {most:,}; unpack it "
        "before, or save the graph as a sparse matrix with scipy.sparse.save_npz."
    )


class Inflated(io.RawIOBase):
    """Stream of the decompressed bytes of a gzipped file; too many raise GraphError instead of exhausting memory."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path, self._most = path, FREE_TEXT + TEXT_TIMES * path.stat().st_size
        self._stream = gzip.open(path)  # noqa: SIM115 (closed with this one)
        self._done = 0

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read the next bytes."""
        n_bytes = self._stream.readinto(buffer)
        self._done += n_bytes
        if self._done > self._most:
            raise _too_large(self._path, self._most, "more")
        return n_bytes

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
        super().close()


def open_bytes(path: Path) -> io.BufferedReader:
    """Open a plain or gzipped file; the decompressed size is bounded."""
    if path.suffix.lower() == ".gz":
        return io.BufferedReader(Inflated(path), buffer_size=1 << 17)
    return path.open("rb")
