"""Scores of labels, that of a notion among them, in memory or on disk."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from equigraph.metrics import evaluate
from equigraph.metrics._table import make_tables
from equigraph.metrics.notions import get_notion
from equigraph.metrics.summary import score_name
from equigraph.stores.blocks import BlockGraph, evaluate_blocks


def score_labels(graph: Any, labels: NDArray, notion: Any) -> dict[str, float]:
    """Return Q, B, NB, min_balance, rho and n_nonempty of labels, and the measure of the notion."""
    scores = evaluate_blocks(graph, labels) if isinstance(graph, BlockGraph) else evaluate(graph, labels)
    notion = get_notion(notion)
    if notion.measure in scores:
        return scores
    attributes, tables = make_tables(labels, graph.attributes)
    values = [notion.value(table.counts, table.groups.sizes) for table in tables]
    # Before the number of clusters, after which come the scores of each attribute.
    place = list(scores).index("n_nonempty")
    items = list(scores.items())
    scores = dict([*items[:place], (notion.measure, attributes.mean(values)), *items[place:]])
    if attributes.are_several:
        scores |= {
            score_name(notion.measure, name): value
            for name, value in zip(attributes.names, values, strict=True)
        }
    return scores
