"""On how many networks FairPartition leads, by several ways to choose a point of its curve."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from equigraph.reproduction.method_entries import DIAL, Entry
from equigraph.reproduction.scoring import column
from equigraph.tradeoff import selection

_DIALS = (0.05, 0.1, DIAL, 0.2, 0.3, 0.5)
_LOSS = 0.03

Sweep = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Bar:
    """What a point must pass on one network: the highest Q and the highest B of any rival."""

    Q: float
    B: float


def bar_of(rivals: Sequence[Entry], *, with_printed: bool = False) -> Bar:
    """Return the highest Q and B of the rivals as measured, or also as printed."""
    sources = [entry.means for entry in rivals if not entry.failed]
    if with_printed:
        sources += [entry.printed for entry in rivals]
    return Bar(*(max((source[name] for source in sources), default=-np.inf) for name in ("Q", "B")))


def at_dial(value: float) -> Callable[[Sweep], int]:
    """Return the rule that takes one value of the dial, or the nearest there is, on every network."""
    return lambda sweep: int(np.argmin(np.abs(column(sweep, "weight") - value)))


def rules() -> dict[str, Callable[[Sweep], int]]:
    """Return ways to choose a point of a curve, none of which looks at a rival.

    Examples
    --------
    >>> sweep = [{"weight": 0.0, "Q": 0.6, "B": 0.1}, {"weight": 0.15, "Q": 0.5, "B": 0.4}]
    >>> {name: rule(sweep) for name, rule in rules().items() if name in ("product", "dial .15")}
    {'dial .15': 1, 'product': 1}
    """

    def by(rule: Callable[..., int], *rest: Any) -> Callable[[Sweep], int]:
        return lambda sweep: rule(column(sweep, "Q"), column(sweep, "B"), *rest)

    return {
        **{f"dial {value:g}".replace("0.", "."): at_dial(value) for value in _DIALS},
        "product": by(selection.product),
        "intersection": by(selection.intersection),
        "knee": by(selection.knee),
        f"at most {_LOSS:.0%} of Q given up".replace("%", " %"): by(selection.within_loss, _LOSS),
    }


@dataclass(frozen=True)
class Leads:
    """On how many networks a rule leads."""

    Q: int
    B: int
    both: int


def leads(rule: Callable[[Sweep], int], curves: Sequence[tuple[Sweep, Bar]]) -> Leads:
    """Count the networks on which the chosen point passes the bar."""
    Q, B = [], []
    for sweep, bar in curves:
        point = sweep[rule(sweep)]
        Q.append(point["Q"] > bar.Q)
        B.append(point["B"] > bar.B)
    return Leads(sum(Q), sum(B), sum(q and b for q, b in zip(Q, B, strict=True)))


def dominating(sweep: Sweep, bar: Bar) -> dict[str, Any] | None:
    """Return the point with the largest product of Q and B among those that reach the bar in both, if any."""
    reached = [point for point in sweep if point["Q"] >= bar.Q and point["B"] >= bar.B]
    return max(reached, key=lambda point: point["Q"] * point["B"], default=None)
