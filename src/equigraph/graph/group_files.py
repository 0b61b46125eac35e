"""Groups in files: a table keyed by node, or one column in node order."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GroupsError, only_ours
from equigraph.graph.attributes import Values, values_of_table
from equigraph.graph.delimited import WHITESPACE, Record, TextFile, open_text_file, read_columns
from equigraph.graph.graph import Graph
from equigraph.graph.names import canonical, names_from_text, object_array, texts, with_gaps
from equigraph.graph.read import check_file, file_format, read_parquet
from equigraph.graph.tables import Table, column_place, read_table

# What spreadsheets, R and pandas write where there is no value.
MISSING_TOKENS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None")

_BLANKS = (
    " (separated by white space; put quotes around values that hold blanks, or save the file with commas)"
)


def read_groups_file(path: Path, wanted: Sequence[Any], node_column: Any, graph: Graph) -> list[Values]:
    """Read one attribute or several from a csv, tsv, txt or parquet file."""
    check_file(path)
    kind = file_format(path, None)
    if kind == "parquet":
        with only_ours(f"{path.name} cannot be read as parquet", GroupsError):
            table = read_table(_index_first(read_parquet(path)))
        return values_of_table(table, wanted, node_column, graph)
    if kind != "delimited":
        raise GroupsError(f"{path.name} is not a table: expected groups as csv, tsv, txt or parquet.")
    columns = _columns(open_text_file(path, "\t" if ".tsv" in path.suffixes else None), graph.n_nodes)
    width, first = len(columns), [column[0] for column in columns]
    header = _has_header(columns, wanted, node_column, graph)
    names: list[Any] = first if header else list(range(width))
    values = [column[1:] for column in columns] if header else columns
    if not values[0].size:
        raise GroupsError(f"{path.name} holds a header and no groups: expected one line per node.")
    if width == 1 and len(wanted) < 2:
        name = wanted[0] if wanted else (first[0] if header else None)
        return [Values(_typed(values[0]), None, None if name is None else str(name))]
    # Two columns without a header need no choice; the attribute is only a name for the second.
    only_name = (
        not header and width == 2 and len(wanted) == 1 and column_place(names, wanted[0], GroupsError) is None
    )
    chosen = values_of_table(Table(names, values), [1] if only_name else wanted, node_column, graph)
    if not header:
        # A number is no name, but several have to be told apart.
        chosen = [
            replace(
                one, attribute=str(name) if isinstance(name, str) or only_name or len(chosen) > 1 else None
            )
            for one, name in zip(chosen, wanted or [None], strict=True)
        ]
    return [replace(one, values=_typed(one.values)) for one in chosen]


def _index_first(table: Any) -> Any:
    """Return an arrow table with the column first that was the index of a pandas frame, if one was."""
    try:
        pandas = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
        index = [name for name in pandas.get("index_columns", []) if name in table.column_names]
    except (ValueError, AttributeError, TypeError):
        return table  # what others write there is theirs to know
    return table.select([*index, *(name for name in table.column_names if name not in index)])


def _columns(file: TextFile, n_nodes: int) -> list[NDArray[Any]]:
    """Return the columns of a file as arrays of Python texts, the first record among them."""
    width = len(file.sample(1)[0].fields)
    # One column is read in the order of the nodes, so each of its lines counts, empty ones too.
    every = tuple(range(width))
    found = read_columns(file, header=False, width=width, texts=every, number=None) if width > 1 else None
    if found is not None:
        distinct = object_array(texts(found.texts))
        return [distinct[codes] for codes in found.codes]
    records = list(file.records())
    wrong = next((record for record in records if len(record.fields) != width), None)
    if wrong is not None:
        if not _is_one_column(file, records, n_nodes):
            raise GroupsError(
                f"{file.where(wrong.line)}: expected {width} fields as before, got {len(wrong.fields)}"
                f"{_BLANKS if file.delimiter == WHITESPACE else ''}."
            )
        return _single(TextFile(file.path, ","), n_nodes)
    if width == 1:
        return _single(file, n_nodes)
    return [object_array(record.fields[k] for record in records) for k in range(width)]


def _is_one_column(file: TextFile, records: list[Record], n_nodes: int) -> bool:
    """Return whether blanks belong to the values, such as "Puerto Rican" below "Latino".

    They do where some value is one word, so that there is no column of nodes, and there is one value per node.
    """
    one_word = any(len(record.fields) == 1 for record in records)
    return file.delimiter == WHITESPACE and one_word and len(records) in (n_nodes, n_nodes + 1)


def _single(file: TextFile, n_nodes: int) -> list[NDArray[Any]]:
    """Return the only column; an empty line is a node without a group, unless nothing follows it."""
    values: list[str] = []
    for record in file.records(empty=True):
        if len(record.fields) > 1:
            raise GroupsError(
                f"{file.where(record.line)}: expected one value, got {len(record.fields)}; put quotes around it."
            )
        values.append(record.fields[0] if record.fields else "")
    n_lines = len(values)
    while not values[-1]:
        values.pop()
    if len(values) == n_nodes < n_lines and values[0] not in values[1:]:
        raise GroupsError(
            f"{file.path.name} ends in an empty line, so that {values[0]!r} may be a header above {n_nodes} nodes, the "
            "last without a group, or the first group: remove the empty line, or write NA."
        )
    return [object_array(values)]


def _typed(column: NDArray[Any]) -> NDArray[Any]:
    """Return groups as integers if all that are given are, with None for empty cells and missing tokens."""
    absent = np.fromiter((text in MISSING_TOKENS for text in column), dtype=bool, count=column.size)
    present = names_from_text(column[~absent])
    return with_gaps(present, absent) if absent.any() else present


def _has_header(columns: list[NDArray[Any]], wanted: Sequence[Any], node_column: Any, graph: Graph) -> bool:
    """Return whether the first record names the columns.

    It does if it holds the name that the user gave; or if its first field is no node and either the
    column of groups never repeats its other fields or the nodes are integers and the field is not.
    """
    first = [column[0] for column in columns]
    if any(isinstance(name, str) and name in first for name in (*wanted, node_column)):
        return True
    if len(first) == 1:
        return graph.positional and columns[0].size == graph.n_nodes + 1
    key = (None if node_column is None else column_place(first, node_column, GroupsError)) or 0
    wanted = canonical(first[key])
    if any(canonical(text) == wanted for text in texts(graph.node_names)):
        return False
    if graph.node_names.dtype.kind == "i" and names_from_text([first[key]]).dtype.kind != "i":
        return True
    others = [k for k in range(len(first)) if k != key]
    return all(not (columns[k][1:] == first[k]).any() for k in others)
