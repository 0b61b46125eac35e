"""Rows of panels beside the row blocks of a graph, and a store of them in this process.

A store, `StreamedRows` here or `equigraph.stores.dask_rows.DaskRows`, brings functions to rows: they are called with
the `Rows` of one block and the arguments. What they return comes back in the order of the blocks; sums taken in that
order do not depend on who computed them.
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

# Columns of a panel that compiled loops work on together.
MOST_COLUMNS = 16


class Rows:
    """Named panels for the rows ``range(low, high)``, or the part of them that belongs to one block."""

    def __init__(self, low: int, high: int, whole: Rows | None = None):
        self.low, self.high = low, high
        self._whole = whole or self
        self.arrays: dict[str, NDArray] = {}
        self._lock = threading.Lock()

    def part(self, low: int, high: int) -> Rows:
        """Return some of the rows; their panels are those of the whole."""
        return Rows(low, high, self)

    def get(self, name: str) -> NDArray:
        """Return these rows of a panel; writing to them changes the panel."""
        return self._whole.arrays[name][self.low - self._whole.low : self.high - self._whole.low]

    def room(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray:
        """Return these rows of a panel to write to; `shape` is that of one row.

        A panel of another shape or type is replaced as a whole.
        """
        whole = self._whole
        with whole._lock:
            array = whole.arrays.get(name)
            if array is None or array.shape[1:] != shape or array.dtype != dtype:
                # Zeros cost nothing until they are touched, and what a block leaves out is then at least defined.
                whole.arrays[name] = np.zeros((whole.high - whole.low, *shape), dtype=dtype)
        return self.get(name)

    def keep(self, names: Iterable[str]) -> None:
        """Discard all other panels."""
        self.arrays = {name: self.arrays[name] for name in names if name in self.arrays}


class StreamedRows:
    """Panels in the memory of this process beside a graph whose blocks stay where they are, in memory or on disk.

    At any time the panels and one block for each thread are in memory.
    """

    def __init__(self, graph: BlockGraph | MemoryBlocks, *, n_threads: int | None = None):
        self.graph = graph
        self._rows = Rows(graph.cuts[0], graph.cuts[-1])
        self._n_threads = n_threads or most_threads()

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.graph.n_nodes

    @property
    def n_entries(self) -> int:
        """Number of stored entries."""
        return self.graph.n_entries

    def place(self, name: str, panel: NDArray) -> None:
        """Keep a panel, one row per node, without a copy."""
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
            out = rows.room(target, panel.shape[1:], panel.dtype)
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
        """Visit the blocks from number ``first`` on, each with the state that those before have left; return the last.

        ``visit(rows, block, state, *arguments)`` changes the arrays of the state in place. As the order is that of the
        rows wherever they are kept, so is the result. A block of which ``needed(state, low, high)`` is false is not
        read.
        """
        for number, rows in itertools.islice(enumerate(self._parts()), first, None):
            if needed is None or needed(state, rows.low, rows.high):
                # Read, not mapped: a visit walks along all of it, and mapped pages would count as memory of its own.
                visit(rows, self.graph.block(number, mapped=False), state, *arguments)
        return state

    def gather(self, visit: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """Give what ``visit(rows, block, *arguments)`` returns for every block, in their order."""
        for number, rows in enumerate(self._parts()):
            yield visit(rows, self.graph.block(number, mapped=False), *arguments)

    def checkpoint(
        self, names: Sequence[str], products: Sequence[tuple[str, str]] = ()
    ) -> dict[str, NDArray]:
        """Discard all panels but these and products (source, target) of them.

        Returns the panels where they had to be brought here, which is nowhere.
        """
        self._rows.keep([*names, *(target for _, target in products)])
        return {}

    def without_workers(self) -> StreamedRows:
        """Return a store of the same graph that needs no other process: itself."""
        return self

    def close(self) -> None:
        """Discard all panels."""
        self._rows.keep(())

    def _run(self, tasks: Sequence[Callable[[], Any]]) -> list[Any]:
        return run_all(tasks, self._n_threads)

    def _parts(self) -> Iterator[Rows]:
        return (self._rows.part(low, high) for low, high in itertools.pairwise(self.graph.cuts))


def in_order(parts: Sequence[NDArray]) -> NDArray:
    """Return the sum of the parts, added in their order."""
    return sum(parts[1:], np.array(parts[0], dtype=np.float64))


def add_tile(
    starts: NDArray, stops: NDArray, block: RowBlock, first_column: int, panel: NDArray, out: NDArray
) -> None:
    """Add the product of a tile, some entries of each row of a block, with the rows of a panel that it needs."""
    from equigraph.stores.kernels import add_product

    data = None if block.data is None else _read_only(block.data)
    tile = *map(_read_only, (starts, stops, block.indices)), data, out.dtype.type(block.value)
    column = 0
    while column < panel.shape[1]:
        # Powers of two fill whole registers, and few numbers of columns mean few loops to compile.
        width = 1 << (min(MOST_COLUMNS, panel.shape[1] - column).bit_length() - 1)
        add_product(width)(*tile, first_column, _read_only(panel), column, out)
        column += width


def _read_only(array: NDArray) -> NDArray:
    """Return a plain view that cannot be written to: mapped, received and own arrays then share one compiled loop."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
