"""Rows in this process, the graph in memory or on disk: a pass over the graph opens one block after the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.stores.block_files import RowBlock
from equigraph.stores.blocks import BlockGraph, MemoryBlocks
from equigraph.stores.distributed.rows import Panels, Rows
from equigraph.stores.products import add_tile, tally_tile
from equigraph.stores.threads import most_threads

# Fewer rows than this are not worth a thread of their own.
_LEAST_ROWS = 4096


class StreamedRows:
    """Panels in the memory of this process beside a graph whose blocks stay where they are.

    At any time the panels and one block are in memory.
    """

    def __init__(
        self,
        graph: BlockGraph | MemoryBlocks,
        codes: NDArray | None = None,
        *,
        n_threads: int | None = None,
    ):
        self._graph, self._codes = graph, codes
        self._panels = Panels(0, graph.n_nodes)
        self._n_threads = n_threads or most_threads()
        self._threads = ThreadPoolExecutor(self._n_threads)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self._graph.n_nodes

    @property
    def n_entries(self) -> int:
        """Number of stored entries."""
        return self._graph.n_entries

    def place(self, name: str, panel: NDArray) -> None:
        """Keep a copy of a panel."""
        self._rows(0, self.n_nodes).put(name, panel)

    def collect(self, name: str) -> NDArray:
        """Return a copy of a panel."""
        return self._panels.arrays[name].copy()

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call a function on the rows of every block."""
        ranges = itertools.pairwise(self._graph.cuts)
        return list(self._threads.map(lambda pair: function(self._rows(*pair), *arguments), ranges))

    def multiply(
        self,
        source: str,
        target: str,
        *,
        then: Callable[..., Any] | None = None,
        arguments: Sequence[Any] = (),
    ) -> list[Any]:
        """Store A times a panel as another panel, and call a function on the rows of every block."""
        panel = self._panels.arrays[source]
        results = []
        for block in self._graph.blocks():
            rows = self._rows(block.low, block.high)
            out = rows.room(target, panel.shape[1:], panel.dtype)
            out[...] = 0
            self._multiply_block(block, panel, out)
            if then is not None:
                results.append(then(rows, *arguments))
        return results

    def tally(self, source: str, n_labels: int) -> NDArray[np.float64]:
        """Return the total weight between every two clusters of a panel of labels."""
        labels, total = self._panels.arrays[source], np.zeros((n_labels, n_labels))
        for block in self._graph.blocks():
            own = labels[block.low : block.high]
            tally_tile(block.indptr[:-1], block.indptr[1:], block, 0, own, labels, total)
        return total

    def walk(
        self,
        visit: Callable[..., None],
        state: Sequence[NDArray],
        *arguments: Any,
        needed: Callable[[Sequence[NDArray], int, int], bool] | None = None,
    ) -> Sequence[NDArray]:
        """Visit the blocks one after the other, each with the state that the blocks before have left."""
        for number, (low, high) in enumerate(itertools.pairwise(self._graph.cuts)):
            if needed is None or needed(state, low, high):
                # Read, not mapped: a visit walks along all of it, and mapped pages would count as memory of its own.
                block = self._graph.block(number, mapped=False)
                visit(self._rows(low, high), block, state, *arguments)
        return state

    def gather(self, visit: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """Give what a function of a block returns, block after block."""
        for number, (low, high) in enumerate(itertools.pairwise(self._graph.cuts)):
            yield visit(self._rows(low, high), self._graph.block(number, mapped=False), *arguments)

    def checkpoint(
        self, names: Sequence[str], products: Sequence[tuple[str, str]] = ()
    ) -> dict[str, NDArray]:
        """Let all other panels go; nothing is brought here that is not here."""
        self._panels.keep([*names, *(target for _, target in products)])
        return {}

    def without_workers(self) -> StreamedRows:
        """Return the store itself, which needs none."""
        return self

    def close(self) -> None:
        """Let everything go."""
        self._threads.shutdown()
        self._panels.arrays.clear()

    def _rows(self, low: int, high: int) -> Rows:
        return Rows(self._panels, low, high, None if self._codes is None else self._codes[low:high])

    def _multiply_block(self, block: RowBlock, panel: NDArray, out: NDArray) -> None:
        n_parts = max(min(self._n_threads, out.shape[0] // _LEAST_ROWS), 1)
        shares = np.linspace(0, block.n_entries, n_parts + 1)[1:-1]
        cuts = [0, *np.searchsorted(block.indptr, shares).tolist(), out.shape[0]]

        def part(low: int, high: int) -> None:
            add_tile(block.indptr[low:high], block.indptr[low + 1 : high + 1], block, 0, panel, out[low:high])

        list(self._threads.map(part, cuts[:-1], cuts[1:]))
