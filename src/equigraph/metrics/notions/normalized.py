"""Normalised balance: every cluster has of every group its share, as far as whole nodes allow."""

from __future__ import annotations

from typing import Any

from equigraph.metrics.notions.base import Notion
from equigraph.metrics.notions.evenness import evenness, totals


def normalized(counts: Any, population: Any) -> float:
    """Return how close the counts are to the shares of the population; see `NORMALIZED`."""
    size, n = totals(counts, population)
    worst = 1.0
    for s in range(len(counts)):
        # Compared in whole numbers: e = share / n would be rounded, and its floor be one too low.
        count, share = counts[s], size * population[s]
        if (count + 1) * n <= share:
            worst = min(worst, count / (share // n))
        elif (count - 1) * n >= share:
            worst = min(worst, -(-share // n) / count)
    return worst


NORMALIZED = Notion("normalized", "NB", normalized, guide=evenness)
