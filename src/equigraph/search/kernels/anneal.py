"""Annealing of labels: random moves and swaps, accepted by the Metropolis rule.

All state is in the arguments: no global generator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.search.kernels.changes import exchange_change, look_at
from equigraph.search.kernels.state import (
    N_CLUSTERS,
    SUM,
    cache_place,
    caches_pairs,
    copy_labels,
    move,
    notion_gain,
    scored,
    swap,
)

# Moves to the cluster of a random neighbour, rather than to any cluster: those that raise modularity lie there.
TO_NEIGHBOUR = 0.7
# Draws of a partner for a swap until one of the same group is found: such a swap leaves fairness as it is.
_DRAWS = 3


@compiled
def next_word(state: Any) -> Any:
    """Advance a splitmix64 generator and return 64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled
def below(state: Any, bound: int) -> Any:
    """Return a random integer in [0, bound), for bounds below 2**32."""
    return np.int64(((next_word(state) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@compiled
def uniform(state: Any) -> float:
    """Return a random number in [0, 1)."""
    return (next_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled
def weights_to(
    indptr: Any, indices: Any, data: Any, labels: Any, node: int, a: int, b: int
) -> tuple[float, float]:
    """Return the weight from a node to two clusters."""
    to_a, to_b = 0.0, 0.0
    for entry in range(indptr[node], indptr[node + 1]):
        cluster = labels[indices[entry]]
        if cluster == a:
            to_a += data[entry]
        elif cluster == b:
            to_b += data[entry]
    return to_a, to_b


@compiled
def weight_between(indptr: Any, indices: Any, data: Any, i: int, j: int) -> float:
    """Return the weight of the edge between two nodes; column indices are sorted."""
    low, high = indptr[i], indptr[i + 1]
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < j:
            low = middle + 1
        else:
            high = middle
    if low < indptr[i + 1] and indices[low] == j:
        return float(data[low])
    return 0.0


@compiled
def by_cluster(labels: Any, n_clusters: int) -> tuple[Any, Any, Any]:
    """Return the sites sorted by cluster, the place of each among them, and where each cluster ends."""
    ends = np.zeros(n_clusters, dtype=np.int64)
    for site in range(labels.size):
        ends[labels[site]] += 1
    ends = np.cumsum(ends)
    members = np.empty(labels.size, dtype=np.int64)
    place = np.empty(labels.size, dtype=np.int64)
    heads = ends.copy()
    for site in range(labels.size - 1, -1, -1):
        heads[labels[site]] -= 1
        place[site] = heads[labels[site]]
        members[place[site]] = site
    return members, place, ends


@compiled(inline="always")
def _put(members: Any, place: Any, site: int, position: int) -> None:
    """Let a site and the one at a position change places."""
    other, old = members[position], place[site]
    members[position], members[old] = site, other
    place[site], place[other] = position, old


@compiled
def shift(members: Any, place: Any, ends: Any, site: int, a: int, b: int) -> None:
    """Bring a site from the stretch of one cluster to that of another, past those in between."""
    while a < b:
        ends[a] -= 1
        _put(members, place, site, ends[a])
        a += 1
    while a > b:
        a -= 1
        _put(members, place, site, ends[a])
        ends[a] += 1


@compiled
def anneal(
    sites: Any,
    labels: Any,
    clusters: Any,
    score: Any,
    values: Any,
    temperature: float,
    last_temperature: float,
    n_steps: int,
    swaps: float,
    seed: Any,
) -> tuple[Any, float]:
    """Anneal labels and return the best ones met, with their gain over the start.

    Parameters
    ----------
    sites, score, values
        See `equigraph.search.kernels.state`: the nodes, the score of the notion and the other `Terms`.
    labels, clusters
        What `start` makes of labels, no cluster empty; both are changed in place. None is emptied, and sizes stay
        within ``terms.least`` and ``terms.most``.
    temperature, last_temperature : float
        Start and end of a geometric schedule; 0 accepts rises only.
    n_steps : int
        Proposals.
    swaps : float
        Share of proposals that swap two sites instead of moving one.
    seed : uint64
        Of this run.
    """
    terms = scored(score, values)
    look = look_at(sites, clusters, terms)
    indptr, indices, data, strengths, sizes, columns, _, _, _, _ = sites
    _, _, _, offsets, _, sized, _, total, resolution, f, cap, least, most = terms
    volume, n_members, size, _, _, tally, _, cached, stamps, version, _, _ = clusters
    quick, width = cached.shape[1] > 0 and offsets.size == 2, offsets[1] + 1
    pairs = caches_pairs(offsets, cached)
    leaving, joining, out, back = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    n, n_clusters = labels.size, volume.size
    state = np.array([seed], dtype=np.uint64)
    members, place, ends = by_cluster(labels, n_clusters)
    plain = columns.shape[0] > 0
    inverse = 1.0 / total if total > 0 else 0.0
    cooling = (last_temperature / temperature) ** (1.0 / n_steps) if temperature > 0 and n_steps > 0 else 1.0
    best, best_gain, gain = labels.copy(), 0.0, 0.0
    # Copying the best labels costs O(n), so it waits until the gain falls again.
    fresh = False
    for _ in range(n_steps):
        temperature *= cooling
        i = below(state, n)
        a = labels[i]
        degree = indptr[i + 1] - indptr[i]
        if uniform(state) < TO_NEIGHBOUR and degree > 0:
            b = labels[indices[indptr[i] + below(state, degree)]]
        else:
            b = np.int32(below(state, n_clusters))
        if b == a:
            continue
        swapped = uniform(state) < swaps
        j = np.int64(-1)
        moved, strength = sizes[i], strengths[i]
        if swapped:
            first = ends[b - 1] if b > 0 else 0
            for _ in range(_DRAWS):
                j = members[first + below(state, ends[b] - first)]
                if not plain or columns[i, 0] == columns[j, 0]:
                    break
            moved -= sizes[j]
            strength -= strengths[j]
        elif n_members[a] == 1:
            continue
        size_a, size_b = size[a] - moved, size[b] + moved
        if min(size_a, size_b) < least or max(size_a, size_b) > most:
            continue
        to_a, to_b = weights_to(indptr, indices, data, labels, i, a, b)
        change = to_b - to_a
        if swapped:
            back_a, back_b = weights_to(indptr, indices, data, labels, j, a, b)
            change += back_a - back_b - 2.0 * weight_between(indptr, indices, data, i, j)
        reach = volume[b] - volume[a] + strength
        delta = 2.0 * inverse * change
        delta -= 2.0 * resolution * (inverse * strength) * (inverse * reach)
        delta *= 1.0 - f
        if f > 0:
            # Most changes are known: with one attribute they are looked up here, which spares the call.
            known = False
            if quick:
                leaving = np.int64(columns[i, 0]) + 1
                joining = np.int64(columns[j, 0]) + 1 if swapped else np.int64(0)
                if leaving >= 0 and joining >= 0:  # not of a folded group
                    out = cache_place(width, pairs, leaving, joining)
                    back = cache_place(width, pairs, joining, leaving)
                    known = out >= 0 and stamps[a, out] == version[a] and stamps[b, back] == version[b]
            if leaving == joining and quick:
                other = 0.0
            elif known:
                other = cached[a, out] + cached[b, back]
            else:
                other = exchange_change(look, np.int64(a), np.int64(b), i, j)
            n_now = tally[N_CLUSTERS]
            delta += f * notion_gain(tally[SUM], n_now, sized, cap, other, n_now)
        if delta < 0.0 and (temperature <= 0.0 or uniform(state) >= np.exp(delta / temperature)):
            continue
        if delta < 0.0 and fresh:
            copy_labels(labels, best)
            fresh = False
        if swapped:
            swap(sites, labels, clusters, terms, i, j)
            old_i, old_j = place[i], place[j]
            members[old_i], members[old_j] = j, i
            place[i], place[j] = old_j, old_i
        else:
            move(sites, labels, clusters, terms, i, np.int64(b))
            shift(members, place, ends, i, a, b)
        gain += delta
        if gain > best_gain + 1e-13:
            best_gain = gain
            fresh = True
    if fresh:
        copy_labels(labels, best)
    return best, best_gain


@compiled
def typical_change(
    sites: Any, labels: Any, clusters: Any, score: Any, values: Any, n_trials: int, seed: Any
) -> float:
    """Return the mean absolute change of the objective under random moves: the scale of temperatures."""
    state = np.array([seed], dtype=np.uint64)
    terms = scored(score, values)
    look = look_at(sites, clusters, terms)
    indptr, indices, data, strengths, _, _, _, _, _, _ = sites
    _, _, _, _, _, sized, _, all_volume, resolution, f, cap, _, _ = terms
    volume, members, _, _, _, tally, _, _, _, _, _, _ = clusters
    n_clusters = volume.size
    inverse = 1.0 / all_volume if all_volume > 0 else 0.0
    total, count = 0.0, 0
    for _ in range(n_trials):
        i, b = below(state, labels.size), np.int32(below(state, n_clusters))
        a = labels[i]
        if a == b or members[a] == 1:
            continue
        to_a, to_b = weights_to(indptr, indices, data, labels, i, a, b)
        strength = strengths[i]
        reach = volume[b] - volume[a] + strength
        change = 2.0 * inverse * (to_b - to_a)
        change -= 2.0 * resolution * (inverse * strength) * (inverse * reach)
        change *= 1.0 - f
        if f > 0:
            other = exchange_change(look, np.int64(a), np.int64(b), i, np.int64(-1))
            n_now = tally[N_CLUSTERS]
            change += f * notion_gain(tally[SUM], n_now, sized, cap, other, n_now)
        total += abs(change)
        count += 1
    return total / max(count, 1)


@compiled
def kick(sites: Any, labels: Any, n_clusters: int, least: int, seed: Any) -> Any:
    """Return perturbed labels with no cluster below ``least`` nodes.

    One of three: two clusters are merged and a new one is grown around a random node; the new one is grown
    without merging; or a few per cent of the nodes are relabelled at random.
    """
    n = labels.size
    state = np.array([seed], dtype=np.uint64)
    out = labels.copy()
    kind = below(state, 3)
    if kind == 2:
        share = 0.02 + 0.08 * uniform(state)
        for node in range(n):
            if uniform(state) < share:
                out[node] = np.int32(below(state, n_clusters))
    else:
        a = below(state, n_clusters)
        b = (a + 1 + below(state, n_clusters - 1)) % n_clusters
        if kind == 0:
            for node in range(n):
                if out[node] == b:
                    out[node] = a
        # Sizes are uniform on a logarithmic scale: small balanced clusters are as likely as large ones.
        largest = max(n // n_clusters, 3)
        wanted = int(np.exp(np.log(3.0) + (np.log(largest) - np.log(3.0)) * uniform(state)))
        queue = np.empty(n, dtype=np.int64)
        seen = np.zeros(n, dtype=np.bool_)
        queue[0] = below(state, n)
        seen[queue[0]] = True
        head, tail = 0, 1
        while head < tail and head < wanted:
            node = queue[head]
            head += 1
            out[node] = b
            for entry in range(sites.indptr[node], sites.indptr[node + 1]):
                other = sites.indices[entry]
                if not seen[other]:
                    seen[other] = True
                    queue[tail] = other
                    tail += 1
    size = np.zeros(n_clusters, dtype=np.int64)
    for node in range(n):
        size[out[node]] += 1
    for cluster in range(n_clusters):
        while size[cluster] < least:
            node = below(state, n)
            if size[out[node]] > least:
                size[out[node]] -= 1
                out[node] = cluster
                size[cluster] += 1
    return out
