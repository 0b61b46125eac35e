"""Evenness: one minus the index of dissimilarity of Duncan and Duncan, for any number of groups."""

from __future__ import annotations

from typing import Any

from equigraph.metrics.notions.base import Notion


def evenness(counts: Any, population: Any) -> float:
    """Return one minus the deviation of the shares, in units of what full segregation would give on average."""
    size, n = 0, 0
    for s in range(len(counts)):
        size += counts[s]
        n += abs(population[s])
    apart, most = 0.0, 0.0
    for s in range(len(counts)):
        if population[s] < 0:
            continue  # groups of one member, counted together, on the way to a notion that does not mind them
        share = population[s] / n
        apart += abs(counts[s] / size - share)
        most += 2 * share * (1 - share)
    return 1.0 - apart / most if most > 0 else 1.0


EVENNESS = Notion("evenness", "evenness", evenness)
