"""Explanations of why a person is in a cluster, and of why two clusters are separate.

Use `equigraph.ClusteringResult.explain`. Nothing is imported here, so that importing results stays cheap.
"""
