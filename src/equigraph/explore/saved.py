"""Read a board that the page saved."""

from __future__ import annotations

import json
import os
from pathlib import Path

from equigraph.exceptions import InputError
from equigraph.explore.keeping import board_from_json
from equigraph.explore.matter import Matter
from equigraph.explore.steps import Step

MAX_BYTES = 512 << 20


def read_board(path: str | os.PathLike[str]) -> tuple[Matter, Step]:
    """Read a board that the explorer saved.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Matter, Step
        The people, and who is in which cluster under which rules.

    Raises
    ------
    InputError
        If the file cannot be read or is no board.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path.name} has more than {MAX_BYTES >> 20} MB: expected a saved board.")
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError):
        raise InputError(
            f"{path.name} is no saved board: expected a file that the explorer's 'Save the board' wrote."
        ) from None
    return board_from_json(content, path.name)
