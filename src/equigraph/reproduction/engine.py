"""Computing cells side by side: the longest first, each stored as soon as it is done."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from equigraph.exceptions import EquigraphError, ParameterError
from equigraph.files import atomic_path
from equigraph.messages import one_line
from equigraph.reproduction.cells import Cell
from equigraph.reproduction.schedule import Forecast, expected_seconds
from equigraph.reproduction.store import FOLDER, Finished, read_cell, write_cell
from equigraph.reproduction.workers import CellWorker

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
        with atomic_path(failed) as partial:
            partial.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
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
