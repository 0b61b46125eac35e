r"""Deep fair factorisation: multiplicative updates of a membership that is a product of layers.

With :math:`\Psi = \Psi_i H_i \Phi_i` (previous layers, layer i, following layers), the update of layer i is

.. math::
    H_i \leftarrow H_i \odot \Bigl(\frac{\Psi_i^\top (A \Psi (W + W^\top) + \lambda L^- \Psi) \Phi_i^\top}
    {\Psi_i^\top (\Psi (W^\top G W + W G W^\top) + \lambda L^+ \Psi) \Phi_i^\top}\Bigr)^\eta, \qquad G = \Psi^\top \Psi.

No array is larger than n times the first layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.callbacks import Notifier
from equigraph._utils.parameters import AnyOf, Boolean, Choice, Constraint, Instance, Integer, Real
from equigraph.base import Clustering, Problem
from equigraph.exceptions import ParameterError
from equigraph.factorization.factors import Factorization
from equigraph.factorization.multiplicative import (
    FLOOR,
    PanelSteps,
    Sums,
    interaction_tables,
    iterate,
    multiplicative_updates,
)
from equigraph.factorization.penalties import GroupParity, Penalty, over_attributes
from equigraph.graph.validate import in_users_unit
from equigraph.stores.products import Product, SerialProduct, product_of, single_blas_thread


@dataclass(eq=False, repr=False)
class DFNMF(Factorization):
    r"""Deep fair nonnegative matrix factorisation.

    .. math::
        \min_{H_1, \dots, H_p, W \ge 0} \|A - \Psi W \Psi^\top\|_F^2 + \lambda \|F^\top \Psi\|_F^2,
        \qquad \Psi = H_1 H_2 \cdots H_p,

    where F is the centred group matrix. The layers coarsen the graph step by step: each inner layer finds small
    clusters that the next one merges. Every product with :math:`F F^\top` costs O(n k). Nodes without an edge have a
    membership of 0, at no further cost.

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
        Largest number of iterations of the joint training.
    tol : float, default=1e-4
        Stop when :math:`\Psi` changes by less than this in one iteration, relative to its norm.
    random_state : int, Generator, RandomState or None
        Seed of the start.
    callbacks : callable or list of callables, optional
        Called after every iteration; returning True stops the run. See docs/callbacks.md.
    time_limit : float, optional
        Time limit in seconds, after which the run stops and the current result is kept.
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

    fairness: float = 1.0
    _: KW_ONLY
    layers: tuple[int, ...] = (64,)
    all_columns: bool = True
    exponent: float = 0.25
    pretrain_iter: int = 50

    _parameters: ClassVar[dict[str, Constraint]] = {
        **Factorization._parameters,
        "fairness": Real(low=0, help="Weight (lambda) of the group-parity penalty."),
        "layers": AnyOf(
            options=(Instance(methods=("__iter__",), words="a list or a tuple"),),
            help="Sizes of the inner layers, descending.",
        ),
        "all_columns": Boolean(help="Penalise all groups rather than all but the last."),
        "exponent": Choice(values=(0.25, 0.5), help="Root of the multiplicative step."),
        "pretrain_iter": Integer(low=0, help="Iterations for each layer before the joint training."),
    }

    def _fit(self, problem: Problem) -> Clustering:
        layers = _usable_layers(self.layers, self.n_clusters, problem.n_nodes)
        make = partial(GroupParity, all_columns=self.all_columns)
        penalty = over_attributes(problem.attributes, make, self.fairness)
        product = product_of(problem.adjacency)
        with self._notifier() as notify, single_blas_thread():
            H, W = pretrain(product, layers, problem.rng(), max_iter=self.pretrain_iter, notify=notify)
            steps = LayerSteps(product, H, penalty, self.exponent)
            factors = iterate(steps, W, max_iter=self.max_iter, tol=self.tol, notify=notify)
        self._warn_unless_converged(factors)
        psi, W = in_users_unit(factors.H, factors.W, problem.unit)
        attributes = {**factors.attributes, "layers_": layers}
        return Clustering(membership=psi, interaction=W, attributes=attributes)


def _usable_layers(layers: tuple[int, ...], n_clusters: int, n_nodes: int) -> tuple[int, ...]:
    sizes: NDArray = np.asarray(tuple(layers))
    if sizes.size and (sizes.dtype.kind not in "iu" or (sizes < 1).any() or (np.diff(sizes) >= 0).any()):
        raise ParameterError(f"DFNMF: layers must be descending whole numbers; got {tuple(layers)!r}.")
    return (*(int(size) for size in sizes if n_clusters < size < n_nodes), n_clusters)


def pretrain(
    product: Product, layers: Sequence[int], rng: np.random.Generator, *, max_iter: int, notify: Notifier
) -> tuple[list[NDArray], NDArray]:
    """Fit the layers successively: A = H1 W1 H1', W1 = H2 W2 H2', and so on."""

    def pretraining(stage: str, step: int, total: int, objective: float) -> bool:
        return notify("pretraining", step, total, objective)

    H: list[NDArray] = []
    target = product
    # The updates set the row of a node without an edge to 0, where it remains.
    used = (product(np.ones((product.n_nodes, 1)))[:, 0] > 0) | (max_iter == 0)
    for size in layers:
        H0 = np.zeros((used.size, size))
        H0[used] = rng.random((np.count_nonzero(used), size))
        W = np.eye(size) + 1 / size
        if max_iter:
            factors = multiplicative_updates(target, H0, W, max_iter=max_iter, tol=0, notify=pretraining)
            H0, W = factors.H, factors.W
        H.append(H0)
        used, target = np.ones(size, dtype=bool), SerialProduct(sparse.csr_array(W))
    return H, W


class LayerSteps(PanelSteps):
    """Update steps of a membership that is a product of layers; each step updates all layers in order.

    H, also as the argument of the penalty, is the product of all layers.
    """

    def __init__(self, product: Product, layers: Sequence[NDArray], penalty: Penalty, exponent: float):
        super().__init__(product, _chain(layers), penalty)
        self._layers, self._exponent = list(layers), exponent

    def advance(self, W: NDArray[np.float64], HH: NDArray[np.float64], weights: NDArray[np.float64]) -> Sums:
        """Replace H by the next one and return its sums."""
        self._last = self._H
        for i in range(len(self._layers)):
            self._layers[i] = self._updated(i, W, HH)
            self._H = _chain(self._layers)
            sums = self._sums()
            HH = sums.HH
        return sums

    def _updated(self, i: int, W: NDArray[np.float64], HH: NDArray[np.float64]) -> NDArray:
        right, middle = interaction_tables(W, HH)
        positive, negative = self._penalty_products
        pull, push = self._AH @ right + negative, self._H @ middle + positive
        if i > 0:
            before = _chain(self._layers[:i])
            pull, push = before.T @ pull, before.T @ push
        if i < len(self._layers) - 1:
            after = _chain(self._layers[i + 1 :]).T
            pull, push = pull @ after, push @ after
        return self._layers[i] * (pull / np.maximum(push, FLOOR)) ** self._exponent


def _chain(factors: Sequence[NDArray]) -> NDArray:
    """Return the product of matrices, multiplied from the right, where they are small."""
    out = factors[-1]
    for factor in reversed(factors[:-1]):
        out = factor @ out
    return out
