"""What lives on a worker: a run of row blocks, and the rows of every panel that belong to them."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import require
from equigraph.stores.block_files import RowBlock, writable
from equigraph.stores.blocks import MemoryBlocks, open_blocks
from equigraph.stores.rows import StreamedRows, add_tile

PURPOSE = "Execution on a Dask cluster"
# The columns of a run of blocks are cut into at most this many tiles. Fewer tiles mean more foreign rows in memory at a
# time (n / 8 at least), more tiles mean more passes over the rows of the product.
MOST_PIECES = 8
# How often a worker that waits for rows of another one looks whether it should give up, in seconds.
_LOOK = 0.5


class PeerLost(RuntimeError):
    """Another worker did not send its rows."""


@dataclass(frozen=True)
class RowOwners:
    """Assignment of blocks of rows to workers: worker w has those from ``runs[w]`` to ``runs[w + 1]``."""

    cuts: tuple[int, ...]
    runs: tuple[int, ...]

    @property
    def n_workers(self) -> int:
        """Number of workers that have rows."""
        return len(self.runs) - 1

    def rows(self, worker: int) -> tuple[int, int]:
        """Return the first row of a worker and the first after its last."""
        return self.cuts[self.runs[worker]], self.cuts[self.runs[worker + 1]]

    def pieces(self) -> list[int]:
        """Return where the columns are cut into tiles: between workers, where these are few."""
        shares = np.linspace(0, self.n_workers, min(self.n_workers, MOST_PIECES) + 1).astype(int)
        return [self.cuts[self.runs[worker]] for worker in shares]

    def holders(self, low: int, high: int) -> Iterator[tuple[int, int, int]]:
        """Yield worker, first row and end of the parts of a range of rows."""
        for worker in range(self.n_workers):
            first, last = self.rows(worker)
            if max(low, first) < min(high, last):
                yield worker, max(low, first), min(high, last)


def packed(argument: Any) -> Any:
    """Return an argument as it travels: arrays and numbers as they are, whatever else as bytes."""
    if isinstance(argument, (np.ndarray, int, float, type(None))):
        return argument
    return require("cloudpickle", extra="dask", purpose=PURPOSE).dumps(argument)


def unpacked(argument: Any) -> Any:
    """Return an argument that `packed` made ready; arrays can be written to, as loops are compiled for such."""
    if isinstance(argument, np.ndarray):
        return writable(argument)
    return _loaded(argument) if isinstance(argument, bytes) else argument


@lru_cache(maxsize=32)
def _loaded(data: bytes) -> Any:
    """Return the same object for the same bytes: what was compiled for it stays."""
    return pickle.loads(data)


class RowWorker(StreamedRows):
    """A Dask actor: a store of some rows, which other actors may ask for."""

    def __init__(self, plan: RowOwners, number: int, n_threads: int):
        self._plan, self._number, self._n_threads = plan, number, n_threads
        self._peers: Sequence[Any] = ()
        self._given_up = False
        self._sent = 0

    def open(self, folder: str, check: bool, unit: float) -> None:
        """Read the blocks from a folder that this worker can see, weights in a unit."""
        graph = open_blocks(folder, check=check).in_units(unit)
        run = range(self._plan.runs[self._number], self._plan.runs[self._number + 1])
        self.hold([graph.block(number, mapped=False) for number in run])

    def hold(self, blocks: list[RowBlock]) -> None:
        """Keep blocks, and note where their columns pass from one worker's rows to another's."""
        self._blocks = [block.writable() for block in blocks]
        self._points = [block.split_points(self._plan.pieces()) for block in self._blocks]
        super().__init__(MemoryBlocks(self._blocks), n_threads=self._n_threads)

    def meet(self, peers: Sequence[Any]) -> None:
        """Receive the addresses of the other workers."""
        self._peers = peers

    async def give_up(self) -> None:
        """Stop waiting for others; runs while a product waits."""
        self._given_up = True

    async def rows(self, name: str, low: int, high: int) -> NDArray:
        """Return rows of a panel to another worker; runs while a product of this one is under way."""
        rows = self._rows.part(low, high).get(name)
        self._sent += rows.nbytes
        return rows

    def facts(self) -> dict[str, int]:
        """Return the process of this worker, the bytes of its blocks and panels, and those it has sent to others."""
        blocks = sum(part.nbytes for block in self._blocks for part in (block.indptr, block.indices))
        blocks += sum(block.data.nbytes for block in self._blocks if block.data is not None)
        panels = sum(array.nbytes for array in self._rows.arrays.values())
        return {"pid": os.getpid(), "blocks": blocks, "panels": panels, "sent": self._sent}

    def place(self, name: str, panel: NDArray) -> None:
        """Keep a copy of the rows of a panel."""
        super().place(name, panel.copy())

    def multiply(
        self, source: str, target: str, then: Callable[..., Any] | None = None, *arguments: Any
    ) -> list[Any]:
        """Store the rows of A times a panel, whose other rows come from the other workers piece by piece."""
        given = self.collect(source)
        self._rows.room(target, given.shape[1:], given.dtype)[...] = 0
        cuts = self._plan.pieces()
        requests = self._ask(source, cuts[0], cuts[1])
        for piece in range(len(cuts) - 1):
            panel = self._receive(requests)
            if piece + 2 < len(cuts):
                # The next piece travels meanwhile.
                requests = self._ask(source, cuts[piece + 1], cuts[piece + 2])
            self._run(
                [
                    partial(
                        add_tile, ends[piece], ends[piece + 1], block, cuts[piece], panel, rows.get(target)
                    )
                    for rows, block, ends in zip(self._parts(), self._blocks, self._points, strict=True)
                ]
            )
        return [] if then is None else self.each(then, *arguments)

    def walk_from(
        self, visit: Any, state: Sequence[NDArray], arguments: Sequence[Any], needed: Any, number: int
    ) -> Sequence[NDArray]:
        """Visit the blocks from a number on, and return the state that they leave."""
        state, arguments = [writable(array) for array in state], [unpacked(one) for one in arguments]
        first = number - self._plan.runs[self._number]
        return self.walk(visit, state, *arguments, needed=needed, first=first)

    def gather_all(self, visit: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
        """Return what a function returns for every block."""
        arguments = [unpacked(one) for one in arguments]
        pairs = zip(self._parts(), self._blocks, strict=True)
        return self._run([partial(visit, rows, block, *arguments) for rows, block in pairs])

    def _ask(self, name: str, low: int, high: int) -> list[Any]:
        """Return own rows at once, and requests for those of others."""
        parts: list[Any] = []
        for worker, first, last in self._plan.holders(low, high):
            if worker == self._number:
                parts.append(self._rows.part(first, last).get(name))
            else:
                parts.append(self._peers[worker].rows(name, first, last))
        return parts

    def _receive(self, parts: list[Any]) -> NDArray:
        arrays = [part if isinstance(part, np.ndarray) else self._patiently(part) for part in parts]
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

    def _patiently(self, request: Any) -> NDArray:
        while not self._given_up:
            try:
                return request.result(timeout=_LOOK)
            except TimeoutError:
                continue
        raise PeerLost("Another worker is gone.")
