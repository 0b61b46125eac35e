"""Evenness: one minus the index of dissimilarity of Duncan and Duncan, for any number of groups."""

from __future__ import annotations

from typing import Any

from equigraph.metrics.notions.base import Notion, shared


@shared
def totals(counts: Any, population: Any) -> tuple[int, int]:
    """Return the members of a cluster and of the population."""
    size, n = 0, 0
    for s in range(len(counts)):
        if population[s] < 0:  # so many groups of as many members, with as many of them here
            size += counts[s] * (-population[s] >> 32)
            n += counts[s] * (-population[s] & 0xFFFFFFFF)
        else:
            size += counts[s]
            n += population[s]
    return size, n


def evenness(counts: Any, population: Any) -> float:
    """Return one minus the deviation of the shares, in units of what full segregation would give on average."""
    size, n = totals(counts, population)
    apart, most = 0.0, 0.0
    for s in range(len(counts)):
        count, members, times = counts[s], population[s], 1
        if members < 0:
            count, members, times = -members >> 32, -members & 0xFFFFFFFF, counts[s]
        share = members / n
        apart += times * abs(count / size - share)
        most += times * (2 * share * (1 - share))
    return 1.0 - apart / most if most > 0 else 1.0


EVENNESS = Notion("evenness", "evenness", evenness, folds=True)
