"""What is not read."""

import pytest

from equigraph.graph import read_graph


def refused(error, words, *arguments, **options):
    """Check that `read_graph` raises an error whose sentence has some words."""
    with pytest.raises(error, match=words):
        read_graph(*arguments, **options)
