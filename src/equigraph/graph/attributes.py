"""Read groups from objects and files, and assign them to the nodes of a graph."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.parameters import check_known
from equigraph._utils.text import count
from equigraph.exceptions import GroupsError, only_ours
from equigraph.graph.adapters import labels_of_communities, library_of
from equigraph.graph.delimited import WHITESPACE, TextFile, open_text_file
from equigraph.graph.graph import Graph, as_features
from equigraph.graph.groups.attributes import AttributeOptions, as_matrix, is_column
from equigraph.graph.groups.encode import column_of, is_missing
from equigraph.graph.labels import by_name, keys_of_index, subgraph
from equigraph.graph.names import (
    as_names,
    canonical,
    first_nested,
    names_from_text,
    object_array,
    texts,
    with_gaps,
)
from equigraph.graph.tables import (
    Table,
    column_place,
    found_column,
    is_table,
    listed_columns,
    read_parquet,
    read_table,
    row_labels,
)

MISSING = ("error", "ignore", "drop", "own-group")
UNKNOWN = ("error", "add", "ignore")


@dataclass(frozen=True)
class Values:
    """Groups by one attribute, as given."""

    values: NDArray[Any]
    keys: NDArray[Any] | None  # name of the node of each value; None if the values are in node order
    attribute: str | None


def check_options(missing: str, unknown: str) -> None:
    """Raise ParameterError unless both are known."""
    check_known("missing", missing, MISSING)
    check_known("unknown", unknown, UNKNOWN)


def attribute_list(attribute: Any) -> list[Any]:
    """Return the attributes that were asked for, one or several, as a list."""
    if attribute is None:
        return []
    return list(attribute) if isinstance(attribute, (list, tuple)) else [attribute]


def take_groups(
    groups: Any, attribute: Any, node_column: Any, graph: Graph, *, every: bool = False
) -> list[Values]:
    """Read groups from a path, mapping, table, column or array; `attach` assigns them to the nodes.

    With `every`, all columns of a table are read if none is named, not only the second.
    """
    wanted = attribute_list(attribute)
    name = None if not wanted else str(wanted[0])
    if isinstance(groups, (str, Path)) or hasattr(groups, "__fspath__"):
        return read_groups_file(Path(groups), wanted, node_column, graph)
    library = library_of(groups)
    if library in ("igraph", "networkit"):
        groups = labels_of_communities(groups)
    if isinstance(groups, Mapping):
        if _holds_columns(groups, graph):
            known = {str(one): column for one, column in groups.items()}
            for one in map(str, wanted):
                _found(list(known), one)
            return [
                replace(take_groups(known[one], None, None, graph)[0], attribute=one)
                for one in (map(str, wanted) if wanted else known)
            ]
        return [Values(object_array(groups.values()), object_array(groups.keys()), name)]
    if library is not None and is_table(groups):
        return values_of_table(read_table(groups), wanted, node_column, graph, every)
    matrix = as_matrix(groups)
    if matrix is not None:
        names = list(map(str, wanted or range(matrix.shape[1])))
        if len(names) != matrix.shape[1]:
            raise GroupsError(
                f"The groups have {matrix.shape[1]} columns and {count(len(names), 'name')}: give one name for each."
            )
        return [
            Values(column_of(column.tolist()), None, one) for one, column in zip(names, matrix.T, strict=True)
        ]
    if name is None and isinstance(getattr(groups, "name", None), str):
        name = groups.name
    # An arrow array refuses to_numpy where that needs a copy, so it goes through a list.
    with only_ours("The groups cannot be read", GroupsError):
        values = object_array(groups.to_pylist()) if library == "pyarrow" else column_of(groups)
    return [Values(values, keys_of_index(*row_labels(groups), graph), name)]


def _holds_columns(groups: Mapping[Any, Any], graph: Graph) -> bool:
    """Return whether a mapping is one from attributes to columns, rather than from nodes to groups."""
    columns = [isinstance(value, Mapping) or is_column(value) for value in groups.values()]
    if not any(columns):
        return False
    if all(isinstance(value, (tuple, frozenset)) for value in groups.values()):
        # A group may be a tuple: then the keys are nodes.
        return set(texts(object_array(groups))).isdisjoint(texts(graph.node_names))
    if not all(columns):
        first = next(name for name, one in zip(groups, columns, strict=True) if not one)
        raise GroupsError(
            f"The sensitive features are a dict of columns and of single values, first {first!r}: expected one or the "
            "other."
        )
    return True


def _found(columns: list[Any], column: Any) -> int:
    fault = f"The groups have no column {column!r}"
    return found_column(columns, column, fault, there="there are", kind=GroupsError)


def values_of_table(
    table: Table, wanted: Sequence[Any], node_column: Any, graph: Graph, every: bool = False
) -> list[Values]:
    """Select the column of node names and those of values; a single column is read like a Series."""
    columns = table.columns
    if len(columns) == 1 and node_column is None:
        if wanted and any(column_place(columns, one, GroupsError) is None for one in wanted):
            raise GroupsError(f"The groups have no column {wanted[0]!r}: expected {columns[0]!r}.")
        keys = keys_of_index(table.index, table.counts_rows, graph)
        return [Values(table.column(0), keys, str(columns[0]))]
    places = [column_place(columns, one, GroupsError) for one in wanted]
    key, keys = _key_of(table, places, node_column, graph, every)
    if not wanted:
        places = [k for k in range(len(columns)) if k != key]
        if len(places) != 1 and not every:
            raise GroupsError(
                f"Name the column of the groups with attribute: there are {listed_columns(columns)}."
            )
    if wanted:
        places = [_found(columns, one) for one in wanted]
    return [Values(table.column(k), keys, str(columns[k])) for k in places if k is not None]


def _key_of(
    table: Table, places: Sequence[int | None], node_column: Any, graph: Graph, every: bool
) -> tuple[int | None, NDArray[Any] | None]:
    """Return the column of node names and its values; None if the index, or the order, identifies the nodes.

    It is the first column, unless that is an attribute itself: one that was requested or, if all columns are read, one
    whose values repeat or name no node. If the graph has no names, the rows are in node order.
    """
    columns = table.columns
    if node_column is not None:
        fault = f"node_column={node_column!r} is not a column"
        key = found_column(columns, node_column, fault, there="the groups have", kind=GroupsError)
        return key, table.column(key)
    if not graph.named:
        counted = 0 not in places and _counts_nodes(table, graph, every)
        return (0, table.column(0)) if counted else (None, None)
    first = table.column(0)
    if 0 not in places and not every:
        return 0, first
    different, nodes = (set(map(canonical, texts(names))) for names in (first, graph.node_names))
    if 0 not in places and different & nodes and 2 * len(different) >= table.n_rows:
        return 0, first
    if table.index is not None and not table.counts_rows:
        return None, table.index
    if 0 not in places and len(different) == table.n_rows:
        return 0, first  # the caller reports that it names other nodes than the graph has
    return None, None


def _counts_nodes(table: Table, graph: Graph, every: bool) -> bool:
    """Return whether the first column is 0, 1, 2, ...; raise GroupsError if it may number the rows in another order.

    With `every` the column would be an attribute; one with a different value in every row is refused.
    """
    first, n = table.columns[0], graph.n_nodes
    by_column = f"node_column={first!r}, where the graph is read, matches them by position"
    if table.n_rows != n:
        raise GroupsError(
            f"The groups have {count(table.n_rows, 'row')} for {count(n, 'node')} that have no names: expected one row "
            f"per node, in node order ({by_column})."
        )
    rows = texts(table.column(0))
    numbers = names_from_text(rows)
    ordered = np.sort(numbers) if numbers.dtype.kind == "i" else np.empty(0)
    counts = any(np.array_equal(ordered, np.arange(start, n + start)) for start in (0, 1))
    in_order = counts and np.array_equal(numbers, ordered)
    if in_order and ordered[0] == 0:
        return True
    if every and len(set(rows)) == n:
        raise GroupsError(
            f"The column {first!r} has another value in every row, and the graph has no names to match: leave it "
            "out if the rows are in node order, or give the graph with the names of its nodes."
        )
    if counts and not in_order:
        raise GroupsError(
            f"The rows of the groups are numbered in another order by {first!r}, and the graph has no names: "
            f"{by_column}, counting from 0; leave the column out if the rows are in node order."
        )
    return False


def attach(graph: Graph, given: Sequence[Values], *, missing: str, unknown: str, order_known: bool) -> Graph:
    """Return the graph with groups, by the options for missing values and unknown nodes.

    Values in node order are accepted only if the user knows that order. Several attributes are matched one by one, and
    ``missing="drop"`` drops nodes that lack any of them.
    """
    if unknown == "add":  # all nodes must exist before values are assigned
        for one in given:
            graph = graph if one.keys is None else by_name(graph, one.keys, one.values, unknown)[0]
    columns: dict[str | None, NDArray[Any]] = {}
    incomplete = np.zeros(graph.n_nodes, dtype=bool)
    for one in given:
        if one.attribute in columns:
            raise GroupsError(
                f"The attribute {one.attribute!r} is given twice: expected different attributes."
            )
        if one.keys is None:
            values = _in_node_order(graph, one.values, order_known)
        else:
            values = by_name(graph, one.keys, one.values, unknown)[1]
        nested = first_nested(values)
        if nested is not None:
            node, kind = graph.node_names[[nested]].tolist()[0], type(values[nested]).__name__
            raise GroupsError(
                f"{_called(one)} of node {node!r} is a {kind}: expected one value, such as a text."
            )
        absent = is_missing(values, or_empty=True)
        if absent.any():
            values = _filled(graph, one, values, absent, missing)
        columns[one.attribute] = values
        incomplete |= absent
    dropped = graph.dropped
    if missing == "drop" and incomplete.any():
        if incomplete.all():
            raise GroupsError("Every node lacks one of the attributes, so missing='drop' leaves none.")
        dropped = graph.node_names[incomplete]
        graph = subgraph(graph, ~incomplete)
        columns = {name: values[~incomplete] for name, values in columns.items()}
    # Integers or text where they all are; other types stay as they are.
    plain = {
        name: as_names(values) if values.dtype.kind == "O" else values for name, values in columns.items()
    }
    features, attribute = as_features(plain, given[0].attribute)
    return graph._but(
        sensitive_features=features,
        attribute=attribute,
        missing="ignore" if missing == "ignore" else "error",
        dropped=dropped,
        attribute_options=AttributeOptions(),
    )


def _called(given: Values) -> str:
    return f"The attribute {given.attribute!r}" if given.attribute else "The group"


def _filled(
    graph: Graph, given: Values, values: NDArray[Any], absent: NDArray[np.bool_], missing: str
) -> NDArray[Any]:
    """Return groups with missing ones replaced; raise GroupsError if they are not allowed. Those to drop stay."""
    if missing == "error":
        first = graph.node_names[absent][:1].tolist()[0]
        raise GroupsError(
            f"{_called(given)} is missing for {np.count_nonzero(absent)} of {count(graph.n_nodes, 'node')}, first "
            f"{first!r}: give every node a value, or read the graph with missing='ignore' or 'drop'."
        )
    if absent.all() and missing != "own-group":
        raise GroupsError(
            f"No node has a group, so missing={missing!r} leaves none: check the names of the nodes."
        )
    if missing == "drop":
        return values
    if missing == "ignore":
        return with_gaps(as_names(values[~absent]), absent)
    filled = object_array(texts(values))
    if "missing" in filled[~absent]:
        raise GroupsError(
            f"{_called(given)} has a value 'missing' already, which missing='own-group' would add to: "
            f"give that value another name, or read the graph with missing='ignore'."
        )
    filled[absent] = "missing"
    return filled


def _in_node_order(graph: Graph, values: NDArray[Any], order_known: bool) -> NDArray[Any]:
    if not order_known:
        raise GroupsError(
            "Groups in node order do not fit an edge list: its nodes are sorted by name, which is not your "
            "order; give a table, file, mapping, or Series with the node names as its index."
        )
    if values.size != graph.n_nodes:
        named = (
            "or a table that names the node of each value" if graph.named else "since the graph has no names"
        )
        raise GroupsError(
            f"{count(values.size, 'group')} for {count(graph.n_nodes, 'node')}: expected one value per "
            f"node, in node order, {named}."
        )
    return values


# Missing values as spreadsheets, R and pandas write them.
MISSING_TOKENS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None")

_BLANKS = (
    " (separated by white space; put quotes around values that hold blanks, or save the file with commas)"
)


def read_groups_file(path: Path, wanted: Sequence[Any], node_column: Any, graph: Graph) -> list[Values]:
    """Read one attribute or several from a csv, tsv, txt or parquet file."""
    from equigraph.graph.read import check_file, file_format

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
    chosen = values_of_table(
        Table(names, values.__getitem__, values[0].size), [1] if only_name else wanted, node_column, graph
    )
    if not header:
        # A column number is no name, but several columns need different ones.
        chosen = [
            replace(
                one, attribute=str(name) if isinstance(name, str) or only_name or len(chosen) > 1 else None
            )
            for one, name in zip(chosen, wanted or [None], strict=True)
        ]
    return [replace(one, values=_typed(one.values)) for one in chosen]


def _index_first(table: Any) -> Any:
    """Return an arrow table with the columns first that were the index of a pandas frame."""
    try:
        pandas = json.loads((table.schema.metadata or {}).get(b"pandas", b"{}"))
        index = [name for name in pandas.get("index_columns", []) if name in table.column_names]
    except (ValueError, AttributeError, TypeError):
        return table  # metadata in another format
    return table.select([*index, *(name for name in table.column_names if name not in index)])


def _columns(file: TextFile, n_nodes: int) -> list[NDArray[Any]]:
    """Return the columns of a file as arrays of Python texts, with the first record."""
    width = len(file.sample(1)[0].fields)
    records = list(file.records())
    widths = {len(record.fields) for record in records}
    if (
        file.delimiter == WHITESPACE
        and len(widths) > 1
        and 1 in widths
        and len(records) in (n_nodes, n_nodes + 1)
    ):
        # If some value is a single word, there is no column of nodes, and blanks are part of values like "Puerto
        # Rican".
        file, widths = TextFile(file.path, ","), {1}
    if widths == {1}:
        return _single(file, n_nodes)
    wrong = next((record for record in records if len(record.fields) != width), None)
    if wrong is not None:
        hint = _BLANKS if file.delimiter == WHITESPACE else ""
        raise GroupsError(
            f"{file.where(wrong.line)}: expected {width} fields as before, got {len(wrong.fields)}{hint}."
        )
    return [object_array(record.fields[k] for record in records) for k in range(width)]


def _single(file: TextFile, n_nodes: int) -> list[NDArray[Any]]:
    """Return the only column, in node order; an empty line is a node without a group, except at the end."""
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
    """Return groups, as integers if all present ones are, with None for empty cells and missing tokens."""
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
