"""Simulated annealing of labels: random moves and swaps, accepted by the Metropolis rule.

All state is in the arguments; there is no global random generator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.search.arrays import AWAY, BEST, BROKEN, GAIN, MET, N_CLUSTERS, UNIT
from equigraph.search.kernels.rules import follow_rules, rules_change
from equigraph.search.kernels.state import (
    JOINS,
    LEAVES,
    excess,
    known_change,
    look,
    notion_change,
    notion_gain,
    relocate,
)

# Moves to the cluster of a random neighbour, rather than to any cluster: those that raise modularity lie there.
_TO_NEIGHBOUR = 0.7
# Draws of a partner for a swap until one of the same group is found: such a swap leaves fairness as it is.
_DRAWS = 3


@compiled(inner=True)
def draw(random: Any, bound: int) -> Any:
    """Return a random integer in [0, bound), for bounds below 2**32, by splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    word = random[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return np.int64(((word >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@compiled(inner=True)
def uniform(random: Any) -> float:
    """Return a random number in [0, 1)."""
    return draw(random, np.int64(2147483648)) * (1.0 / 2147483648.0)


@compiled(inner=True)
def weights_to(indptr: Any, indices: Any, data: Any, labels: Any, site: int, a: int, b: int) -> float:
    """Return the weight from a site to cluster b, less that to a."""
    more = 0.0
    for entry in range(indptr[site], indptr[site + 1]):
        cluster = labels[indices[entry]]
        if cluster == b:
            more += data[entry]
        elif cluster == a:
            more -= data[entry]
    return more


@compiled(inner=True)
def weight_between(indptr: Any, indices: Any, data: Any, i: int, j: int) -> float:
    """Return the weight of the edge between two sites; column indices are sorted."""
    low, high = indptr[i], indptr[i + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < j:
            low = middle + 1
        else:
            high = middle
    return data[low] if low < indptr[i + 1] and indices[low] == j else 0.0


@compiled(inner=True)
def exchange(members: Any, place: Any, site: int, position: int) -> None:
    """Swap a site with the one at a position."""
    other, old = members[position], place[site]
    members[position], members[old] = site, other
    place[site], place[other] = position, old


@compiled(inner=True)
def shift(members: Any, place: Any, ends: Any, site: int, a: int, b: int) -> None:
    """Move a site from the segment of one cluster to that of another, across those in between."""
    while a < b:
        ends[a] -= 1
        exchange(members, place, site, ends[a])
        a += 1
    while a > b:
        a -= 1
        exchange(members, place, site, ends[a])
        ends[a] += 1


@compiled(allocates=False)
def anneal(level: Any, terms: Any, score: Any, rules: Any, state: Any, cooling: Any) -> None:
    """Anneal labels from one temperature to another, and keep the best feasible labels visited.

    Size bounds and rules may be violated meanwhile, at a rising penalty, since feasible moves alone get stuck where the
    constraints are tight. No cluster is emptied.
    """
    indptr, indices, data, strength = level.indptr, level.indices, level.data, level.strength
    sizes, columns, least, most = level.sizes, level.columns, terms.least, terms.most
    labels, volume, size, cached, tally = state.labels, state.volume, state.size, state.cached, state.tally
    random, sums, best = cooling.random, cooling.sums, cooling.best
    f, n_trials, n_steps, n_clusters = terms.fairness, cooling.n_trials, cooling.n_steps, volume.size
    inverse = 1.0 / terms.total if terms.total > 0 else 0.0
    bounded, plain = terms.least.size > 0, columns.shape[0] > 0
    quick = plain and cached.shape[0] > 0
    members, place, ends, ruled = cooling.members, cooling.place, cooling.ends, rules.any
    n_free = rules.free.size if ruled else labels.size
    # A move home is worth so much more than it seems, at most.
    spared = 2.0 * rules.stay * rules.nodes.size if rules.home.size > 0 else 0.0
    steps = 1.0 / n_steps if n_steps > 0 else 0.0
    cooler = (cooling.cold / cooling.hot) ** steps if cooling.hot > 0 else 1.0
    dearer = (cooling.dear / cooling.cheap) ** steps
    temperature, price = sums[UNIT] * cooling.hot, sums[UNIT] * cooling.cheap
    unit, n_tried = 0.0, 0
    # Copying the best labels costs O(n), so it waits until they are left.
    fresh = False
    for step in range(-n_trials, n_steps if n_free > 0 else -n_trials):
        trial = step < 0
        if step == 0 and n_trials > 0:
            sums[UNIT] = unit / n_tried if unit > 0.0 else 1.0
            temperature, price = sums[UNIT] * cooling.hot, sums[UNIT] * cooling.cheap
        temperature *= cooler
        price *= dearer
        i = draw(random, n_free)
        if ruled:
            i = rules.free[i]
        a, degree = np.int64(labels[i]), indptr[i + 1] - indptr[i]
        if degree > 0 and not trial and uniform(random) < _TO_NEIGHBOUR:
            b = np.int64(labels[indices[indptr[i] + draw(random, degree)]])
        else:
            b = draw(random, n_clusters)
        if b == a or size[b] == 0:
            continue
        j, by, moved = np.int64(-1), sizes[i], strength[i]
        if not trial and uniform(random) < cooling.swaps:
            first = ends[b - 1] if b > 0 else 0
            for _ in range(_DRAWS):
                j = members[first + draw(random, ends[b] - first)]
                if not plain or columns[i, 0] == columns[j, 0]:
                    break
            if ruled and not rules.movable[j]:
                continue
            by -= sizes[j]
            moved -= strength[j]
        elif size[a] == by:
            continue
        change = -2.0 * weight_between(indptr, indices, data, i, j) if j >= 0 else 0.0
        # Every call is a copy of what is called, so both sites and both clusters take turns here and below.
        for turn in range(1 if j < 0 else 2):
            site, out, into = (i, a, b) if turn == 0 else (j, b, a)
            change += weights_to(indptr, indices, data, labels, site, out, into)
        delta = change - terms.resolution * moved * (inverse * (volume[b] - volume[a] + moved))
        delta *= 2.0 * inverse * (1.0 - f)
        if f > 0.0 and not (plain and j >= 0 and columns.shape[1] == 1 and columns[i, 0] == columns[j, 0]):
            other = 0.0
            for turn in range(2):
                c, side = (a, LEAVES) if turn == 0 else (b, JOINS)
                change = np.nan
                if j >= 0:
                    out, into = (i, j) if turn == 0 else (j, i)
                    change = notion_change(
                        terms,
                        score,
                        state,
                        c,
                        columns[out : out + 1],
                        level.counts[out : out + 1],
                        columns[into : into + 1],
                        level.counts[into : into + 1],
                    )
                elif quick:
                    change = known_change(columns, cached, i, c, side)
                if np.isnan(change):
                    change = look(level, terms, score, state, i, c, side)
                other += change
            delta += f * notion_gain(tally, terms.sized, terms.cap, other, tally[N_CLUSTERS])
        if trial:
            unit += abs(delta)
            n_tried += 1
            continue
        # Nothing that ends below this is taken, and nothing can mend more than what is missed.
        limit = temperature * np.log(1.0 - uniform(random)) if temperature > 0.0 else 0.0
        broken, missed = np.int64(0), np.int64(0)
        if delta + spared + price * tally[BROKEN] < limit:
            continue
        if bounded and by != 0:
            broken = excess(least, most, a, size[a], -by) + excess(least, most, b, size[b], by)
        if ruled:
            missed = rules_change(rules, sizes, state, i, b, j)
            broken += missed
            delta -= rules.stay * rules.sums[AWAY]
        if delta - price * broken < limit:
            continue
        if fresh and (delta < 0.0 or tally[BROKEN] + broken > 0.0):
            for site in range(labels.size):
                best[site] = labels[site]
            fresh = False
        if ruled:
            follow_rules(rules, sizes, state, i, b, j, missed)
        relocate(level, terms, score, state, np.int64(0), i, b, j)
        for turn in range(1 if j < 0 else 2):
            site, out, into = (i, a, b) if turn == 0 else (j, b, a)
            shift(members, place, ends, site, out, into)
        sums[GAIN] += delta
        if tally[BROKEN] == 0.0 and (sums[MET] == 0.0 or sums[GAIN] > sums[BEST] + 1e-13):
            sums[BEST], sums[MET], fresh = sums[GAIN], 1.0, True
    if fresh or sums[MET] == 0.0:
        for site in range(labels.size):
            best[site] = labels[site]
