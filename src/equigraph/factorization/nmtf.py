"""Estimators of the paper: NMTF without fairness, and iFairNMTF with the contrastive penalty."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Notifier
from equigraph._utils.parameters import Boolean, Choice, Constraint, Instance, Real
from equigraph._utils.randomness import as_seed
from equigraph.base import Clustering, Problem
from equigraph.exceptions import ParameterError
from equigraph.factorization.coordinate import coordinate_descent
from equigraph.factorization.factors import Factorization, Factors
from equigraph.factorization.multiplicative import (
    MOST_ENTRIES,
    has_row_form,
    keep_interaction,
    multiplicative_updates,
    run_fits,
)
from equigraph.factorization.penalties import (
    Contrastive,
    Penalty,
    WeightedSum,
    check_penalty,
    over_attributes,
)
from equigraph.factorization.starts import (
    custom_start,
    fair_labels,
    open_product,
    random_start,
    spectral_start,
    start_from_labels,
    svd_start,
)
from equigraph.graph.validate import in_users_unit
from equigraph.stores.products import Product, SerialProduct, StoreProduct, product_of, single_blas_thread
from equigraph.stores.stores import EXECUTION, is_out_of_core

_STARTS: dict[str, Callable[..., tuple[NDArray, NDArray]]] = {
    "svd": svd_start,
    "random": random_start,
    "spectral": spectral_start,
}


@dataclass(eq=False, repr=False)
class NMTF(Factorization):
    r"""Nonnegative matrix tri-factorisation of a graph.

    .. math:: \min_{H, W \ge 0} \|A - H W H^\top\|_F^2 + R(H)

    by multiplicative updates, where the weights of A are in units of the largest, so that the labels do not depend on
    the unit of the weights. Column l of H is the membership of the nodes in cluster l, W the interaction of the
    clusters, in the unit of the weights. R is an optional custom penalty; this class itself uses no groups.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    init : {"svd", "random", "spectral", "custom"}, default="svd"
        Start. "svd": H uniform, W the k largest singular values plus 0.1 on the diagonal (the start of the paper's
        authors). "random": both uniform. "spectral": labels of spectral clustering. "custom": ``fit(..., H=, W=)``.
    penalty : Penalty, optional
        Added to the objective, weights included, such as ``0.1 * GraphPenalty(similarity)``.
    solver : {"mu", "cd"}, default="mu"
        Multiplicative updates, as in the paper, or coordinate descent on the normalised objective, which needs a
        tenth of the iterations and takes no penalty (`FairNMTF` does).
    max_iter : int, default=500
        Largest number of iterations.
    tol : float, default=1e-4
        Stop when H changes by less than this in one iteration, relative to its norm; 0 runs ``max_iter`` iterations.
    dtype : {"float64", "float32"}, optional
        Precision of H; by default that of the adjacency.
    random_state : int, Generator, RandomState or None
        Seed of the start.
    execution : "dask", str or distributed.Client, optional
        Where rows of graph and membership are kept: by default in this process, with a `BlockGraph` on disk; "dask" on
        the workers of the current Dask cluster or of this machine, an address on those of the scheduler there. See
        docs/scale.md.
    callbacks : callable or list of callables, optional
        Called after every iteration; returning True stops the run. See docs/callbacks.md.
    time_limit : float, optional
        Time limit in seconds, after which the run stops and the current result is kept.
    verbose : bool, default=False
        Whether to log progress.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`.
    objective_history_ : ndarray of shape (n_iterations,)
        Objective after each iteration, weights in units of the largest.
    n_iter_ : int
        Number of iterations.
    status_ : str
        "converged", "max_iter", "stopped" (by a callback, the time limit or Ctrl-C) or "diverged". Reaching the default
        ``max_iter`` with the default ``tol``, as in the paper, is no reason for a warning; not meeting values of one's
        own is a ConvergenceWarning.

    References
    ----------
    Pei, Chakraborty, Sycara. Nonnegative Matrix Tri-Factorization with Graph Regularization for Community
    Detection in Social Networks. IJCAI 2015.

    Examples
    --------
    >>> import equigraph as eg
    >>> two_triangles = [
    ...     [0, 1, 1, 0, 0, 0],
    ...     [1, 0, 1, 0, 0, 0],
    ...     [1, 1, 0, 1, 0, 0],
    ...     [0, 0, 1, 0, 1, 1],
    ...     [0, 0, 0, 1, 0, 1],
    ...     [0, 0, 0, 1, 1, 0],
    ... ]
    >>> eg.NMTF(n_clusters=2, random_state=0).fit_predict(two_triangles).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    _: KW_ONLY
    init: str = "svd"
    penalty: Penalty | None = None
    solver: str = "mu"
    dtype: str | None = None
    execution: Any = None

    _parameters: ClassVar[dict[str, Constraint]] = {
        **Factorization._parameters,
        "init": Choice(values=("svd", "random", "spectral", "custom"), help="Start of the factorisation."),
        "penalty": Instance(
            methods=("positive", "negative"),
            words="a Penalty",
            optional=True,
            help="Further term of the objective.",
        ),
        "solver": Choice(values=("mu", "cd"), help="Multiplicative updates or coordinate descent."),
        "dtype": Choice(values=("float64", "float32"), optional=True, help="Precision of the factors."),
        "execution": EXECUTION,
    }

    _shares_fits: ClassVar[bool] = True

    def fit(
        self,
        X: Any,
        y: None = None,
        *,
        sensitive_features: Any = None,
        H: NDArray | None = None,
        W: NDArray | None = None,
    ) -> Self:
        """Factorise the graph; see `GraphClusterer.fit`.

        Parameters
        ----------
        X : graph
            Anything that `equigraph.graph.as_graph` takes.
        y : None
            Ignored.
        sensitive_features : array-like of shape (n_nodes,), optional
            Group of each node.
        H : ndarray of shape (n_nodes, n_clusters), optional
            Start of the membership with ``init="custom"``.
        W : ndarray of shape (n_clusters, n_clusters), optional
            Start of the interaction with ``init="custom"``.

        Returns
        -------
        self
            The fitted estimator.
        """
        problem, start = self._prepare(X, sensitive_features), None
        if self.init == "custom":
            start = custom_start(H, W, problem.n_nodes, self.n_clusters, problem.unit)
        elif H is not None or W is not None:
            raise ParameterError(
                f"{type(self).__name__}: init={self.init!r} makes its own start and would ignore the H or W "
                f"that was given: say init='custom', or leave them out."
            )
        opened = open_product(problem, self.execution, self.dtype)
        with self._notifier() as notify, opened as (product, dtype):
            H, W = start or self._start(problem, product)
            H = H.astype(dtype, copy=False)
            if self.penalty is not None:
                check_penalty(self.penalty, H)
            factors = self._solve(product, H, W, self._penalty_of(problem), notify)
        return self._finish(problem, self._clustering(problem, factors))

    def _penalty_of(self, problem: Problem) -> Penalty:
        """Return all penalties that are added to the reconstruction error."""
        return WeightedSum([] if self.penalty is None else [(1.0, self.penalty)])

    def _start(self, problem: Problem, product: Product) -> tuple[NDArray, NDArray]:
        if not is_out_of_core(problem.graph, self.execution):
            product = SerialProduct(problem.adjacency)
        elif self.init == "spectral":
            labels = fair_labels(problem, product, self.n_clusters, strength=0.0, seed=problem.seed)
            return start_from_labels(product, labels, self.n_clusters)
        return _STARTS[self.init](product, self.n_clusters, problem.rng())

    def _clustering(self, problem: Problem, factors: Factors) -> Clustering:
        self._warn_unless_converged(factors, self._divergence_reason(problem, factors))
        H, W = in_users_unit(factors.H, factors.W, problem.unit)
        return Clustering(membership=H, interaction=W, attributes=factors.attributes)

    def _fit_together(
        self, problem: Problem, models: Sequence[NMTF]
    ) -> Iterator[tuple[int, Callable[[], NMTF]]] | None:
        """Run the fits in parallel, one thread each; see `GraphClusterer`."""
        by_updates = self.init != "custom" and self.solver == "mu"
        watched = self.callbacks is not None or self.time_limit is not None or self.verbose
        if is_out_of_core(problem.graph, self.execution) or not by_updates or watched:
            return None
        dtype = np.dtype(self.dtype or problem.adjacency.dtype)
        product = product_of(problem.adjacency.astype(dtype, copy=False))
        if not isinstance(product, StoreProduct) or problem.n_nodes * self.n_clusters > MOST_ENTRIES:
            return None
        problems = [replace(problem, seed=as_seed(model.random_state)) for model in models]
        penalties = [model._penalty_of(own) for model, own in zip(models, problems, strict=True)]
        if not all(map(has_row_form, penalties)):
            return None
        starts: dict[int, tuple[NDArray, NDArray]] = {}
        for own in problems:
            if own.seed not in starts:
                H, W = self._start(own, product)
                starts[own.seed] = H.astype(dtype, copy=False), W
        if self.penalty is not None:
            check_penalty(self.penalty, starts[problems[0].seed][0])
        fits = [(*starts[own.seed], penalty) for own, penalty in zip(problems, penalties, strict=True)]

        def finished(model: NMTF, own: Problem, factors: Factors) -> NMTF:
            return model._finish(own, model._clustering(own, factors))

        runs = run_fits(product, fits, max_iter=self.max_iter, tol=self.tol)
        return ((i, partial(finished, models[i], problems[i], factors)) for i, factors in runs)

    def _solve(self, product: Product, H: NDArray, W: NDArray, penalty: Penalty, notify: Notifier) -> Factors:
        options: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "notify": notify}
        if self.solver == "mu":
            return multiplicative_updates(product, H, W, penalty=penalty, **options)
        if self.penalty is not None:
            raise ParameterError(
                "NMTF: solver='cd' works on the normalised objective, in which the weight of this "
                "penalty would mean something else: use solver='mu', or FairNMTF(penalty=...)."
            )
        return coordinate_descent(product, H, W, **options)

    def _divergence_reason(self, problem: Problem, factors: Factors) -> str:
        """Return the likely cause of a divergence, as the end of a sentence."""
        return ""


@dataclass(eq=False, repr=False)
class IFairNMTF(NMTF):
    r"""Individually fair tri-factorisation, as the paper defines it.

    .. math:: \min_{H, W \ge 0} \|A - H W H^\top\|_F^2 + \lambda \mathrm{Tr}(H^\top L H), \qquad L = N - P,

    with the contrastive penalty of `equigraph.penalties.Contrastive`: a node is drawn to nodes of other groups and
    away from nodes of its own. Every product with L costs O(n k); no n x n array is formed.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k.
    fairness : float, default=1.0
        The weight :math:`\lambda` in [0, inf). It has no natural scale: the paper uses [0, 100] for small and
        [0, 3500] for large graphs, whose weights are all 1. Of a weighted graph, A is taken in units of its largest
        weight: what the paper's formula calls :math:`\lambda` is this number times the square of that weight.
    self_pairs : bool, default=True
        Whether a node counts in the average of its own group (as printed in the paper) or not (as in the
        authors' code).
    init : {"svd", "random", "spectral", "custom"}, default="svd"
        Start; see `NMTF`.
    penalty : Penalty, optional
        A further term, added to the contrastive one.
    max_iter : int, default=500
        Largest number of iterations, by default that of the paper.
    tol : float, default=1e-4
        Stop when H changes by less than this in one iteration, relative to its norm; 0 runs ``max_iter`` iterations.
        The objective is not a criterion here, as it may rise for unequal groups.
    dtype : {"float64", "float32"}, optional
        Precision of H; by default that of the adjacency.
    random_state : int, Generator, RandomState or None
        Seed of the start.
    execution : "dask", str or distributed.Client, optional
        Where rows of graph and membership are kept: by default in this process, with a `BlockGraph` on disk; "dask" on
        the workers of the current Dask cluster or of this machine, an address on those of the scheduler there. See
        docs/scale.md.
    callbacks : callable or list of callables, optional
        Called after every iteration; returning True stops the run. See docs/callbacks.md.
    time_limit : float, optional
        Time limit in seconds, after which the run stops and the current result is kept.
    verbose : bool, default=False
        Whether to log progress.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`.
    objective_history_, n_iter_, status_
        See `NMTF`.

    Notes
    -----
    For unequal groups the symmetric part of L is indefinite and the scale of H is free, so the objective has no
    lower bound. With a large :math:`\lambda` the factors then overflow (a ConvergenceWarning; the last finite ones
    are kept) or all nodes end in one cluster (an EmptyClusterWarning).

    References
    ----------
    Ghodsi, Seyedi, Ntoutsi. Towards Cohesion-Fairness Harmony: Contrastive Regularization in Individual Fair
    Graph Clustering. PAKDD 2024.

    Examples
    --------
    >>> import equigraph as eg
    >>> sbm = eg.datasets.make_fair_sbm(400, 2, 2, probabilities=(0.4, 0.3, 0.2, 0.1), random_state=0)
    >>> model = eg.IFairNMTF(n_clusters=2, fairness=400, tol=0, random_state=0)
    >>> labels = model.fit_predict(sbm.adjacency, sensitive_features=sbm.sensitive_features)
    >>> eg.metrics.clustering_accuracy(sbm.target, labels) > 0.95
    True
    """

    fairness: float = 1.0
    _: KW_ONLY
    self_pairs: bool = True
    # This model is defined by multiplicative updates.
    solver: str = field(init=False, default="mu")

    _parameters: ClassVar[dict[str, Constraint]] = {
        **{name: constraint for name, constraint in NMTF._parameters.items() if name != "solver"},
        "fairness": Real(low=0, help="Weight (lambda) of the contrastive penalty."),
        "self_pairs": Boolean(help="Whether a node counts in the average of its own group."),
    }

    def _penalty_of(self, problem: Problem) -> Penalty:
        make = partial(Contrastive, self_pairs=self.self_pairs)
        return over_attributes(problem.attributes, make, self.fairness) + super()._penalty_of(problem)

    def _divergence_reason(self, problem: Problem, factors: Factors) -> str:
        groups = problem.groups
        unequal = groups is not None and groups.sizes.min() < groups.sizes.max()
        if self.fairness > 0 and unequal and factors.n_iter > 0:
            return f": fairness={self.fairness!r} is too large for groups this unequal"
        return ""

    def _empty_clusters_hint(self) -> str:
        if self.fairness == 0:
            return ""
        return f" A smaller fairness than {self.fairness:g}, or another seed, may fill them."


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
