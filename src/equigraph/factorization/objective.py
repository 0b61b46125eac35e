"""The reconstruction error of a tri-factorisation, without any n x n array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def reconstruction_error(
    squared_norm: float, HAH: NDArray[np.float64], HH: NDArray[np.float64], W: NDArray[np.float64]
) -> float:
    r"""Return :math:`\|A - H W H^\top\|_F^2` from k x k matrices.

    Parameters
    ----------
    squared_norm : float
        :math:`\|A\|_F^2`.
    HAH, HH : ndarray of shape (k, k)
        :math:`H^\top A H` and :math:`H^\top H`.
    W : ndarray of shape (k, k)
        The interaction matrix.

    Examples
    --------
    >>> I = np.eye(2)
    >>> reconstruction_error(2.0, I, I, I)
    0.0
    """
    return float(squared_norm - 2 * np.sum(HAH * W) + np.sum((HH @ W @ HH) * W))
