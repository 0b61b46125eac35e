"""Loops that make parts of a graph and the graph of the parts.

All of them visit nodes in index order, which reads the graph in one stream, and let other threads run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph.compilation import compiled


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
def spread(sites: Any, within: Any, most: float, n_passes: int) -> Any:
    """Return labels from propagation: every node joins the label it has most weight to, the larger one of equals.

    Only neighbours with the same entry of ``within``, unless that is empty, are seen, and no label gets more
    strength than ``most``, so that parts grow everywhere and none swallows the graph. The labels are node numbers.
    """
    n = sites.strength.size
    labels = np.arange(n).astype(np.int32)
    volume = sites.strength.copy()
    links = np.zeros(n)
    touched = np.empty(n, dtype=np.int32)
    bounded = within.size > 0
    for _ in range(n_passes):
        n_moves = 0
        for node in range(n):
            count = 0
            for entry in range(sites.indptr[node], sites.indptr[node + 1]):
                other = sites.indices[entry]
                if bounded and within[other] != within[node]:
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
