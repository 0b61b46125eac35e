"""What an estimator tells about how its solver ended."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import ConvergenceWarning

from equigraph.exceptions import warn
from equigraph.factorization.multiplicative import Factors, Status
from equigraph.words import count


def fitted_attributes(factors: Factors) -> dict[str, Any]:
    """Return the fitted attributes that every factorisation has."""
    return {
        "objective_history_": factors.history,
        "n_iter_": factors.n_iter,
        "status_": str(factors.status),
    }


def warn_unless_converged(
    name: str, factors: Factors, *, max_iter: int, tol: float, divergence: str = ""
) -> None:
    """Issue a ConvergenceWarning when the solver diverged or ran out of iterations."""
    if factors.status is Status.DIVERGED:
        done = count(factors.n_iter, "iteration")
        message = f"{name} diverged after {done}{divergence}; the last finite factors are kept."
    elif factors.status is Status.MAX_ITER and tol > 0:
        message = (
            f"{name} did not converge in max_iter={max_iter} iterations: H still changes by "
            f"{factors.change:.1e} per iteration (tol={tol:g})."
        )
    else:
        return
    warn(message, ConvergenceWarning)
