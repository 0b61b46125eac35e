"""Conversion of files and objects to a `Graph`: a validated CSR adjacency with node names and groups."""

from typing import TYPE_CHECKING

from equigraph._utils.hooks import lazy_names

if TYPE_CHECKING:
    from equigraph.graph.graph import Graph
    from equigraph.graph.neighbours import knn_graph
    from equigraph.graph.read import as_graph, read_graph
    from equigraph.graph.validate import check_adjacency
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "graph": "Graph",
            "neighbours": "knn_graph",
            "read": "as_graph read_graph",
            "validate": "check_adjacency",
        },
    )

__all__ = ["Graph", "as_graph", "check_adjacency", "knn_graph", "read_graph"]
