"""Conversion of labels, groups and graphs of any type to the arrays that metrics are computed from."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.text import count
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph import Graph, as_graph
from equigraph.graph.adapters import labels_of_communities
from equigraph.graph.groups import Attributes, Groups, contingency_table, encode_attributes, encode_groups
from equigraph.graph.groups.attributes import columns_of
from equigraph.graph.groups.encode import as_column, column_of, is_missing, names_of_rows, unique_values
from equigraph.graph.labels import labels_in_order
from equigraph.graph.names import canonical, node_places, texts


@dataclass(frozen=True, eq=False)
class Labels:
    """Cluster of each node, as codes into the sorted label values. No cluster is empty."""

    codes: NDArray[np.intp]
    values: NDArray[Any]
    sizes: NDArray[np.intp]

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.codes.size)

    @property
    def n_clusters(self) -> int:
        """Number of non-empty clusters."""
        return int(self.sizes.size)


def encode_labels(labels: ArrayLike | Labels, *, n_nodes: int | None = None, name: str = "labels") -> Labels:
    """Encode labels of any type, dropping unused values."""
    if isinstance(labels, Labels):
        _check_length(labels.n_nodes, n_nodes, name)
        return labels
    labels = labels_of_communities(labels)
    try:
        column = as_column(labels)
    except GroupsError as error:
        if names_of_rows(labels) is not None:
            raise ParameterError(f"{name}: {error}") from error
        raise ParameterError(
            f"{name} must be one-dimensional with one label per node, shape (n_nodes,)."
        ) from error
    _check_length(column.size, n_nodes, name)
    missing = np.flatnonzero(is_missing(column))
    if missing.size:
        raise ParameterError(
            f"{missing.size} of {column.size} {name} are missing (first at position {missing[0]}): "
            "give every node a label."
        )
    values, codes = unique_values(column)
    codes = codes.astype(np.intp, copy=False)
    return Labels(codes, values, np.bincount(codes, minlength=values.size).astype(np.intp))


def _check_length(length: int, n_nodes: int | None, name: str) -> None:
    if length == 0:
        raise ParameterError(f"{name} is empty: give at least one node.")
    if n_nodes is not None and length != n_nodes:
        raise ParameterError(
            f"{name} has {length} values where {n_nodes} nodes were expected: "
            "give one per node, in node order."
        )


@dataclass(frozen=True, eq=False)
class LabelTable:
    """Labels, groups and their contingency table, counted once."""

    labels: Labels
    groups: Groups

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Nodes of every (cluster, group) pair; nodes without a group are in no pair, but count in the sizes."""
        labels, groups = self.labels, self.groups
        return contingency_table(labels.codes, groups.codes, labels.n_clusters, groups.n_groups)


def make_table(labels: ArrayLike | Labels, sensitive_features: ArrayLike | Groups) -> LabelTable:
    """Return the table of labels and groups of any type. Several attributes are refused."""
    labels, sensitive_features = in_one_order(labels, sensitive_features, ("labels", "sensitive_features"))
    encoded = encode_labels(labels)
    return LabelTable(encoded, encode_groups(sensitive_features, n_nodes=encoded.n_nodes))


def make_tables(labels: ArrayLike | Labels, sensitive_features: Any) -> tuple[Attributes, list[LabelTable]]:
    """Return the attributes and one table for each of them."""
    labels, sensitive_features = _columns_in_one_order(labels, sensitive_features)
    encoded = encode_labels(labels)
    attributes = encode_attributes(sensitive_features, n_nodes=encoded.n_nodes)
    return attributes, [LabelTable(encoded, groups) for groups in attributes.groups.values()]


def mean_over_attributes(
    labels: ArrayLike | Labels, sensitive_features: Any, score: Callable[[LabelTable], Any]
) -> float:
    """Return the weighted mean of a score over the attributes; for one attribute the score itself."""
    attributes, tables = make_tables(labels, sensitive_features)
    return attributes.mean([float(score(table)) for table in tables])


