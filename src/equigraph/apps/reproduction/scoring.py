"""Scores of methods on the networks of the paper: networks, settings, cells and entries."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.analysis.tradeoff import selection
from equigraph.apps.reproduction.cells import Cell, Settings
from equigraph.apps.reproduction.experiment import number
from equigraph.graph import Graph, read_graph
from equigraph.methods import get_method
from equigraph.metrics import evaluate
from equigraph.search.plans import DIAL as SEARCHED_DIAL

PAPER: dict[str, Any] = tomllib.loads(resources.files(__package__).joinpath("paper.toml").read_text("utf-8"))
REAL: dict[str, str] = PAPER["real"]
SBM: dict[str, int] = PAPER["block_models"]
TITLES: dict[str, str] = PAPER["titles"]
NETWORKS = {**REAL, **{name: name.upper() for name in SBM}}


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
        numbers = np.array([PAPER["group_numbers"][group] for group in data.sensitive_features.tolist()])
    graph = read_graph(data.adjacency, groups=data.sensitive_features, attribute=attribute)
    return PrintedNetwork(graph, numbers, data.get("target"))


# The methods of the paper's table; beside them FairNMTF, and FairPartition, which gives its whole curve.
RIVALS = ("fair-sc", "scalable-fair-sc", "individual-fair-sc", "dmon", "ifair-nmtf")
LEADING = "fair-partition"
COMPARED = (*RIVALS, "fair-nmtf", LEADING)
# Methods whose weight is chosen by the paper's rule.
CROSSED = ("ifair-nmtf", "fair-nmtf")
NAMES = {"Q": "modularity Q", "B": "balance B"}  # of the measures that are drawn
MEASURES = ("Q", "B", "NB", "rho", "n_nonempty", "accuracy")

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
    common: dict[str, Any] = {"network": network, "method": method, "n_clusters": n_clusters}
    found = sweep_weights(**common, weights=weights, first_seed=first_seed, n_runs=n_sweep_runs)
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
    model = estimator(n_clusters, random_state=seed, **PAPER["settings"].get(method, {}), **options)
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
        arguments["weights"] = PAPER["weights"]["large" if large else "small"]
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


def printed(network: str, method: str) -> dict[str, float]:
    """Return the values that the paper prints, by measure; empty where it has none."""
    pair = dict(zip(RIVALS, PAPER["printed"][network], strict=True)).get(method, ())
    return dict(zip(("B", quality_of(network)), pair, strict=False))


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


def entry_of(cell: Cell, result: Mapping[str, Any]) -> Entry:
    """Return the entry for a cell of `score_cell`."""
    network, method, sweep = cell.arguments["network"], cell.arguments["method"], result.get("sweep", ())
    if method != LEADING:
        runs = result["runs"]
        return Entry(network, method, *summary_of(runs), len(runs), result.get("chosen"), sweep)
    dial = PLANTED_DIAL if network in SBM else DIAL
    point = next(point for point in sweep if point["weight"] == dial)
    own = {name: point[name] for name in MEASURES if name in point}
    return Entry(network, method, own, point["spreads"], result["n_runs"], dial, sweep)
