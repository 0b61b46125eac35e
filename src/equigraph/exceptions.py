"""Exceptions and warnings of equigraph.

Every message is one sentence that says what is wrong, where, and what was expected.
"""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

# Characters that a terminal interprets: control characters, bidirectional overrides and lone surrogates.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
# Maximum length of a message, and of the end that is kept when it is cut: it says what was expected.
_MAX_LENGTH, _MAX_END = 1_500, 400


def visible(text: str) -> str:
    r"""Escape the characters that a terminal would interpret, except line ends and tabs."""
    return _CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


def as_message(message: str) -> str:
    r"""Return a message with control characters escaped, cut if it is very long.

    >>> as_message("the name is \x1b[2J"), len(as_message("x" * 50_000)) < 2_000
    ('the name is \\x1b[2J', True)
    """
    text = visible(message)
    if len(text) <= _MAX_LENGTH:
        return text
    start = text[
        : _MAX_LENGTH - _MAX_END - 60
    ]  # with the words between them still short enough not to be cut again
    return f"{start} ... ({len(text) - len(start) - _MAX_END:,} characters left out) ... {text[-_MAX_END:]}"


class EquigraphError(Exception):
    """Base class of every error that equigraph raises on purpose."""

    def __init__(self, message: str = "", *rest: object) -> None:
        super().__init__(as_message(str(message)), *rest)


class InputError(EquigraphError, ValueError):
    """A value that equigraph cannot work with."""


class GraphError(InputError):
    """The graph, or the file or object it comes from, is not usable."""


class GroupsError(InputError):
    """The sensitive features are not usable."""


class RosterError(InputError):
    """The sheet of people, or the class lists made of it, are not usable."""


class ParameterError(InputError):
    """A parameter is out of range, or parameters contradict each other."""


class InfeasibleError(InputError):
    """The request cannot be met on this graph by this method."""


class ConflictError(InfeasibleError):
    """Rules contradict each other; ``rules`` are those that cannot all be kept."""

    def __init__(self, message: str, rules: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.rules = rules


class NotFoundError(EquigraphError):
    """No solution was found within the limits of the search, although one may exist."""


class DatasetError(EquigraphError, OSError):
    """A data set could not be found, fetched or verified."""


class OutputError(EquigraphError, OSError):
    """A result could not be written, such as on a full disk."""


class SchedulerLostError(EquigraphError):
    """The scheduler of a Dask cluster was lost, with the data of its workers."""


class MissingDependencyError(EquigraphError, ImportError):
    """An optional package is needed and not installed."""


class EquigraphWarning(UserWarning):
    """Base class of the warnings of equigraph."""


class SelfLoopWarning(EquigraphWarning):
    """Self-loops were dropped."""


class DistanceWarning(EquigraphWarning):
    """The weights of a matrix look like distances."""


class EmptyClusterWarning(EquigraphWarning):
    """Fewer clusters are non-empty than were requested."""


class FairnessNotReachedWarning(EquigraphWarning):
    """The requested fairness was not reached."""


class RulesRelaxedWarning(EquigraphWarning):
    """Some rules were relaxed, because not all of them can be kept."""


class SmallClusterWarning(EquigraphWarning):
    """Some clusters have only one or two nodes, although this was not requested."""


class SmallGroupWarning(EquigraphWarning):
    """A group has fewer members than there are clusters."""


class OwnGroupsWarning(EquigraphWarning):
    """Many groups have a single member."""


class NumericGroupsWarning(EquigraphWarning):
    """The groups look like values of a numeric attribute."""


class SchedulerLostWarning(EquigraphWarning):
    """The scheduler of a Dask cluster was lost; the result is the best one found until then."""


class FairnessIgnoredWarning(EquigraphWarning):
    """Fairness was requested and no groups were given."""


def warn(message: str, category: type[Warning]) -> None:
    """Issue a warning that points at the user's line, at any depth of the call."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in (
        "equigraph",
        "sklearn",
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(category(as_message(message)), stacklevel=level)


def reason(error: BaseException) -> str:
    r"""Return the first line of an error message of another library, without its full stop."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(". ") if lines else type(error).__name__


@contextmanager
def only_ours(what: str, kind: type[EquigraphError]) -> Iterator[None]:
    """Convert errors of other libraries within the block to `kind`, with a message that starts with `what`.

    >>> with only_ours("The file is broken", GraphError):
    ...     int("x")
    Traceback (most recent call last):
    equigraph.exceptions.GraphError: The file is broken: invalid literal for int() with base 10: 'x'.
    """
    try:
        yield
    except (EquigraphError, EquigraphWarning):
        raise
    except Exception as error:
        raise kind(f"{what}: {reason(error)}.") from error


def require(module: str, *, extra: str | None, purpose: str) -> ModuleType:
    """Import an optional module; MissingDependencyError says how to install it, by an extra or by itself."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        wanted = package if extra is None else f"'equigraph[{extra}]'"
        raise MissingDependencyError(
            f"{purpose} needs {package}, which is not installed: pip install {wanted}."
        ) from error
