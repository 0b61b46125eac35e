"""Assign nodes without edges to clusters, by fairness alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equigraph.graph.groups.encode import contingency_table

# Nodes are placed one by one up to this number; beyond, in equal batches, so that the cost stays bounded.
_STEPS = 10_000


def place_isolated(
    labels: NDArray[np.intp],
    isolated_mask: NDArray[np.bool_],
    codes: NDArray[np.intp] | None,
    n_clusters: int,
    n_groups: int,
) -> NDArray[np.intp]:
    r"""Assign the isolated nodes to the clusters where they raise fairness most.

    Each greedy step takes the group and the cluster whose next node raises the normalised balance

    .. math:: NB = \sum_l \frac{|C_l|}{n} \min_s \min(r_{ls}/p_s,\; p_s/r_{ls})

    most (r: shares in the cluster, p: shares in the population); ties go to the smallest cluster.
    Without groups every node goes to the smallest cluster. Labels of isolated nodes are not read, those of others stay.
    """
    labels = np.array(labels, dtype=np.intp)
    isolated = np.flatnonzero(isolated_mask)
    if isolated.size == 0:
        return labels
    if codes is None:
        codes, n_groups = np.zeros(labels.size, dtype=np.intp), 1
    placed = ~isolated_mask
    table = contingency_table(labels[placed], codes[placed], n_clusters, n_groups)
    shares = np.bincount(codes, minlength=n_groups) / labels.size
    pending = [isolated[codes[isolated] == group] for group in range(n_groups)]
    batch = -(-isolated.size // _STEPS)
    gains = np.stack([_gains(row, shares) for row in table])
    while any(nodes.size for nodes in pending):
        open_groups = np.array([nodes.size > 0 for nodes in pending])
        cluster, group = _best(np.where(open_groups, gains, -np.inf), table.sum(axis=1))
        taken, pending[group] = pending[group][:batch], pending[group][batch:]
        labels[taken] = cluster
        table[cluster, group] += taken.size
        gains[cluster] = _gains(table[cluster], shares)
    return labels


def _best(gains: NDArray[np.float64], sizes: NDArray[np.int64]) -> tuple[int, int]:
    """Return the cluster and group of the largest gain; among equal gains the smallest cluster."""
    best = gains.max()
    clusters, groups = np.nonzero(gains >= best - 1e-9 * max(1.0, abs(best)))
    first = int(np.argmin(sizes[clusters]))
    return int(clusters[first]), int(groups[first])


def _gains(row: NDArray[np.int64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the change of size times balance of a cluster by one more node of each group."""
    if shares.size == 1:
        return np.zeros(1)
    return _weighted_balance(row + np.eye(shares.size), shares) - _weighted_balance(row[None], shares)


def _weighted_balance(rows: NDArray, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return size times normalised balance of each row of counts; an empty cluster counts 0."""
    sizes = rows.sum(axis=1)
    ratio = rows / (np.maximum(sizes, 1)[:, None] * shares)
    with np.errstate(divide="ignore"):
        worst = np.minimum(ratio, 1 / ratio).min(axis=1)
    return sizes * worst
