"""What a search is for, and everything that it has found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

# At f = 1 the notion counts up to this much, then Q: a lexicographic order with a tolerance. Without one, the last
# thousandth of fairness would be bought with all cohesion (one huge cluster mirrors any population).
TOLERANCE = 0.01
# Scores are sums of rounded numbers: what is short of a bound by less reaches it.
_ROUNDING = 1e-12


@dataclass
class Pool:
    """Labels found so far, with modularity and notion; what another one dominates is dropped.

    Dominated labels are the best at no value of the dial and under no bound, so nothing is lost.
    """

    labels: list[NDArray[np.int32]] = field(default_factory=list)
    scores: list[tuple[float, float]] = field(default_factory=list)

    def add(self, labels: NDArray, modularity: float, notion: float) -> bool:
        """Keep labels unless some that are known are at least as good; return whether they were kept."""
        if any(q >= modularity and n >= notion for q, n in self.scores):
            return False
        kept = [place for place, (q, n) in enumerate(self.scores) if q > modularity or n > notion]
        self.labels = [self.labels[place] for place in kept] + [labels.astype(np.int32)]
        self.scores = [self.scores[place] for place in kept] + [(modularity, notion)]
        return True

    def value(self, fairness: float) -> float:
        """Return the best value of the objective at a value of the dial."""
        q, n = self.scores[self._at(fairness)]
        return (1 - fairness) * q + fairness * n

    def best(self, fairness: float) -> NDArray[np.int32]:
        """Return the best labels at a value of the dial."""
        return self.labels[self._at(fairness)]

    def reaching(self, bound: float) -> NDArray[np.int32]:
        """Return the most cohesive labels whose notion is at least a bound, or the fairest where none is."""
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
    """What labels are wanted: the best at a value of the dial, or the most cohesive at least so fair."""

    fairness: float = 0.0
    at_least: float | None = None

    @property
    def wants_fairness(self) -> bool:
        """Whether fairness counts at all."""
        return self.at_least is not None or self.fairness > 0

    @property
    def key(self) -> tuple[int, int]:
        """Whole numbers that tell targets apart, for the seed of what is done for one."""
        return 1 + (self.at_least is not None), round(1e9 * (self.at_least or self.fairness))

    def best(self, pool: Pool) -> NDArray[np.int32]:
        """Return the best labels of a pool."""
        return pool.best(self.fairness) if self.at_least is None else pool.reaching(self.at_least)
