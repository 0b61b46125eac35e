"""Local search with single sites."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.search.arrays import AWAY, BROKEN, N_CLUSTERS, SPARE
from equigraph.search.kernels.rules import follow_rules, rules_change
from equigraph.search.kernels.state import (
    JOINS,
    LEAVES,
    excess,
    known_change,
    look,
    notion_gain,
    relocate,
)

# Changes are differences of numbers of the order of one over the number of edges; below this is rounding.
TOLERANCE = 1e-12
# A missed bound or rule outweighs whatever a move of one site can bring.
_PRICE = 1e3
# With more clusters than this a site looks at those of its neighbours, at the few that its group is most wanted in, and
# where bounds or rules are missed at some in turn.
MOST_DENSE = 128
N_WANTED = 8


@compiled
def wanted_clusters(level: Any, terms: Any, score: Any, state: Any, examples: Any) -> Any:
    """Return for each example site (-1: none) the clusters with the largest gain of the notion by joining them."""
    n_clusters = state.size.size
    wanted = np.zeros((examples.size, min(N_WANTED, n_clusters)), dtype=np.int64)
    gains = np.empty(n_clusters)
    for e in range(examples.size):
        if examples[e] < 0:
            continue
        for c in range(n_clusters):
            gains[c] = look(level, terms, score, state, examples[e], np.int64(c), JOINS)
        # A sort, or an assignment of a whole row, takes seconds to compile.
        for place in range(wanted.shape[1]):
            best = 0
            for c in range(1, n_clusters):
                if gains[c] > gains[best]:
                    best = c
            wanted[e, place] = best
            gains[best] = -np.inf
    return wanted


@compiled(allocates=False)
def visit(level: Any, terms: Any, score: Any, rules: Any, state: Any, tour: Any) -> None:
    """Visit a range of rows once: move each site that is awake to the cluster with the largest gain.

    Violations of sizes and rules come first, then the objective. The level has only the rows from ``tour.low`` on; the
    labels are those of all sites.
    """
    indptr, indices, data, sizes, columns = (
        level.indptr,
        level.indices,
        level.data,
        level.sizes,
        level.columns,
    )
    labels, volume, size, cached, tally = state.labels, state.volume, state.size, state.cached, state.tally
    low, within, awake, wanted, gained = tour.low, tour.within, tour.awake, tour.wanted, tour.gained
    f, fixed, n_slots = terms.fairness, tour.fixed, volume.size
    inverse = 1.0 / terms.total if terms.total > 0 else 0.0
    bounded, dense = fixed and terms.least.size > 0, fixed and terms.everywhere and n_slots <= MOST_DENSE
    plain = columns.shape[0] > 0 and cached.shape[0] > 0
    # A move home is worth so much more than it seems, at most.
    spared = rules.stay * rules.nodes.size if rules.home.size > 0 else 0.0
    links, touched = tour.links, tour.near
    for position in range(tour.order.size):
        site = tour.order[position]
        if not awake[low + site]:
            continue
        awake[low + site] = False
        a = np.int64(labels[low + site])
        alone = size[a] == sizes[site]
        if fixed and alone:
            continue
        n_near = 0
        for entry in range(indptr[site], indptr[site + 1]):
            other = indices[entry]
            if within.size > 0 and within[other] != within[low + site]:
                continue
            c = labels[other]
            # Without a branch, which would be mispredicted often.
            touched[n_near] = c
            n_near += (links[c] == 0.0) & (data[entry] > 0.0)
            links[c] += data[entry]
        listed = n_near
        if not fixed and tally[SPARE] >= 0 and not alone:
            touched[listed] = np.int64(tally[SPARE])
            listed += 1
        if wanted.shape[0] > 0 and columns[site, 0] >= 0:
            for w in range(wanted.shape[1]):
                touched[listed] = wanted[columns[site, 0], w]
                listed += 1
        if not dense and tally[BROKEN] > 0.0:
            for _ in range(N_WANTED):
                gained[4] = (gained[4] + 1.0) % n_slots
                touched[listed] = np.int64(gained[4])
                listed += 1
        per_volume = 2.0 * terms.resolution * (inverse * level.strength[site]) * inverse
        stay = 2.0 * inverse * links[a] - per_volume * (volume[a] - level.strength[site])
        leaving = 0.0
        if f > 0.0:
            leaving = known_change(columns, cached, site, a, LEAVES) if plain else np.nan
            if np.isnan(leaving):
                leaving = look(level, terms, score, state, site, a, LEAVES)
        n_after = tally[N_CLUSTERS] - (1.0 if alone else 0.0)
        leaves = excess(terms.least, terms.most, a, size[a], -sizes[site]) if bounded else np.int64(0)
        b, best, dq, dn, misses = a, TOLERANCE, 0.0, 0.0, np.int64(0)
        for place in range(n_slots if dense else listed):
            c = np.int64(place) if dense else touched[place]
            if c == a:
                continue
            change_q = 2.0 * inverse * links[c] - per_volume * volume[c] - stay
            change_n = 0.0
            if f > 0.0:
                joining = known_change(columns, cached, site, c, JOINS) if plain else np.nan
                if np.isnan(joining):
                    joining = look(level, terms, score, state, site, c, JOINS)
                opened = 1.0 if size[c] == 0 else 0.0
                change_n = notion_gain(tally, terms.sized, terms.cap, leaving + joining, n_after + opened)
            gain = (1.0 - f) * change_q + f * change_n
            # Nothing can mend more than what is missed.
            if gain + spared + _PRICE * tally[BROKEN] <= best:
                continue
            missed = np.int64(0)
            if bounded:
                gain -= _PRICE * (leaves + excess(terms.least, terms.most, c, size[c], sizes[site]))
            if rules.any:
                missed = rules_change(rules, sizes, state, site, c, np.int64(-1))
                gain -= rules.stay * rules.sums[AWAY]
            gain -= _PRICE * missed
            if gain > best:
                b, best, dq, dn, misses = c, gain, change_q, change_n, missed
        for place in range(n_near):
            links[touched[place]] = 0.0
        if b == a:
            continue
        if rules.any:
            follow_rules(rules, sizes, state, site, b, np.int64(-1), misses)
        relocate(level, terms, score, state, low, site, b, np.int64(-1))
        gained[0] += 1
        gained[1] += dq
        gained[2] += dn
        gained[3] += (1.0 - f) * dq + f * dn
        for entry in range(indptr[site], indptr[site + 1]):
            other = indices[entry]
            if labels[other] != b:
                awake[other] = True
