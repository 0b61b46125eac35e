"""Compiled greedy merging of all pairs of clusters. Imported at fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph.compilation import compiled
from equigraph.refinement.moves import better, notion_change, score


@compiled
def score_changes(table: Any, scores: Any, terms: Any) -> Any:
    """Return how the sum of scores changes when any two clusters are merged."""
    n = scores.size
    changes = np.zeros((n, n))
    for a in range(n):
        for b in range(a):
            change = score(table[a], table[b], 1, terms) - scores[a] - scores[b]
            changes[a, b] = change
            changes[b, a] = change
    return changes


@compiled
def best_pair(
    between: Any, volume: Any, sizes: Any, changes: Any, score_sum: float, alive: Any, terms: Any
) -> tuple[int, int, float, float]:
    """Return the pair of living clusters that is best merged, and the changes of Q and of the notion.

    Of equals the smaller pair wins.
    """
    inverse = 1.0 / terms.total if terms.total > 0 else 0.0
    count = alive.size
    first, second, best_q, best_n = -1, -1, 0.0, 0.0
    for i in range(count):
        a = alive[i]
        for j in range(i):
            b = alive[j]
            dq = 2.0 * inverse * between[a, b]
            dq -= 2.0 * terms.resolution * (inverse * volume[a]) * (inverse * volume[b])
            dn = 0.0
            if terms.fairness > 0:
                dn = notion_change(changes[a, b], score_sum, count, count - 1, terms.notion)
            wins = first < 0 or better(dq, dn, best_q, best_n, terms.fairness)
            if not wins and not better(best_q, best_n, dq, dn, terms.fairness):
                wins = sizes[a] + sizes[b] < sizes[first] + sizes[second]
            if wins:
                first, second, best_q, best_n = b, a, dq, dn
    return first, second, best_q, best_n


@compiled
def merge_pairs(between: Any, volume: Any, table: Any, n_least: int, n_most: int, terms: Any) -> Any:
    """Merge the best pair of clusters, connected or not, again and again, also where the objective falls.

    ``between`` holds the weight between every two clusters; it, ``volume`` and ``table`` are overwritten.
    Returns the new label of each cluster, not compact, at the best moment with ``n_least`` to ``n_most``.
    """
    n = volume.size
    fair = terms.fairness > 0
    labels = np.arange(n)
    alive = np.arange(n)
    sizes = table.sum(axis=1)
    nothing = np.zeros(table.shape[1], dtype=table.dtype)
    scores = np.zeros(n)
    changes = np.zeros((1, 1))
    if fair:
        for a in range(n):
            scores[a] = score(table[a], nothing, 1, terms)
        changes = score_changes(table, scores, terms)
    score_sum = scores.sum()
    best = labels.copy()
    best_q, best_n, gain_q, gain_n = 0.0, 0.0, 0.0, 0.0
    while alive.size > n_least:
        first, second, dq, dn = best_pair(between, volume, sizes, changes, score_sum, alive, terms)
        labels[labels == second] = first
        volume[first] += volume[second]
        sizes[first] += sizes[second]
        table[first] += table[second]
        between[first] += between[second]
        between[:, first] += between[:, second]
        alive = alive[alive != second]
        if fair:
            score_sum += changes[first, second]
            scores[first] = score(table[first], nothing, 1, terms)
            for b in alive:
                change = score(table[first], table[b], 1, terms) - scores[first] - scores[b]
                changes[first, b] = change
                changes[b, first] = change
        gain_q += dq
        gain_n += dn
        within = alive.size <= n_most
        if alive.size == n_most or (within and better(gain_q, gain_n, best_q, best_n, terms.fairness)):
            best[:] = labels
            best_q, best_n = gain_q, gain_n
    return best
