"""The state that all loops share: the nodes, the objective, and the clusters with what each adds to the notion.

Every type of an argument is compiled anew, a literal -1 or an int32 as well: callers hand over ``np.int64`` throughout.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.compilation import compiled

# Changes are differences of numbers of the order of one over the number of edges; below this is rounding.
TOLERANCE = 1e-12


class Terms(NamedTuple):
    """The objective, as plain values but for the score; see `equigraph.search.objective.Objective`.

    The columns of a table of counts are the groups of all attributes side by side, those of attribute ``a`` from
    ``offsets[a]`` to ``offsets[a + 1]``. A cluster adds ``weights[a]`` times its score to the notion, and times its
    nodes that have a group if ``sized``.
    """

    population: NDArray[np.int64]
    offsets: NDArray[np.int64]
    weights: NDArray[np.float64]
    sized: bool
    n_nodes: int
    total: float
    resolution: float
    fairness: float
    cap: float
    least: int
    most: int


class Scored(NamedTuple):
    """`Terms` with the score of the notion.

    A function in a tuple makes numba look at every part of it in Python at each call, which costs more than a search on
    a small graph; so both come apart, and are put together in compiled code.
    """

    score: Any
    population: Any
    offsets: Any
    weights: Any
    sized: Any
    n_nodes: Any
    total: Any
    resolution: Any
    fairness: Any
    cap: Any
    least: Any
    most: Any


class Sites(NamedTuple):
    """The nodes, or the super-nodes of a level.

    Of nodes ``columns`` holds the group by each attribute (-1: none) and ``counts`` has no row; of super-nodes
    ``counts`` holds the nodes of each group inside and ``columns`` has no row.
    """

    indptr: NDArray
    indices: NDArray
    data: NDArray[np.float64]
    strength: NDArray[np.float64]
    sizes: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.int64]


class Clusters(NamedTuple):
    """The clusters, updated in place by every move.

    ``members`` counts sites, ``size`` nodes; ``parts[c, a]`` is what cluster c adds to the notion by attribute a, and
    ``tally`` holds the sum of these, the number of clusters with a site and the number of free labels, which are listed
    in ``free``. ``cached`` keeps what one node more, one less or another one does to a cluster; an entry counts while
    its stamp is the version of the cluster.
    """

    volume: NDArray[np.float64]
    members: NDArray[np.int64]
    size: NDArray[np.int64]
    table: NDArray[np.int64]
    parts: NDArray[np.float64]
    tally: NDArray[np.float64]
    free: NDArray[np.int64]
    cached: NDArray[np.float64]
    stamps: NDArray[np.int64]
    version: NDArray[np.int64]


# Positions in ``tally``.
SUM, N_CLUSTERS, N_FREE = 0, 1, 2
# Entries of the cache for one cluster; with more groups changes are computed each time.
_MOST_CACHED = 512


# Entry by entry, here and below: assignments of whole arrays take seconds to compile.
@compiled
def copy_labels(labels: Any, out: Any) -> None:
    """Write labels into another array."""
    for site in range(labels.size):
        out[site] = labels[site]


@compiled(inline="always")
def scored(score: Any, terms: Any) -> Any:
    """Return the terms with the score of the notion."""
    population, offsets, weights, sized, n_nodes, total, resolution, fairness, cap, least, most = terms
    return Scored(
        score, population, offsets, weights, sized, n_nodes, total, resolution, fairness, cap, least, most
    )


@compiled
def _part(score: Any, population: Any, offsets: Any, weights: Any, sized: bool, row: Any, a: int) -> float:
    """Return what a cluster with these counts adds to the notion by one attribute."""
    low, high = offsets[a], offsets[a + 1]
    size = 0
    for s in range(low, high):
        size += row[s]
    if size == 0:
        return 0.0
    value = weights[a] * score(row[low:high], population[low:high])
    return value * size if sized else value


@compiled(inline="always")
def part(terms: Any, row: Any, a: int) -> float:
    """Return what a cluster with these counts, of all attributes, adds to the notion by one of them."""
    return _part(terms.score, terms.population, terms.offsets, terms.weights, terms.sized, row, a)


@compiled
def start(sites: Any, labels: Any, n_slots: int, score: Any, values: Any) -> Any:
    """Return the clusters of labels in ``range(n_slots)``; slots without a site are free."""
    terms = scored(score, values)
    n_columns, n_attributes = terms.population.size, terms.offsets.size - 1
    volume = np.zeros(n_slots)
    members = np.zeros(n_slots, dtype=np.int64)
    size = np.zeros(n_slots, dtype=np.int64)
    table = np.zeros((n_slots, n_columns), dtype=np.int64)
    plain = sites.columns.shape[0] > 0
    for site in range(labels.size):
        cluster = labels[site]
        members[cluster] += 1
        size[cluster] += sites.sizes[site]
        volume[cluster] += sites.strength[site]
        if plain:
            for a in range(n_attributes):
                if sites.columns[site, a] >= 0:
                    table[cluster, terms.offsets[a] + sites.columns[site, a]] += 1
        else:
            for s in range(n_columns):
                table[cluster, s] += sites.counts[site, s]
    parts = np.zeros((n_slots, n_attributes))
    free = np.empty(n_slots, dtype=np.int64)
    tally = np.zeros(3)
    for cluster in range(n_slots - 1, -1, -1):
        if members[cluster] == 0:
            free[int(tally[N_FREE])] = cluster
            tally[N_FREE] += 1
            continue
        tally[N_CLUSTERS] += 1
        if terms.fairness > 0:
            for a in range(n_attributes):
                parts[cluster, a] = part(terms, table[cluster], a)
    tally[SUM] = parts.sum()
    n_cached = 0
    if plain and terms.fairness > 0:
        for a in range(n_attributes):
            n_cached += (terms.offsets[a + 1] - terms.offsets[a] + 1) ** 2
        if n_cached > _MOST_CACHED:
            n_cached = 0
    cached = np.empty((n_slots, n_cached))
    stamps = np.zeros((n_slots, n_cached), dtype=np.int64)
    version = np.ones(n_slots, dtype=np.int64)
    return Clusters(volume, members, size, table, parts, tally, free, cached, stamps, version)


@compiled
def _by_counts(
    score: Any,
    population: Any,
    offsets: Any,
    weights: Any,
    sized: bool,
    table: Any,
    parts: Any,
    counts: Any,
    c: int,
    out: int,
    into: int,
) -> float:
    """Return the change of what a cluster adds when a super-node leaves and another joins; -1: none."""
    row = table[c]
    for s in range(row.size):
        if out >= 0:
            row[s] -= counts[out, s]
        if into >= 0:
            row[s] += counts[into, s]
    change = 0.0
    for a in range(offsets.size - 1):
        change += _part(score, population, offsets, weights, sized, row, a) - parts[c, a]
    for s in range(row.size):
        if out >= 0:
            row[s] += counts[out, s]
        if into >= 0:
            row[s] -= counts[into, s]
    return change


@compiled
def _by_group(
    score: Any,
    population: Any,
    offsets: Any,
    weights: Any,
    sized: bool,
    table: Any,
    parts: Any,
    c: int,
    a: int,
    leaving: int,
    joining: int,
) -> float:
    """Return the change of what a cluster adds by an attribute when one node leaves and one joins; -1: none."""
    row = table[c]
    if leaving >= 0:
        row[offsets[a] + leaving] -= 1
    if joining >= 0:
        row[offsets[a] + joining] += 1
    change = _part(score, population, offsets, weights, sized, row, a) - parts[c, a]
    if leaving >= 0:
        row[offsets[a] + leaving] += 1
    if joining >= 0:
        row[offsets[a] + joining] -= 1
    return change


@compiled
def group_change(clusters: Any, terms: Any, c: int, a: int, leaving: int, joining: int) -> float:
    """Return the change of what a cluster adds by an attribute when one node leaves and one joins; -1: none."""
    return _by_group(
        terms.score, terms.population, terms.offsets, terms.weights, terms.sized, clusters.table, clusters.parts,
        c, a, leaving, joining,
    )  # fmt: skip


@compiled
def _exchange(
    columns: Any,
    counts: Any,
    offsets: Any,
    population: Any,
    weights: Any,
    score: Any,
    sized: bool,
    table: Any,
    parts: Any,
    cached: Any,
    stamps: Any,
    version: Any,
    c: int,
    out: int,
    into: int,
) -> float:
    """Return the change of what cluster c adds to the notion when a site leaves and another joins; -1: none."""
    change = 0.0
    if columns.shape[0] > 0:
        place = 0
        for a in range(offsets.size - 1):
            width = offsets[a + 1] - offsets[a] + 1
            leaving = np.int64(columns[out, a]) if out >= 0 else np.int64(-1)
            joining = np.int64(columns[into, a]) if into >= 0 else np.int64(-1)
            if leaving != joining:
                entry = place + (leaving + 1) * width + joining + 1
                known = cached.shape[1] > 0
                if known and stamps[c, entry] == version[c]:
                    change += cached[c, entry]
                else:
                    value = _by_group(
                        score, population, offsets, weights, sized, table, parts, c, a, leaving, joining
                    )
                    change += value
                    if known:
                        stamps[c, entry] = version[c]
                        cached[c, entry] = value
            place += width * width
    else:
        change += _by_counts(score, population, offsets, weights, sized, table, parts, counts, c, out, into)
    return change


@compiled
def join_changes(sites: Any, clusters: Any, terms: Any, site: int, listed: Any, changes: Any) -> None:
    """Write what the listed clusters would add more to the notion with a site, each at its own place.

    One call for all of them, since handing over so many arrays, or reading one out of a tuple, costs more than the
    look-up that nearly all changes are.
    """
    _, _, _, _, _, columns, counts = sites
    score, population, offsets, weights, sized, _, _, _, _, _, _, _ = terms
    _, _, _, table, parts, _, _, cached, stamps, version = clusters
    if offsets.size == 2 and cached.shape[1] > 0:
        entry = np.int64(columns[site, 0]) + 1
        for c in listed:
            if stamps[c, entry] != version[c]:
                stamps[c, entry] = version[c]
                cached[c, entry] = _by_group(
                    score,
                    population,
                    offsets,
                    weights,
                    sized,
                    table,
                    parts,
                    c,
                    np.int64(0),
                    np.int64(-1),
                    entry - 1,
                )
            changes[c] = cached[c, entry]
        return
    if columns.shape[0] > 0:
        for c in listed:
            changes[c] = _exchange(
                columns, counts, offsets, population, weights, score, sized, table, parts, cached, stamps, version,
                c, np.int64(-1), site,
            )  # fmt: skip
        return
    joining = counts[site]
    for c in listed:
        for s in range(joining.size):
            table[c, s] += joining[s]
        change = 0.0
        for a in range(offsets.size - 1):
            low, high = offsets[a], offsets[a + 1]
            size = 0
            for s in range(low, high):
                size += table[c, s]
            if size > 0:
                value = weights[a] * score(table[c, low:high], population[low:high])
                change += (value * size if sized else value) - parts[c, a]
        for s in range(joining.size):
            table[c, s] -= joining[s]
        changes[c] = change


@compiled
def exchange_change(sites: Any, clusters: Any, terms: Any, a: int, b: int, i: int, j: int) -> float:
    """Return the change of what clusters a and b add to the notion when i goes from a to b and j back; -1: none.

    With ``b`` = -1 only that of a.
    """
    _, _, _, _, _, columns, counts = sites
    score, population, offsets, weights, sized, _, _, _, _, _, _, _ = terms
    _, _, _, table, parts, _, _, cached, stamps, version = clusters
    change = 0.0
    for back in range(2):
        c, out, into = (b, j, i) if back else (a, i, j)
        if c >= 0:
            change += _exchange(
                columns, counts, offsets, population, weights, score, sized, table, parts, cached, stamps, version,
                c, out, into,
            )  # fmt: skip
    return change


@compiled(inline="always")
def notion_gain(
    before: float, n_before: float, sized: bool, cap: float, change: float, n_after: float
) -> float:
    """Return the gain of the notion, up to the cap, when the sum over the clusters and their number change."""
    after = before + change
    if not sized:
        before /= n_before
        after /= n_after
    return min(after, cap) - min(before, cap)


@compiled
def _transfer(sites: Any, clusters: Any, terms: Any, site: int, c: int, sign: int) -> None:
    """Add a site to a cluster, or take it out with sign -1; what the cluster adds to the notion is not updated."""
    clusters.members[c] += sign
    clusters.size[c] += sign * sites.sizes[site]
    clusters.volume[c] += sign * sites.strength[site]
    if sites.columns.shape[0] > 0:
        for a in range(terms.offsets.size - 1):
            if sites.columns[site, a] >= 0:
                clusters.table[c, terms.offsets[a] + sites.columns[site, a]] += sign
    else:
        for s in range(clusters.table.shape[1]):
            clusters.table[c, s] += sign * sites.counts[site, s]


@compiled
def rescore(clusters: Any, terms: Any, c: int) -> None:
    """Bring up to date what a cluster adds to the notion."""
    clusters.version[c] += 1
    if terms.fairness > 0:
        for a in range(terms.offsets.size - 1):
            value = part(terms, clusters.table[c], a)
            clusters.tally[SUM] += value - clusters.parts[c, a]
            clusters.parts[c, a] = value


@compiled
def move(sites: Any, labels: Any, clusters: Any, terms: Any, site: int, target: int) -> None:
    """Put a site into another cluster; a free ``target`` must be the last of the free labels."""
    source = np.int64(labels[site])
    if clusters.members[target] == 0:
        clusters.tally[N_FREE] -= 1
        clusters.tally[N_CLUSTERS] += 1
    labels[site] = target
    _transfer(sites, clusters, terms, site, source, np.int64(-1))
    _transfer(sites, clusters, terms, site, target, np.int64(1))
    rescore(clusters, terms, source)
    rescore(clusters, terms, target)
    if clusters.members[source] == 0:
        clusters.volume[source] = 0.0
        clusters.free[int(clusters.tally[N_FREE])] = source
        clusters.tally[N_FREE] += 1
        clusters.tally[N_CLUSTERS] -= 1


@compiled
def swap(sites: Any, labels: Any, clusters: Any, terms: Any, i: int, j: int) -> None:
    """Let two sites of different clusters change places."""
    a, b = np.int64(labels[i]), np.int64(labels[j])
    labels[i], labels[j] = b, a
    _transfer(sites, clusters, terms, i, a, np.int64(-1))
    _transfer(sites, clusters, terms, j, b, np.int64(-1))
    _transfer(sites, clusters, terms, i, b, np.int64(1))
    _transfer(sites, clusters, terms, j, a, np.int64(1))
    rescore(clusters, terms, a)
    rescore(clusters, terms, b)
