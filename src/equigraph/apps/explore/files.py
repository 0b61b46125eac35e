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

from equigraph.apps.classes import ClassLists
from equigraph.apps.explore.people import BoardPeople
from equigraph.apps.explore.persistence import board_to_json
from equigraph.apps.explore.steps import Step, division_of_board

MAX_DRAWN_NODES, MAX_DRAWN_LINKS = 20_000, 100_000


def class_lists(people: BoardPeople, step: Step, language: str) -> ClassLists:
    """Return the lists of a board, as `equigraph classes` writes them."""
    return replace(division_of_board(people, step).lists_in(language), title=people.title)


def _report(people: BoardPeople, step: Step, path: Path, language: str = "en") -> None:
    if people.directed:  # in words of people, as `equigraph report` does it of classes
        from equigraph.apps.classes.costs import with_costs

        lists = with_costs(division_of_board(people, step)).lists_in(language)
        replace(lists, title=people.title).to_html(path)
        return
    from equigraph.results.cluster import result_of_labels

    graph = people.grouped(step.attributes[0] if step.attributes else None)
    result = result_of_labels(graph, step.labels, "board")
    replace(result, source={"edges": people.title}).report(path, graph=graph, baseline=False)


def _classes(people: BoardPeople, step: Step, path: Path, language: str = "en") -> None:
    """Write the folder that `equigraph classes` writes, packed."""
    from equigraph.apps.classes import save_division

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
    "again.py": lambda people, step, path, language="en": _write(path, python_lines(people)),
    "again.sh": lambda people, step, path, language="en": _write(path, command_lines(people)),
}


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def python_lines(people: BoardPeople) -> str:
    """Return the lines of Python that give the same labels, from the saved board beside them."""
    return (
        '"""Give the labels of the board again, and its scores."""\n\n'
        "import equigraph as eg\n"
        "from equigraph.apps.explore import read_board\n\n"
        f"# Save the board beside this file as {_saved(people)!r} first.\n"
        f"people, step = read_board({_saved(people)!r})\n"
        "labels = step.labels  # in the order of people.names\n"
        "graph = people.grouped(step.attributes[0] if step.attributes else None)\n"
        "print(eg.metrics.evaluate(graph, labels))\n"
    )


def command_lines(people: BoardPeople) -> str:
    """Return the command that opens the saved board, with the same labels, and one that writes its lists."""
    saved = shlex.quote(_saved(people))
    return f"#!/bin/sh\n# Save the board here as {_saved(people)} first.\nequigraph explore {saved} --print\n"


def _saved(people: BoardPeople) -> str:
    """Return the name under which the page saves the board."""
    title = re.sub(r"\.[^.]*$", "", people.title)
    stem = re.sub(r"[^\w]+|_", "-", title) or "board"
    return f"{stem}-board.json"


def drawn_graph(people: BoardPeople, step: Step) -> dict[str, Any]:
    """Return positions and links for the page; above its limits, those of the clusters."""
    from equigraph.plotting import spring_layout

    n_links = people.adjacency.nnz // 2
    if people.n_people > MAX_DRAWN_NODES or n_links > MAX_DRAWN_LINKS:
        return _drawn_clusters(people, step)
    return _drawn("people", people.adjacency, spring_layout(people.adjacency, labels=step.labels, seed=0))


def _drawn_clusters(people: BoardPeople, step: Step) -> dict[str, Any]:
    from equigraph.graph.groups.sums import indicator
    from equigraph.plotting import spring_layout

    members = indicator(step.labels, step.n_clusters)
    between = sparse.csr_array(members.T @ people.adjacency @ members)
    between.setdiag(0)
    between.eliminate_zeros()
    return _drawn("clusters", between, spring_layout(between, seed=0))


def _drawn(kind: str, adjacency: sparse.csr_array, positions: np.ndarray) -> dict[str, Any]:
    x, y = positions.round(4).T.tolist()
    return {"kind": kind, "x": x, "y": y, "links": links_of(adjacency)}


def links_of(adjacency: sparse.csr_array) -> list[int]:
    """Return the two ends of each link, one pair after the other."""
    upper = sparse.triu(adjacency, format="coo")
    return np.column_stack((upper.row, upper.col)).ravel().tolist()


def static_text(name: str) -> str:
    """Return a built file of the page."""
    return resources.files("equigraph.apps.explore").joinpath("static", name).read_text("utf-8")
