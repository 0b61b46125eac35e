"""Scores of labels of a graph in row blocks, by one pass over them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph.stores.block_files import RowBlock
from equigraph.stores.blocks import BlockGraph
from equigraph.stores.distributed import StreamedRows
from equigraph.stores.distributed.rows import Rows


def evaluate_blocks(graph: BlockGraph, labels: ArrayLike, *, n_clusters: int | None = None) -> dict[str, Any]:
    """Return what `equigraph.metrics.evaluate` does of a graph in memory."""
    from equigraph.metrics import evaluate

    # Everything but Q only looks at labels and groups.
    scores = evaluate(graph.without_edges(), labels, n_clusters=n_clusters)
    codes = np.unique(np.asarray(labels), return_inverse=True)[1].astype(np.int32)
    store = StreamedRows(graph.in_units())
    inside, degrees = map(np.concatenate, zip(*store.gather(sums_of_block, codes), strict=True))
    store.close()
    total = max(float(degrees.sum()), np.finfo(float).tiny)
    volume = np.bincount(codes, weights=degrees)
    scores["Q"] = float(inside.sum() / total - np.square(volume / total).sum())
    return scores


def sums_of_block(
    rows: Rows, block: RowBlock, labels: NDArray[np.int32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of every node of a block to its own cluster, and to all."""
    from equigraph.stores.kernels import weight_to_own

    arrays = block.indptr, block.indices, block.weights()
    everyone = np.zeros_like(labels)
    return weight_to_own(*arrays, block.low, labels), weight_to_own(*arrays, block.low, everyone)
