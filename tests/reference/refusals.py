"""What is read, and what is not."""

import pytest

from equigraph.exceptions import EquigraphError
from equigraph.graph import read_graph


def refused(error, words, *arguments, **options):
    """Check that `read_graph` raises an error whose sentence has some words."""
    with pytest.raises(error, match=words):
        read_graph(*arguments, **options)


def outcome(source, /, **options):
    """Return what `read_graph` reads, to be compared, or its error."""
    try:
        graph = read_graph(source, **options)
    except EquigraphError as error:
        return type(error), str(error)
    return graph.fingerprint(), graph.node_names.dtype.kind, graph.adjacency.dtype
