"""Labels with exactly k clusters from any labels: split at a higher resolution, or merged greedily."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from equigraph.search.arrays import Level
from equigraph.search.kernels.state import contributions
from equigraph.search.level import aggregate, compact
from equigraph.search.moves import climb, local_search
from equigraph.search.objective import Objective
from equigraph.search.partition import Partition

# The gains of all pairs of this many clusters fit in 8 MB; beyond, the smallest clusters first join neighbours.
_MOST_PAIRED = 1024
_DOUBLINGS = 12


def fix_clusters(
    level: Level,
    labels: NDArray[np.int32],
    k: int,
    objective: Objective,
    rng: np.random.Generator,
    *,
    max_passes: int = 100,
    tol: float = 1e-4,
    exact: bool = True,
) -> NDArray[np.int32]:
    """Split or merge clusters until there are exactly k, then move sites and parts of clusters.

    Too few clusters are split by local moves at a higher resolution. Too many are merged greedily, the pair with the
    largest gain first; beyond 1,024 clusters the smallest are first merged with a neighbour.
    """
    if int(labels.max()) + 1 < k:
        labels = split(level, labels, k, objective, rng, max_passes)
    labels = merge(level, labels, k, k, objective)
    return climb(level, labels, objective, rng, fixed=True, max_passes=max_passes, tol=tol, exact=exact)[0]


def split(
    level: Level,
    labels: NDArray[np.int32],
    k: int,
    objective: Objective,
    rng: np.random.Generator,
    max_passes: int = 100,
) -> NDArray[np.int32]:
    """Split clusters into at least k parts in all, by modularity alone: merging restores fairness."""
    alone = np.arange(level.n_sites, dtype=np.int32)
    for doubling in range(_DOUBLINGS):
        sharper = replace(
            objective.free().at(0.0), resolution=max(objective.resolution, 1e-3) * 2.0**doubling
        )
        parts = Partition(level, sharper, alone)
        local_search(parts, rng, within=labels, fixed=False, max_passes=max_passes)
        if np.unique(parts.labels).size >= k:
            return compact(parts.labels)
    return alone


def merge(
    level: Level, labels: NDArray[np.int32], n_least: int, n_most: int, objective: Objective
) -> NDArray[np.int32]:
    """Merge the pair of clusters with the largest gain, connected or not, repeatedly, even if the gain is negative.

    Returns the best compact labels with n_least to n_most clusters. A notion that is a plain mean over the clusters is
    treated as a sum divided by ``n_least``.
    """
    most = max(n_least, _MOST_PAIRED)
    coarse = aggregate(level, labels)
    while coarse.n_sites > most:
        step = _absorbed(coarse, most)
        labels, coarse = step[labels], aggregate(coarse, step)
    if coarse.n_sites <= n_least:
        return labels
    n = coarse.n_sites
    state = _MergeGains(coarse, objective, 1.0 if objective.notion.sized else 1.0 / n_least)
    owner = np.arange(n)
    best, best_gain, gain = owner.copy(), 0.0, 0.0
    for n_left in range(n - 1, n_least - 1, -1):
        step_gain, first, second = state.merge_best()
        owner[owner == second] = first
        gain += step_gain
        if n_left == n_most or (n_left < n_most and gain > best_gain) or (n_most >= n and gain > best_gain):
            best, best_gain = owner.copy(), gain
    return compact(best)[labels]


class _MergeGains:
    """Gain of merging each pair of clusters, updated after every merge."""

    def __init__(self, level: Level, objective: Objective, unit: float):
        n = level.n_sites
        graph = sparse.csr_array((level.data, level.indices, level.indptr), shape=(n, n))
        self.between, self.volume, self.table = graph.toarray(), level.strength.copy(), level.counts.copy()
        self.objective, self.unit = objective, unit
        self.alive = np.ones(n, dtype=np.bool_)
        self.scoring, self.parts = (objective.terms, objective.notion.compiled()), np.zeros(n)
        if objective.fairness > 0:
            self.parts = contributions(*self.scoring, self.table)
        self.gains = np.stack([self._row(cluster) for cluster in range(n)])
        self.partner = self.gains.argmax(axis=1)

    def merge_best(self) -> tuple[float, int, int]:
        """Merge the best pair; return its gain, the cluster that remains and the one that is removed."""
        gains, partner = self.gains, self.partner
        top = gains[np.arange(partner.size), partner]
        one = int(top.argmax())
        first, second = sorted((one, int(partner[one])))
        gain = float(top[one])
        self.volume[first] += self.volume[second]
        self.table[first] += self.table[second]
        self.between[first] += self.between[second]
        self.between[:, first] += self.between[:, second]
        self.alive[second] = False
        gains[second], gains[:, second] = -np.inf, -np.inf
        if self.objective.fairness > 0:
            self.parts[first] = contributions(*self.scoring, self.table[[first]])[0]
        gains[first] = gains[:, first] = self._row(first)
        better = gains[:, first] > gains[np.arange(partner.size), partner]
        partner[better] = first
        stale = np.flatnonzero((partner == first) | (partner == second))
        partner[stale] = gains[stale].argmax(axis=1)
        partner[first] = gains[first].argmax()
        return gain, first, second

    def _row(self, cluster: int) -> NDArray[np.float64]:
        """Return the gain of merging a cluster with each of the others."""
        objective = self.objective
        f, inverse = objective.fairness, 1.0 / objective.total if objective.total > 0 else 0.0
        gain = self.between[cluster] - objective.resolution * self.volume[cluster] * inverse * self.volume
        gain *= 2.0 * inverse * (1.0 - f)
        if f > 0:
            together = contributions(*self.scoring, self.table + self.table[cluster])
            gain += f * self.unit * (together - self.parts - self.parts[cluster])
        gain[~self.alive] = -np.inf
        gain[cluster] = -np.inf
        return gain


def _absorbed(level: Level, n_wanted: int) -> NDArray[np.int32]:
    """Merge the smallest clusters into the neighbour with the largest gain; those without one join each other."""
    n = level.n_sites
    by_size = np.argsort(level.sizes, kind="stable")
    small = by_size[: n - n_wanted]
    is_small = np.zeros(n, dtype=np.bool_)
    is_small[small] = True
    rows = np.repeat(np.arange(n), np.diff(level.indptr))
    total = max(level.strength.sum(), 1e-300)
    gain = level.data - level.strength[rows] * (level.strength[level.indices] / total)
    order = np.lexsort((gain, rows))
    last = level.indptr[1:][np.diff(level.indptr) > 0] - 1
    target = np.full(n, -1, dtype=np.int64)
    target[rows[order[last]]] = level.indices[order[last]]
    isolated = np.flatnonzero(is_small & (target < 0))
    target[isolated] = by_size[n - n_wanted] if isolated.size == 1 else isolated[:1]
    joined = sparse.coo_array((np.ones(small.size), (small, target[small])), shape=(n, n))
    return connected_components(joined, directed=False)[1].astype(np.int32)
