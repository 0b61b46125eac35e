"""Panels as the compiled loops want them: rows padded to whole vectors, and what the loops share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Bytes of the narrowest vector, what a 256-bit register holds, and of a cache line.
UNIT, LINE = 32, 64
# Denominators of an update are kept above this floor, as in the authors' code.
FLOOR = 1e-10
# Work of a block of rows, in stored entries; a row counts as a few entries. Large enough to hide what a call costs.
_BLOCK_WORK, _ROW_WORK = 2**17, 4
# Panels beyond this size leave the caches near a core, and rows are asked for this many entries ahead; processors
# guess the lines of long rows by themselves.
_FAR_BYTES, _LONG_ROW, _AHEAD = 2**22, 256, 32


class Entries(NamedTuple):
    """The stored entries of a graph, or of a block of its rows."""

    indptr: NDArray[np.int64]
    indices: NDArray
    data: NDArray | None  # the weights; None where all are ``scale``, whose dtype is that of the panels
    scale: np.floating


class Tables(NamedTuple):
    """The small tables of a multiplicative update; rows are as wide as those of H."""

    right: NDArray  # W + W'
    middle: NDArray  # W'H'HW + WH'HW'
    positive: NDArray  # what the penalty adds to the denominators of a group,
    negative: NDArray  # and to its numerators
    own: NDArray  # what a node's own row counts in ``positive``


class Totals(NamedTuple):
    """What an update adds up over its rows, in double precision; column by column, so that all have H's width."""

    HH: NDArray[np.float64]  # H'H; the rows are k rounded up to a multiple of 4
    sums: NDArray[np.float64]  # of the entries of H by group,
    squares: NDArray[np.float64]  # and of their squares
    moved: NDArray[np.float64]  # squared change of H, in one row


def padded_width(n_columns: int, dtype: np.dtype) -> int:
    """Return the number of columns that makes rows whole vectors."""
    unit = UNIT // dtype.itemsize
    return -(-n_columns // unit) * unit


def empty_panel(n_rows: int, width: int, dtype: np.dtype) -> NDArray:
    """Return an uninitialised panel whose rows start as well aligned as their width allows."""
    spare = LINE // dtype.itemsize
    memory = np.empty(n_rows * width + spare, dtype=dtype)
    start = (-memory.ctypes.data % LINE) // dtype.itemsize
    return memory[start : start + n_rows * width].reshape(n_rows, width)


def pad(panel: NDArray, dtype: np.dtype | None = None) -> NDArray:
    """Return a copy with zero columns added until rows are whole vectors."""
    dtype = np.dtype(dtype or panel.dtype)
    out = empty_panel(panel.shape[0], padded_width(panel.shape[1], dtype), dtype)
    out[:, : panel.shape[1]] = panel
    out[:, panel.shape[1] :] = 0
    return out


def zero_totals(n_clusters: int, n_groups: int, width: int) -> Totals:
    """Return totals of nothing."""
    rows = -(-n_clusters // 4) * 4
    groups = (n_groups, width)
    return Totals(np.zeros((rows, width)), np.zeros(groups), np.zeros(groups), np.zeros((1, width)))


def entries_of(adjacency: sparse.csr_array) -> Entries:
    """Return the stored entries, without weights where all are equal, and with short indices while they fit."""
    data = adjacency.data
    even = data.size == 0 or bool((data == data[0]).all())
    scale = data[0] if even and data.size else data.dtype.type(1)
    short = adjacency.shape[1] <= np.iinfo(np.int32).max
    indices = adjacency.indices.astype(np.int32 if short else np.int64, copy=False)
    return Entries(adjacency.indptr.astype(np.int64, copy=False), indices, None if even else data, scale)


def entries_as(entries: Entries, dtype: np.dtype) -> Entries:
    """Return the entries with weights of another dtype; the same arrays where nothing changes."""
    data = None if entries.data is None else entries.data.astype(dtype, copy=False)
    return entries._replace(data=data, scale=np.dtype(dtype).type(entries.scale))


def row_blocks(indptr: NDArray, *, bytes_per_block: int = 0, most_bytes: int = 2**26) -> NDArray[np.int64]:
    """Return where blocks of rows of about equal work start, and the number of rows at the end.

    They only depend on the graph, and on what has to be kept for each block, so that sums over blocks that are added
    in their order do not depend on the number of threads.
    """
    n_rows = indptr.size - 1
    work = np.asarray(indptr, dtype=np.int64) - indptr[0] + _ROW_WORK * np.arange(n_rows + 1)
    most = max(1, most_bytes // max(bytes_per_block, 1))
    n_blocks = int(np.clip(work[-1] // _BLOCK_WORK, 1, most))
    cuts = np.searchsorted(work, work[-1] * np.arange(n_blocks + 1) // n_blocks)
    cuts[0], cuts[-1] = 0, n_rows
    return np.unique(cuts).astype(np.int64)


def rows_ahead(panel: NDArray) -> int:
    """Return how many entries ahead rows of a panel should be asked for; 0 where that would not pay."""
    far, long_row = panel.nbytes > _FAR_BYTES, panel.shape[1] * panel.itemsize > _LONG_ROW
    return _AHEAD if far and not long_row else 0
