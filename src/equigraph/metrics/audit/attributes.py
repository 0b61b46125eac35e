"""Several sensitive features of one graph, each as codes, and their joint groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GroupsError
from equigraph.graph import Graph, read_graph
from equigraph.graph.names import object_array
from equigraph.graph.tables import is_table
from equigraph.groups import Groups, encode_groups
from equigraph.groups.encode import member_counts

UNNAMED = "group"


def attribute_groups(graph: Graph, sensitive_features: Any = None) -> dict[str, Groups]:
    """Return the groups of every attribute, by its name.

    Parameters
    ----------
    graph : Graph
        Whose nodes have the attributes.
    sensitive_features : frame, dict of columns, array of one or two dimensions, Series or Groups, optional
        The attributes, in node order or, where a pandas index or a dict names the nodes, by name. By default those
        that came with the graph.

    Returns
    -------
    dict of str to Groups
        Empty where there are none.

    Examples
    --------
    >>> graph = read_graph([[0, 1], [1, 0]])
    >>> found = attribute_groups(graph, {"team": ["red", "blue"], "age": [7, 8]})
    >>> {name: groups.names.tolist() for name, groups in found.items()}
    {'team': ['blue', 'red'], 'age': [7, 8]}
    """
    if sensitive_features is None:
        return {} if graph.groups is None else {graph.attribute or UNNAMED: graph.groups}
    if isinstance(sensitive_features, Groups):
        return {graph.attribute or UNNAMED: encode_groups(sensitive_features, n_nodes=graph.n_nodes)}
    found = {}
    for name, column in _columns(graph, sensitive_features).items():
        groups = column if isinstance(column, Groups) else _read(graph, column, name)
        found[name] = encode_groups(groups, n_nodes=graph.n_nodes)
    if not found:
        raise GroupsError("sensitive_features has no column: expected at least one attribute.")
    return found


def _columns(graph: Graph, given: Any) -> dict[str, Any]:
    """Return columns by the name of their attribute, as they were given."""
    if isinstance(given, Mapping):
        if any(_is_column(column) for column in given.values()):
            return {str(name): column for name, column in given.items()}
        return {graph.attribute or UNNAMED: given}  # of nodes to groups
    if is_table(given):
        import narwhals.stable.v2 as nw

        frame = nw.from_native(given)
        frame = frame.lazy().collect() if hasattr(given, "collect_schema") else frame
        # Single-column tables rather than columns: pandas keeps the index by which nodes are matched.
        return {str(name): frame.select(name).to_native() for name in frame.columns}
    if getattr(given, "ndim", 1) == 2 and given.shape[1] > 1:
        return {f"attribute {i}": given[:, i] for i in range(given.shape[1])}
    name = getattr(given, "name", None)
    return {name if isinstance(name, str) else graph.attribute or UNNAMED: given}


def _is_column(value: Any) -> bool:
    return isinstance(value, Groups) or (hasattr(value, "__len__") and not isinstance(value, (str, bytes)))


def _read(graph: Graph, column: Any, attribute: str) -> Groups:
    bare = Graph._trusted(graph.adjacency, graph.node_names)
    found = read_graph(bare, groups=column, attribute=None if is_table(column) else attribute).groups
    assert found is not None
    return found


def joint_groups(attributes: Mapping[str, Groups]) -> Groups:
    """Return the groups of people who agree in every attribute; who lacks one of them is in none.

    Examples
    --------
    >>> both = {"team": encode_groups(["red", "red", "blue"]), "age": encode_groups([7, 8, 7])}
    >>> joint_groups(both).names.tolist()
    [('blue', 7), ('red', 7), ('red', 8)]
    """
    columns = np.stack([groups.codes for groups in attributes.values()], axis=1)
    known = (columns >= 0).all(axis=1)
    if not known.any():
        raise GroupsError(
            f"No node has a value of each of {', '.join(attributes)}: there are no joint groups."
        )
    rows, members = np.unique(columns[known], axis=0, return_inverse=True)
    codes: NDArray[np.intp] = np.full(known.size, -1, dtype=np.intp)
    codes[known] = members.reshape(-1)
    names = [groups.names.tolist() for groups in attributes.values()]
    values = (tuple(name[code] for name, code in zip(names, row, strict=True)) for row in rows.tolist())
    return Groups(codes, object_array(values), member_counts(codes, len(rows)))
