"""Swaps of two nodes in one walk along the rows; under tight size bounds no node can move alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.search.arrays import AWAY, N_CLUSTERS
from equigraph.search.kernels.local import TOLERANCE
from equigraph.search.kernels.rules import follow_rules, rules_change
from equigraph.search.kernels.state import headroom, notion_change, notion_gain, rescore, transfer

# Changes of the notion by swaps are kept for at most so many triples of a cluster and two groups.
_MOST_KNOWN = 2**20


@compiled(inner=True)
def copy_entry(waiting: Any, source: int, target: int) -> None:
    """Copy an entry of the heaps."""
    waiting.who[target] = waiting.who[source]
    waiting.gain[target] = waiting.gain[source]
    waiting.strength[target] = waiting.strength[source]
    for a in range(waiting.columns.shape[1]):
        waiting.columns[target, a] = waiting.columns[source, a]


@compiled(inner=True)
def push(waiting: Any, slot: int, node: int, gain: float, strength: float, codes: Any) -> None:
    """Add a node to the heap of a slot; if the heap is full, the node replaces a leaf with a smaller gain."""
    depth = waiting.who.size // waiting.number.size
    first, at = slot * depth, waiting.number[slot]
    if at == depth:
        # One of the leaves, each in turn.
        at -= 1 + node % ((depth + 1) // 2)
        if gain <= waiting.gain[first + at]:
            return
    else:
        waiting.number[slot] += 1
    while at > 0 and waiting.gain[first + (at - 1) // 2] < gain:
        copy_entry(waiting, first + (at - 1) // 2, first + at)
        at = (at - 1) // 2
    waiting.who[first + at] = node
    waiting.gain[first + at] = gain
    waiting.strength[first + at] = strength
    for a in range(codes.shape[1]):
        waiting.columns[first + at, a] = codes[0, a]


@compiled(inner=True)
def pop(waiting: Any, slot: int) -> None:
    """Remove the node with the largest gain from the heap of a slot."""
    first = slot * (waiting.who.size // waiting.number.size)
    waiting.number[slot] -= 1
    last, at = waiting.number[slot], 0
    gain = waiting.gain[first + last]
    while 2 * at + 1 < last:
        child = 2 * at + 1
        if child + 1 < last and waiting.gain[first + child + 1] > waiting.gain[first + child]:
            child += 1
        if waiting.gain[first + child] <= gain:
            break
        copy_entry(waiting, first + child, first + at)
        at = child
    copy_entry(waiting, first + last, first + at)


@compiled
def swap_rows(level: Any, terms: Any, score: Any, rules: Any, state: Any, low: int, waiting: Any) -> None:
    """Visit a range of rows once: swap each node with the best candidate, or add it to the candidates itself.

    The level has only the rows from ``low`` on, all of them single nodes.
    """
    indptr, indices, data, strength = level.indptr, level.indices, level.data, level.strength
    labels, volume, tally, none = state.labels, state.volume, state.tally, level.counts[:0]
    who, f, n_slots = waiting.who, terms.fairness, volume.size
    inverse = 1.0 / terms.total if terms.total > 0 else 0.0
    scale, per_volume = (1.0 - f) * 2.0 * inverse, terms.resolution * inverse
    n_kinds, depth = waiting.number.size // n_slots**2, who.size // waiting.number.size
    links, touched, gains = np.zeros(n_slots), np.empty(n_slots + 1, dtype=np.int64), np.empty(n_slots)
    # The change of the notion when a node of one group replaces one of another; a node without a group is at the end.
    several = level.columns.shape[1] > 1 or n_slots * terms.population.size**2 > _MOST_KNOWN
    n_known = 0 if several else terms.population.size + 1
    changes = np.full((n_slots, n_known, n_known), np.nan)
    for site in range(strength.size):
        a, count = np.int64(labels[low + site]), 0
        for entry in range(indptr[site], indptr[site + 1]):
            c = labels[indices[entry]]
            touched[count] = c
            count += (links[c] == 0.0) & (data[entry] > 0.0)
            links[c] += data[entry]
        codes = level.columns[site : site + 1]
        best, partner, target, found, misses = TOLERANCE, np.int64(-1), np.int64(-1), np.int64(0), np.int64(0)
        for place in range(count):
            c = touched[place]
            gains[c] = links[c] - links[a] - per_volume * strength[site] * (volume[c] - volume[a])
            # Clusters that mirror the population have nothing to gain, which spares most looks at them.
            room = f * (headroom(terms, state, a) + headroom(terms, state, c)) - best
            for g in range(n_kinds if c != a else 0):
                slot = (c * n_slots + a) * n_kinds + g
                top = slot * depth
                while waiting.number[slot] > 0 and labels[who[top]] != c:
                    pop(waiting, slot)
                if waiting.number[slot] == 0 or scale * (gains[c] + waiting.gain[top]) + room <= 0.0:
                    continue
                other = who[top]
                by = strength[site] - waiting.strength[top]
                gain = scale * (gains[c] + waiting.gain[top] - per_volume * by * by)
                if f > 0.0:
                    back, change = waiting.columns[top : top + 1], 0.0
                    for turn in range(2):
                        one, out, into = (a, codes, back) if turn == 0 else (c, back, codes)
                        known = np.nan if several else changes[one, out[0, 0], into[0, 0]]
                        if np.isnan(known):
                            known = notion_change(terms, score, state, one, out, none, into, none)
                            if not several:
                                changes[one, out[0, 0], into[0, 0]] = known
                        change += known
                    gain += f * notion_gain(tally, terms.sized, terms.cap, change, tally[N_CLUSTERS])
                if gain <= best:
                    continue
                # An edge between the two stays outside, and both have counted it.
                for entry in range(indptr[site], indptr[site + 1]):
                    if indices[entry] == other:
                        gain -= 2.0 * scale * data[entry]
                missed = np.int64(0)
                if rules.any:
                    missed = rules_change(rules, level.sizes, state, site, c, other)
                    gain -= rules.stay * rules.sums[AWAY]
                    if missed > 0:
                        continue
                if gain > best:
                    best, partner, target, found, misses = gain, other, c, top, missed
        if partner >= 0:
            if rules.any:
                follow_rules(rules, level.sizes, state, site, target, partner, misses)
            back, other_strength = waiting.columns[found : found + 1], waiting.strength[found]
            for c, sign in ((a, np.int64(-1)), (target, np.int64(1))):
                transfer(terms, state, c, sign, np.int64(1), strength[site], codes, none)
            for c, sign in ((target, np.int64(-1)), (a, np.int64(1))):
                transfer(terms, state, c, sign, np.int64(1), other_strength, back, none)
            labels[low + site], labels[partner] = target, a
            for c in (a, target):
                rescore(terms, score, state, c)
                for place in range(n_known**2):
                    changes[c, place // n_known, place % n_known] = np.nan
        else:
            g = max(np.int64(level.columns[site, 0]), 0) % n_kinds
            for place in range(count):
                c = touched[place]
                if c != a:
                    slot = (a * n_slots + c) * n_kinds + g
                    push(waiting, slot, low + site, gains[c], strength[site], codes)
        for place in range(count):
            links[touched[place]] = 0.0
