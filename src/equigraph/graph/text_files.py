"""Read edge lists and square matrices from text files."""

from __future__ import annotations

import ast
import re
import warnings
import zlib
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.graph.delimited import (
    COMMENTS,
    WHITESPACE,
    Record,
    TextFile,
    comma_hint,
    is_number,
    open_text,
    read_lines,
)
from equigraph.graph.edges import EdgeRows, Ends, Weight, encode_rows, graph_from_rows
from equigraph.graph.graph import Graph
from equigraph.graph.names import check_unique, names_from_text, object_array
from equigraph.graph.tables import are_words, edge_columns, end_columns, may_be_matrix
from equigraph.graph.validate import canonical_adjacency

# A line of networkx: two nodes and what their edge holds.
_ATTRIBUTED = re.compile(r"(\S+)\s+(\S+)\s+(\{.*\})\s*\Z")


class EdgeLayout(NamedTuple):
    """Columns of an edge list, and the line of its header."""

    width: int  # number of fields of every record
    ends: tuple[int, int]  # columns of the source and the target
    weight: int | None
    header: int | None  # line of the header, if there is one


def read_edges(
    file: TextFile, *, header: bool | None, weight: Weight, ends: Ends | None, **options: Any
) -> Graph:
    """Read an edge list; without `header` it is detected whether the first record names the columns."""
    layout = edge_layout(file, header, weight, ends)
    rows = plain_rows(file, layout) or layout_rows(file, layout)
    if header is None and ends is None:  # columns given by the user are not in doubt
        _check_first_line(file, layout, rows)
    return graph_from_rows(rows, **options)


def read_attributed(path: Path, *, weight: Weight, **options: Any) -> Graph | None:
    """Read lines of two nodes and a dict, as ``networkx.write_edgelist`` writes them; None for other lines.

    As for a networkx graph, an edge without the weight attribute has the weight 1 if others have one.
    """
    key = "weight" if weight is None or weight is True else weight
    place: dict[str, int] = {}
    ends = array("i")
    weights: list[Any] = []
    lines: list[int] = []
    for number, line in read_lines(path):
        if line.startswith(COMMENTS) or not line.strip():
            continue
        match = _ATTRIBUTED.match(line)
        if match is None:
            if lines:
                raise GraphError(f"{path.name}, line {number}: expected two nodes and a dict as before.")
            return None
        try:
            data = ast.literal_eval(match[3])
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise GraphError(f"{path.name}, line {number}: {match[3]!r} is no dict of values.") from error
        ends.extend(place.setdefault(name, len(place)) for name in match.groups()[:2])
        weights.append(data.get(key) if isinstance(data, dict) else None)
        lines.append(number)
    if not lines:
        return None
    weighted = weight is not False and any(value is not None for value in weights)
    if isinstance(weight, str) and not weighted:
        raise GraphError(f"{path.name}: no edge has an attribute {weight!r}: expected the name of a weight.")
    filled = object_array(1 if value is None else value for value in weights) if weighted else None
    return graph_from_rows(_rows_of_lines(TextFile(path, WHITESPACE), place, ends, filled, lines), **options)


def _rows_of_lines(
    file: TextFile,
    place: dict[str, int],
    ends: array[int],
    weights: NDArray[Any] | None,
    lines: Sequence[int],
) -> EdgeRows:
    """Return edge rows from the positions of both ends of every line, one line after another."""
    source, target = np.frombuffer(ends, dtype=np.intc).reshape(-1, 2).T
    names = names_from_text(list(place))
    return EdgeRows(source, target, weights, names, lambda row: file.where(lines[row]))


