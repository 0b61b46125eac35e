"""Nodes of a graph and their attributes, by name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.text import did_you_mean, listed
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph import Graph, as_graph
from equigraph.graph.attributes import Values, attach, take_groups, values_of_table
from equigraph.graph.groups.encode import is_missing
from equigraph.graph.names import NodePlaces, name_text, texts
from equigraph.graph.tables import is_table, read_table


class Facts:
    """A graph and the attributes of its nodes, by name; a column without a name is the attribute requested first.

    With ``missing="ignore"``, as in `read_graph`, nodes without a value have no group. The same holds for a graph that
    was read in this way.
    """

    def __init__(self, graph: Any, sensitive_features: Any = None, missing: str = "error") -> None:
        self.graph: Graph = as_graph(graph)
        self._missing = missing
        # The nodes of an edge table are sorted implicitly; the order of a Graph is visible to the user.
        self._order_known = self.graph.positional or isinstance(graph, Graph) or sensitive_features is None
        self._given = _columns(self.graph, sensitive_features)
        self._read: dict[str, NDArray[Any]] = {}
        self._codes: dict[str, tuple[list[str], NDArray[np.intp]]] = {}

    @classmethod
    def of(cls, graph: Any, sensitive_features: Any = None) -> Facts:
        """Return the facts of a graph, which may be facts already."""
        return graph if isinstance(graph, Facts) else cls(graph, sensitive_features)

    @cached_property
    def _places(self) -> NodePlaces:
        return NodePlaces(self.graph.node_names)

    def node(self, name: Hashable) -> int:
        """Return the index of a node; names are compared as text, so that names read from a file match numbers."""
        return self._places.of(name, "The rules name {}, which is not a node of the graph")

    def values(self, attribute: str) -> NDArray[Any]:
        """Return the value of an attribute for each node, None if missing."""
        if attribute not in self._read:
            # A column without a name stands for one attribute only, the first that the rules name.
            key: str | None = attribute if attribute in self._given or self._read else None
            if key not in self._given:
                raise ParameterError(self._unknown(attribute))
            self._read[attribute] = self._in_order(self._given[key], attribute)
        return self._read[attribute]

    def _in_order(self, column: Any, attribute: str) -> NDArray[Any]:
        """Return a column in the order of the nodes."""
        own = next((name for name, one in self.graph.features.items() if one is column), None)
        groups = None if own is None or self.graph.attributes is None else self.graph.attributes[own]
        missing = "ignore" if groups is not None and groups.n_ungrouped else self._missing
        given = [column] if isinstance(column, Values) else take_groups(column, attribute, None, self.graph)
        placed = attach(self.graph, given, missing=missing, unknown="error", order_known=self._order_known)
        (values,) = placed.features.values()
        return values

    def _unknown(self, attribute: str) -> str:
        names = [name for name in self._given if name is not None]
        there = f"there is {listed(map(repr, names))}" if names else "no attribute has a name"
        return (
            f"The rules name the attribute {attribute!r}{did_you_mean(attribute, names)}, and {there}: add it to the "
            "attributes of the nodes (sensitive_features, or groups and attribute where a graph is read)."
        )

    def group(self, attribute: str, value: Hashable) -> str:
        """Return the text of a value of an attribute."""
        known, _ = self.codes(attribute)
        if name_text(value) not in known:
            raise ParameterError(
                f"The rules name {attribute} {value!r}, which no node has{did_you_mean(value, known)}: expected "
                f"one of {', '.join(map(repr, known[:10]))}{', ...' if len(known) > 10 else ''}."
            )
        return name_text(value)

    def codes(self, attribute: str) -> tuple[list[str], NDArray[np.intp]]:
        """Return the sorted texts of the values of an attribute, and each node's index among them, -1 for none."""
        if attribute not in self._codes:
            values = self.values(attribute)
            known = ~is_missing(values)
            names, found = np.unique(np.asarray(texts(values[known]), dtype=str), return_inverse=True)
            codes = np.full(values.size, -1, dtype=np.intp)
            codes[known] = found
            self._codes[attribute] = names.tolist(), codes
        return self._codes[attribute]


def _columns(graph: Graph, given: Any) -> dict[str | None, Any]:
    """Return the columns, as given, by the name of their attribute."""
    if given is None:
        own = graph.sensitive_features
        if isinstance(own, dict):
            return dict(own.items())
        return {} if own is None else {graph.attribute: own}
    if isinstance(given, Mapping):
        if any(
            isinstance(column, (str, bytes)) or not hasattr(column, "__len__") for column in given.values()
        ):
            raise GroupsError(
                "sensitive_features must be a dict of columns, such as {'gender': one value per node}, where rules "
                "name attributes."
            )
        return {str(name): column for name, column in given.items()}
    if is_table(given):
        # One of its columns, or its index, may name the nodes.
        return {one.attribute: one for one in values_of_table(read_table(given), (), None, graph, every=True)}
    name = getattr(given, "name", None)
    return {name if isinstance(name, str) else None: given}
