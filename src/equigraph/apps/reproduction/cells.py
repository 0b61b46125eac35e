"""What an experiment is made of: cells that are computed apart from each other, and kept as files.

A file is trusted only if it is whole, and of the same call of the same version.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from equigraph._utils.files import write_text
from equigraph._utils.version import __version__

__all__ = ["Cell", "Settings"]


@dataclass(frozen=True)
class Settings:
    """What all experiments of a run share."""

    quick: bool = False  # fewer runs, values and networks: minutes instead of most of an hour
    seed: int = 0  # seed of the first run of every cell; later runs count up from it


@dataclass(frozen=True)
class Cell:
    """One piece of work that needs nothing from the others."""

    # Name of the cell, unique over all experiments; lower-case letters, digits, ``-``, ``_`` and ``.``, since
    # the result is stored as ``KEY.json``.
    key: str
    function: str  # ``"package.module:function"``; called in a worker process
    # Keywords of the call, of types that JSON keeps. The function returns a dict of the same kind.
    arguments: dict[str, Any] = field(default_factory=dict)


FOLDER = "cells"


@dataclass(frozen=True)
class Finished:
    """What a cell gave."""

    result: dict[str, Any]  # what its function returned
    seconds: float  # time on the clock and of the processor
    cpu_seconds: float


def fingerprint(cell: Cell) -> str:
    """Return a text that differs as soon as function, arguments or the version of the package do."""
    return _digest([cell.function, cell.arguments, __version__])


def path_of(folder: Path, cell: Cell) -> Path:
    """Return where a cell is stored in the folder of a run."""
    return folder / FOLDER / f"{cell.key}.json"


def write_cell(folder: Path, cell: Cell, finished: Finished) -> None:
    """Store a finished cell; the file is complete or not there."""
    content = {
        "key": cell.key,
        "function": cell.function,
        "arguments": cell.arguments,
        "version": __version__,
    }
    content |= {"fingerprint": fingerprint(cell), **asdict(finished)}
    content["checksum"] = _digest(content)
    write_text(path_of(folder, cell), json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_cell(folder: Path, cell: Cell) -> Finished | None:
    """Return what is stored, or None: no file, a damaged one, or one of another computation."""
    content = _read(path_of(folder, cell))
    if content is None or content["fingerprint"] != fingerprint(cell):
        return None
    return Finished(content["result"], content["seconds"], content["cpu_seconds"])


def stored_seconds(folder: Path, cell: Cell) -> float | None:
    """Return how long a cell of this name took, whatever its arguments were; None where that is not known."""
    content = _read(path_of(folder, cell))
    return None if content is None else float(content["seconds"])


def _read(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        checksum = content.pop("checksum")
        return content if checksum == _digest(content) else None
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        return None  # also NaN, which the digest refuses: nothing that was stored holds it


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
