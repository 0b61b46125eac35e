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
    """Return a value as markup.

    Examples
    --------
    >>> str(text("<b>")), str(text(Html("<b>")))
    ('&lt;b&gt;', '<b>')
    """
    return value if isinstance(value, Html) else Html(escape(shown(value)))


def element(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Return an element; an attribute that is None is left out, and ``class_`` is ``class``.

    >>> str(element("p", "1 < 2", class_="note", id=None))
    '<p class="note">1 &lt; 2</p>'
    """
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

    Parameters
    ----------
    heads : sequence
        Names of the columns.
    rows : iterable of sequences
        Cells; the first of a row is its head.
    caption : str
        What the table shows.
    words : sequence of int
        Columns of words, set to the left; the others are numbers.
    mark : int
        Row to emphasise.
    stacked : bool
        Whether the cells of a row stand below each other on a phone, each with the head of its column.
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
    """Return a share as a percentage.

    >>> percent(0.814).replace(NO_BREAK, " ")
    '81 %'
    """
    return f"{100 * share:.0f}{NO_BREAK}%"


def number(value: Any) -> str:
    """Return a score with three digits, a count as it is, and a dash for what there is not.

    Examples
    --------
    >>> number(0.12345), number(1200), number(float("nan"))
    ('0.123', '1,200', '–')
    """
    if value is None or value != value:
        return "\N{EN DASH}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}".replace("-", "\N{MINUS SIGN}")
