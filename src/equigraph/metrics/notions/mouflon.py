"""The proportional balance of MOUFLON."""

from __future__ import annotations

from typing import Any

from equigraph.metrics.notions.balance import mean_balance
from equigraph.metrics.notions.base import Notion


def mouflon(counts: Any, population: Any) -> float:
    """Return (h - 1) times the smallest of h counts over the rest; 1 where there is one group only."""
    size, least, others = 0, -1, -1
    for s in range(len(counts)):
        count, times = counts[s], 1
        if population[s] < 0:  # so many groups that have this count
            count, times = -population[s] >> 32, counts[s]
        size += times * count
        others += times
        if times > 0 and (least < 0 or count < least):
            least = count
    if others == 0:
        return 1.0
    return others * least / max(size - least, 1)


MOUFLON = Notion("mouflon", "mouflon", mouflon, guide=mean_balance, folds=True)
