"""What an experiment is made of: settings, and cells that are computed apart from each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Cell", "Settings"]


@dataclass(frozen=True)
class Settings:
    """What all experiments of a run share.

    Attributes
    ----------
    quick
        Fewer runs, values and networks: minutes instead of most of an hour.
    seed
        Seed of the first run of every cell; later runs count up from it.
    """

    quick: bool = False
    seed: int = 0


@dataclass(frozen=True)
class Cell:
    """One piece of work that needs nothing from the others.

    Attributes
    ----------
    key
        Name of the cell, unique over all experiments; lower-case letters, digits, ``-``, ``_`` and ``.``,
        since the result is stored as ``KEY.json``.
    function
        ``"package.module:function"``; called in a worker process.
    arguments
        Keywords of the call, of types that JSON keeps. The function returns a dict of the same kind.
    """

    key: str
    function: str
    arguments: dict[str, Any] = field(default_factory=dict)
