"""What a move would do to the notion: looks at clusters that leave them as they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.search.kernels.held import number_of
from equigraph.search.kernels.state import cache_place, caches_pairs, part_of


class Look(NamedTuple):
    """Of sites, terms and clusters what a look at a move needs: a call pays for every array that it hands over.

    ``pairs`` says what is cached, and ``scratch`` is the row that a look writes.
    """

    score: Any
    population: Any
    first: Any
    offsets: Any
    weights: Any
    sized: Any
    columns: Any
    counts: Any
    starts: Any
    groups: Any
    numbers: Any
    table: Any
    parts: Any
    cached: Any
    stamps: Any
    version: Any
    keys: Any
    held: Any
    pairs: Any
    scratch: Any


@compiled(inline="always")
def look_at(sites: Any, clusters: Any, terms: Any) -> Any:
    """Return what looks at moves of these sites between these clusters need."""
    _, _, _, _, _, columns, counts, starts, groups, numbers = sites
    score, population, first, offsets, weights, sized, _, _, _, _, _, _, _ = terms
    _, _, _, table, parts, _, _, cached, stamps, version, keys, held = clusters
    return Look(
        score, population, first, offsets, weights, sized, columns, counts, starts, groups, numbers, table, parts,
        cached, stamps, version, keys, held, caches_pairs(offsets, cached),
        np.empty_like(population),
    )  # fmt: skip


@compiled
def _folded_column(first: Any, keys: Any, held: Any, c: int, code: int) -> int:
    """Return the column in which a cluster counts a folded group."""
    return first[-2 - code] + number_of(keys, held, c * first.size - 2 - code)


@compiled
def _try_inside(
    first: Any,
    starts: Any,
    groups: Any,
    numbers: Any,
    keys: Any,
    held: Any,
    row: Any,
    c: int,
    out: int,
    into: int,
) -> None:
    """Count in a copy of a cluster's row the folded groups of a super-node no more, and those of another; -1: none.

    The two are walked in step: a group that both have changes by the difference.
    """
    e, e_end = (starts[out], starts[out + 1]) if out >= 0 else (np.int64(0), np.int64(0))
    f, f_end = (starts[into], starts[into + 1]) if into >= 0 else (np.int64(0), np.int64(0))
    while e < e_end or f < f_end:
        leaves = f == f_end or (e < e_end and groups[e] <= groups[f])
        joins = e == e_end or (f < f_end and groups[f] <= groups[e])
        g, by = np.int64(0), np.int64(0)
        if leaves:
            g, by = groups[e], -numbers[e]
            e += 1
        if joins:
            g, by = groups[f], by + numbers[f]
            f += 1
        column = first[g] + number_of(keys, held, c * first.size + g)
        row[column] -= 1
        row[column + by] += 1


@compiled
def _by_counts(
    score: Any,
    population: Any,
    first: Any,
    offsets: Any,
    weights: Any,
    sized: bool,
    counts: Any,
    starts: Any,
    groups: Any,
    numbers: Any,
    table: Any,
    parts: Any,
    keys: Any,
    held: Any,
    scratch: Any,
    c: int,
    out: int,
    into: int,
) -> float:
    """Return the change of what a cluster adds when a super-node leaves and another joins; -1: none."""
    row = table[c]
    for s in range(scratch.size):
        scratch[s] = row[s]
        if out >= 0:
            scratch[s] -= counts[out, s]
        if into >= 0:
            scratch[s] += counts[into, s]
    if first.size > 0:
        _try_inside(first, starts, groups, numbers, keys, held, scratch, c, out, into)
    change = 0.0
    for a in range(offsets.size - 1):
        change += part_of(score, population, offsets, weights, sized, scratch, a) - parts[c, a]
    return change


@compiled
def _try_column(population: Any, row: Any, column: int, by: int, sign: int) -> None:
    """Count one node more (``by`` = 1) or less in a column of a row, to look what comes of it; sign -1 undoes it."""
    if population[column] < 0:
        row[column] -= sign
        row[column + by] += sign
    else:
        row[column] += by * sign


@compiled
def _try_exchange(population: Any, row: Any, low: int, leaving: int, joining: int, sign: int) -> None:
    if leaving >= low:
        _try_column(population, row, leaving, np.int64(-1), sign)
    if joining >= low:
        _try_column(population, row, joining, np.int64(1), sign)


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
    """Return the change of what a cluster adds by an attribute when one node leaves and one joins.

    Both by the column that counts their group there; the one before the attribute's for none.
    """
    row, low = table[c], offsets[a]
    if population[offsets[a + 1] - 1] < 0:
        _try_exchange(population, row, low, leaving, joining, np.int64(1))
        change = part_of(score, population, offsets, weights, sized, row, a) - parts[c, a]
        _try_exchange(population, row, low, leaving, joining, np.int64(-1))
        return change
    if leaving >= low:
        row[leaving] -= 1
    if joining >= low:
        row[joining] += 1
    change = part_of(score, population, offsets, weights, sized, row, a) - parts[c, a]
    if leaving >= low:
        row[leaving] += 1
    if joining >= low:
        row[joining] -= 1
    return change


@compiled
def group_change(clusters: Any, terms: Any, c: int, a: int, leaving: int, joining: int) -> float:
    """Return the change of what a cluster adds by an attribute when one node leaves and one joins; -1: no group."""
    low = terms.offsets[a]
    leaving = (
        low + leaving
        if leaving >= -1
        else _folded_column(terms.first, clusters.keys, clusters.held, c, leaving)
    )
    joining = (
        low + joining
        if joining >= -1
        else _folded_column(terms.first, clusters.keys, clusters.held, c, joining)
    )
    return _by_group(
        terms.score, terms.population, terms.offsets, terms.weights, terms.sized, clusters.table, clusters.parts,
        c, a, leaving, joining,
    )  # fmt: skip


@compiled
def _exchange(
    score: Any,
    population: Any,
    first: Any,
    offsets: Any,
    weights: Any,
    sized: bool,
    columns: Any,
    table: Any,
    parts: Any,
    cached: Any,
    stamps: Any,
    version: Any,
    keys: Any,
    held: Any,
    pairs: bool,
    c: int,
    out: int,
    into: int,
) -> float:
    """Return the change of what cluster c adds to the notion when a node leaves and another joins; -1: none."""
    change, place = 0.0, 0
    for a in range(offsets.size - 1):
        low = offsets[a]
        width = offsets[a + 1] - low + 1
        leaving = np.int64(columns[out, a]) if out >= 0 else np.int64(-1)
        joining = np.int64(columns[into, a]) if into >= 0 else np.int64(-1)
        if leaving != joining:
            leaving = low + leaving if leaving >= -1 else _folded_column(first, keys, held, c, leaving)
            joining = low + joining if joining >= -1 else _folded_column(first, keys, held, c, joining)
            entry = cache_place(width, pairs, leaving - low + 1, joining - low + 1)
            known = cached.shape[1] > 0 and entry >= 0
            entry += place
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
        place += width * width if pairs else 2 * width - 1
    return change


@compiled
def join_changes(look: Any, site: int, listed: Any, changes: Any) -> None:
    """Write what the listed clusters would add more to the notion with a site, each at its own place.

    One call for all of them, since handing over so many arrays, or reading one out of a tuple, costs more than the
    look-up that nearly all changes are.
    """
    (score, population, first, offsets, weights, sized, columns, counts, starts, groups, numbers, table, parts, cached,
     stamps, version, keys, held, pairs, scratch) = look  # fmt: skip
    if offsets.size == 2 and cached.shape[1] > 0:
        none, code = np.int64(-1), np.int64(columns[site, 0])
        for c in listed:
            column = code if code >= -1 else _folded_column(first, keys, held, c, code)
            if stamps[c, column + 1] != version[c]:
                stamps[c, column + 1] = version[c]
                cached[c, column + 1] = _by_group(
                    score, population, offsets, weights, sized, table, parts, c, np.int64(0), none, column
                )
            changes[c] = cached[c, column + 1]
        return
    if columns.shape[0] > 0:
        for c in listed:
            changes[c] = _exchange(
                score, population, first, offsets, weights, sized, columns, table, parts, cached, stamps, version,
                keys, held, pairs, c, np.int64(-1), site,
            )  # fmt: skip
        return
    joining = counts[site]
    for c in listed:
        row = table[c]
        for s in range(joining.size):
            scratch[s] = row[s] + joining[s]
        if first.size > 0:
            _try_inside(first, starts, groups, numbers, keys, held, scratch, c, np.int64(-1), site)
        change = 0.0
        for a in range(offsets.size - 1):
            change += part_of(score, population, offsets, weights, sized, scratch, a) - parts[c, a]
        changes[c] = change


@compiled
def exchange_change(look: Any, a: int, b: int, i: int, j: int) -> float:
    """Return the change of what clusters a and b add to the notion when i goes from a to b and j back; -1: none.

    With ``b`` = -1 only that of a.
    """
    (score, population, first, offsets, weights, sized, columns, counts, starts, groups, numbers, table, parts, cached,
     stamps, version, keys, held, pairs, scratch) = look  # fmt: skip
    change = 0.0
    for back in range(2):
        c, out, into = (b, j, i) if back else (a, i, j)
        if c >= 0 and columns.shape[0] > 0:
            change += _exchange(
                score, population, first, offsets, weights, sized, columns, table, parts, cached, stamps, version,
                keys, held, pairs, c, out, into,
            )  # fmt: skip
        elif c >= 0:
            change += _by_counts(
                score, population, first, offsets, weights, sized, counts, starts, groups, numbers, table, parts, keys,
                held, scratch, c, out, into,
            )  # fmt: skip
    return change
