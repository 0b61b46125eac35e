"""All divisions of a small graph into exactly k clusters, with their scores: what a search can at best find."""

from functools import cache

import numpy as np


@cache
def every_labelling(n, k):
    """Return all divisions of n nodes into k non-empty clusters, each once, as rows of labels.

    A label is at most one more than all before it, so that no two rows differ in the numbers alone.
    """
    rows = np.zeros((1, 1), dtype=np.int8)
    for node in range(1, n):
        used = rows.max(axis=1) + 1
        grown = [
            np.column_stack([rows[used >= label], np.full(np.count_nonzero(used >= label), label)])
            for label in range(k)
        ]
        rows = np.concatenate(grown).astype(np.int8)
        # Enough nodes must be left for the clusters that are still missing.
        rows = rows[k - (rows.max(axis=1) + 1) <= n - 1 - node]
    return rows


def every_score(dense, codes, k):
    """Return Q and normalised balance of every division into k clusters, by their definitions."""
    labels = every_labelling(len(codes), k)
    total, degrees = dense.sum(), dense.sum(axis=1)
    groups = np.eye(int(codes.max()) + 1, dtype=np.int64)[codes]
    n, population = len(codes), groups.sum(axis=0)
    q, fair = np.zeros(len(labels)), np.zeros(len(labels))
    for cluster in range(k):
        inside = (labels == cluster).astype(np.float64)
        q += np.einsum("ri,ri->r", inside @ dense, inside) / total - (inside @ degrees / total) ** 2
        counts = (inside @ groups).astype(np.int64)
        size = counts.sum(axis=1)
        low = size[:, None] * population // n
        high = -(-size[:, None] * population // n)
        below = np.where(counts < low, counts / np.maximum(low, 1), 1.0)
        above = np.where(counts > high, high / np.maximum(counts, 1), 1.0)
        fair += size / n * np.minimum(below, above).min(axis=1)
    return q, fair
