"""Downloads of a board, and the layout of its graph."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from equigraph.apps.classes import ClassLists, save_division
from equigraph.apps.classes.costs import with_costs
from equigraph.apps.explore.persistence import write_board
from equigraph.apps.explore.steps import Step

MAX_DRAWN_NODES, MAX_DRAWN_LINKS = 20_000, 100_000
_PYTHON = '''"""Give the labels of the board again, and its scores."""

import equigraph as eg
from equigraph.apps.explore import read_board

# Save the board beside this file as {name} first.
people, step = read_board({name!r})
labels = step.labels  # in the order of people.names
print(eg.metrics.evaluate(step.graph, labels))
'''


def _division(step: Step, path: Path, language: str) -> None:
    """Write the folder of `equigraph classes` as a zip file."""
    folder = path.with_suffix("")
    save_division(step.division, folder, title=step.people.headline, language=language)
    shutil.make_archive(str(folder), "zip", folder)


def _lists(step: Step, language: str) -> ClassLists:
    """Return the class lists of a board."""
    return replace(step.division.lists_in(language), title=step.people.headline)


def _report(step: Step, path: Path, language: str) -> None:
    """Write the report, as `equigraph report` does for classes or for a graph."""
    people = step.people
    if people.directed:
        replace(with_costs(step.division, language).lists_in(language), title=people.headline).to_html(path)
        return
    from equigraph.results.cluster import result_of_labels

    result = result_of_labels(step.graph, step.labels, "board")
    replace(result, source={"edges": people.title}).report(path, graph=step.graph, baseline=False)


def _picture(step: Step, path: Path, language: str) -> None:
    from equigraph.apps.report.figures import MAX_DRAWN_NODES as MOST
    from equigraph.plotting import ClusterGraphDisplay, GraphDisplay

    make = GraphDisplay if step.people.n_people <= MOST else ClusterGraphDisplay
    make(step.graph, step.labels).plot(title=step.people.headline).save(path)


def _python(step: Step, path: Path, language: str) -> None:
    """Write a script that gives the same labels, from the board saved beside it."""
    stem = re.sub(r"[\W_]+", "-", step.people.headline)
    path.write_text(_PYTHON.format(name=f"{stem or 'board'}-board.json"), encoding="utf-8", newline="\n")


# Called with the step, the path and the language of the page.
WRITERS: dict[str, Callable[[Step, Path, str], object]] = {
    "lists.xlsx": lambda step, path, language: _lists(step, language).to_xlsx(path),
    "lists.csv": lambda step, path, language: _lists(step, language).to_csv(
        path, excel=";" if language == "de" else ","
    ),
    "lists.html": lambda step, path, language: _lists(step, language).to_html(path),
    "door.html": lambda step, path, language: _lists(step, language).to_html(
        path, attributes=(), friends=False
    ),
    "classes.zip": _division,
    "report.html": _report,
    "graph.png": _picture,
    "board.json": lambda step, path, language: write_board(step, path),
    "again.py": _python,
}


def drawn_graph(step: Step) -> dict[str, Any]:
    """Return positions and links for the page; those of the clusters if there are too many."""
    from equigraph.graph.groups.encode import indicator
    from equigraph.plotting import spring_layout

    people = step.people
    kind, adjacency, options = "people", people.adjacency, {"labels": step.labels}
    if people.n_people > MAX_DRAWN_NODES or adjacency.nnz // 2 > MAX_DRAWN_LINKS:
        members = indicator(step.labels, step.n_clusters)
        kind, adjacency, options = "clusters", sparse.csr_array(members.T @ adjacency @ members), {}
        adjacency.setdiag(0)
        adjacency.eliminate_zeros()
    x, y = spring_layout(adjacency, seed=0, **options).round(4).T.tolist()
    upper = sparse.triu(adjacency, format="coo")
    return {"kind": kind, "x": x, "y": y, "links": np.column_stack((upper.row, upper.col)).ravel().tolist()}


def static_text(name: str) -> str:
    """Return the text of a built file of the page."""
    return resources.files("equigraph.apps.explore").joinpath("static", name).read_text("utf-8")
