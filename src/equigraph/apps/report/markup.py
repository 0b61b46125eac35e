"""Markup that is safe by construction: every text that is no `Html` is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

from markupsafe import Markup

from equigraph.plotting.style import shown

Html = Markup
NO_BREAK = "\N{NO-BREAK SPACE}"
_VOID = ("meta", "br", "col")


@dataclass(frozen=True)
class PageTable:
    """A table of the page; the first cell of a row is its head."""

    caption: str
    heads: list[Any]
    rows: list[list[Any]]
    words: tuple[int, ...] = ()  # columns of texts, which are set to the left
    mark: int = -1  # row that is emphasised
    stacked: bool = False  # whether cells stand below each other on a phone, each with the head of its column

    def kind(self, column: int) -> str:
        """Return the class of the cells of a column."""
        return "words" if column in self.words else "number"


def visible(value: Any) -> Any:
    """Return a value as a page can show it: without control characters, unless it is markup."""
    return value if isinstance(value, Html) else shown(value)


def text(value: Any) -> Html:
    """Return a value as markup."""
    return value if isinstance(value, Html) else Html(escape(shown(value)))


def element(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Return an element; an attribute that is None is left out, and ``class_`` is ``class``."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(shown(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[Any], separator: str = "") -> Html:
    """Return several values as markup."""
    return Html(separator.join(text(part) for part in parts))


def document(title: str, style: str, *body: Any, policy: str) -> str:
    """Return a whole page, for which no browser may fetch or run anything but what the policy allows."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Html(style)),
    )
    return f"<!doctype html>\n{element('html', head, element('body', *body), lang='en')}\n"


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.0f}{NO_BREAK}%"


def number(value: Any) -> str:
    """Return a score with three digits, a count as it is, and a dash for what there is not."""
    if value is None or value != value:
        return "\N{EN DASH}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}".replace("-", "\N{MINUS SIGN}")
