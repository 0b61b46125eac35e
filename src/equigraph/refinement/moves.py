"""Compiled loops of the local moves. Imported at fit, so that nothing heavy loads with the package."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.compilation import compiled
from equigraph.refinement.objective import BALANCE, MOUFLON

# Gains are differences of numbers of the order of one over the number of edges; below this is rounding.
TOLERANCE = 1e-12
# With at most this many clusters, and a fixed number, a node may also join a cluster that it has no edge to.
MOST_EVERYWHERE = 64


class Terms(NamedTuple):
    """The objective, as plain values; see `equigraph.refinement.objective.Objective`."""

    shares: NDArray[np.float64]
    n_nodes: int
    total: float
    resolution: float
    fairness: float
    notion: int
    least: int
    most: int


class Sites(NamedTuple):
    """The super-nodes of a level; a node only sees neighbours with the same entry of ``bounds``."""

    indptr: NDArray
    indices: NDArray
    data: NDArray[np.float64]
    strength: NDArray[np.float64]
    counts: NDArray[np.int64]
    bounds: NDArray[np.integer]


class Clusters(NamedTuple):
    """The clusters, updated in place by every move.

    ``members`` counts super-nodes, ``scores`` holds what each cluster adds to the notion, ``score_sum[0]``
    their sum, ``empty[: n_empty[0]]`` the labels that are free.
    """

    labels: NDArray[np.int64]
    volume: NDArray[np.float64]
    table: NDArray[np.int64]
    members: NDArray[np.int64]
    scores: NDArray[np.float64]
    score_sum: NDArray[np.float64]
    empty: NDArray[np.int64]
    n_empty: NDArray[np.int64]
    # Work space: weight from the node at hand to each cluster, whether it is listed, and the list.
    links: NDArray[np.float64]
    marked: NDArray[np.bool_]
    touched: NDArray[np.int64]


@compiled
def score(row: Any, delta: Any, sign: int, terms: Any) -> float:
    """Return what a cluster with counts ``row + sign * delta`` adds to the notion (BALANCE: to the sum)."""
    size = 0
    least = row[0] + sign * delta[0]
    most = least
    for s in range(row.size):
        count = row[s] + sign * delta[s]
        size += count
        least = min(least, count)
        most = max(most, count)
    if size == 0 or least == 0:
        return 0.0
    if terms.notion == BALANCE:
        return least / most
    if terms.notion == MOUFLON:
        # With a single group nothing is left over and nothing can be unfair: the term is 0 by its factor.
        return (row.size - 1) * least / max(size - least, 1) * size / terms.n_nodes
    worst = 1.0
    for s in range(row.size):
        ratio = (row[s] + sign * delta[s]) / (size * terms.shares[s])
        worst = min(worst, ratio, 1.0 / ratio)
    return worst * size / terms.n_nodes


@compiled
def notion_change(change: float, score_sum: float, n_before: int, n_after: int, notion: int) -> float:
    """Return the change of the notion when the sum of scores and the number of clusters change."""
    if notion != BALANCE:
        return change
    if n_before == n_after:
        return change / n_before
    return (score_sum + change) / n_after - score_sum / n_before


@compiled
def better(dq: float, dn: float, best_q: float, best_n: float, fairness: float) -> bool:
    """Return whether the first pair of changes (of Q, of the notion) beats the second."""
    if fairness >= 1.0:
        if abs(dn - best_n) > TOLERANCE:
            return dn > best_n
        return dq > best_q + TOLERANCE
    return (1.0 - fairness) * (dq - best_q) + fairness * (dn - best_n) > TOLERANCE


@compiled
def start(sites: Any, labels: Any, n_slots: int, terms: Any) -> Any:
    """Return the clusters of labels in ``range(n_slots)``; slots without a node are free."""
    n_groups = sites.counts.shape[1]
    volume = np.zeros(n_slots)
    table = np.zeros((n_slots, n_groups), dtype=np.int64)
    members = np.zeros(n_slots, dtype=np.int64)
    for node in range(labels.size):
        cluster = labels[node]
        members[cluster] += 1
        volume[cluster] += sites.strength[node]
        for s in range(n_groups):
            table[cluster, s] += sites.counts[node, s]
    scores = np.zeros(n_slots)
    empty = np.empty(n_slots, dtype=np.int64)
    n_empty = np.zeros(1, dtype=np.int64)
    nothing = np.zeros(n_groups, dtype=np.int64)
    for cluster in range(n_slots - 1, -1, -1):
        if members[cluster] == 0:
            empty[n_empty[0]] = cluster
            n_empty[0] += 1
        elif terms.fairness > 0:
            scores[cluster] = score(table[cluster], nothing, 1, terms)
    score_sum = np.array([scores.sum()])
    links = np.zeros(n_slots)
    marked = np.zeros(n_slots, dtype=np.bool_)
    # One more than there are clusters: a free label may be listed behind all of them.
    touched = np.empty(n_slots + 1, dtype=np.int64)
    return Clusters(labels, volume, table, members, scores, score_sum, empty, n_empty, links, marked, touched)


@compiled
def gather(sites: Any, clusters: Any, node: int) -> int:
    """List the clusters next to a node with the weight to each, and return how many there are."""
    count = 0
    for entry in range(sites.indptr[node], sites.indptr[node + 1]):
        other = sites.indices[entry]
        if sites.bounds[other] != sites.bounds[node]:
            continue
        cluster = clusters.labels[other]
        if not clusters.marked[cluster]:
            clusters.marked[cluster] = True
            clusters.touched[count] = cluster
            count += 1
        clusters.links[cluster] += sites.data[entry]
    return count


@compiled
def forget(clusters: Any, count: int) -> None:
    """Clear what `gather` listed."""
    for position in range(count):
        cluster = clusters.touched[position]
        clusters.links[cluster] = 0.0
        clusters.marked[cluster] = False


@compiled
def best_target(
    sites: Any, clusters: Any, terms: Any, node: int, count: int, forced: bool
) -> tuple[int, float, float]:
    """Return the best of the first ``count`` listed clusters and the changes of Q and of the notion.

    Staying (no change) competes too, unless ``forced``; -1 when there is nothing to choose from.
    """
    source = clusters.labels[node]
    counts = sites.counts[node]
    strength = sites.strength[node]
    inverse = 1.0 / terms.total if terms.total > 0 else 0.0
    alone = clusters.members[source] == 1
    n_clusters = clusters.volume.size - clusters.n_empty[0]
    left = score(clusters.table[source], counts, -1, terms) if terms.fairness > 0 else 0.0
    best, best_q, best_n = -1 if forced else source, 0.0, 0.0
    bounded = terms.least > 1 or terms.most < terms.n_nodes
    if bounded and clusters.table[source].sum() - counts.sum() < terms.least:
        return best, best_q, best_n
    for position in range(count):
        target = clusters.touched[position]
        if target == source:
            continue
        if bounded and clusters.table[target].sum() + counts.sum() > terms.most:
            continue
        reach = clusters.volume[target] - clusters.volume[source] + strength
        dq = 2.0 * inverse * (clusters.links[target] - clusters.links[source])
        dq -= 2.0 * terms.resolution * (inverse * strength) * (inverse * reach)
        dn = 0.0
        if terms.fairness > 0:
            change = left + score(clusters.table[target], counts, 1, terms)
            change -= clusters.scores[source] + clusters.scores[target]
            n_after = n_clusters - int(alone) + int(clusters.members[target] == 0)
            dn = notion_change(change, clusters.score_sum[0], n_clusters, n_after, terms.notion)
        if best < 0 or better(dq, dn, best_q, best_n, terms.fairness):
            best, best_q, best_n = target, dq, dn
    return best, best_q, best_n


@compiled
def move(sites: Any, clusters: Any, terms: Any, node: int, target: int) -> None:
    """Put a node into another cluster; a free ``target`` must be the last of the free labels."""
    source = clusters.labels[node]
    if clusters.members[target] == 0:
        clusters.n_empty[0] -= 1
    clusters.labels[node] = target
    clusters.members[source] -= 1
    clusters.members[target] += 1
    clusters.volume[source] -= sites.strength[node]
    clusters.volume[target] += sites.strength[node]
    if terms.fairness > 0:
        clusters.score_sum[0] -= clusters.scores[source] + clusters.scores[target]
        clusters.scores[source] = score(clusters.table[source], sites.counts[node], -1, terms)
        clusters.scores[target] = score(clusters.table[target], sites.counts[node], 1, terms)
        clusters.score_sum[0] += clusters.scores[source] + clusters.scores[target]
    for s in range(clusters.table.shape[1]):
        clusters.table[source, s] -= sites.counts[node, s]
        clusters.table[target, s] += sites.counts[node, s]
    if clusters.members[source] == 0:
        clusters.volume[source] = 0.0
        clusters.empty[clusters.n_empty[0]] = source
        clusters.n_empty[0] += 1


@compiled
def candidates(
    sites: Any, clusters: Any, node: int, count: int, keep_clusters: bool, everywhere: bool
) -> int:
    """Add to the listed clusters those that need no edge, and return how many there are then."""
    if keep_clusters:
        if sites.indptr[node] < sites.indptr[node + 1] and not everywhere:
            return count
        for cluster in range(clusters.volume.size):
            clusters.touched[cluster] = cluster
        return int(clusters.volume.size)
    if clusters.n_empty[0] == 0 or clusters.members[clusters.labels[node]] == 1:
        return count
    clusters.touched[count] = clusters.empty[clusters.n_empty[0] - 1]
    return count + 1


@compiled
def move_nodes(
    sites: Any,
    clusters: Any,
    terms: Any,
    order: Any,
    keep_clusters: bool,
    max_visits: int,
    max_moves: int,
    least_gain: float,
) -> tuple[int, float, float]:
    """Move nodes to the best cluster of a neighbour, or to a new one, while the objective rises.

    All nodes are visited in ``order``, then those next to a moved one, and again all until nothing moves:
    fairness ties clusters together that share no edge, so a quiet neighbourhood proves nothing. With
    ``keep_clusters`` no cluster is emptied or added, and nodes without edges may go anywhere; so may all
    nodes where fairness or bounds on sizes count and clusters are few.
    A round over all nodes that brings less than ``least_gain`` is the last one, if that is not 0.
    Returns the number of moves and the changes of Q and of the notion.
    """
    n = order.size
    queue = np.empty(n, dtype=np.int64)
    queued = np.empty(n, dtype=np.bool_)
    # For Q alone some neighbour's cluster is as good as any other, but not if that one is full.
    elsewhere = terms.fairness > 0 or terms.least > 1 or terms.most < terms.n_nodes
    everywhere = keep_clusters and elsewhere and clusters.volume.size <= MOST_EVERYWHERE
    n_moves, visits, gain_q, gain_n, gain = 0, 0, 0.0, 0.0, 0.0
    while True:
        queue[:] = order
        queued[:] = True
        head, waiting, moves_before, gain_before = 0, n, n_moves, gain
        while waiting > 0 and visits < max_visits and n_moves < max_moves:
            node = queue[head]
            head = head + 1 if head + 1 < n else 0
            waiting -= 1
            queued[node] = False
            visits += 1
            if keep_clusters and clusters.members[clusters.labels[node]] == 1:
                continue
            listed = gather(sites, clusters, node)
            count = candidates(sites, clusters, node, listed, keep_clusters, everywhere)
            target, dq, dn = best_target(sites, clusters, terms, node, count, False)
            forget(clusters, count if everywhere else listed)
            if target == clusters.labels[node]:
                continue
            move(sites, clusters, terms, node, target)
            n_moves += 1
            gain_q += dq
            gain_n += dn
            for entry in range(sites.indptr[node], sites.indptr[node + 1]):
                other = sites.indices[entry]
                if clusters.labels[other] != target and not queued[other]:
                    tail = head + waiting
                    queue[tail if tail < n else tail - n] = other
                    queued[other] = True
                    waiting += 1
        # At f = 1 moves that only raise Q are worth something too, hence the cap.
        share = min(terms.fairness, 0.9)
        gain = (1.0 - share) * gain_q + share * gain_n
        if gain - gain_before < least_gain:
            return n_moves, gain_q, gain_n
        if n_moves == moves_before or visits >= max_visits or n_moves >= max_moves:
            return n_moves, gain_q, gain_n


@compiled
def absorb(sites: Any, clusters: Any, terms: Any, order: Any, n_wanted: int) -> None:
    """Merge single super-nodes, in ``order``, into the best cluster next to each, until ``n_wanted`` stay.

    A super-node that another one has joined stays, so one call may not reach ``n_wanted``. Those without a
    neighbour are merged with each other.
    """
    orphans = -1
    for node in order:
        if clusters.volume.size - clusters.n_empty[0] <= n_wanted:
            return
        if clusters.members[clusters.labels[node]] != 1:
            continue
        if sites.indptr[node] == sites.indptr[node + 1]:
            target = orphans
            if orphans < 0:
                orphans = clusters.labels[node]
        else:
            listed = gather(sites, clusters, node)
            target, _, _ = best_target(sites, clusters, terms, node, listed, True)
            forget(clusters, listed)
        if target >= 0:
            move(sites, clusters, terms, node, target)
