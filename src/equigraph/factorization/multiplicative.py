r"""Multiplicative updates: the solver of the paper.

.. math::
    H &\leftarrow H \odot \Bigl(\frac{A H (W + W^\top) + \lambda L^- H}
                                     {H (W^\top H^\top H W + W H^\top H W^\top) + \lambda L^+ H}\Bigr)^{1/4} \\
    W &\leftarrow W \odot \frac{H^\top A H}{H^\top H W H^\top H}

The product A H that the update of W needs also serves the next update of H: one pass over the graph per iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Notifier
from equigraph._utils.text import count
from equigraph.exceptions import SchedulerLostError, SchedulerLostWarning, warn
from equigraph.factorization.factors import Factors, Status
from equigraph.factorization.penalties import Penalty, WeightedSum
from equigraph.factorization.penalties.base import form_of
from equigraph.stores.products import Product, StoreProduct, gram

if TYPE_CHECKING:
    from equigraph.factorization.row_steps import RowSteps

# Denominators of an update are kept above this floor, as in the authors' code.
FLOOR = 1e-10


class Sums(NamedTuple):
    """Small matrices and sums of a membership, wherever its rows are: H'H, H'AH and R of each column of H."""

    HH: NDArray[np.float64]
    HAH: NDArray[np.float64]
    costs: NDArray[np.float64]
    moved: float  # squared norm of the last change of H; 0 at the start


# Fit of W, from W, the sums and the number of the step: the next W, and the weight of the penalty in each column of H.
InteractionFit = Callable[[NDArray[np.float64], Sums, int], tuple[NDArray[np.float64], NDArray[np.float64]]]


def update_interaction(W: NDArray, sums: Sums, step: int) -> tuple[NDArray, NDArray]:
    """Return the next W by a multiplicative update, and weights of 1."""
    return W * sums.HAH / np.maximum(sums.HH @ W @ sums.HH, FLOOR), np.ones(len(W))


def keep_interaction(W: NDArray, sums: Sums, step: int) -> tuple[NDArray, NDArray]:
    """Return the same W, and weights of 1."""
    return W, np.ones(len(W))


class PanelSteps:
    """Update steps by numpy in this process, for any penalty; `RowSteps` works on the rows of a store."""

    # H, W and number of steps of the last checkpoint, if the rows are in other processes.
    kept: tuple[NDArray, NDArray, int] | None = None

    def __init__(self, product: Product, H: NDArray, penalty: Penalty):
        self._product, self._penalty = product, penalty
        self.squared_norm = product.squared_norm()
        self._H, self._last = H, H

    def start(self) -> Sums:
        """Return the sums of the initial H."""
        return self._sums()

    def advance(self, W: NDArray[np.float64], HH: NDArray[np.float64], weights: NDArray[np.float64]) -> Sums:
        """Replace H by the next one, given W, H'H and the weights of the last fit, and return its sums."""
        self._last = self._H
        right, middle = (table.astype(self._H.dtype) for table in interaction_tables(W, HH))
        positive, negative = (product * weights.astype(self._H.dtype) for product in self._penalty_products)
        self._H = update_membership(self._H, self._AH, right, middle, positive, negative)
        return self._sums()

    def undo(self) -> None:
        """Undo the last `advance`; called at most once, before `membership`."""
        self._H = self._last

    def membership(self) -> NDArray:
        """Return H."""
        return self._H

    def _sums(self) -> Sums:
        H = self._H
        self._AH, terms = self._product(H), self._penalty.terms(H)
        self._penalty_products = terms.positive, terms.negative
        up, down = (np.einsum("ij,ij->j", H, product, dtype=np.float64) for product in self._penalty_products)
        return Sums(gram(H, H), gram(H, self._AH), up - down, squared_change(self._last, H))


def multiplicative_updates(
    product: Product,
    H: NDArray,
    W: NDArray,
    *,
    penalty: Penalty | None = None,
    max_iter: int = 500,
    tol: float = 1e-4,
    fit: InteractionFit = update_interaction,
    notify: Callable[[str, int, int, float], bool] | None = None,
) -> Factors:
    r"""Minimise :math:`\|A - H W H^\top\|_F^2 + R(H)` over nonnegative H and W.

    The dtype of H is that of the computation. With ``fit=keep_interaction`` and the identity for W this is symmetric
    factorisation, A = H H'. With status ``DIVERGED`` factors and history end at the last finite iteration.

    If L is symmetric the objective never rises. For the contrastive penalty on unequal groups L is neither symmetric
    nor positive semidefinite: the objective may rise, or fall without bound.
    """
    penalty = penalty or WeightedSum([])
    steps: PanelSteps | RowSteps
    if isinstance(product, StoreProduct) and has_row_form(penalty):
        from equigraph.factorization.row_steps import RowSteps

        steps = RowSteps(product, H, penalty)
    else:
        steps = PanelSteps(product, H, penalty)
    return iterate(steps, W, max_iter=max_iter, tol=tol, fit=fit, notify=notify or Notifier())


