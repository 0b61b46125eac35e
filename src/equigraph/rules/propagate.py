"""What follows from rules without search: nodes that must share a cluster, and clusters in which nodes cannot be.

A node that needs all the friends it could be with is together with them; a friend that is apart, held elsewhere or too
many for the largest cluster is none that it could be with. Each such step may allow another. The solver finds most of
this only by branching.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.rules.compile import CompiledRules, Integers, apart_pairs, joined_units


class _Impossible(Exception):
    """The rules contradict each other."""


def propagated(compiled: CompiledRules) -> tuple[CompiledRules, NDArray[np.bool_]]:
    """Return rules with the same solutions on fewer units, and in which clusters each unit may be.

    Where the rules turn out to contradict each other, ``contradiction`` says so.
    """
    rules = compiled
    try:
        while True:
            allowed = _allowed(rules)
            joins = _forced(rules, allowed)
            if not joins:
                return rules, allowed
            rules = _joined(rules, joins)
    except _Impossible:
        shape = (compiled.n_units, compiled.n_clusters)
        return replace(compiled, contradiction=True), np.zeros(shape, dtype=bool)


def _allowed(rules: CompiledRules) -> NDArray[np.bool_]:
    """Return where each unit may be by its own size and counts, and by whom it is held apart from."""
    clusters = np.arange(rules.n_clusters)
    allowed = (rules.fixed[:, None] < 0) | (rules.fixed[:, None] == clusters)
    allowed &= rules.unit_size[:, None] <= rules.most_size
    members = rules.counts.tocoo()
    for cluster in clusters:
        beyond = members.row[members.data > rules.most_count[cluster, members.col]]
        allowed[beyond, cluster] = False
    held = np.flatnonzero(rules.fixed >= 0)
    for unit in held:
        others = rules.apart.indices[rules.apart.indptr[unit] : rules.apart.indptr[unit + 1]]
        allowed[others, rules.fixed[unit]] = False
    if rules.n_units < rules.n_clusters or not allowed.any(axis=1).all():
        raise _Impossible
    return allowed


def _forced(rules: CompiledRules, allowed: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return pairs of units that must share a cluster; where a unit cannot be is taken out of ``allowed``."""
    n, joins, again = rules.n_nodes, [], True
    rows = [
        (int(rules.unit[row % n]), *_friends(rules, row)) for row in np.flatnonzero(rules.needed).tolist()
    ]
    while again:
        again = False
        for own, missing, friends, numbers in rows:
            if missing <= 0:
                continue
            common = allowed[friends] & allowed[own]
            room = rules.unit_size[friends, None] + rules.unit_size[own] <= rules.most_size
            common &= room & ~_apart(rules, own, friends)[:, None]
            enough = numbers @ common >= missing
            if not enough[allowed[own]].all():
                again = True
                allowed[own] &= enough
                if not allowed[own].any():
                    raise _Impossible
                common &= enough
            possible = numbers * common.any(axis=1)
            forced = (possible > 0) & (possible.sum() - possible < missing)
            joins += [(own, friend) for friend in friends[forced].tolist()]
        if joins:
            return joins
    return joins


def _friends(rules: CompiledRules, row: int) -> tuple[int, Integers, Integers]:
    """Return how many friends beyond its own unit a node needs, their units, and how many are in each."""
    units = rules.unit[rules.links.indices[rules.links.indptr[row] : rules.links.indptr[row + 1]]]
    others = units != rules.unit[row % rules.n_nodes]
    friends, numbers = np.unique(units[others], return_counts=True)
    return int(rules.needed[row] - (~others).sum()), friends, numbers


def _apart(rules: CompiledRules, unit: int, others: Integers) -> NDArray[np.bool_]:
    return np.isin(others, rules.apart.indices[rules.apart.indptr[unit] : rules.apart.indptr[unit + 1]])


def _joined(rules: CompiledRules, joins: list[tuple[int, int]]) -> CompiledRules:
    """Return the rules with some units made one."""
    onto = joined_units(joins, rules.n_units)
    n_units = int(onto.max()) + 1
    fixed = np.full(n_units, -1, dtype=np.int64)
    held = rules.fixed >= 0
    fixed[onto[held]] = rules.fixed[held]
    sets = [onto[units] for units in rules.apart_sets]
    if (fixed[onto[held]] != rules.fixed[held]).any() or any(np.unique(one).size < one.size for one in sets):
        raise _Impossible
    counts = rules.counts.tocoo()
    shape = (n_units, counts.shape[1])
    return replace(
        rules,
        unit=onto[rules.unit],
        unit_size=np.bincount(onto, weights=rules.unit_size).astype(np.int64),
        fixed=fixed,
        apart=apart_pairs(sets, n_units),
        apart_sets=sets,
        counts=sparse.coo_array((counts.data, (onto[counts.row], counts.col)), shape=shape).tocsr(),
    )
