"""Annealing and climbing under rules: every broken rule has a price.

Moves that only ever keep all rules get stuck where rules are tight, so that annealing may break some on its way. The
price rises as it cools, and only labels that keep everything are returned, if any were met.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.search.kernels.anneal import (
    TO_NEIGHBOUR,
    below,
    by_cluster,
    shift,
    uniform,
    weight_between,
    weights_to,
)
from equigraph.search.kernels.changes import exchange_change, join_changes, look_at
from equigraph.search.kernels.climb import MOST_DENSE, gather
from equigraph.search.kernels.duties import (
    BROKEN,
    LACKING,
    MOVED,
    cost_after,
    foes_in,
    shift_links,
    strangers,
    transfer,
)
from equigraph.search.kernels.state import (
    N_CLUSTERS,
    SUM,
    TOLERANCE,
    move,
    notion_gain,
    scored,
    swap,
)

# A broken rule outweighs whatever a move of one site can bring.
_PRICE = 1e3


@compiled
def anneal_ruled(
    sites: Any,
    labels: Any,
    clusters: Any,
    score: Any,
    values: Any,
    duties: Any,
    standing: Any,
    temperature: float,
    last_temperature: float,
    price: float,
    last_price: float,
    n_steps: int,
    swaps: float,
    seed: Any,
) -> Any:
    """Anneal labels; return the best met that keep every rule, or where none do the last ones.

    Parameters
    ----------
    sites, labels, clusters, score, values, n_steps, swaps, seed
        As in `equigraph.search.kernels.anneal.anneal`; bounds on sizes are those of the duties.
    duties, standing
        See `equigraph.search.kernels.duties`; the standing is changed in place.
    temperature, last_temperature : float
        Start and end of a geometric schedule; 0 accepts rises only.
    price, last_price : float
        What a broken rule costs, at the start and at the end.
    """
    terms = scored(score, values)
    look = look_at(sites, clusters, terms)
    indptr, indices, data, strengths, sizes, _, _, _, _, _ = sites
    _, _, _, _, _, sized, _, total, resolution, f, cap, _, _ = terms
    volume, n_members, size, _, _, tally, _, _, _, _, _, _ = clusters
    (site_of, first, nodes, free, foe_starts, foes, least_size, most_size, column_starts, columns, numbers,
     least, most, alone, low, high, needed, link_starts, links,
     asker_starts, askers, home, allowed, stay) = duties  # fmt: skip
    friends = (link_starts, links, asker_starts, askers)
    counts, costs, kept, sums = standing
    n_clusters = volume.size
    state = np.array([seed], dtype=np.uint64)
    members, place, ends = by_cluster(labels, n_clusters)
    inverse = 1.0 / total if total > 0 else 0.0
    cooling = (last_temperature / temperature) ** (1.0 / n_steps) if temperature > 0 and n_steps > 0 else 1.0
    rise = (last_price / price) ** (1.0 / n_steps) if n_steps > 0 else 1.0
    movable = np.zeros(labels.size, dtype=np.bool_)
    movable[free] = True
    met = sums[BROKEN] == 0
    best, best_gain, gain, fresh = labels.copy(), 0.0, 0.0, False
    for _ in range(n_steps if free.size > 0 else 0):
        temperature *= cooling
        price *= rise
        i = free[below(state, free.size)]
        a = labels[i]
        degree = indptr[i + 1] - indptr[i]
        if degree > 0 and uniform(state) < TO_NEIGHBOUR:
            b = labels[indices[indptr[i] + below(state, degree)]]
        else:
            b = np.int32(below(state, n_clusters))
        if b == a:
            continue
        j = np.int64(-1)
        if uniform(state) < swaps:
            if n_members[b] == 0:
                continue
            begin = ends[b - 1] if b > 0 else 0
            j = members[begin + below(state, ends[b] - begin)]
            if not movable[j]:
                continue
        elif n_members[a] == 1:
            continue
        # Nothing that ends below this is taken; drawn first, it spares most of what follows.
        limit = temperature * np.log(1.0 - uniform(state)) if temperature > 0.0 else 0.0
        broken = foes_in(foe_starts, foes, labels, i, a, b, j)
        if j >= 0:
            broken += foes_in(foe_starts, foes, labels, j, b, a, i)
        cost_a = cost_after(
            a, size[a], i, j, sizes, counts, column_starts, columns, numbers,
            least_size, most_size, least, most, alone, low, high,
        )  # fmt: skip
        cost_b = cost_after(
            b, size[b], j, i, sizes, counts, column_starts, columns, numbers,
            least_size, most_size, least, most, alone, low, high,
        )  # fmt: skip
        broken += cost_a + cost_b - costs[a] - costs[b]
        away = np.int64(0)
        if home.size > 0:
            away = strangers(first, nodes, home, i, a, b)
            if j >= 0:
                away += strangers(first, nodes, home, j, b, a)
            broken += max(sums[MOVED] + away - allowed, 0) - max(sums[MOVED] - allowed, 0)
        to_a, to_b = weights_to(indptr, indices, data, labels, i, a, b)
        change, strength = to_b - to_a, strengths[i]
        if j >= 0:
            back_a, back_b = weights_to(indptr, indices, data, labels, j, a, b)
            change += back_a - back_b - 2.0 * weight_between(indptr, indices, data, i, j)
            strength -= strengths[j]
        reach = volume[b] - volume[a] + strength
        delta = 2.0 * inverse * change
        delta -= 2.0 * resolution * (inverse * strength) * (inverse * reach)
        delta *= 1.0 - f
        if f > 0:
            other = exchange_change(look, a, b, i, j)
            n_now = tally[N_CLUSTERS]
            delta += f * notion_gain(tally[SUM], n_now, sized, cap, other, n_now)
        delta -= stay * away
        if delta - price * (broken - sums[LACKING]) < limit:
            continue
        lacking = np.int64(0)
        if needed.size > 0:
            lacking = shift_links(site_of, first, nodes, friends, needed, kept, labels, i, a, b)
            if j >= 0:
                labels[i] = b
                lacking += shift_links(site_of, first, nodes, friends, needed, kept, labels, j, b, a)
            broken += lacking
            if delta - price * broken < limit:
                if j >= 0:
                    shift_links(site_of, first, nodes, friends, needed, kept, labels, j, a, b)
                    labels[i] = a
                shift_links(site_of, first, nodes, friends, needed, kept, labels, i, b, a)
                continue
            labels[i] = a
        if fresh and (delta < 0.0 or sums[BROKEN] + broken > 0):
            best[:] = labels
            fresh = False
        transfer(column_starts, columns, numbers, counts, i, a, b)
        if j >= 0:
            transfer(column_starts, columns, numbers, counts, j, b, a)
            swap(sites, labels, clusters, terms, i, j)
            old_i, old_j = place[i], place[j]
            members[old_i], members[old_j] = j, i
            place[i], place[j] = old_j, old_i
        else:
            move(sites, labels, clusters, terms, i, b)
            shift(members, place, ends, i, a, b)
        costs[a], costs[b] = cost_a, cost_b
        sums[BROKEN] += broken
        sums[LACKING] += lacking
        sums[MOVED] += away
        gain += delta
        if sums[BROKEN] == 0 and (not met or gain > best_gain + 1e-13):
            best_gain, met, fresh = gain, True, True
    if fresh or not met:
        best[:] = labels
    return best


@compiled
def climb_ruled(
    sites: Any,
    labels: Any,
    clusters: Any,
    score: Any,
    values: Any,
    duties: Any,
    standing: Any,
    order: Any,
    max_passes: int,
    least_gain: float,
) -> int:
    """Move sites while fewer rules are broken, or as many and the objective rises; return the number of moves.

    As `equigraph.search.kernels.climb.climb` with a fixed number of clusters. With more clusters than `MOST_DENSE` a
    site looks at those next to it, and at a few others in turn where a rule is broken.
    """
    terms = scored(score, values)
    look = look_at(sites, clusters, terms)
    indptr, indices, data, strength, sizes, _, _, _, _, _ = sites
    _, _, _, _, _, sized, _, total, resolution, f, cap, _, _ = terms
    volume, members, size, _, _, tally, _, _, _, _, _, _ = clusters
    (site_of, first, nodes, free, foe_starts, foes, least_size, most_size, column_starts, columns, numbers,
     least, most, alone, low, high, needed, link_starts, links,
     asker_starts, askers, home, allowed, stay) = duties  # fmt: skip
    friends = (link_starts, links, asker_starts, askers)
    counts, costs, kept, sums = standing
    n, n_slots = labels.size, volume.size
    inverse = 1.0 / total if total > 0 else 0.0
    dense = n_slots <= MOST_DENSE
    awake = np.zeros(n, dtype=np.bool_)
    awake[free] = True
    movable = awake.copy()
    weight, joins, everyone = np.zeros(n_slots), np.zeros(n_slots), np.arange(n_slots)
    touched = np.empty(n_slots + 9, dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int32)
    n_moves, turn, whole = 0, 0, True
    for _ in range(max_passes):
        moves_before, gain, broken_before = n_moves, 0.0, sums[BROKEN]
        for position in range(order.size):
            site = order[position]
            if not awake[site]:
                continue
            awake[site] = False
            a = labels[site]
            if members[a] == 1:
                continue
            count = gather(indptr, indices, data, labels, nothing, 0, site, weight, touched)
            listed = count
            if not dense and sums[BROKEN] > 0:
                for _ in range(8):
                    touched[listed] = turn
                    turn = (turn + 1) % n_slots
                    listed += 1
            candidates = everyone if dense else touched[:listed]
            per_volume = 2.0 * resolution * (inverse * strength[site]) * inverse
            stay_q = 2.0 * inverse * weight[a] - per_volume * (volume[a] - strength[site])
            leaving = 0.0
            if f > 0:
                leaving = exchange_change(look, a, -1, site, -1)
                join_changes(look, site, candidates, joins)
            cost_a = np.int64(-1)
            enemies = foe_starts[site + 1] > foe_starts[site]
            b: Any = np.int64(a)
            best, best_gain = TOLERANCE, 0.0
            best_broken, best_lacking, best_away = np.int64(0), np.int64(0), np.int64(0)
            best_cost = np.int64(0)
            for c in candidates:
                if c == a:
                    continue
                here = (1.0 - f) * (2.0 * inverse * weight[c] - per_volume * volume[c] - stay_q)
                if f > 0:
                    here += f * notion_gain(
                        tally[SUM], tally[N_CLUSTERS], sized, cap, leaving + joins[c], tally[N_CLUSTERS]
                    )
                away = np.int64(0)
                if home.size > 0:
                    away = strangers(first, nodes, home, site, a, c)
                    here -= stay * away
                # Where no rule is broken, a move that does not rise needs no further look.
                if here + _PRICE * sums[BROKEN] <= best:
                    continue
                if cost_a < 0:
                    cost_a = cost_after(
                        a, size[a], site, -1, sizes, counts, column_starts, columns, numbers,
                        least_size, most_size, least, most, alone, low, high,
                    )  # fmt: skip
                cost_c = cost_after(
                    c, size[c], -1, site, sizes, counts, column_starts, columns, numbers,
                    least_size, most_size, least, most, alone, low, high,
                )  # fmt: skip
                broken = cost_a + cost_c - costs[a] - costs[c]
                if enemies:
                    broken += foes_in(foe_starts, foes, labels, site, a, c, -1)
                if home.size > 0:
                    broken += max(sums[MOVED] + away - allowed, 0) - max(sums[MOVED] - allowed, 0)
                if here - _PRICE * (broken - sums[LACKING]) <= best:
                    continue
                lacking = np.int64(0)
                if needed.size > 0:
                    lacking = shift_links(site_of, first, nodes, friends, needed, kept, labels, site, a, c)
                    shift_links(site_of, first, nodes, friends, needed, kept, labels, site, c, a)
                broken += lacking
                if here - _PRICE * broken > best:
                    b, best, best_gain, best_cost = c, here - _PRICE * broken, here, cost_c
                    best_broken, best_lacking, best_away = broken, lacking, away
            for place in range(count):
                weight[touched[place]] = 0.0
            if b == a:
                continue
            if needed.size > 0:
                shift_links(site_of, first, nodes, friends, needed, kept, labels, site, a, b)
            transfer(column_starts, columns, numbers, counts, site, a, b)
            move(sites, labels, clusters, terms, site, b)
            costs[a], costs[b] = cost_a, best_cost
            sums[BROKEN] += best_broken
            sums[LACKING] += best_lacking
            sums[MOVED] += best_away
            n_moves += 1
            gain += best_gain
            for entry in range(indptr[site], indptr[site + 1]):
                other = indices[entry]
                if labels[other] != b:
                    awake[other] = movable[other]
        if n_moves > moves_before and (gain > least_gain or sums[BROKEN] < broken_before):
            whole = False
        elif whole:
            break
        else:
            awake[:] = movable
            whole = True
    return n_moves
