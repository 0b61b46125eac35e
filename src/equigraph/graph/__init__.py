"""Graphs: anything the user has becomes a validated CSR adjacency with node names."""

from equigraph.graph.convert import as_graph
from equigraph.graph.graph import Graph
from equigraph.graph.neighbours import knn_graph
from equigraph.graph.read import read_graph
from equigraph.graph.validate import check_adjacency

__all__ = ["Graph", "as_graph", "check_adjacency", "knn_graph", "read_graph"]
