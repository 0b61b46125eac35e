"""Results from labels of another tool, or labels that were edited by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.records import plain, versions
from equigraph.base import interaction_of
from equigraph.graph import Graph
from equigraph.graph.groups.sums import indicator
from equigraph.metrics import evaluate
from equigraph.results.result import ClusteringResult


def result_of_labels(
    graph: Graph,
    labels: NDArray[np.intp],
    method: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
    seconds: float = float("nan"),
) -> ClusteringResult:
    """Return labels as a result, with their scores and the interaction of their clusters."""
    k = int(labels.max()) + 1
    return ClusteringResult(
        method=method,
        labels=labels,
        membership=indicator(labels, k),
        interaction=interaction_of(graph, labels, k),
        node_names=graph.node_names,
        sensitive_features=graph.sensitive_features,
        scores=evaluate(graph, labels),
        parameters={name: plain(value) for name, value in (parameters or {}).items()},
        seed=seed,
        seconds=seconds,
        versions=versions(),
        input_hash=graph.fingerprint(),
        attribute=graph.attribute,
        attribute_options=graph.attribute_options,
    )
