"""Tables with a caption, as HTML for notebooks and as text for terminals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from equigraph.exceptions import visible

MAX_ROWS, MAX_GROUPS = 60, 20
_CELL = "text-align:right;font-variant-numeric:tabular-nums"


def page_of(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a caption and a table as HTML; values are escaped, and long tables are cut."""
    every = list(rows)
    lines = [
        "".join(f'<td style="{_CELL}">{escape(_text(value))}</td>' for value in row)
        for row in every[:MAX_ROWS]
    ]
    if len(every) > MAX_ROWS:
        lines.append(f'<td colspan="{len(heads)}">... and {len(every) - MAX_ROWS:,} more</td>')
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def text_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a caption and a table as aligned text; long tables are cut.

    >>> print(text_table("Two rows", ["name", "Q"], [["a", 0.5], ["bc", None]]))
    Two rows
    name      Q
    a     0.500
    bc
    """
    every = [[visible(_text(value)) for value in row] for row in rows]
    columns = [[head, *cells] for head, *cells in zip(heads, *every[:MAX_ROWS], strict=True)]
    lines = zip(*map(_aligned, columns), strict=True)
    more = [f"... and {len(every) - MAX_ROWS:,} more"] if len(every) > MAX_ROWS else []
    return "\n".join([caption, *("  ".join(line).rstrip() for line in lines), *more])


def _aligned(column: list[str]) -> list[str]:
    """Return cells of one width: numbers to the right, words to the left."""
    width = max(map(len, column))
    numbers = any(cell[:1].isdigit() or cell[:1] in "-." for cell in column[1:] if cell)
    return [cell.rjust(width) if numbers else cell.ljust(width) for cell in column]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, (list, tuple)):
        shown = " ".join(map(str, value[:MAX_ROWS]))
        return f"{shown} ..." if len(value) > MAX_ROWS else shown
    return str(value)
