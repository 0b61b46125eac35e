"""Products of the adjacency with tall panels, and the small Gram matrices of such panels."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.stores.block_files import block_cuts
from equigraph.stores.blocks import MemoryBlocks
from equigraph.stores.dask_rows import DaskRows
from equigraph.stores.rows import StreamedRows
from equigraph.stores.threads import most_threads

# Least numbers of stored entries for compiled loops, which take time to load, and for threads.
COMPILE_FROM, _THREADED_FROM = 30_000, 250_000
# Work of a block of rows in memory, in stored entries; a row counts as a few. Large enough to hide the cost of a call.
_BLOCK_WORK = 2**18
# Rows per block when a float32 panel is summed in float64: the block stays in the cache.
_GRAM_ROWS = 8192


class SerialProduct:
    """Products in this process by scipy."""

    def __init__(self, adjacency: sparse.csr_array):
        self.adjacency, self.n_nodes = adjacency, int(adjacency.shape[0])

    def __call__(self, panel: NDArray) -> NDArray:
        """Return A times an (n_nodes, k) panel."""
        return self.adjacency @ panel

    def squared_norm(self) -> float:
        """Return the sum of the squared weights of A, in double precision."""
        return squared_norm(self.adjacency.data)

    def scaled(self, factor: float) -> Self:
        """Return the product with a multiple of A, which shares its sparsity pattern."""
        data = self.adjacency.data * self.adjacency.dtype.type(factor)
        entries = (data, self.adjacency.indices, self.adjacency.indptr)
        return type(self)(sparse.csr_array(entries, shape=self.adjacency.shape))


class StoreProduct:
    """Products by compiled loops with the rows of a store: in memory, on disk or on other machines.

    Rows are summed in a fixed order, so the result does not depend on the number of threads or workers.
    """

    def __init__(self, store: StreamedRows | DaskRows, squared_norm: float, scale: float = 1.0):
        self.store, self.n_nodes = store, store.n_nodes
        self.scale, self._squared_norm = scale, squared_norm

    def __call__(self, panel: NDArray) -> NDArray:
        """Return A times an (n_nodes, k) panel, in the precision of the panel."""
        dtype = np.result_type(panel.dtype, np.float32)
        self.store.place("panel", np.ascontiguousarray(panel, dtype=dtype))
        self.store.multiply("panel", "image")
        image = self.store.collect("image")
        self.store.checkpoint(())
        if self.scale != 1:
            image *= image.dtype.type(self.scale)
        return image

    def squared_norm(self) -> float:
        """Return the sum of the squared weights of A."""
        return self._squared_norm * self.scale**2

    def scaled(self, factor: float) -> Self:
        """Return the product with a multiple of A; the rows of the store stay as they are."""
        return type(self)(self.store, self._squared_norm, self.scale * factor)


# Interface of a graph for solvers: its size, its squared norm, and products with panels.
Product = SerialProduct | StoreProduct


def product_of(adjacency: sparse.csr_array) -> Product:
    """Return the fastest kind of product with a graph in memory."""
    return SerialProduct(adjacency) if adjacency.nnz < COMPILE_FROM else memory_product(adjacency)


def memory_product(adjacency: sparse.csr_array, n_threads: int | None = None) -> StoreProduct:
    """Return products by compiled loops with a graph in memory, by default with threads if it is large.

    The blocks depend on the graph only, so sums over blocks do not depend on the number of threads.
    """
    if n_threads is None:
        n_threads = most_threads() if adjacency.nnz >= _THREADED_FROM else 1
    blocks = MemoryBlocks.of(adjacency, block_cuts(adjacency.indptr, 1, block_bytes=_BLOCK_WORK))
    return StoreProduct(StreamedRows(blocks, n_threads=n_threads), squared_norm(adjacency.data))


def squared_norm(weights: NDArray) -> float:
    """Return the sum of the squares, in double precision."""
    return float(np.einsum("i,i->", weights, weights, dtype=np.float64))


def gram(left: NDArray, right: NDArray) -> NDArray[np.float64]:
    """Return ``left.T @ right`` of two (n, k) panels, summed in double precision.

    The trace form of the loss subtracts numbers of nearly equal size, whose difference would be lost in single
    precision.
    """
    if left.dtype == np.float64:
        return left.T @ right
    total = np.zeros((left.shape[1], right.shape[1]))
    for start in range(0, left.shape[0], _GRAM_ROWS):
        rows = slice(start, start + _GRAM_ROWS)
        total += left[rows].T.astype(np.float64) @ right[rows].astype(np.float64)
    return total


def single_blas_thread() -> AbstractContextManager[Any]:
    """Limit BLAS to one thread: panels are thin, and the order of summation must not depend on the machine."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="blas")
