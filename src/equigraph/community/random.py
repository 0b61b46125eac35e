"""Random labels, a baseline for fairness scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.parameters import Constraint, Instance
from equigraph._utils.randomness import RandomState
from equigraph.base import Clustering, GraphClusterer, Problem
from equigraph.exceptions import ParameterError


@dataclass(eq=False, repr=False)
class RandomClustering(GraphClusterer):
    """Random labels with clusters of given sizes; edges and groups are ignored.

    Random clusters mirror the population up to chance, so their balance is high and their modularity near 0. They are
    a baseline for fair methods.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    cluster_sizes : sequence of k positive int, optional
        Size of each cluster, n_nodes in total. By default as equal as possible.
    random_state : int, Generator, RandomState or None
        Seed of the labels.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`.

    Examples
    --------
    >>> import equigraph as eg
    >>> ring = np.roll(np.eye(7), 1, axis=1) + np.roll(np.eye(7), -1, axis=1)
    >>> labels = eg.RandomClustering(n_clusters=3, random_state=0).fit_predict(ring)
    >>> np.bincount(labels).tolist()
    [3, 2, 2]
    """

    n_clusters: int = 2
    _: KW_ONLY
    cluster_sizes: Sequence[int] | None = None
    random_state: RandomState = None

    _parameters: ClassVar[dict[str, Constraint]] = {
        **GraphClusterer._parameters,
        "cluster_sizes": Instance(
            methods=("__iter__", "__len__"), optional=True, help="Size of each cluster."
        ),
    }

    def _fit(self, problem: Problem) -> Clustering:
        sizes = cluster_sizes(problem.n_nodes, self.n_clusters, self.cluster_sizes)
        return Clustering(labels=problem.rng().permutation(np.repeat(np.arange(sizes.size), sizes)))


def cluster_sizes(n_nodes: int, n_clusters: int, sizes: Sequence[int] | None = None) -> NDArray[np.intp]:
    """Return validated sizes of the clusters, by default as equal as possible.

    Parameters
    ----------
    n_nodes, n_clusters : int
        Sum of the sizes, and their number.
    sizes : sequence of int, optional
        The sizes to validate.

    Returns
    -------
    ndarray of shape (n_clusters,)
        The sizes.

    Raises
    ------
    ParameterError
        If the sizes are not ``n_clusters`` positive whole numbers that sum to ``n_nodes``.

    Examples
    --------
    >>> cluster_sizes(8, 3).tolist()
    [3, 3, 2]
    """
    if sizes is None:
        share, extra = divmod(n_nodes, n_clusters)
        return np.full(n_clusters, share) + (np.arange(n_clusters) < extra)
    array = np.asarray(list(sizes))
    if array.shape != (n_clusters,) or array.dtype.kind not in "iu" or array.min() < 1:
        raise ParameterError(
            f"cluster_sizes={list(sizes)!r} does not fit n_clusters={n_clusters!r}: expected "
            f"{n_clusters} positive whole numbers."
        )
    if array.sum() != n_nodes:
        raise ParameterError(
            f"cluster_sizes sum to {array.sum()} and the graph has {n_nodes} nodes: expected the same number."
        )
    return array.astype(np.intp)
