"""What an experiment is made of: settings, and cells that are computed apart from each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
