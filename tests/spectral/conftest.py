"""Tiny graphs."""

from tests.reference.label_fixtures import tiny

__all__ = ["tiny"]
