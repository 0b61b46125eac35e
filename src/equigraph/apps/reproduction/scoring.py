"""Scores of methods on the networks of the paper: networks, settings, cells and entries."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.analysis.tradeoff import selection
from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.tables import number
from equigraph.graph import Graph, read_graph
from equigraph.methods import get_method
from equigraph.metrics import evaluate
from equigraph.search.plans import DIAL as SEARCHED_DIAL

# Networks of the paper's table: name in equigraph.datasets, and name in tables.
REAL = {
    "diaries": "Diaries",
    "facebook": "Facebook",
    "friendship": "Friendship",
    "drugnet": "DrugNet",
    "nba": "NBA",
    "lastfm": "LastFM",
}
SBM = {"sbm-2k": 2_000, "sbm-5k": 5_000, "sbm-10k": 10_000}  # block models, by their number of nodes
NETWORKS = {**REAL, **{name: name.upper() for name in SBM}}
# Numbers of the groups in the authors' files, which are the only feature of DMoN and affect it.
_FILE_NUMBERS = {
    "F": 1, "M": 2, "other": 1, "African American": 2, "Latino": 3, "US": 0, "non-US": 1,
    **{f"country {code}": code for code in (0, 3, 6, 10, 14, 17)},
}  # fmt: skip


class PrintedNetwork(NamedTuple):
    """A graph of the table."""

    graph: Graph  # with its groups
    group_numbers: NDArray[np.int64]  # the group of each node as a number
    target: NDArray | None = None  # planted clusters, where there are any


@lru_cache(maxsize=2)
def load_network(name: str, seed: int = 0) -> PrintedNetwork:
    """Return a network; a block model depends on the seed, a real network does not."""
    from equigraph import datasets

    if name in SBM:
        data = datasets.make_fair_sbm(SBM[name], 5, 5, random_state=seed)
        numbers, attribute = np.asarray(data.sensitive_features, dtype=np.int64), "group"
    else:
        data = datasets.load(name)
        attribute = data.attribute
        numbers = np.array([_FILE_NUMBERS[group] for group in data.sensitive_features.tolist()])
    graph = read_graph(data.adjacency, groups=data.sensitive_features, attribute=attribute)
    return PrintedNetwork(graph, numbers, data.get("target"))


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
NAMES = {"Q": "modularity Q", "B": "balance B"}  # of the measures that are drawn
MEASURES = ("Q", "B", "NB", "rho", "n_nonempty", "accuracy")

# Settings of the paper. FairSC is the ratio cut there and sFairSC the normalised cut. iFairSC is FairSC without the
# constant eigenvector. DMoN has a layer of 64 channels and the group as its only feature. iFairNMTF runs all of its
# 500 iterations, and nobody represents himself. FairNMTF has its defaults.
_AS_PRINTED: dict[str, dict[str, Any]] = {
    "individual-fair-sc": {"constraint": "group_no_constant"},
    "dmon": {"features": "ordinal", "hidden": 64, "epochs": 500, "device": "cpu"},
    "ifair-nmtf": {"self_pairs": False, "tol": 0},
    "sc": {"row_normalize": False},
    "nmtf": {"tol": 0},
}

Scores = dict[str, float]
Sweep = Sequence[dict[str, Any]]  # by weight: means of the scores, and their spreads


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
    """Run a method with the settings of the paper, and return the scores of every run.

    iFairNMTF and FairNMTF choose one of the weights on the first `n_sweep_runs` seeds; FairPartition computes its curve
    in every run. Returns ``runs``, the scores of each; of those two also ``chosen`` and ``sweep``, for each weight the
    means of the scores and their ``spreads``; of FairPartition ``n_runs`` and ``sweep`` alone.
    """
    seeds = range(first_seed, first_seed + n_runs)
    if method == LEADING:
        curves = [_score_curve(network, n_clusters, seed, weights) for seed in seeds]
        return {"n_runs": n_runs, "sweep": _sweep(weights, curves)}
    if method not in CROSSED:
        return {"runs": [fit_scores(network, method, n_clusters, seed) for seed in seeds]}
    found = sweep_weights(
        network=network,
        n_clusters=n_clusters,
        weights=weights,
        first_seed=first_seed,
        n_runs=n_sweep_runs,
        method=method,
    )
    chosen = weights[crossing(found["sweep"])]
    runs = [fit_scores(network, method, n_clusters, seed, fairness=chosen) for seed in seeds]
    return {"runs": runs, "chosen": chosen, **found}


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
    # Seeds in the outer loop: a block model is drawn once per seed.
    scores = [
        [fit_scores(network, method, n_clusters, seed, fairness=weight) for weight in weights]
        for seed in range(first_seed, first_seed + n_runs)
    ]
    return {"sweep": _sweep(weights, scores)}


def _sweep(weights: Sequence[float], scores: Sequence[Sequence[Scores]]) -> Sweep:
    """Return means and spreads at each weight, from the scores of every run."""
    rows = []
    for weight, runs in zip(weights, zip(*scores, strict=True), strict=True):
        means, spreads = summary_of(runs)
        rows.append({"weight": weight, **means, "spreads": spreads})
    return rows


def crossing(sweep: Sweep) -> int:
    """Return the index in a sweep where Q and B, each scaled to [0, 1], first cross: the rule of the paper."""
    return selection.intersection(column(sweep, "Q"), column(sweep, "B"))


def column(sweep: Iterable[Mapping[str, Any]], name: str) -> NDArray[np.float64]:
    """Return one measure of every entry of a sweep."""
    return np.array([entry[name] for entry in sweep], dtype=np.float64)


def summary_of(runs: Sequence[Scores]) -> tuple[Scores, Scores]:
    """Return mean and standard deviation of every measure (n - 1 in the denominator; 0 for one run)."""
    columns = {name: column(runs, name) for name in runs[0]}
    means = {name: float(values.mean()) for name, values in columns.items()}
    return means, {name: float(values.std(ddof=min(1, len(runs) - 1))) for name, values in columns.items()}


def _score_curve(network: str, n_clusters: int, seed: int, dial: Sequence[float]) -> list[Scores]:
    """Return the scores of FairPartition at all values of the dial."""
    from equigraph.analysis.tradeoff import tradeoff_curve

    data = load_network(network, seed)
    options: dict[str, Any] = {"n_clusters": n_clusters, "notion": "balance", "fairness": dial}
    curve = tradeoff_curve(data.graph, random_state=seed, **options)
    return [_scores(data, point.labels) for point in curve.points]


def fit_scores(network: str, method: str, n_clusters: int, seed: int, **options: Any) -> Scores:
    """Return the scores of one fit."""
    data = load_network(network, seed)
    estimator = get_method(method).load()
    model = estimator(n_clusters, random_state=seed, **_AS_PRINTED.get(method, {}), **options)
    groups = data.group_numbers if method == "dmon" else None
    with warnings.catch_warnings():
        # Divergence and empty clusters are visible in the scores.
        warnings.simplefilter("ignore", UserWarning)
        model.fit(data.graph, sensitive_features=groups)
    return _scores(data, model.labels_)


def _scores(data: PrintedNetwork, labels: NDArray) -> Scores:
    found = evaluate(data.graph, labels, target=data.target)
    return {name: float(found[name]) for name in MEASURES if name in found}


K = 5  # clusters in the table and in the charts over the weight
# 15 weights in [0, 100] with median 3 for small networks, in [0, 3500] for large ones: the paper's ranges.
_SMALL = (0, 0.1, 0.25, 0.5, 1, 1.5, 2, 3, 5, 8, 12, 20, 35, 60, 100)
_LARGE = (0, 1, 3, 10, 30, 50, 70, 100, 150, 200, 300, 500, 1000, 2000, 3500)
# Approximate seconds of a full cell of FairPartition on one core; the others in proportion.
_SECONDS = {"sbm-10k": 300.0, "sbm-5k": 60.0, "sbm-2k": 34.0, "lastfm": 60.0, "nba": 32.0}
_FACTORS = {LEADING: 1.0, "ifair-nmtf": 0.4}


def score_cell(settings: Settings, network: str, method: str, n_clusters: int = K) -> Cell:
    """Return the cell of one method on one network; the experiments share these."""
    sbm = network in SBM
    large = sbm or network == "lastfm"
    slow = sbm and method in ("dmon", LEADING)
    arguments: dict[str, Any] = {
        "network": network,
        "method": method,
        "n_clusters": n_clusters,
        "first_seed": settings.seed,
        "n_runs": 3 if settings.quick or slow else 10,
    }
    if method == "ifair-nmtf":
        arguments["weights"] = list(_LARGE if large else _SMALL)
        arguments["n_sweep_runs"] = 1 if settings.quick and large else 3
    elif method == "fair-nmtf":
        arguments["weights"] = [i / 10 for i in range(11)]
        arguments["n_sweep_runs"] = 1 if settings.quick else 3
    elif method == LEADING:
        # Weights of the curve, dense where curves bend; on block models the curve is a step.
        arguments["weights"] = [i / 5 for i in range(6)] if sbm else list(SEARCHED_DIAL)
    return Cell(
        key=f"score.{network}.{method}.k{n_clusters}",
        function=f"{__name__}:score_method",
        arguments=arguments,
        seconds=_SECONDS.get(network, 4.0) * _FACTORS.get(method, 0.3) * n_clusters / K,
    )


# What the paper prints, B and Q (accuracy on block models): a row for each network, a column for each rival.
_PRINTED: dict[str, tuple[tuple[float, float] | None, ...]] = {
    "diaries": ((0.708, 0.612), (0.809, 0.684), (0.699, 0.647), (0.263, 0.145), (0.648, 0.640)),
    "facebook": ((0.327, 0.449), (0.602, 0.500), (0.330, 0.448), (0.268, 0.048), (0.514, 0.509)),
    "friendship": ((0.391, 0.483), (0.485, 0.627), (0.374, 0.392), (0.183, 0.140), (0.631, 0.669)),
    "drugnet": ((0.052, 0.263), (0.052, 0.270), (0.061, 0.263), (0.000, 0.326), (0.124, 0.588)),
    "nba": ((0.083, 0.000), (0.323, 0.113), (0.072, 0.000), (0.036, 0.057), (0.286, 0.150)),
    "lastfm": ((0.065, 0.003), (0.056, 0.035), (0.066, 0.002), (0.000, 0.526), (0.069, 0.600)),
    "sbm-2k": ((0.575, 0.588), None, (0.0, 0.799), None, (0.953, 0.958)),
    "sbm-5k": ((0.995, 0.998), None, (0.0, 0.799), None, (0.941, 0.962)),
    "sbm-10k": ((0.999, 0.999), None, (0.0, 0.600), None, (1.0, 1.0)),
}


def printed(network: str, method: str) -> dict[str, float]:
    """Return the printed values by measure; empty where the paper has none."""
    pair = dict(zip(RIVALS, _PRINTED[network], strict=True)).get(method)
    return {} if pair is None else {"B": pair[0], quality_of(network): pair[1]}


def quality_of(network: str) -> str:
    """Return the measure of quality: accuracy for planted clusters, else Q."""
    return "accuracy" if network in SBM else "Q"


# FairPartition: one weight for all real networks. Planted clusters are fair, while the groups themselves have higher Q,
# so block models use the largest weight.
DIAL, PLANTED_DIAL = 0.15, 1.0


@dataclass(frozen=True)
class Entry:
    """An entry of the table."""

    network: str
    method: str
    means: Mapping[str, float] = field(default_factory=dict)  # over the runs, by measure
    spreads: Mapping[str, float] = field(default_factory=dict)
    n_runs: int = 0
    chosen: float | None = None  # fairness weight, for a method with one
    sweep: Sweep = ()  # means at every weight

    @property
    def titles(self) -> list[str]:
        """Names of the network and of the method in tables."""
        return [NETWORKS[self.network], TITLES[self.method]]

    @property
    def weight(self) -> str:
        """Fairness weight in tables."""
        return "-" if self.chosen is None else f"{self.chosen:g}"

    @property
    def printed(self) -> dict[str, float]:
        """Values printed in the paper, by measure."""
        return printed(self.network, self.method)

    def pair(self, scores: Mapping[str, float]) -> str:
        """Return quality and B of given scores, formatted for tables."""
        return " / ".join(number(scores[name]) for name in (quality_of(self.network), "B"))


def entry_of(network: str, method: str, result: Mapping[str, Any]) -> Entry:
    """Return the entry for the result of a cell."""
    sweep = result.get("sweep", ())
    if method != LEADING:
        runs = result["runs"]
        return Entry(network, method, *summary_of(runs), len(runs), result.get("chosen"), sweep)
    dial = PLANTED_DIAL if network in SBM else DIAL
    point = next(point for point in sweep if point["weight"] == dial)
    own = {name: point[name] for name in MEASURES if name in point}
    return Entry(network, method, own, point["spreads"], result["n_runs"], dial, sweep)


def entries_of(cells: Iterable[Cell], results: Mapping[str, Any]) -> list[Entry]:
    """Return the entries of cells of `score_cell`, in their order."""
    return [
        entry_of(cell.arguments["network"], cell.arguments["method"], results[cell.key]) for cell in cells
    ]
