"""Evenness: one minus the index of dissimilarity of Duncan and Duncan, for any number of groups."""

from __future__ import annotations

from typing import Any

from equigraph.metrics.notions.base import Notion, shared


@shared
def totals(counts: Any, population: Any) -> tuple[int, int]:
    """Return the members of a cluster and of the population."""
    size, n = 0, 0
    for s in range(len(counts)):
        size += counts[s]
        n += population[s]
    return size, n


def evenness(counts: Any, population: Any) -> float:
    """Return one minus the deviation of the shares, in units of what full segregation would give on average."""
    size, n = totals(counts, population)
    apart, most = 0.0, 0.0
    for s in range(len(counts)):
        share = population[s] / n
        apart += abs(counts[s] / size - share)
        most += 2 * share * (1 - share)
    return 1.0 - apart / most if most > 0 else 1.0


EVENNESS = Notion("evenness", "evenness", evenness)
