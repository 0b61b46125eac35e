"""What to say of names that the graph does not have: whom they resemble, and why none of them matches."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

from equigraph.words import did_you_mean

_MAX_COMPARED = 5_000  # nodes that a single name is compared with, letter by letter
_WHOLE = re.compile(r"(-?[0-9]+)\.0+\Z")

# How names of one source may differ from those of another, and what to tell of it.
_DIFFERENCES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("blanks around the names", str.strip),
    ("a fraction, as numbers get in a column with gaps", lambda text: _WHOLE.sub(r"\1", text.strip())),
    ("zeros in front", lambda text: text.strip().lstrip("0") or "0"),
    ("capital and small letters", lambda text: text.strip().casefold()),
)


def type_hint(strangers: Sequence[str], nodes: Sequence[str]) -> str:
    """Say how names that match no node differ from those of the nodes, where most differ in the same way.

    >>> type_hint(["0.0", "1.0"], ["0", "1", "2"])
    " (the difference is a fraction, as numbers get in a column with gaps: '0.0' may be the node '0')"
    >>> type_hint(["7", "8"], ["007", "008"])
    " (the difference is zeros in front: '7' may be the node '007')"
    """
    for words, plain in _DIFFERENCES:
        known = {plain(name): name for name in reversed(nodes)}
        found = [text for text in strangers if plain(text) in known]
        if 2 * len(found) > len(strangers):
            return f" (the difference is {words}: {found[0]!r} may be the node {known[plain(found[0])]!r})"
    return ""


def look_alike(text: str, nodes: Sequence[str]) -> str:
    """Say which node a name resembles, in letters that show the difference; nothing if there is none.

    >>> look_alike("Jose", ["Ann", "José"]), look_alike("x", ["Ann"])
    (" (did you mean 'José'?)", '')
    """
    wanted = _skeleton(text)
    for name in nodes:
        if _skeleton(name) == wanted:
            return f" (here {text!a}, in the graph {name!a})"
    return did_you_mean(text, nodes) if len(nodes) <= _MAX_COMPARED else ""


def _skeleton(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(c for c in folded if not c.isspace() and unicodedata.category(c) != "Cf")
