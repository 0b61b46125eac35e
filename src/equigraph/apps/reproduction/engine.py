"""Computing cells side by side: the longest first, each in a process of its own and stored as soon as it is done.

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
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from equigraph._utils.files import write_text
from equigraph._utils.text import one_line
from equigraph.apps.reproduction.cells import FOLDER, Cell, Finished, read_cell, stored_seconds, write_cell
from equigraph.exceptions import EquigraphError, ParameterError

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
    """Call a function by its name, and return what it gives as it will be read from a file."""
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


# Seconds that the longer cells of a full run take on one core, about; they order the cells and start the forecast.
# Those of a method are for five clusters, and others are taken in proportion; weights are ten to a cell.
_SCORE_SECONDS = {
    "diaries": {"dmon": 9, "fair-partition": 15},
    "drugnet": {"dmon": 5, "fair-nmtf": 6, "fair-partition": 15},
    "facebook": {"fair-partition": 20},
    "friendship": {"dmon": 6, "fair-partition": 15},
    "lastfm": {"dmon": 26, "fair-nmtf": 4, "fair-partition": 60, "ifair-nmtf": 9},
    "nba": {"fair-nmtf": 6, "fair-partition": 32, "ifair-nmtf": 6},
    "sbm-2k": {"fair-nmtf": 8, "fair-partition": 34, "fair-sc": 15, "ifair-nmtf": 13, "individual-fair-sc": 13},
    "sbm-5k": {
        "dmon": 8, "fair-nmtf": 14, "fair-partition": 24, "fair-sc": 26, "ifair-nmtf": 42, "individual-fair-sc": 30,
    },
    "sbm-10k": {
        "dmon": 17, "fair-nmtf": 72, "fair-partition": 335, "fair-sc": 68, "ifair-nmtf": 103, "individual-fair-sc": 74,
        "scalable-fair-sc": 11,
    },
}  # fmt: skip
_WEIGHTS_SECONDS = {"drugnet": 7.0, "lastfm": 16.0}
_UNKNOWN_SECONDS = 3.0
# The hints count as this many seconds of experience beside what the run itself has shown.
_TRUST_SECONDS = 20.0


def expected_seconds(cells: Iterable[Cell], folder: Path) -> dict[str, float]:
    """Return what each cell will take: as an earlier run in the folder tells, or by the hints of the package."""
    return {cell.key: stored_seconds(folder, cell) or _hint(cell.key) for cell in cells}


def _hint(key: str) -> float:
    kind, network, *rest = [*key.split("."), "", ""]
    if kind == "weights":
        return _WEIGHTS_SECONDS.get(network, _UNKNOWN_SECONDS)
    seconds = _SCORE_SECONDS.get(network, {}).get(rest[0])
    return _UNKNOWN_SECONDS if seconds is None else seconds * int(rest[1].removeprefix("k")) / 5


class Forecast:
    """The time left, learned from the cells that are done; before that from the seconds that hints expect."""

    def __init__(self, expected: Mapping[str, float], n_workers: int):
        self.expected = expected
        self.n_workers = n_workers
        self._hinted = self._taken = _TRUST_SECONDS

    def learn(self, key: str, seconds: float) -> None:
        """Take note of what a cell took."""
        self._hinted += self.expected[key]
        self._taken += seconds

    def seconds_left(self, *, waiting: Iterable[str], running: Mapping[str, float]) -> float:
        """Return the time left, given the seconds that each running cell has had."""
        pace = self._taken / self._hinted
        rest = [max(pace * self.expected[key] - had, 0.0) for key, had in running.items()]
        rest += [pace * self.expected[key] for key in waiting]
        # All workers share the rest, but one cell stays with one worker.
        return max(sum(rest) / self.n_workers, max(rest, default=0.0))


_TICK_SECONDS = 0.5


@dataclass(frozen=True)
class State:
    """How far a run is."""

    n_done: int  # finished (or failed) cells, and all of them
    n_cells: int
    running: tuple[str, ...]  # keys of the cells that are being computed
    seconds_left: float  # estimate of the time left


@dataclass
class CellResults:
    """What the cells gave."""

    finished: dict[str, Finished] = field(default_factory=dict)  # by key
    reused: set[str] = field(default_factory=set)  # keys of the cells that were stored before
    failures: dict[str, str] = field(default_factory=dict)  # why a cell has no result, by key


Watch = Callable[[State], Any]


def run_cells(
    cells: Iterable[Cell], folder: Path, *, n_workers: int, watch: Watch | None = None
) -> CellResults:
    """Compute the cells that are not stored yet.

    Experiments may share cells, which are computed once; equal keys mean equal cells. Each result goes to
    ``cells/KEY.json``; a cell that fails leaves the traceback in ``cells/KEY.failed.txt`` and does not stop the others.
    """
    by_key: dict[str, Cell] = {}
    for cell in cells:
        if by_key.setdefault(cell.key, cell) != cell:
            raise ParameterError(f"Two different cells have the key {cell.key!r}.")
    outcome = CellResults()
    for key, cell in by_key.items():
        stored = read_cell(folder, cell)
        if stored is not None:
            outcome.finished[key] = stored
    outcome.reused = set(outcome.finished)
    rest = [cell for key, cell in by_key.items() if key not in outcome.reused]
    expected = expected_seconds(rest, folder)
    rest.sort(key=lambda cell: (-expected[cell.key], cell.key))
    _CellRun(folder, rest, Forecast(expected, n_workers), outcome, len(by_key), watch).run(n_workers)
    return outcome


@dataclass
class _CellRun:
    folder: Path
    waiting: list[Cell]
    forecast: Forecast
    outcome: CellResults
    n_cells: int
    watch: Watch | None
    running: dict[Future[Finished], tuple[Cell, CellWorker, float]] = field(default_factory=dict)

    def run(self, n_workers: int) -> None:
        workers = [CellWorker() for _ in range(min(n_workers, len(self.waiting)))]
        idle = list(workers)
        try:
            while self.waiting or self.running:
                while idle and self.waiting:
                    worker, cell = idle.pop(), self.waiting.pop(0)
                    self.running[worker.submit(cell)] = (cell, worker, time.monotonic())
                self._tell()
                done, _ = wait(self.running, timeout=_TICK_SECONDS, return_when=FIRST_COMPLETED)
                idle += [self._take(future) for future in done]
            self._tell()
            for worker in workers:
                worker.close()
        finally:
            for worker in workers:
                worker.abandon()

    def _take(self, future: Future[Finished]) -> CellWorker:
        """Store what a future gave; return the worker, which is idle now."""
        cell, worker, _ = self.running.pop(future)
        failed = self.folder / FOLDER / f"{cell.key}.failed.txt"
        error = future.exception()
        if error is None:
            finished = future.result()
            write_cell(self.folder, cell, finished)
            failed.unlink(missing_ok=True)
            self.outcome.finished[cell.key] = finished
            self.forecast.learn(cell.key, finished.seconds)
            return worker
        if isinstance(error, BrokenProcessPool):
            worker.abandon()
        self.outcome.failures[cell.key] = _sentence(error)
        write_text(failed, "".join(traceback.format_exception(error)))
        return worker

    def _tell(self) -> None:
        if self.watch is None:
            return
        now = time.monotonic()
        had = {cell.key: now - start for cell, _, start in self.running.values()}
        self.watch(
            State(
                n_done=len(self.outcome.finished) + len(self.outcome.failures),
                n_cells=self.n_cells,
                running=tuple(had),
                seconds_left=self.forecast.seconds_left(
                    waiting=[cell.key for cell in self.waiting], running=had
                ),
            )
        )


def _sentence(error: BaseException) -> str:
    """Return one line that says why a cell failed."""
    if isinstance(error, BrokenProcessPool):
        return "Its process ended without a word, perhaps for want of memory."
    text = one_line(error)
    return text if isinstance(error, EquigraphError) else f"{type(error).__name__}: {text}"
