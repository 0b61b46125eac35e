"""One row of a comparison: what a method did with several seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from equigraph.contenders import Contender, Outcome
from equigraph.metrics.agreement import seed_stability
from equigraph.metrics.scores import COMPARED

# How a fit can end, from the best to the worst.
_SEVERITY = (None, "converged", "max_iter", "stopped", "diverged")


@dataclass(frozen=True)
class ComparisonRow:
    """What one method did on the graph; scores are None where it failed or has no such score.

    Attributes
    ----------
    method : str
        Name of the method.
    Q, B, NB, min_balance, rho : float or None
        Scores, the mean over the seeds; the fairness scores need groups.
    Q_spread, B_spread, NB_spread, min_balance_spread, rho_spread : float or None
        Standard deviation of each over the seeds (of a sample, so with n - 1); None for a single seed.
    n_nonempty : int or None
        Clusters that have a node, of the first seed.
    sizes : tuple of int
        Nodes of each cluster, first seed.
    stability : float or None
        Mean adjusted Rand index over all pairs of seeds: 1 when every seed gives the same clusters. None for
        a single seed.
    seconds : float or None
        Median time of a fit.
    fairness : float or None
        The dial that was set, by ``fairness=`` or ``tune=``; None where the method kept its own, or has none.
    status : str or None
        How the fits ended; see `ClusteringResult`. Of several seeds the worst: "diverged" before "stopped" before
        "max_iter" before "converged".
    notes : tuple of str
        Warnings, of each kind the first; and whether the clusters are the same without fairness.
    error : str or None
        Why there is no result.
    bad_input : bool
        Whether the error is one of the input, such as too many clusters, rather than of the method.
    by_attribute : dict
        Scores of every attribute where there are several, such as ``NB[gender]``; B, NB and rho are then their means.
    """

    method: str
    Q: float | None = None
    B: float | None = None
    NB: float | None = None
    min_balance: float | None = None
    rho: float | None = None
    Q_spread: float | None = None
    B_spread: float | None = None
    NB_spread: float | None = None
    min_balance_spread: float | None = None
    rho_spread: float | None = None
    n_nonempty: int | None = None
    sizes: tuple[int, ...] = ()
    stability: float | None = None
    seconds: float | None = None
    fairness: float | None = None
    status: str | None = None
    notes: tuple[str, ...] = ()
    error: str | None = None
    bad_input: bool = False
    by_attribute: Mapping[str, float | None] = field(default_factory=dict)

    def shown(self, name: str) -> str:
        """Return one value as a table of texts shows it: scores with their spread."""
        value = self.by_attribute.get(name) if "[" in name else getattr(self, name)
        if value is None or value == ():
            return ""
        if isinstance(value, tuple):
            return " ".join(map(str, value))
        if name == "fairness":
            return f"{value:.3g}"
        spread = getattr(self, f"{name}_spread", None)
        more = "" if spread is None else f" ± {spread:.3f}"
        return f"{value:.3f}{more}" if isinstance(value, float) else str(value)


def row_of(entry: Contender, outcomes: list[Outcome]) -> ComparisonRow:
    """Return the row of a method from its fits, one per seed."""
    first = outcomes[0]
    told: dict[str, Any] = {}
    for name in COMPARED:
        values = np.array([one.scores.get(name, np.nan) for one in outcomes], dtype=float)
        told[name] = _finite(values.mean())
        told[f"{name}_spread"] = _finite(values.std(ddof=1)) if values.size > 1 else None
    return ComparisonRow(
        method=entry.name,
        **told,
        by_attribute=_means_by_attribute(outcomes),
        n_nonempty=int(first.scores["n_nonempty"]),
        sizes=first.sizes,
        stability=seed_stability([one.labels for one in outcomes]),
        seconds=float(np.median([one.seconds for one in outcomes])),
        fairness=entry.fairness if entry.fairness is not None and entry.has_dial else None,
        status=max((one.status for one in outcomes), key=_severity),
    )


def _means_by_attribute(outcomes: list[Outcome]) -> dict[str, float | None]:
    """Return the mean over the seeds of every score of one of several attributes, such as ``NB[gender]``."""
    names = [name for name in outcomes[0].scores if "[" in name]
    return {name: _finite(np.mean([one.scores[name] for one in outcomes])) for name in names}


def _severity(status: str | None) -> int:
    """Return how bad an end is; one that an estimator of the user's made up is worse than none of ours."""
    return _SEVERITY.index(status) if status in _SEVERITY else len(_SEVERITY)


def _finite(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)
