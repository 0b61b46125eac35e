"""What a search is for: labels at a value of the dial, or at least so fair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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

    @property
    def key(self) -> tuple[int, int]:
        """Whole numbers that tell targets apart, for the seed of what is done for one."""
        return 1 + (self.at_least is not None), round(1e9 * (self.at_least or self.fairness))

    def best(self, pool: Pool) -> NDArray[np.int32]:
        """Return the best labels of a pool."""
        return pool.best(self.fairness) if self.at_least is None else pool.reaching(self.at_least)
