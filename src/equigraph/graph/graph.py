"""The `Graph` class: an adjacency with node names and, optionally, groups."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.text import count
from equigraph.exceptions import GraphError, GroupsError, require
from equigraph.graph.groups.attributes import (
    UNNAMED,
    AttributeOptions,
    Attributes,
    Features,
    checked_weights,
    encode_columns,
    joined_name,
    name_nodes,
    plain_columns,
    weights_of,
)
from equigraph.graph.groups.encode import Groups, is_missing
from equigraph.graph.names import as_names, check_unique, texts
from equigraph.graph.validate import canonical_adjacency, largest_weight, unit_weights


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """An undirected graph with names and, optionally, one attribute of its nodes or several.

    Parameters
    ----------
    adjacency : scipy.sparse.csr_array of shape (n_nodes, n_nodes)
        Symmetric nonnegative weights with a zero diagonal. Checked as `check_adjacency` does.
    node_names : ndarray of shape (n_nodes,), optional
        Names of the nodes, all different: int64, text, or objects. By default 0, 1, 2, ...
    sensitive_features : array-like, Series, mapping, dict of columns, frame or 2-D array, optional
        Group of each node, in node order or by name; None for a node without one. Several attributes are a dict of
        columns once the graph is built.
    attribute : str, optional
        Name of the attribute that the groups come from; of several, all names, made of the dict.
    positional : bool, default=True
        Whether the node order is the user's own. False for a graph from an edge list, whose nodes are sorted by name:
        its groups are matched by name only.
    named : bool, optional
        Whether the nodes have names, by which a Series or frame is matched; without names it is taken in its order.
        True by default, unless the order is the user's own and the names are 0, 1, 2, ...
    missing : {"error", "ignore"}, default="error"
        Whether a node without a group is an error, or counts for cohesion and sizes but for no group's share.
    dropped : ndarray, optional
        Names of the nodes that ``missing="drop"`` of `read_graph` left out; the repr shows their number.
    attribute_options : AttributeOptions, optional
        Weights of the attributes, and numbers of bins.

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
    >>> Graph(
    ...     graph.adjacency, sensitive_features={"team": ["red", "blue", "red"], "left": [True, True, False]}
    ... )
    Graph(3 nodes, 2 edges, 'team': 2 groups, 'left': 2 groups)
    """

    adjacency: sparse.csr_array
    # Never None once built: the default becomes 0, 1, 2, ... in __post_init__.
    node_names: NDArray[Any] = None  # type: ignore[assignment]
    sensitive_features: Features | None = None
    attribute: str | None = None
    positional: bool = True
    # Never None once built, as for the names.
    named: bool = None  # type: ignore[assignment]
    missing: str = "error"
    dropped: NDArray[Any] | None = None
    attribute_options: AttributeOptions = AttributeOptions()  # noqa: RUF009 (it cannot change)

    def __post_init__(self) -> None:
        adjacency = canonical_adjacency(self.adjacency)
        n = adjacency.shape[0]
        names = np.arange(n, dtype=np.int64) if self.node_names is None else as_names(self.node_names)
        if names.shape != (n,):
            raise GraphError(
                f"There are {names.size} node names for {count(n, 'node')}: expected one name per node."
            )
        check_unique(names, "the node names")
        given: Any = self.sensitive_features
        if given is not None and name_nodes(given):
            given = self._placed(given, names, self.named)
        columns = {} if given is None else plain_columns(given)
        for column in columns.values():
            if column.shape != (n,):
                raise GroupsError(
                    f"There are {column.size} groups for {count(n, 'node')}: expected one value per node."
                )
        features, attribute = as_features(columns, self.attribute)
        named = _has_names(names, self.positional) if self.named is None else self.named
        self.__dict__.update(adjacency=adjacency, node_names=names, named=named)
        self.__dict__.update(sensitive_features=features, attribute=attribute)

    @classmethod
    def _placed(cls, features: Any, names: NDArray[Any], named: bool | None) -> Features | None:
        """Return features that name their nodes in node order, with None for nodes not named."""
        from equigraph.graph.attributes import attach, take_groups

        nodes = cls._trusted(sparse.csr_array((names.size, names.size)), names, named=named)
        given = take_groups(features, None, None, nodes, every=True)
        return attach(nodes, given, missing="ignore", unknown="error", order_known=True).sensitive_features

    @classmethod
    def _trusted(cls, adjacency: sparse.csr_array, node_names: NDArray[Any], **others: Any) -> Graph:
        """Build a graph from validated parts, without checking them."""
        graph = object.__new__(cls)
        defaults = {field.name: field.default for field in fields(cls)}
        graph.__dict__.update({**defaults, "adjacency": adjacency, "node_names": node_names, **others})
        if graph.named is None:
            graph.__dict__["named"] = _has_names(node_names, graph.positional)
        return graph

    def _but(self, **changes: Any) -> Graph:
        """Return a copy with some parts replaced, without checking them."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return Graph._trusted(**{**parts, **changes})

    def weighted(self, attribute_weights: Mapping[str, float] | None) -> Graph:
        """Return a copy with other attribute weights; with None, the graph itself.

        Parameters
        ----------
        attribute_weights : mapping from attribute to number, optional
            Weights of some attributes; the others weigh 1.

        Raises
        ------
        ParameterError
            If there is no such attribute, or a weight is negative.

        Examples
        --------
        >>> pair = sparse.csr_array([[0, 1], [1, 0]])
        >>> graph = Graph(pair, sensitive_features={"team": ["red", "blue"], "left": [True, False]})
        >>> graph.weighted({"team": 3}).attributes.weights.tolist()
        [0.75, 0.25]
        """
        if attribute_weights is None:
            return self
        options = replace(self.attribute_options, weights=checked_weights(attribute_weights))
        if self.sensitive_features is not None:
            weights_of(list(self.features), options.weights)
        return self._but(attribute_options=options)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of edges; each pair of nodes counts once."""
        return int(self.adjacency.nnz) // 2

    @property
    def features(self) -> dict[str, NDArray[Any]]:
        """The columns of the sensitive features by name, empty if there are none."""
        return named_features(self.sensitive_features, self.attribute)

    @cached_property
    def attributes(self) -> Attributes | None:
        """All attributes as codes, encoded once; None if there are none."""
        if self.sensitive_features is None:
            return None
        return encode_columns(self.features, missing=self.missing, options=self.attribute_options)

    @cached_property
    def groups(self) -> Groups | None:
        """The groups as codes (joint groups of several attributes), encoded once; None if there are none.

        Raises
        ------
        GroupsError
            If a group is missing and `missing` is "error".

        Examples
        --------
        >>> path = sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> graph = Graph(path, sensitive_features=["red", "blue", None], missing="ignore")
        >>> graph.groups.codes.tolist(), graph.groups.n_ungrouped
        ([1, 0, -1], 1)
        """
        return None if self.attributes is None else self.attributes.joint

    @cached_property
    def unit(self) -> float:
        """The largest weight, in units of which methods and scores see the weights; 1 without edges."""
        return largest_weight(self.adjacency.data)

    @cached_property
    def unit_adjacency(self) -> sparse.csr_array:
        """The adjacency in units of `unit`, for methods and scores; computed once, without a copy if possible.

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
        return self._hash

    @cached_property
    def _hash(self) -> str:
        digest = hashlib.sha256()
        for name, array, dtype in (
            ("indptr", self.adjacency.indptr, "<i8"),
            ("indices", self.adjacency.indices, "<i8"),
            ("weights", self.adjacency.data, "<f8"),
        ):
            digest.update(f"{name}:{array.size};".encode())
            for part in _chunks(array):
                digest.update(np.ascontiguousarray(part, dtype=dtype).data)
        _hash_texts(digest, "names", self.node_names)
        hash_features(digest, self.sensitive_features)
        return digest.hexdigest()

    def to_networkx(self) -> Any:
        """Return the graph as a networkx Graph.

        Returns
        -------
        networkx.Graph
            Nodes in the same order, under their names; edges with a ``weight`` if the graph is weighted;
            the groups as the node attribute called `attribute` (``"group"`` if it has no name), several by their names.

        Raises
        ------
        MissingDependencyError
            If networkx is not installed.
        """
        networkx = require("networkx", extra="io", purpose="Graph.to_networkx")
        result = networkx.Graph()
        names = self.node_names.tolist()
        result.add_nodes_from(names)
        for name, column in self.features.items():
            values = dict(zip(names, column.tolist(), strict=True))
            networkx.set_node_attributes(result, values, name)
        upper = sparse.triu(self.adjacency, format="coo")
        ends = zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True)
        if self.is_weighted:
            result.add_weighted_edges_from((names[i], names[j], w) for i, j, w in ends)
        else:
            result.add_edges_from((names[i], names[j]) for i, j, _ in ends)
        return result

    def _repr_html_(self) -> str:
        """Return the sizes of the groups, for a notebook."""
        from equigraph._utils.notebook import page_of

        if self.attributes is None:
            return page_of(repr(self), ["nodes", "edges"], [[self.n_nodes, self.n_edges]])
        several = self.attributes.are_several
        rows = [
            [f"{attribute}: {name}" if several else name, size]
            for attribute, groups in self.attributes.groups.items()
            for name, size in zip(groups.names.tolist(), groups.sizes.tolist(), strict=True)
        ]
        return page_of(repr(self), ["group" if several else self.attribute or "group", "nodes"], rows)

    def __repr__(self) -> str:
        parts = [count(self.n_nodes, "node"), count(self.n_edges, "edge")]
        parts += group_words(self.sensitive_features, self.attribute, self.attribute_options)
        if self.dropped is not None and self.dropped.size:
            parts.append(f"{self.dropped.size:,} left out")
        return f"Graph({', '.join(parts)})"


