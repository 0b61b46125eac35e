"""Sensitive features of the nodes of a result or a curve: codes, columns of tables, and entries of JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

from numpy.typing import NDArray

from equigraph._utils.hooks import hook
from equigraph._utils.records import Tabular, versions
from equigraph.exceptions import GraphError, InputError, ParameterError
from equigraph.graph import Graph, read_graph
from equigraph.graph.features import with_features
from equigraph.graph.graph import as_features, named_features
from equigraph.graph.groups import AttributeOptions, Attributes, Groups, encode_attributes
from equigraph.graph.groups.attributes import UNNAMED, Features, checked_weights
from equigraph.graph.groups.encode import is_missing
from equigraph.graph.names import with_gaps
from equigraph.metrics.notions import NORMALIZED, NOTIONS, Notion
from equigraph.stores.blocks import BlockGraph

# Column of labels.csv with the groups; of several attributes there is one for each, such as group[gender].
GROUP = UNNAMED


class AttributeEntry(TypedDict):
    """Entry of JSON for an attribute."""

    name: str
    weight: float
    bins: int | None
    n_ungrouped: int


class Featured(Tabular):
    """Base class of results about the nodes of one graph with sensitive features."""

    sensitive_features: Any
    attribute: str | None
    attribute_options: AttributeOptions
    graph: Any = None  # None if it is not in memory

    @property
    def features(self) -> dict[str, NDArray[Any]]:
        """The columns of the sensitive features by name, empty if there are none."""
        return named_features(self.sensitive_features, self.attribute)

    @cached_property
    def attributes(self) -> Attributes | None:
        """All attributes as codes, None if there are none; nodes without a group are allowed."""
        if self.sensitive_features is None:
            return None
        if self.graph is not None and self.graph.sensitive_features is self.sensitive_features:
            found: Attributes | None = self.graph.attributes
            return found
        return encode_attributes(self.features, missing="ignore", options=self.attribute_options)

    @property
    def groups(self) -> Groups | None:
        """The groups as codes (joint groups of several attributes); None if there are none."""
        return None if self.attributes is None else self.attributes.joint

    def explore(self, graph: Any = None) -> Any:
        """Return a widget with the board and the graph, and the dial of a curve, for a notebook.

        Parameters
        ----------
        graph : graph, optional
            The graph that was clustered; by default that of the result. Without it there are no links.

        Returns
        -------
        anywidget.AnyWidget
            For Jupyter, marimo and other notebooks that show such widgets.

        Raises
        ------
        MissingDependencyError
            If the extra ``widget`` is not installed.
        """
        return hook("make_widget")(self, self.graph if graph is None else graph)


def group_columns(subject: Any) -> dict[str, NDArray[Any]]:
    """Return the columns of labels.csv that hold groups, with None, an empty cell, for a node without one."""
    several, columns = len(subject.features) > 1, {}
    for name, column in subject.features.items():
        absent = is_missing(column)
        columns[_head(name, several)] = with_gaps(column[~absent], absent) if absent.any() else column
    return columns


def _head(name: str, several: bool) -> str:
    return f"{GROUP}[{name}]" if several else GROUP


def attribute_entries(subject: Any) -> dict[str, Any]:
    """Return the entries of JSON for attributes: none for a single one without bins."""
    attributes, options = subject.attributes, subject.attribute_options
    if attributes is None or not (attributes.are_several or options.bins):
        return {}
    entries = [
        {
            "name": name,
            "weight": options.weight(name),
            "bins": options.bins.get(name),
            "n_ungrouped": groups.n_ungrouped,
        }
        for name, groups in attributes.groups.items()
    ]
    return {"attributes": entries}


def stored_features(
    entries: Sequence[AttributeEntry], columns: Mapping[str, NDArray[Any]], path: Path
) -> tuple[Features | None, str | None, AttributeOptions]:
    """Return sensitive features, their name and their options, from the columns of labels.csv and JSON."""
    options = AttributeOptions(
        weights=checked_weights({one["name"]: one["weight"] for one in entries if one["weight"] != 1}),
        bins={one["name"]: one["bins"] for one in entries if one["bins"] is not None},
    )
    if len(entries) < 2:
        return columns.get(GROUP), entries[0]["name"] if entries else None, options
    heads = {one["name"]: _head(one["name"], True) for one in entries}
    missing = next((head for head in heads.values() if head not in columns), None)
    if missing is not None:
        raise InputError(f"{path} has an attribute whose column {missing!r} is missing in the labels.")
    return *as_features({name: columns[head] for name, head in heads.items()}, None), options


def featured_graph(graph: Any, sensitive_features: Any, attribute_weights: Any = None) -> Any:
    """Return a graph or `BlockGraph` with given sensitive features, by default its own, and attribute weights."""
    if isinstance(graph, BlockGraph):
        nodes = with_features(graph.without_edges(), sensitive_features, attribute_weights)
        return graph.with_features_of(nodes)
    return with_features(graph, sensitive_features, attribute_weights)


def facts_of(graph: Any) -> dict[str, Any]:
    """Return the fields of a result or a curve that describe its graph, and the versions in use."""
    return {
        "node_names": graph.node_names,
        "sensitive_features": graph.sensitive_features,
        "versions": versions(),
        "input_hash": graph.fingerprint(),
        "attribute": graph.attribute,
        "attribute_options": graph.attribute_options,
    }


def notion_of(result: Any) -> Notion:
    """Return the notion of fairness of a result; the normalised balance if its method has none."""
    name = str(result.parameters.get("notion") or NORMALIZED.name)
    if name not in NOTIONS:
        raise ParameterError(
            "The clusters were made for a custom notion, whose score a result does not store: the effect of "
            "single moves and rules on it cannot be computed."
        )
    return NOTIONS[name]


def graph_of(subject: Any, graph: Any) -> Graph:
    """Return the graph of a result or a curve: its own, or a given one; raise GraphError if that is another graph.

    A graph without groups gets those of the subject.
    """
    if graph is None:
        if subject.graph is None:
            raise ParameterError(
                "The result does not hold its graph, as it was read from a folder or its edges are on disk: give "
                "graph=, the one that was clustered."
            )
        return subject.graph
    known = read_graph(graph)
    sizes = {column.size for column in subject.features.values()}
    if known.sensitive_features is None and sizes == {known.n_nodes}:
        parts = (known.adjacency, known.node_names, subject.sensitive_features, subject.attribute)
        known = Graph(*parts, missing="ignore", attribute_options=subject.attribute_options)
    if known.fingerprint() != subject.input_hash:
        raise GraphError(
            f"The graph ({known!r}) is not the one that was clustered: its hash is {known.fingerprint()[:12]}... "
            f"and {subject.input_hash[:12]}... was expected; give the same edges, weights, names and groups."
        )
    return known
