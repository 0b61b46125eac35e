"""Exactly k clusters from the labels of any method."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph.exceptions import InfeasibleError, InputError
from equigraph.metrics.notions import Notion


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
    from equigraph.search.level import first_level
    from equigraph.search.merge import fix_clusters
    from equigraph.search.objective import make_objective

    start = _checked_labels(labels, n)
    objective, columns = make_objective(
        codes,
        n_nodes=n,
        total=float(adjacency.sum()),
        notion=notion,
        fairness=fairness,
        resolution=resolution,
    )
    level = first_level(adjacency, columns, objective.population.size)
    return fix_clusters(level, start, k, objective, np.random.default_rng(seed), max_passes=max_passes)


def _checked_labels(labels: ArrayLike, n_nodes: int) -> NDArray[np.int32]:
    array = np.asarray(labels)
    if array.shape != (n_nodes,) or array.dtype.kind not in "iu" or array.min() < 0:
        raise InputError(
            f"labels has shape {array.shape} and dtype {array.dtype}: expected {n_nodes} nonnegative whole "
            "numbers, one per node."
        )
    return np.unique(array, return_inverse=True)[1].astype(np.int32)
