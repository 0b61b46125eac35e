"""Moves of single sites while the objective rises."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph.compilation import compiled
from equigraph.search.kernels.state import (
    N_CLUSTERS,
    N_FREE,
    SUM,
    TOLERANCE,
    exchange_change,
    join_changes,
    move,
    notion_gain,
    scored,
)

# With a fixed number of clusters a site looks at all of them if they are at most this many, and where fairness or
# bounds count. With more it looks at those of its neighbours, and at the few that its group is most wanted in.
MOST_DENSE = 128
_WANTED = 8


@compiled
def wanted_clusters(sites: Any, clusters: Any, terms: Any, examples: Any) -> Any:
    """Return for each example site the clusters where one more of its kind brings the notion most."""
    n_slots = clusters.members.size
    wanted = np.empty((examples.size, min(_WANTED, n_slots)), dtype=np.int64)
    everyone, gains = np.arange(n_slots), np.empty(n_slots)
    for e in range(examples.size):
        join_changes(sites, clusters, terms, examples[e], everyone, gains)
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
    indptr: Any, indices: Any, data: Any, labels: Any, within: Any, site: int, links: Any, touched: Any
) -> int:
    """List the clusters next to a site with the weight to each, and return how many there are."""
    count = 0
    for entry in range(indptr[site], indptr[site + 1]):
        other = indices[entry]
        if within.size > 0 and within[other] != within[site]:
            continue
        cluster, weight = labels[other], data[entry]
        if links[cluster] == 0.0 and weight > 0.0:
            touched[count] = cluster
            count += 1
        links[cluster] += weight
    return count


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
        Sites to visit; index order reads a large graph in one stream.
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
    terms = scored(score, values)
    indptr, indices, data, strength, sizes, columns, _ = sites
    _, _, offsets, _, sized, n_nodes, total, resolution, f, cap, least, most = terms
    volume, members, size, _, _, tally, free, cached, stamps, version = clusters
    quick, width = cached.shape[1] > 0 and offsets.size == 2, offsets[1] + 1
    joining, out = np.int64(0), np.int64(0)
    n, n_slots = labels.size, volume.size
    inverse = 1.0 / total if total > 0 else 0.0
    bounded = least > 1 or most < n_nodes
    dense = fixed and n_slots <= MOST_DENSE and (f > 0 or bounded)
    # The groups of the first attribute stand for all: what is wanted is only where to look.
    kinds = fixed and not dense and f > 0 and columns.shape[0] > 0
    n_kinds = offsets[1] if kinds else 0
    examples = np.full(n_kinds, -1)
    for site in range(n if kinds else 0):
        if columns[site, 0] >= 0:
            examples[columns[site, 0]] = site
    awake = np.ones(n, dtype=np.bool_)
    links, joins, everyone = np.zeros(n_slots), np.zeros(n_slots), np.arange(n_slots)
    # A free label, or the wanted ones, may be listed behind all clusters.
    touched = np.empty(n_slots + 1 + _WANTED, dtype=np.int64)
    n_moves, gain_q, gain_n, gain = 0, 0.0, 0.0, 0.0
    whole = True
    for _ in range(max_passes):
        moves_before, gain_before = n_moves, gain
        wanted = (
            wanted_clusters(sites, clusters, terms, examples) if kinds else np.empty((0, 0), dtype=np.int64)
        )
        for position in range(order.size):
            site = order[position]
            if not awake[site]:
                continue
            awake[site] = False
            a = labels[site]
            if fixed and (members[a] == 1 or size[a] - sizes[site] < least):
                continue
            count = gather(indptr, indices, data, labels, within, site, links, touched)
            listed = count
            if not fixed:
                if tally[N_FREE] > 0 and members[a] > 1:
                    touched[listed] = free[int(tally[N_FREE]) - 1]
                    listed += 1
            elif kinds and columns[site, 0] >= 0:
                for w in range(wanted.shape[1]):
                    touched[listed] = wanted[columns[site, 0], w]
                    listed += 1
            per_volume = 2.0 * resolution * (inverse * strength[site]) * inverse
            home = volume[a] - strength[site]
            stay = 2.0 * inverse * links[a]
            alone = 1.0 if members[a] == 1 else 0.0
            leaving = 0.0
            if f > 0:
                # Look before calling: a call that hands over all arrays costs more than the whole visit otherwise.
                stale = not quick
                if quick:
                    joining = np.int64(columns[site, 0]) + 1
                    out = joining * width
                    stale = stamps[a, out] != version[a]
                    for place in range(n_slots if dense else listed):
                        c = place if dense else touched[place]
                        stale = stale or stamps[c, joining] != version[c]
                if stale:
                    leaving = exchange_change(
                        sites, clusters, terms, np.int64(a), np.int64(-1), site, np.int64(-1)
                    )
                    join_changes(sites, clusters, terms, site, everyone if dense else touched[:listed], joins)
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
            move(sites, labels, clusters, terms, site, b)
            n_moves += 1
            gain_q += dq
            gain_n += dn
            gain += (1.0 - f) * dq + f * dn
            for entry in range(indptr[site], indptr[site + 1]):
                other = indices[entry]
                if labels[other] != b:
                    awake[other] = True
        if n_moves > moves_before and gain - gain_before > least_gain:
            whole = False
        elif whole:
            break
        else:
            for site in range(n):
                awake[site] = True
            whole = True
    return n_moves, gain_q, gain_n


@compiled
def absorb(
    sites: Any, labels: Any, clusters: Any, score: Any, values: Any, order: Any, n_wanted: int
) -> None:
    """Merge single super-nodes, in ``order``, into the best cluster next to each, until ``n_wanted`` stay.

    A super-node that another one has joined stays, so one call may not reach ``n_wanted``. Those without a
    neighbour are merged with each other.
    """
    terms = scored(score, values)
    indptr, indices, data, strength, _, _, _ = sites
    _, _, _, _, _, _, total, resolution, f, _, _, _ = terms
    volume, members, _, _, _, tally, _, _, _, _ = clusters
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
        count = gather(indptr, indices, data, labels, nothing, site, links, touched)
        target, most = np.int64(-1), -np.inf
        if count == 0:
            target = orphans
            if orphans < 0:
                orphans = np.int64(labels[site])
        if f > 0:
            join_changes(sites, clusters, terms, site, touched[:count], joins)
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
