"""Rows of dense panels beside the row blocks of a graph, and a store of both in this process.

A store, `StreamedRows` here or `equigraph.stores.dask_rows.DaskRows`, calls functions with the `Rows` of one block and
further arguments. Results come back in the order of the blocks; sums in that order do not depend on the number of
threads or workers.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.stores.block_files import RowBlock
from equigraph.stores.blocks import BlockGraph, MemoryBlocks
from equigraph.stores.threads import most_threads, run_all

# Most columns of a panel that compiled loops process together.
MOST_COLUMNS = 16


class Rows:
    """Named panels for the rows ``range(low, high)``, or a view of them for the rows of one block."""

    def __init__(self, low: int, high: int, whole: Rows | None = None):
        self.low, self.high = low, high
        self._whole = whole or self
        self.arrays: dict[str, NDArray] = {}
        self._lock = threading.Lock()

    def part(self, low: int, high: int) -> Rows:
        """Return a view of a range of the rows."""
        return Rows(low, high, self)

    def get(self, name: str) -> NDArray:
        """Return these rows of a panel, as a view."""
        return self._whole.arrays[name][self.low - self._whole.low : self.high - self._whole.low]

    def allocate(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray:
        """Return these rows of a panel as a view to write to; `shape` is that of one row.

        If the panel has another shape or dtype, it is replaced by a new one.
        """
        whole = self._whole
        with whole._lock:
            array = whole.arrays.get(name)
            if array is None or array.shape[1:] != shape or array.dtype != dtype:
                # Pages of zeros are allocated lazily, and rows that a block does not write are defined.
                whole.arrays[name] = np.zeros((whole.high - whole.low, *shape), dtype=dtype)
        return self.get(name)

    def keep(self, names: Iterable[str]) -> None:
        """Discard all other panels."""
        self.arrays = {name: self.arrays[name] for name in names if name in self.arrays}


class StreamedRows:
    """Store of panels in this process, for a graph with blocks in memory or on disk.

    Memory holds the panels and one block per thread.
    """

    def __init__(self, graph: BlockGraph | MemoryBlocks, *, n_threads: int | None = None):
        self.graph = graph
        self.n_nodes, self.n_entries = graph.n_nodes, graph.n_entries
        self._rows = Rows(graph.cuts[0], graph.cuts[-1])
        self._n_threads = n_threads or most_threads()

    def place(self, name: str, panel: NDArray) -> None:
        """Store a panel, one row per node, without a copy."""
        self._rows.arrays[name] = panel

    def collect(self, name: str) -> NDArray:
        """Return a whole panel, without a copy."""
        return self._rows.arrays[name]

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call a function on the rows of every block."""
        return self._run([partial(function, rows, *arguments) for rows in self._parts()])

    def multiply(
        self, source: str, target: str, then: Callable[..., Any] | None = None, *arguments: Any
    ) -> list[Any]:
        """Store A times a panel as another panel, and call a function on the rows of every block.

        The function must leave the source alone: other blocks may still need its rows.
        """
        panel = self.collect(source)

        def one(number: int, rows: Rows) -> Any:
            block = self.graph.block(number)
            out = rows.allocate(target, panel.shape[1:], panel.dtype)
            out[...] = 0
            add_tile(block.indptr[:-1], block.indptr[1:], block, 0, panel, out)
            return None if then is None else then(rows, *arguments)

        return self._run([partial(one, number, rows) for number, rows in enumerate(self._parts())])

    def walk(
        self,
        visit: Callable[..., None],
        state: Sequence[NDArray],
        *arguments: Any,
        needed: Callable[[Sequence[NDArray], int, int], bool] | None = None,
        first: int = 0,
    ) -> Sequence[NDArray]:
        """Visit the blocks in order from number ``first`` on, passing a state along; return the final state.

        ``visit(rows, block, state, *arguments)`` changes the arrays of the state in place. The order is that of the
        rows, so the result is the same in all stores. Blocks for which ``needed(state, low, high)`` is false are not
        read.
        """
        for number, rows in itertools.islice(enumerate(self._parts()), first, None):
            if needed is None or needed(state, rows.low, rows.high):
                # Read, not mapped: a visit needs the whole block, and mapped pages would count as memory too.
                visit(rows, self.graph.block(number, mapped=False), state, *arguments)
        return state

    def gather(self, visit: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """Yield the result of ``visit(rows, block, *arguments)`` for every block, in order."""
        for number, rows in enumerate(self._parts()):
            yield visit(rows, self.graph.block(number, mapped=False), *arguments)

    def checkpoint(
        self, names: Sequence[str], products: Sequence[tuple[str, str]] = ()
    ) -> dict[str, NDArray]:
        """Discard all panels but these and products (source, target) of them.

        Returns an empty dict: other stores return the panels that they transfer to this process.
        """
        self._rows.keep([*names, *(target for _, target in products)])
        return {}

    def without_workers(self) -> StreamedRows:
        """Return a store of the same graph without workers: itself."""
        return self

    def close(self) -> None:
        """Discard all panels."""
        self._rows.keep(())

    def _run(self, tasks: Sequence[Callable[[], Any]]) -> list[Any]:
        return run_all(tasks, self._n_threads)

    def _parts(self) -> Iterator[Rows]:
        return (self._rows.part(low, high) for low, high in itertools.pairwise(self.graph.cuts))


def ordered_sum(parts: Sequence[NDArray]) -> NDArray:
    """Return the sum of arrays in double precision, added in the given order."""
    return sum(parts[1:], np.array(parts[0], dtype=np.float64))


def add_tile(
    starts: NDArray, stops: NDArray, block: RowBlock, first_column: int, panel: NDArray, out: NDArray
) -> None:
    """Add the product of a tile, a range of columns of a block, with the matching rows of a panel."""
    from equigraph.stores.kernels import add_product

    data = None if block.data is None else _read_only(block.data)
    tile = *map(_read_only, (starts, stops, block.indices)), data, out.dtype.type(block.value)
    column = 0
    while column < panel.shape[1]:
        # Powers of two fill vector registers, and few widths mean few loops to compile.
        width = 1 << (min(MOST_COLUMNS, panel.shape[1] - column).bit_length() - 1)
        add_product(width)(*tile, first_column, _read_only(panel), column, out)
        column += width


def _read_only(array: NDArray) -> NDArray:
    """Return a read-only view, so that mapped, received and own arrays share one compiled loop."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
