"""Messages that name an option of `read_graph`, for callers who did not call it themselves."""

from __future__ import annotations

import re

from equigraph.exceptions import InputError

_OPTION = re.compile(
    r"(?<!\.\.\., )\b(?:missing|unknown|symmetrize|duplicates|weight|node_column|attribute)="
    r"(?:'[^']*'|True|False)?(?!\w)"
)


def as_calls(error: InputError) -> InputError:
    """Return the same error with every option shown as part of a call of `read_graph`.

    Examples
    --------
    >>> str(as_calls(InputError("Say missing='drop'.")))
    "Say read_graph(..., missing='drop')."
    """
    return type(error)(_OPTION.sub(lambda match: f"read_graph(..., {match[0]})", str(error)))
