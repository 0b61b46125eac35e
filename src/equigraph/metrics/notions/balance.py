"""The balance of the paper: the smallest group of a cluster over its largest."""

from __future__ import annotations

from typing import Any

from equigraph.metrics.notions.base import Notion


def balance(counts: Any, population: Any) -> float:
    """Return the smallest count over the largest."""
    least, most = -1, 0
    for s in range(len(counts)):
        count, times = counts[s], 1
        if population[s] < 0:  # so many groups that have this count
            count, times = -population[s] >> 32, counts[s]
        if times > 0 and (least < 0 or count < least):
            least = count
        if times > 0 and count > most:
            most = count
    return least / most


def mean_balance(counts: Any, population: Any) -> float:
    """Return the mean of the other counts over the largest."""
    size, most, others = 0, 0, -1
    for s in range(len(counts)):
        count, times = counts[s], 1
        if population[s] < 0:
            count, times = -population[s] >> 32, counts[s]
        size += times * count
        others += times
        if times > 0:
            most = max(most, count)
    return (size - most) / (most * max(others, 1))


BALANCE = Notion("balance", "B", balance, sized=False, guide=mean_balance, folds=True)
