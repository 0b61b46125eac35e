"""The files of a board, and the drawing of its graph."""

from __future__ import annotations

import json
import re
import shlex
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
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.persistence import board_to_json
from equigraph.apps.explore.steps import Step, division_of_board

MAX_DRAWN_NODES, MAX_DRAWN_LINKS = 20_000, 100_000
_PYTHON = '''"""Give the labels of the board again, and its scores."""

import equigraph as eg
from equigraph.apps.explore import read_board

# Save the board beside this file as {name} first.
people, step = read_board({python})
labels = step.labels  # in the order of people.names
graph = people.grouped(step.attributes[0] if step.attributes else None)
print(eg.metrics.evaluate(graph, labels))
'''
_SHELL = """#!/bin/sh
# Save the board here as {name} first.
equigraph explore {shell} --print
"""


def class_lists(people: BoardPeople, step: Step, language: str, *, costs: bool = False) -> ClassLists:
    """Return the lists of a board, as `equigraph classes` writes them; perhaps with what its rules cost."""
    division = division_of_board(people, step)
    return replace((with_costs(division) if costs else division).lists_in(language), title=people.title)


def _report(people: BoardPeople, step: Step, path: Path, language: str = "en") -> None:
    if people.directed:  # in words of people, as `equigraph report` does it of classes
        class_lists(people, step, language, costs=True).to_html(path)
        return
    from equigraph.results.cluster import result_of_labels

    graph = people.grouped(step.attributes[0] if step.attributes else None)
    result = result_of_labels(graph, step.labels, "board")
    replace(result, source={"edges": people.title}).report(path, graph=graph, baseline=False)


def _classes(people: BoardPeople, step: Step, path: Path, language: str = "en") -> None:
    """Write the folder that `equigraph classes` writes, packed."""
    folder = path.with_suffix("")
    save_division(division_of_board(people, step), folder, title=people.title, language=language)
    shutil.make_archive(str(folder), "zip", folder)


def _picture(people: BoardPeople, step: Step, path: Path, language: str = "en") -> None:
    from equigraph.apps.report.figures import MAX_DRAWN_NODES as MOST
    from equigraph.plotting import ClusterGraphDisplay, GraphDisplay

    graph = people.grouped(step.attributes[0] if step.attributes else None)
    make = GraphDisplay if people.n_people <= MOST else ClusterGraphDisplay
    make(graph, step.labels).plot(title=people.title).save(path)


def _board(people: BoardPeople, step: Step, path: Path, language: str = "en") -> None:
    path.write_text(json.dumps(board_to_json(people, step), ensure_ascii=False), encoding="utf-8")


def _lines(template: str) -> Callable[..., None]:
    """Return what writes lines that give the same labels, from the saved board beside them."""

    def write(people: BoardPeople, step: Step, path: Path, language: str = "en") -> None:
        saved = _saved(people)
        text = template.format(name=saved, python=repr(saved), shell=shlex.quote(saved))
        path.write_text(text, encoding="utf-8", newline="\n")

    return write


def _saved(people: BoardPeople) -> str:
    """Return the name under which the page saves the board."""
    title = re.sub(r"\.[^.]*$", "", people.title)
    stem = re.sub(r"[\W_]+", "-", title) or "board"
    return f"{stem}-board.json"


# Each takes the people, the step, the path and the language of the page.
WRITERS: dict[str, Callable[..., None]] = {
    "lists.xlsx": lambda people, step, path, language="en": class_lists(people, step, language).to_xlsx(path),
    "lists.csv": lambda people, step, path, language="en": class_lists(people, step, language).to_csv(
        path, excel=";" if language == "de" else ","
    ),
    "lists.html": lambda people, step, path, language="en": class_lists(people, step, language).to_html(path),
    "door.html": lambda people, step, path, language="en": class_lists(people, step, language).to_html(
        path, attributes=(), friends=False
    ),
    "classes.zip": _classes,
    "report.html": _report,
    "graph.png": _picture,
    "graph.svg": _picture,
    "board.json": _board,
    "again.py": _lines(_PYTHON),
    "again.sh": _lines(_SHELL),
}


def drawn_graph(people: BoardPeople, step: Step) -> dict[str, Any]:
    """Return positions and links for the page; above its limits, those of the clusters."""
    from equigraph.graph.groups.sums import indicator
    from equigraph.plotting import spring_layout

    kind, adjacency, options = "people", people.adjacency, {"labels": step.labels}
    if people.n_people > MAX_DRAWN_NODES or adjacency.nnz // 2 > MAX_DRAWN_LINKS:
        members = indicator(step.labels, step.n_clusters)
        kind, adjacency, options = "clusters", sparse.csr_array(members.T @ adjacency @ members), {}
        adjacency.setdiag(0)
        adjacency.eliminate_zeros()
    x, y = spring_layout(adjacency, seed=0, **options).round(4).T.tolist()
    return {"kind": kind, "x": x, "y": y, "links": links_of(adjacency)}


def links_of(adjacency: sparse.csr_array) -> list[int]:
    """Return the two ends of each link, one pair after the other."""
    upper = sparse.triu(adjacency, format="coo")
    return np.column_stack((upper.row, upper.col)).ravel().tolist()


def static_text(name: str) -> str:
    """Return a built file of the page."""
    return resources.files("equigraph.apps.explore").joinpath("static", name).read_text("utf-8")
