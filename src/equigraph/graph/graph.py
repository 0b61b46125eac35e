"""The graph that everything else works on: an adjacency, node names and, if known, groups."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import GraphError, GroupsError, require
from equigraph.graph.names import as_names, check_unique, texts
from equigraph.graph.units import largest_weight, unit_weights
from equigraph.graph.validate import canonical_adjacency
from equigraph.groups.encode import Groups, as_column, encode_groups, is_missing
from equigraph.notebook import page_of
from equigraph.words import count


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph with names and, optionally, one group per node.

    Parameters
    ----------
    adjacency : scipy.sparse.csr_array of shape (n_nodes, n_nodes)
        Symmetric nonnegative weights with a zero diagonal. Checked as `check_adjacency` does.
    node_names : ndarray of shape (n_nodes,), optional
        Names of the nodes, all different: int64, text, or objects. By default 0, 1, 2, ...
    sensitive_features : ndarray of shape (n_nodes,), optional
        Group of each node, in node order; None for a node without one.
    attribute : str, optional
        Name of the attribute that the groups come from.
    positional : bool, default=True
        Whether the node order is the user's own. It is not for a graph that came as an edge list, whose
        nodes are sorted by name; groups are then matched by name only.
    missing : {"error", "ignore"}, default="error"
        What a node without a group is: a mistake, or one that counts for cohesion and sizes and for no group's share.
    dropped : ndarray, optional
        Names of the nodes that ``missing="drop"`` of `read_graph` left out.

    Examples
    --------
    >>> graph = Graph(
    ...     sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
    ...     attribute="team",
    ...     sensitive_features=np.array(["red", "blue", "red"]),
    ... )
    >>> graph
    Graph(3 nodes, 2 edges, 'team': 2 groups)
    >>> graph.node_names.tolist()
    [0, 1, 2]
    """

    adjacency: sparse.csr_array
    # Never None once built: the default becomes 0, 1, 2, ... in __post_init__.
    node_names: NDArray[Any] = None  # type: ignore[assignment]
    sensitive_features: NDArray[Any] | None = None
    attribute: str | None = None
    positional: bool = True
    missing: str = "error"
    dropped: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        adjacency = canonical_adjacency(self.adjacency)
        n = adjacency.shape[0]
        names = np.arange(n, dtype=np.int64) if self.node_names is None else as_names(self.node_names)
        if names.shape != (n,):
            raise GraphError(
                f"There are {names.size} node names for {count(n, 'node')}: expected one name per node."
            )
        check_unique(names, "the node names")
        groups = None if self.sensitive_features is None else as_column(self.sensitive_features)
        if groups is not None and groups.shape != (n,):
            raise GroupsError(
                f"There are {groups.size} groups for {count(n, 'node')}: expected one value per node."
            )
        for field, value in (("adjacency", adjacency), ("node_names", names), ("sensitive_features", groups)):
            object.__setattr__(self, field, value)

    @classmethod
    def _trusted(
        cls,
        adjacency: sparse.csr_array,
        node_names: NDArray[Any],
        sensitive_features: NDArray[Any] | None = None,
        attribute: str | None = None,
        positional: bool = True,
        missing: str = "error",
        dropped: NDArray[Any] | None = None,
    ) -> Graph:
        """Make a graph from parts that were checked already."""
        graph = object.__new__(cls)
        fields = (
            "adjacency", "node_names", "sensitive_features", "attribute", "positional", "missing", "dropped",
        )  # fmt: skip
        values = (adjacency, node_names, sensitive_features, attribute, positional, missing, dropped)
        for field, value in zip(fields, values, strict=True):
            object.__setattr__(graph, field, value)
        return graph

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of edges; each pair of nodes counts once."""
        return int(self.adjacency.nnz) // 2

    @cached_property
    def groups(self) -> Groups | None:
        """The groups as codes, encoded once; None where there are none.

        Raises
        ------
        GroupsError
            If a group is missing and `missing` does not say that this is meant.

        Examples
        --------
        >>> path = sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> graph = Graph(path, sensitive_features=["red", "blue", None], missing="ignore")
        >>> graph.groups.codes.tolist(), graph.groups.n_ungrouped
        ([1, 0, -1], 1)
        """
        if self.sensitive_features is None:
            return None
        return encode_groups(self.sensitive_features, missing=self.missing)

    @cached_property
    def unit(self) -> float:
        """The largest weight, of which methods and scores see every other as a share; 1 without edges."""
        return largest_weight(self.adjacency.data)

    @cached_property
    def unit_adjacency(self) -> sparse.csr_array:
        """The adjacency with weights in `unit`, which methods and scores work on: made once, shared where it can be.

        Examples
        --------
        >>> Graph(sparse.csr_array([[0, 4, 0], [4, 0, 1], [0, 1, 0]])).unit_adjacency.data.tolist()
        [1.0, 1.0, 0.25, 0.25]
        """
        return unit_weights(self.adjacency)

    @property
    def is_weighted(self) -> bool:
        """Whether any edge has a weight other than one."""
        data = self.adjacency.data
        return bool(data.size and (data.min() != 1 or data.max() != 1))

    def fingerprint(self) -> str:
        """Return a hash of the graph: edges, weights, names and groups.

        The same graph has the same fingerprint whatever object or file it came from. Names and groups are
        compared by their text, weights in double precision.

        Returns
        -------
        str
            SHA-256, in hexadecimal.

        Examples
        --------
        >>> one = Graph(sparse.csr_array([[0, 1], [1, 0]]))
        >>> two = Graph(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]))
        >>> one.fingerprint() == two.fingerprint()
        True
        """
        digest = hashlib.sha256()
        for name, array, dtype in (
            ("indptr", self.adjacency.indptr, "<i8"),
            ("indices", self.adjacency.indices, "<i8"),
            ("weights", self.adjacency.data, "<f8"),
        ):
            digest.update(f"{name}:{array.size};".encode())
            for part in _parts(array):
                digest.update(np.ascontiguousarray(part, dtype=dtype).data)
        _hash_texts(digest, "names", self.node_names)
        if self.sensitive_features is not None:
            _hash_groups(digest, self.sensitive_features)
        return digest.hexdigest()

    def to_networkx(self) -> Any:
        """Return the graph as a networkx Graph.

        Returns
        -------
        networkx.Graph
            Nodes in the same order, under their names; edges with a ``weight`` if the graph is weighted;
            the groups as the node attribute called `attribute` (``"group"`` if it has no name).

        Raises
        ------
        MissingDependencyError
            If networkx is not installed.
        """
        networkx = require("networkx", extra="io", purpose="Graph.to_networkx")
        result = networkx.Graph()
        names = self.node_names.tolist()
        result.add_nodes_from(names)
        if self.sensitive_features is not None:
            values = dict(zip(names, self.sensitive_features.tolist(), strict=True))
            networkx.set_node_attributes(result, values, self.attribute or "group")
        upper = sparse.triu(self.adjacency, format="coo")
        ends = zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True)
        if self.is_weighted:
            result.add_weighted_edges_from((names[i], names[j], w) for i, j, w in ends)
        else:
            result.add_edges_from((names[i], names[j]) for i, j, _ in ends)
        return result

    def _repr_html_(self) -> str:
        """Return the sizes of the groups, for a notebook."""
        groups = self.groups
        if groups is None:
            return page_of(repr(self), ["nodes", "edges"], [[self.n_nodes, self.n_edges]])
        rows = zip(groups.names.tolist(), groups.sizes.tolist(), strict=True)
        return page_of(repr(self), [self.attribute or "group", "nodes"], rows)

    def __repr__(self) -> str:
        parts = [count(self.n_nodes, "node"), count(self.n_edges, "edge")]
        parts += group_words(self.sensitive_features, self.attribute)
        return f"Graph({', '.join(parts)})"


def group_words(features: NDArray[Any] | None, attribute: str | None) -> list[str]:
    """Return what the repr of a graph tells about its groups, such as ``'team': 2 groups``."""
    if features is None:
        return []
    absent = is_missing(features)
    number = 0 if absent.all() else encode_groups(features, missing="ignore").n_groups
    groups = count(number, "group")
    told = [f"{attribute!r}: {groups}" if attribute else groups]
    return [*told, f"{np.count_nonzero(absent):,} without one"] if absent.any() else told


def _parts(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield an array in parts, so that a converted copy of it is never whole."""
    size = 1 << 20
    for start in range(0, array.size, size):
        yield array[start : start + size]


def _hash_groups(digest: Any, features: NDArray[Any]) -> None:
    _hash_texts(digest, "groups", features)
    absent = is_missing(features)
    if absent.any():  # or a node without a group would be one of the group "None"
        digest.update(b"ungrouped:")
        digest.update(np.packbits(absent).data)


def _hash_texts(digest: Any, name: str, values: NDArray[Any]) -> None:
    # The length before each text keeps ["ab", "c"] apart from ["a", "bc"].
    digest.update(f"{name}:{values.size};".encode())
    for part in _parts(values):
        joined = "".join(f"{len(text)}:{text}" for text in texts(part))
        digest.update(joined.encode("utf-8", "surrogatepass"))
