"""Compiled annealing of labels: random moves and swaps, accepted by the Metropolis rule.

Imported at fit, so that nothing heavy loads with the package. All state is in the arguments: no global generator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph.compilation import compiled
from equigraph.refinement.moves import score
from equigraph.refinement.objective import BALANCE

# Moves to the cluster of a random neighbour, rather than to any cluster: those that raise modularity lie there.
_TO_NEIGHBOUR = 0.7


@compiled(inline="always")
def next_word(state: Any) -> Any:
    """Advance a splitmix64 generator and return 64 random bits."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    word = state[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


@compiled(inline="always")
def below(state: Any, bound: int) -> Any:
    """Return a random integer in [0, bound), for bounds below 2**32."""
    return np.int64(((next_word(state) >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@compiled(inline="always")
def uniform(state: Any) -> float:
    """Return a random number in [0, 1)."""
    return (next_word(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled(inline="always")
def weights_to(sites: Any, labels: Any, node: int, a: int, b: int) -> tuple[float, float]:
    """Return the weight from a node to two clusters."""
    to_a, to_b = 0.0, 0.0
    for entry in range(sites.indptr[node], sites.indptr[node + 1]):
        cluster = labels[sites.indices[entry]]
        if cluster == a:
            to_a += sites.data[entry]
        elif cluster == b:
            to_b += sites.data[entry]
    return to_a, to_b


@compiled
def weight_between(sites: Any, i: int, j: int) -> float:
    """Return the weight of the edge between two nodes; column indices are sorted."""
    low, high = sites.indptr[i], sites.indptr[i + 1]
    while low < high:
        middle = (low + high) // 2
        if sites.indices[middle] < j:
            low = middle + 1
        else:
            high = middle
    if low < sites.indptr[i + 1] and sites.indices[low] == j:
        return float(sites.data[low])
    return 0.0


@compiled
def tally(sites: Any, labels: Any, n_clusters: int) -> tuple[Any, Any, Any]:
    """Return the volume, the counts by group and the number of nodes of each cluster."""
    volume = np.zeros(n_clusters)
    table = np.zeros((n_clusters, sites.counts.shape[1]), dtype=np.int64)
    size = np.zeros(n_clusters, dtype=np.int64)
    for node in range(labels.size):
        cluster = labels[node]
        volume[cluster] += sites.strength[node]
        for s in range(table.shape[1]):
            table[cluster, s] += sites.counts[node, s]
            size[cluster] += sites.counts[node, s]
    return volume, table, size


@compiled(inline="always")
def transfer(sites: Any, table: Any, node: int, source: int, target: int) -> int:
    """Move the counts of a (super-)node between two rows of the table, and return how many nodes that is."""
    moved = 0
    for s in range(table.shape[1]):
        count = sites.counts[node, s]
        table[source, s] -= count
        table[target, s] += count
        moved += count
    return moved


@compiled
def anneal(
    sites: Any,
    labels: Any,
    n_clusters: int,
    terms: Any,
    temperature: float,
    last_temperature: float,
    n_steps: int,
    swaps: float,
    seed: Any,
) -> tuple[Any, float]:
    """Anneal labels and return the best ones met, with their gain over the start.

    Parameters
    ----------
    sites : Sites
        The nodes, or the super-nodes of a level.
    labels : ndarray of shape (n_sites,)
        Start, in ``range(n_clusters)``, no cluster empty; changed in place.
    n_clusters : int
        Number of clusters; none is emptied, and sizes stay within ``terms.least`` and ``terms.most``.
    terms : Terms
        The objective.
    temperature, last_temperature : float
        Start and end of a geometric schedule; 0 accepts rises only.
    n_steps : int
        Proposals.
    swaps : float
        Share of proposals that swap two nodes instead of moving one.
    seed : uint64
        Of this run.
    """
    n = labels.size
    state = np.array([seed], dtype=np.uint64)
    volume, table, size = tally(sites, labels, n_clusters)
    scores = np.zeros(n_clusters)
    nothing = np.zeros(table.shape[1], dtype=np.int64)
    for cluster in range(n_clusters):
        scores[cluster] = score(table[cluster], nothing, 1, terms)
    f, unit = terms.fairness, 1.0 / n_clusters if terms.notion == BALANCE else 1.0
    inverse = 1.0 / terms.total if terms.total > 0 else 0.0
    cooling = (last_temperature / temperature) ** (1.0 / n_steps) if temperature > 0 and n_steps > 0 else 1.0
    best, best_gain, gain = labels.copy(), 0.0, 0.0
    # Copying the best labels costs O(n), so it waits until the gain falls again.
    fresh = False
    for _ in range(n_steps):
        temperature *= cooling
        i = below(state, n)
        a = labels[i]
        swap = uniform(state) < swaps
        j = -1
        if swap:
            j = below(state, n)
            b = labels[j]
        elif uniform(state) < _TO_NEIGHBOUR and sites.indptr[i + 1] > sites.indptr[i]:
            b = labels[sites.indices[sites.indptr[i] + below(state, sites.indptr[i + 1] - sites.indptr[i])]]
        else:
            b = below(state, n_clusters)
        if b == a:
            continue
        to_a, to_b = weights_to(sites, labels, i, a, b)
        change = to_b - to_a
        strength = sites.strength[i]
        moved = transfer(sites, table, i, a, b)
        if swap:
            back_a, back_b = weights_to(sites, labels, j, a, b)
            change += back_a - back_b - 2.0 * weight_between(sites, i, j)
            strength -= sites.strength[j]
            moved -= transfer(sites, table, j, b, a)
        size_a, size_b = size[a] - moved, size[b] + moved
        least, most = min(size_a, size_b), max(size_a, size_b)
        accepted = least >= terms.least and most <= terms.most
        if accepted:
            reach = volume[b] - volume[a] + strength
            delta = 2.0 * inverse * change
            delta -= 2.0 * terms.resolution * (inverse * strength) * (inverse * reach)
            delta *= 1.0 - f
            score_a = score(table[a], nothing, 1, terms)
            score_b = score(table[b], nothing, 1, terms)
            delta += f * unit * (score_a + score_b - scores[a] - scores[b])
            accepted = delta >= 0.0 or (temperature > 0.0 and uniform(state) < np.exp(delta / temperature))
        if not accepted:
            transfer(sites, table, i, b, a)
            if swap:
                transfer(sites, table, j, a, b)
            continue
        if delta < 0.0 and fresh:
            best[:] = labels
            fresh = False
        labels[i] = b
        if swap:
            labels[j] = a
        volume[a] -= strength
        volume[b] += strength
        size[a], size[b] = size_a, size_b
        scores[a], scores[b] = score_a, score_b
        gain += delta
        if gain > best_gain + 1e-13:
            best_gain = gain
            fresh = True
    if fresh:
        best[:] = labels
    return best, best_gain


@compiled
def typical_change(sites: Any, labels: Any, n_clusters: int, terms: Any, n_trials: int, seed: Any) -> float:
    """Return the mean absolute change of the objective under random moves: the scale of temperatures."""
    state = np.array([seed], dtype=np.uint64)
    volume, table, _ = tally(sites, labels, n_clusters)
    nothing = np.zeros(table.shape[1], dtype=np.int64)
    f, unit = terms.fairness, 1.0 / n_clusters if terms.notion == BALANCE else 1.0
    inverse = 1.0 / terms.total if terms.total > 0 else 0.0
    total, count = 0.0, 0
    for _ in range(n_trials):
        i, b = below(state, labels.size), below(state, n_clusters)
        a = labels[i]
        if a == b:
            continue
        to_a, to_b = weights_to(sites, labels, i, a, b)
        strength = sites.strength[i]
        reach = volume[b] - volume[a] + strength
        change = 2.0 * inverse * (to_b - to_a)
        change -= 2.0 * terms.resolution * (inverse * strength) * (inverse * reach)
        before = score(table[a], nothing, 1, terms) + score(table[b], nothing, 1, terms)
        transfer(sites, table, i, a, b)
        after = score(table[a], nothing, 1, terms) + score(table[b], nothing, 1, terms)
        transfer(sites, table, i, b, a)
        total += abs((1.0 - f) * change + f * unit * (after - before))
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
                out[node] = below(state, n_clusters)
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
