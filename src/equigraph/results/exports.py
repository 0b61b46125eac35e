"""Export of a result to JSON, networkx, igraph, cdlib and notebooks."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.notebook import MAX_GROUPS, page_of
from equigraph._utils.records import plain, write_json
from equigraph.exceptions import GraphError, require
from equigraph.graph import Graph, as_graph
from equigraph.graph.groups import contingency_table
from equigraph.graph.names import texts
from equigraph.results.features import Featured, attribute_entries, graph_of

# Fields that the summary contains unchanged.
_SUMMARY_FIELDS = (
    "scores", "attribute", "parameters", "rules", "seed", "seconds", "status", "versions", "input_hash", "source",
)  # fmt: skip


class Exported(Featured):
    """A result as JSON, as objects of networkx, igraph and cdlib, and as a table for a notebook."""

    def to_networkx(self: Any, graph: Any) -> Any:
        """Return the graph as a networkx graph whose nodes carry ``cluster`` (and ``group``).

        The graph is the one that was clustered; its nodes are found by name.

        Raises
        ------
        GraphError
            If it has other nodes.
        """
        graph = as_graph(graph)
        places = self._places_in(graph)
        network = Graph(graph.adjacency, graph.node_names).to_networkx()
        several = len(self.features) > 1
        groups = {name if several else "group": column for name, column in self.features.items()}
        for attribute, column in {"cluster": self.labels, **groups}.items():
            for name, value in zip(graph.node_names.tolist(), column[places].tolist(), strict=True):
                network.nodes[name][attribute] = value
        return network

    @property
    def communities(self: Any) -> list[set[Any]]:
        """Nodes of each cluster as the graph names them, largest cluster first; clusters without nodes are left out."""
        found: dict[int, set[Any]] = {}
        for name, label in zip(self.node_names.tolist(), self.labels.tolist(), strict=True):
            found.setdefault(label, set()).add(name)
        return sorted(found.values(), key=len, reverse=True)

    def to_igraph(self: Any, graph: Any = None) -> Any:
        """Return the clusters as an igraph ``VertexClustering`` (extra ``peers``).

        Parameters
        ----------
        graph : graph, optional
            The graph that was clustered, also an igraph graph; by default that of the result.
        """
        graph = graph_of(self, graph) if graph is None else graph
        igraph = require("igraph", extra="peers", purpose="A VertexClustering")
        known = as_graph(graph)
        if not isinstance(graph, igraph.Graph):
            upper = sparse.triu(known.adjacency, format="coo")
            graph = igraph.Graph(
                known.n_nodes, list(zip(upper.row.tolist(), upper.col.tolist(), strict=True))
            )
            graph.vs["name"] = known.node_names.tolist()
            graph.es["weight"] = upper.data.tolist()
        return igraph.VertexClustering(graph, self.labels[self._places_in(known)].tolist())

    def to_cdlib(self: Any, graph: Any = None) -> Any:
        """Return the clusters as a cdlib ``NodeClustering`` of a networkx graph; cdlib has to be installed.

        Parameters
        ----------
        graph : graph, optional
            The graph that was clustered; by default that of the result.
        """
        graph = graph_of(self, graph) if graph is None else graph
        cdlib = require("cdlib", extra="cdlib", purpose="A NodeClustering")
        if type(graph).__module__.partition(".")[0] != "networkx":
            graph = self.to_networkx(graph)
        else:
            self._places_in(as_graph(graph))  # checks the nodes
        parts = [sorted(part, key=str) for part in self.communities]
        return cdlib.NodeClustering(parts, graph, self.method, method_parameters=dict(self.parameters))

    def summary(self: Any) -> dict[str, Any]:
        """Return everything but the per-node arrays, ready for JSON."""
        return {
            "method": self.method,
            "n_nodes": int(self.labels.size),
            "n_clusters": self.n_clusters,
            "sizes": self.sizes.tolist(),
            "n_ungrouped": 0 if self.groups is None else self.groups.n_ungrouped,
            **attribute_entries(self),
            "small_clusters": self.small_clusters.tolist(),
            **{name: plain(getattr(self, name)) for name in _SUMMARY_FIELDS},
        }

    def to_json(self: Any, path: str | os.PathLike[str]) -> None:
        """Write `summary` and the labels by node as JSON."""
        nodes = dict(zip(map(str, self.node_names.tolist()), self.labels.tolist(), strict=True))
        write_json(path, {**self.summary(), "labels": nodes})

    def _repr_html_(self: Any) -> str:
        """Return the clusters with their groups, for a notebook."""
        heads, rows = ["cluster", "nodes"], [[i, size] for i, size in enumerate(self.sizes.tolist())]
        for attribute, groups in {} if self.attributes is None else self.attributes.groups.items():
            counts = contingency_table(self.labels, groups.codes, self.n_clusters, groups.n_groups)
            shown = [str(name) for name in groups.names.tolist()][:MAX_GROUPS]
            heads += [f"{attribute}: {name}" for name in shown] if len(self.features) > 1 else shown
            rows = [[*row, *more[: len(shown)]] for row, more in zip(rows, counts.tolist(), strict=True)]
        return page_of(repr(self), heads, rows)

    def _places_in(self: Any, graph: Graph) -> NDArray[np.intp]:
        """Return the positions of a graph's nodes in this result; raise GraphError if it has other nodes."""
        places = {name: place for place, name in enumerate(texts(self.node_names))}
        names = texts(graph.node_names)
        if set(names) != set(places):
            raise GraphError(
                f"The graph has other nodes than the {self.labels.size} that were clustered: give the graph that "
                "the result is of."
            )
        return np.array([places[name] for name in names], dtype=np.intp)
