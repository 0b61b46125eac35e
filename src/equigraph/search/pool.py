"""Targets of a search, and the Pareto front of the labels found, from which each target takes the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# At f = 1 the order is lexicographic, notion before Q, with this tolerance. Without it the last thousandth of fairness
# would cost all cohesion: one huge cluster mirrors any population.
TOLERANCE = 0.01
# Scores are rounded sums: a notion short of a bound by less than this reaches it.
_ROUNDING = 1e-12


@dataclass
class Pool:
    """Pareto front of the labels found so far, with modularity and notion; dominated labels are dropped.

    Dominated labels are optimal at no value of the dial and under no bound.
    """

    labels: list[NDArray[np.int32]] = field(default_factory=list)
    scores: list[tuple[float, float]] = field(default_factory=list)

    def add(self, labels: NDArray, modularity: float, notion: float) -> bool:
        """Add labels unless others in the pool are at least as good in both scores; return whether they were added."""
        if any(q >= modularity and n >= notion for q, n in self.scores):
            return False
        kept = [place for place, (q, n) in enumerate(self.scores) if q > modularity or n > notion]
        self.labels = [self.labels[place] for place in kept] + [labels.astype(np.int32)]
        self.scores = [self.scores[place] for place in kept] + [(modularity, notion)]
        return True

    def keep(self, targets: Sequence[Target]) -> None:
        """Drop all labels that are not the best for one of the targets."""
        best = {id(target.best(self)) for target in targets}
        kept = [place for place, labels in enumerate(self.labels) if id(labels) in best]
        self.labels = [self.labels[place] for place in kept]
        self.scores = [self.scores[place] for place in kept]


@dataclass(frozen=True)
class Target:
    """Target of a search: the best labels at a value of the dial, or the most cohesive under a bound on the notion."""

    fairness: float = 0.0
    at_least: float | None = None

    @property
    def wants_fairness(self) -> bool:
        """Whether fairness is part of the target."""
        return self.at_least is not None or self.fairness > 0

    @property
    def key(self) -> tuple[int, int]:
        """Whole numbers that identify the target, as part of random seeds."""
        return 1 + (self.at_least is not None), round(1e9 * (self.at_least or self.fairness))

    def best(self, pool: Pool) -> NDArray[np.int32]:
        """Return the best labels of a pool: the fairest if none reach the bound, the most cohesive of those if tied."""
        modularity, notion = np.asarray(pool.scores).T
        if self.at_least is None and self.fairness < 1:
            return pool.labels[int(np.argmax((1 - self.fairness) * modularity + self.fairness * notion))]
        bound = notion.max() - TOLERANCE if self.at_least is None else min(self.at_least, notion.max())
        return pool.labels[int(np.argmax(np.where(notion >= bound - _ROUNDING, modularity, -np.inf)))]
