"""Select the attributes of a graph, with their weights, bins and joint groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.text import did_you_mean
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph.adapters import library_of, node_attribute
from equigraph.graph.attributes import attach, attribute_list, take_groups
from equigraph.graph.graph import Graph, as_features
from equigraph.graph.groups.attributes import (
    UNNAMED,
    AttributeOptions,
    Attributes,
    checked_weights,
    encode_attributes,
    encode_columns,
    joined_name,
    weights_of,
)
from equigraph.graph.groups.encode import Groups


def with_features(graph: Any, sensitive_features: Any = None, attribute_weights: Any = None) -> Graph:
    """Return a graph with given sensitive features, by default its own, and given attribute weights."""
    from equigraph.graph.read import read_graph

    known = read_graph(graph)
    if sensitive_features is not None:
        sensitive_features = named_feature(graph, known, sensitive_features)
        known = place_features(known, sensitive_features, known.positional or isinstance(graph, Graph))
    return known.weighted(attribute_weights)


def place_features(graph: Graph, sensitive_features: Any, order_known: bool, missing: str = "error") -> Graph:
    """Return a graph with all given attributes; ``missing`` says whether nodes may lack some."""
    given = take_groups(sensitive_features, None, None, graph, every=True)
    return attach(graph, given, missing=missing, unknown="error", order_known=order_known)


def named_feature(source: Any, graph: Graph, sensitive_features: Any) -> Any:
    """Look up node attributes given by name, such as ``"gender"``; other features are returned unchanged.

    A `source` that is a networkx, igraph or torch_geometric graph, a data set or a `Graph` has node attributes; for any
    other a text is the name of a file. A list with one text per node is the groups themselves.

    >>> import networkx as nx
    >>> network = nx.Graph([("ann", "bob")])
    >>> nx.set_node_attributes(network, {"ann": "girl", "bob": "boy"}, "gender")
    >>> from equigraph.graph import as_graph
    >>> named_feature(network, as_graph(network), "gender")["gender"].tolist()
    ['girl', 'boy']
    """
    if isinstance(sensitive_features, str):
        path = Path(sensitive_features)
        if path.is_file() or path.suffix or path.name != sensitive_features:
            return sensitive_features
        names = [sensitive_features]
    elif isinstance(sensitive_features, (list, tuple)) and len(sensitive_features) != graph.n_nodes:
        names = list(sensitive_features)
        # A list with repetitions holds groups, of the wrong number of nodes, not names of attributes.
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
            return sensitive_features
    else:
        return sensitive_features
    return node_attributes(source, graph, names)


def node_attributes(source: Any, graph: Graph, names: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return attributes by name, in node order: of a graph of another library, of a `Graph` or of a data set."""
    library = library_of(source)
    if library in ("networkx", "igraph", "torch_geometric"):
        return {name: node_attribute(source, library, name) for name in names}
    columns = dict(graph.features) if isinstance(source, (Graph, Mapping)) else {}
    if isinstance(source, Mapping):
        columns |= {
            key: value
            for key, value in source.items()
            if isinstance(value, np.ndarray) and value.shape == (graph.n_nodes,)
        }
    for name in names:
        if name not in columns:
            there = f"there are {', '.join(map(repr, columns))}" if columns else "the graph has none"
            raise GroupsError(
                f"There is no node attribute {name!r}{did_you_mean(name, columns)}, and no such file: {there}; give "
                "the groups, as one value per node or as a file, or the name of an attribute."
            )
    return {name: columns[name] for name in names}


