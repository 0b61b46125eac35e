"""Square matrices in text files, with or without names in the first row and the first column."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.graph.delimited import Record, TextFile, comma_hint, is_number
from equigraph.graph.graph import Graph
from equigraph.graph.names import check_unique, names_from_text
from equigraph.graph.tables import end_columns, may_be_matrix
from equigraph.graph.validate import canonical_adjacency


@dataclass(frozen=True)
class MatrixLayout:
    """Size of a matrix in a text file, and where its names are."""

    n_nodes: int
    header: bool
    first_column: bool


def matrix_layout(file: TextFile, header: bool | None) -> MatrixLayout | None:
    """Return how the file holds a square matrix, or None if its shape is not that of one."""
    heads: list[list[str]] = []
    height = 0
    for height, record in enumerate(file.records(), start=1):
        if height <= 2:
            heads.append(record.fields)
        elif height > len(heads[1]) + 1:
            return None  # too long to be square: no need to read on
    if not heads:
        return None
    top, width = len(heads[0]), len(heads[-1])
    if header is None:
        header = _has_names(heads[0], height, top, width)
    n = height - 1 if header else height
    if width not in (n, n + 1) or n == 0 or (not header and top != width):
        return None
    return MatrixLayout(n, header, first_column=width == n + 1)


def _has_names(first: list[str], height: int, top: int, width: int) -> bool:
    if height == top + 1 or width == top + 1:
        return True
    return height == top and (not first[0] or any(not is_number(field) for field in first[1:]))


def is_matrix_file(file: TextFile, header: bool | None) -> bool:
    """Return whether a file is a matrix rather than an edge list: square, and more than three columns.

    Three columns that are as much like a matrix as like weighted edges are an error.
    """
    first = file.sample(5)
    if max(len(record.fields) for record in first[:2]) <= 3:
        _check_edges(file, first)
        return False
    return end_columns(first[0].fields) is None and matrix_layout(file, header) is not None


def _check_edges(file: TextFile, sample: list[Record]) -> None:
    """Raise GraphError if lines may be a matrix: of three nodes, or of two with their names before them."""
    rows = [record.fields for record in sample]
    if len(rows) not in (2, 3) or any(len(fields) != 3 for fields in rows):
        return
    fields = [fields[-len(rows) :] for fields in rows]
    if not all(is_number(field) for row in fields for field in row):
        return
    numbers = np.asarray(fields, dtype=float)
    # Two edges 1-0 and 2-1 of equal weight are like a name and a symmetric matrix, but for its diagonal.
    if may_be_matrix(numbers) and (len(rows) == 3 or not numbers.diagonal().any()):
        raise GraphError(
            f"{file.path.name} may hold a matrix of {len(rows)} nodes or {len(rows)} weighted edges: say "
            f"format='matrix' or format='edges'."
        )


def read_matrix(
    file: TextFile, *, header: bool | None, symmetrize: str | None, dtype: DTypeLike | None
) -> Graph:
    """Read a square matrix, row by row, so that no dense matrix is ever held."""
    layout = matrix_layout(file, header)
    if layout is None:
        raise GraphError(
            f"{file.path.name} is not a square matrix: expected as many rows as columns, with names in the "
            "first row, in the first column, in both or in none."
        )
    n, skip = layout.n_nodes, int(layout.first_column)
    top: list[str] = []
    side: list[str] = []
    columns: list[NDArray[np.intp]] = []
    values: list[NDArray[np.float64]] = []
    for record in file.records():
        if layout.header and not top:
            top = record.fields[-n:]
            continue
        if len(record.fields) != n + skip:
            raise GraphError(
                f"{file.where(record.line)}: expected {n + skip} fields, got {len(record.fields)}."
            )
        side.append(record.fields[0])
        row = _numbers(file, record, skip)
        columns.append(np.flatnonzero(row))
        values.append(row[columns[-1]])
    counts = [column.size for column in columns]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    matrix = sparse.csr_array((np.concatenate(values), np.concatenate(columns), indptr), shape=(n, n))
    names = _names(file, top, side, layout)
    adjacency = canonical_adjacency(matrix, symmetrize=symmetrize, dtype=dtype, names=names)
    return Graph._trusted(adjacency, names)


def _numbers(file: TextFile, record: Record, skip: int) -> NDArray[np.float64]:
    try:
        values = np.asarray([float(field) for field in record.fields[skip:]])
        plain = all(field.isascii() and "_" not in field for field in record.fields[skip:])
    except ValueError:
        plain = False
    if not plain:
        place, text = next((k, x) for k, x in enumerate(record.fields) if k >= skip and not is_number(x))
        raise GraphError(
            f"{file.where(record.line)}: field {place + 1} is {text!r}, expected a number{comma_hint(text)}."
        )
    return values


def _names(file: TextFile, top: list[str], side: list[str], layout: MatrixLayout) -> NDArray[np.generic]:
    if layout.header and layout.first_column and top != side:
        k = next(k for k in range(layout.n_nodes) if top[k] != side[k])
        raise GraphError(
            f"{file.path.name}: row {k + 1} is called {side[k]!r} and column {k + 1} {top[k]!r}; expected "
            "the same names in the same order."
        )
    if not layout.header and not layout.first_column:
        return np.arange(layout.n_nodes, dtype=np.int64)
    names = names_from_text(top or side)
    check_unique(names, file.path.name)
    return names
