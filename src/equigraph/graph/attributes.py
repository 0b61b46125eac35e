"""Put groups onto the nodes of a graph: by position, or by the names of the nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.parameters import check_known
from equigraph._utils.text import count
from equigraph.exceptions import GroupsError, only_ours
from equigraph.graph.adapters import labels_of_communities, library_of
from equigraph.graph.graph import Graph, as_features
from equigraph.graph.groups.attributes import AttributeOptions, as_matrix, is_column
from equigraph.graph.groups.encode import column_of
from equigraph.graph.names import (
    as_names,
    canonical,
    first_nested,
    has_missing,
    look_alike,
    names_from_text,
    object_array,
    sort_names,
    text_array,
    texts,
    type_hint,
    with_gaps,
)
from equigraph.graph.sparse_arrays import canonical_index
from equigraph.graph.tables import (
    Table,
    column_place,
    found_column,
    is_table,
    listed_columns,
    read_table,
    row_labels,
)

MISSING = ("error", "ignore", "drop", "own-group")
UNKNOWN = ("error", "add", "ignore")


@dataclass(frozen=True)
class Values:
    """Groups as the user gave them."""

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
    """Read groups from a path, mapping, table, column or array; `attach` puts them onto the nodes.

    With `every`, all columns of a table are meant where none is named, and not only its second.
    """
    wanted = attribute_list(attribute)
    name = None if not wanted else str(wanted[0])
    if isinstance(groups, (str, Path)) or hasattr(groups, "__fspath__"):
        from equigraph.graph.group_files import read_groups_file

        return read_groups_file(Path(groups), wanted, node_column, graph)
    library = library_of(groups)
    if library in ("igraph", "networkit"):
        groups = labels_of_communities(groups)
    if isinstance(groups, Mapping):
        if _holds_columns(groups, graph):
            return _values_of_columns(groups, wanted, graph)
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
        # A group may be a tuple; then it is the nodes that are named.
        return set(texts(object_array(groups))).isdisjoint(texts(graph.node_names))
    if not all(columns):
        first = next(name for name, one in zip(groups, columns, strict=True) if not one)
        raise GroupsError(
            f"The sensitive features are a dict of columns and of single values, first {first!r}: expected one or the "
            "other."
        )
    return True


def _values_of_columns(columns: Mapping[Any, Any], wanted: list[Any], graph: Graph) -> list[Values]:
    known = {str(name): column for name, column in columns.items()}
    for name in map(str, wanted):
        _found(list(known), name)
    return [
        replace(take_groups(known[name], None, None, graph)[0], attribute=name)
        for name in (map(str, wanted) if wanted else known)
    ]


def _found(columns: list[Any], column: Any) -> int:
    fault = f"The groups have no column {column!r}"
    return found_column(columns, column, fault, there="there are", kind=GroupsError)


def keys_of_index(
    index: NDArray[Any] | None, counts_rows: bool, graph: Graph, what: str = "groups"
) -> NDArray[Any] | None:
    """Return the index of a pandas object as names of nodes, or None where its values are in node order.

    They are in node order where the graph has no names, whatever the index, as for every estimator of scikit-learn.
    Beside names a default index says nothing but the order, and any other one names nodes.
    """
    if index is None or not graph.named:
        return None
    nodes = {canonical(text) for text in texts(graph.node_names)}
    named = {canonical(text) for text in texts(index)}
    if counts_rows:
        # The nodes of an edge list that are 0, 1, 2, ... are sorted: name and position are one.
        return index if not graph.positional and named == nodes else None
    if not nodes & named:
        first = index[:1].tolist()[0] if index.size else None
        raise GroupsError(
            f"The {what} name none of the nodes (they start with {first!r}, the nodes with "
            f"{graph.node_names[:1].tolist()[0]!r}){type_hint(texts(index), texts(graph.node_names))}: give the names "
            "of the nodes, or an array in node order."
        )
    return index


def values_of_table(
    table: Table, wanted: Sequence[Any], node_column: Any, graph: Graph, every: bool = False
) -> list[Values]:
    """Choose the column of names and those of values; a single column is taken like a Series."""
    columns = table.columns
    if len(columns) == 1 and node_column is None:
        if wanted and any(column_place(columns, one, GroupsError) is None for one in wanted):
            raise GroupsError(f"The groups have no column {wanted[0]!r}: expected {columns[0]!r}.")
        keys = keys_of_index(table.index, table.counts_rows, graph)
        return [Values(table.values[0], keys, str(columns[0]))]
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
    return [Values(table.values[k], keys, str(columns[k])) for k in places if k is not None]


def _key_of(
    table: Table, places: Sequence[int | None], node_column: Any, graph: Graph, every: bool
) -> tuple[int | None, NDArray[Any] | None]:
    """Return the column that names the nodes and its values; none where the index does, or the order.

    It is the first one, unless that is an attribute itself: one that was asked for, or, where all are meant, one with
    values that repeat or name no node. Where the graph has no names the rows are in node order.
    """
    columns = table.columns
    if node_column is not None:
        fault = f"node_column={node_column!r} is not a column"
        key = found_column(columns, node_column, fault, there="the groups have", kind=GroupsError)
        return key, table.values[key]
    if not graph.named:
        counted = 0 not in places and _counts_nodes(table, graph, every)
        return (0, table.values[0]) if counted else (None, None)
    different = set(map(canonical, texts(table.values[0])))
    if 0 not in places:
        names_nodes = not different.isdisjoint(map(canonical, texts(graph.node_names))) if every else True
        if names_nodes and (not every or 2 * len(different) >= table.n_rows):
            return 0, table.values[0]
    if table.index is not None and not table.counts_rows:
        return None, keys_of_index(table.index, False, graph)
    if 0 not in places and len(different) == table.n_rows:
        return 0, table.values[0]  # the caller reports that it names other nodes than the graph has
    return None, None


def _counts_nodes(table: Table, graph: Graph, every: bool) -> bool:
    """Return whether the first column is 0, 1, 2, ...; refuse one that may name rows in another order than theirs.

    With `every` the column would be an attribute, and one that names each row is none.
    """
    first, n = table.columns[0], graph.n_nodes
    by_column = f"node_column={first!r}, where the graph is read, matches them by position"
    if table.n_rows != n:
        raise GroupsError(
            f"The groups have {count(table.n_rows, 'row')} for {count(n, 'node')} that have no names: expected one row "
            f"per node, in node order ({by_column})."
        )
    rows = texts(table.values[0])
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
    """Return the graph with groups, after the rules for missing values and unknown nodes.

    Values in node order are taken only if the user knows that order. Of several attributes each is matched on its own,
    and ``missing="drop"`` leaves out who lacks one of them.
    """
    if unknown == "add":  # before values are put onto nodes, all of them are there
        for one in given:
            graph = graph if one.keys is None else by_name(graph, one.keys, one.values, unknown)[0]
    columns: list[NDArray[Any]] = []
    lost = np.zeros(graph.n_nodes, dtype=bool)
    for one in given:
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
        absent = has_missing(values)
        if absent.any():
            _check_missing(graph, one, absent, missing)
            values = _filled(one, values, absent, missing)
        columns.append(values)
        lost |= absent
    dropped = graph.dropped
    if missing == "drop" and lost.any():
        if lost.all():
            raise GroupsError("Every node lacks one of the attributes, so missing='drop' leaves none.")
        dropped = graph.node_names[lost]
        graph, columns = _subgraph(graph, ~lost), [values[~lost] for values in columns]
    features, attribute = as_features(_by_attribute(given, columns), given[0].attribute)
    return graph._but(
        sensitive_features=features,
        attribute=attribute,
        missing="ignore" if missing == "ignore" else "error",
        dropped=dropped,
        attribute_options=AttributeOptions(),
    )


def _by_attribute(given: Sequence[Values], columns: Sequence[NDArray[Any]]) -> dict[str | None, NDArray[Any]]:
    names = [one.attribute for one in given]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise GroupsError(f"The attribute {twice!r} is given twice: expected different attributes.")
    # Integers or text where they all are; other types stay as they are.
    return {
        name: as_names(values) if values.dtype.kind == "O" else values
        for name, values in zip(names, columns, strict=True)
    }


def _called(given: Values) -> str:
    return f"The attribute {given.attribute!r}" if given.attribute else "The group"


def _check_missing(graph: Graph, given: Values, absent: NDArray[np.bool_], missing: str) -> None:
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


def _filled(given: Values, values: NDArray[Any], absent: NDArray[np.bool_], missing: str) -> NDArray[Any]:
    """Return groups with what stands for the missing ones; those to drop stay as they are."""
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


def by_name(
    graph: Graph, keys: NDArray[Any], values: NDArray[Any], unknown: str, what: str = "groups"
) -> tuple[Graph, NDArray[Any]]:
    """Match values to nodes by name; names of different types are compared by their text.

    Names that differ only in how Unicode composes their letters are the same name, unless the graph has both.
    """
    no_key = np.flatnonzero(has_missing(keys))
    if no_key.size:
        raise GroupsError(f"Row {no_key[0]} of the {what} (counting from 0) names no node: expected a name.")
    place = node_places(graph)
    key_texts = [text if text in place else canonical(text) for text in texts(keys)]
    strangers = {text: k for k, text in reversed(list(enumerate(key_texts))) if text not in place}
    if strangers:
        if unknown == "error":
            raise GroupsError(
                _of_strangers(sorted(strangers, key=strangers.__getitem__), key_texts, graph, what)
            )
        if unknown == "add":
            graph = _with_nodes(graph, keys[sorted(strangers.values())])
            place = node_places(graph)
    places = np.array([place.get(text, -1) for text in key_texts], dtype=np.intp)
    values, places = values[places >= 0], places[places >= 0]
    n_placed = np.unique(places).size
    if n_placed < places.size:
        _check_one_value(graph, places, values, what)
    plain = as_names(values) if values.dtype.kind in "iuUO" else values
    if n_placed == graph.n_nodes and plain.dtype.kind in "iU":
        result = np.empty(graph.n_nodes, dtype=plain.dtype)
        result[places] = plain
    else:
        result = np.full(graph.n_nodes, None, dtype=object)
        result[places] = object_array(values.tolist())
    return graph, result


def _check_one_value(graph: Graph, places: NDArray[np.intp], values: NDArray[Any], what: str) -> None:
    """Raise GroupsError if a node has two values that differ."""
    seen: dict[int, Any] = {}
    for node, value in zip(places.tolist(), values.tolist(), strict=True):
        first = seen.setdefault(node, value)
        if first != value and not has_missing(object_array([first, value])).all():
            key = " (the first column, or node_column, names the node)" * (what == "groups")
            raise GroupsError(
                f"The {what} give node {texts(graph.node_names[[node]])[0]!r} two values, {first!r} and {value!r}: "
                f"expected one value per node{key}."
            )


def _of_strangers(strangers: list[str], named: list[str], graph: Graph, what: str) -> str:
    """Return the sentence on names that are no nodes; where none is one, adding them is no way out."""
    nodes, first = texts(graph.node_names), strangers[0]
    if not graph.named:
        return (
            f"The {what} name {first!r}, and the nodes of the graph have no names: expected their positions, 0 to "
            f"{graph.n_nodes - 1}, or one value per node in node order."
        )
    if len(strangers) > 1 and set(strangers) == set(named):
        return (
            f"The {what} name none of the nodes (they start with {first!r}, the nodes with {nodes[0]!r})"
            f"{type_hint(strangers, nodes)}: expected the names of the nodes, or the column that holds them."
        )
    expected = "expected names of nodes"
    if what == "groups":
        them = "it" if len(strangers) == 1 else "them"
        expected = f"say unknown='add' to add {them} without edges, or unknown='ignore'"
    return (
        f"The {what} name {count(len(strangers), 'node')} that the graph lacks, first {first!r}"
        f"{look_alike(first, nodes)}: {expected}."
    )


def node_places(graph: Graph) -> dict[str, int]:
    """Return the place of every node by the text of its name and, where only one node has it, by its NFC."""
    exact = {text: k for k, text in enumerate(texts(graph.node_names))}
    composed: dict[str, list[int]] = {}
    for text, k in exact.items():
        if not text.isascii():
            composed.setdefault(canonical(text), []).append(k)
    return {**{text: places[0] for text, places in composed.items() if len(places) == 1}, **exact}


def _with_nodes(graph: Graph, keys: NDArray[Any]) -> Graph:
    """Return the graph with isolated nodes: sorted in if it is an edge list, otherwise at the end."""
    names = _joined_names(graph.node_names, as_names(keys))
    old = graph.adjacency
    n, added = names.size, names.size - old.shape[0]
    indptr = np.concatenate([old.indptr, np.full(added, old.indptr[-1], dtype=old.indptr.dtype)])
    adjacency = sparse.csr_array((old.data, old.indices, indptr), shape=(n, n))
    if not graph.positional:
        names, place = sort_names(names)
        order = np.argsort(place)
        adjacency = _permuted(adjacency, order)
    return Graph._trusted(adjacency, names, positional=graph.positional, named=graph.named or None)


def _joined_names(names: NDArray[Any], added: NDArray[Any]) -> NDArray[Any]:
    if names.dtype.kind == added.dtype.kind != "O":
        return np.concatenate([names, added])
    new_texts = texts(added)
    if names.dtype.kind == "i":
        integers = names_from_text(new_texts)
        if integers.dtype.kind == "i":
            return np.concatenate([names, integers])
    if names.dtype.kind == "O":
        return np.concatenate([names, added.astype(object)])
    return text_array(texts(names) + new_texts)


def _permuted(adjacency: sparse.csr_array, order: NDArray[np.intp]) -> sparse.csr_array:
    result = adjacency[order][:, order].tocsr()
    result.sort_indices()
    return canonical_index(result)


def _subgraph(graph: Graph, keep: NDArray[np.bool_]) -> Graph:
    kept = np.flatnonzero(keep)
    adjacency = _permuted(graph.adjacency, kept)
    names = graph.node_names[kept]
    return Graph._trusted(adjacency, names, positional=graph.positional, named=graph.named or None)
