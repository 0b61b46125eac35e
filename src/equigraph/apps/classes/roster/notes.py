"""Notes on how a sheet was read: a kind and values, which the templates ``notes.en.txt`` and so on put into words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jinja2 import TemplateError

from equigraph._utils.templates import environment
from equigraph.exceptions import RosterError

LANGUAGES = ("en", "de")


@dataclass(frozen=True)
class Note:
    """Something that was guessed or passed over while a sheet was read; its text is English.

    Attributes
    ----------
    kind : str
        What it is about: the name of a macro in the templates.
    values : mapping of str to Any
        Numbers, names and cells that it mentions, as JSON has them.

    Examples
    --------
    >>> one = Note("no_wish", {"n": 3})
    >>> print(one)
    People without a wish: 3.
    >>> one.texts()["de"]
    'Personen ohne Wunsch: 3.'
    """

    kind: str
    values: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            self.texts()
        except (TemplateError, LookupError, TypeError, ValueError) as error:
            raise RosterError(f"{self.kind!r} is no note on a sheet, or lacks a value ({error}).") from error

    def texts(self) -> dict[str, str]:
        """Return the sentence in each language."""
        return {language: self._text(language) for language in LANGUAGES}

    def _text(self, language: str) -> str:
        template = environment("equigraph.apps.classes.roster").get_template(f"notes.{language}.txt")
        return str(vars(template.module)[self.kind](**self.values))

    def __str__(self) -> str:
        return self._text("en")


def note(kind: str, **values: Any) -> Note:
    """Return a note of a kind."""
    return Note(kind, values)
