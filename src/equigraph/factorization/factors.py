"""Base class of the factorisations, and what a solver returns."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from equigraph._utils.callbacks import Callbacks
from equigraph._utils.parameters import PROGRESS, Constraint, Integer, Real
from equigraph._utils.randomness import RandomState
from equigraph._utils.text import count
from equigraph.base import GraphClusterer
from equigraph.exceptions import warn


class Status(StrEnum):
    """Why a solver stopped."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    STOPPED = "stopped"
    DIVERGED = "diverged"


@dataclass(frozen=True)
class Factors:
    """Result of a solver: the last finite factors, the objective after each iteration, and the status."""

    H: NDArray
    W: NDArray
    history: NDArray[np.float64]
    change: float  # relative change of H in the last iteration; NaN if not computed (``tol=0``)
    status: Status

    @property
    def n_iter(self) -> int:
        """Number of iterations done."""
        return int(self.history.size)

    @property
    def attributes(self) -> dict[str, Any]:
        """Fitted attributes common to all factorisations."""
        return {"objective_history_": self.history, "n_iter_": self.n_iter, "status_": str(self.status)}


@dataclass(eq=False, repr=False)
class Factorization(GraphClusterer):
    """Base class of methods that iterate until the membership H hardly changes."""

    n_clusters: int = 2
    _: KW_ONLY
    max_iter: int = 500
    tol: float = 1e-4
    random_state: RandomState = None
    callbacks: Callbacks = None
    time_limit: float | None = None
    verbose: bool = False

    _square_passes: ClassVar[int] = 1
    _parameters: ClassVar[dict[str, Constraint]] = {
        **GraphClusterer._parameters,
        "max_iter": Integer(low=1, help="Most iterations."),
        "tol": Real(low=0, help="Stop when H changes by less than this, relative to its norm."),
        **PROGRESS,
    }

    def _warn_unless_converged(self, factors: Factors, divergence: str = "") -> None:
        """Issue a ConvergenceWarning if a solver diverged, or did not converge within limits set by the user.

        The defaults are those of the papers, whose runs mostly end at ``max_iter``; then only ``status_`` tells.
        """
        name = type(self).__name__
        own_limits = (self.max_iter, self.tol) != (type(self).max_iter, type(self).tol)
        if factors.status is Status.DIVERGED:
            done = count(factors.n_iter, "iteration")
            warn(
                f"{name} diverged after {done}{divergence}; the last finite factors are kept.",
                ConvergenceWarning,
            )
        elif factors.status is Status.MAX_ITER and self.tol > 0 and own_limits:
            warn(
                f"{name} did not converge in max_iter={self.max_iter} iterations: H still changes by "
                f"{factors.change:.1e} per iteration (tol={self.tol:g}).",
                ConvergenceWarning,
            )
