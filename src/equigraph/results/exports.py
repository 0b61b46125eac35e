"""A result as a networkx graph, and as a table for a notebook."""

from __future__ import annotations

from typing import Any

from equigraph._utils.notebook import MAX_GROUPS, page_of
from equigraph.exceptions import GraphError
from equigraph.graph import Graph, as_graph
from equigraph.graph.groups import contingency_table
from equigraph.graph.names import texts


def to_networkx(result: Any, graph: Any) -> Any:
    """Return the graph as a networkx graph whose nodes carry their cluster and their groups."""
    graph = as_graph(graph)
    names = dict(zip(texts(graph.node_names), graph.node_names.tolist(), strict=True))
    own = texts(result.node_names)
    if set(own) != set(names):
        raise GraphError(
            f"The graph has other nodes than the {result.labels.size} that were clustered: give the graph that "
            "the result is of."
        )
    network = Graph(graph.adjacency, graph.node_names).to_networkx()
    several = len(result.features) > 1
    groups = {name if several else "group": column for name, column in result.features.items()}
    for attribute, values in {"cluster": result.labels, **groups}.items():
        for text, value in zip(own, values.tolist(), strict=True):
            network.nodes[names[text]][attribute] = value
    return network


def html_table(result: Any) -> str:
    """Return the clusters with their groups as HTML."""
    heads, rows = ["cluster", "nodes"], [[i, size] for i, size in enumerate(result.sizes.tolist())]
    for attribute, groups in {} if result.attributes is None else result.attributes.groups.items():
        counts = contingency_table(result.labels, groups.codes, result.n_clusters, groups.n_groups)
        shown = [str(name) for name in groups.names.tolist()][:MAX_GROUPS]
        heads += [f"{attribute}: {name}" for name in shown] if len(result.features) > 1 else shown
        rows = [[*row, *more[: len(shown)]] for row, more in zip(rows, counts.tolist(), strict=True)]
    return page_of(repr(result), heads, rows)