def _columns_in_one_order(labels: Any, features: Any) -> tuple[Any, Any]:
    """Apply `in_one_order` to labels and one attribute or several."""
    labels, columns = labels_of_communities(labels), columns_of(features)
    if names_of_rows(labels) is None and all(names_of_rows(one) is None for one in columns.values()):
        return labels, features
    names = ("labels", "sensitive_features")
    if None in columns:
        return in_one_order(labels, features, names)
    return column_of(labels), {name: in_one_order(labels, one, names)[1] for name, one in columns.items()}


def in_one_order(first: Any, second: Any, names: tuple[str, str]) -> tuple[Any, Any]:
    """Return two columns of the same nodes in the order of the first, matched by name where names are given."""
    first, second = labels_of_communities(first), labels_of_communities(second)
    keys, other_keys = names_of_rows(first), names_of_rows(second)
    if keys is None and other_keys is None:
        return first, second
    if keys is None or other_keys is None:
        named, other = names if other_keys is None else names[::-1]
        # A default pandas index names rows only if the other column has names that are no index.
        index, other_index = _index_of(first), _index_of(second)
        both = index is not None and other_index is not None
        keys, other_keys = index if keys is None else keys, other_index if other_keys is None else other_keys
        if both or keys is None or other_keys is None:
            raise ParameterError(
                f"{named} names its nodes and {other} does not, so they cannot be matched: name the nodes of both, "
                "by the same pandas index or as dicts, or give both as arrays in node order."
            )
    return column_of(first), column_of(second)[_places(keys, other_keys, names)]


def _index_of(values: Any) -> NDArray[Any] | None:
    """Return the index of a pandas object, the default one too."""
    return values.index.to_numpy() if hasattr(getattr(values, "index", None), "to_numpy") else None


def _places(keys: NDArray[Any], other: NDArray[Any], names: tuple[str, str]) -> NDArray[np.intp]:
    """Return where in `other` each of the keys is; their Unicode composition may differ."""
    place, wanted = node_places(other), texts(keys)
    found = [place.get(text, place.get(canonical(text), -1)) for text in wanted]
    absent = [text for text, at in zip(wanted, found, strict=True) if at < 0]
    if absent or not len(set(found)) == keys.size == other.size:
        what = f"{names[1]} lacks {absent[0]!r}" if absent else "one of them has more, or a name twice"
        raise ParameterError(
            f"{names[0]} ({count(keys.size, 'name')}) and {names[1]} ({other.size:,}) name different nodes ({what}): "
            "expected the same ones, each once."
        )
    return np.array(found, dtype=np.intp)


@dataclass(frozen=True, eq=False)
class Nodes:
    """A graph to score and the object that it was read from; puts labels and attributes in node order."""

    graph: Graph
    source: Any

    @property
    def adjacency(self) -> sparse.csr_array:
        """The adjacency, weights in units of the largest."""
        return self.graph.unit_adjacency

    def labels(self, labels: Any, name: str = "labels") -> Labels:
        """Return labels, matched by name if they have names."""
        if isinstance(labels, Labels):
            return encode_labels(labels, n_nodes=self.graph.n_nodes, name=name)
        return encode_labels(labels_in_order(labels, self.graph, name), name=name)

    def attributes(self, sensitive_features: Any, attribute: str | None = None) -> Attributes | None:
        """Return attributes, matched by name if they have names; by default those of the graph.

        Groups get the name of the attribute.
        """
        if isinstance(sensitive_features, (Attributes, Groups)):
            return encode_attributes(sensitive_features, n_nodes=self.graph.n_nodes, attribute=attribute)
        from equigraph.graph.features import attributes_in_order

        return attributes_in_order(self.source, self.graph, sensitive_features)[0]


def read_nodes(adjacency: Any) -> Nodes:
    """Read a graph of any type."""
    return Nodes(as_graph(adjacency), adjacency)


def check_n_clusters(n_clusters: int, n_nonempty: int) -> int:
    """Return n_clusters; raise ParameterError if it cannot be the number of clusters of these labels."""
    try:
        number = operator.index(n_clusters)
    except TypeError:
        raise ParameterError(f"n_clusters must be an integer, not {n_clusters!r}.") from None
    if number < n_nonempty:
        raise ParameterError(
            f"n_clusters={number!r} is less than the {n_nonempty} clusters that the labels hold: "
            "give the number of clusters that was asked for."
        )
    return number
