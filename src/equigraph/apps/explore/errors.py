"""Errors that the page translates."""

from __future__ import annotations

from functools import partial
from typing import Any

from equigraph._utils.text import one_line
from equigraph.exceptions import EquigraphError, InputError, ParameterError

# English sentences by code, for users of the API.
_SENTENCES = {
    "bad-rule": "{reason}",
    "busy": "The groups are still being made: wait a moment.",
    "changed": "The board was changed meanwhile, so what was found was not used.",
    "conflict": "These rules cannot all be kept: {says}",
    "ended": "The work ended before it was done; there may not be enough memory.",
    "file-gone": "This file is not here any more: choose it again.",
    "file-kind": "{name} is of no known kind: expected a table (.xlsx, .ods, .csv), a graph (.graphml, .mtx, ...) "
    "or a saved board (.json).",
    "file-size": "{name} has more than {most} MB: expected at most that.",
    "group-name": "{name!r} cannot be the name of a group: expected a unique name that is not blank.",
    "inside": "Internal error ({kind}); the board is unchanged.",
    "locked": "{name} is locked: unlock the card first.",
    "memory": "There is not enough memory for this.",
    "name-taken": "There is somebody called {name!r} already, or the name is blank.",
    "no-number": "{name} is a column of numbers, and {text!r} is none.",
    "not-open": "There is no board yet: confirm what was understood of the sheet first.",
    "not-stored": "This board is not kept on this machine any more.",
    "number": "There can be 2 to {most} groups of these people, not {number}.",
    "rules-full": "There are {most} rules already: remove one first.",
    "same-rule": "This rule is there already.",
    "sheet": "{reason}",
    "too-few": "Nobody more can leave: there would be fewer people than groups.",
    "too-long": "This took longer than {seconds:g} seconds and was ended.",
    "unreadable": "{reason}",
}


class BoardError(ParameterError):
    """An error with a code and the values of its sentence."""

    def __init__(self, code: str, **values: Any) -> None:
        self.code, self.values = code, values
        super().__init__(_SENTENCES[code].format(**values))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(BoardError, self.code, **self.values), ()


def refusal(error: BaseException) -> InputError:
    """Return an error in one sentence without a traceback, which can be sent between processes."""
    if isinstance(error, BoardError):
        return error
    if isinstance(error, EquigraphError):
        return InputError(one_line(error))
    if isinstance(error, MemoryError):
        return BoardError("memory")
    return BoardError("inside", kind=type(error).__name__)


def refusal_facts(error: BaseException) -> dict[str, Any]:
    """Return an error as JSON for the page; the code is empty if the page has no translation."""
    refused = refusal(error)
    code, values = (refused.code, refused.values) if isinstance(refused, BoardError) else ("", {})
    return {"error": str(refused), "code": code, "values": values}
