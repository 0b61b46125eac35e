"""Cells of an experiment: independent computations, each stored as a record.

They run in parallel processes, longest first, and each is stored once it is done, so that a run can be resumed.
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
from concurrent.futures import as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypedDict, cast

from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.process_executor import BrokenProcessPool

from equigraph._utils.callbacks import Progress
from equigraph._utils.files import write_text
from equigraph._utils.text import one_line
from equigraph._utils.version import __version__
from equigraph.exceptions import EquigraphError, InputError
from equigraph.results.persistence import read_record, write_record

KIND = "cell"
# Cells run in parallel, so libraries get one thread per cell.
_ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS",
    ),
    "1",
)  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """Settings shared by all experiments of a run."""

    quick: bool = False  # fewer runs, values and networks: minutes instead of most of an hour
    seed: int = 0  # seed of the first run of every cell; later runs count up from it


@dataclass(frozen=True)
class Cell:
    """An independent computation."""

    # Unique over all experiments, and the file name: lower-case letters, digits, ``-``, ``_`` and ``.``.
    key: str
    function: str  # ``"package.module:function"``; called in a worker process
    # Keywords of the call, of JSON types. The function returns a dict of JSON types.
    arguments: dict[str, Any] = field(default_factory=dict)
    # Rough estimate, to start the longest first.
    seconds: float = field(default=3.0, compare=False)

    @property
    def call(self) -> dict[str, Any]:
        """Function, keywords and version, which identify the result."""
        return {"function": self.function, "arguments": self.arguments, "package": __version__}


class Finished(TypedDict):
    """A stored cell."""

    function: str
    arguments: dict[str, Any]
    package: str  # version of equigraph
    result: dict[str, Any]  # result of the function
    seconds: float  # wall time and processor time
    cpu_seconds: float
    code: str  # fingerprint of the code that computed it


@dataclass
class CellRun:
    """Results of cells by key."""

    finished: dict[str, Finished] = field(default_factory=dict)
    reused: set[str] = field(default_factory=set)  # keys of cells stored before
    failures: dict[str, str] = field(default_factory=dict)  # errors by key


@cache
def code_fingerprint() -> str:
    """Return a fingerprint of the code that affects results: the library and the experiments."""
    root = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in sorted((*root.rglob("*.py"), *root.rglob("paper.toml"))):
        parts = path.relative_to(root).parts
        if parts[0] != "apps" or parts[1] == "reproduction":
            digest.update("/".join(parts).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def path_of(folder: Path, cell: Cell, suffix: str = ".json") -> Path:
    """Return the path of a cell in the folder of a run."""
    return folder / "cells" / f"{cell.key}{suffix}"


def read_cell(folder: Path, cell: Cell) -> Finished | None:
    """Return a stored cell; None if it is missing, damaged, or of another call or version."""
    with suppress(InputError):
        found = read_record(path_of(folder, cell), KIND, Finished)
        if found == {**found, **cell.call}:
            return cast(Finished, found)
    return None


def compute(folder: Path, cell: Cell) -> Finished | str:
    """Call the function of a cell, and store and return its result; return the error if it fails."""
    trace = path_of(folder, cell, ".failed.txt")
    module, _, name = cell.function.partition(":")
    start, cpu = time.perf_counter(), time.process_time()
    try:
        result = getattr(importlib.import_module(module), name)(**cell.arguments)
        finished = {
            **cell.call,
            "result": json.loads(json.dumps(result, allow_nan=False)),
            "seconds": time.perf_counter() - start,
            "cpu_seconds": time.process_time() - cpu,
            "code": code_fingerprint(),
        }
        write_record(path_of(folder, cell), KIND, finished)
    except Exception as error:
        write_text(trace, traceback.format_exc())
        return one_line(
            str(error) if isinstance(error, EquigraphError) else f"{type(error).__name__}: {error}"
        )
    trace.unlink(missing_ok=True)
    return cast(Finished, finished)


def run_cells(
    cells: Iterable[Cell], folder: Path, *, n_workers: int, watch: Callable[[Progress], Any] | None = None
) -> CellRun:
    """Compute the cells that are not stored yet.

    Cells with equal keys are equal and computed once, also across experiments. Each result goes to ``cells/KEY.json``;
    a cell that fails leaves the traceback in ``cells/KEY.failed.txt`` and does not stop the others.
    """
    wanted = {cell.key: cell for cell in cells}
    stored = {key: read_cell(folder, cell) for key, cell in wanted.items()}
    run = CellRun({key: found for key, found in stored.items() if found is not None})
    run.reused = set(run.finished)

    waiting = [cell for key, cell in wanted.items() if key not in run.reused]
    waiting.sort(key=lambda cell: (-cell.seconds, cell.key))

    def lost() -> list[Cell]:
        """Return the cells that are neither finished nor failed."""
        return [cell for cell in waiting if cell.key not in {*run.finished, *run.failures}]

    def attempt(cells: list[Cell]) -> None:
        """Compute cells in parallel; those whose process died are lost."""
        workers = min(n_workers, len(cells))
        pool = ProcessPoolExecutor(workers, initializer=_prepare, initargs=(os.getpid(),), env=_ONE_THREAD)
        try:
            running = {pool.submit(compute, folder, cell): cell.key for cell in cells}
            for future in as_completed(running):
                with suppress(BrokenProcessPool):
                    found = future.result()
                    if isinstance(found, str):
                        run.failures[running[future]] = found
                    else:
                        run.finished[running[future]] = found
                    if watch is not None:
                        watch(Progress("cells", len(run.finished) + len(run.failures), len(wanted)))
        finally:
            pool.shutdown(kill_workers=True)

    if waiting:
        attempt(waiting)
    # A process that dies ends the pool, so the cells that were lost run one by one.
    for cell in lost():
        attempt([cell])
    why = "The process ended before it was done, as when no memory is left."
    run.failures |= {cell.key: why for cell in lost()}
    return run


def _prepare(parent: int) -> None:
    """Set up a worker: ignore Ctrl-C, which the parent handles, and end with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=end_with_parent, daemon=True).start()
