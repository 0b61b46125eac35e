"""Rules as plain arrays, for a solver or a compiled search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from equigraph._utils.text import count
from equigraph.exceptions import InfeasibleError, ParameterError
from equigraph.rules.facts import Facts
from equigraph.rules.items import (
    Apart,
    AtLeast,
    AtMost,
    Fixed,
    Friends,
    NotAlone,
    Rule,
    Shares,
    Sizes,
    Together,
)
from equigraph.rules.rules import Rules

Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CompiledRules:
    """Rules on one graph, as arrays.

    A *unit* is a set of nodes that have to be together; most units are one node. A *column* is one value of one
    attribute that rules speak of. Where there is no rule, the arrays hold what every clustering meets, so that
    a search need not ask which rules there are.
    """

    n_clusters: int  # none may be empty, which `least_size` also says
    unit: Integers  # of each node
    unit_size: Integers
    fixed: Integers  # cluster of each unit, -1 where it is free
    apart: (
        sparse.csr_array
    )  # which units may not share a cluster; symmetric, a search reads indptr and indices
    apart_sets: list[Integers]  # the same as it was given
    least_size: Integers  # of each cluster
    most_size: Integers
    columns: list[tuple[str, str]]  # attribute and value of each
    node_columns: Integers  # the column in which each node counts, for each attribute that rules speak of
    counts: sparse.csr_array  # how many nodes of each unit count in each column
    least_count: Integers  # of each column in each cluster
    most_count: Integers
    not_alone: Integers  # the count of a column is 0 or at least this
    # Numerators and denominators: in a cluster of s nodes the count is at least ``low[0] * s // low[1]`` and at most
    # ``-(-high[0] * s // high[1])``. Denominators are at most the number of nodes: 64 bits hold every product.
    share_low: Integers
    share_high: Integers
    # Row v of ``links`` holds the friends of node v, with how many of whom it has to share its cluster; where rules
    # speak of different friends there are n more rows for each, and row r is about node ``r % n``.
    needed: Integers
    links: sparse.csr_array
    # Whether nodes that have to be together also have to be apart, or in different clusters; `fixed` and `apart` do
    # not tell everything then.
    contradiction: bool

    @cached_property
    def askers(self) -> sparse.csr_array:
        """The rows of ``links`` in which each node occurs: whose count changes when it moves."""
        return self.links.T.tocsr()

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.unit.size)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return int(self.unit_size.size)


def compile_rules(rules: Rules | Iterable[Rule], graph: Any, groups: Any, n_clusters: int) -> CompiledRules:
    """Turn rules into arrays.

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
    items = tuple(rules.items) if isinstance(rules, Rules) else tuple(rules)
    n = facts.graph.n_nodes
    if n < n_clusters:
        raise InfeasibleError(
            f"{count(n_clusters, 'non-empty cluster')} cannot be made of {count(n, 'node')}."
        )
    unit = _units([rule for rule in items if isinstance(rule, Together)], facts)
    unit_size = np.bincount(unit).astype(np.int64)
    fixed, twice = _fixed([rule for rule in items if isinstance(rule, Fixed)], facts, unit, n_clusters)
    sets = [unit[[facts.node(name) for name in rule.nodes]] for rule in items if isinstance(rule, Apart)]
    least_size, most_size = _sizes([rule for rule in items if isinstance(rule, Sizes)], n, n_clusters)
    return CompiledRules(
        n_clusters=n_clusters,
        unit=unit,
        unit_size=unit_size,
        fixed=fixed,
        apart=_pairs(sets, unit_size.size),
        apart_sets=sets,
        least_size=least_size,
        most_size=most_size,
        **_friends([rule for rule in items if isinstance(rule, Friends)], facts),
        contradiction=twice or any(np.unique(units).size < units.size for units in sets),
        **_columns(items, facts, unit, n_clusters),
    )


def _units(rules: list[Together], facts: Facts) -> Integers:
    ends = [(facts.node(a), facts.node(b)) for rule in rules for a, b in pairwise(rule.nodes)]
    n = facts.graph.n_nodes
    if not ends:
        return np.arange(n, dtype=np.int64)
    rows, columns = np.array(ends).T
    joined = sparse.coo_array((np.ones(rows.size), (rows, columns)), shape=(n, n))
    return connected_components(joined, directed=False)[1].astype(np.int64)


def _fixed(rules: list[Fixed], facts: Facts, unit: Integers, n_clusters: int) -> tuple[Integers, bool]:
    """Return the cluster of each unit, and whether any unit is fixed to two."""
    fixed, twice = np.full(int(unit.max()) + 1, -1, dtype=np.int64), False
    for rule in rules:
        if rule.cluster >= n_clusters:
            raise ParameterError(
                f"Rules: fixed[{rule.node!r}] is cluster {rule.cluster}, and there are "
                f"{count(n_clusters, 'cluster')}: expected 0 to {n_clusters - 1}."
            )
        place = unit[facts.node(rule.node)]
        twice |= fixed[place] not in (-1, rule.cluster)
        fixed[place] = rule.cluster
    return fixed, bool(twice)


def _pairs(sets: list[Integers], n_units: int) -> sparse.csr_array:
    pairs = [pair for units in sets for pair in permutations(units.tolist(), 2) if pair[0] != pair[1]]
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    matrix = sparse.coo_array((np.ones(rows.size, dtype=np.int8), (rows, columns)), shape=(n_units, n_units))
    result = matrix.tocsr()
    result.data[:] = 1
    return result


