"""Products of the adjacency with tall panels, and the small Gram matrices of such panels."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.stores.block_files import RowBlock
from equigraph.stores.panels import entries_as, entries_of, row_blocks
from equigraph.stores.threads import most_threads, run_blocks

# Fewer stored entries than this do not repay the time to load the compiler; fewer than that, handing them to threads.
COMPILE_FROM, _THREADED_FROM = 30_000, 250_000
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
    """Products in this process, by scipy's compiled CSR kernel."""

    def __init__(self, adjacency: sparse.csr_array):
        self.adjacency = adjacency

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])

    @property
    def dtype(self) -> np.dtype:
        """Precision of the weights."""
        return self.adjacency.dtype

    def __call__(self, panel: NDArray) -> NDArray:
        """Return A times the panel."""
        return self.adjacency @ panel

    def squared_norm(self) -> float:
        """Return the squared Frobenius norm of A, in double precision."""
        data = self.adjacency.data
        return float(np.einsum("i,i->", data, data, dtype=np.float64))


class FusedProduct(SerialProduct):
    """Products by compiled loops and several threads; weights that are all equal are not read.

    A row is always summed in the same order: the result does not depend on the number of threads.
    """

    def __init__(self, adjacency: sparse.csr_array, n_threads: int | None = None):
        super().__init__(adjacency)
        self.entries = entries_of(adjacency)
        if n_threads is None:
            n_threads = most_threads() if adjacency.nnz >= _THREADED_FROM else 1
        self.n_threads = n_threads

    @cached_property
    def blocks(self) -> NDArray[np.int64]:
        """Where the blocks of rows start that threads share."""
        return row_blocks(self.entries.indptr)

    def __call__(self, panel: NDArray) -> NDArray:
        """Return A times the panel."""
        from equigraph.stores.kernels import add_product

        dtype = np.result_type(panel.dtype, self.adjacency.dtype)
        if panel.ndim != 2 or dtype not in (np.float32, np.float64) or panel.shape[1] == 0:
            return super().__call__(panel)
        panel = np.ascontiguousarray(panel, dtype=dtype)
        indptr, indices, data, scale = entries_as(self.entries, dtype)
        out = np.zeros((self.n_nodes, panel.shape[1]), dtype=dtype)
        cuts = self.blocks

        def loop(first: int, last: int) -> None:
            low, high = cuts[first], cuts[last]
            starts, stops = indptr[low:high], indptr[low + 1 : high + 1]
            add_product(starts, stops, indices, data, scale, 0, panel, out[low:high])

        run_blocks(loop, cuts.size - 1, self.n_threads)
        return out

    def squared_norm(self) -> float:
        """Return the squared Frobenius norm of A, in double precision."""
        if self.entries.data is not None:
            return super().squared_norm()
        return float(self.adjacency.nnz * np.float64(self.entries.scale) ** 2)


def product_of(adjacency: sparse.csr_array) -> SerialProduct:
    """Return products with the adjacency: by compiled loops where the graph is large enough to repay loading them."""
    large = adjacency.nnz >= COMPILE_FROM and adjacency.dtype in (np.float32, np.float64)
    return FusedProduct(adjacency) if large else SerialProduct(adjacency)


def add_tile(
    starts: NDArray, stops: NDArray, block: RowBlock, first_column: int, panel: NDArray, out: NDArray
) -> None:
    """Add the product of a tile, some entries of each row of a block, with the rows of a panel that it needs."""
    from equigraph.stores.kernels import add_product

    tile = _tile(starts, stops, block, out.dtype)
    add_product(*tile, first_column, _read_only(panel), out)


def tally_tile(
    starts: NDArray,
    stops: NDArray,
    block: RowBlock,
    first_column: int,
    own: NDArray,
    labels: NDArray,
    out: NDArray,
) -> None:
    """Add the weights between clusters of one tile."""
    from equigraph.stores.kernels import add_pairs

    tile = _tile(starts, stops, block, out.dtype)
    add_pairs(*tile, first_column, _read_only(labels), _read_only(own), out)


def _tile(starts: NDArray, stops: NDArray, block: RowBlock, dtype: np.dtype) -> tuple[Any, ...]:
    data = None if block.data is None else _read_only(block.data)
    return *map(_read_only, (starts, stops, block.indices)), data, dtype.type(block.value)


def _read_only(array: NDArray) -> NDArray:
    """Return a plain view that cannot be written to: mapped, received and own arrays then share one compiled loop."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


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
