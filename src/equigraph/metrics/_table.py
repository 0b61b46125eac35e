"""From labels, groups and graphs of any type to the arrays that the metrics are computed from."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph.exceptions import GroupsError, ParameterError
from equigraph.groups import Attributes, Groups, contingency_table, encode_attributes, encode_groups
from equigraph.groups.encode import as_column, is_missing, unique_values


@dataclass(frozen=True, eq=False)
class Labels:
    """Cluster of each node, as codes into the sorted label values. No cluster is empty.

    Attributes
    ----------
    codes : ndarray of shape (n_nodes,), dtype intp
        Cluster of each node, in ``range(n_clusters)``.
    values : ndarray of shape (n_clusters,)
        Label that each code stands for, sorted.
    sizes : ndarray of shape (n_clusters,), dtype intp
        Number of nodes of each cluster.
    """

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
    """Encode labels of any type, dropping unused values.

    Parameters
    ----------
    labels : array-like of shape (n_nodes,) or Labels
        One label per node: integers, strings, floats, booleans or objects.
    n_nodes : int, optional
        Number of nodes that the labels must cover.
    name : str
        Name of the argument, for the messages.

    Returns
    -------
    Labels
        Codes, values and sizes.

    Raises
    ------
    ParameterError
        If the shape or length is wrong, or a label is missing.

    Examples
    --------
    >>> encoded = encode_labels(["b", "a", "b"])
    >>> encoded.codes.tolist(), encoded.values.tolist(), encoded.sizes.tolist()
    ([1, 0, 1], ['a', 'b'], [1, 2])
    """
    if isinstance(labels, Labels):
        _check_length(labels.n_nodes, n_nodes, name)
        return labels
    try:
        column = as_column(labels)
    except GroupsError as error:
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
    values, codes = _compact_integers(column) or unique_values(column)
    codes = codes.astype(np.intp, copy=False)
    return Labels(codes, values, np.bincount(codes, minlength=values.size).astype(np.intp))


def _compact_integers(column: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]] | None:
    """Encode small nonnegative integers in O(n), without a sort; None if they are not."""
    if column.dtype.kind not in "iu" or column.min() < 0 or column.max() > 4 * column.size:
        return None
    codes = column.astype(np.intp)
    present = np.bincount(codes) > 0
    values = np.flatnonzero(present).astype(column.dtype)
    if not present.all():
        codes = (np.cumsum(present) - 1)[codes]
    return values, codes


def _check_length(length: int, n_nodes: int | None, name: str) -> None:
    if length == 0:
        raise ParameterError(f"{name} is empty: give at least one node.")
    if n_nodes is not None and length != n_nodes:
        raise ParameterError(
            f"{name} has {length} values where {n_nodes} nodes were expected: "
            "give one per node, in node order."
        )


@dataclass(frozen=True, eq=False)
class Table:
    """Labels, groups and their contingency table, made once."""

    labels: Labels
    groups: Groups
    counts: NDArray[np.int64]


def make_table(labels: ArrayLike | Labels, sensitive_features: ArrayLike | Groups) -> Table:
    """Count the nodes of every (cluster, group) pair, for labels and groups of any type.

    Nodes without a group are in no pair; the sizes of the clusters, in the labels, count them. Several attributes are
    refused.
    """
    encoded = encode_labels(labels)
    return _table(encoded, encode_groups(sensitive_features, n_nodes=encoded.n_nodes))


def make_tables(labels: ArrayLike | Labels, sensitive_features: Any) -> tuple[Attributes, list[Table]]:
    """Return the attributes and one table for each of them."""
    encoded = encode_labels(labels)
    attributes = encode_attributes(sensitive_features, n_nodes=encoded.n_nodes)
    return attributes, [_table(encoded, groups) for groups in attributes.groups.values()]


def mean_over_attributes(
    labels: ArrayLike | Labels, sensitive_features: Any, score: Callable[[Table], float]
) -> float:
    """Return the weighted mean over the attributes of a score; of one attribute the score itself."""
    attributes, tables = make_tables(labels, sensitive_features)
    return attributes.mean([score(table) for table in tables])


def _table(encoded: Labels, groups: Groups) -> Table:
    counts = contingency_table(encoded.codes, groups.codes, encoded.n_clusters, groups.n_groups)
    return Table(encoded, groups, counts)


def as_adjacency(adjacency: Any) -> sparse.csr_array:
    """Return the validated CSR adjacency of anything that is a graph, weights in units of the largest."""
    from equigraph.graph import as_graph

    return as_graph(adjacency).unit_adjacency


def check_n_clusters(n_clusters: int, n_nonempty: int) -> int:
    """Return n_clusters, or say why it cannot be the number of clusters of these labels."""
    try:
        number = operator.index(n_clusters)
    except TypeError:
        raise ParameterError(f"n_clusters must be an integer, not {n_clusters!r}.") from None
    if number < n_nonempty:
        raise ParameterError(
            f"n_clusters={number} is less than the {n_nonempty} clusters that the labels hold: "
            "give the number of clusters that was asked for."
        )
    return number


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise if a string option is none of its choices."""
    if value not in choices:
        raise ParameterError(f"{name} must be one of {', '.join(map(repr, choices))}, not {value!r}.")
