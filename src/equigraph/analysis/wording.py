"""Sentences of explanations, recommendations and prices, from the macros of ``templates/sentences.txt``."""

from __future__ import annotations

from typing import Any

from equigraph._utils.templates import environment
from equigraph._utils.text import count, listed


def in_words(macro: str, **values: Any) -> str:
    """Return the sentences of a macro."""
    templates = environment("equigraph.analysis")
    templates.globals |= {"count": count, "listed": listed}
    return str(getattr(templates.get_template("sentences.txt").module, macro)(**values))


def objective_in_words(fairness: float | None, measure: str) -> str:
    """Return ``(1 - f) Q + f N`` without a term of weight 0; Q where there is no dial.

    >>> [objective_in_words(fairness, "NB") for fairness in (None, 0, 0.25, 1)]
    ['Q', 'Q', '0.75 Q + 0.25 NB', 'NB']
    """
    if not fairness:
        return "Q"
    return measure if fairness == 1 else f"{1 - fairness:g} Q + {fairness:g} {measure}"
