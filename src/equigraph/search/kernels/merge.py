"""Greedy merging of all pairs of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph.compilation import compiled
from equigraph.search.kernels.state import copy_labels, part, scored


@compiled
def _row_part(terms: Any, row: Any) -> float:
    """Return what a cluster with these counts adds to the notion, over all attributes."""
    value = 0.0
    for a in range(terms.offsets.size - 1):
        value += part(terms, row, a)
    return value


@compiled
def _fill(
    gains: Any,
    row: int,
    alive: Any,
    between: Any,
    volume: Any,
    table: Any,
    parts: Any,
    terms: Any,
    unit: float,
) -> None:
    """Compute what merging a cluster with each of the others would bring."""
    f, inverse = terms.fairness, 1.0 / terms.total if terms.total > 0 else 0.0
    both = np.empty(table.shape[1], dtype=np.int64)
    for other in range(volume.size):
        if not alive[other] or other == row:
            gains[row, other] = -np.inf
            continue
        gain = 2.0 * inverse * between[row, other]
        gain -= 2.0 * terms.resolution * (inverse * volume[row]) * (inverse * volume[other])
        gain *= 1.0 - f
        if f > 0:
            for s in range(both.size):
                both[s] = table[row, s] + table[other, s]
            gain += f * unit * (_row_part(terms, both) - parts[row] - parts[other])
        gains[row, other] = gain


@compiled
def merge_pairs(
    between: Any, volume: Any, table: Any, n_least: int, n_most: int, score: Any, values: Any
) -> Any:
    """Merge the best pair of clusters, connected or not, again and again, also where the objective falls.

    ``between`` holds the weight between every two clusters; it, ``volume`` and ``table`` are overwritten. A notion that
    is a plain mean over the clusters is taken for a sum, in units of the number of clusters wanted. Returns the new
    label of each cluster, not compact, at the best moment with ``n_least`` to ``n_most``.
    """
    terms = scored(score, values)
    n = volume.size
    unit = 1.0 if terms.sized else 1.0 / n_least
    labels = np.arange(n)
    alive = np.ones(n, dtype=np.bool_)
    parts = np.zeros(n)
    if terms.fairness > 0:
        for a in range(n):
            parts[a] = _row_part(terms, table[a])
    gains = np.empty((n, n))
    partner = np.empty(n, dtype=np.int64)
    for a in range(n):
        _fill(gains, a, alive, between, volume, table, parts, terms, unit)
        partner[a] = np.argmax(gains[a])
    best, best_gain, gain = labels.copy(), 0.0, 0.0
    for count in range(n - 1, n_least - 1, -1):
        first, most = -1, -np.inf
        for a in range(n):
            if alive[a] and gains[a, partner[a]] > most:
                first, most = a, gains[a, partner[a]]
        second = partner[first]
        if second < first:
            first, second = second, first
        volume[first] += volume[second]
        for s in range(table.shape[1]):
            table[first, s] += table[second, s]
        for a in range(n):
            between[first, a] += between[second, a]
        for a in range(n):
            between[a, first] += between[a, second]
            gains[a, second] = -np.inf
            if labels[a] == second:
                labels[a] = first
        alive[second] = False
        if terms.fairness > 0:
            parts[first] = _row_part(terms, table[first])
        _fill(gains, first, alive, between, volume, table, parts, terms, unit)
        partner[first] = np.argmax(gains[first])
        for a in range(n):
            if alive[a] and a != first:
                gains[a, first] = gains[first, a]
                # Only who lost its partner must look again; the others at most prefer the merged cluster.
                if partner[a] == first or partner[a] == second:
                    partner[a] = np.argmax(gains[a])
                elif gains[a, first] > gains[a, partner[a]]:
                    partner[a] = first
        gain += most
        if count == n_most or (count < n_most and gain > best_gain):
            copy_labels(labels, best)
            best_gain = gain
    return best
