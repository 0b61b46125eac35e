"""Scores of clusters of a graph whose edges stay on disk."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph.execution.blocks import BlockGraph
from equigraph.execution.distributed import StreamedRows


def block_scores(graph: BlockGraph, model: Any) -> dict[str, Any]:
    """Return what `equigraph.metrics.evaluate` does, by one pass over row blocks."""
    from equigraph.metrics import evaluate

    n_clusters = model.membership_.shape[1]
    # Everything but Q only looks at labels and groups.
    scores = evaluate(
        graph.without_edges(),
        model.labels_,
        sensitive_features=graph.groups,
        n_clusters=n_clusters,
    )
    store = StreamedRows(graph)
    store.place("labels", model.labels_.astype(np.int32))
    weights = store.tally("labels", n_clusters)
    store.close()
    total = max(float(weights.sum()), np.finfo(float).tiny)
    scores["Q"] = float(np.trace(weights) / total - np.square(weights.sum(axis=1) / total).sum())
    return scores
