"""Dask actor with consecutive row blocks and the rows of every panel that belong to them."""

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
# Most tiles for the columns of a run of blocks. Fewer tiles mean more remote rows in memory at a time (n / 8 at least),
# more tiles mean more passes over the rows of the product.
MOST_PIECES = 8
# Seconds between two checks whether to stop waiting for rows of another worker.
_POLL_INTERVAL = 0.5


class PeerLost(RuntimeError):
    """Raised when another worker does not send its rows."""


@dataclass(frozen=True)
class RowOwners:
    """Assignment of blocks of rows to workers: worker w has those from ``runs[w]`` to ``runs[w + 1]``."""

    cuts: tuple[int, ...]
    runs: tuple[int, ...]

    @property
    def n_workers(self) -> int:
        """Number of workers with rows."""
        return len(self.runs) - 1

    def rows(self, worker: int) -> tuple[int, int]:
        """Return the range (low, high) of the rows of a worker."""
        return self.cuts[self.runs[worker]], self.cuts[self.runs[worker + 1]]

    def pieces(self) -> list[int]:
        """Return the cuts of the columns into tiles, which are cuts between workers."""
        shares = np.linspace(0, self.n_workers, min(self.n_workers, MOST_PIECES) + 1).astype(int)
        return [self.cuts[self.runs[worker]] for worker in shares]

    def holders(self, low: int, high: int) -> Iterator[tuple[int, int, int]]:
        """Yield (worker, low, high) for the parts of a range of rows."""
        for worker in range(self.n_workers):
            first, last = self.rows(worker)
            if max(low, first) < min(high, last):
                yield worker, max(low, first), min(high, last)


def packed(argument: Any) -> Any:
    """Serialise an argument for a worker: arrays and numbers stay as they are, anything else becomes bytes."""
    if isinstance(argument, (np.ndarray, int, float, type(None))):
        return argument
    return require("cloudpickle", extra="dask", purpose=PURPOSE).dumps(argument)


def unpacked(argument: Any) -> Any:
    """Deserialise an argument from `packed`; arrays become writable, as compiled loops expect."""
    if isinstance(argument, np.ndarray):
        return writable(argument)
    return _loaded(argument) if isinstance(argument, bytes) else argument


@lru_cache(maxsize=32)
def _loaded(data: bytes) -> Any:
    """Return the object of some bytes; it is cached, so that loops compiled for it are reused."""
    return pickle.loads(data)


class RowWorker(StreamedRows):
    """Dask actor: a store of some rows, which other actors may request."""

    def __init__(self, plan: RowOwners, number: int, n_threads: int):
        self._plan, self._number, self._n_threads = plan, number, n_threads
        self._peers: Sequence[Any] = ()
        self._given_up = False
        self._sent = 0

    def open(self, folder: str, check: bool, unit: float) -> None:
        """Read the blocks from a folder visible to this worker, with weights divided by a unit."""
        graph = open_blocks(folder, check=check).in_units(unit)
        run = range(self._plan.runs[self._number], self._plan.runs[self._number + 1])
        self.hold([graph.block(number, mapped=False) for number in run])

    def hold(self, blocks: list[RowBlock]) -> None:
        """Store blocks, and compute where tiles begin in their rows."""
        self._blocks = [block.writable() for block in blocks]
        self._points = [block.split_points(self._plan.pieces()) for block in self._blocks]
        super().__init__(MemoryBlocks(self._blocks), n_threads=self._n_threads)

    def meet(self, peers: Sequence[Any]) -> None:
        """Set the actors of all workers."""
        self._peers = peers

    async def give_up(self) -> None:
        """Stop waiting for other workers; may run while a product waits."""
        self._given_up = True

    async def rows(self, name: str, low: int, high: int) -> NDArray:
        """Return rows of a panel to another worker; may run during a product of this one."""
        rows = self._rows.part(low, high).get(name)
        self._sent += rows.nbytes
        return rows

    def facts(self) -> dict[str, int]:
        """Return the process id, and the bytes of blocks, of panels and of rows sent to other workers."""
        blocks = sum(part.nbytes for block in self._blocks for part in (block.indptr, block.indices))
        blocks += sum(block.data.nbytes for block in self._blocks if block.data is not None)
        panels = sum(array.nbytes for array in self._rows.arrays.values())
        return {"pid": os.getpid(), "blocks": blocks, "panels": panels, "sent": self._sent}

    def place(self, name: str, panel: NDArray) -> None:
        """Store a copy of the rows of a panel."""
        super().place(name, panel.copy())

    def multiply(
        self, source: str, target: str, then: Callable[..., Any] | None = None, *arguments: Any
    ) -> list[Any]:
        """Store the rows of A times a panel; the other rows of the panel are fetched from other workers by tile."""
        given = self.collect(source)
        self._rows.allocate(target, given.shape[1:], given.dtype)[...] = 0
        cuts = self._plan.pieces()
        requests = self._request(source, cuts[0], cuts[1])
        for piece in range(len(cuts) - 1):
            panel = self._receive(requests)
            if piece + 2 < len(cuts):
                # Fetch the next tile during the product.
                requests = self._request(source, cuts[piece + 1], cuts[piece + 2])
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
        """Visit the blocks from a number on, and return the state after them."""
        state, arguments = [writable(array) for array in state], [unpacked(one) for one in arguments]
        first = number - self._plan.runs[self._number]
        return self.walk(visit, state, *arguments, needed=needed, first=first)

    def gather_all(self, visit: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
        """Return the results of a function for every block."""
        arguments = [unpacked(one) for one in arguments]
        pairs = zip(self._parts(), self._blocks, strict=True)
        return self._run([partial(visit, rows, block, *arguments) for rows, block in pairs])

    def _request(self, name: str, low: int, high: int) -> list[Any]:
        """Return arrays for own rows, and requests for those of other workers."""
        parts: list[Any] = []
        for worker, first, last in self._plan.holders(low, high):
            if worker == self._number:
                parts.append(self._rows.part(first, last).get(name))
            else:
                parts.append(self._peers[worker].rows(name, first, last))
        return parts

    def _receive(self, parts: list[Any]) -> NDArray:
        arrays = [part if isinstance(part, np.ndarray) else self._wait_for(part) for part in parts]
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)

    def _wait_for(self, request: Any) -> NDArray:
        while not self._given_up:
            try:
                return request.result(timeout=_POLL_INTERVAL)
            except TimeoutError:
                continue
        raise PeerLost("Another worker is gone.")
