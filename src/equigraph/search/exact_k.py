"""Exactly k clusters from any labels: split, merge greedily, then move with k fixed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph.exceptions import InfeasibleError, InputError
from equigraph.metrics.notions import Notion
from equigraph.search.folding import rows_of
from equigraph.search.levels import Level, aggregate, compact
from equigraph.search.multilevel import climb, local_moves
from equigraph.search.objective import Objective, problem_of

# All pairs of this many clusters are cheap to keep (8 MB) and to scan; more are first absorbed by neighbours.
_MOST_PAIRED = 1024
_DOUBLINGS = 12


def exactly_k(
    adjacency: sparse.csr_array,
    labels: ArrayLike,
    k: int,
    codes: NDArray | None = None,
    *,
    fairness: float = 0.0,
    notion: str | Notion = "normalized",
    resolution: float = 1.0,
    max_passes: int = 100,
    seed: int = 0,
) -> NDArray[np.int32]:
    r"""Turn any labels into exactly k non-empty clusters with a high :math:`(1 - f) Q + f N`.

    Too few clusters are broken into parts by local moves at a higher resolution. Too many are merged, always
    the pair that changes the objective best (beyond 1,024 clusters the smallest are first merged with a
    neighbour). Then nodes and parts of clusters move, with k fixed, while the objective rises.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A validated graph.
    labels : array-like of shape (n_nodes,)
        Nonnegative integer labels to start from, in any numbering.
    k : int
        Number of clusters wanted.
    codes : ndarray of shape (n_nodes,), optional
        Group of each node; without it there is no fairness term.
    fairness : float, default=0
        The dial f in [0, 1].
    notion : str or Notion, default="normalized"
        The fairness N; see `FairLouvain`.
    resolution : float, default=1
        Weight of the null model in Q.
    max_passes : int, default=100
        Most visits of a round of moves, in multiples of the number of nodes.
    seed : int, default=0
        Draws the order of the visits.

    Returns
    -------
    ndarray of shape (n_nodes,), int32
        Labels in ``range(k)``, all of them used.

    Raises
    ------
    InfeasibleError
        If k is below 1 or above the number of nodes.

    Examples
    --------
    >>> path = sparse.csr_array(np.eye(6, k=1) + np.eye(6, k=-1))
    >>> labels = exactly_k(path, np.zeros(6, dtype=int), 3)
    >>> np.bincount(labels).tolist()
    [2, 2, 2]
    """
    n = adjacency.shape[0]
    if not 1 <= k <= n:
        raise InfeasibleError(
            f"{k} non-empty clusters cannot be made of {n} nodes: ask for a number from 1 to {n}."
        )
    objective, level = problem_of(adjacency, codes, fairness=fairness, notion=notion, resolution=resolution)
    start = compact(_checked_labels(labels, n))
    return fix_clusters(level, start, k, objective, np.random.default_rng(seed), max_passes=max_passes)


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
    """Do what `exactly_k` says, for compact labels of a level and an objective."""
    if int(labels.max()) + 1 < k:
        labels = _split(level, labels, k, objective, rng, max_passes)
    if int(labels.max()) + 1 > k:
        labels = merge_clusters(level, labels, k, k, objective)
    labels, _ = climb(
        level, labels, objective, rng, keep_clusters=True, max_passes=max_passes, tol=tol, exact=exact
    )
    return labels


def _checked_labels(labels: ArrayLike, n_nodes: int) -> NDArray:
    array = np.asarray(labels)
    if array.shape != (n_nodes,) or array.dtype.kind not in "iu" or array.min() < 0:
        raise InputError(
            f"labels has shape {array.shape} and dtype {array.dtype}: expected {n_nodes} nonnegative whole "
            "numbers, one per node."
        )
    return np.unique(array, return_inverse=True)[1]


def _split(
    level: Level,
    labels: NDArray[np.int32],
    k: int,
    objective: Objective,
    rng: np.random.Generator,
    max_passes: int,
) -> NDArray[np.int32]:
    """Break clusters into parts, at least k in all, by modularity alone: the merging restores fairness."""
    alone = np.arange(level.n_nodes, dtype=np.int32)
    for doubling in range(_DOUBLINGS):
        sharper = replace(objective, fairness=0.0, resolution=objective.resolution * 2.0**doubling)
        parts = local_moves(level, alone, sharper, rng, within=labels, max_passes=max_passes).labels
        parts = compact(parts)
        if int(parts.max()) + 1 >= k:
            return parts
    return alone


def merge_clusters(
    level: Level, labels: NDArray[np.int32], n_least: int, n_most: int, objective: Objective
) -> NDArray[np.int32]:
    """Merge clusters greedily; return compact labels at the best moment with n_least to n_most clusters."""
    from equigraph.search.kernels.climb import absorb
    from equigraph.search.kernels.merge import merge_pairs
    from equigraph.search.kernels.state import start

    score, terms = objective.score, objective.terms()
    coarse = aggregate(level, labels, objective)
    most = max(n_least, _MOST_PAIRED)
    while coarse.n_nodes > most:
        sites = coarse.sites()
        step = np.arange(coarse.n_nodes, dtype=np.int32)
        clusters = start(sites, step, coarse.n_nodes, score, terms)
        by_size = np.argsort(coarse.sizes, kind="stable")
        absorb(sites, step, clusters, score, terms, by_size, most)
        step = compact(step)
        labels, coarse = step[labels], aggregate(coarse, step, objective)
    if coarse.n_nodes <= n_least:
        return labels
    between, volume = coarse.graph.toarray(), coarse.strength.copy()
    table = rows_of(coarse.counts.copy(), coarse.held, objective.population, objective.first)
    most = min(n_most, coarse.n_nodes)
    merged = merge_pairs(between, volume, table, *coarse.held, n_least, most, score, terms)
    return compact(merged)[labels]
