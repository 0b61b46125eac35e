"""Edge lists in text files: a reader with exact line numbers, and a fast one for large files."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from equigraph.exceptions import GraphError
from equigraph.graph.delimited import (
    COMMENTS,
    Record,
    TextFile,
    comma_hint,
    is_number,
    read_columns,
    read_lines,
)
from equigraph.graph.edges import EdgeRows, graph_from_rows
from equigraph.graph.graph import Graph
from equigraph.graph.names import names_from_text, object_array
from equigraph.graph.tables import Ends, are_words, end_columns, named_ends, weight_column

# A line of networkx: two nodes and what their edge holds.
_ATTRIBUTED = re.compile(r"(\S+)\s+(\S+)\s+(\{.*\})\s*\Z")
_SAY_HEADER = "say header=True or header=False"


@dataclass(frozen=True)
class EdgeLayout:
    """Which columns of an edge list are what."""

    width: int  # number of fields of every record
    ends: tuple[int, int]  # columns of the source and the target
    weight: int | None
    header: int | None  # line of the header, if there is one


def read_edges(
    file: TextFile,
    *,
    header: bool | None,
    weight: str | int | bool | None,
    symmetrize: str | None,
    duplicates: str,
    dtype: DTypeLike | None,
    ends: Ends | None = None,
) -> Graph:
    """Read an edge list; without `header` the first record is looked at, and may name the columns."""
    layout = edge_layout(file, header, weight, ends)
    if ends is not None:
        header = layout.header is not None  # who names the columns knows
    options: dict[str, Any] = {"symmetrize": symmetrize, "duplicates": duplicates, "dtype": dtype}
    rows = fast_rows(file, layout)
    if rows is not None:
        with suppress(GraphError):  # the exact reader finds the same fault and knows its line
            return graph_from_rows(_without_doubt(file, layout, rows, header), **options)
    return graph_from_rows(_without_doubt(file, layout, exact_rows(file, layout), header), **options)


def read_attributed(path: Path, *, weight: str | int | bool | None, **options: Any) -> Graph | None:
    """Read lines of two nodes and a dict, as ``networkx.write_edgelist`` writes them; None if there are others.

    As of a networkx graph, an edge without the attribute of the weight has the weight 1 where others have one.
    """
    key = "weight" if weight is None or weight is True else weight
    place: dict[str, int] = {}
    ends: list[tuple[int, int]] = []
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
        ends.append((place.setdefault(match[1], len(place)), place.setdefault(match[2], len(place))))
        weights.append(data.get(key) if isinstance(data, dict) else None)
        lines.append(number)
    if not lines:
        return None
    weighted = weight is not False and any(value is not None for value in weights)
    if isinstance(weight, str) and not weighted:
        raise GraphError(f"{path.name}: no edge has an attribute {weight!r}: expected the name of a weight.")
    both = np.asarray(ends, dtype=np.intp)
    rows = EdgeRows(
        both[:, 0],
        both[:, 1],
        object_array(1 if value is None else value for value in weights) if weighted else None,
        names_from_text(list(place)),
        lambda row: f"{path.name}, line {lines[row]}",
    )
    return graph_from_rows(rows, **options)


def _without_doubt(file: TextFile, layout: EdgeLayout, rows: EdgeRows, header: bool | None) -> EdgeRows:
    """Return the rows, or raise GraphError if the first line may be an edge as well as name columns.

    It was taken for an edge and may be a header where it is two words, nowhere else in the file, above ids that are
    words too. It was taken for a header and may be an edge where its words are ids as well.
    """
    if header is not None or rows.source.size < 2 or rows.names.dtype.kind == "i":
        return rows
    first = file.sample(1)[0]
    if layout.header is not None:
        _check_header(file, layout, first, rows)
        return rows
    ends = [rows.source[0], rows.target[0]]
    repeated = any(
        np.count_nonzero(rows.source == end) + np.count_nonzero(rows.target == end) > 1 for end in ends
    )
    if repeated or any(is_number(field) for field in first.fields):
        return rows
    pair = tuple(first.fields[end] for end in layout.ends)
    raise GraphError(f"{file.where(first.line)}: {pair} may be a header: {_SAY_HEADER}.")


def _check_header(file: TextFile, layout: EdgeLayout, first: Record, rows: EdgeRows) -> None:
    pair = tuple(first.fields[end] for end in layout.ends)
    if layout.weight is not None and not is_number(first.fields[layout.weight]):
        return  # no edge has the weight "weight"
    letters = all(len(end) == 1 for end in pair) and any(len(name) == 1 for name in rows.names.tolist())
    if letters or np.isin(rows.names, pair).any():
        raise GraphError(
            f"{file.where(first.line)}: {pair} may be an edge, since there are nodes of such names: "
            f"{_SAY_HEADER}."
        )


def edge_layout(
    file: TextFile, header: bool | None, weight: str | int | bool | None, end_names: Ends | None = None
) -> EdgeLayout:
    """Find the header and the columns."""
    sample = file.sample()
    first = sample[0]
    width = len(first.fields)
    if header is None:
        by_name = end_names is not None and any(isinstance(name, str) for name in (*end_names, weight))
        header = by_name or looks_like_header(sample)
    columns: list[Any] = first.fields if header else list(range(width))
    if end_names is not None:
        ends: tuple[int, int] | None = named_ends(columns, end_names, file.path.name)
    else:
        ends = end_columns(columns) if header else None
    if width < 2 or (ends is None and width > 3 and weight is None):
        raise GraphError(
            f"{file.where(first.line)}: expected 2 or 3 fields, got {width} (separator "
            f"{file.delimiter!r}; delimiter sets another, and format='matrix' reads a square "
            "matrix)."
        )
    if ends is None:
        ends = (0, 1)
    below = [record.fields for record in (sample[1:] if header else sample)]

    def is_text(column: int) -> bool:
        return are_words(fields[column] for fields in below if column < len(fields))

    at = weight_column(columns, ends, weight, file.path.name, is_text)
    return EdgeLayout(width, ends, at, first.line if header else None)


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


def exact_rows(file: TextFile, layout: EdgeLayout) -> EdgeRows:
    """Read every record with the csv module, and name the line of the first that is wrong."""
    place: dict[str, int] = {}
    source: list[int] = []
    target: list[int] = []
    weights: list[float] = []
    lines: list[int] = []
    a, b = layout.ends
    for record in file.records():
        if record.line == layout.header:
            continue
        fields = record.fields
        if len(fields) != layout.width:
            raise _wrong_width(file, layout, record)
        if not fields[a] or not fields[b]:
            end = "source" if not fields[a] else "target"
            raise GraphError(f"{file.where(record.line)}: the {end} is missing, expected the name of a node.")
        if "\0" in fields[a] or "\0" in fields[b]:
            raise GraphError(f"{file.where(record.line)}: a name holds a NUL character, expected text.")
        if layout.weight is not None:
            weights.append(_weight(file, record, fields[layout.weight]))
        source.append(place.setdefault(fields[a], len(place)))
        target.append(place.setdefault(fields[b], len(place)))
        lines.append(record.line)
    if not lines:
        raise GraphError(f"{file.path.name} holds no edge: expected lines with source, target and weight.")
    return EdgeRows(
        np.asarray(source, dtype=np.intp),
        np.asarray(target, dtype=np.intp),
        np.asarray(weights) if layout.weight is not None else None,
        names_from_text(list(place)),
        lambda row: file.where(lines[row]),
    )


def _wrong_width(file: TextFile, layout: EdgeLayout, record: Record) -> GraphError:
    got = len(record.fields)
    if layout.header is None and got not in (2, 3) and layout.width in (2, 3):
        return GraphError(f"{file.where(record.line)}: expected 2 or 3 fields, got {got}.")
    return GraphError(f"{file.where(record.line)}: expected {layout.width} fields as before, got {got}.")


def _weight(file: TextFile, record: Record, text: str) -> float:
    if not is_number(text):
        raise GraphError(
            f"{file.where(record.line)}: the weight is {text!r}, expected a nonnegative number"
            f"{comma_hint(text)} (weight=False ignores the weights)."
        )
    return float(text)


def fast_rows(file: TextFile, layout: EdgeLayout) -> EdgeRows | None:
    """Read with pyarrow; return None if anything is odd, so that the exact reader decides."""
    header = layout.header is not None
    columns = read_columns(file, header=header, width=layout.width, texts=layout.ends, number=layout.weight)
    if columns is None or (columns.texts.dtype.kind in "UO" and (columns.texts == "").any()):
        return None
    source, target = columns.codes
    return EdgeRows(source, target, columns.numbers, columns.texts, lambda row: f"row {row}")
