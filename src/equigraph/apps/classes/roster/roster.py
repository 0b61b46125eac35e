"""The roster: people with attributes, wishes and pairs to keep together or apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from scipy import sparse

from equigraph._utils.parameters import check_known
from equigraph._utils.text import count
from equigraph.apps.classes.messages import Note
from equigraph.apps.classes.roster.columns import Column
from equigraph.exceptions import ParameterError, RosterError
from equigraph.graph.attributes import Values, attach, attribute_list, check_options
from equigraph.graph.graph import Graph
from equigraph.graph.names import object_array

WISHES = ("any", "mutual", "ranked")
# Weights of the first, second and further wishes if they are ranked.
RANKS = (3.0, 2.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Roster:
    """People with their attributes and wishes.

    Attributes
    ----------
    people : tuple of str
        Names as given, all different.
    attributes : mapping of str to tuple
        By the name of the attribute, the value of each person, in the order of `people`; None where the cell is blank.
    friends : tuple of (str, str)
        Wishes: who wishes to be with whom.
    apart : tuple of tuple of str
        People who must not be in one class.
    together : tuple of tuple of str
        People who must be in one class.
    fixed : mapping of str to str
        The class that is fixed for some of the people.
    wishes : {"any", "mutual", "ranked"}
        Which wishes count: any, mutual ones only (the others are left out of `friends`), or any, of which the first of
        a person weighs three times and the second twice as much as a further one.
    bins : mapping of str to int
        Attributes of numbers, and into how many ranges of about equal size they go; three where a column has more than
        six numbers, and none (0) where each number is a group.
    columns : tuple of Column
        What each column of the sheet was taken for.
    notes : tuple of Note
        What was guessed and passed over; ``str`` of one is a sentence.
    source : str
        The file it was read from.
    wished : mapping of str to tuple of str
        The wishes of everybody who has any, in the order of the sheet.

    Examples
    --------
    >>> roster = Roster(("Ada", "Ben", "Cem"), friends=(("Ada", "Ben"), ("Ben", "Ada"), ("Cem", "Ada")))
    >>> roster
    Roster(3 people, 3 wishes, 1 mutual pair)
    >>> roster.friends_of("Cem"), roster.is_mutual("Ada", "Ben")
    (('Ada',), True)
    >>> roster.graph().adjacency.toarray().tolist()
    [[0.0, 2.0, 1.0], [2.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    """

    people: tuple[str, ...]
    attributes: Mapping[str, tuple[str | None, ...]] = field(default_factory=dict)
    friends: tuple[tuple[str, str], ...] = ()
    apart: tuple[tuple[str, ...], ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
    wishes: str = "any"
    bins: Mapping[str, int] = field(default_factory=dict)
    columns: tuple[Column, ...] = ()
    notes: tuple[Note, ...] = ()
    source: str = ""
    wished: Mapping[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        check_known("wishes", self.wishes, WISHES)
        self._check()
        if self.wishes == "mutual":
            given = set(self.friends)
            mutual = tuple(pair for pair in self.friends if pair[::-1] in given)
            object.__setattr__(self, "friends", mutual)
        wished: dict[str, list[str]] = {name: [] for name in self.people}
        for one, other in self.friends:
            wished[one].append(other)
        object.__setattr__(self, "wished", {one: tuple(others) for one, others in wished.items() if others})

    def _check(self) -> None:
        """Raise RosterError unless names are unique and every named person is on the list."""
        known = set(self.people)
        if len(known) < len(self.people):
            twice = next(name for name in self.people if self.people.count(name) > 1)
            raise RosterError(f"The name {twice!r} occurs twice in the people: expected unique names.")
        for key in ("friends", "apart", "together", "fixed"):
            groups = [self.fixed] if key == "fixed" else getattr(self, key)
            for name in chain.from_iterable(groups):
                if name not in known:
                    raise RosterError(f"{key} names {name!r}, who is not one of the people.")
        for name in self.bins:
            if name not in self.attributes:
                listed = ", ".join(map(repr, self.attributes)) or "none"
                raise ParameterError(f"bins names {name!r}: expected attributes, which are {listed}.")
        n = len(self.people)
        for attribute, values in self.attributes.items():
            if len(values) != n:
                found, people = count(len(values), "value"), count(n, "person", "people")
                raise RosterError(f"The attribute {attribute!r} has {found} for {people}: expected one each.")

    def friends_of(self, name: str) -> tuple[str, ...]:
        """Return the wishes of a person, in the order of the sheet."""
        return self.wished.get(name, ())

    def is_mutual(self, one: str, other: str) -> bool:
        """Return whether two people wish for each other."""
        return other in self.friends_of(one) and one in self.friends_of(other)

    def graph(self, attribute: str | Sequence[str] | None = None, *, missing: str = "error") -> Graph:
        """Return the graph of the wishes.

        A wish of one person links the two with its weight, 1 unless wishes are ranked; a mutual one with both weights.

        Parameters
        ----------
        attribute : str or list of str, optional
            The attribute, or attributes, whose values become the groups of the graph.
        missing : {"error", "own-group", "drop"}, default="error"
            What becomes of people whose value is blank; see `read_graph`.

        Returns
        -------
        Graph
            With the people as nodes, in the order of the sheet.

        Raises
        ------
        ParameterError
            If there is no such attribute.
        GroupsError
            If somebody's value is blank, unless `missing` says what to do.
        """
        check_options(missing, "error")
        wished = self.wish_matrix()
        graph = Graph(sparse.csr_array(wished + wished.T), node_names=np.array(self.people, dtype=str))
        if attribute is None:
            return graph
        wanted = attribute_list(attribute)
        for one in wanted:
            if one not in self.attributes:
                listed = ", ".join(map(repr, self.attributes)) or "none"
                raise ParameterError(f"attribute={one!r} is not in the roster: its attributes are {listed}.")
        values = [Values(object_array(self.attributes[one]), None, one) for one in wanted]
        return attach(graph, values, missing=missing, unknown="error", order_known=True)

    def wish_matrix(self) -> sparse.csr_array:
        """Return the weight of the wish of each person (row) for each other one."""
        n, place = len(self.people), {name: i for i, name in enumerate(self.people)}
        pairs = [(place[one], place[other]) for one, others in self.wished.items() for other in others]
        data = np.ones(len(pairs))
        if self.wishes == "ranked":
            ranks = [min(rank, 2) for others in self.wished.values() for rank in range(len(others))]
            data = np.array(RANKS)[np.array(ranks, dtype=np.intp)]
        rows, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return sparse.csr_array((data, (rows, columns)), shape=(n, n))

    def __repr__(self) -> str:
        mutual = sum(self.is_mutual(one, other) for one, other in self.friends) // 2
        people = count(len(self.people), "person", "people")
        wishes = count(len(self.friends), "wish", "wishes")
        return f"Roster({people}, {wishes}, {count(mutual, 'mutual pair')})"
