"""Numbers, tables and files as the experiments write them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from equigraph.files import atomic_path

FAILED = "failed"


def number(value: float | None) -> str:
    """Return a score with three digits, as tables of the paper show it.

    Examples
    --------
    >>> number(0.6124), number(-0.0001), number(1.0), number(None)
    ('.612', '.000', '1.000', '-')
    """
    if value is None:
        return "-"
    text = f"{value:.3f}"
    if text == "-0.000":
        text = "0.000"
    return text.replace("0.", ".", 1) if abs(value) < 1 and not text.endswith("1.000") else text


def with_spread(mean: float | None, spread: float | None) -> str:
    """Return a mean and its spread.

    >>> with_spread(0.5, 0.0312)
    '.500 ±.031'
    """
    return number(mean) if spread is None else f"{number(mean)} ±{number(spread)}"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; the first column is of words, the others of numbers.

    >>> print(markdown_table(["network", "Q"], [["NBA", ".150"]]))
    | network | Q |
    |:--|--:|
    | NBA | .150 |
    """
    lines = [_line(head), "|:--|" + "--:|" * (len(head) - 1), *map(_line, rows)]
    return "\n".join(lines)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def write_text(path: Path, text: str) -> Path:
    """Write a text file, completely or not at all, and return its path."""
    with atomic_path(path) as partial:
        partial.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return path


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write rows as csv, with the names of all rows as columns and nothing where a row has no value."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with atomic_path(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    return path