def attributes_in_order(source: Any, graph: Graph, features: Any) -> tuple[Attributes | None, Any]:
    """Return the given attributes, by default those of the graph, and their columns in node order.

    Named values are matched by name; others are accepted only if the user knows the order of the nodes, as of a source
    that is a `Graph`; that of an edge table is sorted.
    """
    if features is None:
        return graph.attributes, None
    order_known = graph.positional or isinstance(source, Graph)
    plain = order_known and isinstance(features, np.ndarray) and features.shape == (graph.n_nodes,)
    if plain and (features.dtype.kind in "biu" or (features.dtype.kind == "U" and (features != "").all())):
        return encode_columns({UNNAMED: features}), features  # nothing to match, and nothing is missing
    if isinstance(features, (Groups, Attributes)):
        found = encode_attributes(features, n_nodes=graph.n_nodes)
        return found, {name: groups.values() for name, groups in found.groups.items()}
    placed = place_features(graph, named_feature(source, graph, features), order_known)
    return placed.attributes, placed.sensitive_features if placed.attribute is None else placed.features


def wanted_attributes(attribute: Any, intersect: Any = None) -> list[Any]:
    """Return the names of the attributes to read by the options of `read_graph`, those to keep first."""
    kept = attribute_list(attribute)
    members = dict.fromkeys(name for joint in _joints(intersect) for name in joint if name not in kept)
    return [*kept, *members]


def choose_attributes(graph: Graph, attribute: Any, intersect: Any, weights: Any, bins: Any) -> Graph:
    """Keep some attributes of a graph that has all wanted ones, and add joint groups, weights and bins."""
    joints = _joints(intersect)
    if not joints and weights is None and bins is None:
        return graph
    if graph.sensitive_features is None:
        raise ParameterError("attribute_weights and bins need attributes, and the graph has none.")
    # Attributes may have been given by the number of their column; from here on they have names.
    names = dict(zip(wanted_attributes(attribute, intersect) or graph.features, graph.features, strict=True))
    columns, bins = graph.features, _checked_bins(_renamed(bins, names), list(graph.features))
    kept = attribute_list(attribute) or ([] if joints else names)
    found: dict[str | None, NDArray[Any]] = {names[one]: columns[names[one]] for one in kept}
    for joint in joints:
        members = {names[one]: columns[names[one]] for one in joint}
        name = joined_name(list(members))
        if name in found:
            raise GroupsError(f"The attribute {name!r} is given twice: expected different attributes.")
        options = AttributeOptions(bins=bins)
        groups = encode_columns(members, missing=graph.missing, options=options).joint
        # Named by their values; None for nodes that lack one of them.
        found[name] = groups.values() if groups.n_ungrouped else groups.values().astype(str)
    weights = {} if weights is None else checked_weights(_renamed(weights, names))
    if weights:
        weights_of([str(name) for name in found], weights)
    # A single attribute keeps its name, if any.
    own = graph.attribute if not isinstance(graph.sensitive_features, dict) and not joints else None
    features, called = as_features(found, own)
    options = AttributeOptions(weights=weights, bins={name: bins[name] for name in bins if name in found})
    return graph._but(sensitive_features=features, attribute=called, attribute_options=options)


def _renamed(given: Any, names: Mapping[Any, str]) -> Any:
    if not isinstance(given, Mapping):
        return given
    return {names.get(name, name): value for name, value in given.items()}


def _joints(intersect: Any) -> list[list[Any]]:
    if intersect is None:
        return []
    listed = list(intersect) if isinstance(intersect, (list, tuple)) else [intersect]
    joints = [list(one) for one in listed] if listed and isinstance(listed[0], (list, tuple)) else [listed]
    for joint in joints:
        if len(joint) < 2 or len(set(map(str, joint))) < len(joint):
            raise ParameterError(
                f"intersect={intersect!r} must name two different attributes or more, such as "
                "('gender', 'needs')."
            )
    return joints


def _checked_bins(bins: Any, names: Sequence[str]) -> dict[str, int]:
    if bins is None:
        return {}
    if not isinstance(bins, Mapping):
        raise ParameterError(
            f"bins must be a mapping from attributes to numbers of bins, such as {{'age': 4}}; got {bins!r}."
        )
    for name in bins:
        if str(name) not in names:
            raise GroupsError(
                f"bins names {name!r}{did_you_mean(name, names)}, and the attributes are {', '.join(map(repr, names))}."
            )
    return {str(name): number for name, number in bins.items()}
