"""One method on one network, as often as asked: the work of a cell."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.analysis.tradeoff import selection
from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.networks import SBM, PrintedNetwork, load_network
from equigraph.methods import get_method
from equigraph.metrics import evaluate
from equigraph.search.plans import DIAL

TITLES = {
    "fair-sc": "FairSC",
    "scalable-fair-sc": "sFairSC",
    "individual-fair-sc": "iFairSC",
    "dmon": "DMoN",
    "ifair-nmtf": "iFairNMTF",
    "fair-nmtf": "FairNMTF",
    "fair-partition": "FairPartition",
    "sc": "SC",
    "nmtf": "NMTF",
}
# The methods of the paper's table; beside them FairNMTF, and FairPartition, which gives its whole curve.
RIVALS = ("fair-sc", "scalable-fair-sc", "individual-fair-sc", "dmon", "ifair-nmtf")
LEADING = "fair-partition"
COMPARED = (*RIVALS, "fair-nmtf", LEADING)
# Methods whose weight is chosen by the paper's rule.
CROSSED = ("ifair-nmtf", "fair-nmtf")
MEASURES = ("Q", "B", "NB", "rho", "n_nonempty", "accuracy")

Scores = dict[str, float]


def score_method(
    *,
    network: str,
    method: str,
    n_clusters: int,
    first_seed: int,
    n_runs: int,
    weights: Sequence[float] = (),
    n_sweep_runs: int = 0,
) -> dict[str, Any]:
    """Run a method with its settings of the paper, and return the scores of every run.

    iFairNMTF and FairNMTF choose one of the weights on the first `n_sweep_runs` seeds; FairPartition has its whole
    curve from every run. Returns ``runs``, the scores of each; of those two also ``chosen`` and ``sweep``, for each
    weight the means of the scores and their ``spreads``; of FairPartition ``n_runs`` and ``sweep`` alone.
    """
    seeds = range(first_seed, first_seed + n_runs)
    if method == LEADING:
        return _score_curve(network, n_clusters, seeds, weights)
    if method not in CROSSED:
        return {"runs": [_score(network, method, n_clusters, seed) for seed in seeds]}
    sweep = sweep_weights(
        network=network,
        n_clusters=n_clusters,
        weights=weights,
        first_seed=first_seed,
        n_runs=n_sweep_runs,
        method=method,
    )["sweep"]
    chosen = weights[crossing(sweep)]
    runs = [_score(network, method, n_clusters, seed, chosen) for seed in seeds]
    return {"runs": runs, "chosen": chosen, "sweep": sweep}


def sweep_weights(
    *,
    network: str,
    n_clusters: int,
    weights: Sequence[float],
    first_seed: int,
    n_runs: int,
    method: str = "ifair-nmtf",
) -> dict[str, Any]:
    """Run a method with several weights, and return means and spreads of the scores at each as ``sweep``."""
    seeds = range(first_seed, first_seed + n_runs)
    # Seeds outside: a block model is drawn once for each.
    scores = [[_score(network, method, n_clusters, seed, weight) for weight in weights] for seed in seeds]
    return {"sweep": _sweep(weights, scores)}


def crossing(sweep: Sequence[dict[str, Any]]) -> int:
    """Return the place in a sweep where Q and B, scaled to [0, 1] each, first cross: the paper's rule."""
    return selection.intersection(column(sweep, "Q"), column(sweep, "B"))


def column(sweep: Iterable[dict[str, Any]], name: str) -> NDArray[np.float64]:
    """Return one measure of every entry of a sweep."""
    return np.array([entry[name] for entry in sweep], dtype=np.float64)


def means(runs: Iterable[Scores]) -> Scores:
    """Return the mean of every measure over runs."""
    runs = list(runs)
    return {name: float(column(runs, name).mean()) for name in runs[0]}


def spreads(runs: Iterable[Scores]) -> Scores:
    """Return the standard deviation of every measure over runs (n - 1 in the denominator; 0 for one run)."""
    runs = list(runs)
    return {name: float(column(runs, name).std(ddof=min(1, len(runs) - 1))) for name in runs[0]}


def _sweep(weights: Sequence[float], scores: Sequence[Sequence[Scores]]) -> list[dict[str, Any]]:
    """Return means and spreads at each weight, from the scores of every run."""
    return [
        {"weight": weight, **means(runs), "spreads": spreads(runs)}
        for weight, runs in zip(weights, zip(*scores, strict=True), strict=True)
    ]


