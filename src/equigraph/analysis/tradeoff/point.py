"""One point of a curve: labels with their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.records import plain

DIVERGED = "diverged"


@dataclass(frozen=True, eq=False, repr=False)
class TradeoffPoint:
    """Labels on a curve: those of one value of the dial, or some that nothing found dominates.

    Attributes
    ----------
    fairness : float
        Value of the dial; for labels that were not searched for at one, the value at which a dial that is turned up
        passes them (see `passing_weights`).
    labels : ndarray of shape (n_nodes,)
        Cluster of each node; clusters have the number that they have at the point before.
    sizes : ndarray of shape (n_clusters,)
        Nodes of each cluster; 0 for an empty one.
    scores : dict
        Q, B, NB, min_balance, rho and n_nonempty of these labels (and the measure of the notion, if it is none
        of these).
    means, spreads : dict
        Mean and standard deviation of the scores over the restarts; a single one has spread NaN.
    stability : float
        Mean adjusted Rand index over all pairs of restarts: 1 when all give the same clusters; NaN for one.
    seed : int
        Seed of the restart that the labels are from.
    n_restarts : int
        Number of restarts.
    status : str or None
        How the fit ended that the labels are from, as in `ClusteringResult`: "converged", "max_iter", "stopped" or
        "diverged"; None where the method has no status.
    """

    fairness: float
    labels: NDArray[np.intp]
    sizes: NDArray[np.intp]
    scores: Mapping[str, float]
    means: Mapping[str, float]
    spreads: Mapping[str, float]
    stability: float
    seed: int
    n_restarts: int
    status: str | None = None

    def summary(self) -> dict[str, Any]:
        """Return everything but the labels, ready for JSON."""
        return {
            "fairness": self.fairness,
            "scores": {name: plain(value) for name, value in self.scores.items()},
            "means": {name: plain(value) for name, value in self.means.items()},
            "spreads": {name: plain(value) for name, value in self.spreads.items()},
            "stability": plain(self.stability),
            "sizes": self.sizes.tolist(),
            "seed": self.seed,
            "n_restarts": self.n_restarts,
            "status": self.status,
        }

    def __repr__(self) -> str:
        scores = ", ".join(f"{name}={self.scores[name]:.3f}" for name in ("Q", "B", "NB"))
        found = int(self.scores["n_nonempty"])
        asked = "" if found == self.sizes.size else f" of {self.sizes.size}"
        diverged = ", diverged" if self.status == DIVERGED else ""
        return f"TradeoffPoint(fairness={self.fairness:g}, {scores}, {found}{asked} clusters{diverged})"


def index_of(point: TradeoffPoint, points: Sequence[TradeoffPoint]) -> int | None:
    """Return the place of a point among others, None if it is none of them."""
    return next((i for i, one in enumerate(points) if one is point), None)
