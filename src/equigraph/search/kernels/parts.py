"""Loops that make parts of a graph and the graph of the parts.

All of them visit nodes in index order, which reads the graph in one stream, and let other threads run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled


@compiled
def weight_inside(indptr: Any, indices: Any, data: Any, labels: Any, n_clusters: int) -> Any:
    """Return twice the weight of the edges inside each cluster."""
    inside = np.zeros(n_clusters)
    for node in range(labels.size):
        cluster = labels[node]
        for entry in range(indptr[node], indptr[node + 1]):
            if labels[indices[entry]] == cluster:
                inside[cluster] += data[entry]
    return inside


@compiled
def spread_rows(
    indptr: Any,
    indices: Any,
    data: Any,
    strength: Any,
    low: int,
    labels: Any,
    volume: Any,
    within: Any,
    most: float,
) -> int:
    """Let every node of some rows join the label it has most weight to, the larger one of equals; return how many did.

    Only neighbours with the same entry of ``within``, unless that is empty, are seen, and no label gets more
    strength than ``most``, so that parts grow everywhere and none swallows the graph.
    """
    n_moves, bounded = 0, within.size > 0
    longest = 0
    for node in range(strength.size):
        longest = max(longest, indptr[node + 1] - indptr[node])
    links = np.zeros(volume.size)
    touched = np.empty(longest, dtype=np.int32)
    for row in range(strength.size):
        node = low + row
        count = 0
        for entry in range(indptr[row], indptr[row + 1]):
            other = indices[entry]
            if bounded and within[other] != within[node]:
                continue
            label = labels[other]
            if links[label] == 0.0:
                touched[count] = label
                count += 1
            links[label] += data[entry]
        a = labels[node]
        b, most_links, most_volume = a, links[a], volume[a]
        for position in range(count):
            label = touched[position]
            weight = links[label]
            links[label] = 0.0
            larger = weight > most_links or (weight == most_links and volume[label] > most_volume)
            if larger and volume[label] + strength[row] <= most:
                b, most_links, most_volume = label, weight, volume[label]
        if b != a:
            labels[node] = b
            volume[a] -= strength[row]
            volume[b] += strength[row]
            n_moves += 1
    return n_moves


@compiled
def collapse(
    indptr: Any, indices: Any, data: Any, low: int, all_labels: Any, n_parts: int
) -> tuple[Any, Any, Any]:
    """Return the CSR arrays of the weights from the rows from ``low`` on to different parts; columns are not sorted.

    The nodes of a part are read one after the other, so that one row at a time is summed, without a sort.
    """
    labels = all_labels[low : low + indptr.size - 1]
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
                other = all_labels[indices[entry]]
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
