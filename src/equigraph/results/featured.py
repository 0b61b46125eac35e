"""What clusterings and curves have in common: the attributes of their nodes, and how these are kept."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from equigraph.exceptions import GraphError, InputError, ParameterError
from equigraph.graph import Graph, read_graph
from equigraph.graph.graph import as_features, named_features
from equigraph.graph.groups import AttributeOptions, Attributes, Groups, encode_attributes
from equigraph.graph.groups.attributes import UNNAMED, Features
from equigraph.graph.groups.encode import is_missing

# Column of labels.csv with the groups; of several attributes there is one for each, such as group[gender].
GROUP = UNNAMED


class Featured:
    """Anything that has the sensitive features of its nodes."""

    sensitive_features: Features | None
    attribute: str | None
    attribute_options: AttributeOptions
    graph: Graph | None = None

    @property
    def features(self) -> dict[str, NDArray[Any]]:
        """The columns of the sensitive features by name, empty where there are none."""
        return named_features(self.sensitive_features, self.attribute)

    @cached_property
    def attributes(self) -> Attributes | None:
        """All attributes as codes; None where there are none. Who has no group here was meant to have none."""
        if self.sensitive_features is None:
            return None
        if self.graph is not None and self.graph.sensitive_features is self.sensitive_features:
            return self.graph.attributes
        return encode_attributes(self.features, missing="ignore", options=self.attribute_options)

    @property
    def groups(self) -> Groups | None:
        """The groups as codes, of several attributes the joint ones; None where there are none."""
        return None if self.attributes is None else self.attributes.joint

    def group_columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of labels.csv that hold groups."""
        several = len(self.features) > 1
        return {column_head(name, several): group_cells(column) for name, column in self.features.items()}

    def attribute_entries(self) -> dict[str, Any]:
        """Return what JSON says of attributes beyond their name: nothing of a single one without bins."""
        attributes = self.attributes
        if attributes is None or not (attributes.are_several or self.attribute_options.bins):
            return {}
        return {
            "attributes": [
                {
                    "name": name,
                    "weight": self.attribute_options.weight(name),
                    "bins": self.attribute_options.bins.get(name),
                    "n_ungrouped": groups.n_ungrouped,
                }
                for name, groups in attributes.groups.items()
            ]
        }


def column_head(name: str, several: bool) -> str:
    """Return the head of a column of groups."""
    return f"{GROUP}[{name}]" if several else GROUP


def group_cells(groups: NDArray[Any]) -> NDArray[Any]:
    """Return groups as they are written: None, which is an empty cell, for every node without one."""
    absent = is_missing(groups)
    if not absent.any():
        return groups
    cells = groups.astype(object)
    cells[absent] = None
    return cells


def gaps_of(told: Mapping[str, Any], path: Path) -> dict[str, int]:
    """Return how many nodes lack each column of groups, as a JSON file tells."""
    listed = _listed(told, path)
    if len(listed) > 1:
        gaps = {column_head(one["name"], True): one["n_ungrouped"] for one in listed}
    else:
        gaps = {GROUP: told.get("n_ungrouped", 0)}
    return {head: number for head, number in gaps.items() if number}


def features_of(
    told: Mapping[str, Any], columns: Mapping[str, NDArray[Any]], path: Path
) -> tuple[Features | None, str | None, AttributeOptions]:
    """Return sensitive features, what they are called, and options, from labels.csv and what a JSON file tells."""
    listed = _listed(told, path)
    options = AttributeOptions(
        weights={one["name"]: float(one["weight"]) for one in listed if one["weight"] != 1},
        bins={one["name"]: one["bins"] for one in listed if one["bins"] is not None},
    )
    if len(listed) < 2:
        return columns.get(GROUP), listed[0]["name"] if listed else None, options
    heads = {one["name"]: column_head(one["name"], True) for one in listed}
    missing = next((head for head in heads.values() if head not in columns), None)
    if missing is not None:
        raise InputError(f"{path} tells of a column {missing!r} that the labels lack.")
    return *as_features({name: columns[head] for name, head in heads.items()}, None), options


def _listed(told: Mapping[str, Any], path: Path) -> list[dict[str, Any]]:
    listed = told.get("attributes", [])
    kinds: dict[str, Any] = {
        "name": str,
        "weight": (int, float),
        "bins": (int, type(None)),
        "n_ungrouped": int,
    }
    for one in listed if isinstance(listed, list) else [None]:
        if not isinstance(one, dict) or any(not isinstance(one.get(key), kinds[key]) for key in kinds):
            raise InputError(f"{path} has an entry 'attributes' of the wrong kind.")
    return list(listed)


def clustered_graph(graph: Any, subject: Any, attribute: str | None) -> Graph:
    """Return a graph with the groups of a result or curve, after a look at whether it is theirs.

    A graph without groups gets those of the subject.
    """
    known = read_graph(graph)
    sizes = {column.size for column in subject.features.values()}
    if known.sensitive_features is None and sizes == {known.n_nodes}:
        known = Graph(
            known.adjacency,
            known.node_names,
            subject.sensitive_features,
            attribute,
            missing="ignore",
            attribute_options=subject.attribute_options,
        )
    if known.fingerprint() != subject.input_hash:
        raise GraphError(
            f"The graph ({known!r}) is not the one that was clustered: its hash is {known.fingerprint()[:12]}... "
            f"and {subject.input_hash[:12]}... was expected; give the same edges, weights, names and groups."
        )
    return known


def graph_of(subject: Any, graph: Any) -> Graph:
    """Return the graph of a result: the one that is given, if it is the one that was clustered, or else its own."""
    if graph is not None:
        return clustered_graph(graph, subject, getattr(subject, "attribute", None))
    if subject.graph is None:
        raise ParameterError(
            "The result does not hold its graph, as it was read from a folder or its edges are on disk: give "
            "graph=, the one that was clustered."
        )
    return subject.graph
