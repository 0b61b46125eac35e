"""What a board is about: people, what is known of them, and whom they wish to be with."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from equigraph.apps.classes.attributes import group_columns
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
class Matter:
    """People, their attributes and their wishes; nothing of it changes while a board is edited."""

    title: str  # what it is called: the name of a file, or of an example
    names: tuple[str, ...]  # all different
    attributes: Mapping[str, tuple[str, ...]]  # by name the value of each person; `BLANK` where none is known
    adjacency: sparse.csr_array  # the graph that is clustered
    # Who wishes to be with whom, row by row; the pattern of the adjacency where links have no direction.
    wishes: sparse.csr_array
    rules: tuple[Rule, ...] = ()  # rules that came with the people
    clusters: tuple[str, ...] = ()  # names of the clusters, as far as the source has some
    directed: bool = False  # whether a wish is one person's, or a link of two
    # The file and the options it was read with, for the lines that repeat it.
    origin: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what was guessed

    @classmethod
    def of_roster(cls, roster: Roster, title: str) -> Matter:
        """Return what a roster says; its pairs and fixed classes become rules."""
        place = {name: i for i, name in enumerate(roster.people)}
        ends = np.array([(place[one], place[other]) for one, other in roster.friends], dtype=np.intp)
        clusters = tuple(dict.fromkeys(roster.fixed.values()))
        rules: list[Rule] = [Together(tuple(pair)) for pair in roster.together]
        rules += [Apart(tuple(pair)) for pair in roster.apart]
        rules += [Fixed(name, clusters.index(where)) for name, where in roster.fixed.items()]
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
            rules=tuple(rules),
            clusters=clusters,
            directed=True,
            origin={"read": "roster", "file": title},
            notes=roster.notes,
        )

    @classmethod
    def of_graph(
        cls,
        graph: Graph,
        title: str,
        origin: Mapping[str, Any] | None = None,
        further: Mapping[str, Sequence[Any]] | None = None,
    ) -> Matter:
        """Return what a graph says; every link counts as a wish of both its ends."""
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

    @cached_property
    def roster(self) -> Roster:
        """The people as a roster, without the rules that came with them."""
        wishes = self.wishes.tocoo()
        pairs = zip(wishes.row.tolist(), wishes.col.tolist(), strict=True)
        return Roster(
            self.names,
            {
                name: tuple(None if value == BLANK else value for value in column)
                for name, column in self.attributes.items()
            },
            friends=tuple((self.names[one], self.names[other]) for one, other in pairs),
            notes=self.notes,
            source=self.title,
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
        return Facts(self.graph, {name: np.array(column) for name, column in self.attributes.items()})

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
