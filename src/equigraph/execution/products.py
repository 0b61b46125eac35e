"""Products of the adjacency with tall panels, and the small Gram matrices of such panels."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Below this many stored entries a product takes less time than handing it to a thread.
_THREADED_FROM = 250_000
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


class ThreadedProduct(SerialProduct):
    """Products by several threads, each with a block of rows of about equally many stored entries.

    scipy's kernel lets other threads run, and a row is always summed by one of them in the same order: the result is
    that of `SerialProduct` to the bit.

    Parameters
    ----------
    adjacency : csr_array of shape (n_nodes, n_nodes)
        A validated adjacency; the blocks are views of it.
    n_threads : int
        Number of blocks.
    """

    def __init__(self, adjacency: sparse.csr_array, n_threads: int):
        super().__init__(adjacency)
        shares = np.linspace(0, adjacency.nnz, n_threads + 1)[1:-1]
        cuts = [0, *np.searchsorted(adjacency.indptr, shares).tolist(), self.n_nodes]
        self._blocks = [_rows(adjacency, low, high) for low, high in itertools.pairwise(cuts)]
        self._threads = ThreadPoolExecutor(max(n_threads - 1, 1))

    def __call__(self, panel: NDArray) -> NDArray:
        """Return A times the panel."""
        others = [self._threads.submit(block.__matmul__, panel) for block in self._blocks[1:]]
        return np.concatenate([self._blocks[0] @ panel, *(other.result() for other in others)])


def _rows(adjacency: sparse.csr_array, low: int, high: int) -> sparse.csr_array:
    start, stop = adjacency.indptr[low], adjacency.indptr[high]
    arrays = (
        adjacency.data[start:stop],
        adjacency.indices[start:stop],
        adjacency.indptr[low : high + 1] - start,
    )
    return sparse.csr_array(arrays, shape=(high - low, adjacency.shape[1]))


def product_of(adjacency: sparse.csr_array) -> SerialProduct:
    """Return products with the adjacency by as many threads as are worth it.

    Examples
    --------
    >>> type(product_of(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]))).__name__
    'SerialProduct'
    """
    n_threads = min(_available_cores(), 8)
    if adjacency.nnz < _THREADED_FROM or n_threads < 2:
        return SerialProduct(adjacency)
    return ThreadedProduct(adjacency, n_threads)


def _available_cores() -> int:
    # A container may give fewer cores than the machine has.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
