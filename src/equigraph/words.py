"""Small help with the sentences that people read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the singular for one.

    Examples
    --------
    >>> count(1, "node"), count(1200, "node")
    ('1 node', '1,200 nodes')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def listed(words: Iterable[object]) -> str:
    """Return words as a list in a sentence.

    Examples
    --------
    >>> listed(["Ada", "Ben", "Cem"]), listed(["Ada"])
    ('Ada, Ben and Cem', 'Ada')
    """
    *most, last = [str(word) for word in words]
    return f"{', '.join(most)} and {last}" if most else last


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return a question that names the known word which an unknown one resembles most; nothing if none does.

    Examples
    --------
    >>> did_you_mean("ada", ["Ada", "Ben"]), did_you_mean("Zoe", ["Ada", "Ben"])
    (" (did you mean 'Ada'?)", '')
    """
    folded = {text.casefold(): text for text in known}
    close = difflib.get_close_matches(str(word).casefold(), folded, n=1)
    return f" (did you mean {folded[close[0]]!r}?)" if close else ""
