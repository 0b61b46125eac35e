"""The result of a clustering, and how results of every kind are kept on disk."""

from equigraph.results.cluster import cluster, fair_communities
from equigraph.results.result import ClusteringResult

__all__ = ["ClusteringResult", "cluster", "fair_communities"]
