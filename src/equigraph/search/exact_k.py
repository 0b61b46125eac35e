"""Exactly k clusters from the labels of any method."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph.exceptions import InfeasibleError


def exactly_k(
    adjacency: sparse.csr_array, labels: ArrayLike, k: int, *, resolution: float = 1.0, seed: int = 0
) -> NDArray[np.int32]:
    """Turn any labels into exactly k non-empty clusters of high modularity.

    Too few clusters are broken into parts by local moves at a higher resolution. Too many are merged, always
    the pair that changes modularity best (beyond 1,024 clusters the smallest are first merged with a
    neighbour). Then nodes and parts of clusters move, with k fixed, while modularity rises.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A validated graph.
    labels : array-like of shape (n_nodes,)
        Integer labels to start from, in any numbering.
    k : int
        Number of clusters wanted.
    resolution : float, default=1
        Weight of the null model in Q.
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
    from equigraph.search.level import first_level
    from equigraph.search.merge import fix_clusters
    from equigraph.search.objective import make_objective

    n = adjacency.shape[0]
    if not 1 <= k <= n:
        raise InfeasibleError(
            f"{k} non-empty clusters cannot be made of {n} nodes: ask for a number from 1 to {n}."
        )
    objective, columns = make_objective(None, n_nodes=n, total=float(adjacency.sum()), resolution=resolution)
    level = first_level(adjacency, columns, objective.population.size)
    return fix_clusters(
        level,
        np.unique(labels, return_inverse=True)[1].astype(np.int32),
        k,
        objective,
        np.random.default_rng(seed),
    )
