"""Products of the adjacency with tall panels, and the small Gram matrices of such panels."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Rows per block when a float32 panel is summed in float64: the block stays in the cache.
_GRAM_ROWS = 8192


class Product(Protocol):
    """What a solver may ask of a graph: its size, its squared norm, and products with panels."""

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""

    def __call__(self, panel: NDArray) -> NDArray:
        """Return A times an (n_nodes, k) panel."""

    def squared_norm(self) -> float:
        """Return the sum of the squared weights of A."""


class SerialProduct:
    """Products in this process, by scipy's compiled CSR kernel.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A validated adjacency.

    Examples
    --------
    >>> product = SerialProduct(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    >>> product(np.array([[1.0], [2.0]])).ravel().tolist(), product.squared_norm()
    ([2.0, 1.0], 2.0)
    """

    def __init__(self, adjacency: sparse.csr_array):
        self.adjacency = adjacency

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    def __call__(self, panel: NDArray) -> NDArray:
        """Return A times the panel."""
        return self.adjacency @ panel

    def squared_norm(self) -> float:
        """Return the squared Frobenius norm of A, in double precision."""
        data = self.adjacency.data
        return float(np.einsum("i,i->", data, data, dtype=np.float64))


def gram(left: NDArray, right: NDArray) -> NDArray[np.float64]:
    """Return ``left.T @ right`` of two (n, k) panels, summed in double precision.

    The trace form of the loss subtracts numbers of nearly equal size; in single precision nothing
    would be left of their difference.
    """
    if left.dtype == np.float64:
        return left.T @ right
    total = np.zeros((left.shape[1], right.shape[1]))
    for start in range(0, left.shape[0], _GRAM_ROWS):
        rows = slice(start, start + _GRAM_ROWS)
        total += left[rows].T.astype(np.float64) @ right[rows].astype(np.float64)
    return total


def single_blas_thread() -> AbstractContextManager[Any]:
    """Keep BLAS to one thread: panels are thin, and the order of summation must not depend on the machine."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="blas")
