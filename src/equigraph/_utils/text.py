"""Formatting of messages: counts, lists, hints, and text for LaTeX and HTML."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from typing import Any

_LATEX = {
    "\\": r"\textbackslash{}",
    "±": r"$\pm$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun, in the singular for one."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def joined(words: Iterable[object]) -> str:
    """Join words by commas, or by semicolons if a word has a comma, as a name may that begins with the surname."""
    texts = [str(word) for word in words]
    return ("; " if any("," in text for text in texts) else ", ").join(texts)


def listed(words: Iterable[object]) -> str:
    """Join words to a list in a sentence.

    >>> listed(["Ada", "Ben", "Cem"]), listed(["Roth, Ada", "Abel, Ben", "Koç, Cem"])
    ('Ada, Ben and Cem', 'Roth, Ada; Abel, Ben and Koç, Cem')
    """
    *most, last = [str(word) for word in words]
    return f"{joined(most)} and {last}" if most else last


def did_you_mean(name: Any, known: Iterable[Any]) -> str:
    """Return a hint at the known name that resembles the one given, in brackets; nothing if none does.

    >>> did_you_mean("nmft", ["sc", "nmtf"]), did_you_mean("magic", ["sc", "nmtf"])
    (" (did you mean 'nmtf'?)", '')
    """
    names = {str(one).casefold(): one for one in reversed(list(known))}
    close = difflib.get_close_matches(str(name).casefold(), names, n=1)
    return f" (did you mean {names[close[0]]!r}?)" if close else ""


def latex(text: str) -> str:
    r"""Escape a text for LaTeX."""
    return "".join(_LATEX.get(character, character) for character in text)


def one_line(message: object) -> str:
    """Return the text of an error or a warning without line ends, or the name of its type if it is empty."""
    return " ".join(str(message).split()) or type(message).__name__


def counted(notes: Iterable[tuple[type[Warning], str]], where: str = "") -> list[tuple[type[Warning], str]]:
    """Return the first text of every kind of warning, with the number of warnings of that kind."""
    kinds: dict[type[Warning], list[str]] = {}
    for category, text in notes:
        kinds.setdefault(category, []).append(text)
    return [
        (category, texts[0] if len(texts) == 1 else f"{texts[0]} ({len(texts)} times{where})")
        for category, texts in kinds.items()
    ]


GIVE_GROUPS = "read the graph with groups, or give sensitive_features in Python"
NO_GROUPS = "there are no groups"


def shown(value: Any, length: int | None = None) -> str:
    """Return a name on one line, without control characters and cut to a length.

    >>> shown("two" + chr(10) + "lines"), shown("a" * 30, 10)
    ('two lines', 'aaaaaaaaa…')
    """
    text = "".join(map(_drawable, str(value)))
    return text if length is None or len(text) <= length else text[: length - 1] + "…"


def _drawable(character: str) -> str:
    if character.isspace():
        return character if character == "\N{NO-BREAK SPACE}" else " "
    # XML and HTML allow no control characters, lone surrogates or noncharacters.
    is_nonchar = 0xFDD0 <= ord(character) <= 0xFDEF or ord(character) & 0xFFFE == 0xFFFE
    return (
        "\N{REPLACEMENT CHARACTER}"
        if is_nonchar or unicodedata.category(character) in ("Cc", "Cs")
        else character
    )
