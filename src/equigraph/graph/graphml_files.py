"""GraphML and GML files: read by networkx, after a look at what it would pass over in silence."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from equigraph.exceptions import GraphError, require
from equigraph.graph.adapters import with_integer_names
from equigraph.graph.limits import open_bytes

_NUMBERS = ("int", "integer", "long", "float", "double")
# What an element must say of itself.
_NEEDED = {"node": ("id",), "edge": ("source", "target")}


def read_graphml(path: Path) -> Any:
    """Read the one graph of a GraphML file as a networkx graph, with the defaults of its attributes filled in."""
    networkx = require("networkx", extra="io", purpose="Reading GraphML")
    shared = _scan(path)
    with open_bytes(path) as stream, warnings.catch_warnings():
        # It warns of what does not matter to a clustering, such as ports and attributes without a type.
        warnings.simplefilter("ignore")
        graph = networkx.read_graphml(stream)
    for data in (values for _, _, values in graph.edges(data=True)):
        _fill(data, {**shared, **graph.graph.get("edge_default", {})})
    for _, data in graph.nodes(data=True):
        _fill(data, {**shared, **graph.graph.get("node_default", {})})
    return with_integer_names(graph)


def _fill(data: dict[str, Any], defaults: dict[str, Any]) -> None:
    for name, value in defaults.items():
        data.setdefault(name, value)


def _elements(path: Path) -> Iterator[tuple[str, Any]]:
    from xml.etree.ElementTree import iterparse

    with open_bytes(path) as stream:
        for _, element in iterparse(stream):
            yield element.tag.rpartition("}")[2], element
            if element.tag.rpartition("}")[2] not in ("default", "desc"):
                element.clear()


def _scan(path: Path) -> dict[str, Any]:
    """Return the defaults of attributes of both nodes and edges; raise GraphError at what is read only in part."""
    n_graphs, shared = 0, {}
    for tag, element in _elements(path):
        n_graphs += tag == "graph"
        if n_graphs > 1:
            raise GraphError(
                f"{path.name} holds several graphs, one after or within another: expected one; save it without "
                "nested graphs."
            )
        for needed in _NEEDED.get(tag, ()):
            if element.get(needed) is None:
                what = "an edge" if tag == "edge" else "a node"
                raise GraphError(
                    f"{path.name} has {what} that does not say its {needed!r}: expected it for each."
                )
        if tag == "key" and element.get("for", "all") == "all":
            default = next((child for child in element if child.tag.endswith("default")), None)
            if default is not None:
                number = element.get("attr.type") in _NUMBERS
                shared[element.get("attr.name", "")] = float(default.text or "") if number else default.text
    return shared


def read_gml(path: Path) -> Any:
    """Read a GML file as a networkx graph."""
    networkx = require("networkx", extra="io", purpose="Reading GML")
    try:
        with open_bytes(path) as stream:
            graph = networkx.read_gml(stream)
    except networkx.NetworkXError as error:
        if "label" not in str(error):
            raise
        with open_bytes(path) as stream:
            graph = networkx.read_gml(stream, label="id")  # labels are optional in GML, ids are not
    return with_integer_names(graph)
