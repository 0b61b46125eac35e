"""Refusals that the page puts into its own language."""

from __future__ import annotations

from equigraph.exceptions import ParameterError

# By code the sentence for those who use the API without the page.
_SENTENCES = {
    "busy": "The groups are still being made: wait a moment.",
    "changed": "The board was changed meanwhile, so what was found was not used.",
    "group-name": "{name!r} cannot be the name of a group: expected one of its own that is not blank.",
    "locked": "{name} is locked: unlock the card first.",
    "name-taken": "{name!r} cannot be the name of a new person: expected one that nobody has.",
    "not-open": "There is no board yet: confirm what was understood of the sheet first.",
    "number": "There can be 2 to {most} groups of these people, not {number}.",
    "same-rule": "This rule is there already.",
}


class BoardError(ParameterError):
    """A refusal with a code and the values that its sentence needs."""

    def __init__(self, code: str, **values: str | int) -> None:
        self.code, self.values = code, values
        super().__init__(_SENTENCES[code].format(**values))
