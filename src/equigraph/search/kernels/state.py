"""The state that all loops share: the nodes, the objective, and the clusters with what each adds to the notion.

Every type of an argument is compiled anew, a literal -1 or an int32 as well: callers hand over ``np.int64`` throughout.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.compilation import compiled
from equigraph.search.kernels.held import add_number, make_held

# Changes are differences of numbers of the order of one over the number of edges; below this is rounding.
TOLERANCE = 1e-12


class Terms(NamedTuple):
    """The objective, as plain values but for the score; see `equigraph.search.objective.Objective`.

    The columns of a table of counts are the groups of all attributes side by side, those of attribute ``a`` from
    ``offsets[a]`` to ``offsets[a + 1]``; ``first`` has those of folded groups, as `equigraph.search.folding` says. A
    cluster adds ``weights[a]`` times its score to the notion, and times its nodes that have a group if ``sized``.
    """

    population: NDArray[np.int64]
    first: NDArray[np.int64]
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
    first: Any
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

    Of nodes ``columns`` holds the group by each attribute (-1: none, -2 - g: folded group g) and ``counts`` has no row;
    of super-nodes ``counts`` holds the nodes of each group inside and ``columns`` has no row, and their folded groups
    are ``groups[starts[i] : starts[i + 1]]`` with as many members as ``numbers`` says.
    """

    indptr: NDArray
    indices: NDArray
    data: NDArray[np.float64]
    strength: NDArray[np.float64]
    sizes: NDArray[np.int64]
    columns: NDArray[np.int32]
    counts: NDArray[np.int64]
    starts: NDArray[np.int64]
    groups: NDArray[np.int64]
    numbers: NDArray[np.int64]


