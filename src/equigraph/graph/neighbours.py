"""Nearest-neighbour graphs of points, with similarities as weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from equigraph.exceptions import GraphError, ParameterError, only_ours
from equigraph.graph.graph import Graph


def knn_graph(X: Any, n_neighbors: int = 10, *, metric: str = "euclidean") -> Graph:
    r"""Return the graph of nearest neighbours of points, with similarities as weights.

    Two points are linked if one is among the nearest neighbours of the other. The weight of the link is

    .. math:: w_{ij} = \exp\bigl(-d_{ij}^2 / s_{ij}^2\bigr), \qquad s_{ij} = (\sigma_i + \sigma_j) / 2,

    where :math:`\sigma_i` is the distance of point i to its last neighbour [1]_: 1 for equal points, never below
    :math:`e^{-4}`, whatever the unit and the density of the points.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_points, n_features)
        The points. Columns should be on one scale, such as by ``sklearn.preprocessing.StandardScaler``.
    n_neighbors : int, default=10
        Number of neighbours of each point, itself not counted.
    metric : str, default="euclidean"
        Distance between points, as in ``sklearn.neighbors.NearestNeighbors``.

    Returns
    -------
    Graph
        One node per row, in the order of the rows and without names: `sensitive_features` beside it are taken in that
        order too.

    Raises
    ------
    GraphError
        If the points are not finite numbers.
    ParameterError
        If there are not more points than neighbours.

    References
    ----------
    .. [1] L. Zelnik-Manor and P. Perona, "Self-tuning spectral clustering", NeurIPS 2004.

    Examples
    --------
    >>> graph = knn_graph([[0.0], [0.1], [0.3], [5.0], [5.1], [5.3]], n_neighbors=2)
    >>> graph
    Graph(6 nodes, 6 edges)
    >>> graph.adjacency[[0], :].toarray().round(2).tolist()
    [[0.0, 0.85, 0.37, 0.0, 0.0, 0.0]]
    """
    from sklearn.neighbors import NearestNeighbors

    if isinstance(n_neighbors, bool) or not isinstance(n_neighbors, (int, np.integer)) or n_neighbors < 1:
        raise ParameterError(f"n_neighbors must be a whole number of at least 1; got {n_neighbors!r}.")
    if isinstance(X, Graph):
        raise GraphError("A Graph has its links already: knn_graph expects points, one per row.")
    if np.ndim(X) == 1:
        raise GraphError(
            "The points have one dimension: expected a table with one row per point, such as X[:, None]."
        )
    with only_ours("The points cannot be used", GraphError):
        search = NearestNeighbors(n_neighbors=int(n_neighbors), metric=metric).fit(X)
    n = search.n_samples_fit_
    if n <= n_neighbors:
        raise ParameterError(f"n_neighbors={n_neighbors} needs more than {n_neighbors} points; got {n}.")
    with only_ours("The points cannot be used", GraphError):
        distances, neighbours = search.kneighbors()
    sources = np.repeat(np.arange(n), n_neighbors)
    targets, radius = neighbours.ravel(), distances[:, -1]
    # One of two linked points has the other within its radius, so the scale is 0 only for equal points.
    scale = (radius[sources] + radius[targets]) / 2
    ratio = np.divide(distances.ravel(), scale, out=np.zeros(scale.size), where=scale > 0)
    directed = sparse.csr_array((np.exp(-(ratio**2)), (sources, targets)), shape=(n, n))
    return Graph(directed.maximum(directed.T))
