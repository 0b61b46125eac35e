"""Groups in files: a table keyed by node, or one column in node order."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import numpy as np

from equigraph.exceptions import GroupsError
from equigraph.graph.attributes import Values, values_of_table
from equigraph.graph.delimited import WHITESPACE, Record, TextFile, open_text_file
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
    file = open_text_file(path, "\t" if ".tsv" in path.suffixes else None)
    records = list(file.records())
    if file.delimiter == WHITESPACE and len({len(record.fields) for record in records}) > 1:
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
    header = _has_header(records, attribute, node_column, graph)
    body = records[1:] if header else records
    if not body:
        raise GroupsError(f"{path.name} holds a header and no groups: expected one line per node.")
    columns: list[Any] = records[0].fields if header else list(range(width))
    values = [np.asarray([record.fields[k] for record in body], dtype=str) for k in range(width)]
    if width == 1:
        name = attribute if attribute is not None else (columns[0] if header else None)
        return Values(_typed(values[0]), None, None if name is None else str(name))
    if not header and attribute is not None and column_place(columns, attribute) is None and width == 2:
        # Two columns without a header need no choice; the attribute is only a name for the second.
        return Values(_typed(values[1]), values[0], str(attribute))
    chosen = values_of_table(Table(columns, values), attribute, node_column, graph)
    name = chosen.attribute if header else (str(attribute) if isinstance(attribute, str) else None)
    assert chosen.keys is not None
    return Values(_typed(chosen.values), chosen.keys, name)


def _typed(values: Any) -> Any:
    """Return groups as integers if all that are given are, with None for empty cells and missing tokens."""
    absent = np.isin(values, MISSING_TOKENS)
    if not absent.any():
        return names_from_text(values)
    result = np.full(values.size, None, dtype=object)
    result[~absent] = object_array(names_from_text(values[~absent]).tolist())
    return result


def _has_header(records: list[Record], attribute: Any, node_column: Any, graph: Graph) -> bool:
    """Return whether the first record names the columns.

    It does if it holds the name that the user gave; or if its first field is no node and either the
    column of groups never repeats its other fields or the nodes are integers and the field is not.
    """
    first = records[0].fields
    if any(isinstance(name, str) and name in first for name in (attribute, node_column)):
        return True
    if len(first) == 1:
        return graph.positional and len(records) == graph.n_nodes + 1
    nodes = {unicodedata.normalize("NFC", text) for text in texts(graph.node_names)}
    key = (None if node_column is None else column_place(first, node_column)) or 0
    if unicodedata.normalize("NFC", first[key]) in nodes:
        return False
    if graph.node_names.dtype.kind == "i" and names_from_text([first[key]]).dtype.kind != "i":
        return True
    others = [k for k in range(len(first)) if k != key]
    return all(first[k] not in {record.fields[k] for record in records[1:]} for k in others)
