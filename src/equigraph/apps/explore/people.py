"""The people of a board, with attributes and wishes."""

from __future__ import annotations

import csv
import hashlib
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy import sparse

from equigraph.apps.classes.attributes import group_columns
from equigraph.apps.classes.division import sheet_rules
from equigraph.apps.classes.roster import Roster, read_roster
from equigraph.exceptions import ParameterError
from equigraph.graph import Graph
from equigraph.graph.groups.encode import is_missing
from equigraph.graph.names import texts
from equigraph.rules import Facts, Rule

# Shown for a blank cell; such people have no group.
BLANK = "–"  # noqa: RUF001 (a dash, as tables have it)
_PER_CLUSTER = 26
_LINKS_CLUSTERS = 5


@dataclass(frozen=True, eq=False, repr=False)
class BoardPeople:
    """People with attributes and wishes; adding or removing a person makes a new object."""

    title: str  # name of a file, or of an example
    sheet: Roster  # without the links of a graph
    adjacency: sparse.csr_array  # the graph that is clustered
    directed: bool  # whether wishes are directed, or links of two people

    @classmethod
    def of_roster(cls, roster: Roster, title: str) -> BoardPeople:
        """Return the people of a roster, with its pairs and fixed classes as rules."""
        return cls(title, roster, roster.graph().adjacency, True)

    @classmethod
    def of_graph(cls, graph: Graph, title: str) -> BoardPeople:
        """Return the nodes of a graph; every link counts as a wish of both its ends, and every value is a group."""
        attributes = {}
        for name, column in graph.features.items():
            cells = np.array(texts(column), dtype=object)
            cells[is_missing(column)] = None
            attributes[name] = tuple(cells)
        names = tuple(texts(graph.node_names))
        sheet = Roster(names, attributes, bins=dict.fromkeys(attributes, 0), source=title)
        return cls(title, sheet, graph.adjacency, False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the people, all different."""
        return self.sheet.people

    @cached_property
    def columns(self) -> dict[str, np.ndarray]:
        """The group of each person, None if unknown, by attribute with several groups."""
        return {name: values for name, values in group_columns(self.sheet).items() if len(set(values)) > 1}

    @cached_property
    def attributes(self) -> dict[str, tuple[str, ...]]:
        """The columns as shown on the page."""
        return {name: tuple(value or BLANK for value in column) for name, column in self.columns.items()}

    @property
    def headline(self) -> str:
        """The title without a file suffix."""
        return re.sub(r"\.[^. ]*$", "", self.title)

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        """Names of the clusters given in the sheet."""
        return tuple(dict.fromkeys(self.sheet.fixed.values()))

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules given with the people."""
        return sheet_rules(self.sheet, self.clusters).items

    @cached_property
    def wishes(self) -> sparse.csr_array:
        """The wishes as a matrix, one row per person; only the sparsity pattern counts."""
        return self.sheet.wish_matrix() if self.directed else self.adjacency

    @cached_property
    def roster(self) -> Roster:
        """The people as a roster; a link is a wish of both its ends."""
        if self.directed:
            return self.sheet
        pairs = zip(*(ends.tolist() for ends in self.wishes.nonzero()), strict=True)
        return replace(
            self.sheet, friends=tuple((self.names[one], self.names[other]) for one, other in pairs)
        )

    def with_roster(self, roster: Roster) -> BoardPeople:
        """Return the people of a newer roster; links between people of a graph who stay keep their weights."""
        if self.directed:
            return BoardPeople.of_roster(roster, self.title)
        here = set(roster.people)
        stay = [who for who, name in enumerate(self.names) if name in here]
        links, wishes = self.adjacency[stay][:, stay], roster.wish_matrix()
        links.resize(wishes.shape)  # newcomers come last
        links = sparse.csr_array(links + wishes.maximum(wishes.T) - links.sign())
        return BoardPeople(self.title, replace(roster, friends=()), links, False)

    @property
    def n_people(self) -> int:
        """Number of people."""
        return len(self.names)

    @cached_property
    def wished(self) -> np.ndarray:
        """Number of wishes of each person."""
        return np.diff(self.wishes.indptr)

    @cached_property
    def graph(self) -> Graph:
        """The graph without groups."""
        return Graph(self.adjacency, node_names=np.array(self.names, dtype=str))

    @cached_property
    def facts(self) -> Facts:
        """The people as `Facts` for rules."""
        return Facts(self.graph, self.columns, missing="ignore")

    @cached_property
    def mark(self) -> str:
        """A hash of people, attributes and wishes, the key of a stored board."""
        digest = hashlib.sha256(self.graph.fingerprint().encode())
        digest.update(np.asarray(self.wishes.indices, dtype="<i8").tobytes())
        for name, column in self.attributes.items():
            digest.update("\0".join((name, *column)).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:24]

    def grouped(self, attribute: str | None) -> Graph:
        """Return the graph with the values of an attribute as groups."""
        if attribute is None:
            return self.graph
        if attribute not in self.attributes:
            raise ParameterError(f"There is no attribute {attribute!r} on this board.")
        return Graph(
            self.adjacency, self.graph.node_names, self.columns[attribute], attribute, missing="ignore"
        )

    def usual_clusters(self) -> int:
        """Return the initial number of clusters: as many as have names, or of the size of a class."""
        if self.directed:
            usual = round(self.n_people / _PER_CLUSTER)
        else:
            usual = 3 if self.n_people < 60 else _LINKS_CLUSTERS
        return min(max(2, len(self.clusters), usual), self.n_people)


def classroom(n_students: int = 30, n_circles: int = 3) -> BoardPeople:
    """Return the class of `equigraph demo`."""
    from equigraph.datasets import make_classroom

    room = make_classroom(n_students, n_circles=n_circles)
    columns = {room.attribute: room.sensitive_features, "house": room.house}
    return BoardPeople.of_graph(Graph(room.adjacency, room.node_names, columns), "classroom")


def school(n_pupils: int = 78) -> BoardPeople:
    """Return a made-up year of a school with wishes and rules, read from a sheet."""
    from equigraph.datasets import make_school_roster

    with tempfile.TemporaryDirectory(prefix="equigraph-file-") as folder:
        path = Path(folder) / "school.csv"
        with path.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(make_school_roster(n_pupils).rows)
        return BoardPeople.of_roster(read_roster(path), "school")


# Example boards.
EXAMPLES: dict[str, Callable[[], BoardPeople]] = {"classroom": classroom, "school": school}
