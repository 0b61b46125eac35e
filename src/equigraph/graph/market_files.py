"""Matrix Market files, read in parts; sizes in the header make no array before the entries are there.

Not scipy's reader, which takes ``3x`` for 3 and ``1d5`` for 1, and ignores further words of a line.
"""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.graph.delimited import has_lone_return, parse_block
from equigraph.graph.limits import check_nodes, open_bytes

FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric")
# Bytes that are parsed at once, up to the end of a line.
_PART = 1 << 22
_LONGEST_LINE = 1 << 16
_WORTH_PYARROW = 1 << 17
_NUMERIC = b"0123456789+-.eE \t\r\n"


class Header(NamedTuple):
    """What the head of a file says."""

    # Whether every line is an entry with its row and column, rather than all entries of the matrix in order.
    coordinates: bool
    pattern: bool  # whether entries have no weights
    symmetry: str  # whether only one triangle is there
    sizes: list[int]  # rows, columns and, where entries have coordinates, entries
    line: int  # line of the sizes

    @property
    def width(self) -> int:
        """Numbers in a line."""
        return (2 if self.pattern else 3) if self.coordinates else 1


def read_matrix_market(path: Path) -> sparse.coo_array | NDArray[np.float64]:
    """Read a Matrix Market file, both triangles of the matrix; the indices of its entries are not checked yet."""
    with open_bytes(path) as stream:
        header = _header(stream, path)
        parts = list(_numbers(stream, header, path))
    n_rows, n_columns = header.sizes[:2]
    check_nodes(max(n_rows, n_columns), path.stat().st_size, path.name)
    numbers = np.concatenate([np.empty((0, header.width)), *parts])
    expected = header.sizes[2] if header.coordinates else _stored(header)
    if len(numbers) != expected:
        raise GraphError(
            f"{path.name} has {len(numbers):,} entries: expected {expected:,}, as its header says."
        )
    return (
        _from_entries(numbers, header, path) if header.coordinates else _from_columns(numbers[:, 0], header)
    )


def _header(stream: IO[bytes], path: Path) -> Header:
    words = stream.readline(_LONGEST_LINE).decode("latin-1").lower().split()
    if (
        len(words) != 5
        or words[:2] != ["%%matrixmarket", "matrix"]
        or words[2] not in ("coordinate", "array")
    ):
        raise GraphError(
            f"{path.name}, line 1: expected '%%MatrixMarket matrix coordinate' or 'array', a field and a symmetry."
        )
    if words[3] == "complex":
        raise GraphError("Complex data not supported: the weights of a graph are real numbers.")
    coordinates = words[2] == "coordinate"
    if words[3] not in FIELDS or words[4] not in SYMMETRIES or (words[3] == "pattern" and not coordinates):
        raise GraphError(
            f"{path.name}, line 1: expected a field among {', '.join(FIELDS)} and a symmetry among "
            f"{', '.join(SYMMETRIES)}."
        )
    number, line = 1, b"%"
    while line.startswith(b"%") or (line and not line.strip()):
        line, number = stream.readline(_LONGEST_LINE), number + 1
    sizes = line.split()
    if len(sizes) != (3 if coordinates else 2) or not all(
        size.isdigit() and len(size) < 19 for size in sizes
    ):
        raise GraphError(
            f"{path.name}, line {number}: expected the number of rows, of columns and, where entries have coordinates, "
            "of entries."
        )
    return Header(coordinates, words[3] == "pattern", words[4], [int(size) for size in sizes], number)


def _numbers(stream: IO[bytes], header: Header, path: Path) -> Iterator[NDArray[np.float64]]:
    """Yield the numbers of the lines, a row for each."""
    before = header.line
    while part := stream.read(_PART):
        part += stream.readline(_LONGEST_LINE)
        found = _parsed(part, header.width)
        if found is None:
            lines = enumerate(io.BytesIO(part), start=before + 1)
            wrong = next(number for number, line in lines if _parsed(line, header.width) is None)
            raise GraphError(f"{path.name}, line {wrong}: expected {header.width} numbers in a line.")
        before += part.count(b"\n")
        yield found


def _parsed(part: bytes, width: int) -> NDArray[np.float64] | None:
    """Return the numbers of whole lines, or None if one holds anything else."""
    if part.translate(None, _NUMERIC) or has_lone_return(part):
        return None
    if len(part) > _WORTH_PYARROW and importlib.util.find_spec("pyarrow") is not None:
        # Lines in the plainest form are read ten times as fast.
        with suppress(GraphError):
            batches = parse_block(part, " ", width, (), range(width))
            return np.concatenate([np.column_stack(columns) for columns in batches])
    lines = [words for line in part.split(b"\n") if (words := line.split())]
    if any(len(words) != width for words in lines):
        return None
    try:
        return np.array(lines, dtype=np.float64).reshape(-1, width)
    except ValueError:
        return None


def _stored(header: Header) -> int:
    """Return how many entries of an array are there; of a symmetric one only a triangle."""
    n_rows, n_columns = header.sizes[:2]
    if header.symmetry == "general":
        return n_rows * n_columns
    return n_rows * (n_rows + (1 if header.symmetry == "symmetric" else -1)) // 2


def _from_entries(numbers: NDArray[np.float64], header: Header, path: Path) -> sparse.coo_array:
    ends = numbers[:, :2]
    inside = ((ends == np.trunc(ends)) & (ends >= 1) & (ends <= header.sizes[:2])).all(axis=1)
    if not inside.all():
        entry = int(np.argmin(inside))
        raise GraphError(
            f"{path.name}, entry {entry + 1}: row {ends[entry, 0]:g} and column {ends[entry, 1]:g} are not in the "
            f"matrix, expected numbers from 1 to {header.sizes[0]}."
        )
    rows, columns = ends.T.astype(np.int64) - 1
    weights = np.ones(len(numbers)) if header.pattern else numbers[:, 2]
    if header.symmetry != "general":
        other = rows != columns
        mirrored = weights[other] if header.symmetry == "symmetric" else -weights[other]
        rows, columns = np.concatenate([rows, columns[other]]), np.concatenate([columns, rows[other]])
        weights = np.concatenate([weights, mirrored])
    return sparse.coo_array((weights, (rows, columns)), shape=tuple(header.sizes[:2]))


def _from_columns(values: NDArray[np.float64], header: Header) -> Any:
    """Return the array whose columns, or their parts below the diagonal, follow one another."""
    n_rows, n_columns = header.sizes[:2]
    if header.symmetry == "general":
        return values.reshape(n_columns, n_rows).T
    result = np.zeros((n_rows, n_rows))
    columns, rows = np.triu_indices(n_rows, k=0 if header.symmetry == "symmetric" else 1)
    result[columns, rows] = values if header.symmetry == "symmetric" else -values
    result[rows, columns] = values
    return result
