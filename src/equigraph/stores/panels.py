"""Tiles of a graph for the compiled loops, and blocks of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.stores.block_files import RowBlock

# Columns of a panel that compiled loops work on together.
MOST_COLUMNS = 16
# Work of a block of rows, in stored entries; a row counts as a few entries. Large enough to hide what a call costs.
_BLOCK_WORK, _ROW_WORK = 2**18, 4


def add_tile(
    starts: NDArray, stops: NDArray, block: RowBlock, first_column: int, panel: NDArray, out: NDArray
) -> None:
    """Add the product of a tile, some entries of each row of a block, with the rows of a panel that it needs."""
    from equigraph.stores.kernels import add_product

    tile = _tile(starts, stops, block, out.dtype)
    column = 0
    while column < panel.shape[1]:
        # Powers of two fill whole registers, and few numbers of columns mean few loops to compile.
        width = 1 << (min(MOST_COLUMNS, panel.shape[1] - column).bit_length() - 1)
        add_product(width)(*tile, first_column, _read_only(panel), column, out)
        column += width


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


def row_blocks(indptr: NDArray) -> NDArray[np.int64]:
    """Return where blocks of rows of about equal work start, and the number of rows at the end.

    They only depend on the graph, so that sums over blocks that are added in their order do not depend on the number
    of threads.
    """
    n_rows = indptr.size - 1
    work = np.asarray(indptr, dtype=np.int64) - indptr[0] + _ROW_WORK * np.arange(n_rows + 1)
    n_blocks = max(int(work[-1] // _BLOCK_WORK), 1)
    cuts = np.searchsorted(work, work[-1] * np.arange(n_blocks + 1) // n_blocks)
    cuts[0], cuts[-1] = 0, n_rows
    return np.unique(cuts).astype(np.int64)
