"""Moves of single sites while the objective rises."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.search.kernels.changes import exchange_change, join_changes, look_at
from equigraph.search.kernels.state import (
    N_CLUSTERS,
    N_FREE,
    SUM,
    TOLERANCE,
    cache_place,
    caches_pairs,
    move,
    notion_gain,
    scored,
)

# With a fixed number of clusters a site looks at all of them if they are at most this many, and where fairness or
# bounds count. With more it looks at those of its neighbours, and at the few that its group is most wanted in.
MOST_DENSE = 128
_WANTED = 8


@compiled
def kind_of(first: Any, code: int) -> int:
    """Return the column of a group; one for all folded groups of equally many members, and 0 for no group."""
    return first[-2 - code] if code < -1 else max(code, 0)


@compiled
def wanted_clusters(sites: Any, clusters: Any, score: Any, values: Any, examples: Any) -> Any:
    """Return for each example site the clusters where one more of its kind brings the notion most."""
    terms = scored(score, values)
    look = look_at(sites, clusters, terms)
    n_slots = clusters.members.size
    wanted = np.zeros((examples.size, min(_WANTED, n_slots)), dtype=np.int64)
    everyone, gains = np.arange(n_slots), np.empty(n_slots)
    for e in range(examples.size):
        if examples[e] < 0:
            continue
        join_changes(look, examples[e], everyone, gains)
        # A sort, or an assignment of a whole row, takes seconds to compile.
        for place in range(wanted.shape[1]):
            best = 0
            for c in range(1, n_slots):
                if gains[c] > gains[best]:
                    best = c
            wanted[e, place] = best
            gains[best] = -np.inf
    return wanted


@compiled(inline="always")
def gather(
    indptr: Any,
    indices: Any,
    data: Any,
    labels: Any,
    within: Any,
    low: int,
    site: int,
    links: Any,
    touched: Any,
) -> int:
    """List the clusters next to a site, of the rows from ``low`` on, with the weight to each; return how many."""
    count = 0
    for entry in range(indptr[site], indptr[site + 1]):
        other = indices[entry]
        if within.size > 0 and within[other] != within[low + site]:
            continue
        cluster, weight = labels[other], data[entry]
        if links[cluster] == 0.0 and weight > 0.0:
            touched[count] = cluster
            count += 1
        links[cluster] += weight
    return count


@compiled
def climb_rows(
    sites: Any,
    labels: Any,
    clusters: Any,
    score: Any,
    values: Any,
    low: int,
    order: Any,
    within: Any,
    fixed: bool,
    awake: Any,
    wanted: Any,
    gained: Any,
) -> None:
    """Visit some rows of a graph once: move each site that is awake to the cluster that raises the objective most.

    Parameters
    ----------
    sites, score, values
        See `equigraph.search.kernels.state`; the sites are the rows from ``low`` on, and only those.
    labels, within, awake
        Of all sites, as neighbours may be any; ``labels`` and ``awake`` are changed in place.
    clusters
        All clusters, changed in place.
    order : ndarray of int
        Rows to visit, counted from ``low``.
    fixed : bool
        Whether clusters are neither emptied nor added.
    wanted : ndarray
        What `wanted_clusters` returns, or nothing.
    gained : ndarray of shape (4,)
        Moves, and what Q, the notion and the objective rose by: added to.
    """
    terms = scored(score, values)
    look = look_at(sites, clusters, terms)
    indptr, indices, data, strength, sizes, columns, _, _, _, _ = sites
    _, _, first, offsets, _, sized, _, total, resolution, f, cap, least, most = terms
    volume, members, size, _, _, tally, free, cached, stamps, version, _, _ = clusters
    own = labels[low : low + strength.size]
    quick, width = cached.shape[1] > 0 and offsets.size == 2, offsets[1] + 1
    pairs = caches_pairs(offsets, cached)
    joining, out = np.int64(0), np.int64(0)
    n_slots = volume.size
    inverse = 1.0 / total if total > 0 else 0.0
    dense = _looks_at_all(n_slots, fixed, terms)
    links, joins, everyone = np.zeros(n_slots), np.zeros(n_slots), np.arange(n_slots)
    # A free label, or the wanted ones, may be listed behind all clusters.
    touched = np.empty(n_slots + 1 + _WANTED, dtype=np.int64)
    n_moves, gain_q, gain_n, gain = gained
    for position in range(order.size):
        site = order[position]
        if not awake[low + site]:
            continue
        awake[low + site] = False
        a = own[site]
        if fixed and (members[a] == 1 or size[a] - sizes[site] < least):
            continue
        count = gather(indptr, indices, data, labels, within, low, site, links, touched)
        listed = count
        if not fixed:
            if tally[N_FREE] > 0 and members[a] > 1:
                touched[listed] = free[int(tally[N_FREE]) - 1]
                listed += 1
        elif wanted.shape[0] > 0 and columns[site, 0] != -1:
            kind = kind_of(first, np.int64(columns[site, 0]))
            for w in range(wanted.shape[1]):
                touched[listed] = wanted[kind, w]
                listed += 1
        per_volume = 2.0 * resolution * (inverse * strength[site]) * inverse
        home = volume[a] - strength[site]
        stay = 2.0 * inverse * links[a]
        alone = 1.0 if members[a] == 1 else 0.0
        leaving = 0.0
        if f > 0:
            # Look before calling: a call that hands over all arrays costs more than the whole visit otherwise.
            stale = not quick or columns[site, 0] < -1
            if not stale:
                joining = np.int64(columns[site, 0]) + 1
                out = cache_place(width, pairs, joining, np.int64(0))
                stale = stamps[a, out] != version[a]
                for place in range(n_slots if dense else listed):
                    c = place if dense else touched[place]
                    stale = stale or stamps[c, joining] != version[c]
            if stale:
                leaving = exchange_change(look, np.int64(a), np.int64(-1), site, np.int64(-1))
                join_changes(look, site, everyone if dense else touched[:listed], joins)
            else:
                leaving = cached[a, out]
                for place in range(n_slots if dense else listed):
                    c = place if dense else touched[place]
                    joins[c] = cached[c, joining]
        b: Any = np.int64(a)
        best, dq, dn = TOLERANCE, 0.0, 0.0
        n_after = tally[N_CLUSTERS] - alone
        for place in range(n_slots if dense else listed):
            c = place if dense else touched[place]
            if c == a or size[c] + sizes[site] > most:
                continue
            change_q = 2.0 * inverse * links[c] - stay - per_volume * (volume[c] - home)
            change_n = 0.0
            if f > 0:
                opened = 1.0 if members[c] == 0 else 0.0
                change_n = notion_gain(
                    tally[SUM], tally[N_CLUSTERS], sized, cap, leaving + joins[c], n_after + opened
                )
            gain_here = (1.0 - f) * change_q + f * change_n
            if gain_here > best:
                b, best, dq, dn = c, gain_here, change_q, change_n
        for place in range(count):
            links[touched[place]] = 0.0
        if b == a:
            continue
        move(sites, own, clusters, terms, site, b)
        n_moves += 1
        gain_q += dq
        gain_n += dn
        gain += (1.0 - f) * dq + f * dn
        for entry in range(indptr[site], indptr[site + 1]):
            other = indices[entry]
            if labels[other] != b:
                awake[other] = True
    gained[0], gained[1], gained[2], gained[3] = n_moves, gain_q, gain_n, gain


@compiled(inline="always")
def _looks_at_all(n_slots: int, fixed: bool, terms: Any) -> bool:
    """Return whether a site looks at every cluster, not only at those next to it."""
    bounded = terms.least > 1 or terms.most < terms.n_nodes
    return fixed and n_slots <= MOST_DENSE and (terms.fairness > 0 or bounded)


@compiled
def examples_of(columns: Any, n_slots: int, fixed: bool, score: Any, values: Any) -> Any:
    """Return a site of each kind of group where clusters are too many to look at all of them; nothing otherwise.

    One of a kind stands for all (-1 where a column has none), and so do the groups of the first attribute: what is
    wanted is only where to look.
    """
    terms = scored(score, values)
    some = fixed and not _looks_at_all(n_slots, fixed, terms) and terms.fairness > 0 and columns.shape[0] > 0
    examples = np.full(terms.offsets[1] if some else 0, -1)
    for site in range(columns.shape[0] if some else 0):
        if columns[site, 0] != -1:
            examples[kind_of(terms.first, np.int64(columns[site, 0]))] = site
    return examples


@compiled
def goes_on(
    gained: Any, n_before: float, gain_before: float, least_gain: float, whole: bool, awake: Any
) -> tuple[bool, bool]:
    """Return whether another pass pays after one, and whether that is one over all sites, which are then woken."""
    if gained[0] > n_before and gained[3] - gain_before > least_gain:
        return True, False
    if not whole:
        for site in range(awake.size):
            awake[site] = True
    return not whole, True


@compiled
def climb(
    sites: Any,
    labels: Any,
    clusters: Any,
    score: Any,
    values: Any,
    order: Any,
    within: Any,
    fixed: bool,
    max_passes: int,
    least_gain: float,
) -> tuple[int, float, float]:
    """Move sites to the best cluster of a neighbour, or to a new one, while the objective rises.

    A pass visits the sites that moved neighbours woke. When one brings at most ``least_gain``, all sites are visited
    once more, since fairness ties clusters together that share no edge; if that brings no more either, it was the last.

    Parameters
    ----------
    sites, score, values
        See `equigraph.search.kernels.state`: the nodes, the score of the notion and the other `Terms`.
    labels, clusters
        What `start` makes of labels; both are changed in place.
    order : ndarray of int
        Sites to visit.
    within : ndarray of shape (n_sites,) or (0,)
        A site only sees neighbours with the same entry.
    fixed : bool
        Whether clusters are neither emptied nor added.
    max_passes : int
        Most passes.
    least_gain : float
        See above; 0 goes on until nothing moves.

    Returns
    -------
    n_moves : int
        Moves.
    gain_q, gain_n : float
        What Q and the notion (up to the cap) rose by.
    """
    examples = examples_of(sites.columns, clusters.volume.size, fixed, score, values)
    awake, gained = np.ones(labels.size, dtype=np.bool_), np.zeros(4)
    whole = True
    for _ in range(max_passes):
        n_before, gain_before = gained[0], gained[3]
        wanted = wanted_clusters(sites, clusters, score, values, examples)
        climb_rows(
            sites, labels, clusters, score, values, np.int64(0), order, within, fixed, awake, wanted, gained
        )
        more, whole = goes_on(gained, n_before, gain_before, least_gain, whole, awake)
        if not more:
            break
    return int(gained[0]), gained[1], gained[2]


@compiled
def absorb(
    sites: Any, labels: Any, clusters: Any, score: Any, values: Any, order: Any, n_wanted: int
) -> None:
    """Merge single super-nodes, in ``order``, into the best cluster next to each, until ``n_wanted`` stay.

    A super-node that another one has joined stays, so one call may not reach ``n_wanted``. Those without a
    neighbour are merged with each other.
    """
    terms = scored(score, values)
    look = look_at(sites, clusters, terms)
    indptr, indices, data, strength, _, _, _, _, _, _ = sites
    _, _, _, _, _, _, _, total, resolution, f, _, _, _ = terms
    volume, members, _, _, _, tally, _, _, _, _, _, _ = clusters
    inverse = 1.0 / total if total > 0 else 0.0
    links, joins = np.zeros(volume.size), np.zeros(volume.size)
    touched = np.empty(volume.size + 1, dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int32)
    orphans = np.int64(-1)
    for site in order:
        if tally[N_CLUSTERS] <= n_wanted:
            return
        if members[labels[site]] != 1:
            continue
        count = gather(indptr, indices, data, labels, nothing, 0, site, links, touched)
        target, most = np.int64(-1), -np.inf
        if count == 0:
            target = orphans
            if orphans < 0:
                orphans = np.int64(labels[site])
        if f > 0:
            join_changes(look, site, touched[:count], joins)
        for place in range(count):
            c = touched[place]
            gain = 2.0 * inverse * (links[c] - resolution * strength[site] * (inverse * volume[c]))
            gain *= 1.0 - f
            if f > 0:
                gain += f * joins[c]
            if gain > most:
                target, most = c, gain
            links[c] = 0.0
        if target >= 0:
            move(sites, labels, clusters, terms, site, target)
