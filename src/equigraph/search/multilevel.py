"""Local moves on all levels of a graph, as functions on arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.search.levels import Level, aggregate, compact
from equigraph.search.objective import Objective

# Parts of clusters make the next level only if it is this much smaller, and whole clusters do otherwise.
_LEAST_SHRINKAGE = 0.8


@dataclass(frozen=True)
class Moved:
    """Labels after some moves (not compact), how many there were, and what they changed."""

    labels: NDArray[np.int32]
    n_moves: int
    modularity_change: float
    notion_change: float


def local_moves(
    level: Level,
    labels: NDArray,
    objective: Objective,
    rng: np.random.Generator | None,
    *,
    within: NDArray[np.int32] | None = None,
    keep_clusters: bool = False,
    max_passes: int = 100,
    least_gain: float = 0.0,
) -> Moved:
    """Move single (super-)nodes between clusters while the objective rises.

    Parameters
    ----------
    level : Level
        The graph.
    labels : ndarray of shape (level.n_nodes,)
        Compact labels to start from; not changed.
    objective : Objective
        What has to rise.
    rng : Generator or None
        Draws the order of the visits; without one it is that of the nodes, which suits large graphs.
    within : ndarray of shape (level.n_nodes,), optional
        A node only joins clusters of neighbours with the same entry.
    keep_clusters : bool
        Whether the number of clusters is fixed.
    max_passes : int
        Most passes over the nodes.
    least_gain : float
        A pass over all nodes that brings no more is the last one; 0 goes on until nothing moves.

    Returns
    -------
    Moved
        The new labels. With ``least_gain=0``, fewer passes than allowed mean that no move to the cluster of a
        neighbour, or to a cluster of its own, raises the objective.
    """
    from equigraph.search.kernels.climb import climb
    from equigraph.search.kernels.state import start

    n = level.n_nodes
    sites, score, terms = level.sites(), objective.score, objective.terms()
    labels = labels.astype(np.int32)
    n_slots = int(labels.max()) + 1 if keep_clusters else n
    clusters = start(sites, labels, n_slots, score, terms)
    order = np.arange(n) if rng is None else rng.permutation(n)
    seen = np.zeros(0, dtype=np.int32) if within is None else within
    n_moves, gain_q, gain_n = climb(
        sites, labels, clusters, score, terms, order, seen, keep_clusters, max_passes, least_gain
    )
    return Moved(labels, int(n_moves), float(gain_q), float(gain_n))


def climb(
    level: Level,
    labels: NDArray[np.int32],
    objective: Objective,
    rng: np.random.Generator,
    *,
    keep_clusters: bool = False,
    max_passes: int = 100,
    max_cycles: int = 20,
    tol: float = 1e-4,
    exact: bool = True,
) -> tuple[NDArray[np.int32], int]:
    """Repeat moves of nodes and moves of sets of nodes until neither raises the objective.

    Parameters
    ----------
    level : Level
        The graph.
    labels : ndarray of shape (level.n_nodes,)
        Compact labels to start from.
    objective, rng, keep_clusters, max_passes
        See `local_moves`.
    max_cycles : int
        Most rounds from the nodes up to the largest sets.
    tol : float
        A round that brings less is the last one.
    exact : bool
        Whether to end with labels that are locally optimal for moves of single nodes.

    Returns
    -------
    labels : ndarray of shape (level.n_nodes,)
        Compact labels.
    n_cycles : int
        Rounds done.
    """
    options: dict[str, Any] = {"keep_clusters": keep_clusters, "max_passes": max_passes}
    n_cycles, gain = 0, np.inf
    while n_cycles < max_cycles and gain >= tol:
        fine = local_moves(level, labels, objective, rng, least_gain=tol / 10, **options)
        labels, coarse = _coarse_moves(level, compact(fine.labels), objective, rng, tol / 10, **options)
        gain = _gain([fine, *coarse], objective)
        n_cycles += 1
    if exact:
        labels = compact(local_moves(level, labels, objective, rng, **options).labels)
    return labels, n_cycles


def _gain(moved: list[Moved], objective: Objective) -> float:
    """Return what moves brought."""
    modularity = sum(one.modularity_change for one in moved)
    return objective.value(modularity, sum(one.notion_change for one in moved))


def _coarse_moves(
    level: Level,
    labels: NDArray[np.int32],
    objective: Objective,
    rng: np.random.Generator,
    least_gain: float,
    **options: Any,
) -> tuple[NDArray[np.int32], list[Moved]]:
    """Move ever larger parts of clusters; return the labels of the nodes and what was moved at each level.

    As in the Leiden method, what moves are parts found inside the clusters, not only whole clusters. Parts are made for
    cohesion alone: mixed ones would be fairer to move, and bring no more for twice the time.
    """
    cohesion = replace(objective, fairness=0.0)
    path, history = [], []
    while True:
        n_clusters = int(labels.max()) + 1
        if n_clusters == level.n_nodes:
            break
        alone = np.arange(level.n_nodes, dtype=np.int32)
        parts = compact(local_moves(level, alone, cohesion, rng, within=labels, max_passes=1).labels)
        if int(parts.max()) + 1 > _LEAST_SHRINKAGE * level.n_nodes:
            parts = labels
        path.append(parts)
        level = aggregate(level, parts, objective)
        coarse = np.empty(level.n_nodes, dtype=np.int32)
        coarse[parts] = labels
        moved = local_moves(level, coarse, objective, rng, least_gain=least_gain, **options)
        labels = compact(moved.labels)
        history.append(moved)
        if moved.n_moves == 0 and level.n_nodes == n_clusters:
            break
    for parts in reversed(path):
        labels = labels[parts]
    return labels, history
