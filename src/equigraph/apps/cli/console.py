"""Printing: notes on standard error, tables on standard output."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from equigraph._utils.text import one_line
from equigraph.exceptions import visible

_WORDS = 16  # letters that a column of words has at least
_WIDTH = 160  # of tables in files and pipes, where rich would assume 80


def note(text: str) -> None:
    """Print one line on standard error."""
    click.echo(f"Note: {visible(one_line(text))}", err=True)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Collect user warnings, and print each once as a note at the end of the block."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        try:
            yield
        finally:
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                note(text)


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[list[Any]]:
    """Provide the callbacks of a progress bar; none if standard error is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield []
        return
    from equigraph._utils.callbacks import ProgressBar

    with ProgressBar() as bar:
        yield [bar]


def console() -> Any:
    """Return a rich console on the current standard output."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)


def line(text: str = "") -> None:
    """Print a line on standard output, with control characters escaped."""
    click.echo(visible(text))


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, left: Sequence[str] = (), bold: int = -1
) -> None:
    """Print a table on standard output.

    Floats have three digits. Columns named in `left` are left-aligned and may wrap. Columns that do not fit follow in a
    further table that repeats the first column.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    texts = [[cell(value) for value in row] for row in rows]
    heads = [cell(name) for name in columns]
    widths = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
    needed = [
        min(width, _WORDS) if name in left else width for name, width in zip(columns, widths, strict=True)
    ]
    parts: list[list[int]] = [[]]
    for place in range(len(heads)):
        if parts[-1] and sum(needed[one] + 2 for one in (*parts[-1], place)) > console().width:
            parts.append([0])
        parts[-1].append(place)
    for part in parts:
        grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        for place in part:
            words = columns[place] in left
            grid.add_column(
                Text(heads[place]),
                justify="left" if words else "right",
                no_wrap=not words,
                overflow="fold",
                min_width=needed[place],
            )
        for i, row in enumerate(texts):
            grid.add_row(*(Text(row[place]) for place in part), style="bold" if i == bold else None)
        console().print(grid)


def fitting(width: int, taken: int = 24) -> int:
    """Return the number of columns of a width that fit beside the others; at least two."""
    return max(2, (int(console().width) - taken) // (width + 1))


def clipped(text: str, width: int) -> str:
    """Return a text of at most so many letters; a shortened one ends in dots."""
    return text if len(text) <= width else f"{text[: width - 1]}…"


def cell(value: Any) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else visible(str(value).replace("\n", "\\n"))
