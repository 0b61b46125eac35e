"""Change of the clusters by a move: its evaluation and its application."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.metrics.notions import evenness, register_shared
from equigraph.search.arrays import BROKEN, N_CLUSTERS, SPARE, SUM

register_shared()
_evenness = compiled(inner=True)(evenness)

# Of one type throughout: a literal is a type of its own.
JOINS, LEAVES = np.int64(0), np.int64(1)


@compiled(inner=True)
def count(row: Any, codes: Any, counts: Any, sign: int) -> None:
    """Add sites to the counts of a cluster, nodes by codes and super-nodes by counts; sign -1 subtracts them."""
    for m in range(codes.shape[0]):
        for a in range(codes.shape[1]):
            if codes[m, a] >= 0:
                row[codes[m, a]] += sign
    for m in range(counts.shape[0]):
        for s in range(row.size):
            row[s] += sign * counts[m, s]
            # Never so, but loops that may end early are not compiled into vectors, which takes a second.
            if row[s] < 0:
                break


@compiled(inner=True)
def part_of(terms: Any, score: Any, row: Any, a: int) -> float:
    """Return the contribution of a cluster with these counts to the notion by one attribute."""
    low, high = terms.offsets[a], terms.offsets[a + 1]
    size = 0
    for s in range(low, high):
        size += row[s]
    if size == 0:
        return 0.0
    value = score(row[low:high], terms.population[low:high])
    if terms.even > 0.0:
        value += terms.even * (_evenness(row[low:high], terms.population[low:high]) - 1.0)
    value *= terms.weights[a]
    return value * size if terms.sized else value


@compiled
def contributions(terms: Any, score: Any, table: Any) -> Any:
    """Return the contribution of each row of a table of counts to the notion."""
    parts = np.zeros(table.shape[0])
    for c in range(parts.size):
        for a in range(terms.offsets.size - 1):
            parts[c] += part_of(terms, score, table[c], a)
    return parts


@compiled(inner=True)
def headroom(terms: Any, state: Any, c: int) -> float:
    """Return a bound on the gain of the notion by changes of one cluster of fixed size, as scores are at most 1."""
    most = 0.0
    for a in range(terms.offsets.size - 1 if terms.fairness > 0.0 else 0):
        most += terms.weights[a] * (state.size[c] if terms.sized else 1) - state.parts[c, a]
    return most if terms.sized else most / state.tally[N_CLUSTERS]


@compiled(inner=True)
def rescore(terms: Any, score: Any, state: Any, c: int) -> None:
    """Update the contribution of a cluster to the notion."""
    if terms.fairness == 0.0:
        return
    for a in range(terms.offsets.size - 1):
        value = part_of(terms, score, state.table[c], a)
        state.tally[SUM] += value - state.parts[c, a]
        state.parts[c, a] = value
    for s in range(state.table.shape[1] if state.cached.shape[0] > 0 else 0):
        state.cached[c, JOINS, s] = np.nan
        state.cached[c, LEAVES, s] = np.nan


@compiled(inner=True)
def excess(least: Any, most: Any, c: int, size: int, by: int) -> int:
    """Return the change of the violation of the size bounds of a cluster when its size changes."""
    before = max(least[c] - size, 0) + max(size - most[c], 0)
    size += by
    return max(least[c] - size, 0) + max(size - most[c], 0) - before


@compiled(allocates=False)
def fill(level: Any, terms: Any, score: Any, state: Any) -> None:
    """Compute all aggregates from the labels; all arrays are zero before."""
    fair = terms.fairness > 0.0
    tally = state.tally
    for site in range(level.strength.size):
        c = state.labels[site]
        state.volume[c] += level.strength[site]
        state.size[c] += level.sizes[site]
        if fair:
            codes, counts = level.columns[site : site + 1], level.counts[site : site + 1]
            count(state.table[c], codes, counts, np.int64(1))
    tally[SPARE] = -1
    for c in range(state.size.size):
        if state.size[c] == 0:
            tally[SPARE] = c
        else:
            tally[N_CLUSTERS] += 1
        rescore(terms, score, state, np.int64(c))
        if terms.least.size > 0:
            tally[BROKEN] += max(terms.least[c] - state.size[c], 0) + max(state.size[c] - terms.most[c], 0)


@compiled(inner=True)
def notion_gain(tally: Any, sized: bool, cap: float, change: float, n_after: float) -> float:
    """Return the gain of the notion, capped, when the sum over the clusters and their number change."""
    before, after = tally[SUM], tally[SUM] + change
    if not sized:
        before /= tally[N_CLUSTERS]
        after /= n_after
    return min(after, cap) - min(before, cap)


@compiled(inner=True)
def notion_change(
    terms: Any, score: Any, state: Any, c: int, out_codes: Any, out_counts: Any, codes: Any, counts: Any
) -> float:
    """Return the change of a cluster's contribution to the notion when some sites leave and others join."""
    row, change = state.table[c], 0.0
    # Done and undone by one pair of calls: every call is a copy of what is called.
    for turn in range(2):
        sign = np.int64(1 - 2 * turn)
        count(row, out_codes, out_counts, -sign)
        count(row, codes, counts, sign)
        for a in range(terms.offsets.size - 1 if turn == 0 else 0):
            change += part_of(terms, score, row, a) - state.parts[c, a]
    return change


