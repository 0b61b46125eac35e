"""Greedy merging of all pairs of clusters."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.compilation import compiled
from equigraph.search.kernels.state import copy_labels, part, scored


class Lists(NamedTuple):
    """The folded groups of every cluster as linked lists: ``head`` of each cluster, ``follow`` of each entry; -1: none.

    ``where`` is the entry of each group in the list of the cluster that is being looked at.
    """

    head: NDArray[np.int64]
    follow: NDArray[np.int64]
    groups: NDArray[np.int64]
    numbers: NDArray[np.int64]
    where: NDArray[np.int64]


@compiled
def _lists(starts: Any, groups: Any, numbers: Any, n: int, n_folded: int) -> Any:
    head = np.full(n, -1)
    follow = np.full(groups.size, -1)
    for c in range(starts.size - 1):
        for e in range(starts[c], starts[c + 1]):
            follow[e] = head[c]
            head[c] = e
    return Lists(head, follow, groups, numbers.copy(), np.full(n_folded, -1))


@compiled
def _mark(lists: Any, c: int, there: bool) -> None:
    """Say where the groups of a cluster are in its list, or no more."""
    e = lists.head[c]
    while e >= 0:
        lists.where[lists.groups[e]] = e if there else np.int64(-1)
        e = lists.follow[e]


@compiled
def _add_up(
    population: Any,
    first: Any,
    table: Any,
    head: Any,
    follow: Any,
    groups: Any,
    numbers: Any,
    where: Any,
    row: int,
    other: int,
    both: Any,
) -> None:
    """Write the row of two clusters together; the first is marked."""
    for s in range(both.size):
        both[s] = table[row, s]
        if population[s] >= 0:
            both[s] += table[other, s]
    e = head[other]
    while e >= 0:
        column = first[groups[e]]
        if where[groups[e]] >= 0:
            column += numbers[where[groups[e]]]
        both[column] -= 1
        both[column + numbers[e]] += 1
        e = follow[e]


@compiled
def _merge(terms: Any, table: Any, lists: Any, row: int, other: int) -> None:
    """Let one cluster have the groups of another as well."""
    head, follow, groups, numbers, where = lists
    both = np.empty(table.shape[1], dtype=np.int64)
    _mark(lists, row, True)
    _add_up(terms.population, terms.first, table, head, follow, groups, numbers, where, row, other, both)
    for s in range(both.size):
        table[row, s] = both[s]
    e = head[other]
    while e >= 0:
        after = follow[e]
        if where[groups[e]] >= 0:
            numbers[where[groups[e]]] += numbers[e]
        else:
            follow[e] = head[row]
            head[row] = e
        e = after
    _mark(lists, row, False)


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
    lists: Any,
    parts: Any,
    terms: Any,
    unit: float,
) -> None:
    """Compute what merging a cluster with each of the others would bring."""
    f, inverse = terms.fairness, 1.0 / terms.total if terms.total > 0 else 0.0
    population, first = terms.population, terms.first
    head, follow, groups, numbers, where = lists
    both = np.empty(table.shape[1], dtype=np.int64)
    _mark(lists, row, True)
    for other in range(volume.size):
        if not alive[other] or other == row:
            gains[row, other] = -np.inf
            continue
        gain = 2.0 * inverse * between[row, other]
        gain -= 2.0 * terms.resolution * (inverse * volume[row]) * (inverse * volume[other])
        gain *= 1.0 - f
        if f > 0:
            _add_up(population, first, table, head, follow, groups, numbers, where, row, other, both)
            gain += f * unit * (_row_part(terms, both) - parts[row] - parts[other])
        gains[row, other] = gain
    _mark(lists, row, False)


@compiled
def _best_two(gains: Any) -> tuple[int, float]:
    """Return the partner who brings most, the first of equals, and what the best of all others brings."""
    best, second = 0, -np.inf
    for other in range(1, gains.size):
        if gains[other] > gains[best]:
            best, second = other, gains[best]
        elif gains[other] > second:
            second = gains[other]
    return best, second


@compiled
def merge_pairs(
    between: Any,
    volume: Any,
    table: Any,
    starts: Any,
    groups: Any,
    numbers: Any,
    n_least: int,
    n_most: int,
    score: Any,
    values: Any,
) -> Any:
    """Merge the best pair of clusters, connected or not, again and again, also where the objective falls.

    ``between`` holds the weight between every two clusters; it, ``volume`` and ``table`` are overwritten. A notion that
    is a plain mean over the clusters is taken for a sum, in units of the number of clusters wanted. ``starts``,
    ``groups`` and ``numbers`` are the folded groups, as in `equigraph.search.kernels.state.Sites`. Returns the new
    label of each cluster, not compact, at the best moment with ``n_least`` to ``n_most``.
    """
    terms = scored(score, values)
    n = volume.size
    unit = 1.0 if terms.sized else 1.0 / n_least
    labels = np.arange(n)
    alive = np.ones(n, dtype=np.bool_)
    lists = _lists(starts, groups, numbers, n, terms.first.size)
    parts = np.zeros(n)
    if terms.fairness > 0:
        for a in range(n):
            parts[a] = _row_part(terms, table[a])
    gains = np.empty((n, n))
    partner = np.empty(n, dtype=np.int64)
    # At least what the best of the others brings: who loses a partner looks again only where that may be more.
    others = np.empty(n)
    for a in range(n):
        _fill(gains, a, alive, between, volume, table, lists, parts, terms, unit)
        partner[a], others[a] = _best_two(gains[a])
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
        _merge(terms, table, lists, np.int64(first), np.int64(second))
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
        _fill(gains, first, alive, between, volume, table, lists, parts, terms, unit)
        partner[first], others[first] = _best_two(gains[first])
        for a in range(n):
            if alive[a] and a != first:
                now, old = gains[first, a], gains[a, partner[a]]
                gains[a, first] = now
                if partner[a] == first or partner[a] == second:
                    if now > others[a]:
                        partner[a] = first
                    else:
                        partner[a], others[a] = _best_two(gains[a])
                elif now > old:
                    partner[a], others[a] = first, old
                else:
                    others[a] = max(others[a], now)
        gain += most
        if count == n_most or (count < n_most and gain > best_gain):
            copy_labels(labels, best)
            best_gain = gain
    return best
