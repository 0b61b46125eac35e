"""Experiments, and how numbers, tables, figures and pages of them are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from equigraph._utils.files import atomic_path
from equigraph._utils.records import write_csv
from equigraph._utils.templates import environment
from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.graph.names import object_array
from equigraph.plotting.style import look

Done = Sequence[tuple[Cell, Any]]  # cells, and the results of their functions


class Output(NamedTuple):
    """What an experiment writes."""

    page: str  # in Markdown
    tables: Mapping[str, Sequence[Mapping[str, Any]]] = {}  # rows by the name of the csv file
    figures: Mapping[str, Any] = {}  # by the name of the png file


class Experiment(NamedTuple):
    """Cells, and the page, tables and figures of their results."""

    title: str
    cells: Callable[[Settings], list[Cell]]
    output: Callable[[Done], Output]


def number(value: float | None) -> str:
    """Return a score with three digits, as tables of the paper show it."""
    if value is None:
        return "-"
    text = f"{value:z.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def with_spread(mean: float | None, spread: float | None) -> str:
    """Return a mean with its spread."""
    return number(mean) if spread is None else f"{number(mean)} ±{number(spread)}"


def write_text(path: Path, text: str) -> Path:
    """Write a text file with at most one empty line in a row, completely or not at all, and return its path."""
    with atomic_path(path) as partial:
        partial.write_text(re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n", encoding="utf-8")
    return path


def render(name: str, **values: Any) -> str:
    """Return the page of an experiment, from the template of its name."""
    templates = environment("equigraph.apps.reproduction")
    templates.filters |= {"number": number, "with_spread": with_spread}
    return templates.get_template(f"{name}.md").render(**values)


def write_output(folder: Path, name: str, output: Output) -> list[Path]:
    """Write the figures (png), the page (md) and the tables (csv) of an experiment."""
    files = []
    for title, figure in output.figures.items():
        files.append(folder / f"{title}.png")
        with look(), atomic_path(files[-1]) as partial:
            figure.savefig(partial, format="png", dpi=150, bbox_inches="tight", pad_inches=0.15)
    files.append(write_text(folder / f"{name}.md", output.page))
    for title, rows in output.tables.items():
        files.append(folder / f"{title}.csv")
        names = dict.fromkeys(name for row in rows for name in row)
        columns = {name: object_array([row.get(name) for row in rows]) for name in names}
        write_csv(files[-1], columns, raw=True)
    return files


@contextmanager
def panels(
    n_rows: int, n_columns: int, size: tuple[float, float], *, grid: bool = True, **options: Any
) -> Iterator[tuple[Any, Any]]:
    """Provide a figure and its panels, in the style of the package."""
    from matplotlib.figure import Figure

    with look():
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots(n_rows, n_columns, squeeze=False, **options)
        for ax in axes.flat if grid else ():
            ax.grid(color="#E6E6E6", linewidth=0.7)
            ax.set_axisbelow(True)
        yield figure, axes