@compiled(inner=True)
def known_change(columns: Any, cached: Any, site: int, c: int, side: int) -> float:
    """Return the cached change when a node joins or leaves a cluster; NaN if not cached."""
    change = 0.0
    for a in range(columns.shape[1]):
        if columns[site, a] >= 0:
            change += cached[c, side, columns[site, a]]
    return change


@compiled(inner=True)
def look(level: Any, terms: Any, score: Any, state: Any, site: int, c: int, side: int) -> float:
    """Return the change of a cluster's contribution to the notion when a site joins or leaves; cache it for nodes."""
    codes, counts = level.columns[site : site + 1], level.counts[site : site + 1]
    if codes.shape[0] == 0 or state.cached.shape[0] == 0:
        n_out = 1 if side == LEAVES else 0
        out, out_counts = codes[:n_out], counts[:n_out]
        return notion_change(terms, score, state, c, out, out_counts, codes[n_out:], counts[n_out:])
    row, by, change = state.table[c], 1 - 2 * side, 0.0
    for a in range(codes.shape[1]):
        if codes[0, a] < 0:
            continue
        s = codes[0, a]
        if np.isnan(state.cached[c, side, s]):
            row[s] += by
            state.cached[c, side, s] = part_of(terms, score, row, np.int64(a)) - state.parts[c, a]
            row[s] -= by
        change += state.cached[c, side, s]
    return change


@compiled(inner=True)
def transfer(
    terms: Any, state: Any, c: int, sign: int, size: int, strength: float, codes: Any, counts: Any
) -> None:
    """Add a site to a cluster, or remove it with sign -1, without an update of the contribution to the notion."""
    if terms.least.size > 0:
        state.tally[BROKEN] += excess(terms.least, terms.most, c, state.size[c], sign * size)
    if state.size[c] == 0:
        state.tally[N_CLUSTERS] += 1
        if state.tally[SPARE] == c:
            state.tally[SPARE] = -1
    state.size[c] += sign * size
    state.volume[c] += sign * strength
    if state.size[c] == 0:
        state.volume[c] = 0.0
        state.tally[N_CLUSTERS] -= 1
        state.tally[SPARE] = c
    if terms.fairness > 0.0:
        count(state.table[c], codes, counts, sign)


@compiled(inner=True)
def relocate(level: Any, terms: Any, score: Any, state: Any, low: int, site: int, b: int, other: int) -> None:
    """Move a row to cluster b, and another one (-1: none) to the cluster it leaves; rows count from ``low``."""
    a = np.int64(state.labels[low + site])
    for turn in range(1 if other < 0 else 2):
        i, out, into = (site, a, b) if turn == 0 else (other, b, a)
        codes, counts = level.columns[i : i + 1], level.counts[i : i + 1]
        for side in range(2):
            c, sign = (into, np.int64(1)) if side == JOINS else (out, np.int64(-1))
            transfer(terms, state, c, sign, level.sizes[i], level.strength[i], codes, counts)
        state.labels[low + i] = into
    for side in range(2):
        rescore(terms, score, state, b if side == JOINS else a)