def _check_first_line(file: TextFile, layout: EdgeLayout, rows: EdgeRows) -> None:
    """Raise GraphError if the first line may be either an edge or a header.

    Taken for an edge, it may be a header if it is two words that occur nowhere else, above ids that are words too.
    Taken for a header, it may be an edge if its words are ids as well.
    """
    if rows.source.size < 2 or rows.names.dtype.kind == "i":
        return
    first, doubt = file.sample(1)[0], ""
    pair = tuple(first.fields[end] for end in layout.ends)
    if layout.header is None:
        ends = [rows.source[0], rows.target[0]]
        occurrences = np.count_nonzero(np.isin(rows.source, ends)) + np.count_nonzero(
            np.isin(rows.target, ends)
        )
        if occurrences == 2 and ends[0] != ends[1] and not any(map(is_number, first.fields)):
            doubt = "may be a header"
    elif layout.weight is None or is_number(first.fields[layout.weight]):  # no edge has the weight "weight"
        letters = all(len(end) == 1 for end in pair) and any(len(name) == 1 for name in rows.names.tolist())
        if letters or np.isin(rows.names, pair).any():
            doubt = "may be an edge, since there are nodes of such names"
    if doubt:
        raise GraphError(
            f"{file.where(first.line)}: {pair} {doubt}: say with the option header whether it is a header."
        )


def edge_layout(
    file: TextFile, header: bool | None, weight: Weight, end_names: Ends | None = None
) -> EdgeLayout:
    """Detect the header and the columns."""
    sample = file.sample()
    first = sample[0]
    width = len(first.fields)
    if header is None:
        by_name = end_names is not None and any(isinstance(name, str) for name in (*end_names, weight))
        header = by_name or looks_like_header(sample)
    columns: list[Any] = first.fields if header else list(range(width))
    below = [record.fields for record in (sample[1:] if header else sample)]

    def is_text(column: int) -> bool:
        return are_words(fields[column] for fields in below if column < len(fields))

    most = 3 if weight is None else width
    found = edge_columns(columns, weight, end_names, is_text, where=file.path.name, most=most)
    if found is None:
        raise GraphError(
            f"{file.where(first.line)}: expected 2 or 3 fields, got {width} (separator "
            f"{file.delimiter!r}; delimiter sets another, and format='matrix' reads a square "
            "matrix)."
        )
    return EdgeLayout(width, *found, first.line if header else None)


def looks_like_header(sample: list[Record]) -> bool:
    """Return whether the first record names columns: known names, or words above numbers only."""
    first, rest = sample[0].fields, [record.fields for record in sample[1:]]
    if end_columns(first) is not None:
        return True
    if not rest or any(is_number(field) for field in first):
        return False
    below = [[fields[k] for fields in rest if k < len(fields)] for k in range(len(first))]
    numeric = [bool(column) and all(is_number(field) for field in column) for column in below]
    # A third column of numbers below a word, or both ids numbers below words.
    return (len(first) == 3 and numeric[2]) or (len(first) >= 2 and numeric[0] and numeric[1])


def layout_rows(file: TextFile, layout: EdgeLayout) -> EdgeRows:
    """Read every record, and name the line of the first that is wrong."""
    place: dict[str, int] = {}
    ends, weights, lines = array("i"), array("d"), array("q")  # a few bytes for each row, also of millions
    a, b = layout.ends

    def fault(words: str) -> GraphError:
        return GraphError(f"{file.where(record.line)}: {words}")

    for record in file.records():
        if record.line == layout.header:
            continue
        fields = record.fields
        if len(fields) != layout.width:
            bare = layout.header is None and len(fields) not in (2, 3) and layout.width in (2, 3)
            expected = "2 or 3 fields" if bare else f"{layout.width} fields as before"
            raise fault(f"expected {expected}, got {len(fields)}.")
        if not fields[a] or not fields[b]:
            end = "source" if not fields[a] else "target"
            raise fault(f"the {end} is missing, expected the name of a node.")
        if "\0" in fields[a] or "\0" in fields[b]:
            raise fault("a name holds a NUL character, expected text.")
        if layout.weight is not None:
            text = fields[layout.weight]
            if not is_number(text):
                raise fault(
                    f"the weight is {text!r}, expected a nonnegative number{comma_hint(text)} "
                    "(weight=False, on the command line none, ignores the weights)."
                )
            weights.append(float(text))
        ends.append(place.setdefault(fields[a], len(place)))
        ends.append(place.setdefault(fields[b], len(place)))
        lines.append(record.line)
    if not lines:
        raise GraphError(f"{file.path.name} holds no edge: expected lines with source, target and weight.")
    return _rows_of_lines(file, place, ends, None if layout.weight is None else np.asarray(weights), lines)