def _has_names(names: NDArray[Any], positional: bool) -> bool:
    """Return whether nodes have names; in the user's order, 0, 1, 2, ... are positions."""
    return not positional or names.dtype.kind != "i" or not np.array_equal(names, np.arange(names.size))


def as_features(
    columns: Mapping[str | None, NDArray[Any]], attribute: str | None
) -> tuple[Features | None, str | None]:
    """Return columns as a graph stores them, a single one as an array, and the name of the attribute."""
    if len(columns) < 2:
        name, column = next(iter(columns.items()), (attribute, None))
        return column, attribute if attribute is not None else name
    several = {str(name): column for name, column in columns.items()}
    return several, joined_name(list(several))


def named_features(features: Features | None, attribute: str | None) -> dict[str, NDArray[Any]]:
    """Return the columns of a graph or a result by name; a single unnamed one is called `UNNAMED`."""
    if features is None:
        return {}
    return features if isinstance(features, dict) else {attribute or UNNAMED: features}


def group_words(
    features: Features | None, attribute: str | None, options: AttributeOptions | None = None
) -> list[str]:
    """Return the parts of the repr of a graph about its groups, such as ``'team': 2 groups``."""
    parts = []
    for name, column in named_features(features, attribute).items():
        absent = is_missing(column)
        number = 0
        if not absent.all():
            number = encode_columns({name: column}, missing="ignore", options=options)[name].n_groups
        groups = count(number, "group")
        parts.append(f"{name!r}: {groups}" if attribute else groups)
        parts += [f"{np.count_nonzero(absent):,} without one"] if absent.any() else []
    return parts


def _chunks(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield an array in parts, so that only one part is converted at a time."""
    size = 1 << 20
    for start in range(0, array.size, size):
        yield array[start : start + size]


def hash_features(digest: Any, features: Features | None) -> None:
    """Update a hash with groups; several attributes with their names."""
    if isinstance(features, dict):
        _hash_texts(digest, "attributes", np.array(list(features), dtype=object))
    for column in named_features(features, None).values():
        _hash_texts(digest, "groups", column)
        absent = is_missing(column)
        if absent.any():  # else a node without a group would be like one of the group "None"
            digest.update(b"ungrouped:")
            digest.update(np.packbits(absent).data)


def _hash_texts(digest: Any, name: str, values: NDArray[Any]) -> None:
    # The length before each text keeps ["ab", "c"] apart from ["a", "bc"].
    digest.update(f"{name}:{values.size};".encode())
    for part in _chunks(values):
        joined = "".join(f"{len(text)}:{text}" for text in texts(part))
        digest.update(joined.encode("utf-8", "surrogatepass"))
