r"""Multiplicative updates of a factorisation whose membership is a product of layers.

With :math:`\Psi = \Psi_i H_i \Phi_i` (the layers before, the layer, the layers after), the update of layer i is

.. math::
    H_i \leftarrow H_i \odot \Bigl(\frac{\Psi_i^\top (A \Psi (W + W^\top) + \lambda L^- \Psi) \Phi_i^\top}
    {\Psi_i^\top (\Psi (W^\top G W + W G W^\top) + \lambda L^+ \Psi) \Phi_i^\top}\Bigr)^\eta, \qquad G = \Psi^\top \Psi.

No array is larger than n times the first layer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.callbacks import Notifier
from equigraph.factorization.multiplicative import (
    FLOOR,
    Factors,
    PanelSteps,
    Sums,
    iterate,
    multiplicative_updates,
)
from equigraph.factorization.penalties import Penalty
from equigraph.factorization.penalties.base import PenaltyTerms
from equigraph.stores import Product, SerialProduct


class OnRows(Penalty):
    """A penalty of all nodes, for a membership of some of them: the others have 0."""

    def __init__(self, penalty: Penalty, rows: NDArray[np.intp], n_nodes: int):
        self.penalty, self.rows, self.n_nodes = penalty, rows, n_nodes

    def positive(self, H: NDArray) -> NDArray:
        """Return what pushes the rows down."""
        return self.terms(H).positive

    def negative(self, H: NDArray) -> NDArray:
        """Return what pulls the rows up."""
        return self.terms(H).negative

    def terms(self, H: NDArray) -> PenaltyTerms:
        """Return both products and the value together."""
        terms = self.penalty.terms(with_rows(H, self.rows, self.n_nodes))
        return PenaltyTerms(terms.positive[self.rows], terms.negative[self.rows], terms.value)


def with_rows(H: NDArray, rows: NDArray[np.intp], n_nodes: int) -> NDArray:
    """Return a membership of all nodes, 0 where no row is given."""
    whole = np.zeros((n_nodes, H.shape[1]), dtype=H.dtype)
    whole[rows] = H
    return whole


def pretrain(
    product: Product, layers: Sequence[int], rng: np.random.Generator, *, max_iter: int, notify: Notifier
) -> tuple[list[NDArray], NDArray]:
    """Fit the layers one after the other: A = H1 W1 H1', W1 = H2 W2 H2', and so on."""

    def pretraining(stage: str, step: int, total: int, objective: float) -> bool:
        return notify("pretraining", step, total, objective)

    H: list[NDArray] = []
    rows, target = product.n_nodes, product
    for size in layers:
        H0 = rng.random((rows, size))
        W = np.eye(size) + 1 / size
        if max_iter:
            factors = multiplicative_updates(target, H0, W, max_iter=max_iter, tol=0, notify=pretraining)
            H0, W = factors.H, factors.W
        H.append(H0)
        rows, target = size, SerialProduct(sparse.csr_array(W))
    return H, W


def deep_updates(
    product: Product,
    H: Sequence[NDArray],
    W: NDArray,
    *,
    penalty: Penalty,
    exponent: float,
    max_iter: int,
    tol: float,
    notify: Notifier,
) -> Factors:
    """Train all layers together; the H that comes back, and that the penalty sees, is their product."""
    steps = _LayerSteps(product, H, penalty, exponent)
    return iterate(steps, W, max_iter=max_iter, tol=tol, fit_interaction=True, notify=notify)


class _LayerSteps(PanelSteps):
    """Steps of a membership that is a product of layers: each of them updates one layer after the other."""

    def __init__(self, product: Product, layers: Sequence[NDArray], penalty: Penalty, exponent: float):
        super().__init__(product, _chain(layers), penalty)
        self._layers, self._exponent = list(layers), exponent

    def advance(self, W: NDArray[np.float64], HH: NDArray[np.float64]) -> Sums:
        """Replace H by the next one and return its sums."""
        self._last = self._H
        for i in range(len(self._layers)):
            self._layers[i] = self._updated(i, W, HH)
            self._H = _chain(self._layers)
            sums = self._sums()
            HH = sums.HH
        return sums

    def _updated(self, i: int, W: NDArray[np.float64], HH: NDArray[np.float64]) -> NDArray:
        pull = self._AH @ (W + W.T) + self._terms.negative
        push = self._H @ (W.T @ HH @ W + W @ HH @ W.T) + self._terms.positive
        if i > 0:
            before = _chain(self._layers[:i])
            pull, push = before.T @ pull, before.T @ push
        if i < len(self._layers) - 1:
            after = _chain(self._layers[i + 1 :]).T
            pull, push = pull @ after, push @ after
        return self._layers[i] * (pull / np.maximum(push, FLOOR)) ** self._exponent


def _chain(factors: Sequence[NDArray]) -> NDArray:
    """Multiply from the right, where the matrices are small."""
    out = factors[-1]
    for factor in reversed(factors[:-1]):
        out = factor @ out
    return out
