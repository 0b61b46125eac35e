"""Pareto front of the labels found by a search, and the targets that choose among them."""

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

    def value(self, fairness: float) -> float:
        """Return the largest objective value at a value of the dial."""
        q, n = self.scores[self._at(fairness)]
        return (1 - fairness) * q + fairness * n

    def best(self, fairness: float) -> NDArray[np.int32]:
        """Return the best labels at a value of the dial."""
        return self.labels[self._at(fairness)]

    def reaching(self, bound: float) -> NDArray[np.int32]:
        """Return the most cohesive labels whose notion is at least a bound, or the fairest if none reach it."""
        return self.labels[self._reaching(bound)]

    def _at(self, fairness: float) -> int:
        scores = np.asarray(self.scores)
        if fairness < 1:
            return int(np.argmax((1 - fairness) * scores[:, 0] + fairness * scores[:, 1]))
        return self._reaching(float(scores[:, 1].max()) - TOLERANCE)

    def _reaching(self, bound: float) -> int:
        scores = np.asarray(self.scores)
        enough = scores[:, 1] >= bound - _ROUNDING
        if not enough.any():
            enough = scores[:, 1] == scores[:, 1].max()
        return int(np.argmax(np.where(enough, scores[:, 0], -np.inf)))


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
        """Return the best labels of a pool."""
        return pool.best(self.fairness) if self.at_least is None else pool.reaching(self.at_least)
