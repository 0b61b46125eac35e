"""Put labels onto the nodes of a graph: by position, or by the names of the nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.text import count
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph.adapters import labels_of_communities
from equigraph.graph.attributes import by_name, keys_of_index
from equigraph.graph.graph import Graph
from equigraph.graph.groups.encode import column_of, is_missing
from equigraph.graph.names import object_array
from equigraph.graph.tables import row_labels


def labels_in_order(labels: Any, graph: Graph, what: str = "labels", *, gaps: bool = False) -> NDArray[Any]:
    """Return the labels that come beside a graph as an array in node order.

    Communities of other libraries are labels too. They are matched by name where both have names. With `gaps` some
    nodes may have none; these get None.

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
            keys = keys_of_index(*row_labels(labels), graph, what)
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
