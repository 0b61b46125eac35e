"""Sentences that name options: as keywords for who calls from Python, as flags for who types a command.

What differs is marked in the text with both ways of saying it. Errors and warnings keep the marked text; ``str`` of
them is said for Python, `for_command` says it for the command line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

# Noncharacters of Unicode, which no text may hold: begin, between the two ways, end.
_MARKED = re.compile("\ufdd0([^\ufdd0-\ufdd2]*)\ufdd1([^\ufdd0-\ufdd2]*)\ufdd2")
# Flags whose names are not those of the keywords.
_FLAGS = {
    "n_clusters": "-k",
    "sensitive_features": "--groups",
    "random_state": "--seed",
    "n_points": "--points",
    "n_restarts": "--restarts",
    "n_jobs": "--jobs",
}
# Keywords that are said as a call to who did not call `read_graph`.
_READING = ("missing", "unknown", "symmetrize", "duplicates", "weight", "node_column", "attribute")


class Sentence(str):
    """A text as Python's callers read it, with the marked one in ``template``."""

    template: str

    def __new__(cls, template: str) -> Sentence:
        """Read the marked passages in the way of Python."""
        self = super().__new__(cls, _MARKED.sub(r"\1", template))
        self.template = template
        return self

    def __str__(self) -> str:
        """Return the sentence itself, so that the text of an error does not lose its marks."""
        return self


def template(said: object) -> str:
    """Return what an error, a warning or a sentence says with its marks, to be part of another sentence."""
    text = str(said)
    return getattr(text, "template", text)


def one_line(said: object) -> str:
    r"""Return what something says without line ends."""
    words = " ".join(template(said).split())
    return Sentence(words or type(said).__name__)


def counted(notes: Iterable[tuple[type[Warning], str]], where: str = "") -> list[tuple[type[Warning], str]]:
    """Return the first text of every kind of warning, with how often that kind came."""
    kinds: dict[type[Warning], list[str]] = {}
    for category, text in notes:
        kinds.setdefault(category, []).append(text)
    return [
        (
            category,
            texts[0] if len(texts) == 1 else Sentence(f"{template(texts[0])} ({len(texts)} times{where})"),
        )
        for category, texts in kinds.items()
    ]


def for_command(said: object) -> str:
    """Return what an error, a warning or a sentence says to who typed a command.

    >>> for_command(Sentence(f"Say {option('missing', 'drop')} or {option('header', False)}."))
    'Say --missing drop or --no-header.'
    """
    return _MARKED.sub(r"\2", template(said))


def either(python: str, command: str) -> str:
    """Return a passage that is said in two ways."""
    return f"\ufdd0{python}\ufdd1{command}\ufdd2"


def named(name: str) -> str:
    """Return the name of a parameter, or its flag."""
    return either(name, _flag(name, ()))


def option(name: str, *values: Any) -> str:
    """Return an option with a value, with some that it takes, or without one.

    >>> print(Sentence(f"Say {option('duplicates', 'sum', 'max')}, or leave {option('n_clusters')} out."))
    Say duplicates='sum' or 'max', or leave n_clusters= out.
    """
    return either(f"{name}={_alternatives(values, repr)}", _flag(name, values))


def _alternatives(values: tuple[Any, ...], say: Callable[[Any], str]) -> str:
    *most, last = map(say, values) if values else ("",)
    return f"{', '.join(most)} or {last}" if most else last


def _flag(name: str, values: tuple[Any, ...]) -> str:
    flag = _FLAGS.get(name, "--" + name.replace("_", "-"))
    if name == "header":
        return "--no-header" if values == (False,) else flag
    if not values or values == (True,):
        return flag
    return f"{flag} {_alternatives(values, _typed)}"


def _typed(value: Any) -> str:
    """Return a value as it is typed."""
    if value is None or value is False:
        return "none"
    if isinstance(value, (tuple, list)):
        return ",".join(map(_typed, value))
    return repr(value) if " " in str(value) or not str(value).isprintable() else str(value)


def as_calls(error: Exception) -> Any:
    """Return the same error with every option of `read_graph` as part of a call, for who did not call it.

    >>> print(as_calls(ValueError(Sentence(f"Say {option('missing', 'drop')}."))))
    Say read_graph(..., missing='drop').
    """
    return type(error)(Sentence(_MARKED.sub(_called, template(error))))


def reading(name: str, *values: Any) -> str:
    """Return an option of `read_graph` as part of a call."""
    return _MARKED.sub(_called, option(name, *values))


def _called(match: re.Match[str]) -> str:
    name = match[1].partition("=")[0]
    return either(f"read_graph(..., {match[1]})" if name in _READING else match[1], match[2])


GIVE_GROUPS = either(
    "pass sensitive_features=, or read the graph with groups", "give --groups FILE and --attribute NAME"
)
NO_GROUPS = either("no sensitive_features were given", "no --groups were given")
