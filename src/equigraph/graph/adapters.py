"""Adapters for graphs and communities of networkx, igraph, networkit, PyG and cdlib.

Objects are read through their own methods, so that only networkx is imported here. It reads GraphML and GML files;
GraphML files are first checked for content that it would ignore.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Set
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GraphError, GroupsError, ParameterError, require
from equigraph.graph.edges import EdgeRows, Weight
from equigraph.graph.limits import check_nodes, open_bytes
from equigraph.graph.names import as_names, check_unique, names_from_text, object_array


def library_of(X: Any) -> str | None:
    """Return which library an object comes from, by the module of its type or of a base class."""
    for kind in type(X).__mro__:
        root = kind.__module__.partition(".")[0]
        if root in _READERS or root in ("pandas", "polars", "pyarrow", "narwhals", "modin", "cudf"):
            return root
    return None


def rows_from(X: Any, library: str, weight: Weight = None) -> tuple[EdgeRows, bool]:
    """Return the edges of a foreign graph, and whether they are directed."""
    if isinstance(weight, int) and weight is not False:
        raise GraphError(f"weight={weight!r} is a column number, and a {library} graph has no columns.")
    source, target, weights, names, directed = _READERS[library](X, weight)
    check_unique(names, f"the {library} graph")

    def where(row: int) -> str:
        i, j = int(source[row]), int(target[row])
        return f"edge ({names[[i]].tolist()[0]!r}, {names[[j]].tolist()[0]!r})"

    return EdgeRows(source, target, weights, names, where), directed


Parts = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None, NDArray[Any], bool]


def _from_networkx(X: Any, weight: Weight) -> Parts:
    nodes = list(X)
    place = {node: i for i, node in enumerate(nodes)}
    source, target = _ends([(place[u], place[v]) for u, v in X.edges()])
    values = [value for _, _, value in X.edges(data=weight or "weight")]
    return source, target, _weights(values, weight), as_names(object_array(nodes)), bool(X.is_directed())


def _from_igraph(X: Any, weight: Weight) -> Parts:
    if not hasattr(X, "get_edgelist"):
        raise GraphError(f"An igraph {type(X).__name__} is not a graph: expected igraph.Graph.")
    source, target = _ends(X.get_edgelist())
    attribute = weight or "weight"
    values = X.es[attribute] if attribute in X.es.attributes() else [None] * X.ecount()
    named = "name" in X.vs.attributes()
    names = as_names(object_array(X.vs["name"])) if named else np.arange(X.vcount(), dtype=np.int64)
    return source, target, _weights(values, weight), names, bool(X.is_directed())


def _from_networkit(X: Any, weight: Weight) -> Parts:
    if not hasattr(X, "iterEdgesWeights"):
        raise GraphError(f"A networkit {type(X).__name__} is not a graph: expected networkit.Graph.")
    if isinstance(weight, str):
        raise GraphError("A networkit graph has one weight without a name: expected weight=None or False.")
    # Ids have holes once nodes are removed, so they are kept as names and edges point to positions.
    names = np.fromiter(X.iterNodes(), dtype=np.int64, count=X.numberOfNodes())
    count = X.numberOfEdges()
    triples = np.fromiter(
        (end for edge in X.iterEdgesWeights() for end in edge), dtype=np.float64, count=3 * count
    ).reshape(count, 3)
    order = np.argsort(names)
    source, target = (order[np.searchsorted(names, triples[:, k], sorter=order)] for k in (0, 1))
    weights = triples[:, 2] if X.isWeighted() and weight is not False else None
    return source, target, weights, names, bool(X.isDirected())


def _from_pyg(X: Any, weight: Weight) -> Parts:
    index = getattr(X, "edge_index", None)
    if index is None:
        raise GraphError(
            f"A torch_geometric {type(X).__name__} without edge_index: expected Data with an edge_index."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyG warns when it infers the number of nodes from the edges
        n = int(X.num_nodes)
    source, target = _tensor(index).astype(np.int64).reshape(2, -1)
    check_nodes(n, source.nbytes + target.nbytes, "The data")
    if source.size and (min(source.min(), target.min()) < 0 or max(source.max(), target.max()) >= n):
        raise GraphError(f"edge_index names a node outside 0 to {n - 1}: expected positions of {n} nodes.")
    weights = None if weight is False else _pyg_weights(X, weight, source.size)
    return source, target, weights, np.arange(n, dtype=np.int64), True


def _pyg_weights(X: Any, weight: Weight, count: int) -> NDArray[Any] | None:
    keys = ("edge_weight", "edge_attr") if weight is None else (weight,)
    for key in keys:
        tensor = getattr(X, str(key), None)
        if tensor is None:
            continue
        values = _column(tensor)
        if values.shape == (count,):
            return values
    if weight is not None:
        raise GraphError(f"The data has no {weight!r} with one number per edge: expected a weight.")
    return None  # an edge_attr with several columns holds features, not a weight


def _tensor(tensor: Any) -> NDArray[Any]:
    return tensor.detach().cpu().numpy() if hasattr(tensor, "detach") else np.asarray(tensor)


def _column(tensor: Any) -> NDArray[Any]:
    """Return a tensor as an array; that of a single column as one dimension."""
    values = _tensor(tensor)
    return values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values


def _ends(pairs: list[tuple[int, int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    both = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _weights(values: list[Any], weight: Weight) -> NDArray[Any] | None:
    """Return the weights of edges, 1 where an edge has none; None if no edge has one, or they are not wanted."""
    if weight is False:
        return None
    if all(value is None for value in values):
        if weight is not None and values:
            raise GraphError(f"No edge has an attribute {weight!r}: expected the name of a weight.")
        return None
    filled = [1 if value is None else value for value in values]
    array = np.asarray(filled) if all(isinstance(value, (int, float)) for value in filled) else None
    return object_array(filled) if array is None or array.dtype.kind not in "buif" else array


_READERS: dict[str, Callable[[Any, Weight], Parts]] = {
    "networkx": _from_networkx,
    "igraph": _from_igraph,
    "networkit": _from_networkit,
    "torch_geometric": _from_pyg,
}


def node_attribute(X: Any, library: str, attribute: str) -> NDArray[Any]:
    """Return a node attribute of a foreign graph, in node order, with None where it is missing."""
    if library == "networkx":
        values = [data.get(attribute) for _, data in X.nodes(data=True)]
        known = sorted({str(key) for _, data in X.nodes(data=True) for key in data})
        found = any(value is not None for value in values)
    elif library == "igraph":
        known = X.vs.attributes()
        found = attribute in known
        values = X.vs[attribute] if found else []
    else:
        known = [str(key) for key in X.keys()]  # noqa: SIM118 (Data is no mapping)
        found = attribute in known
        values = _per_node(X, attribute) if found else []
    if not found:
        raise GroupsError(
            f"No node has an attribute {attribute!r}: the graph has {', '.join(known) or 'no attributes'}."
        )
    array = object_array(values)
    present = [value for value in array if value is not None]
    return as_names(object_array(present)) if len(present) == array.size else array


def _per_node(X: Any, attribute: str) -> list[Any]:
    values = _column(X[attribute])
    if values.shape != (X.num_nodes,):
        raise GroupsError(
            f"The attribute {attribute!r} has shape {values.shape}: expected one value for each of the "
            f"{X.num_nodes} nodes."
        )
    return values.tolist()


def with_integer_names(X: Any) -> Any:
    """Return a networkx graph read from a file with integer nodes, if every name is a canonical integer."""
    import networkx

    nodes = list(X)
    if not all(isinstance(node, str) for node in nodes):
        return X
    names = names_from_text(nodes)
    if names.dtype.kind != "i":
        return X
    return networkx.relabel_nodes(X, dict(zip(nodes, names.tolist(), strict=True)))


_NUMBERS = ("int", "integer", "long", "float", "double")
# Required attributes of an element.
_REQUIRED = {"node": ("id",), "edge": ("source", "target")}


def read_graphml(path: Path) -> Any:
    """Read the one graph of a GraphML file as a networkx graph, with the defaults of its attributes filled in."""
    networkx = require("networkx", extra="io", purpose="Reading GraphML")
    shared = _scan(path)
    with open_bytes(path) as stream, warnings.catch_warnings():
        # networkx warns about features that do not affect clustering, such as ports and untyped attributes.
        warnings.simplefilter("ignore")
        graph = networkx.read_graphml(stream)
    for kind, items in (("edge", graph.edges(data=True)), ("node", graph.nodes(data=True))):
        defaults = {**shared, **graph.graph.get(f"{kind}_default", {})}
        for *_, data in items:
            data.update({**defaults, **data})
    return with_integer_names(graph)


def _scan(path: Path) -> dict[str, Any]:
    """Return the defaults of attributes of both nodes and edges; raise GraphError if networkx would ignore content."""
    from xml.etree.ElementTree import iterparse

    n_graphs, shared = 0, {}
    with open_bytes(path) as stream:
        for _, element in iterparse(stream):
            tag = element.tag.rpartition("}")[2]
            n_graphs += tag == "graph"
            if n_graphs > 1:
                raise GraphError(
                    f"{path.name} holds several graphs, one after or within another: expected one; save it without "
                    "nested graphs."
                )
            for required in _REQUIRED.get(tag, ()):
                if element.get(required) is None:
                    what = "an edge" if tag == "edge" else "a node"
                    raise GraphError(
                        f"{path.name} has {what} that does not say its {required!r}: expected it for each."
                    )
            if tag == "key" and element.get("for", "all") == "all":
                default = next((child for child in element if child.tag.endswith("default")), None)
                if default is not None:
                    number = element.get("attr.type") in _NUMBERS
                    shared[element.get("attr.name", "")] = (
                        float(default.text or "") if number else default.text
                    )
            if tag not in ("default", "desc"):
                element.clear()
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


# Part of a node that is in no part of a networkit partition.
_NO_PART = np.iinfo(np.uint64).max


def labels_of_communities(labels: Any) -> Any:
    """Return communities as labels, in node order or as a dict by node; other objects are returned unchanged.

    Communities are sets of nodes as of networkx, an igraph clustering, a networkit partition, or those of cdlib.

    >>> labels_of_communities([{"ann", "bob"}, {"cem"}]) == {"ann": 0, "bob": 0, "cem": 1}
    True
    """
    if isinstance(labels, Iterator):
        labels = list(labels)
    library = library_of(labels)
    if library == "igraph":
        return _of_igraph(labels)
    if library == "networkit":
        return _of_networkit(labels)
    if type(labels).__module__.partition(".")[0] == "cdlib":
        return _by_node(labels.communities)
    is_listed = isinstance(labels, (list, tuple, Set, type({}.values()))) and len(labels) > 0
    if is_listed and all(isinstance(one, Set) for one in labels):
        return _by_node(labels)
    return labels


def _of_igraph(clustering: Any) -> Any:
    if hasattr(clustering, "as_clustering"):  # a dendrogram, cut where igraph would cut it
        clustering = clustering.as_clustering()
    if not hasattr(clustering, "membership") or not hasattr(clustering, "graph"):
        raise ParameterError(
            f"An igraph {type(clustering).__name__} is no clustering: expected a VertexClustering."
        )
    if "name" not in clustering.graph.vs.attributes():
        return np.asarray(clustering.membership)
    return dict(zip(clustering.graph.vs["name"], clustering.membership, strict=True))


def _of_networkit(partition: Any) -> Any:
    if not hasattr(partition, "getVector"):
        raise ParameterError(f"A networkit {type(partition).__name__} is no partition: expected a Partition.")
    parts = np.asarray(partition.getVector(), dtype=np.uint64)
    known = parts != _NO_PART
    if known.all():
        return parts.astype(np.int64)
    # Nodes that were removed from the graph keep their place in the partition.
    return dict(zip(np.flatnonzero(known).tolist(), parts[known].tolist(), strict=True))


def _by_node(communities: Iterable[Iterable[Any]]) -> dict[Any, int]:
    labels: dict[Any, int] = {}
    for number, members in enumerate(communities):
        for node in members:
            if labels.setdefault(node, number) != number:
                raise ParameterError(
                    f"The node {node!r} is in the communities {labels[node]} and {number}: expected each node in one."
                )
    return labels
