"""Declarative constraints on parameters.

A constraint says which values a parameter takes and describes itself in words. Estimators list theirs in
``_parameters``; the command line builds its options from the same list, so that every parameter of a method can be set
there. numpy is imported where it is needed: the command line makes constraints before it prints its help.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from equigraph.exceptions import ParameterError


@dataclass(frozen=True)
class Constraint:
    """Constraint on one parameter; ``help`` describes the parameter in one sentence."""

    help: str = ""
    optional: bool = False

    def accepts(self, value: Any) -> bool:
        """Return whether the value is legal; None is legal if the parameter is optional."""
        return (value is None and self.optional) or self._accepts(value)

    def describe(self) -> str:
        """Return a description of the accepted values."""
        return f"{self._describe()} or None" if self.optional else self._describe()

    def _accepts(self, value: Any) -> bool:
        raise NotImplementedError

    def _describe(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True)
class Real(Constraint):
    """A finite number in [low, high]; ``low`` itself can be left out."""

    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    kind: ClassVar[Any] = numbers.Real

    def _accepts(self, value: Any) -> bool:
        if not isinstance(value, self.kind) or isinstance(value, bool):
            return False
        above = value > self.low if self.open_low else value >= self.low
        return bool(above and value <= self.high and -math.inf < value < math.inf)

    def _describe(self) -> str:
        left = "(" if self.open_low else "["
        right = ")" if math.isinf(self.high) else "]"
        return f"a finite number in {left}{self.low:g}, {self.high:g}{right}"


@dataclass(frozen=True)
class Integer(Real):
    """A whole number of at least ``low``."""

    low: int = 0
    kind: ClassVar[Any] = numbers.Integral

    def _describe(self) -> str:
        return f"a whole number of at least {self.low}"


@dataclass(frozen=True)
class Choice(Constraint):
    """One of a few words (or other plain values)."""

    values: tuple[Any, ...] = ()

    def _accepts(self, value: Any) -> bool:
        # An array compared with a string would give an array, hence the type check first.
        return any(type(value) is type(one) and value == one for one in self.values)

    def _describe(self) -> str:
        words = ", ".join(repr(value) for value in self.values)
        return words if len(self.values) == 1 else f"one of {words}"


@dataclass(frozen=True)
class Boolean(Constraint):
    """True or False."""

    def _accepts(self, value: Any) -> bool:
        import numpy as np

        return isinstance(value, (bool, np.bool_))

    def _describe(self) -> str:
        return "True or False"


@dataclass(frozen=True)
class Seed(Constraint):
    """A seed, a numpy Generator or RandomState, or None."""

    optional: bool = True

    def _accepts(self, value: Any) -> bool:
        import numpy as np

        given = isinstance(value, (np.random.Generator, np.random.RandomState))
        return given or Integer().accepts(value)

    def _describe(self) -> str:
        return "a nonnegative whole number, a numpy Generator or RandomState,"


@dataclass(frozen=True)
class Instance(Constraint):
    """An object that has the given methods, described by ``words``."""

    methods: tuple[str, ...] = ()
    words: str = ""

    def _accepts(self, value: Any) -> bool:
        return all(callable(getattr(value, method, None)) for method in self.methods)

    def _describe(self) -> str:
        return self.words


@dataclass(frozen=True)
class AnyOf(Constraint):
    """Any of several constraints."""

    options: tuple[Constraint, ...] = ()

    def _accepts(self, value: Any) -> bool:
        return any(option.accepts(value) for option in self.options)

    def _describe(self) -> str:
        return ", or ".join(option.describe() for option in self.options)


CALLBACKS = AnyOf(
    help="Called with the progress; may stop the run.",
    optional=True,
    options=(
        Instance(methods=("__call__",), words="a function"),
        Instance(methods=("__iter__",), words="a list of functions"),
    ),
)
# Parameters of every method that works in steps.
PROGRESS: dict[str, Constraint] = {
    "callbacks": CALLBACKS,
    "time_limit": Real(low=0, optional=True, help="Seconds after which the best so far is kept."),
    "verbose": Boolean(help="Whether to log progress."),
}


def check_parameters(owner: str, constraints: Mapping[str, Constraint], values: Mapping[str, Any]) -> None:
    """Check every value against its constraint."""
    for name, constraint in constraints.items():
        if name in values and not constraint.accepts(values[name]):
            # The type alone says little about such a parameter; its help text says what it is for.
            help_text = constraint.help.rstrip(".") if isinstance(constraint, (Instance, AnyOf)) else ""
            meant = f" ({help_text[:1].lower()}{help_text[1:]})" if help_text else ""
            raise ParameterError(
                f"{owner}: {name} must be {constraint.describe()}{meant}; got {values[name]!r}."
            )


def check_known(name: str, value: Any, known: tuple[Any, ...]) -> None:
    """Raise ParameterError unless an option has one of its known values."""
    if value not in known:
        *most, last = map(repr, known)
        raise ParameterError(f"{name}={value!r} is unknown: expected {', '.join(most)} or {last}.")
