"""Label propagation and quotient graphs, as loops along rows in index order."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled


@compiled
def own_weight(indptr: Any, indices: Any, data: Any, low: int, labels: Any) -> Any:
    """Return the weight from each row, from ``low`` on, to its own cluster."""
    own = np.zeros(indptr.size - 1)
    for row in range(own.size):
        total, label = 0.0, labels[low + row]
        for entry in range(indptr[row], indptr[row + 1]):
            total += data[entry] if labels[indices[entry]] == label else 0.0
        own[row] = total
    return own


@compiled
def spread_rows(level: Any, low: int, labels: Any, volume: Any, within: Any, most: float) -> int:
    """Give every node of a range of rows the label it has most weight to, ties by strength; return the number of moves.

    Only neighbours with the same entry of ``within`` count, unless that is empty. No label gets more strength than
    ``most``, so that no part grows to most of the graph.
    """
    indptr, indices, data, strength = level.indptr, level.indices, level.data, level.strength
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
    """Return the quotient graph of the rows from ``low`` on, without a diagonal, as CSR arrays with unsorted columns.

    The nodes of a part are read consecutively, so that its row is summed without a sort.
    """
    n = indptr.size - 1
    heads = np.zeros(n_parts + 1, dtype=np.int64)
    for node in range(n):
        heads[all_labels[low + node] + 1] += 1
    for part in range(n_parts):
        heads[part + 1] += heads[part]
    members = np.empty(n, dtype=np.int64)
    place = np.empty(n_parts, dtype=np.int64)
    for part in range(n_parts):
        place[part] = heads[part]
    for node in range(n):
        label = all_labels[low + node]
        members[place[label]] = node
        place[label] += 1
    ends = np.zeros(n_parts + 1, dtype=np.int64)
    # Memory that is never written is never taken, so the bound costs nothing.
    columns = np.empty(indices.size, dtype=np.int32)
    sums = np.empty(indices.size)
    where = np.empty(n_parts, dtype=np.int64)
    for part in range(n_parts):
        where[part] = -1
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
    return ends, columns[:end], sums[:end]
