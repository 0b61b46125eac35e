"""Whether a graph is the one that a result is of."""

from __future__ import annotations

from typing import Any

from equigraph.exceptions import GraphError
from equigraph.graph import Graph, read_graph


def clustered_graph(graph: Any, subject: Any, attribute: str | None) -> Graph:
    """Return a graph with the groups of a result or curve, after a look at whether it is theirs.

    A graph without groups gets those of the subject.
    """
    known = read_graph(graph)
    sizes = {column.size for column in subject.features.values()}
    if known.sensitive_features is None and sizes == {known.n_nodes}:
        known = Graph(
            known.adjacency,
            known.node_names,
            subject.sensitive_features,
            attribute,
            missing="ignore",
            attribute_options=subject.attribute_options,
        )
    if known.fingerprint() != subject.input_hash:
        raise GraphError(
            f"The graph ({known!r}) is not the one that was clustered: its hash is {known.fingerprint()[:12]}... "
            f"and {subject.input_hash[:12]}... was expected; give the same edges, weights, names and groups."
        )
    return known
