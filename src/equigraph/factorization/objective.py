"""The reconstruction error of a tri-factorisation, without any n x n array."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def reconstruction_error(
    squared_norm: float, HAH: NDArray[np.float64], HH: NDArray[np.float64], W: NDArray[np.float64]
) -> float:
    r"""Return :math:`\|A - H W H^\top\|_F^2` from k x k matrices."""
    return float(squared_norm - 2 * np.sum(HAH * W) + np.sum((HH @ W @ HH) * W))
