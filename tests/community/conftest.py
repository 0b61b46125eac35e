"""Fixtures of label search."""

from tests.reference.label_fixtures import apart, blocks, make_graph, make_skewed, naive, tiny

__all__ = ["apart", "blocks", "make_graph", "make_skewed", "naive", "tiny"]
