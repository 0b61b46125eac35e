"""Graphs whose blocks are nearly all of one group."""

from tests.reference.label_fixtures import apart, blocks

__all__ = ["apart", "blocks"]
