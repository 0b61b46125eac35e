"""Match labels and other values with the nodes of a graph, by position or by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.text import count
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph.adapters import labels_of_communities
from equigraph.graph.graph import Graph
from equigraph.graph.groups.encode import column_of, is_missing
from equigraph.graph.names import (
    as_names,
    canonical,
    look_alike,
    names_from_text,
    node_places,
    object_array,
    sort_names,
    text_array,
    texts,
)
from equigraph.graph.sparse_arrays import canonical_index
from equigraph.graph.tables import row_labels


def labels_in_order(labels: Any, graph: Graph, what: str = "labels", *, gaps: bool = False) -> NDArray[Any]:
    """Return labels of the nodes of a graph as an array in node order.

    Communities of other libraries are labels too. Labels are matched by name if both have names. With `gaps` some nodes
    may have none; these get None.

    >>> path = Graph([[0, 1], [1, 0]], ["ann", "bob"])
    >>> labels_in_order({"bob": 1, "ann": 0}, path).tolist()
    [0, 1]
    """
    n = graph.n_nodes
    labels = labels_of_communities(labels)
    try:
        column = column_of(labels)
        if isinstance(labels, Mapping):
            keys: NDArray[Any] | None = object_array(labels)
        else:
            keys = keys_of_index(*row_labels(labels), graph)
        if keys is not None:
            column = by_name(graph, keys, column, "error", what)[1]
    except GroupsError as error:
        one = f"The {what} must be one-dimensional, one per node: shape (n_nodes,)."
        raise ParameterError(str(error) if what in str(error) else one) from None
    if column.size != n:
        raise ParameterError(
            f"There are {column.size} {what} for {count(n, 'node')}: expected one per node, in node order or by name."
        )
    absent = np.flatnonzero(is_missing(column))
    if absent.size and (not gaps or absent.size == n):
        raise ParameterError(
            f"{absent.size} of {n} {what} are missing, first that of node "
            f"{graph.node_names[absent[:1]].tolist()[0]!r}: expected one per node."
        )
    return column


def keys_of_index(index: NDArray[Any] | None, counts_rows: bool, graph: Graph) -> NDArray[Any] | None:
    """Return the index of a pandas object as names of nodes, or None if its values are in node order.

    If the graph has no names, values are in node order, whatever the index, as for every estimator of scikit-learn. If
    it has names, a default index means node order, and any other index names nodes.
    """
    if index is None or not graph.named:
        return None
    # Nodes 0, 1, 2, ... of an edge list are sorted: name and position are the same.
    if counts_rows and (graph.positional or set(texts(index)) != set(texts(graph.node_names))):
        return None
    return index


def by_name(
    graph: Graph, keys: NDArray[Any], values: NDArray[Any], unknown: str, what: str = "groups"
) -> tuple[Graph, NDArray[Any]]:
    """Match values to nodes by name; names of different types are compared by their text.

    Names that differ only in Unicode composition are the same name, unless the graph has both.
    """
    no_key = np.flatnonzero(is_missing(keys, or_empty=True))
    if no_key.size:
        raise GroupsError(f"Row {no_key[0]} of the {what} (counting from 0) names no node: expected a name.")
    place = node_places(graph.node_names)
    key_texts = [text if text in place else canonical(text) for text in texts(keys)]
    unmatched = {text: k for k, text in reversed(list(enumerate(key_texts))) if text not in place}
    if unmatched:
        if unknown == "error":
            raise GroupsError(
                _unmatched_message(sorted(unmatched, key=unmatched.__getitem__), key_texts, graph, what)
            )
        if unknown == "add":
            graph = _with_nodes(graph, keys[sorted(unmatched.values())])
            place = node_places(graph.node_names)
    places = np.array([place.get(text, -1) for text in key_texts], dtype=np.intp)
    values, places = values[places >= 0], places[places >= 0]
    n_placed = np.unique(places).size
    if n_placed < places.size:
        _check_one_value(graph, places, values, what)
    result = np.full(graph.n_nodes, None, dtype=object)
    result[places] = object_array(values.tolist())
    whole = n_placed == graph.n_nodes and values.dtype.kind in "iuUO"
    return graph, as_names(result) if whole else result


def _check_one_value(graph: Graph, places: NDArray[np.intp], values: NDArray[Any], what: str) -> None:
    """Raise GroupsError if a node has two values that differ."""
    seen: dict[int, Any] = {}
    for node, value in zip(places.tolist(), values.tolist(), strict=True):
        first = seen.setdefault(node, value)
        if first != value and not is_missing(object_array([first, value]), or_empty=True).all():
            key = " (the first column, or node_column, names the node)" * (what == "groups")
            raise GroupsError(
                f"The {what} give node {texts(graph.node_names[[node]])[0]!r} two values, {first!r} and {value!r}: "
                f"expected one value per node{key}."
            )


def _unmatched_message(unmatched: list[str], named: list[str], graph: Graph, what: str) -> str:
    """Return the message on names that are no nodes; if none is one, adding nodes is not proposed."""
    nodes, first = texts(graph.node_names), unmatched[0]
    if not graph.named:
        return (
            f"The {what} name {first!r}, and the nodes of the graph have no names: expected their positions, 0 to "
            f"{graph.n_nodes - 1}, or one value per node in node order."
        )
    if len(unmatched) > 1 and set(unmatched) == set(named):
        return (
            f"The {what} name none of the nodes (they start with {first!r}, the nodes with {nodes[0]!r})"
            f"{look_alike(first, nodes)}: expected the names of the nodes (of a table, the column that holds them), or "
            "an array in node order."
        )
    expected = "expected names of nodes"
    if what == "groups":
        them = "it" if len(unmatched) == 1 else "them"
        expected = f"say unknown='add' to add {them} without edges, or unknown='ignore'"
    return (
        f"The {what} name {count(len(unmatched), 'node')} that the graph lacks, first {first!r}"
        f"{look_alike(first, nodes)}: {expected}."
    )


def _with_nodes(graph: Graph, keys: NDArray[Any]) -> Graph:
    """Return the graph with isolated nodes added: in sorted order for an edge list, otherwise at the end."""
    names = _joined_names(graph.node_names, as_names(keys))
    adjacency = sparse.csr_array(graph.adjacency)  # on the same arrays
    adjacency.resize(names.size, names.size)
    if not graph.positional:
        names, place = sort_names(names)
        order = np.argsort(place)
        adjacency = _permuted(adjacency, order)
    return Graph._trusted(adjacency, names, positional=graph.positional, named=graph.named or None)


def _joined_names(names: NDArray[Any], added: NDArray[Any]) -> NDArray[Any]:
    if names.dtype.kind in ("O", added.dtype.kind):
        return np.concatenate([names, added])
    joined = texts(names) + texts(added)
    return names_from_text(joined) if names.dtype.kind == "i" else text_array(joined)


def _permuted(adjacency: sparse.csr_array, order: NDArray[np.intp]) -> sparse.csr_array:
    result = adjacency[order][:, order].tocsr()
    result.sort_indices()
    return canonical_index(result)


def subgraph(graph: Graph, keep: NDArray[np.bool_]) -> Graph:
    """Return the subgraph of the nodes to keep, without groups."""
    kept = np.flatnonzero(keep)
    adjacency = _permuted(graph.adjacency, kept)
    names = graph.node_names[kept]
    return Graph._trusted(adjacency, names, positional=graph.positional, named=graph.named or None)