class Clusters(NamedTuple):
    """The clusters, updated in place by every move.

    ``members`` counts sites, ``size`` nodes; ``parts[c, a]`` is what cluster c adds to the notion by attribute a, and
    ``tally`` holds the sum of these, the number of clusters with a site and the number of free labels, which are listed
    in ``free``. ``cached`` keeps what one node more, one less or, with few groups, another one does to a cluster, each
    at its `cache_place`; an entry counts while its stamp is the version of the cluster. ``keys`` and ``held`` say how
    many members of folded groups clusters have. Groups are not counted where the dial rests at 0.
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
    keys: NDArray[np.int64]
    held: NDArray[np.int64]


# Positions in ``tally``.
SUM, N_CLUSTERS, N_FREE = 0, 1, 2
# Entries of the cache for one cluster where every pair of groups has one. With more groups only one node more and one
# less are kept, as long as all clusters together have at most so many entries.
_MOST_PAIRS = 512
_MOST_CACHED = 2**22


# Entry by entry, here and below: assignments of whole arrays take seconds to compile.
@compiled
def copy_labels(labels: Any, out: Any) -> None:
    """Write labels into another array."""
    for site in range(labels.size):
        out[site] = labels[site]


@compiled(inline="always")
def scored(score: Any, terms: Any) -> Any:
    """Return the terms with the score of the notion."""
    population, first, offsets, weights, sized, n_nodes, total, resolution, fairness, cap, least, most = terms
    return Scored(
        score, population, first, offsets, weights, sized, n_nodes, total, resolution, fairness, cap, least, most
    )  # fmt: skip


@compiled
def _members(row: Any, population: Any, low: int, high: int) -> int:
    """Return the members of a cluster by an attribute some of whose groups, which come last, are folded."""
    size = 0
    for s in range(low, high):
        size += row[s] if population[s] >= 0 else row[s] * (-population[s] >> 32)
    return size


@compiled
def part_of(score: Any, population: Any, offsets: Any, weights: Any, sized: bool, row: Any, a: int) -> float:
    """Return what a cluster with these counts adds to the notion by one attribute."""
    low, high = offsets[a], offsets[a + 1]
    size = 0
    if population[high - 1] < 0:
        size = _members(row, population, low, high)
    else:
        for s in range(low, high):
            size += row[s]
    if size == 0:
        return 0.0
    value = weights[a] * score(row[low:high], population[low:high])
    return value * size if sized else value


@compiled(inline="always")
def part(terms: Any, row: Any, a: int) -> float:
    """Return what a cluster with these counts, of all attributes, adds to the notion by one of them."""
    return part_of(terms.score, terms.population, terms.offsets, terms.weights, terms.sized, row, a)


# What follows is called for folded groups alone: a call that hands over so many arrays costs more than a few counts.
@compiled
def count_folded(first: Any, table: Any, keys: Any, held: Any, c: int, g: int, by: int) -> None:
    """Count so many members more of a folded group in a cluster."""
    column = first[g] + add_number(keys, held, c * first.size + g, by)
    table[c, column] -= 1
    table[c, column + by] += 1


@compiled
def count_inside(
    starts: Any,
    groups: Any,
    numbers: Any,
    first: Any,
    table: Any,
    keys: Any,
    held: Any,
    site: int,
    c: int,
    sign: int,
) -> None:
    """Count the folded groups of a super-node in a cluster, or no more with sign -1."""
    for e in range(starts[site], starts[site + 1]):
        count_folded(first, table, keys, held, c, groups[e], sign * numbers[e])


@compiled
def _cache_size(offsets: Any, n_slots: int) -> int:
    """Return how many changes are kept for each cluster."""
    pairs, singles = 0, 0
    for a in range(offsets.size - 1):
        width = offsets[a + 1] - offsets[a] + 1
        pairs += width * width
        singles += 2 * width - 1
    if pairs <= _MOST_PAIRS:
        return pairs
    return singles if n_slots * singles <= _MOST_CACHED else 0


@compiled
def caches_pairs(offsets: Any, cached: Any) -> bool:
    """Return whether changes by one node in place of another are kept too, not only those by one more or less."""
    pairs = 0
    for a in range(offsets.size - 1):
        pairs += (offsets[a + 1] - offsets[a] + 1) ** 2
    return cached.shape[1] == pairs


@compiled(inline="always")
def cache_place(width: int, pairs: bool, leaving: int, joining: int) -> int:
    """Return where the change by one node in place of another is kept, counted from 1 by group and 0 for none.

    -1 where it is not kept.
    """
    if pairs:
        return leaving * width + joining
    if leaving == 0:
        return joining
    return width - 1 + leaving if joining == 0 else -1


@compiled
def start(sites: Any, labels: Any, n_slots: int, score: Any, values: Any) -> Any:
    """Return the clusters of labels in ``range(n_slots)``; slots without a site are free."""
    terms = scored(score, values)
    n_columns, n_attributes = terms.population.size, terms.offsets.size - 1
    volume = np.zeros(n_slots)
    members = np.zeros(n_slots, dtype=np.int64)
    size = np.zeros(n_slots, dtype=np.int64)
    table = np.zeros((n_slots, n_columns), dtype=np.int64)
    _, _, _, strength, sizes, columns, counts, starts, groups, numbers = sites
    offsets, first = terms.offsets, terms.first
    plain, fair = columns.shape[0] > 0, terms.fairness > 0
    folded = fair and first.size > 0
    n_held = groups.size if folded else 0
    for site in range(columns.shape[0] if folded else 0):
        for a in range(n_attributes):
            n_held += columns[site, a] < -1
    keys, held = make_held(n_held)
    for g in range(first.size if folded else 0):
        table[0, first[g]] += 1
    for empty in range(1, n_slots if folded else 0):
        for s in range(n_columns):
            table[empty, s] = table[0, s]
    for site in range(labels.size):
        cluster: Any = np.int64(labels[site])
        members[cluster] += 1
        size[cluster] += sizes[site]
        volume[cluster] += strength[site]
        if not fair:
            continue
        if plain:
            for a in range(n_attributes):
                code = columns[site, a]
                if code >= 0:
                    table[cluster, offsets[a] + code] += 1
                elif code < -1:
                    count_folded(first, table, keys, held, cluster, np.int64(-2 - code), np.int64(1))
        else:
            for s in range(n_columns):
                table[cluster, s] += counts[site, s]
            if first.size > 0:
                count_inside(starts, groups, numbers, first, table, keys, held, site, cluster, np.int64(1))
    parts = np.zeros((n_slots, n_attributes))
    free = np.empty(n_slots, dtype=np.int64)
    tally = np.zeros(3)
    for cluster in range(n_slots - 1, -1, -1):
        if members[cluster] == 0:
            free[int(tally[N_FREE])] = cluster
            tally[N_FREE] += 1
            continue
        tally[N_CLUSTERS] += 1
        if fair:
            for a in range(n_attributes):
                parts[cluster, a] = part(terms, table[cluster], a)
    tally[SUM] = parts.sum()
    n_cached = _cache_size(offsets, n_slots) if plain and fair else 0
    cached = np.empty((n_slots, n_cached))
    stamps = np.zeros((n_slots, n_cached), dtype=np.int64)
    version = np.ones(n_slots, dtype=np.int64)
    return Clusters(volume, members, size, table, parts, tally, free, cached, stamps, version, keys, held)


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
def rescore(clusters: Any, terms: Any, c: int) -> None:
    """Bring up to date what a cluster adds to the notion."""
    clusters.version[c] += 1
    if terms.fairness > 0:
        for a in range(terms.offsets.size - 1):
            value = part(terms, clusters.table[c], a)
            clusters.tally[SUM] += value - clusters.parts[c, a]
            clusters.parts[c, a] = value


@compiled
def _transfer(sites: Any, clusters: Any, terms: Any, site: int, c: int, sign: int) -> None:
    """Add a site to a cluster, or take it out with sign -1; what the cluster adds to the notion is not updated."""
    clusters.members[c] += sign
    clusters.size[c] += sign * sites.sizes[site]
    clusters.volume[c] += sign * sites.strength[site]
    if terms.fairness == 0:
        return
    table, first = clusters.table, terms.first
    if sites.columns.shape[0] > 0:
        for a in range(terms.offsets.size - 1):
            code = sites.columns[site, a]
            if code >= 0:
                table[c, terms.offsets[a] + code] += sign
            elif code < -1:
                count_folded(first, table, clusters.keys, clusters.held, c, np.int64(-2 - code), sign)
    else:
        for s in range(table.shape[1]):
            table[c, s] += sign * sites.counts[site, s]
        if first.size > 0:
            count_inside(
                sites.starts, sites.groups, sites.numbers, first, table, clusters.keys, clusters.held, site, c, sign
            )  # fmt: skip


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
