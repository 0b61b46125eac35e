"""Turn any object that holds a graph into a Graph."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from equigraph._utils.parameters import check_known
from equigraph.exceptions import GraphError, ParameterError
from equigraph.graph.adapters import library_of, rows_from
from equigraph.graph.edges import DUPLICATES, Ends, Weight, graph_from_rows
from equigraph.graph.graph import Graph
from equigraph.graph.names import check_unique
from equigraph.graph.tables import edge_rows, is_table, matrix_and_names, read_table
from equigraph.graph.validate import SYMMETRIZE, canonical_adjacency, check_dtype

GRAPH_LIBRARIES = ("networkx", "igraph", "networkit", "torch_geometric")

ACCEPTED = (
    "a scipy sparse matrix or array, a numpy array, nested lists, a networkx, igraph or networkit graph, a "
    "torch_geometric Data, a pandas, polars or pyarrow table, a data set of equigraph.datasets, or an equigraph Graph"
)


def as_graph(
    X: Any, *, symmetrize: str | None = None, duplicates: str = "error", dtype: DTypeLike | None = None
) -> Graph:
    """Turn any object that holds a graph into a validated Graph.

    Parameters
    ----------
    X : object
        A `Graph` (returned as it is); an adjacency matrix as a scipy sparse matrix or array, numpy array
        or nested lists; a networkx, igraph or networkit graph; a torch_geometric ``Data``; a pandas,
        polars or pyarrow table; a data set, such as of ``datasets.fetch_drugnet()``. A table with columns source and
        target (or from and to, src and dst, node1 and node2, node_1 and node_2, i and j), or with two or three
        columns, is an edge table, whose
        weights are in a column after these called weight, weights, w, value, strength or count;
        any other table must be a square matrix, whose column names are the names of the nodes.
    symmetrize : {"max", "min", "mean", "sum"}, optional
        How to combine the two directions of a pair, for directed edges. Given for an edge table it makes
        its rows directed: ``"min"`` then keeps the reciprocated edges. Undirected graph objects have
        nothing to combine.
    duplicates : {"error", "sum", "max", "min", "mean", "first"}, default="error"
        What to do with an edge that is listed more than once with conflicting weights. Equal weights are
        one edge, unless ``"sum"`` asks to add up all rows of a pair; without weights every row counts 1 then.
    dtype : float32 or float64, optional
        Type of the weights. By default float32 stays float32 and everything else becomes float64.

    Returns
    -------
    Graph
        The graph. Matrices and graph objects keep their node order. The nodes of an edge table are sorted
        (integers by value, otherwise by text), so that the order of its rows does not matter.

    Raises
    ------
    GraphError
        If the object is none of these, or not a graph that can be clustered.

    Warns
    -----
    SelfLoopWarning
        If there are self-loops; they are dropped.

    Examples
    --------
    >>> as_graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    Graph(3 nodes, 2 edges)
    >>> import networkx as nx
    >>> as_graph(nx.path_graph(["ann", "bob", "cem"])).node_names.tolist()
    ['ann', 'bob', 'cem']
    >>> import polars as pl
    >>> as_graph(pl.DataFrame({"source": [7, 3], "target": [3, 1]})).node_names.tolist()
    [1, 3, 7]
    """
    return convert(X, symmetrize=symmetrize, duplicates=duplicates, dtype=dtype)


def check_merging(symmetrize: str | None, duplicates: str, dtype: DTypeLike | None) -> None:
    """Raise ParameterError unless all three are known."""
    check_known("symmetrize", symmetrize, (None, *SYMMETRIZE))
    check_known("duplicates", duplicates, DUPLICATES)
    check_dtype(dtype)


def convert(
    X: Any,
    *,
    symmetrize: str | None = None,
    duplicates: str = "error",
    dtype: DTypeLike | None = None,
    weight: Weight = None,
    ends: Ends | None = None,
) -> Graph:
    """Implement `as_graph`, with a choice of weights and of the columns of the ends."""
    check_merging(symmetrize, duplicates, dtype)
    merging: dict[str, Any] = {"symmetrize": symmetrize, "duplicates": duplicates, "dtype": dtype}
    library, names = library_of(X), None
    if ends is not None and library in (None, *GRAPH_LIBRARIES):
        raise ParameterError(
            f"source and target are columns of an edge table, and a {type(X).__name__} has none."
        )
    if isinstance(X, Graph):
        return without_weights(X) if weight is False else X
    if isinstance(X, Mapping) and "adjacency" in X:
        # A data set: an adjacency with optional names, groups and attribute.
        graph = convert(X["adjacency"], **merging, weight=weight)
        names = graph.node_names if X.get("node_names") is None else X["node_names"]
        return Graph(graph.adjacency, names, X.get("sensitive_features"), X.get("attribute"))
    if library in GRAPH_LIBRARIES:
        rows, directed = rows_from(X, library, weight)
        merging["symmetrize"] = symmetrize if directed else None
        graph = graph_from_rows(rows, **merging, directed=directed, sort=False)
        # Nodes of networkx are names even if they are 0, 1, 2, ...; in other libraries these are positions.
        return graph._but(named=True) if library == "networkx" else graph
    if library is not None and is_table(X):
        table = read_table(X)
        found = edge_rows(table, weight, ends)
        if found is not None:
            del X, table  # the graph of a large one is built without it
            return graph_from_rows(found, **merging)
        X, names = matrix_and_names(table)
        check_unique(names, "the columns of the table")
    elif (
        not sparse.issparse(X)
        and not isinstance(X, (list, tuple))
        and (library or not hasattr(X, "__array__"))
    ):
        if hasattr(X, "to_graph"):
            raise GraphError(f"{X!r} lies on disk, and its graph is needed in memory: give to_graph() of it.")
        hint = "; a file is read with read_graph" if isinstance(X, (str, os.PathLike)) else ""
        raise GraphError(f"An object of type {type(X).__name__} is not a graph: expected {ACCEPTED}{hint}.")
    adjacency = canonical_adjacency(X, symmetrize=symmetrize, dtype=dtype, names=names)
    graph = Graph._trusted(adjacency, np.arange(adjacency.shape[0]) if names is None else names)
    return without_weights(graph) if weight is False else graph


def without_weights(graph: Graph) -> Graph:
    """Return the graph with every weight one."""
    if not graph.is_weighted:
        return graph
    old = graph.adjacency
    ones = sparse.csr_array((np.ones_like(old.data), old.indices, old.indptr), shape=old.shape)
    return graph._but(adjacency=ones)
