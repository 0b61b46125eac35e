"""Groups in files: a table keyed by node, or one column in node order."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GroupsError
from equigraph.graph.attributes import Values, values_of_table
from equigraph.graph.delimited import WHITESPACE, TextFile, open_text_file
from equigraph.graph.fast_text import is_for_pyarrow, read_columns
from equigraph.graph.graph import Graph
from equigraph.graph.names import names_from_text, object_array, texts
from equigraph.graph.readers import check_file, file_format, read_parquet
from equigraph.graph.tables import Table, column_place, read_table

# What spreadsheets, R and pandas write where there is no value.
MISSING_TOKENS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None")


def read_groups_file(path: Path, attribute: Any, node_column: Any, graph: Graph) -> Values:
    """Read groups from a csv, tsv, txt or parquet file."""
    check_file(path)
    kind = file_format(path, None)
    if kind == "parquet":
        return values_of_table(read_table(read_parquet(path)), attribute, node_column, graph)
    if kind != "delimited":
        raise GroupsError(f"{path.name} is not a table: expected groups as csv, tsv, txt or parquet.")
    columns = _columns(open_text_file(path, "\t" if ".tsv" in path.suffixes else None))
    width, first = len(columns), [column[0] for column in columns]
    header = _has_header(columns, attribute, node_column, graph)
    names: list[Any] = first if header else list(range(width))
    values = [column[1:] for column in columns] if header else columns
    if not values[0].size:
        raise GroupsError(f"{path.name} holds a header and no groups: expected one line per node.")
    if width == 1:
        name = attribute if attribute is not None else (first[0] if header else None)
        return Values(_typed(values[0]), None, None if name is None else str(name))
    if not header and attribute is not None and column_place(names, attribute) is None and width == 2:
        # Two columns without a header need no choice; the attribute is only a name for the second.
        return Values(_typed(values[1]), values[0].astype(str), str(attribute))
    chosen = values_of_table(Table(names, values), attribute, node_column, graph)
    name = chosen.attribute if header else (str(attribute) if isinstance(attribute, str) else None)
    assert chosen.keys is not None
    return Values(_typed(chosen.values), chosen.keys.astype(str), name)


def _columns(file: TextFile) -> list[NDArray[Any]]:
    """Return the columns of a file as arrays of Python texts, the first record among them."""
    path, delimiter = file.path, file.delimiter
    if is_for_pyarrow(file):
        width = len(file.sample(1)[0].fields)
        found = read_columns(file, header=None, width=width, texts=tuple(range(width)), number=None)
        if found is not None:
            distinct = found.texts.astype(str).astype(object)
            return [distinct[codes] for codes in found.codes]
    records = list(file.records())
    if delimiter == WHITESPACE and len({len(record.fields) for record in records}) > 1:
        # Blanks that do not make columns belong to the values, such as "Puerto Rican" below "Latino".
        records = list(TextFile(path, ",").records())
    if not records:
        raise GroupsError(f"{path.name} is empty: expected one line per node.")
    width = len(records[0].fields)
    for record in records:
        if len(record.fields) != width:
            raise GroupsError(
                f"{file.where(record.line)}: expected {width} fields as before, got {len(record.fields)}."
            )
    return [object_array(record.fields[k] for record in records) for k in range(width)]


def _typed(column: NDArray[Any]) -> NDArray[Any]:
    """Return groups as integers if all that are given are, with None for empty cells and missing tokens."""
    values = column.astype(str)
    absent = np.isin(values, MISSING_TOKENS)
    if not absent.any():
        return names_from_text(values)
    result = np.full(values.size, None, dtype=object)
    result[~absent] = object_array(names_from_text(values[~absent]).tolist())
    return result


def _has_header(columns: list[NDArray[Any]], attribute: Any, node_column: Any, graph: Graph) -> bool:
    """Return whether the first record names the columns.

    It does if it holds the name that the user gave; or if its first field is no node and either the
    column of groups never repeats its other fields or the nodes are integers and the field is not.
    """
    first = [column[0] for column in columns]
    if any(isinstance(name, str) and name in first for name in (attribute, node_column)):
        return True
    if len(first) == 1:
        return graph.positional and columns[0].size == graph.n_nodes + 1
    key = (None if node_column is None else column_place(first, node_column)) or 0
    wanted = unicodedata.normalize("NFC", first[key])
    if any(unicodedata.normalize("NFC", text) == wanted for text in texts(graph.node_names)):
        return False
    if graph.node_names.dtype.kind == "i" and names_from_text([first[key]]).dtype.kind != "i":
        return True
    others = [k for k in range(len(first)) if k != key]
    return all(not (columns[k][1:] == first[k]).any() for k in others)
