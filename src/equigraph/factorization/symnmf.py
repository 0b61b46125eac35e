"""Symmetric nonnegative factorisation of a graph."""

from __future__ import annotations

import numpy as np

from equigraph.base import Clustering, Problem
from equigraph.factorization.factors import Factorization
from equigraph.factorization.multiplicative import (
    keep_interaction,
    multiplicative_updates,
)
from equigraph.stores.products import product_of, single_blas_thread


class SymNMF(Factorization):
    r"""Symmetric nonnegative matrix factorisation, the simplest relative of iFairNMTF.

    .. math:: \min_{H \ge 0} \|A - H H^\top\|_F^2

    by multiplicative updates with the fourth root, which never raise the objective. No fairness.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    max_iter : int, default=500
        Largest number of iterations.
    tol : float, default=1e-4
        Stop when H changes by less than this in one iteration, relative to its norm.
    random_state : int, Generator, RandomState or None
        Seed of the uniform start.
    callbacks : callable or list of callables, optional
        Called after every iteration; returning True stops the run. See docs/callbacks.md.
    time_limit : float, optional
        Time limit in seconds, after which the run stops and the current result is kept.
    verbose : bool, default=False
        Whether to log progress.

    Attributes
    ----------
    labels_, membership_, n_nonempty_clusters_, seed_
        See `GraphClusterer`.
    interaction_ : ndarray of shape (n_clusters, n_clusters)
        The identity: clusters do not interact in this model.
    objective_history_, n_iter_, status_
        As in `NMTF`.

    References
    ----------
    Kuang, Ding, Park. Symmetric Nonnegative Matrix Factorization for Graph Clustering. SDM 2012.

    Examples
    --------
    >>> import equigraph as eg
    >>> two_pairs = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
    >>> eg.SymNMF(n_clusters=2, random_state=0).fit_predict(two_pairs).tolist()
    [0, 0, 1, 1]
    """

    def _fit(self, problem: Problem) -> Clustering:
        adjacency = problem.adjacency
        mean = float(adjacency.sum(dtype=np.float64)) / problem.n_nodes**2
        # Entries of H H' have the mean of A at the start.
        H = 2 * np.sqrt(mean / self.n_clusters) * problem.rng().random((problem.n_nodes, self.n_clusters))
        with self._notifier() as notify, single_blas_thread():
            factors = multiplicative_updates(
                product_of(adjacency),
                H.astype(adjacency.dtype),
                np.eye(self.n_clusters),
                fit=keep_interaction,
                max_iter=self.max_iter,
                tol=self.tol,
                notify=notify,
            )
        self._warn_unless_converged(factors)
        membership = factors.H * factors.H.dtype.type(np.sqrt(problem.unit))
        return Clustering(membership=membership, interaction=factors.W, attributes=factors.attributes)
