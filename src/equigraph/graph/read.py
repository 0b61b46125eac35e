"""Turn any object or file that holds a graph into a Graph, and read the groups of its nodes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from equigraph._utils.hooks import hook
from equigraph._utils.parameters import check_known
from equigraph.exceptions import GraphError, ParameterError, only_ours, require
from equigraph.graph.adapters import library_of, read_gml, read_graphml, rows_from
from equigraph.graph.attributes import Values, attach, check_options, take_groups
from equigraph.graph.delimited import SheetFile, TextFile, open_text_file
from equigraph.graph.edges import DUPLICATES, Ends, Weight, graph_from_rows
from equigraph.graph.features import choose_attributes, node_attributes, wanted_attributes
from equigraph.graph.graph import Graph
from equigraph.graph.matrix_files import read_mat, read_matrix_market, read_npz
from equigraph.graph.names import check_unique
from equigraph.graph.tables import edge_rows, is_table, matrix_and_names, read_parquet, read_table
from equigraph.graph.text_files import is_matrix_file, read_attributed, read_edges, read_matrix
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
    check_merging(symmetrize, duplicates, dtype)
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


_READERS: dict[str, Callable[[Path], Any]] = {
    "graphml": read_graphml,
    "gml": read_gml,
    "mtx": read_matrix_market,
    "npz": read_npz,
    "mat": read_mat,
}
_ALONE = ("parquet", *_READERS)
SUFFIXES = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".edges", ".edgelist"), "delimited"),
    **{f".{kind}": kind for kind in _ALONE},
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "xlsx"),
}
FORMATS = ("edges", "matrix", "csv", "tsv", "txt", *_ALONE, "xlsx")


def file_format(path: Path, format: str | None) -> str:
    """Return the format of a file, as given or by its suffix."""
    if format is not None:
        if format not in FORMATS:
            raise ParameterError(f"format={format!r} is unknown: expected one of {', '.join(FORMATS)}.")
        return "delimited" if format in ("csv", "tsv", "txt") else format
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    known = SUFFIXES.get(suffixes[-1]) if suffixes else None
    if known is None:
        raise GraphError(
            f"{path.name} has an unknown suffix: expected one of {', '.join(SUFFIXES)} (and .gz), or name "
            f"the format with format."
        )
    return known


def check_file(path: Path) -> None:
    """Raise GraphError unless the path is a file."""
    if path.is_dir():
        raise GraphError(f"{path} is a folder: expected a file with a graph or groups{_folder_hint(path)}.")
    if not path.is_file():
        raise GraphError(f"{path} does not exist: expected a file with a graph or groups.")


def _folder_hint(path: Path) -> str:
    """Return a hint at the function that reads a folder, if it is known."""
    if (path / "blocks.json").is_file():
        return "; row blocks are opened by open_blocks"
    if (path / "result.json").is_file():
        return "; a stored result is read by ClusteringResult.load"
    return ""


def read_file(
    path: Path,
    format: str | None,
    *,
    header: bool | None,
    delimiter: str | None,
    weight: Any,
    ends: Ends | None,
    **options: Any,
) -> Any:
    """Read a file into a Graph, or into a matrix, table or networkx graph that `as_graph` converts."""
    parts = [path]
    if path.is_dir() and format in (None, "parquet") and not _folder_hint(path):
        parts, kind = sorted(path.rglob("*.parquet")), "parquet"
        if not parts:
            raise GraphError(
                f"{path} is a folder without parquet files: expected a file, or parts of an edge list."
            )
    else:
        check_file(path)
        kind = file_format(path, format)
    if ends is not None and kind not in ("delimited", "edges", "xlsx", "parquet"):
        raise ParameterError(
            f"source and target are columns of an edge list, and {path.name} is read as {kind}."
        )
    if kind in ("delimited", "edges", "matrix", "xlsx"):
        if delimiter is None and (format == "tsv" or Path(path.name.removesuffix(".gz")).suffix == ".tsv"):
            delimiter = "\t"
        if kind in ("delimited", "edges") and header is None and delimiter is None and ends is None:
            found = read_attributed(path, weight=weight, **options)
            if found is not None:
                return found
        if kind == "xlsx":
            file: TextFile = SheetFile(path, ",", rows=hook("read_cells")(path))
        else:
            file = open_text_file(path, delimiter)
        if kind == "matrix" or (kind != "edges" and ends is None and is_matrix_file(file, header)):
            graph = read_matrix(file, header=header, symmetrize=options["symmetrize"], dtype=options["dtype"])
            return without_weights(graph) if weight is False else graph
        return read_edges(file, header=header, weight=weight, ends=ends, **options)
    if header is not None or delimiter is not None:
        raise ParameterError(f"header and delimiter are for text files, and {path.name} is read as {kind}.")
    with only_ours(f"{path.name} cannot be read as {kind}", GraphError):
        if kind != "parquet":
            return _READERS[kind](path)
        pyarrow = require("pyarrow", extra="io", purpose="Reading Parquet")
        return convert(pyarrow.concat_tables(map(read_parquet, parts)), weight=weight, ends=ends, **options)


def read_graph(
    graph: Any,
    /,
    groups: Any = None,
    attribute: str | int | Sequence[str | int] | None = None,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    format: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    weight: str | int | bool | None = None,
    node_column: str | int | None = None,
    symmetrize: str | None = None,
    missing: str = "error",
    duplicates: str = "error",
    unknown: str = "error",
    dtype: DTypeLike | None = None,
    attribute_weights: Mapping[str, float] | None = None,
    bins: Mapping[str, int] | None = None,
    intersect: Sequence[str] | Sequence[Sequence[str]] | None = None,
) -> Graph:
    """Read a graph and, if there are any, the groups of its nodes.

    Parameters
    ----------
    graph : path or object
        A file, or any object that `as_graph` takes. Files by suffix: ``.csv``, ``.tsv``, ``.txt`` (an edge
        list with source, target and perhaps a weight; or a square matrix of more than three columns, with
        or without names in its first row and column), ``.parquet`` (an edge table; also a folder of them), ``.xlsx``,
        ``.xls``, ``.ods`` (the only sheet with cells, as a text file), ``.graphml``, ``.gml``,
        ``.mtx`` (Matrix Market), ``.npz`` (scipy's sparse or numpy's arrays) and ``.mat`` (the variable
        ``A`` or ``adjacency``, or the only square one). Text files are UTF-8, may end in ``.gz``, and lines
        that start with ``#`` or ``%`` are skipped. The text of ids is kept, without outer blanks: "007" is
        not "7"; if all ids are plain integers they become integers.
    groups : path, mapping, table, Series or array, optional
        The groups: a mapping from node to value; a table or file whose first column, or `node_column`,
        names the node; a pandas Series, or table of one column, by the node names in its index; or an array,
        a Series with the default index 0, 1, 2, ..., or a file with one column, in node order. Where the graph has no
        names, tables and Series are in node order, unless `node_column` is given. Names are
        compared by text where types differ, and composed letters (Unicode NFC) are the same as decomposed
        ones. An edge list has no node order of the user's, so it takes no array; a `Graph` has one that can
        be seen. In text files an empty field, NA, N/A, n/a, NaN, nan, null, NULL and None are missing. Several
        attributes are columns of a table or file, a mapping from names to such columns or mappings, or an array of
        shape (n_nodes, n_attributes).
    attribute : str, int or list of these, optional
        Column of `groups` with the values; needed if there are several columns. A list reads several attributes.
        Without `groups`, the node
        attribute of a networkx, igraph, torch_geometric, GraphML or GML graph. A column without a name is
        given by its number, counting from 0; a column that has the number as its name comes first.
    source, target : str or int, optional
        Columns of an edge list, file or table, that hold the two ends of an edge, if they have other names than
        those above.
    format : str, optional
        Format of the file, if the suffix does not tell: ``"edges"`` or ``"matrix"`` for text files,
        ``"csv"``, ``"tsv"`` or ``"txt"`` for either, ``"parquet"``, ``"graphml"``, ``"gml"``, ``"mtx"``,
        ``"npz"`` or ``"mat"``.
    header : bool, optional
        Whether the first line of a text file names the columns. By default this is detected. It must be given if the
        first line is two words above words that occur nowhere else in the file.
    delimiter : str, optional
        Separator of a text file, ``" "`` for any white space. By default the one among comma, tab,
        semicolon and white space that the first lines show, or the one that a first line ``sep=;`` declares.
    weight : str, int or False, optional
        Column, or edge attribute, of the weights; ``False`` ignores weights. By default a column after the
        two ends that is called weight, weights, w, value, strength or count, or the third of three columns
        without names. Any other further column must be named, since it may be a weight or not.
    node_column : str or int, optional
        Column of `groups` that names the node. By default the first.
    symmetrize : {"max", "min", "mean", "sum"}, optional
        How to combine the two directions of a pair, for directed edges, as in `as_graph`.
    missing : {"error", "ignore", "drop", "own-group"}, default="error"
        What to do with nodes without a group: refuse; keep them without one, so that they count for cohesion and
        sizes and for no group's share; remove them; or give them the group ``"missing"`` (an error if there is such a
        group already).
    duplicates : {"error", "sum", "max", "min", "mean", "first"}, default="error"
        What to do with an edge that is listed more than once with conflicting weights, as in `as_graph`.
    unknown : {"error", "add", "ignore"}, default="error"
        What to do with nodes that only the groups name: refuse, add them without edges, or ignore them.
    dtype : float32 or float64, optional
        Type of the weights.
    attribute_weights : mapping from attribute to number, optional
        Weight of each of several attributes in the mean over them; 1 by default.
    bins : mapping from attribute to int, optional
        Numeric attributes, and the number of bins of about equal size for each.
    intersect : sequence of attributes, or of such sequences, optional
        Attributes whose joint groups, such as "girl, yes", are an attribute of their own, named such as "gender,
        needs". The single attributes are not kept unless `attribute` names them too.

    Returns
    -------
    Graph
        The graph. Matrices and graph objects keep their node order, with added nodes at the end. The nodes
        of an edge list are sorted (integers by value, otherwise by text), added ones among them, so that
        the order of the lines does not matter.

    Raises
    ------
    GraphError
        If the file or object is not a graph; for text files with the number of the line.
    GroupsError
        If the groups do not fit the graph.
    ParameterError
        If an option has an unknown value.
    MissingDependencyError
        If a format needs an extra that is not installed.

    Warns
    -----
    SelfLoopWarning
        If there are self-loops; they are dropped.

    Examples
    --------
    >>> import pandas as pd
    >>> friends = pd.DataFrame({"source": ["cem", "ann"], "target": ["bob", "bob"]})
    >>> graph = read_graph(friends, groups={"ann": "girl", "bob": "boy", "cem": "boy"}, attribute="gender")
    >>> graph
    Graph(3 nodes, 2 edges, 'gender': 2 groups)
    >>> graph.node_names.tolist(), graph.sensitive_features.tolist()
    (['ann', 'bob', 'cem'], ['girl', 'boy', 'boy'])
    >>> people = pd.DataFrame(
    ...     {"name": ["ann", "bob", "cem"], "gender": ["girl", "boy", "boy"], "age": [7, 9, 11]}
    ... )
    >>> read_graph(friends, people, ["gender", "age"], attribute_weights={"age": 2}, bins={"age": 2})
    Graph(3 nodes, 2 edges, 'gender': 2 groups, 'age': 2 groups)
    """
    check_options(missing, unknown)
    check_merging(symmetrize, duplicates, dtype)
    options: dict[str, Any] = {"symmetrize": symmetrize, "duplicates": duplicates, "dtype": dtype}
    options |= {"weight": weight, "ends": None if source is None or target is None else (source, target)}
    if (source is None) != (target is None):
        raise ParameterError("source and target are the columns of the two ends of an edge: expected both.")
    held, order_seen = graph, isinstance(graph, Graph)  # what was given, or what its file holds
    if isinstance(graph, (str, os.PathLike)):
        path = Path(graph)
        held = read_file(path, format, header=header, delimiter=delimiter, **options)
        with only_ours(f"{path.name} cannot be read as a graph", GraphError):
            known = held if isinstance(held, Graph) else convert(held, **options)
    elif format is not None or header is not None or delimiter is not None:
        raise ParameterError(
            f"format, header and delimiter are for files, and the graph is a {type(graph).__name__}."
        )
    else:
        known = convert(graph, **options)
    wanted = wanted_attributes(attribute, intersect)
    given = _given(held, known, groups, wanted, node_column)
    if given is not None:
        if groups is None and isinstance(held, Graph) and missing == "error":
            missing = held.missing  # the option with which its groups were read
        order_known = known.positional or order_seen
        known = attach(known, given, missing=missing, unknown=unknown, order_known=order_known)
    return choose_attributes(known, attribute, intersect, attribute_weights, bins)


def _given(
    source: Any, graph: Graph, groups: Any, wanted: list[Any], node_column: Any
) -> list[Values] | None:
    """Return the requested groups, or None if none were requested."""
    if groups is not None:
        return take_groups(groups, wanted, node_column, graph)
    if node_column is not None:
        raise ParameterError("node_column is a column of groups, and there are no groups.")
    if not wanted:
        return None
    names = list(map(str, wanted))
    if isinstance(source, Graph) and source.attribute is None and source.features:
        columns = dict.fromkeys(names, *source.features.values())  # without a name, it is found under any
    else:
        columns = node_attributes(source, graph, names)
    return [Values(columns[name], graph.node_names, name) for name in names]
