"""Rules as plain arrays, for the solver and the compiled search."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from equigraph._utils.text import count
from equigraph.exceptions import InfeasibleError
from equigraph.rules.facts import Facts

if TYPE_CHECKING:
    from equigraph.rules.base import Rule

Integers = NDArray[np.int64]


@dataclass
class CountColumn:
    """A set of nodes with bounds on its count in every cluster; see `CompiledRules`."""

    nodes: Integers
    least: Integers  # in each cluster
    most: Integers
    alone: int = 1
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(1)


class Arrays:
    """Builder of `CompiledRules`, to which one rule after another is added."""

    def __init__(self, facts: Facts, n_clusters: int):
        self.facts, self.n_clusters, self.n = facts, n_clusters, facts.graph.n_nodes
        self.least_size = np.ones(n_clusters, dtype=np.int64)
        self.most_size = np.full(n_clusters, self.n, dtype=np.int64)
        self.joined: list[tuple[int, int]] = []  # pairs of nodes that must share a cluster
        self.fixed: list[tuple[int, int]] = []  # pairs of a node and its cluster
        self.apart: list[list[int]] = []  # sets of nodes in pairwise different clusters
        self.columns: dict[tuple[str, ...], CountColumn] = {}
        self.friends: dict[Any, tuple[sparse.csr_array, Integers]] = {}

    def column(self, name: tuple[str, ...], nodes: Sequence[int] | Integers) -> CountColumn:
        """Return the column of a name, after adding these nodes to it."""
        least = np.zeros(self.n_clusters, dtype=np.int64)
        new = CountColumn(np.zeros(0, dtype=np.int64), least, np.full_like(least, self.n))
        found = self.columns.setdefault(name, new)
        found.nodes = np.union1d(found.nodes, np.asarray(nodes, dtype=np.int64))
        return found

    def group(self, attribute: str, value: str) -> CountColumn:
        """Return the column of a value of an attribute."""
        names, codes = self.facts.codes(attribute)
        return self.column(("group", attribute, value), np.flatnonzero(codes == names.index(value)))

    def groups(self, attribute: str) -> list[CountColumn]:
        """Return the columns of all values of an attribute."""
        return [self.group(attribute, value) for value in self.facts.codes(attribute)[0]]


@dataclass(frozen=True, eq=False)
class CompiledRules:
    """Rules on one graph, as arrays.

    A *unit* is a set of nodes that must share a cluster; most units are one node. A *column* is a set of nodes whose
    count in each cluster is bounded: one value of an attribute, or a list. Without a rule the arrays hold bounds that
    every clustering meets, so that the search need not distinguish cases.
    """

    n_clusters: int  # none may be empty; `least_size` implies it
    unit: Integers  # of each node
    unit_size: Integers
    fixed: Integers  # cluster of each unit, -1 if it is free
    apart_sets: list[Integers]  # sets of units in pairwise different clusters
    least_size: Integers  # of each cluster
    most_size: Integers
    columns: list[tuple[str, ...]]  # name of each column
    counts: sparse.csr_array  # number of nodes of each unit in each column
    least_count: Integers  # of each column in each cluster
    most_count: Integers
    not_alone: Integers  # the count of a column is 0 or at least this
    # Numerators and denominators: in a cluster of s nodes the count is at least ``low[0] * s // low[1]`` and at most
    # ``-(-high[0] * s // high[1])``. Denominators are at most the number of nodes: 64 bits hold every product.
    share_low: Integers
    share_high: Integers
    # Row v of ``links`` holds the friends of node v, which must share its cluster with at least ``needed[v]`` of them.
    # Rules with other friends add n more rows each: row r is about node ``r % n``.
    needed: Integers
    links: sparse.csr_array
    # Whether nodes that must be together must also be apart, or in different clusters; `fixed` and `apart` are
    # incomplete then.
    contradiction: bool

    @cached_property
    def apart(self) -> sparse.csr_array:
        """Pairs of units that may not share a cluster; symmetric, the search reads indptr and indices."""
        pairs = [pair for units in self.apart_sets for pair in permutations(units.tolist(), 2)]
        rows, columns = (
            np.array([*{pair for pair in pairs if pair[0] != pair[1]}], dtype=np.int64).reshape(-1, 2).T
        )
        ones = np.ones(rows.size, dtype=np.int8)
        return sparse.coo_array((ones, (rows, columns)), shape=(self.n_units, self.n_units)).tocsr()

    @cached_property
    def askers(self) -> sparse.csr_array:
        """Transpose of ``links``: the rows in which each node occurs, whose counts change when it moves."""
        return self.links.T.tocsr()

    @cached_property
    def unit_friends(self) -> tuple[Integers, Integers, sparse.csr_array]:
        """The unit of each row of ``links``, the friends it needs in other units, and their number in each of these."""
        n_rows, links = self.needed.size, self.links
        own = self.unit[np.arange(n_rows) % self.n_nodes]
        row, friend = np.repeat(np.arange(n_rows), np.diff(links.indptr)), self.unit[links.indices]
        inside = own[row] == friend
        others = row[~inside], friend[~inside]
        friends = sparse.coo_array((np.ones(others[0].size), others), shape=(n_rows, self.n_units)).tocsr()
        return own, self.needed - np.bincount(row[inside], minlength=n_rows), friends

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.unit.size)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.unit_size.size)


def compile_rules(rules: Iterable[Rule], graph: Any, groups: Any, n_clusters: int) -> CompiledRules:
    """Compile rules to arrays.

    Parameters
    ----------
    rules : Rules or iterable of single rules
        The rules.
    graph : graph or Facts
        Anything that `equigraph.as_graph` takes.
    groups : dict of columns, table, Series or array, optional
        The attributes that the rules name; by default those of the graph.
    n_clusters : int
        Number of clusters.

    Returns
    -------
    CompiledRules
        The arrays.

    Raises
    ------
    ParameterError
        If a rule names a node, attribute, value or cluster that does not exist.
    InfeasibleError
        If there are fewer nodes than clusters.

    Examples
    --------
    >>> from equigraph.rules import Rules
    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> compiled = compile_rules(Rules(together=[(0, 2)], friends=1), path, None, 2)
    >>> compiled.unit.tolist(), compiled.needed.tolist(), compiled.least_size.tolist()
    ([0, 1, 0], [1, 1, 1], [1, 1])
    """
    facts = Facts.of(graph, groups)
    n = facts.graph.n_nodes
    if n < n_clusters:
        raise InfeasibleError(
            f"{count(n_clusters, 'non-empty cluster')} cannot be made of {count(n, 'node')}."
        )
    arrays = Arrays(facts, n_clusters)
    for rule in rules:
        rule.compile(arrays)
    fixed, twice = np.full(n, -1, dtype=np.int64), False
    for node, cluster in arrays.fixed:
        twice |= bool(fixed[node] not in (-1, cluster))
        fixed[node] = cluster
    columns = arrays.columns.values()
    owner = np.repeat(np.arange(len(columns)), [column.nodes.size for column in columns])
    members = np.concatenate([fixed[:0], *(column.nodes for column in columns)]), owner
    ones = np.ones(owner.size, dtype=np.int64)
    low = [below(max(column.low, Fraction(0)), n).as_integer_ratio() for column in columns]
    high = [above(min(column.high, Fraction(1)), n).as_integer_ratio() for column in columns]
    empty = np.zeros((n_clusters, 0), dtype=np.int64)
    if not arrays.friends:
        arrays.friends[None] = facts.graph.adjacency, np.zeros(n, dtype=np.int64)
    links, needed = zip(*arrays.friends.values(), strict=True)
    single = CompiledRules(
        n_clusters=n_clusters,
        unit=np.arange(n, dtype=np.int64),
        unit_size=np.ones(n, dtype=np.int64),
        fixed=fixed,
        apart_sets=[np.array(nodes, dtype=np.int64) for nodes in arrays.apart],
        least_size=arrays.least_size,
        most_size=arrays.most_size,
        links=links[0] if len(links) == 1 else sparse.vstack(links, format="csr"),
        needed=np.concatenate(needed),
        contradiction=twice,
        columns=list(arrays.columns),
        counts=sparse.coo_array((ones, members), shape=(n, len(columns))).tocsr(),
        least_count=np.column_stack([empty, *(column.least for column in columns)]),
        most_count=np.column_stack([empty, *(column.most for column in columns)]),
        not_alone=np.array([column.alone for column in columns], dtype=np.int64),
        share_low=np.array(low, dtype=np.int64).reshape(-1, 2),
        share_high=np.array(high, dtype=np.int64).reshape(-1, 2),
    )
    return join_units(single, arrays.joined)


def join_units(rules: CompiledRules, joined: Sequence[tuple[int, int]]) -> CompiledRules:
    """Return the rules after merging pairs of units."""
    one, other = np.array(joined, dtype=np.int64).reshape(-1, 2).T
    pairs = sparse.coo_array((np.ones(one.size), (one, other)), shape=(rules.n_units, rules.n_units))
    onto = connected_components(pairs, directed=False)[1].astype(np.int64)
    n_units = int(onto.max()) + 1
    fixed = np.full(n_units, -1, dtype=np.int64)
    is_fixed = rules.fixed >= 0
    fixed[onto[is_fixed]] = rules.fixed[is_fixed]
    sets = [onto[units] for units in rules.apart_sets]
    twice = (fixed[onto[is_fixed]] != rules.fixed[is_fixed]).any()
    counts = rules.counts.tocoo()
    shape = (n_units, counts.shape[1])
    return replace(
        rules,
        unit=onto[rules.unit],
        unit_size=np.bincount(onto, weights=rules.unit_size).astype(np.int64),
        fixed=fixed,
        apart_sets=sets,
        counts=sparse.coo_array((counts.data, (onto[counts.row], counts.col)), shape=shape).tocsr(),
        contradiction=bool(
            rules.contradiction or twice or any(np.unique(units).size < units.size for units in sets)
        ),
    )


def keeps(compiled: CompiledRules, labels: NDArray) -> bool:
    """Return whether labels keep every rule and leave no cluster empty.

    `equigraph.rules.Rules.check` returns the violations in words; it takes a second per hundred thousand nodes.
    """
    labels = np.asarray(labels, dtype=np.int64)
    units = np.empty(compiled.n_units, dtype=np.int64)
    units[compiled.unit] = labels
    is_fixed = compiled.fixed >= 0
    apart = compiled.apart.tocoo()
    sizes = np.bincount(labels, minlength=compiled.n_clusters)
    return bool(
        not compiled.contradiction
        and sizes.size == compiled.n_clusters
        and (units[compiled.unit] == labels).all()
        and (units[is_fixed] == compiled.fixed[is_fixed]).all()
        and (units[apart.row] != units[apart.col]).all()
        and (sizes >= compiled.least_size).all()
        and (sizes <= compiled.most_size).all()
        and _counts_kept(compiled, units, sizes)
        and (not compiled.needed.any() or (kept_links(compiled.links, labels) >= compiled.needed).all())
    )


def _counts_kept(compiled: CompiledRules, units: Integers, sizes: NDArray) -> bool:
    n_columns = len(compiled.columns)
    members = compiled.counts.tocoo()
    places = units[members.row] * n_columns + members.col
    counts = np.bincount(places, weights=members.data, minlength=sizes.size * n_columns)
    counts = counts.astype(np.int64).reshape(sizes.size, n_columns)
    size = sizes[:, None]
    least = np.maximum(compiled.least_count, compiled.share_low[:, 0] * size // compiled.share_low[:, 1])
    most = np.minimum(compiled.most_count, -(-compiled.share_high[:, 0] * size // compiled.share_high[:, 1]))
    alone = (counts > 0) & (counts < compiled.not_alone)
    return bool((counts >= least).all() and (counts <= most).all() and not alone.any())


def kept_links(links: sparse.csr_array, labels: NDArray) -> Integers:
    """Return the number of friends in the same cluster, for the node of each row."""
    row = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    same = labels[row % labels.size] == labels[links.indices]
    return np.bincount(row[same], minlength=links.shape[0])


def entries_of(matrix: Any, row: int) -> tuple[NDArray, NDArray]:
    """Return the columns and the values of the entries of a row."""
    part = slice(matrix.indptr[row], matrix.indptr[row + 1])
    return matrix.indices[part], matrix.data[part]


def below(x: Fraction, limit: int) -> Fraction:
    """Return the largest fraction with a denominator up to a limit that is not above x.

    For every whole s up to the limit ``floor(x s)`` is the same for both: it is the largest c with ``c / s <= x``.
    """
    near = x.limit_denominator(limit)
    if near <= x:
        return near
    # The neighbour of a/b from below among these fractions: c/d with a d - b c = 1 and d as large as may be.
    a, b = near.numerator, near.denominator
    d = limit - (limit - pow(a, -1, b)) % b
    return Fraction((a * d - 1) // b, d)


def above(x: Fraction, limit: int) -> Fraction:
    """Return the smallest fraction with a denominator up to a limit that is not below x; see `below`."""
    return -below(-x, limit)
