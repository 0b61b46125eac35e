"""What a move would do to the notion: looks at clusters that leave them as they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from equigraph.compilation import compiled
from equigraph.search.kernels.held import number_of
from equigraph.search.kernels.state import count_inside, part_of


class Look(NamedTuple):
    """Of sites, terms and clusters what a look at a move needs: a call pays for every array that it hands over."""

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


@compiled(inline="always")
def look_at(sites: Any, clusters: Any, terms: Any) -> Any:
    """Return what looks at moves of these sites between these clusters need."""
    _, _, _, _, _, columns, counts, starts, groups, numbers = sites
    score, population, first, offsets, weights, sized, _, _, _, _, _, _, _ = terms
    _, _, _, table, parts, _, _, cached, stamps, version, keys, held = clusters
    return Look(
        score, population, first, offsets, weights, sized, columns, counts, starts, groups, numbers, table, parts,
        cached, stamps, version, keys, held,
    )  # fmt: skip


@compiled
def _folded_column(first: Any, keys: Any, held: Any, c: int, code: int) -> int:
    """Return the column in which a cluster counts a folded group."""
    return first[-2 - code] + number_of(keys, held, c * first.size - 2 - code)


@compiled
def _try_inside(
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
    """Count the folded groups of a super-node in the row of a cluster alone; sign -1 undoes it."""
    for e in range(starts[site], starts[site + 1]):
        column = first[groups[e]] + number_of(keys, held, c * first.size + groups[e])
        table[c, column] -= sign
        table[c, column + numbers[e]] += sign


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
    folded = first.size > 0
    if folded and out >= 0:
        count_inside(starts, groups, numbers, first, table, keys, held, out, c, np.int64(-1))
    if folded and into >= 0:
        _try_inside(starts, groups, numbers, first, table, keys, held, into, c, np.int64(1))
    change = 0.0
    for a in range(offsets.size - 1):
        change += part_of(score, population, offsets, weights, sized, row, a) - parts[c, a]
    if folded and into >= 0:
        _try_inside(starts, groups, numbers, first, table, keys, held, into, c, np.int64(-1))
    if folded and out >= 0:
        count_inside(starts, groups, numbers, first, table, keys, held, out, c, np.int64(1))
    for s in range(row.size):
        if out >= 0:
            row[s] += counts[out, s]
        if into >= 0:
            row[s] -= counts[into, s]
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
            entry = place + (leaving - low + 1) * width + joining - low + 1
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
    return change


@compiled
def join_changes(look: Any, site: int, listed: Any, changes: Any) -> None:
    """Write what the listed clusters would add more to the notion with a site, each at its own place.

    One call for all of them, since handing over so many arrays, or reading one out of a tuple, costs more than the
    look-up that nearly all changes are.
    """
    (score, population, first, offsets, weights, sized, columns, counts, starts, groups, numbers, table, parts, cached,
     stamps, version, keys, held) = look  # fmt: skip
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
                keys, held, c, np.int64(-1), site,
            )  # fmt: skip
        return
    joining = counts[site]
    for c in listed:
        row = table[c]
        for s in range(joining.size):
            row[s] += joining[s]
        if first.size > 0:
            _try_inside(starts, groups, numbers, first, table, keys, held, site, c, np.int64(1))
        change = 0.0
        for a in range(offsets.size - 1):
            change += part_of(score, population, offsets, weights, sized, row, a) - parts[c, a]
        if first.size > 0:
            _try_inside(starts, groups, numbers, first, table, keys, held, site, c, np.int64(-1))
        for s in range(joining.size):
            row[s] -= joining[s]
        changes[c] = change


@compiled
def exchange_change(look: Any, a: int, b: int, i: int, j: int) -> float:
    """Return the change of what clusters a and b add to the notion when i goes from a to b and j back; -1: none.

    With ``b`` = -1 only that of a.
    """
    (score, population, first, offsets, weights, sized, columns, counts, starts, groups, numbers, table, parts, cached,
     stamps, version, keys, held) = look  # fmt: skip
    change = 0.0
    for back in range(2):
        c, out, into = (b, j, i) if back else (a, i, j)
        if c >= 0 and columns.shape[0] > 0:
            change += _exchange(
                score, population, first, offsets, weights, sized, columns, table, parts, cached, stamps, version,
                keys, held, c, out, into,
            )  # fmt: skip
        elif c >= 0:
            change += _by_counts(
                score, population, first, offsets, weights, sized, counts, starts, groups, numbers, table, parts, keys,
                held, c, out, into,
            )  # fmt: skip
    return change
