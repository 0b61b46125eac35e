"""What the compiled loops share: the stored entries, small tables, sums, and blocks of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Denominators of an update are kept above this floor, as in the authors' code.
FLOOR = 1e-10
# Work of a block of rows, in stored entries; a row counts as a few entries. Large enough to hide what a call costs.
_BLOCK_WORK, _ROW_WORK = 2**17, 4


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

    HH: NDArray[np.float64]  # H'H
    sums: NDArray[np.float64]  # of the entries of H by group,
    squares: NDArray[np.float64]  # and of their squares
    moved: NDArray[np.float64]  # squared change of H, in one row


def zero_totals(n_clusters: int, n_groups: int) -> Totals:
    """Return totals of nothing."""
    groups = (n_groups, n_clusters)
    return Totals(
        np.zeros((n_clusters, n_clusters)), np.zeros(groups), np.zeros(groups), np.zeros((1, n_clusters))
    )


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
