"""Cells of an experiment: pieces of work that are computed apart from each other, each kept as a record."""

from __future__ import annotations

import hashlib
import importlib
import json
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypedDict

from equigraph._utils.version import __version__
from equigraph.exceptions import InputError
from equigraph.results.persistence import read_record, write_record

FOLDER, KIND = "cells", "cell"


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
    seconds: float = field(
        default=3.0, compare=False
    )  # rough estimate, by which the longest are started first


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
