"""The balance of the paper: the smallest group of a cluster over its largest."""

from __future__ import annotations

from typing import Any

from equigraph.metrics.notions.base import Notion


def balance(counts: Any, population: Any) -> float:
    """Return the smallest count over the largest."""
    least, most = -1, 0
    for s in range(len(counts)):
        most = max(most, counts[s])
        if least < 0 or counts[s] < least:
            least = counts[s]
    return least / most


def mean_balance(counts: Any, population: Any) -> float:
    """Return the mean of the other counts over the largest."""
    size, most = 0, 0
    for s in range(len(counts)):
        size += counts[s]
        most = max(most, counts[s])
    return (size - most) / (most * max(len(counts) - 1, 1))


BALANCE = Notion("balance", "B", balance, sized=False, guide=mean_balance)
