"""Translated sentences about sheets and lists, rendered from ``templates/en.txt`` and its translations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from jinja2 import TemplateError

from equigraph._utils.templates import environment
from equigraph._utils.text import shown
from equigraph.exceptions import RosterError

LANGUAGES = ("en", "de")


def say(language: str, kind: str, **values: Any) -> str:
    """Return a sentence in a language, in one line."""
    return shown(_macros(language)[kind](**values))


def is_translated(language: str, kind: str) -> bool:
    """Return whether a language has a sentence of a kind."""
    return kind in _macros(language)


def words(language: str) -> Mapping[str, str]:
    """Return the headings and single words of lists by key."""
    return dict(_macros(language)["words"])


def _macros(language: str) -> dict[str, Any]:
    return vars(environment("equigraph.apps.classes").get_template(f"{language}.txt").module)


@dataclass(frozen=True)
class Note:
    """A guess, omission or mistake found while a sheet was read; its ``str`` is English.

    Attributes
    ----------
    kind : str
        Name of a macro in the templates.
    values : mapping of str to Any
        Numbers, names and cells in the sentence, as JSON values.

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
        return {language: say(language, self.kind, **self.values) for language in LANGUAGES}

    def __str__(self) -> str:
        return say("en", self.kind, **self.values)


def note(kind: str, **values: Any) -> Note:
    """Return a note of a kind."""
    return Note(kind, values)


class SheetError(RosterError):
    """A sheet is not usable, or a question about it is open.

    Attributes
    ----------
    note : Note
        The problem, in every language.
    """

    note: Note

    @classmethod
    def of(cls, kind: str, **values: Any) -> Self:
        """Return an error of a kind."""
        what = Note(kind, values)
        error = cls(str(what))
        error.note = what
        return error


@contextmanager
def translated_errors(language: str) -> Iterator[None]:
    """Translate errors about sheets into a language."""
    try:
        yield
    except SheetError as error:
        if language == "en":
            raise
        raise RosterError(error.note.texts()[language]) from None
