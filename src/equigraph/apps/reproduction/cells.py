"""Cells of an experiment: pieces of work that are computed apart from each other, each kept as a record.

They run in parallel processes, the longest first, and each is stored as soon as it is done, so that a run can be
resumed.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool

from equigraph._utils.files import write_text
from equigraph._utils.text import one_line
from equigraph._utils.version import __version__
from equigraph.exceptions import EquigraphError, InputError, ParameterError
from equigraph.results.persistence import read_record, write_record

FOLDER, KIND = "cells", "cell"
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
class Settings:
    """What all experiments of a run share."""

    quick: bool = False  # fewer runs, values and networks: minutes instead of most of an hour
    seed: int = 0  # seed of the first run of every cell; later runs count up from it


@dataclass(frozen=True)
class Cell:
    """One piece of work that needs nothing from the others."""

    # Unique over all experiments, and the name of its file: lower-case letters, digits, ``-``, ``_`` and ``.``.
    key: str
    function: str  # ``"package.module:function"``; called in a worker process
    # Keywords of the call, of types that JSON keeps. The function returns a dict of the same kind.
    arguments: dict[str, Any] = field(default_factory=dict)
    # Rough estimate, by which the longest are started first.
    seconds: float = field(default=3.0, compare=False)


@cache
def code_fingerprint() -> str:
    """Return a fingerprint of the code on which a number can depend: the library and the experiments."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        if parts[0] != "apps" or parts[1] == "reproduction":
            digest.update("/".join(parts).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


@dataclass(frozen=True)
class Finished:
    """What a cell gave."""

    result: dict[str, Any]  # what its function returned
    seconds: float  # elapsed time, and that of the processor
    cpu_seconds: float
    code: str = field(default_factory=code_fingerprint)  # fingerprint of the code that computed it


class CellEntries(TypedDict):
    """Entries of a stored cell."""

    function: str
    arguments: dict[str, Any]
    package: str  # version of equigraph
    result: dict[str, Any]
    seconds: float
    cpu_seconds: float
    code: str


def path_of(folder: Path, cell: Cell) -> Path:
    """Return where a cell is stored in the folder of a run."""
    return folder / FOLDER / f"{cell.key}.json"


def read_cell(folder: Path, cell: Cell) -> Finished | None:
    """Return what is stored, None if there is no file, or one that is damaged or of another call or version."""
    with suppress(InputError):
        entries = read_record(path_of(folder, cell), KIND, CellEntries)
        if {name: entries[name] for name in _call(cell)} == _call(cell):
            return Finished(entries["result"], entries["seconds"], entries["cpu_seconds"], entries["code"])
    return None


def write_cell(folder: Path, cell: Cell, finished: Finished) -> None:
    """Store a finished cell."""
    write_record(path_of(folder, cell), KIND, {**_call(cell), **asdict(finished)})


def compute(folder: Path, cell: Cell) -> Finished:
    """Call the function of a cell, store what it gives, and return it as it will be read."""
    module, _, name = cell.function.partition(":")
    start, cpu = time.perf_counter(), time.process_time()
    result = getattr(importlib.import_module(module), name)(**cell.arguments)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    if not isinstance(result, dict):
        raise TypeError(f"{cell.function} returned {type(result).__name__}, not a dict.")
    finished = Finished(json.loads(json.dumps(result, allow_nan=False)), seconds, cpu_seconds)
    write_cell(folder, cell, finished)
    return finished


def _call(cell: Cell) -> dict[str, Any]:
    return {"function": cell.function, "arguments": cell.arguments, "package": __version__}


# Called with the number of cells that are done, that of all, and the part of the estimated time that is done.
Watch = Callable[[int, int, float], Any]


@dataclass
class CellRun:
    """Cells by key, and what they gave."""

    folder: Path
    cells: dict[str, Cell]
    watch: Watch | None = None
    finished: dict[str, Finished] = field(default_factory=dict)
    reused: set[str] = field(default_factory=set)  # keys of the cells that were stored before
    failures: dict[str, str] = field(default_factory=dict)  # why a cell has no result

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
            self.finished[cell.key] = future.result()
            self._trace(cell).unlink(missing_ok=True)
        else:
            said = str(error) if isinstance(error, EquigraphError) else f"{type(error).__name__}: {error}"
            self.fail(cell, one_line(said), "".join(traceback.format_exception(error)))
        return False

    def fail(self, cell: Cell, sentence: str, trace: str) -> None:
        """Note that a cell has no result, and why."""
        self.failures[cell.key] = sentence
        write_text(self._trace(cell), trace)

    def _trace(self, cell: Cell) -> Path:
        return self.folder / FOLDER / f"{cell.key}.failed.txt"

    def report(self) -> None:
        """Tell who watches how far the run is."""
        if self.watch is not None:
            done = {*self.finished, *self.failures}
            total = sum(cell.seconds for cell in self.cells.values())
            share = sum(self.cells[key].seconds for key in done) / total if total else 1.0
            self.watch(len(done), len(self.cells), share)


def run_cells(cells: Iterable[Cell], folder: Path, *, n_workers: int, watch: Watch | None = None) -> CellRun:
    """Compute the cells that are not stored yet.

    Experiments may share cells, which are computed once; equal keys mean equal cells. Each result goes to
    ``cells/KEY.json``; a cell that fails leaves the traceback in ``cells/KEY.failed.txt`` and does not stop the others.
    """
    run = CellRun(folder, {}, watch)
    for cell in cells:
        if run.cells.setdefault(cell.key, cell) != cell:
            raise ParameterError(f"Two different cells have the key {cell.key!r}.")
    stored = {key: read_cell(folder, cell) for key, cell in run.cells.items()}
    run.finished = {key: one for key, one in stored.items() if one is not None}
    run.reused = set(run.finished)
    waiting = [cell for key, cell in run.cells.items() if key not in run.reused]
    waiting.sort(key=lambda cell: (-cell.seconds, cell.key))
    while waiting:
        waiting = run.compute(waiting, n_workers)
        # A process that dies takes the others with it: cells run alone until the one that ended it is found.
        while waiting and not run.compute(waiting[:1], 1):
            waiting = waiting[1:]
        if waiting:
            run.fail(waiting.pop(0), _DIED, _DIED)
    run.report()
    return run


def _prepare(parent: int) -> None:
    """Set up a worker: it ignores Ctrl-C, which is for the parent, and ends when the parent does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(_TICK_SECONDS)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
