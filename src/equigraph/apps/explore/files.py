"""Everything that can be taken away from a board, and the drawing of its graph."""

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
from equigraph.apps.explore.judging import judged_rules, scores
from equigraph.apps.explore.matter import Matter
from equigraph.apps.explore.persistence import board_to_json
from equigraph.apps.explore.steps import Step
from equigraph.results.from_labels import result_of_labels

MAX_DRAWN_NODES, MAX_DRAWN_LINKS = 20_000, 100_000


def class_lists(matter: Matter, step: Step) -> ClassLists:
    """Return the lists of a board."""
    rules = [
        (f"{rule['says'][:1].upper()}{rule['says'][1:]}.", not rule["broken"])
        for rule in judged_rules(matter, step)
    ]
    found = scores(matter, step.labels, step.attributes, step.n_clusters)
    told = [
        f"{name} is spread {100 * value:.0f} % evenly." for name, value in found["even_by_attribute"].items()
    ]
    return ClassLists(matter.roster, step.labels.tolist(), step.clusters, rules, told, title=matter.title)


def _report(matter: Matter, step: Step, path: Path) -> None:
    graph = matter.grouped(step.attributes[0] if step.attributes else None)
    result = result_of_labels(graph, step.labels, "board")
    replace(result, source={"edges": matter.title}).report(path, graph=graph, baseline=False)


def _classes(matter: Matter, step: Step, path: Path) -> None:
    """Write the folder that `equigraph classes` writes, packed."""
    from equigraph.apps.classes import save_division
    from equigraph.apps.explore.steps import division_of_board

    folder = path.with_suffix("")
    save_division(division_of_board(matter, step), folder, title=matter.title)
    shutil.make_archive(str(folder), "zip", folder)


def _picture(matter: Matter, step: Step, path: Path) -> None:
    from equigraph.apps.report.figures import MAX_DRAWN_NODES as MOST
    from equigraph.plotting import ClusterGraphDisplay, GraphDisplay

    graph = matter.grouped(step.attributes[0] if step.attributes else None)
    make = GraphDisplay if matter.n_people <= MOST else ClusterGraphDisplay
    make(graph, step.labels).plot(title=matter.title).save(path)


def _board(matter: Matter, step: Step, path: Path) -> None:
    path.write_text(json.dumps(board_to_json(matter, step), ensure_ascii=False), encoding="utf-8")


WRITERS: dict[str, Callable[[Matter, Step, Path], None]] = {
    "lists.xlsx": lambda matter, step, path: class_lists(matter, step).to_xlsx(path),
    "lists.csv": lambda matter, step, path: class_lists(matter, step).to_csv(path, excel=","),
    "lists.html": lambda matter, step, path: class_lists(matter, step).to_html(path),
    "door.html": lambda matter, step, path: class_lists(matter, step).to_html(
        path, attributes=(), friends=False
    ),
    "classes.zip": _classes,
    "report.html": _report,
    "graph.png": _picture,
    "graph.svg": _picture,
    "board.json": _board,
    "again.py": lambda matter, step, path: _write(path, python_lines(matter)),
    "again.sh": lambda matter, step, path: _write(path, command_lines(matter)),
}


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def python_lines(matter: Matter) -> str:
    """Return the lines of Python that give the same labels, from the saved board beside them."""
    return (
        '"""Give the labels of the board again, and its scores."""\n\n'
        "import equigraph as eg\n"
        "from equigraph.apps.explore import read_board\n\n"
        f"# Save the board beside this file as {_saved(matter)!r} first.\n"
        f"matter, step = read_board({_saved(matter)!r})\n"
        "labels = step.labels  # in the order of matter.names\n"
        "graph = matter.grouped(step.attributes[0] if step.attributes else None)\n"
        "print(eg.metrics.evaluate(graph, labels))\n"
    )


def command_lines(matter: Matter) -> str:
    """Return the command that opens the saved board, with the same labels, and one that writes its lists."""
    saved = shlex.quote(_saved(matter))
    return f"#!/bin/sh\n# Save the board here as {_saved(matter)} first.\nequigraph explore {saved} --print\n"


def _saved(matter: Matter) -> str:
    """Return the name under which the page saves the board."""
    title = re.sub(r"\.[^.]*$", "", matter.title)
    stem = re.sub(r"[^\w]+|_", "-", title) or "board"
    return f"{stem}-board.json"


def drawn_graph(matter: Matter, step: Step) -> dict[str, Any]:
    """Return positions and links for the page; above its limits, those of the clusters."""
    from equigraph.plotting import spring_layout

    n_links = matter.adjacency.nnz // 2
    if matter.n_people > MAX_DRAWN_NODES or n_links > MAX_DRAWN_LINKS:
        return _drawn_clusters(matter, step)
    return _drawn("people", matter.adjacency, spring_layout(matter.adjacency, labels=step.labels, seed=0))


def _drawn_clusters(matter: Matter, step: Step) -> dict[str, Any]:
    from equigraph.graph.groups.sums import indicator
    from equigraph.plotting import spring_layout

    members = indicator(step.labels, step.n_clusters)
    between = sparse.csr_array(members.T @ matter.adjacency @ members)
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
