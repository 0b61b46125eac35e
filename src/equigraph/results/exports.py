"""A result as JSON, as objects of networkx, igraph and cdlib, and as a table for a notebook."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.notebook import MAX_GROUPS, page_of
from equigraph._utils.records import plain
from equigraph.exceptions import GraphError, require
from equigraph.graph import Graph, as_graph
from equigraph.graph.groups import contingency_table
from equigraph.graph.names import texts
from equigraph.results.features import attribute_entries


def to_networkx(result: Any, graph: Any) -> Any:
    """Return the graph as a networkx graph whose nodes carry their cluster and their groups."""
    graph = as_graph(graph)
    labels_in_graph(result, graph)  # checks the nodes
    names = dict(zip(texts(graph.node_names), graph.node_names.tolist(), strict=True))
    own = texts(result.node_names)
    network = Graph(graph.adjacency, graph.node_names).to_networkx()
    several = len(result.features) > 1
    groups = {name if several else "group": column for name, column in result.features.items()}
    for attribute, values in {"cluster": result.labels, **groups}.items():
        for text, value in zip(own, values.tolist(), strict=True):
            network.nodes[names[text]][attribute] = value
    return network


def labels_in_graph(result: Any, graph: Graph) -> NDArray[Any]:
    """Return the labels in the order of the nodes of a graph, or raise GraphError where its nodes are others."""
    labels = dict(zip(texts(result.node_names), result.labels.tolist(), strict=True))
    names = texts(graph.node_names)
    if set(names) != set(labels):
        raise GraphError(
            f"The graph has other nodes than the {result.labels.size} that were clustered: give the graph that "
            "the result is of."
        )
    return np.array([labels[name] for name in names])


def communities(result: Any) -> list[set[Any]]:
    """Return the nodes of each cluster that has any, largest cluster first."""
    found: dict[int, set[Any]] = {}
    for name, label in zip(result.node_names.tolist(), result.labels.tolist(), strict=True):
        found.setdefault(label, set()).add(name)
    return sorted(found.values(), key=len, reverse=True)


def to_igraph(result: Any, graph: Any) -> Any:
    """Return the clusters as an igraph VertexClustering, of the igraph graph that is given or of a new one."""
    igraph = require("igraph", extra="peers", purpose="A VertexClustering")
    known = as_graph(graph)
    if not isinstance(graph, igraph.Graph):
        upper = sparse.triu(known.adjacency, format="coo")
        graph = igraph.Graph(known.n_nodes, list(zip(upper.row.tolist(), upper.col.tolist(), strict=True)))
        graph.vs["name"] = known.node_names.tolist()
        graph.es["weight"] = upper.data.tolist()
    return igraph.VertexClustering(graph, labels_in_graph(result, known).tolist())


def to_cdlib(result: Any, graph: Any) -> Any:
    """Return the clusters as a cdlib NodeClustering of a networkx graph."""
    cdlib = require("cdlib", extra="cdlib", purpose="A NodeClustering")
    if type(graph).__module__.partition(".")[0] != "networkx":
        graph = to_networkx(result, graph)
    else:
        labels_in_graph(result, as_graph(graph))  # checks the nodes
    parts = [sorted(part, key=str) for part in communities(result)]
    return cdlib.NodeClustering(parts, graph, result.method, method_parameters=dict(result.parameters))


def summary(result: Any) -> dict[str, Any]:
    """Return everything of a result but its per-node arrays, ready for JSON."""
    return {
        "method": result.method,
        "n_nodes": int(result.labels.size),
        "n_clusters": result.n_clusters,
        "sizes": result.sizes.tolist(),
        "scores": {name: plain(value) for name, value in result.scores.items()},
        "attribute": result.attribute,
        "n_ungrouped": 0 if result.groups is None else result.groups.n_ungrouped,
        **attribute_entries(result),
        "small_clusters": result.small_clusters.tolist(),
        "parameters": dict(result.parameters),
        "rules": None if result.rules is None else dict(result.rules),
        "seed": result.seed,
        "seconds": plain(result.seconds),
        "status": result.status,
        "versions": dict(result.versions),
        "input_hash": result.input_hash,
        "source": None if result.source is None else dict(result.source),
    }


def html_table(result: Any) -> str:
    """Return the clusters with their groups as HTML."""
    heads, rows = ["cluster", "nodes"], [[i, size] for i, size in enumerate(result.sizes.tolist())]
    for attribute, groups in {} if result.attributes is None else result.attributes.groups.items():
        counts = contingency_table(result.labels, groups.codes, result.n_clusters, groups.n_groups)
        shown = [str(name) for name in groups.names.tolist()][:MAX_GROUPS]
        heads += [f"{attribute}: {name}" for name in shown] if len(result.features) > 1 else shown
        rows = [[*row, *more[: len(shown)]] for row, more in zip(rows, counts.tolist(), strict=True)]
    return page_of(repr(result), heads, rows)
