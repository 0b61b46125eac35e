r"""Multiplicative updates: the solver of the paper.

.. math::
    H &\leftarrow H \odot \Bigl(\frac{A H (W + W^\top) + \lambda L^- H}
                                     {H (W^\top H^\top H W + W H^\top H W^\top) + \lambda L^+ H}\Bigr)^{1/4} \\
    W &\leftarrow W \odot \frac{H^\top A H}{H^\top H W H^\top H}

The product A H that the update of W needs also serves the next update of H: one pass over the graph per iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from equigraph.callbacks import Notifier
from equigraph.execution import Product, gram
from equigraph.factorization.objective import reconstruction_error
from equigraph.penalties import Penalty, WeightedSum

# Denominators are kept above this floor, as in the authors' code.
FLOOR = 1e-10


class Status(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STOPPED = "stopped"
    DIVERGED = "diverged"


@dataclass(frozen=True)
class Factors:
    """Outcome of a solver: factors, objective after each iteration, and why it ended.

    Attributes
    ----------
    H, W : ndarray
        The last finite factors.
    history : ndarray of shape (n_iter,)
        Objective after each iteration.
    change : float
        Relative change of H in the last iteration; NaN when it was not needed (``tol=0``).
    status : Status
        Why the solver stopped.
    """

    H: NDArray
    W: NDArray
    history: NDArray[np.float64]
    change: float
    status: Status

    @property
    def n_iter(self) -> int:
        """Number of iterations done."""
        return int(self.history.size)


def multiplicative_updates(
    product: Product,
    H: NDArray,
    W: NDArray,
    *,
    penalty: Penalty | None = None,
    max_iter: int = 500,
    tol: float = 1e-4,
    fit_interaction: bool = True,
    notify: Notifier | None = None,
) -> Factors:
    r"""Minimise :math:`\|A - H W H^\top\|_F^2 + R(H)` over nonnegative H and W.

    Parameters
    ----------
    product : Product
        Products with A.
    H : ndarray of shape (n_nodes, k)
        Start; it is not changed. Its dtype is the dtype of the computation.
    W : ndarray of shape (k, k)
        Start; it is not changed.
    penalty : Penalty, optional
        R, weights included.
    max_iter : int
        Most iterations.
    tol : float
        Stop when H changes by less than this, relative to its norm; 0 runs all iterations.
    fit_interaction : bool
        False keeps W as it is; with the identity that is symmetric factorisation, A = H H'.
    notify : Notifier, optional
        Told after each iteration; may stop the run.

    Returns
    -------
    Factors
        With status ``DIVERGED`` the factors and the history end at the last finite iteration.

    Notes
    -----
    When L is symmetric the objective never rises. For the contrastive penalty on unequal groups it can, and
    can fall without bound, since L is neither symmetric nor positive semidefinite there.
    """
    penalty = penalty or WeightedSum([])
    notify = notify or Notifier()
    squared_norm = product.squared_norm()
    W = W.astype(np.float64)
    AH, HH, terms = product(H), gram(H, H), penalty.terms(H)
    history: list[float] = []
    status, change = Status.MAX_ITER, float("nan")
    for step in range(1, max_iter + 1):
        # Overflow is not an accident here but the documented fate of a weight that is too large.
        with np.errstate(over="ignore", invalid="ignore"):
            H_new = update_membership(H, W, AH, HH, terms.positive, terms.negative)
            AH, HH, terms = product(H_new), gram(H_new, H_new), penalty.terms(H_new)
            HAH = gram(H_new, AH)
            W_new = update_interaction(W, HAH, HH) if fit_interaction else W
            objective = reconstruction_error(squared_norm, HAH, HH, W_new) + terms.value
        if not (np.isfinite(objective) and np.isfinite(W_new).all()):
            status = Status.DIVERGED
            break
        if tol > 0:
            change = relative_change(H, H_new)
        H, W = H_new, W_new
        history.append(objective)
        if notify("factorization", step, max_iter, objective):
            status = Status.STOPPED
            break
        if tol > 0 and change < tol:
            status = Status.CONVERGED
            break
    return Factors(H, W, np.asarray(history), change, status)


def update_membership(
    H: NDArray, W: NDArray, AH: NDArray, HH: NDArray, positive: NDArray, negative: NDArray
) -> NDArray:
    """Return the next H; no argument is changed."""
    dtype = H.dtype
    numerator = AH @ (W + W.T).astype(dtype)
    numerator += negative
    denominator = H @ (W.T @ HH @ W + W @ HH @ W.T).astype(dtype)
    denominator += positive
    np.maximum(denominator, FLOOR, out=denominator)
    numerator /= denominator
    # Two square roots are several times as fast as a power.
    np.sqrt(numerator, out=numerator)
    np.sqrt(numerator, out=numerator)
    numerator *= H
    return numerator


def update_interaction(W: NDArray, HAH: NDArray, HH: NDArray) -> NDArray:
    """Return the next W; no argument is changed."""
    return W * HAH / np.maximum(HH @ W @ HH, FLOOR)


def relative_change(old: NDArray, new: NDArray) -> float:
    """Return the norm of the change relative to the norm before."""
    step = new - old
    moved = np.einsum("ij,ij->", step, step, dtype=np.float64)
    size = np.einsum("ij,ij->", old, old, dtype=np.float64)
    return float(np.sqrt(moved / max(size, np.finfo(float).tiny)))
