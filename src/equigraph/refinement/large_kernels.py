"""Compiled loops over large graphs. Imported at fit, so that nothing heavy loads with the package.

All of them visit nodes in index order, which reads the graph in one stream, and let other threads run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph.compilation import compiled
from equigraph.refinement.moves import TOLERANCE, score
from equigraph.refinement.objective import BALANCE


@compiled
def climb_few(
    sites: Any, codes: Any, labels: Any, n_clusters: int, terms: Any, max_passes: int, least_gain: float
) -> tuple[int, int, float]:
    """Move single nodes, in place, to the best of few clusters while the objective rises.

    A pass visits the nodes that moved neighbours woke. When one brings at most ``least_gain``, all nodes are visited
    once more, and if that brings no more either, it was the last. Clusters are neither emptied nor added, and sizes
    stay within the bounds of ``terms``.

    Parameters
    ----------
    sites : Sites
        The graph of the nodes; ``counts`` and ``bounds`` are not used.
    codes : ndarray of shape (n_nodes,)
        Group of each node.
    labels : ndarray of shape (n_nodes,)
        Labels in ``range(n_clusters)``, no cluster empty; a small type keeps them in the cache.
    n_clusters : int
        How many clusters; every node looks at all of them.
    terms : Terms
        The objective; the dial below 1.
    max_passes : int
        Most passes.
    least_gain : float
        See above; 0 goes on until nothing moves.

    Returns
    -------
    n_moves, n_visits : int
        Moves, and visits to nodes.
    gain : float
        What the objective rose by.
    """
    n, n_groups, f = labels.size, terms.shares.size, terms.fairness
    volume = np.zeros(n_clusters)
    size = np.zeros(n_clusters, dtype=np.int64)
    table = np.zeros((n_clusters, n_groups), dtype=np.int64)
    for node in range(n):
        volume[labels[node]] += sites.strength[node]
        size[labels[node]] += 1
        table[labels[node], codes[node]] += 1
    # What one node more or less of a group does to the score of a cluster, as long as ``known`` says so.
    joins = np.zeros((n_groups, n_clusters))
    leaves = np.zeros((n_groups, n_clusters))
    known = np.zeros((n_groups, n_clusters), dtype=np.bool_)
    single = np.eye(n_groups).astype(np.int64)
    nothing = np.zeros(n_groups, dtype=np.int64)
    unit = f / n_clusters if terms.notion == BALANCE else f
    inverse = 1.0 / terms.total if terms.total > 0 else 0.0
    awake = np.ones(n, dtype=np.bool_)
    links = np.zeros(n_clusters)
    n_moves, n_visits, gain = 0, 0, 0.0
    whole = True
    for _ in range(max_passes):
        moves_before, gain_before = n_moves, gain
        for node in range(n):
            if not awake[node]:
                continue
            awake[node] = False
            n_visits += 1
            a = labels[node]
            if size[a] <= terms.least:
                continue
            links[:] = 0.0
            first, last = sites.indptr[node], sites.indptr[node + 1]
            for entry in range(first, last):
                links[labels[sites.indices[entry]]] += sites.data[entry]
            strength, group = sites.strength[node], codes[node]
            per_link = (1.0 - f) * 2.0 * inverse
            per_volume = (1.0 - f) * 2.0 * terms.resolution * (inverse * strength) * inverse
            stay = per_link * links[a] - per_volume * (volume[a] - strength)
            if f > 0:
                for c in range(n_clusters):
                    if not known[group, c]:
                        here = score(table[c], nothing, 1, terms)
                        joins[group, c] = unit * (score(table[c], single[group], 1, terms) - here)
                        leaves[group, c] = 0.0
                        if table[c, group] > 0:
                            leaves[group, c] = unit * (score(table[c], single[group], -1, terms) - here)
                        known[group, c] = True
                stay -= leaves[group, a]
            b, best = a, stay + TOLERANCE
            for c in range(n_clusters):
                value = per_link * links[c] - per_volume * volume[c] + joins[group, c]
                if value > best and c != a and size[c] < terms.most:
                    b, best = c, value
            if b == a:
                continue
            labels[node] = b
            volume[a] -= strength
            volume[b] += strength
            size[a] -= 1
            size[b] += 1
            table[a, group] -= 1
            table[b, group] += 1
            known[:, a] = False
            known[:, b] = False
            n_moves += 1
            gain += best - stay
            for entry in range(first, last):
                other = sites.indices[entry]
                if labels[other] != b:
                    awake[other] = True
        if n_moves > moves_before and gain - gain_before > least_gain:
            whole = False
        elif whole:
            break
        else:
            # Fairness ties clusters together that share no edge, so a quiet neighbourhood proves nothing.
            awake[:] = True
            whole = True
    return n_moves, n_visits, gain


@compiled
def weights_between(indptr: Any, indices: Any, data: Any, labels: Any, n_clusters: int) -> Any:
    """Return the sum of the weights between every two clusters; those inside one count twice."""
    weights = np.zeros((n_clusters, n_clusters))
    for node in range(labels.size):
        row = weights[labels[node]]
        for entry in range(indptr[node], indptr[node + 1]):
            row[labels[indices[entry]]] += data[entry]
    return weights


@compiled
def spread(sites: Any, most: float, n_passes: int) -> Any:
    """Return labels from propagation: every node joins the label it has most weight to, the larger one of equals.

    Only neighbours with the same entry of ``sites.bounds``, unless that is empty, are seen, and no label gets more
    strength than ``most``, so that parts grow everywhere and none swallows the graph. The labels are node numbers.
    """
    n = sites.strength.size
    labels = np.arange(n).astype(np.int32)
    volume = sites.strength.copy()
    links = np.zeros(n)
    touched = np.empty(n, dtype=np.int32)
    bounded = sites.bounds.size > 0
    for _ in range(n_passes):
        n_moves = 0
        for node in range(n):
            count = 0
            for entry in range(sites.indptr[node], sites.indptr[node + 1]):
                other = sites.indices[entry]
                if bounded and sites.bounds[other] != sites.bounds[node]:
                    continue
                label = labels[other]
                if links[label] == 0.0:
                    touched[count] = label
                    count += 1
                links[label] += sites.data[entry]
            a, strength = labels[node], sites.strength[node]
            b, most_links, most_volume = a, links[a], volume[a]
            for position in range(count):
                label = touched[position]
                weight = links[label]
                links[label] = 0.0
                larger = weight > most_links or (weight == most_links and volume[label] > most_volume)
                if larger and volume[label] + strength <= most:
                    b, most_links, most_volume = label, weight, volume[label]
            if b != a:
                labels[node] = b
                volume[a] -= strength
                volume[b] += strength
                n_moves += 1
        if n_moves == 0:
            break
    return labels


@compiled
def collapse(indptr: Any, indices: Any, data: Any, labels: Any, n_parts: int) -> tuple[Any, Any, Any]:
    """Return the CSR arrays of the weights between different parts; columns are not sorted.

    The nodes of a part are read one after the other, so that one row at a time is summed, without a sort.
    """
    heads = np.zeros(n_parts + 1, dtype=np.int64)
    for node in range(labels.size):
        heads[labels[node] + 1] += 1
    heads = np.cumsum(heads)
    members = np.empty(labels.size, dtype=np.int64)
    place = heads[:-1].copy()
    for node in range(labels.size):
        members[place[labels[node]]] = node
        place[labels[node]] += 1
    ends = np.zeros(n_parts + 1, dtype=np.int64)
    # Memory that is never written is never taken, so the bound costs nothing.
    columns = np.empty(indices.size, dtype=indices.dtype)
    sums = np.empty(indices.size)
    where = np.full(n_parts, -1, dtype=np.int64)
    end = 0
    for part in range(n_parts):
        begin = end
        for position in range(heads[part], heads[part + 1]):
            node = members[position]
            for entry in range(indptr[node], indptr[node + 1]):
                other = labels[indices[entry]]
                if other == part:
                    continue
                if where[other] < begin:
                    where[other] = end
                    columns[end] = other
                    sums[end] = 0.0
                    end += 1
                sums[where[other]] += data[entry]
        ends[part + 1] = end
    return ends, columns[:end].copy(), sums[:end].copy()


@compiled
def strongest(sites: Any) -> Any:
    """Return the neighbour that each node has most weight to; -1 where there is none."""
    out = np.full(sites.strength.size, -1, dtype=np.int64)
    for node in range(out.size):
        most = 0.0
        for entry in range(sites.indptr[node], sites.indptr[node + 1]):
            if sites.data[entry] > most:
                most = sites.data[entry]
                out[node] = sites.indices[entry]
    return out
