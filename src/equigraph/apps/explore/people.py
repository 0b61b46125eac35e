"""The people of a board, what is known of them, and whom they wish to be with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from equigraph.apps.classes.attributes import group_columns
from equigraph.apps.classes.messages import Note
from equigraph.apps.classes.roster import Roster
from equigraph.exceptions import ParameterError
from equigraph.graph import Graph
from equigraph.graph.groups.encode import Groups, encode_groups, is_missing
from equigraph.graph.names import texts
from equigraph.rules import Apart, Facts, Fixed, Rule, Together

# What the page shows of those whose cell is blank; they have no group.
BLANK = "–"  # noqa: RUF001 (a dash, as tables have it)
_PER_CLUSTER = 26
_LINKS_CLUSTERS = 5


@dataclass(frozen=True, eq=False, repr=False)
class BoardPeople:
    """People, their attributes and their wishes; who comes or leaves makes another one."""

    title: str  # name of a file, or of an example
    names: tuple[str, ...]  # all different
    attributes: Mapping[str, tuple[str, ...]]  # by name the value of each person; `BLANK` where none is known
    adjacency: sparse.csr_array  # the graph that is clustered
    # Who wishes to be with whom, row by row; the pattern of the adjacency where links have no direction.
    wishes: sparse.csr_array
    rules: tuple[Rule, ...] = ()  # rules that came with the people
    clusters: tuple[str, ...] = ()  # names of the clusters, as far as the source has some
    sheet: Roster | None = None  # the roster, where people came from one; wishes have a direction then
    # The file and the options it was read with, for the lines that repeat it.
    origin: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_roster(cls, roster: Roster, title: str) -> BoardPeople:
        """Return the people of a roster; its pairs and fixed classes become rules."""
        place = {name: i for i, name in enumerate(roster.people)}
        ends = np.array([(place[one], place[other]) for one, other in roster.friends], dtype=np.intp)
        clusters = tuple(dict.fromkeys(roster.fixed.values()))
        return cls(
            title=title,
            names=roster.people,
            attributes={
                name: tuple(value or BLANK for value in values)
                for name, values in group_columns(roster).items()
                if len(set(values)) > 1
            },
            adjacency=roster.graph().adjacency,
            wishes=_wishes(ends.reshape(-1, 2), len(roster.people)),
            rules=sheet_rules(roster, clusters),
            clusters=clusters,
            sheet=roster,
            origin={"read": "roster", "file": title},
        )

    @classmethod
    def of_graph(
        cls,
        graph: Graph,
        title: str,
        origin: Mapping[str, Any] | None = None,
        further: Mapping[str, Sequence[Any]] | None = None,
    ) -> BoardPeople:
        """Return the nodes of a graph; every link counts as a wish of both its ends."""
        attributes: dict[str, Any] = {**graph.features, **(further or {})}
        adjacency = graph.adjacency
        return cls(
            title=title,
            names=tuple(texts(graph.node_names)),
            attributes={name: _values(column) for name, column in attributes.items()},
            adjacency=adjacency,
            wishes=pattern(adjacency),
            origin=origin or {"read": "graph", "file": title},
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was guessed and passed over when the sheet was read."""
        return () if self.sheet is None else self.sheet.notes

    @property
    def directed(self) -> bool:
        """Whether a wish is one person's, or a link of two."""
        return self.sheet is not None

    @cached_property
    def roster(self) -> Roster:
        """The people as a roster."""
        if self.sheet is not None:
            return self.sheet
        wishes = self.wishes.tocoo()
        pairs = zip(wishes.row.tolist(), wishes.col.tolist(), strict=True)
        return Roster(
            self.names,
            {
                name: tuple(None if value == BLANK else value for value in column)
                for name, column in self.attributes.items()
            },
            friends=tuple((self.names[one], self.names[other]) for one, other in pairs),
            source=self.title,
        )

    def with_person(
        self, name: str, values: Mapping[str, str], friends: Sequence[int], sheet: Roster
    ) -> BoardPeople:
        """Return the people with one more at the end.

        Parameters
        ----------
        name : str
            Who is new.
        values : mapping of str to str
            Values of attributes; the others are blank.
        friends : sequence of int
            Whom the person wishes for or, where links have no direction, is linked with.
        sheet : Roster
            The people so far, with the rules that are still wanted; used where they came from a sheet.
        """
        if self.sheet is not None:
            wanted = tuple((name, self.names[other]) for other in friends)
            columns = {key: (*column, values.get(key) or None) for key, column in sheet.attributes.items()}
            newer = replace(
                sheet, people=(*sheet.people, name), attributes=columns, friends=(*sheet.friends, *wanted)
            )
            return BoardPeople.of_roster(newer, self.title)
        row = np.zeros((1, self.n_people))
        row[0, list(friends)] = 1.0
        adjacency = sparse.csr_array(
            sparse.block_array([[self.adjacency, sparse.csr_array(row.T)], [sparse.csr_array(row), None]])
        )
        return replace(
            self,
            names=(*self.names, name),
            attributes={key: (*column, values.get(key) or BLANK) for key, column in self.attributes.items()},
            adjacency=adjacency,
            wishes=pattern(adjacency),
        )

    def without_person(self, who: int, sheet: Roster) -> BoardPeople:
        """Return the people without one; see `with_person` for the sheet."""
        gone = self.names[who]
        stay = np.flatnonzero(np.arange(self.n_people) != who)
        names = tuple(self.names[one] for one in stay)
        if self.sheet is not None:
            newer = replace(
                sheet,
                people=names,
                attributes={
                    key: tuple(column[one] for one in stay) for key, column in sheet.attributes.items()
                },
                fixed={name: where for name, where in sheet.fixed.items() if name != gone},
                friends=tuple(pair for pair in sheet.friends if gone not in pair),
                apart=tuple(pair for pair in sheet.apart if gone not in pair),
                together=tuple(pair for pair in sheet.together if gone not in pair),
            )
            return BoardPeople.of_roster(newer, self.title)
        adjacency = sparse.csr_array(self.adjacency[stay][:, stay])
        return replace(
            self,
            names=names,
            attributes={key: tuple(column[one] for one in stay) for key, column in self.attributes.items()},
            adjacency=adjacency,
            wishes=pattern(adjacency),
        )

    @property
    def n_people(self) -> int:
        """Number of people."""
        return len(self.names)

    @cached_property
    def wished(self) -> np.ndarray:
        """How many others each person wishes to be with."""
        return np.diff(self.wishes.indptr)

    @cached_property
    def graph(self) -> Graph:
        """The graph without groups."""
        return Graph(self.adjacency, node_names=np.array(self.names, dtype=str))

    @cached_property
    def facts(self) -> Facts:
        """The people as rules ask for them."""
        columns = {name: known_values(column) for name, column in self.attributes.items()}
        return Facts(self.graph, columns, missing="ignore")

    @cached_property
    def mark(self) -> str:
        """A hash of people, attributes and wishes, by which a kept board is found again."""
        digest = hashlib.sha256(self.graph.fingerprint().encode())
        digest.update(np.asarray(self.wishes.indices, dtype="<i8").tobytes())
        for name, column in self.attributes.items():
            digest.update("\0".join((name, *column)).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:24]

    @cached_property
    def groups(self) -> dict[str, Groups]:
        """The values of every attribute as codes."""
        return {
            name: encode_groups(known_values(column), missing="ignore")
            for name, column in self.attributes.items()
        }

    def grouped(self, attribute: str | None) -> Graph:
        """Return the graph with the values of an attribute as groups."""
        if attribute is None:
            return self.graph
        if attribute not in self.attributes:
            raise ParameterError(f"There is no attribute {attribute!r} on this board.")
        values = known_values(self.attributes[attribute])
        return Graph(self.adjacency, self.graph.node_names, values, attribute, missing="ignore")

    def usual_clusters(self) -> int:
        """Return how many clusters to begin with: as many as have names, or of the size of a class."""
        if not self.directed:
            return min(
                max(2, len(self.clusters), 3 if self.n_people < 60 else _LINKS_CLUSTERS), self.n_people
            )
        return min(max(2, len(self.clusters), round(self.n_people / _PER_CLUSTER)), self.n_people)


def sheet_rules(roster: Roster, clusters: Sequence[str]) -> tuple[Rule, ...]:
    """Return the pairs of a roster, and the classes in which it fixes people, as rules."""
    return (
        *(Together(tuple(pair)) for pair in roster.together),
        *(Apart(tuple(pair)) for pair in roster.apart),
        *(Fixed(name, clusters.index(where)) for name, where in roster.fixed.items() if where in clusters),
    )


def known_values(column: Sequence[str]) -> np.ndarray:
    """Return a column in which those whose value is blank have no group."""
    values = np.empty(len(column), dtype=object)
    values[:] = [None if value == BLANK else value for value in column]
    return values


def _values(column: Sequence[Any]) -> tuple[str, ...]:
    array = np.asarray(column)
    absent = is_missing(array)
    return tuple(
        BLANK if missing else text for missing, text in zip(absent.tolist(), texts(array), strict=True)
    )


def _wishes(ends: np.ndarray, n: int) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))


def pattern(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return where the entries of a matrix are, each as a one."""
    ones = np.ones(adjacency.nnz)
    return sparse.csr_array((ones, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
