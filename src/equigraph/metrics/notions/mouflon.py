"""The proportional balance of MOUFLON."""

from __future__ import annotations

from typing import Any

from equigraph.metrics.notions.balance import mean_balance
from equigraph.metrics.notions.base import Notion


def mouflon(counts: Any, population: Any) -> float:
    """Return (h - 1) times the smallest of h counts over the rest; 1 where there is one group only."""
    size, least = 0, -1
    for s in range(len(counts)):
        size += counts[s]
        if least < 0 or counts[s] < least:
            least = counts[s]
    if len(counts) == 1:
        return 1.0
    return (len(counts) - 1) * least / max(size - least, 1)


MOUFLON = Notion("mouflon", "mouflon", mouflon, guide=mean_balance)
