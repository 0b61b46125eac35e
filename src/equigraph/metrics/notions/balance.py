"""The balance of the paper: the smallest group of a cluster over its largest."""

from __future__ import annotations

from typing import Any

from equigraph.metrics.notions.base import Notion


def balance(counts: Any, population: Any) -> float:
    """Return the smallest count over the largest."""
    least = most = counts[0]
    for s in range(1, len(counts)):
        least = min(least, counts[s])
        most = max(most, counts[s])
    return least / most


BALANCE = Notion("balance", "B", balance, sized=False)
