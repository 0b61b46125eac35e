"""Boards to try: the class of the demo, and a year of a school."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from pathlib import Path

from equigraph.apps.classes.roster import Roster
from equigraph.apps.explore.people import BoardPeople


def classroom(n_students: int = 30, n_circles: int = 3) -> BoardPeople:
    """Return the class of `equigraph demo`."""
    from equigraph.datasets import make_classroom
    from equigraph.graph import Graph

    room = make_classroom(n_students, n_circles=n_circles)
    graph = Graph(room.adjacency, room.node_names, room.sensitive_features, room.attribute)
    origin = {"read": "dataset", "file": "dataset:classroom"}
    return BoardPeople.of_graph(graph, "classroom", origin, {"house": room.house})


def school() -> BoardPeople:
    """Return a made-up year of 78 pupils with wishes and rules."""
    return BoardPeople.of_roster(school_roster(), "school")


def school_roster() -> Roster:
    """Return the pupils of that year, read as a sheet is."""
    from equigraph.apps.classes.roster import read_roster
    from equigraph.datasets import make_school_roster

    with tempfile.TemporaryDirectory(prefix="equigraph-explore-") as folder:
        path = Path(folder) / "school.csv"
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(make_school_roster().rows)
        return read_roster(path)


EXAMPLES: dict[str, Callable[[], BoardPeople]] = {"classroom": classroom, "school": school}
