"""How many runs, values and networks the experiments take; quick or in full."""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph.reproduction.cells import Cell, Settings
from equigraph.reproduction.networks import SBM
from equigraph.reproduction.scoring import LEADING

K = 5  # clusters in the table and in the charts over the weight
# 15 weights in [0, 100] with median 3 for small networks, in [0, 3500] for large ones: the paper's ranges.
_SMALL = (0, 0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 8, 12, 20, 35, 60, 100)
_LARGE = (0, 1, 3, 10, 30, 50, 70, 100, 150, 200, 300, 500, 1000, 2000, 3500)
_N_RUNS, _N_SWEEP_RUNS, _N_DMON_SBM_RUNS = 10, 3, 3
_N_QUICK_RUNS = 3


def score_cell(settings: Settings, network: str, method: str, n_clusters: int = K) -> Cell:
    """Return the cell of one method on one network; the experiments share these."""
    sbm = network in SBM
    n_runs = _N_QUICK_RUNS if settings.quick else _N_RUNS
    arguments: dict[str, Any] = {
        "network": network,
        "method": method,
        "n_clusters": n_clusters,
        "first_seed": settings.seed,
        "n_runs": min(n_runs, _N_DMON_SBM_RUNS) if sbm and method == "dmon" else n_runs,
    }
    if method == "ifair-nmtf":
        large = sbm or network == "lastfm"
        arguments["weights"] = list(_LARGE if large else _SMALL)
        arguments["n_sweep_runs"] = 1 if settings.quick and large else _N_SWEEP_RUNS
    elif method == "fair-nmtf":
        # From 0 to 1 by tenths.
        arguments["weights"] = dial_values(11)
        arguments["n_sweep_runs"] = 1 if settings.quick else _N_SWEEP_RUNS
    elif method == LEADING:
        # On block models the curve is a step.
        arguments["weights"] = dial_values(11 if sbm else 21 if settings.quick else 41)
    return Cell(
        key=f"score.{network}.{method}.k{n_clusters}",
        function="equigraph.reproduction.scoring:score_method",
        arguments=arguments,
    )


def dial_values(n_values: int) -> list[float]:
    """Return even values in [0, 1].

    >>> dial_values(5)
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    return np.linspace(0, 1, n_values).round(6).tolist()
