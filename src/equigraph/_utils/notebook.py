"""Results as they look in a notebook: one line on what it is, and a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

MAX_ROWS, MAX_GROUPS = 60, 20
_CELL = "text-align:right;font-variant-numeric:tabular-nums"


def page_of(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a caption and a table as HTML; all that is not ours is escaped, and long tables are cut."""
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


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, (list, tuple)):
        shown = " ".join(map(str, value[:MAX_ROWS]))
        return f"{shown} ..." if len(value) > MAX_ROWS else shown
    return str(value)
