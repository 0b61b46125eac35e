"""CellWorker processes, each with an executor of its own.

``concurrent.futures`` rather than joblib's loky: it needs no further package state, hands back one future per cell,
and an executor of a single process keeps damage local. If the process dies (no memory left, a crash in compiled
code), only the cell in it is lost, and the next cell gets a new process.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from equigraph.reproduction.cells import Cell
from equigraph.reproduction.store import Finished

# Cells run side by side, so each of them gets one thread of every library that would take all cores.
_ONE_THREAD = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip


class CellWorker:
    """A process that computes one cell after the other; it is started by the first of them."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None

    def submit(self, cell: Cell) -> Future[Finished]:
        """Hand over a cell; the process must be idle."""
        try:
            return self._submit(cell)
        except BrokenProcessPool:  # it died since its last cell
            self.abandon()
            return self._submit(cell)

    def _submit(self, cell: Cell) -> Future[Finished]:
        # Started by "spawn" on every system: a fork would copy threads and locks of this process.
        with _one_thread_each():
            if self._pool is None:
                context = get_context("spawn")
                end, self._lifeline = context.Pipe(duplex=False)
                self._pool = ProcessPoolExecutor(1, context, initializer=_prepare, initargs=(end,))
            return self._pool.submit(compute, cell.function, cell.arguments)

    def close(self) -> None:
        """End the process, which must be idle."""
        if self._pool is not None:
            self._pool.shutdown(wait=True)
        self.abandon()

    def abandon(self) -> None:
        """End the process at once, whatever it is doing."""
        if self._lifeline is not None:
            self._lifeline.close()
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = self._lifeline = None


def compute(function: str, arguments: dict[str, Any]) -> Finished:
    """Call a function by its name, and return what it gives as it will be read from a file.

    >>> compute("equigraph.words:count", {"number": 2, "noun": "cell"})
    Traceback (most recent call last):
    TypeError: equigraph.words:count returned str, not a dict.
    """
    module, _, name = function.partition(":")
    start, cpu = time.perf_counter(), time.process_time()
    result = getattr(importlib.import_module(module), name)(**arguments)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    if not isinstance(result, dict):
        raise TypeError(f"{function} returned {type(result).__name__}, not a dict.")
    return Finished(json.loads(json.dumps(result, allow_nan=False)), seconds, cpu_seconds)


def _prepare(lifeline: Connection) -> None:
    """Set up a worker: Ctrl-C is for the parent, and without a parent there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()


def _end_with_parent(lifeline: Connection) -> None:
    # Nothing is ever sent: this returns when the other end is closed, by the parent or by its death.
    with contextlib.suppress(EOFError, OSError):
        lifeline.recv_bytes()
    os._exit(1)


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """Set the variables that the libraries read when they are loaded; a new process inherits them."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