def has_row_form(penalty: Penalty) -> bool:
    """Return whether a penalty depends on other rows through group sums only; true for an empty sum."""
    is_empty = isinstance(penalty, WeightedSum) and not penalty.weighted
    return is_empty or form_of(penalty) is not None


def iterate(
    steps: PanelSteps | RowSteps,
    W: NDArray,
    *,
    max_iter: int,
    tol: float,
    notify: Callable[[str, int, int, float], bool],
    fit: InteractionFit = update_interaction,
) -> Factors:
    """Iterate the updates; if the rows of H are lost with their workers, return the last checkpoint."""
    W, weights = W.astype(np.float64), np.ones(len(W))
    history: list[float] = []
    status, change = Status.MAX_ITER, float("nan")
    try:
        sums = steps.start()
        while len(history) < max_iter:
            size = float(np.trace(sums.HH))
            # Overflow is expected if the weight of the penalty is too large; it is reported as divergence.
            with np.errstate(over="ignore", invalid="ignore"):
                sums = steps.advance(W, sums.HH, weights)
                W_next, weights = fit(W, sums, len(history))
                error = reconstruction_error(steps.squared_norm, sums.HAH, sums.HH, W_next)
                objective = error + float(sums.costs @ weights)
            if not (np.isfinite(objective) and np.isfinite(W_next).all()):
                steps.undo()
                status = Status.DIVERGED
                break
            W = W_next
            history.append(objective)
            if tol > 0:
                change = float(np.sqrt(sums.moved / max(size, np.finfo(float).tiny)))
            if notify("factorization", len(history), max_iter, objective):
                status = Status.STOPPED
                break
            if change < tol:
                status = Status.CONVERGED
                break
        H = steps.membership()
    except SchedulerLostError:
        if steps.kept is None:
            raise
        H, W, n_steps = steps.kept
        warn(
            f"The Dask scheduler is gone after {count(len(history), 'step')}: the factors are those after {n_steps}, "
            "with the status 'stopped'.",
            SchedulerLostWarning,
        )
        del history[n_steps:]
        status, change = Status.STOPPED, float("nan")
    return Factors(H, W, np.asarray(history), change, status)


def reconstruction_error(
    squared_norm: float, HAH: NDArray[np.float64], HH: NDArray[np.float64], W: NDArray[np.float64]
) -> float:
    r"""Return :math:`\|A - H W H^\top\|_F^2` from the squared norm of A, H'AH, H'H and W."""
    return float(squared_norm - 2 * np.sum(HAH * W) + np.sum((HH @ W @ HH) * W))


def interaction_tables(W: NDArray[np.float64], HH: NDArray[np.float64]) -> tuple[NDArray, NDArray]:
    """Return the k x k tables of an update of H: W + W' and W'H'HW + WH'HW'."""
    return W + W.T, W.T @ HH @ W + W @ HH @ W.T


def update_membership(
    H: NDArray,
    AH: NDArray,
    right: NDArray,
    middle: NDArray,
    positive: NDArray,
    negative: NDArray,
    out: NDArray | None = None,
) -> NDArray:
    """Return the next H from the tables of `interaction_tables` and the products of the penalty."""
    numerator, denominator = np.matmul(AH, right, out=out), H @ middle
    denominator += positive
    numerator += negative
    np.maximum(denominator, FLOOR, out=denominator)
    numerator /= denominator
    # Two square roots are several times as fast as a power.
    np.sqrt(numerator, out=numerator)
    np.sqrt(numerator, out=numerator)
    numerator *= H
    return numerator


def squared_change(old: NDArray, new: NDArray) -> float:
    """Return the squared norm of the change, in double precision."""
    step = new - old
    return float(np.einsum("ij,ij->", step, step, dtype=np.float64))


def relative_change(old: NDArray, new: NDArray) -> float:
    """Return the norm of the change relative to the norm before."""
    size = np.einsum("ij,ij->", old, old, dtype=np.float64)
    return float(np.sqrt(squared_change(old, new) / max(size, np.finfo(float).tiny)))
