"""Deep fair factorisation: the successor of iFairNMTF by the same authors."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Callbacks
from equigraph._utils.parameters import PROGRESS, AnyOf, Boolean, Choice, Constraint, Instance, Integer, Real
from equigraph._utils.randomness import RandomState
from equigraph.base import Clustering, GraphClusterer, Problem
from equigraph.exceptions import ParameterError
from equigraph.factorization.deep import OnRows, deep_updates, pretrain, with_rows
from equigraph.factorization.multiplicative import warn_unless_converged
from equigraph.factorization.penalties import GroupParity, Penalty, WeightedSum, over_attributes
from equigraph.graph.units import in_users_unit
from equigraph.stores import product_of, single_blas_thread


class DFNMF(GraphClusterer):
    r"""Deep fair nonnegative matrix factorisation.

    .. math::
        \min_{H_1, \dots, H_p, W \ge 0} \|A - \Psi W \Psi^\top\|_F^2 + \lambda \|F^\top \Psi\|_F^2,
        \qquad \Psi = H_1 H_2 \cdots H_p,

    where F is the centred group matrix. The layers coarsen the graph step by step: each of the inner ones finds
    small clusters that the next one merges. Every product with :math:`F F^\top` costs O(n k). Nodes without an edge
    have a membership of 0, and cost no more than that.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters k, the size of the last layer.
    fairness : float, default=1.0
        The weight :math:`\lambda` in [0, inf); its scale depends on the graph (the authors use .005 to 100), whose
        weights are taken in units of the largest.
    layers : tuple of int, default=(64,)
        Sizes of the inner layers, descending. Sizes that are not between n_clusters and the number of nodes
        are left out; the fitted attribute ``layers_`` says which were used.
    all_columns : bool, default=True
        Penalise all groups, which makes the result independent of their order; False leaves out the last one, as
        in the authors' code.
    exponent : {0.25, 0.5}, default=0.25
        Root of the multiplicative step: 0.25 as derived (never raises the objective), 0.5 as in the authors' code.
    pretrain_iter : int, default=50
        Iterations for each layer before all are trained together.
    max_iter : int, default=500
        Most iterations of the joint training.
    tol : float, default=1e-4
        Stop when :math:`\Psi` changes by less than this in one iteration, relative to its norm.
    random_state : int, Generator, RandomState or None
        Seed of the start.
    callbacks : callable or list of callables, optional
        Told after every iteration; one that returns True stops the run. See docs/callbacks.md.
    time_limit : float, optional
        Seconds after which the run is stopped and what it has is kept.
    verbose : bool, default=False
        Whether to log progress.

    Attributes
    ----------
    labels_, membership_, interaction_, n_nonempty_clusters_, seed_
        See `GraphClusterer`; ``membership_`` is :math:`\Psi`.
    layers_ : tuple of int
        Sizes of all layers, n_clusters last.
    objective_history_, n_iter_, status_
        As in `NMTF`.

    References
    ----------
    Ghodsi, Seyedi, Le Quy, Karimi, Ntoutsi. arXiv 2510.23507, 2025.

    Examples
    --------
    >>> import equigraph as eg
    >>> room = eg.datasets.make_classroom()
    >>> model = eg.DFNMF(n_clusters=3, fairness=0.1, layers=(8,), random_state=0, tol=0)
    >>> model.fit(room.adjacency, sensitive_features=room.sensitive_features).layers_
    (8, 3)
    """

    _square_passes: ClassVar[int] = 1
    _parameters: ClassVar[dict[str, Constraint]] = {
        **GraphClusterer._parameters,
        "fairness": Real(low=0, help="Weight (lambda) of the group-parity penalty."),
        "layers": AnyOf(
            options=(Instance(methods=("__iter__",)),), help="Sizes of the inner layers, descending."
        ),
        "all_columns": Boolean(help="Penalise all groups rather than all but the last."),
        "exponent": Choice(values=(0.25, 0.5), help="Root of the multiplicative step."),
        "pretrain_iter": Integer(low=0, help="Iterations for each layer before the joint training."),
        "max_iter": Integer(low=1, help="Most iterations of the joint training."),
        "tol": Real(low=0, help="Stop when the membership changes by less than this, relative to its norm."),
        **PROGRESS,
    }

    def __init__(
        self,
        n_clusters: int = 2,
        fairness: float = 1.0,
        *,
        layers: tuple[int, ...] = (64,),
        all_columns: bool = True,
        exponent: float = 0.25,
        pretrain_iter: int = 50,
        max_iter: int = 500,
        tol: float = 1e-4,
        random_state: RandomState = None,
        callbacks: Callbacks = None,
        time_limit: float | None = None,
        verbose: bool = False,
    ):
        self.n_clusters = n_clusters
        self.fairness = fairness
        self.layers = layers
        self.all_columns = all_columns
        self.exponent = exponent
        self.pretrain_iter = pretrain_iter
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.callbacks = callbacks
        self.time_limit = time_limit
        self.verbose = verbose

    def _fit(self, problem: Problem) -> Clustering:
        layers = _usable_layers(self.layers, self.n_clusters, problem.n_nodes)
        adjacency, penalty = problem.adjacency, self._penalty_of(problem)
        linked = np.flatnonzero(np.diff(adjacency.indptr))
        # Pretraining puts the rows of nodes without an edge to 0, where they stay: only the others are worth a layer.
        alone = self.pretrain_iter > 0 and 0 < linked.size < problem.n_nodes
        if alone:
            adjacency = adjacency[linked][:, linked]
            penalty = OnRows(penalty, linked, problem.n_nodes)
        product = product_of(adjacency)
        with self._notifier() as notify, single_blas_thread():
            start = pretrain(product, layers, problem.rng(), max_iter=self.pretrain_iter, notify=notify)
            factors = deep_updates(
                product,
                *start,
                penalty=penalty,
                exponent=self.exponent,
                max_iter=self.max_iter,
                tol=self.tol,
                notify=notify,
            )
        warn_unless_converged(self, factors)
        H = with_rows(factors.H, linked, problem.n_nodes) if alone else factors.H
        H, W = in_users_unit(H, factors.W, problem.unit)
        return Clustering(
            membership=H,
            interaction=W,
            attributes={**factors.attributes, "layers_": layers},
        )

    def _penalty_of(self, problem: Problem) -> Penalty:
        if problem.attributes is None or self.fairness == 0:
            return WeightedSum([])
        make = partial(GroupParity, all_columns=self.all_columns)
        return self.fairness * over_attributes(problem.attributes, make)


def _usable_layers(layers: tuple[int, ...], n_clusters: int, n_nodes: int) -> tuple[int, ...]:
    sizes: NDArray = np.asarray(tuple(layers))
    if sizes.size and (sizes.dtype.kind not in "iu" or (sizes < 1).any() or (np.diff(sizes) >= 0).any()):
        raise ParameterError(f"DFNMF: layers must be descending whole numbers; got {tuple(layers)!r}.")
    return (*(int(size) for size in sizes if n_clusters < size < n_nodes), n_clusters)
