"""What follows from rules without search: nodes that must share a cluster, and clusters in which nodes cannot be.

A node that needs all the friends it could be with is together with them; a friend that is apart, held elsewhere or too
many for the largest cluster is none that it could be with. Each such step may allow another. The solver finds most of
this only by branching.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from equigraph.rules.compile import CompiledRules, Integers, entries_of, join_units


def propagated(compiled: CompiledRules) -> tuple[CompiledRules, NDArray[np.bool_]]:
    """Return rules with the same solutions on fewer units, and in which clusters each unit may be.

    Where the rules turn out to contradict each other, ``contradiction`` says so.
    """
    rules = compiled
    while not rules.contradiction:
        allowed = _allowed(rules)
        joins = _forced(rules, allowed)
        if joins:
            rules = join_units(rules, joins)
        elif rules.n_units < rules.n_clusters or not allowed.any(axis=1).all():
            break
        else:
            return rules, allowed
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
    for unit in np.flatnonzero(rules.fixed >= 0).tolist():
        allowed[entries_of(rules.apart, unit)[0], rules.fixed[unit]] = False
    return allowed


def _forced(rules: CompiledRules, allowed: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return pairs of units that must share a cluster; where a unit cannot be is taken out of ``allowed``."""
    n, again = rules.n_nodes, True
    joins: list[tuple[int, int]] = []
    rows = [
        (int(rules.unit[row % n]), *_friends(rules, row)) for row in np.flatnonzero(rules.needed).tolist()
    ]
    while again and not joins:
        again = False
        for own, missing, friends, numbers in rows:
            if missing <= 0:
                continue
            common = allowed[friends] & allowed[own]
            room = rules.unit_size[friends, None] + rules.unit_size[own] <= rules.most_size
            common &= room & ~np.isin(friends, entries_of(rules.apart, own)[0])[:, None]
            enough = numbers @ common >= missing
            if not enough[allowed[own]].all():
                again = True
                allowed[own] &= enough
                common &= enough
            possible = numbers * common.any(axis=1)
            forced = (possible > 0) & (possible.sum() - possible < missing)
            joins += [(own, friend) for friend in friends[forced].tolist()]
    return joins


def _friends(rules: CompiledRules, row: int) -> tuple[int, Integers, Integers]:
    """Return how many friends beyond its own unit a node needs, their units, and how many are in each."""
    units = rules.unit[entries_of(rules.links, row)[0]]
    others = units != rules.unit[row % rules.n_nodes]
    friends, numbers = np.unique(units[others], return_counts=True)
    return int(rules.needed[row] - (~others).sum()), friends, numbers
