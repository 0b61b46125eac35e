"""Swaps of two nodes in one walk along the rows: where sizes are tied, no node can move alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.compilation import compiled
from equigraph.search.kernels.changes import group_change
from equigraph.search.kernels.climb import gather, kind_of
from equigraph.search.kernels.state import (
    N_CLUSTERS,
    SUM,
    TOLERANCE,
    count_folded,
    notion_gain,
    rescore,
    scored,
)


class Waiting(NamedTuple):
    """One node for each cluster, cluster it would go to, and kind (its first group): ``who`` is -1 where none waits.

    What is kept of a node is exact: a swap forgets all who have to do with one of its two clusters.
    """

    who: NDArray[np.int64]
    gain: NDArray[np.float64]
    strength: NDArray[np.float64]
    columns: NDArray[np.int32]


def waiting_room(n_clusters: int, n_kinds: int, n_attributes: int) -> Waiting:
    """Return a room in which nobody waits."""
    shape = (n_clusters, n_clusters, max(n_kinds, 1))
    columns = np.zeros((*shape, n_attributes), dtype=np.int32)
    return Waiting(np.full(shape, -1, dtype=np.int64), np.zeros(shape), np.zeros(shape), columns)


@compiled
def _notion_change(clusters: Any, terms: Any, c: int, leaving: Any, joining: Any) -> float:
    """Return the change of what a cluster adds to the notion when a node leaves and another joins, by their groups."""
    change = 0.0
    for a in range(terms.offsets.size - 1):
        if leaving[a] != joining[a]:
            change += group_change(clusters, terms, c, a, np.int64(leaving[a]), np.int64(joining[a]))
    return change


@compiled
def _exchange_counts(clusters: Any, terms: Any, c: int, leaving: Any, joining: Any) -> None:
    """Bring the counts of a cluster up to date, and what it adds to the notion."""
    for a in range(terms.offsets.size - 1 if terms.fairness > 0 else 0):
        for sign, groups in ((np.int64(-1), leaving), (np.int64(1), joining)):
            if groups[a] >= 0:
                clusters.table[c, terms.offsets[a] + groups[a]] += sign
            elif groups[a] < -1:
                g = np.int64(-2 - groups[a])
                count_folded(terms.first, clusters.table, clusters.keys, clusters.held, c, g, sign)
    rescore(clusters, terms, c)


@compiled
def swap_rows(
    sites: Any, labels: Any, clusters: Any, score: Any, values: Any, low: int, waiting: Any, gained: Any
) -> None:
    """Visit some rows once: each node changes places with the one that raises the objective most, or waits itself.

    Parameters
    ----------
    sites, labels, clusters, score, values, low
        As in `equigraph.search.kernels.climb.climb_rows`; the sites are nodes.
    waiting : Waiting
        Nodes of these rows and of rows before that would go elsewhere; changed in place.
    gained : ndarray of shape (2,)
        Swaps, and what the objective rose by: added to.
    """
    terms = scored(score, values)
    indptr, indices, data, strength, _, columns, _, _, _, _ = sites
    _, _, first, _, _, sized, _, total, resolution, f, cap, _, _ = terms
    volume, _, _, _, _, tally, _, _, _, _, _, _ = clusters
    who, waiting_gain, waiting_strength, waiting_columns = waiting
    n_slots, n_kinds = volume.size, who.shape[2]
    inverse = 1.0 / total if total > 0 else 0.0
    links, touched = np.zeros(n_slots), np.empty(n_slots, dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int32)
    for site in range(strength.size):
        a = labels[low + site]
        count = gather(indptr, indices, data, labels, nothing, low, site, links, touched)
        best, partner, target, kind = TOLERANCE, np.int64(-1), np.int64(-1), 0
        for place in range(count):
            c = touched[place]
            if c == a:
                continue
            for g in range(n_kinds):
                other = who[c, a, g]
                if other < 0:
                    continue
                shift = inverse * (strength[site] - waiting_strength[c, a, g])
                change_q = 2.0 * inverse * (links[c] - links[a] + waiting_gain[c, a, g])
                change_q -= 2.0 * resolution * shift * (inverse * volume[c] - inverse * volume[a] + shift)
                if f == 0.0 and change_q <= best:
                    continue
                change_n = 0.0
                if f > 0:
                    leaving, joining = columns[site], waiting_columns[c, a, g]
                    change = _notion_change(clusters, terms, a, leaving, joining)
                    change += _notion_change(clusters, terms, c, joining, leaving)
                    n_clusters = tally[N_CLUSTERS]
                    change_n = notion_gain(tally[SUM], n_clusters, sized, cap, change, n_clusters)
                if (1.0 - f) * change_q + f * change_n <= best:
                    continue
                # An edge between the two stays outside, and both have counted it.
                for entry in range(indptr[site], indptr[site + 1]):
                    if indices[entry] == other:
                        change_q -= 4.0 * inverse * data[entry]
                gain = (1.0 - f) * change_q + f * change_n
                if gain > best:
                    best, partner, target, kind = gain, other, c, g
        if partner >= 0:
            shift = strength[site] - waiting_strength[target, a, kind]
            joining = waiting_columns[target, a, kind].copy()
            labels[low + site], labels[partner] = target, a
            volume[a] -= shift
            volume[target] += shift
            _exchange_counts(clusters, terms, a, columns[site], joining)
            _exchange_counts(clusters, terms, target, joining, columns[site])
            for c in (np.int64(a), target):
                who[c] = -1
                who[:, c] = -1
            gained[0] += 1
            gained[1] += best
        else:
            g = kind_of(first, np.int64(columns[site, 0])) % n_kinds
            for place in range(count):
                c = touched[place]
                if c != a and (who[a, c, g] < 0 or links[c] - links[a] > waiting_gain[a, c, g]):
                    who[a, c, g] = low + site
                    waiting_gain[a, c, g] = links[c] - links[a]
                    waiting_strength[a, c, g] = strength[site]
                    waiting_columns[a, c, g] = columns[site]
        for place in range(count):
            links[touched[place]] = 0.0
