"""Rules in compiled code: how many are broken, and what a move does to that number.

Every rule counts by how far it is broken: pairs that are to be apart and are not, nodes too many or too few in a
cluster, nodes of a group too many or too few, links that somebody lacks, nodes moved beyond what is allowed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.compilation import compiled


class Duties(NamedTuple):
    """Rules on the sites of a level; see `equigraph.rules.CompiledRules`.

    ``nodes[first[i] : first[i + 1]]`` are the nodes of site i. ``foes`` are sites to be apart, ``columns`` and
    ``numbers`` the counts of a site, each with its own ``..._starts``. Row r of ``links`` holds the friends of node
    ``r % n``, of whom it needs ``needed[r]``; ``askers`` holds the rows in which each node occurs. ``home`` (-1: none)
    is per node; what no rule needs is empty; ``allowed`` is the number of nodes that may be elsewhere than at home, and
    ``stay`` what each of them costs.
    """

    site: NDArray[np.int64]
    first: NDArray[np.int64]
    nodes: NDArray[np.int64]
    free: NDArray[np.int64]
    foe_starts: NDArray[np.int64]
    foes: NDArray[np.int64]
    least_size: NDArray[np.int64]
    most_size: NDArray[np.int64]
    column_starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    numbers: NDArray[np.int64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]
    alone: NDArray[np.int64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    needed: NDArray[np.int64]
    link_starts: NDArray
    links: NDArray
    asker_starts: NDArray
    askers: NDArray
    home: NDArray[np.int32]
    allowed: int
    stay: float


class Standing(NamedTuple):
    """How far labels keep the duties, updated in place by every move.

    ``costs`` is by how much each cluster misses its size and counts, ``kept`` how many links each node keeps, and
    ``tally`` by how much all rules are missed, the part of it that is lacking links, and the number of nodes moved.
    """

    counts: NDArray[np.int64]
    costs: NDArray[np.int64]
    kept: NDArray[np.int64]
    tally: NDArray[np.int64]


# Positions in ``tally``.
BROKEN, LACKING, MOVED = 0, 1, 2


@compiled
def cost_of(
    c: int,
    size: int,
    row: Any,
    least_size: Any,
    most_size: Any,
    least: Any,
    most: Any,
    alone: Any,
    low: Any,
    high: Any,
) -> int:
    """Return by how much a cluster of a size and with counts misses what it has to have."""
    cost = max(least_size[c] - size, 0) + max(size - most_size[c], 0)
    for v in range(row.size):
        number = row[v]
        floor, ceiling = least[c, v], most[c, v]
        if low[v, 0] > 0:
            floor = max(floor, low[v, 0] * size // low[v, 1])
        if high[v, 0] < high[v, 1]:
            ceiling = min(ceiling, -(-high[v, 0] * size // high[v, 1]))
        cost += max(floor - number, 0) + max(number - ceiling, 0)
        if 0 < number < alone[v]:
            cost += min(number, alone[v] - number)
    return cost


@compiled
def cost_after(
    c: int,
    size: int,
    out: int,
    into: int,
    sizes: Any,
    counts: Any,
    column_starts: Any,
    columns: Any,
    numbers: Any,
    least_size: Any,
    most_size: Any,
    least: Any,
    most: Any,
    alone: Any,
    low: Any,
    high: Any,
) -> int:
    """Return what `cost_of` says of a cluster that one site leaves and another joins; -1: none."""
    row = counts[c]
    if out >= 0:
        size -= sizes[out]
        for e in range(column_starts[out], column_starts[out + 1]):
            row[columns[e]] -= numbers[e]
    if into >= 0:
        size += sizes[into]
        for e in range(column_starts[into], column_starts[into + 1]):
            row[columns[e]] += numbers[e]
    cost = cost_of(c, size, row, least_size, most_size, least, most, alone, low, high)
    if out >= 0:
        for e in range(column_starts[out], column_starts[out + 1]):
            row[columns[e]] += numbers[e]
    if into >= 0:
        for e in range(column_starts[into], column_starts[into + 1]):
            row[columns[e]] -= numbers[e]
    return cost


@compiled
def foes_in(foe_starts: Any, foes: Any, labels: Any, site: int, a: int, b: int, besides: int) -> int:
    """Return how many more of those to be apart from a site are in cluster b than in a, but for one (-1: none)."""
    more = 0
    for e in range(foe_starts[site], foe_starts[site + 1]):
        if foes[e] != besides:
            more += (labels[foes[e]] == b) - (labels[foes[e]] == a)
    return more


@compiled
def shift_links(
    site_of: Any,
    first: Any,
    nodes: Any,
    friends: Any,
    needed: Any,
    kept: Any,
    labels: Any,
    site: int,
    a: int,
    b: int,
) -> int:
    """Update what links are kept as a site goes from cluster a to b, and return how many more are lacking.

    The label of the site itself is not looked at: going back undoes everything.
    """
    link_starts, links, asker_starts, askers = friends
    change, n = 0, site_of.size
    for place in range(first[site], first[site + 1]):
        node = nodes[place]
        for row in range(node, needed.size, n):
            before = max(needed[row] - kept[row], 0)
            for e in range(link_starts[row], link_starts[row + 1]):
                if site_of[links[e]] != site:
                    cluster = labels[site_of[links[e]]]
                    kept[row] += (cluster == b) - (cluster == a)
            change += max(needed[row] - kept[row], 0) - before
        for e in range(asker_starts[node], asker_starts[node + 1]):
            row = askers[e]
            if site_of[row % n] == site:
                continue
            cluster = labels[site_of[row % n]]
            if cluster == a:
                kept[row] -= 1
                if kept[row] < needed[row]:
                    change += 1
            elif cluster == b:
                if kept[row] < needed[row]:
                    change -= 1
                kept[row] += 1
    return change


@compiled
def strangers(first: Any, nodes: Any, home: Any, site: int, a: int, b: int) -> int:
    """Return how many more nodes of a site are away from home in cluster b than in a."""
    more = 0
    for place in range(first[site], first[site + 1]):
        more += (home[nodes[place]] == a) - (home[nodes[place]] == b)
    return more


@compiled
def stand(duties: Any, labels: Any, n_clusters: int, sizes: Any) -> Any:
    """Return how far labels keep the duties."""
    (site_of, first, nodes, _, foe_starts, foes, least_size, most_size, column_starts, columns, numbers,
     least, most, alone, low, high, needed, link_starts, links, _, _, home, allowed, _) = duties  # fmt: skip
    counts = np.zeros((n_clusters, least.shape[1]), dtype=np.int64)
    size = np.zeros(n_clusters, dtype=np.int64)
    tally = np.zeros(3, dtype=np.int64)
    for i in range(labels.size):
        size[labels[i]] += sizes[i]
        for e in range(column_starts[i], column_starts[i + 1]):
            counts[labels[i], columns[e]] += numbers[e]
        for e in range(foe_starts[i], foe_starts[i + 1]):
            # Every pair is met twice.
            tally[BROKEN] += 1 if foes[e] > i and labels[foes[e]] == labels[i] else 0
        if home.size > 0:
            for place in range(first[i], first[i + 1]):
                tally[MOVED] += 0 <= home[nodes[place]] != labels[i]
    costs = np.zeros(n_clusters, dtype=np.int64)
    for c in range(n_clusters):
        costs[c] = cost_of(c, size[c], counts[c], least_size, most_size, least, most, alone, low, high)
        tally[BROKEN] += costs[c]
    kept = np.zeros(needed.size, dtype=np.int64)
    for row in range(needed.size):
        cluster = labels[site_of[row % site_of.size]]
        for e in range(link_starts[row], link_starts[row + 1]):
            kept[row] += labels[site_of[links[e]]] == cluster
        tally[LACKING] += max(needed[row] - kept[row], 0)
    tally[BROKEN] += tally[LACKING] + max(tally[MOVED] - allowed, 0)
    return Standing(counts, costs, kept, tally)


@compiled
def transfer(column_starts: Any, columns: Any, numbers: Any, counts: Any, site: int, a: int, b: int) -> None:
    """Count a site in another cluster."""
    for e in range(column_starts[site], column_starts[site + 1]):
        counts[a, columns[e]] -= numbers[e]
        counts[b, columns[e]] += numbers[e]
