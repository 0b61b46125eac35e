"""Cells in parallel processes: the longest first, each stored as soon as it is done, so that a run can be resumed."""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool

from equigraph._utils.files import write_text
from equigraph._utils.text import one_line
from equigraph.apps.reproduction.cells import FOLDER, Cell, Finished, compute, read_cell
from equigraph.exceptions import EquigraphError, ParameterError

# Cells run in parallel, so each of them gets one thread of every library that would take all cores.
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS",
    ),
    "1",
)  # fmt: skip
_TICK_SECONDS = 0.5
_DIED = "The process ended before it was done, as when no memory is left."


@dataclass(frozen=True)
class RunState:
    """Progress of a run."""

    n_done: int  # finished (or failed) cells, and all of them
    n_cells: int
    share: float  # part of the estimated time that is done


@dataclass
class CellResults:
    """What the cells gave."""

    finished: dict[str, Finished] = field(default_factory=dict)  # by key
    reused: set[str] = field(default_factory=set)  # keys of the cells that were stored before
    failures: dict[str, str] = field(default_factory=dict)  # why a cell has no result, by key


Watch = Callable[[RunState], Any]


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
    stored = {key: read_cell(folder, cell) for key, cell in by_key.items()}
    outcome = CellResults({key: one for key, one in stored.items() if one is not None})
    outcome.reused = set(outcome.finished)
    waiting = [cell for key, cell in by_key.items() if key not in outcome.reused]
    waiting.sort(key=lambda cell: (-cell.seconds, cell.key))
    run = _CellRun(folder, outcome, by_key, watch)
    while waiting:
        waiting = run.compute(waiting, n_workers)
        # A process that dies takes the others with it: cells run alone until the one that ended it is found.
        while waiting and not run.compute(waiting[:1], 1):
            waiting = waiting[1:]
        if waiting:
            run.fail(waiting.pop(0), _DIED, _DIED)
    run.report()
    return outcome


@dataclass
class _CellRun:
    folder: Path
    outcome: CellResults
    cells: dict[str, Cell]
    watch: Watch | None

    def compute(self, cells: list[Cell], n_workers: int) -> list[Cell]:
        """Compute cells in parallel; return those that were lost because a process died."""
        lost = []
        pool = ProcessPoolExecutor(
            min(n_workers, len(cells)), initializer=_prepare, initargs=(os.getpid(),), env=_ONE_THREAD
        )
        try:
            running = {pool.submit(compute, self.folder, cell): cell for cell in cells}
            while running:
                self.report()
                done, _ = wait(running, timeout=_TICK_SECONDS, return_when=FIRST_COMPLETED)
                lost += [cell for future in done if self._is_lost(future, cell := running.pop(future))]
        finally:
            pool.shutdown(kill_workers=True)
        return sorted(lost, key=cells.index)

    def _is_lost(self, future: Future[Finished], cell: Cell) -> bool:
        error = future.exception()
        if isinstance(error, BrokenProcessPool):
            return True
        if error is None:
            self.outcome.finished[cell.key] = future.result()
            self._trace(cell).unlink(missing_ok=True)
        else:
            said = str(error) if isinstance(error, EquigraphError) else f"{type(error).__name__}: {error}"
            self.fail(cell, one_line(said), "".join(traceback.format_exception(error)))
        return False

    def fail(self, cell: Cell, sentence: str, trace: str) -> None:
        self.outcome.failures[cell.key] = sentence
        write_text(self._trace(cell), trace)

    def _trace(self, cell: Cell) -> Path:
        return self.folder / FOLDER / f"{cell.key}.failed.txt"

    def report(self) -> None:
        if self.watch is not None:
            done = {*self.outcome.finished, *self.outcome.failures}
            total = sum(cell.seconds for cell in self.cells.values())
            share = sum(self.cells[key].seconds for key in done) / total if total else 1.0
            self.watch(RunState(len(done), len(self.cells), share))


def _prepare(parent: int) -> None:
    """Set up a worker: it ignores Ctrl-C, which is for the parent, and ends when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(_TICK_SECONDS)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