def _score_curve(
    network: str, n_clusters: int, seeds: Iterable[int], dial: Sequence[float]
) -> dict[str, Any]:
    """Return means and spreads of FairPartition at all values of the dial; every run gives a whole curve."""
    from equigraph.analysis.tradeoff import tradeoff_curve

    scores: list[list[Scores]] = []
    for seed in seeds:
        data = load_network(network, seed)
        curve = tradeoff_curve(
            data.graph, n_clusters=n_clusters, notion="balance", fairness=dial, random_state=seed
        )
        scores.append([_scores(data, point.labels) for point in curve.points])
    return {"n_runs": len(scores), "sweep": _sweep(dial, scores)}


def _score(network: str, method: str, n_clusters: int, seed: int, weight: float | None = None) -> Scores:
    own = {} if weight is None else {"fairness": weight}
    return fit_scores(load_network(network, seed), method, n_clusters, seed, **own)


def fit_scores(data: PrintedNetwork, method: str, n_clusters: int, seed: int, **options: Any) -> Scores:
    """Return the scores of one fit."""
    model = build(method, n_clusters, seed, **options)
    groups = data.group_numbers if method == "dmon" else None
    with warnings.catch_warnings():
        # Divergence and empty clusters show in the scores.
        warnings.simplefilter("ignore", UserWarning)
        model.fit(data.graph, sensitive_features=groups)
    return _scores(data, model.labels_)


def _scores(data: PrintedNetwork, labels: NDArray) -> Scores:
    found = evaluate(data.graph, labels, target=data.target)
    return {name: float(found[name]) for name in MEASURES if name in found}


def build(method: str, n_clusters: int, seed: int, **options: Any) -> Any:
    """Return an estimator with the settings of the paper, and others if given.

    FairSC is the ratio cut there and sFairSC the normalised cut. iFairSC is FairSC without the constant eigenvector.
    DMoN has a layer of 64 channels and the group as its only feature. iFairNMTF runs all of its 500 iterations, and
    nobody represents himself. FairNMTF has its defaults.

    >>> build("fair-sc", 5, 0)
    FairSC(n_clusters=5, random_state=0)
    """
    as_printed: dict[str, dict[str, Any]] = {
        "individual-fair-sc": {"constraint": "group_no_constant"},
        "dmon": {"features": "ordinal", "hidden": 64, "epochs": 500, "device": "cpu"},
        "ifair-nmtf": {"self_pairs": False, "tol": 0},
        "sc": {"row_normalize": False},
        "nmtf": {"tol": 0},
    }
    estimator = get_method(method).load()
    return estimator(n_clusters, random_state=seed, **as_printed.get(method, {}), **options)


K = 5  # clusters in the table and in the charts over the weight
# 15 weights in [0, 100] with median 3 for small networks, in [0, 3500] for large ones: the paper's ranges.
_SMALL = (0, 0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 8, 12, 20, 35, 60, 100)
_LARGE = (0, 1, 3, 10, 30, 50, 70, 100, 150, 200, 300, 500, 1000, 2000, 3500)
_N_RUNS, _N_SWEEP_RUNS, _N_SLOW_RUNS = 10, 3, 3
_N_QUICK_RUNS = 3
# About how long a full cell of FairPartition takes on one core, and the others in proportion.
_SECONDS = {"sbm-10k": 300.0, "sbm-5k": 60.0, "sbm-2k": 34.0, "lastfm": 60.0, "nba": 32.0}
_FACTORS = {LEADING: 1.0, "ifair-nmtf": 0.4}


def score_cell(settings: Settings, network: str, method: str, n_clusters: int = K) -> Cell:
    """Return the cell of one method on one network; the experiments share these."""
    sbm = network in SBM
    n_runs = _N_QUICK_RUNS if settings.quick else _N_RUNS
    arguments: dict[str, Any] = {
        "network": network,
        "method": method,
        "n_clusters": n_clusters,
        "first_seed": settings.seed,
        "n_runs": min(n_runs, _N_SLOW_RUNS) if sbm and method in ("dmon", LEADING) else n_runs,
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
        # Where the search is done for a curve, and dense where the curves bend; on block models they are a step.
        arguments["weights"] = dial_values(6) if sbm else list(DIAL)
    return Cell(
        key=f"score.{network}.{method}.k{n_clusters}",
        function="equigraph.apps.reproduction.scoring:score_method",
        arguments=arguments,
        seconds=_SECONDS.get(network, 4.0) * _FACTORS.get(method, 0.3) * n_clusters / K,
    )


def dial_values(n_values: int) -> list[float]:
    """Return even values in [0, 1]."""
    return np.linspace(0, 1, n_values).round(6).tolist()
