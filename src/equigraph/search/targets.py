"""What a search is for: labels at a value of the dial, or at least so fair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from equigraph.search.objective import HIGHEST, Objective
from equigraph.search.pool import Pool


@dataclass(frozen=True)
class Target:
    """What labels are wanted: the best at a value of the dial, or the most cohesive at least so fair."""

    fairness: float = 0.0
    at_least: float | None = None

    @property
    def wants_fairness(self) -> bool:
        """Whether fairness counts at all."""
        return self.at_least is not None or self.fairness > 0

    def of(self, objective: Objective) -> Objective:
        """Return the objective that a move climbs for this target."""
        if self.at_least is None:
            return objective.at(self.fairness)
        return objective.at(HIGHEST, cap=self.at_least)

    def best(self, pool: Pool) -> NDArray[np.int32]:
        """Return the best labels of a pool."""
        return pool.best(self.fairness) if self.at_least is None else pool.reaching(self.at_least)


def any_fair(targets: Sequence[Target]) -> bool:
    """Return whether fairness counts for any of the targets."""
    return any(target.wants_fairness for target in targets)
