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