def _sizes(rules: list[Sizes], n: int, n_clusters: int) -> tuple[Integers, Integers]:
    least, most = np.ones(n_clusters, dtype=np.int64), np.full(n_clusters, n, dtype=np.int64)
    for rule in rules:
        if rule.per_cluster and len(rule.bounds) != n_clusters:
            raise ParameterError(
                f"Rules: sizes lists {count(len(rule.bounds), 'pair')}, and there are "
                f"{count(n_clusters, 'cluster')}: expected one pair per cluster, or a single pair."
            )
        pairs = rule.bounds if rule.per_cluster else rule.bounds * n_clusters
        least = np.maximum(least, [0 if low is None else low for low, _ in pairs])
        most = np.minimum(most, [n if high is None else high for _, high in pairs])
    return least, most


def _friends(rules: list[Friends], facts: Facts) -> dict[str, Any]:
    """Return the friends of each node and how many of them it needs; rules about the same friends share rows."""
    layers: dict[Any, tuple[sparse.csr_array, Integers]] = {}
    for rule in rules or [Friends(0)]:
        links = layers[rule.of][0] if rule.of in layers else friends_of(rule, facts)
        needed = needed_friends(rule, links, facts)
        if rule.of in layers:
            needed = np.maximum(needed, layers[rule.of][1])
        layers[rule.of] = links, needed
    links = [links for links, _ in layers.values()]
    return {
        "links": links[0] if len(links) == 1 else sparse.vstack(links, format="csr"),
        "needed": np.concatenate([needed for _, needed in layers.values()]),
    }


def needed_friends(rule: Friends, links: sparse.csr_array, facts: Facts) -> Integers:
    """Return how many of its friends each node needs: as many as the rule says, or all it has."""
    wanted = np.full(links.shape[0], rule.least, dtype=np.int64)
    for name, number in rule.but:
        wanted[facts.node(name)] = number
    return np.minimum(wanted, np.diff(links.indptr))


def friends_of(rule: Friends, facts: Facts) -> sparse.csr_array:
    """Return a matrix with the friends of each node in its row."""
    if rule.of is None:
        return facts.graph.adjacency
    pairs = {(facts.node(name), facts.node(other)) for name, others in rule.of for other in others}
    rows, columns = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    n = facts.graph.n_nodes
    return sparse.coo_array((np.ones(rows.size), (rows, columns)), shape=(n, n)).tocsr()


def _columns(items: tuple[Rule, ...], facts: Facts, unit: Integers, n_clusters: int) -> dict[str, Any]:
    """Return everything that is about attributes."""
    about = [rule for rule in items if isinstance(rule, (AtLeast, AtMost, NotAlone, Shares))]
    columns: list[tuple[str, str]] = []
    places = []
    for attribute in dict.fromkeys(rule.attribute for rule in about):
        names, codes = facts.codes(attribute)
        places.append(codes + len(columns))
        columns.extend((attribute, name) for name in names)
    node_columns = np.array(places, dtype=np.int64).reshape(len(places), unit.size).T
    return {
        "columns": columns,
        "node_columns": np.ascontiguousarray(node_columns),
        "counts": _counts(unit, node_columns, len(columns)),
        **_count_bounds(
            about, facts, columns, np.bincount(node_columns.ravel(), minlength=len(columns)), n_clusters
        ),
    }


def _count_bounds(
    rules: list[AtLeast | AtMost | NotAlone | Shares],
    facts: Facts,
    columns: list[tuple[str, str]],
    totals: Integers,
    n_clusters: int,
) -> dict[str, Integers]:
    """Return the bounds on the columns, drawn closer rule by rule."""
    n, m = facts.graph.n_nodes, len(columns)
    least, most = np.zeros((n_clusters, m), dtype=np.int64), np.full((n_clusters, m), n, dtype=np.int64)
    alone = np.ones(m, dtype=np.int64)
    low, high = (np.tile(np.array(share, dtype=np.int64), (m, 1)) for share in ([0, 1], [1, 1]))
    for rule in rules:
        own = [place for place, (attribute, _) in enumerate(columns) if attribute == rule.attribute]
        if isinstance(rule, (AtLeast, AtMost)):
            column = columns.index((rule.attribute, facts.group(rule.attribute, rule.value)))
            if isinstance(rule, AtLeast):
                least[:, column] = np.maximum(least[:, column], rule.least)
            else:
                most[:, column] = np.minimum(most[:, column], rule.most)
        elif isinstance(rule, NotAlone):
            alone[own] = np.maximum(alone[own], rule.least)
        else:
            for column in own:
                share = Fraction(int(totals[column]), n)
                closer = below(max(share - rule.tolerance, Fraction(0)), n)
                low[column] = max(closer, Fraction(*low[column].tolist())).as_integer_ratio()
                closer = above(min(share + rule.tolerance, Fraction(1)), n)
                high[column] = min(closer, Fraction(*high[column].tolist())).as_integer_ratio()
    return {
        "least_count": least,
        "most_count": most,
        "not_alone": alone,
        "share_low": low,
        "share_high": high,
    }


def _counts(unit: Integers, node_columns: Integers, n_columns: int) -> sparse.csr_array:
    rows = np.repeat(unit, node_columns.shape[1])
    ones = np.ones(rows.size, dtype=np.int64)
    shape = (int(unit.max()) + 1, n_columns)
    return sparse.coo_array((ones, (rows, node_columns.ravel())), shape=shape).tocsr()


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
