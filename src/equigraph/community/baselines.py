"""Baselines without fairness: adapters of Leiden and Louvain from other libraries, and random labels.

igraph and leidenalg are under the GPL: they are optional, and only called if they are installed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.parameters import AnyOf, Choice, Constraint, Instance, Integer, Real
from equigraph._utils.randomness import RandomState
from equigraph.base import Clustering, GraphClusterer, Problem
from equigraph.exceptions import ParameterError, require


@dataclass(eq=False, repr=False)
class _Adapter(GraphClusterer):
    """Base class: a modularity method of another library, then exactly k clusters if ``n_clusters`` is given."""

    n_clusters: int | None = None
    _: KW_ONLY
    resolution: float = 1.0
    random_state: RandomState = None

    _parameters: ClassVar[dict[str, Constraint]] = {
        **GraphClusterer._parameters,
        "n_clusters": Integer(
            low=2, optional=True, help="Number of clusters; by default that found by the method."
        ),
        "resolution": Real(low=0, help="Weight of the null model in Q."),
    }

    def _fit(self, problem: Problem) -> Clustering:
        adjacency = problem.adjacency
        # Without edges there is nothing to optimise, and the libraries disagree on what to return.
        labels = self._labels(adjacency, problem.seed) if adjacency.nnz else np.arange(problem.n_nodes)
        labels = np.unique(labels, return_inverse=True)[1]
        if self.n_clusters is not None:
            from equigraph.search.large import make_search

            options: dict[str, Any] = {"resolution": self.resolution, "seed": problem.seed}
            labels = make_search(adjacency, None, self.n_clusters, **options).exactly(labels)
        return Clustering(labels=labels, attributes={"n_clusters_": int(labels.max()) + 1})

    def _labels(self, adjacency: sparse.csr_array, seed: int) -> NDArray:
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class Leiden(_Adapter):
    r"""Leiden on modularity, by igraph, leidenalg or networkit; groups are ignored.

    .. math:: \max_{\text{labels}} \; Q

    A reference for the price of fairness: the Q of this method is compared with that of a fair one.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. By default that found by the library; a given number is reached exactly by splitting or
        merging clusters afterwards, which is not part of the library.
    backend : {"igraph", "networkit", "leidenalg"}, default="igraph"
        The library to call; all three are in the extra ``peers``.
    resolution : float, default=1.0
        Weight of the null model in Q.
    n_iterations : int, default=2
        Rounds over all levels; -1 repeats until nothing improves (networkit: at most 100).
    random_state : int, Generator, RandomState or None
        Seed passed to the library.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`; with ``n_clusters=None`` membership and interaction are sparse.
    n_clusters_ : int
        Number of clusters found.

    Notes
    -----
    The random generator of igraph is global: during the call it is a private one, afterwards Python's ``random``, the
    default. networkit runs on one thread during the call, since results would otherwise not be reproducible; its own
    seed stays as set here.

    References
    ----------
    Traag, Waltman, van Eck. From Louvain to Leiden: guaranteeing well-connected communities. Scientific
    Reports 9, 2019.

    Examples
    --------
    >>> import equigraph as eg
    >>> two_pairs = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    >>> eg.Leiden(random_state=0).fit_predict(two_pairs).tolist()
    [0, 0, 1, 1]
    """

    _: KW_ONLY
    backend: str = "igraph"
    n_iterations: int = 2

    _parameters: ClassVar[dict[str, Constraint]] = {
        **_Adapter._parameters,
        "backend": Choice(values=("igraph", "networkit", "leidenalg"), help="Library to call."),
        "n_iterations": AnyOf(
            options=(Integer(low=1), Choice(values=(-1,))),
            help="Rounds over all levels; -1 until nothing improves.",
        ),
    }

    def _labels(self, adjacency: sparse.csr_array, seed: int) -> NDArray:
        if self.backend == "networkit":
            rounds = 100 if self.n_iterations < 0 else self.n_iterations
            return _networkit(adjacency, seed, "ParallelLeiden", iterations=rounds, gamma=self.resolution)
        with _igraph(adjacency, seed) as (graph, weights):
            options: dict[str, Any] = {"weights": weights, "n_iterations": self.n_iterations}
            if self.backend == "igraph":
                options.update(objective_function="modularity", resolution=self.resolution)
                return np.asarray(graph.community_leiden(**options).membership)
            leidenalg = require("leidenalg", extra="peers", purpose="Leiden(backend='leidenalg')")
            # The library takes a C int.
            options.update(resolution_parameter=self.resolution, seed=seed % (2**31 - 1))
            kind = leidenalg.RBConfigurationVertexPartition
            return np.asarray(leidenalg.find_partition(graph, kind, **options).membership)


@dataclass(eq=False, repr=False)
class Louvain(_Adapter):
    r"""Louvain on modularity, by networkit or igraph; groups are ignored.

    .. math:: \max_{\text{labels}} \; Q

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. By default that found by the library; a given number is reached exactly by splitting or
        merging clusters afterwards, which is not part of the library.
    backend : {"networkit", "igraph"}, default="networkit"
        The library to call; both are in the extra ``peers``. That of networkit has a refinement step.
    resolution : float, default=1.0
        Weight of the null model in Q.
    random_state : int, Generator, RandomState or None
        Seed passed to the library.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`; with ``n_clusters=None`` membership and interaction are sparse.
    n_clusters_ : int
        Number of clusters found.

    Notes
    -----
    The notes of `Leiden` on random generators apply here too.

    References
    ----------
    Blondel, Guillaume, Lambiotte, Lefebvre. Fast unfolding of communities in large networks. Journal of
    Statistical Mechanics, 2008.

    Examples
    --------
    >>> import equigraph as eg
    >>> two_pairs = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    >>> eg.Louvain(random_state=0).fit_predict(two_pairs).tolist()
    [0, 0, 1, 1]
    """

    _: KW_ONLY
    backend: str = "networkit"

    _parameters: ClassVar[dict[str, Constraint]] = {
        **_Adapter._parameters,
        "backend": Choice(values=("networkit", "igraph"), help="Library to call."),
    }

    def _labels(self, adjacency: sparse.csr_array, seed: int) -> NDArray:
        if self.backend == "networkit":
            return _networkit(
                adjacency, seed, "PLM", refine=True, gamma=self.resolution, par="none randomized"
            )
        with _igraph(adjacency, seed) as (graph, weights):
            found = graph.community_multilevel(weights=weights, resolution=self.resolution)
        return np.asarray(found.membership)


@contextmanager
def _igraph(adjacency: sparse.csr_array, seed: int) -> Iterator[tuple[Any, list[float]]]:
    """Yield an igraph graph with the same node order and its edge weights, while igraph uses a seeded generator."""
    igraph = require("igraph", extra="peers", purpose="This backend")
    upper = sparse.triu(adjacency, k=1).tocoo()
    graph = igraph.Graph(n=adjacency.shape[0], edges=np.column_stack(upper.coords).tolist(), directed=False)
    igraph.set_random_number_generator(random.Random(seed))
    try:
        yield graph, upper.data.astype(np.float64).tolist()
    finally:
        igraph.set_random_number_generator(random)


def _networkit(adjacency: sparse.csr_array, seed: int, method: str, **options: Any) -> NDArray:
    """Return the labels of a method of networkit on one thread; the number of threads is restored."""
    networkit = require("networkit", extra="peers", purpose="This backend")
    # One triangle, since every edge is given once; 64-bit ids, since the constructor crashes with others.
    upper = sparse.triu(adjacency, k=1).tocoo()
    ends = tuple(np.ascontiguousarray(ids, dtype=np.uint64) for ids in upper.coords)
    weights = np.ascontiguousarray(upper.data, dtype=np.float64)
    threads = networkit.getMaxNumberOfThreads()
    networkit.setNumberOfThreads(1)
    networkit.setSeed(seed, False)
    try:
        graph = networkit.GraphFromCoo((weights, ends), n=adjacency.shape[0], weighted=True, directed=False)
        found = getattr(networkit.community, method)(graph, **options).run()
        return np.asarray(found.getPartition().getVector(), dtype=np.int64)
    finally:
        networkit.setNumberOfThreads(threads)


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
            methods=("__iter__", "__len__"),
            words="a list or a tuple",
            optional=True,
            help="Size of each cluster.",
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
