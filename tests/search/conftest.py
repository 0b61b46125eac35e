"""Fixtures of label search."""

from tests.reference.label_fixtures import make_graph, make_skewed, naive, tiny

__all__ = ["make_graph", "make_skewed", "naive", "tiny"]
