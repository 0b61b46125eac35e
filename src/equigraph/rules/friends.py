"""Rule that nodes share a cluster with some of their friends."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.text import count, listed
from equigraph.exceptions import ParameterError
from equigraph.graph.names import name_text
from equigraph.rules.base import Rule, entries, is_list, name, whole
from equigraph.rules.check import Placement, Violation, Words
from equigraph.rules.compile import Arrays
from equigraph.rules.facts import Facts

_ENTRIES = ("least", "but", "of")
Asked = Mapping[Hashable, Iterable[Hashable]] | Iterable[tuple[Hashable, Iterable[Hashable]]]


@dataclass(frozen=True, init=False)
class Friends(Rule):
    """Every node shares its cluster with at least ``least`` of its friends, or all if it has fewer.

    Attributes
    ----------
    least : int
        Number of friends.
    but : tuple of (node, int)
        Nodes that need fewer, with the number; 0 excepts them. A mapping, or a list of names to except, also works.
    of : tuple of (node, tuple of nodes), or None
        The friends that each node asked for; nodes that are not listed asked for none. A mapping also works. None if
        the friends of a node are the nodes linked to it.
    """

    keyword: ClassVar[str] = "friends"
    single: ClassVar[bool] = True
    least: int
    but: tuple[tuple[Hashable, int], ...] = ()
    of: tuple[tuple[Hashable, tuple[Hashable, ...]], ...] | None = None

    def __init__(
        self, least: int, but: Mapping[Hashable, int] | Iterable[Any] = (), of: Asked | None = None
    ) -> None:
        fewer = but.items() if isinstance(but, Mapping) else but
        asked = of.items() if isinstance(of, Mapping) else of
        # The class is frozen, so the fields are set in its dict.
        vars(self).update(
            least=least,
            but=tuple(one if isinstance(one, tuple) else (one, 0) for one in fewer),
            of=None if asked is None else tuple((who, tuple(others)) for who, others in asked),
        )

    @classmethod
    def parse(cls, value: Any) -> Iterator[Rule]:
        """Parse a number or a dict, or a list of these."""
        if is_list(value):
            for one in value:
                yield from cls.parse(one)
            return
        entries = value if isinstance(value, Mapping) else {"least": value}
        if "least" not in entries or not set(entries) <= set(_ENTRIES):
            raise ParameterError(
                f"Rules: friends={value!r}: expected a number, or a dict such as "
                '{"least": 2, "but": {"Ada": 1}, "of": {"Ada": ["Ben", "Cem"]}}.'
            )
        least = whole("friends", entries["least"], low=1)
        but, of = entries.get("but", ()), entries.get("of")
        yield cls(least, _fewer(but, least), None if of is None else _asked(of))

    @classmethod
    def argument(cls, rules: Sequence[Any]) -> Any:
        """Return a number or a dict, or a list of these."""
        found = []
        for rule in rules:
            entries: dict[str, Any] = {"least": rule.least}
            if rule.but:
                entries["but"] = dict(rule.but)
            if rule.of is not None:
                entries["of"] = {who: list(others) for who, others in rule.of}
            found.append(entries if len(entries) > 1 else rule.least)
        return found[0] if len(found) == 1 else found

    def fields(self) -> dict[str, Any]:
        """Return the number, whether nodes asked for their friends, and the nodes that need fewer."""
        fewer = [[str(who), number] for who, number in self.but]
        return {"least": self.least, "own": self.of is not None, "fewer": fewer}

    def describe(self) -> str:
        """Return the rule in words."""
        whom = "linked to them" if self.of is None else "they asked for"
        fewer = [f"{least} for {who}" for who, least in self.but if least > 0]
        notes = ["or all, if fewer"] if self.least > 1 else []
        notes += [f"at least {listed(fewer)}"] if fewer else []
        less = f" ({'; '.join(notes)})" if notes else ""
        return f"everybody{self._excepted} with at least {self.least} of the nodes {whom}{less}"

    def sentence(self, words: Words) -> str:
        """Return the rule as a sentence."""
        friends = "a friend" if self.least == 1 else f"{self.least} friends, or all they have,"
        whom = "somebody they wished for" + (", or who wished for them" if self.of is None else "")
        fewer = [f"{who} at least {least}" for who, least in self.but if least > 0]
        less = f" ({listed(fewer)})" if fewer else ""
        who = "Everybody" if self.of is None else "Everybody with a wish"
        return f"{who}{self._excepted} has {friends} in their {words.cluster}: {whom}{less}."

    @property
    def _excepted(self) -> str:
        excepted = [who for who, least in self.but if least == 0]
        return f" but {listed(excepted)}" if excepted else ""

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return every node with too few friends in its cluster."""
        facts, labels = placement.facts, placement.labels
        adjacency, asked = facts.graph.adjacency, None
        if self.of is not None:
            asked = {facts.node(who): {facts.node(other) for other in others} for who, others in self.of}
        fewer = {facts.node(who): number for who, number in self.but}
        for node, who in enumerate(facts.graph.node_names.tolist()):
            if asked is None:
                friends = set(adjacency.indices[adjacency.indptr[node] : adjacency.indptr[node + 1]].tolist())
            else:
                friends = asked.get(node, set())
            kept = sum(labels[other] == labels[node] for other in friends)
            needed = min(fewer.get(node, self.least), len(friends))
            if kept < needed:
                yield Violation(self, (labels[node],), (who,), number=kept, least=needed, most=len(friends))

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Return the number of friends of a node, and the expected one, as a sentence."""
        (who,), (cluster,) = violation.nodes, map(words.place, violation.clusters)
        number = f"{violation.most} asked for"
        if self.of is None:
            number = count(violation.most or 0, f"linked {words.node}", f"linked {words.nodes}")
        return f"{who} has {violation.number} of {number} in {cluster}: expected at least {violation.least}."

    def compile(self, arrays: Arrays) -> None:
        """Add the friends of each node and the number it needs; rules about the same friends share rows."""
        links, known = arrays.friends.get(self.of) or (self.rows(arrays.facts), 0)
        arrays.friends[self.of] = links, np.maximum(self.needed(links, arrays.facts), known)

    def rows(self, facts: Facts) -> sparse.csr_array:
        """Return a matrix with the friends of each node in its row."""
        if self.of is None:
            return facts.graph.adjacency
        pairs = {(facts.node(who), facts.node(other)) for who, others in self.of for other in others}
        rows, columns = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
        n = facts.graph.n_nodes
        return sparse.coo_array((np.ones(rows.size), (rows, columns)), shape=(n, n)).tocsr()

    def needed(self, links: sparse.csr_array, facts: Facts) -> NDArray[np.int64]:
        """Return the number of friends that each node needs: that of the rule, or all it has if fewer."""
        wanted = np.full(links.shape[0], self.least, dtype=np.int64)
        for who, number in self.but:
            wanted[facts.node(who)] = number
        return np.minimum(wanted, np.diff(links.indptr))


def _fewer(value: Any, least: int) -> Iterator[tuple[Hashable, int]]:
    pairs = ((who, 0) for who in value) if is_list(value) else entries("friends: but", value, '{"Ada": 1}')
    for who, given in pairs:
        where = f"friends: but[{who!r}]"
        if whole(where, given) > least:
            raise ParameterError(f"Rules: {where} must be at most {least}, as for everybody; got {given!r}.")
        yield name("friends", who), int(given)


def _asked(value: Any) -> Iterator[tuple[Hashable, tuple[Hashable, ...]]]:
    for who, others in entries("friends: of", value, '{"Ada": ["Ben", "Cem"]}'):
        if not is_list(others):
            raise ParameterError(f"Rules: friends: of[{who!r}] must be a list of nodes; got {others!r}.")
        asked = tuple(name("friends", other) for other in others)
        if len(set(map(name_text, (who, *asked)))) <= len(asked):
            raise ParameterError(
                f"Rules: friends: of[{who!r}] must name others, all different; got {list(asked)!r}."
            )
        yield name("friends", who), asked
