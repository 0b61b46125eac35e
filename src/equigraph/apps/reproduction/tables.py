"""Numbers, tables, figures and files as the experiments write them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from equigraph._utils.files import atomic_path
from equigraph._utils.templates import environment
from equigraph.plotting.style import MUTED, PALETTE, look

FAILED = "failed"


def number(value: float | None) -> str:
    """Return a score with three digits, as tables of the paper show it."""
    if value is None:
        return "-"
    text = f"{value:.3f}"
    if text == "-0.000":
        text = "0.000"
    return text.replace("0.", ".", 1) if abs(value) < 1 and not text.endswith("1.000") else text


def with_spread(mean: float | None, spread: float | None) -> str:
    """Return a mean and its spread."""
    return number(mean) if spread is None else f"{number(mean)} ±{number(spread)}"


def write_text(path: Path, text: str) -> Path:
    """Write a text file, completely or not at all, and return its path."""
    with atomic_path(path) as partial:
        partial.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return path


def write_page(path: Path, **values: Any) -> Path:
    """Write a Markdown page from the template of its name, and return its path."""
    text = environment("equigraph.apps.reproduction").get_template(path.name).render(**values)
    return write_text(path, re.sub(r"\n{3,}", "\n\n", text))


def write_rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write rows as csv, with the names of all rows as columns and nothing where a row has no value."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with atomic_path(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(rows)
    return path


_BLUE, _ORANGE, _GREEN, _PINK, _SKY, _RED, _, _GREY = PALETTE
_BROWN = "#8C6D46"  # the palette has no further colour that is seen on white
# A colour and a marker for each method: either is enough to tell them apart.
STYLES: dict[str, dict[str, Any]] = {
    "fair-sc": {"color": _ORANGE, "marker": "s", "markersize": 5, "linewidth": 1.4},
    "scalable-fair-sc": {"color": _GREEN, "marker": "^", "markersize": 6, "linewidth": 1.4},
    "individual-fair-sc": {"color": _PINK, "marker": "v", "markersize": 6, "linewidth": 1.4},
    "dmon": {"color": _SKY, "marker": "D", "markersize": 5, "linewidth": 1.4},
    "ifair-nmtf": {"color": _BLUE, "marker": "o", "markersize": 5.5, "linewidth": 2.2},
    "fair-nmtf": {"color": _BROWN, "marker": "h", "markersize": 6, "linewidth": 1.4},
    "fair-partition": {"color": _RED, "marker": "P", "markersize": 7, "linewidth": 2.2},
    "sc": {"color": _GREY, "marker": "X", "markersize": 6, "linewidth": 1.4},
    "nmtf": {"color": MUTED, "marker": "p", "markersize": 6, "linewidth": 1.4},
}


@contextmanager
def panels(
    n_rows: int, n_columns: int, size: tuple[float, float], **options: Any
) -> Iterator[tuple[Any, Any]]:
    """Give a figure with panels that have a grid, in the look of the package."""
    from matplotlib.figure import Figure

    with look():
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
        for ax in axes.flat:
            ax.grid(color="#E6E6E6", linewidth=0.7)
            ax.set_axisbelow(True)
        yield figure, axes


def save(figure: Any, path: Path) -> Path:
    """Write a figure as png, completely or not at all, and return its path."""
    with look(), atomic_path(path) as partial:
        figure.savefig(partial, format="png", dpi=150, bbox_inches="tight", pad_inches=0.15)
    return path
