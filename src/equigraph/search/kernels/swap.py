"""Swaps of two nodes in one walk along the rows: where sizes are tied, no node can move alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.search.arrays import AWAY, N_CLUSTERS
from equigraph.search.kernels.local import TOLERANCE
from equigraph.search.kernels.rules import follow_rules, rules_change
from equigraph.search.kernels.state import notion_change, notion_gain, rescore, transfer


@compiled
def swap_rows(level: Any, terms: Any, score: Any, rules: Any, state: Any, low: int, waiting: Any) -> None:
    """Visit some rows once: each node changes places with the one that raises the objective most, or waits itself.

    The level has the rows from ``low`` on, and only those, all of them single nodes.
    """
    indptr, indices, data, strength = level.indptr, level.indices, level.data, level.strength
    labels, volume, tally, none = state.labels, state.volume, state.tally, level.counts[:0]
    who, f, n_slots = waiting.who, terms.fairness, volume.size
    inverse = 1.0 / terms.total if terms.total > 0 else 0.0
    links, touched = np.zeros(n_slots), np.empty(n_slots, dtype=np.int64)
    for site in range(strength.size):
        a, count = np.int64(labels[low + site]), 0
        for entry in range(indptr[site], indptr[site + 1]):
            c = labels[indices[entry]]
            if links[c] == 0.0 and data[entry] > 0.0:
                touched[count] = c
                count += 1
            links[c] += data[entry]
        codes = level.columns[site : site + 1]
        best, partner, target, kind, misses = TOLERANCE, np.int64(-1), np.int64(-1), 0, np.int64(0)
        for place in range(count):
            c = touched[place]
            for g in range(who.shape[2] if c != a else 0):
                other = who[c, a, g]
                if other < 0:
                    continue
                by = strength[site] - waiting.strength[c, a, g]
                change_q = links[c] - links[a] + waiting.gain[c, a, g]
                change_q -= terms.resolution * by * (inverse * (volume[c] - volume[a] + by))
                gain = (1.0 - f) * 2.0 * inverse * change_q
                if f == 0.0 and gain <= best:
                    continue
                if f > 0.0:
                    back = waiting.columns[c, a, g : g + 1]
                    change = notion_change(terms, score, state, a, codes, none, back, none)
                    change += notion_change(terms, score, state, c, back, none, codes, none)
                    gain += f * notion_gain(tally, terms.sized, terms.cap, change, tally[N_CLUSTERS])
                if gain <= best:
                    continue
                # An edge between the two stays outside, and both have counted it.
                for entry in range(indptr[site], indptr[site + 1]):
                    if indices[entry] == other:
                        gain -= (1.0 - f) * 4.0 * inverse * data[entry]
                missed = np.int64(0)
                if rules.any:
                    missed = rules_change(rules, level.sizes, state, site, c, other)
                    gain -= rules.stay * rules.sums[AWAY]
                    if missed > 0:
                        continue
                if gain > best:
                    best, partner, target, kind, misses = gain, other, c, g, missed
        if partner >= 0:
            if rules.any:
                follow_rules(rules, level.sizes, state, site, target, partner, misses)
            back, other_strength = (
                waiting.columns[target, a, kind : kind + 1],
                waiting.strength[target, a, kind],
            )
            for c, sign in ((a, np.int64(-1)), (target, np.int64(1))):
                transfer(terms, state, c, sign, np.int64(1), strength[site], codes, none)
            for c, sign in ((target, np.int64(-1)), (a, np.int64(1))):
                transfer(terms, state, c, sign, np.int64(1), other_strength, back, none)
            labels[low + site], labels[partner] = target, a
            for c in (a, target):
                rescore(terms, score, state, c)
                for other in range(n_slots):
                    for g in range(who.shape[2]):
                        who[c, other, g] = -1
                        who[other, c, g] = -1
            waiting.gained[0] += 1
            waiting.gained[1] += best
        else:
            g = max(np.int64(level.columns[site, 0]), 0) % who.shape[2]
            for place in range(count):
                c = touched[place]
                if c != a and (who[a, c, g] < 0 or links[c] - links[a] > waiting.gain[a, c, g]):
                    who[a, c, g] = low + site
                    waiting.gain[a, c, g] = links[c] - links[a]
                    waiting.strength[a, c, g] = strength[site]
                    for at in range(codes.shape[1]):
                        waiting.columns[a, c, g, at] = codes[0, at]
        for place in range(count):
            links[touched[place]] = 0.0
