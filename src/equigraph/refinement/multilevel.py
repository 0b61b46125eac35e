"""Local moves on all levels of a graph: the search behind `FairLouvain`, as functions on arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equigraph.refinement.aggregate import Level, aggregate, compact
from equigraph.refinement.objective import Objective

if TYPE_CHECKING:
    from equigraph.refinement.moves import Sites, Terms

# Parts of clusters make the next level only if it is this much smaller, and whole clusters do otherwise.
_LEAST_SHRINKAGE = 0.8


@dataclass(frozen=True)
class Moved:
    """Labels after some moves (not compact), how many there were, and what they changed."""

    labels: NDArray[np.int64]
    n_moves: int
    modularity_change: float
    notion_change: float


def terms_of(objective: Objective) -> Terms:
    """Return the objective in the form that compiled code takes."""
    from equigraph.refinement.moves import Terms

    return Terms(
        objective.shares,
        objective.n_nodes,
        objective.total,
        objective.resolution,
        objective.fairness,
        objective.notion,
        objective.least,
        objective.most,
    )


def sites_of(level: Level, bounds: NDArray[np.integer] | None = None) -> Sites:
    """Return the level in the form that compiled code takes."""
    from equigraph.refinement.moves import Sites

    if bounds is None:
        bounds = np.zeros(level.n_nodes, dtype=np.int64)
    graph = level.graph
    return Sites(graph.indptr, graph.indices, graph.data, level.strength, level.counts, bounds)


def local_moves(
    level: Level,
    labels: NDArray[np.int64],
    objective: Objective,
    rng: np.random.Generator,
    *,
    bounds: NDArray[np.int64] | None = None,
    keep_clusters: bool = False,
    max_passes: int = 100,
    max_moves: int | None = None,
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
    rng : Generator
        Draws the order of the visits.
    bounds : ndarray of shape (level.n_nodes,), optional
        A node only joins clusters of neighbours with the same entry.
    keep_clusters : bool
        Whether the number of clusters is fixed.
    max_passes : int
        Most visits, in multiples of the number of nodes.
    max_moves : int, optional
        Most moves.
    least_gain : float
        A round over all nodes that brings less is the last one; 0 goes on until nothing moves.

    Returns
    -------
    Moved
        The new labels. With ``least_gain=0``, fewer visits and moves than allowed mean that no move to the cluster of a
        neighbour, or to a cluster of its own, raises the objective.
    """
    from equigraph.refinement.moves import move_nodes, start

    n = level.n_nodes
    sites, terms = sites_of(level, bounds), terms_of(objective)
    n_slots = int(labels.max()) + 1 if keep_clusters else n
    clusters = start(sites, labels.astype(np.int64), n_slots, terms)
    order = rng.permutation(n)
    limit = np.iinfo(np.int64).max if max_moves is None else max_moves
    n_moves, gain_q, gain_n = move_nodes(
        sites, clusters, terms, order, keep_clusters, max_passes * n, limit, least_gain
    )
    return Moved(clusters.labels, int(n_moves), float(gain_q), float(gain_n))


def climb(
    level: Level,
    labels: NDArray[np.int64],
    objective: Objective,
    rng: np.random.Generator,
    *,
    keep_clusters: bool = False,
    max_passes: int = 100,
    max_cycles: int = 20,
    tol: float = 1e-4,
    exact: bool = True,
) -> tuple[NDArray[np.int64], int]:
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
    """Return what moves brought; at f = 1 those that only raise Q count too."""
    modularity = sum(one.modularity_change for one in moved)
    notion = sum(one.notion_change for one in moved)
    return modularity + notion if objective.fairness == 1 else objective.value(modularity, notion)


def _coarse_moves(
    level: Level,
    labels: NDArray[np.int64],
    objective: Objective,
    rng: np.random.Generator,
    least_gain: float,
    **options: Any,
) -> tuple[NDArray[np.int64], list[Moved]]:
    """Move ever larger parts of clusters; return the labels of the nodes and what was moved at each level.

    As in the Leiden method, what moves are parts found inside the clusters, not only whole clusters.
    """
    path, history = [], []
    while True:
        n_clusters = int(labels.max()) + 1
        if n_clusters == level.n_nodes:
            break
        alone = np.arange(level.n_nodes)
        parts = compact(local_moves(level, alone, objective, rng, bounds=labels, max_passes=1).labels)
        if int(parts.max()) + 1 > _LEAST_SHRINKAGE * level.n_nodes:
            parts = labels
        path.append(parts)
        level = aggregate(level, parts)
        coarse = np.empty(level.n_nodes, dtype=np.int64)
        coarse[parts] = labels
        moved = local_moves(level, coarse, objective, rng, least_gain=least_gain, **options)
        labels = compact(moved.labels)
        history.append(moved)
        if moved.n_moves == 0 and level.n_nodes == n_clusters:
            break
    for parts in reversed(path):
        labels = labels[parts]
    return labels, history
