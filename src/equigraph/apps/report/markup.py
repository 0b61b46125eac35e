"""Markup that is safe by construction: every text that is no `Html` is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from equigraph.plotting.style import shown

NO_BREAK = "\N{NO-BREAK SPACE}"
_VOID = ("meta", "br", "col")


class Html(str):
    """Text that is markup already."""


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


def table(
    heads: Sequence[Any],
    rows: Iterable[Sequence[Any]],
    *,
    caption: str,
    words: Sequence[int] = (),
    mark: int = -1,
    stacked: bool = False,
) -> Html:
    """Return a table in a box of its own, which scrolls where the page is too narrow for it.

    The first cell of a row is its head. Columns of `words` are set to the left, and one row is emphasised by a `mark`.
    Cells of a `stacked` table stand below each other on a phone, each with the head of its column.
    """
    kinds = ["words" if i in words else "number" for i in range(len(heads))]
    top = [element("th", head, scope="col", class_=kind) for head, kind in zip(heads, kinds, strict=True)]
    body = []
    for i, row in enumerate(rows):
        first, *others = row
        cells = [element("th", first, scope="row", class_=kinds[0])]
        cells += [
            element("td", cell, class_=kind, data_label=head if stacked else None)
            for cell, kind, head in zip(others, kinds[1:], heads[1:], strict=True)
        ]
        body.append(element("tr", *cells, class_="chosen" if i == mark else None))
    return element(
        "div",
        element(
            "table",
            element("caption", caption),
            element("thead", element("tr", *top)),
            element("tbody", *body),
            class_="stacked" if stacked else None,
        ),
        class_="scroll",
        # A box that scrolls can be reached and scrolled by keyboard.
        tabindex=0,
        role="region",
        aria_label=caption,
    )


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.0f}{NO_BREAK}%"


def number(value: Any) -> str:
    """Return a score with three digits, a count as it is, and a dash for what there is not."""
    if value is None or value != value:
        return "\N{EN DASH}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}".replace("-", "\N{MINUS SIGN}")
