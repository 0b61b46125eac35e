"""Rows in this process, the graph in memory or on disk: a pass over the graph opens one block after the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.stores.blocks import BlockGraph, MemoryBlocks
from equigraph.stores.distributed.rows import Panels, Rows
from equigraph.stores.panels import add_tile, tally_tile
from equigraph.stores.threads import most_threads, run_all


class StreamedRows:
    """Panels in the memory of this process beside a graph whose blocks stay where they are.

    At any time the panels and one block for each thread are in memory.
    """

    def __init__(self, graph: BlockGraph | MemoryBlocks, *, n_threads: int | None = None):
        self.graph = graph
        self._panels = Panels(0, graph.n_nodes)
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
        """Keep a panel, without a copy."""
        self._panels.arrays[name] = panel

    def collect(self, name: str) -> NDArray:
        """Return a panel, without a copy."""
        return self._panels.arrays[name]

    def each(self, function: Callable[..., Any], *arguments: Any) -> list[Any]:
        """Call a function on the rows of every block."""
        pairs = itertools.pairwise(self.graph.cuts)
        return self._run([partial(function, self._rows(*pair), *arguments) for pair in pairs])

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

        def one(number: int) -> Any:
            block = self.graph.block(number)
            rows = self._rows(block.low, block.high)
            out = rows.room(target, panel.shape[1:], panel.dtype)
            out[...] = 0
            add_tile(block.indptr[:-1], block.indptr[1:], block, 0, panel, out)
            return None if then is None else then(rows, *arguments)

        return self._run([partial(one, number) for number in range(len(self.graph.cuts) - 1)])

    def tally(self, source: str, n_labels: int) -> NDArray[np.float64]:
        """Return the total weight between every two clusters of a panel of labels."""
        labels, total = self._panels.arrays[source], np.zeros((n_labels, n_labels))
        for number, (low, high) in enumerate(itertools.pairwise(self.graph.cuts)):
            block = self.graph.block(number)
            tally_tile(block.indptr[:-1], block.indptr[1:], block, 0, labels[low:high], labels, total)
        return total

    def walk(
        self,
        visit: Callable[..., None],
        state: Sequence[NDArray],
        *arguments: Any,
        needed: Callable[[Sequence[NDArray], int, int], bool] | None = None,
    ) -> Sequence[NDArray]:
        """Visit the blocks one after the other, each with the state that the blocks before have left."""
        for number, (low, high) in enumerate(itertools.pairwise(self.graph.cuts)):
            if needed is None or needed(state, low, high):
                # Read, not mapped: a visit walks along all of it, and mapped pages would count as memory of its own.
                block = self.graph.block(number, mapped=False)
                visit(self._rows(low, high), block, state, *arguments)
        return state

    def gather(self, visit: Callable[..., Any], *arguments: Any) -> Iterator[Any]:
        """Give what a function of a block returns, block after block."""
        for number, (low, high) in enumerate(itertools.pairwise(self.graph.cuts)):
            yield visit(self._rows(low, high), self.graph.block(number, mapped=False), *arguments)

    def checkpoint(
        self, names: Sequence[str], products: Sequence[tuple[str, str]] = ()
    ) -> dict[str, NDArray]:
        """Discard all other panels; there is nothing to bring here."""
        self._panels.keep([*names, *(target for _, target in products)])
        return {}

    def without_workers(self) -> StreamedRows:
        """Return the store itself, which needs none."""
        return self

    def close(self) -> None:
        """Discard all panels."""
        self._panels.arrays.clear()

    def _run(self, tasks: Sequence[Callable[[], Any]]) -> list[Any]:
        return run_all(tasks, self._n_threads)

    def _rows(self, low: int, high: int) -> Rows:
        return Rows(self._panels, low, high)
