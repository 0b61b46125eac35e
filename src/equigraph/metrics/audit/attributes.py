"""Several sensitive features of one graph, each as codes, and their joint groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equigraph.exceptions import GroupsError
from equigraph.graph import Graph
from equigraph.graph.features import with_features
from equigraph.graph.names import object_array
from equigraph.groups import Attributes, Groups, encode_attributes, encode_groups
from equigraph.groups.attributes import UNNAMED, joint_codes
from equigraph.groups.encode import make_groups


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
    >>> from equigraph.graph import as_graph
    >>> graph = as_graph([[0, 1], [1, 0]])
    >>> found = attribute_groups(graph, {"team": ["red", "blue"], "age": [7, 8]})
    >>> {name: groups.names.tolist() for name, groups in found.items()}
    {'team': ['blue', 'red'], 'age': [7, 8]}
    """
    given = sensitive_features
    if given is None:
        return {} if graph.attributes is None else dict(graph.attributes.groups)
    if isinstance(given, (Groups, Attributes)):
        return dict(encode_attributes(given, n_nodes=graph.n_nodes, attribute=graph.attribute).groups)
    if isinstance(given, Mapping) and any(isinstance(column, Groups) for column in given.values()):
        return {str(name): _encoded(graph, name, column) for name, column in given.items()}
    if isinstance(given, Mapping) and not given:
        raise GroupsError("sensitive_features has no column: expected at least one attribute.")
    placed = with_features(Graph._trusted(graph.adjacency, graph.node_names), given)
    assert placed.attributes is not None
    if placed.attribute is None:
        return {graph.attribute or UNNAMED: placed.attributes.joint}
    return dict(placed.attributes.groups)


def _encoded(graph: Graph, name: Any, column: Any) -> Groups:
    if isinstance(column, Groups):
        return encode_groups(column, n_nodes=graph.n_nodes)
    return attribute_groups(graph, {name: column})[str(name)]


def joint_groups(attributes: Mapping[str, Groups]) -> Groups:
    """Return the groups of people who agree in every attribute, named by tuples; who lacks one of them is in none.

    Examples
    --------
    >>> both = {"team": encode_groups(["red", "red", "blue"]), "age": encode_groups([7, 8, 7])}
    >>> joint_groups(both).names.tolist()
    [('blue', 7), ('red', 7), ('red', 8)]
    """
    codes, combinations = joint_codes(list(attributes.values()))
    return make_groups(object_array(combinations), codes)