# Characters of a plain file that are read at a time; a field of the csv reader may be twice as long.
_BLOCK = 1 << 16
# An integer that is at least k of these has k + 1 digits; float64 holds all of up to 15.
_POWERS = 10 ** np.arange(1, 15)


def plain_rows(file: TextFile, layout: EdgeLayout) -> EdgeRows | None:
    """Return what `layout_rows` returns, sooner, if there are only numbers below the header; None otherwise.

    Numbers are digits, with a dot in weights, and every id is as long as its number is written: 007 is none.
    """
    if file.delimiter not in ",;\t |":
        return None
    delimiter, start = file.delimiter.encode(), file.sample(1)[0].line + (layout.header is not None)
    separators = delimiter * (layout.width - 1) + b"\n"
    columns = [*layout.ends] if layout.weight is None else [*layout.ends, layout.weight]
    parts: list[NDArray[Any]] = []
    try:
        with open_text(file.path) as stream, warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy warns where it stops before the end of a text
            for _ in range(start - 1):
                stream.readline()
            while block := stream.read(_BLOCK):
                text = (block + stream.readline(_BLOCK)).encode().replace(b"\r\n", b"\n")
                if not text.endswith(b"\n"):
                    text += stream.read(1).encode() or b"\n"
                if text.translate(None, b"0123456789.") != separators * text.count(b"\n"):
                    return None
                text = text.replace(b"\n", b",").replace(delimiter, b",")
                dtype = np.int64 if layout.weight is None else np.float64
                part = np.fromstring(text, dtype=dtype, sep=",").reshape(-1, layout.width)
                at = np.flatnonzero(np.frombuffer(text, dtype=np.uint8) == ord(","))
                length = np.diff(at, prepend=-1).reshape(part.shape) - 1
                digits = 1 + np.searchsorted(_POWERS, part[:, layout.ends], side="right")
                if (length[:, layout.ends] != digits).any():
                    return None
                parts.append(part[:, columns])
    except (GraphError, OSError, EOFError, ValueError, Warning, zlib.error):
        return None  # the strict reader says what is wrong
    if not parts:
        return None
    numbers = np.concatenate(parts)
    parts.clear()
    source, target = numbers[:, :2].astype(np.int64, copy=False).T
    weights = None if layout.weight is None else numbers[:, 2].copy()
    return encode_rows(source, target, weights, lambda row: file.where(start + row))


class MatrixLayout(NamedTuple):
    """Size of a matrix in a text file, and where its names are."""

    n_nodes: int
    header: bool
    first_column: bool


def matrix_layout(file: TextFile, header: bool | None) -> MatrixLayout | None:
    """Return the layout of a square matrix in a file, or None if the file does not have the shape of one."""
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

    Three columns that may be a matrix or weighted edges are an error.
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
    # Two edges 1-0 and 2-1 of equal weight look like a name and a symmetric matrix, except for its diagonal.
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
        for place, text in enumerate(record.fields[skip:], start=skip + 1):
            if not is_number(text):
                raise GraphError(
                    f"{file.where(record.line)}: field {place} is {text!r}, expected a number{comma_hint(text)}."
                )
        row = np.array([float(text) for text in record.fields[skip:]])
        columns.append(np.flatnonzero(row))
        values.append(row[columns[-1]])
    counts = [column.size for column in columns]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    matrix = sparse.csr_array((np.concatenate(values), np.concatenate(columns), indptr), shape=(n, n))
    names = _names(file, top, side, layout)
    adjacency = canonical_adjacency(matrix, symmetrize=symmetrize, dtype=dtype, names=names)
    return Graph._trusted(adjacency, names)


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
