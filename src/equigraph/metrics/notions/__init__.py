"""Notions of fairness: what the dial of a search moves, and what the scores of the same name measure.

A new notion is one file here and one entry of `NOTIONS`.
"""

from __future__ import annotations

from typing import Any

from equigraph.exceptions import ParameterError
from equigraph.metrics.notions.balance import BALANCE
from equigraph.metrics.notions.base import Notion
from equigraph.metrics.notions.evenness import EVENNESS
from equigraph.metrics.notions.mouflon import MOUFLON
from equigraph.metrics.notions.normalized import NORMALIZED

NOTIONS: dict[str, Notion] = {notion.name: notion for notion in (NORMALIZED, BALANCE, MOUFLON, EVENNESS)}

__all__ = ["BALANCE", "EVENNESS", "MOUFLON", "NORMALIZED", "NOTIONS", "Notion", "get_notion"]


def get_notion(notion: Any) -> Notion:
    """Return a notion by its name; a `Notion` is returned as it is.

    Raises
    ------
    ParameterError
        For an unknown name; the message lists the known ones.

    Examples
    --------
    >>> get_notion("balance").measure
    'B'
    """
    if isinstance(notion, Notion):
        return notion
    if not isinstance(notion, str) or notion not in NOTIONS:
        known = ", ".join(map(repr, NOTIONS))
        raise ParameterError(f"notion={notion!r} is unknown: expected one of {known}, or a Notion.")
    return NOTIONS[notion]
