"""Where the rows of a graph are cut into blocks, and the blocks of one that is in memory."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import ParameterError
from equigraph.execution.block_files import RowBlock

# Rows of about this many bytes make a block, unless the caller says otherwise.
BLOCK_BYTES = 64 * 2**20


def split_rows(adjacency: sparse.csr_array, cuts: Sequence[int]) -> Iterator[RowBlock]:
    """Yield row blocks of an adjacency; they share its memory, except for the row pointers."""
    value = common_value(adjacency.data)
    for low, high in itertools.pairwise(cuts):
        start, stop = adjacency.indptr[low], adjacency.indptr[high]
        yield RowBlock(
            low,
            high,
            adjacency.indptr[low : high + 1] - start,
            adjacency.indices[start:stop],
            adjacency.data[start:stop] if value is None else None,
            1.0 if value is None else value,
        )


def common_value(data: NDArray) -> float | None:
    """Return the value that all weights have, or None; without edges it is 1."""
    if data.size == 0:
        return 1.0
    return float(data[0]) if (data == data[0]).all() else None


def entry_bytes(adjacency: sparse.csr_array) -> int:
    """Return the bytes of a stored entry in a block."""
    weights = 0 if common_value(adjacency.data) is not None else adjacency.data.itemsize
    return int(adjacency.indices.itemsize + weights)


def block_cuts(
    indptr: NDArray, bytes_per_entry: int, rows_per_block: int | None = None, block_bytes: int = BLOCK_BYTES
) -> list[int]:
    """Return where to cut the rows: at equal numbers of rows, or at about equal numbers of bytes."""
    n_nodes = indptr.size - 1
    if rows_per_block is not None:
        if rows_per_block < 1:
            raise ParameterError(
                f"rows_per_block must be a whole number of at least 1; got {rows_per_block!r}."
            )
        return [*range(0, n_nodes, rows_per_block), n_nodes]
    if block_bytes < 1:
        raise ParameterError(f"block_bytes must be a whole number of at least 1; got {block_bytes!r}.")
    # A row pointer counts too, or a graph without edges would be one block of any number of rows.
    size = indptr.astype(np.float64) * bytes_per_entry + 4.0 * np.arange(n_nodes + 1)
    n_blocks = min(max(int(np.ceil(size[-1] / block_bytes)), 1), max(n_nodes, 1))
    inner = np.searchsorted(size, np.linspace(0, size[-1], n_blocks + 1)[1:-1])
    return np.unique([0, *inner.tolist(), n_nodes]).tolist()
