"""Small help with the sentences that people read."""

from __future__ import annotations


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, in the singular for one.

    Examples
    --------
    >>> count(1, "node"), count(1200, "node"), count(26, "person", "people")
    ('1 node', '1,200 nodes', '26 people')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
