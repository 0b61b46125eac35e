"""The result of a clustering, and how results of every kind are kept on disk."""

from equigraph.results.result import ClusteringResult, cluster

__all__ = ["ClusteringResult", "cluster"]
