"""Candidates of a comparison: methods by name and estimators of one's own, fitted with several seeds."""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from equigraph._utils.callbacks import Watched
from equigraph._utils.parameters import Real
from equigraph.base import GraphClusterer
from equigraph.exceptions import ParameterError
from equigraph.graph import Graph
from equigraph.methods import get_method
from equigraph.metrics.agreement import seed_stability
from equigraph.metrics.scores import COMPARED

# Where a dial has no upper end, its values are tried by powers of ten.
_TRIED_WEIGHTS = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
_TRIED_SHARES = 11
# Methods that are fair by construction, and what they are without: the class, and what must be the same.
_TWINS = {"FairSC": "SpectralClustering", "ScalableFairSC": "SpectralClustering"}


@dataclass(frozen=True)
class Candidate:
    """One row of a comparison before it is run."""

    name: str
    # An estimator of the user's, which is copied for every fit; None for a method by its name.
    given: Any = None
    fairness: float | None = None  # its dial; None leaves it as it is

    def make(self, **wanted: Any) -> Any:
        """Return a new estimator; of what is wanted those parameters are set that it has."""
        base = get_method(self.name).load()() if self.given is None else clone(self.given)
        known = base.get_params(deep=False)
        chosen = {"fairness": self.fairness, **wanted}
        return base.set_params(
            **{name: value for name, value in chosen.items() if name in known and value is not None}
        )

    @property
    def has_dial(self) -> bool:
        """Whether there is a dial; a method that cannot be imported tells so in its row."""
        try:
            return "fairness" in self.make().get_params(deep=False)
        except ImportError:
            return True


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one fit gave."""

    labels: NDArray[Any]
    scores: Mapping[str, float]
    sizes: tuple[int, ...]
    seconds: float
    status: str | None


def candidates_of(
    methods: Iterable[Any], fairness: float | Mapping[str, float] | None
) -> tuple[Candidate, ...]:
    """Return what is compared, each under a name of its own."""
    found: list[Candidate] = []
    for one in methods:
        if isinstance(one, str):
            entry = Candidate(get_method(one).name)
        else:
            entry = Candidate(_own_name(one, [known.name for known in found]), given=_checked(one))
        found.append(entry)
    return tuple(_with_dial(entry, fairness, [one.name for one in found]) for entry in found) if found else ()


def _checked(estimator: Any) -> Any:
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in ("fit", "get_params")):
        raise ParameterError(
            f"{estimator!r} cannot be compared: expected the name of a method, or an instance of an estimator with fit "
            "and get_params, such as NMTF()."
        )
    return estimator


def _own_name(estimator: Any, taken: list[str]) -> str:
    name = type(estimator).__name__
    numbered = [name, *(f"{name} ({i})" for i in range(2, len(taken) + 3))]
    return next(one for one in numbered if one not in taken)


def _with_dial(entry: Candidate, fairness: float | Mapping[str, float] | None, names: list[str]) -> Candidate:
    if isinstance(fairness, Mapping):
        strangers = [name for name in fairness if name not in names]
        if strangers:
            raise ParameterError(
                f"fairness names {strangers[0]!r}, which is not compared; the methods are {', '.join(names)}."
            )
        if entry.name in fairness and not entry.has_dial:
            raise ParameterError(f"fairness names {entry.name!r}, which has no such dial: leave it out.")
        fairness = fairness.get(entry.name)
    elif entry.given is not None:
        fairness = None  # whoever brings an estimator has set its dial
    return entry if fairness is None else Candidate(entry.name, entry.given, float(fairness))


def fit(
    entry: Candidate, graph: Graph, n_clusters: int, seed: int, watch: Watched | None = None, **more: Any
) -> Outcome:
    """Fit once, and score the labels."""
    from equigraph.metrics import evaluate

    model = entry.make(n_clusters=n_clusters, random_state=seed, callbacks=watch, **more)
    start = time.perf_counter()
    if isinstance(model, GraphClusterer):
        model.fit(graph)
    else:
        wanted = "sensitive_features" in inspect.signature(model.fit).parameters
        groups = {"sensitive_features": graph.sensitive_features} if wanted and graph.features else {}
        model.fit(graph.adjacency, **groups)
    seconds = time.perf_counter() - start
    labels = np.asarray(model.labels_)
    status = "stopped" if watch is not None and watch.stopped else getattr(model, "status_", None)
    return Outcome(labels, evaluate(graph, labels), _sizes(model, labels), seconds, status)


def _sizes(model: Any, labels: NDArray[Any]) -> tuple[int, ...]:
    """Return the sizes of the clusters, empty ones included where the estimator is one of ours."""
    if isinstance(model, GraphClusterer):
        return tuple(np.bincount(labels, minlength=model.membership_.shape[1]).tolist())
    return tuple(np.unique(labels, return_counts=True)[1].tolist())


def same_without_fairness(entry: Candidate, graph: Graph, n_clusters: int, seed: int, found: Outcome) -> str:
    """Say that the labels are those of the same method without fairness, where they are; nothing otherwise."""
    from equigraph.metrics import adjusted_rand_score

    twin = _twin(entry, n_clusters)
    if twin is None or graph.sensitive_features is None:
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = fit(twin[0], graph, n_clusters, seed)
    same = adjusted_rand_score(found.labels, other.labels) == 1.0
    return f"The clusters of seed {seed} are those of {twin[1]}: fairness changed nothing." if same else ""


def _twin(entry: Candidate, n_clusters: int) -> tuple[Candidate, str] | None:
    """Return the same method without fairness, and what it is called."""
    model = entry.make(n_clusters=n_clusters)
    kind = type(model).__name__
    if kind in _TWINS:
        from equigraph.spectral import SpectralClustering

        plain = SpectralClustering(
            normalized=getattr(model, "normalized", True), row_normalize=model.row_normalize
        )
        return Candidate(kind, given=plain), _TWINS[kind]
    if getattr(model, "fairness", None):
        return Candidate(entry.name, entry.given, 0.0), f"{kind} without fairness"
    return None


def tuned(entry: Candidate, graph: Graph, n_clusters: int, seed: int) -> Candidate:
    """Return the same with the value of its dial for which Q times NB is largest; what has no dial stays as it is."""
    if not entry.has_dial:
        return entry
    constraint = getattr(entry.make(), "_parameters", {}).get("fairness")
    bounded = isinstance(constraint, Real) and constraint.high == 1
    values = np.linspace(0, 1, _TRIED_SHARES).tolist() if bounded else _TRIED_WEIGHTS
    tried = [Candidate(entry.name, entry.given, value) for value in values]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = [fit(one, graph, n_clusters, seed).scores for one in tried]
    return tried[int(np.argmax([max(one["Q"], 0.0) * one["NB"] for one in scores]))]


# How a fit can end, from the best to the worst; what an estimator of the user's made up is worse than all of these.
_SEVERITY = {None: 0, "converged": 1, "max_iter": 2, "stopped": 3, "diverged": 4}


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


def row_of(entry: Candidate, outcomes: list[Outcome]) -> ComparisonRow:
    """Return the row of a method from its fits, one per seed."""
    first = outcomes[0]
    scores: dict[str, Any] = {}
    for name in COMPARED:
        values = np.array([one.scores.get(name, np.nan) for one in outcomes], dtype=float)
        scores[name] = _finite(values.mean())
        scores[f"{name}_spread"] = _finite(values.std(ddof=1)) if values.size > 1 else None
    return ComparisonRow(
        method=entry.name,
        **scores,
        by_attribute={
            name: _finite(np.mean([one.scores[name] for one in outcomes]))
            for name in first.scores
            if "[" in name
        },
        n_nonempty=int(first.scores["n_nonempty"]),
        sizes=first.sizes,
        stability=seed_stability([one.labels for one in outcomes]),
        seconds=float(np.median([one.seconds for one in outcomes])),
        fairness=entry.fairness if entry.fairness is not None and entry.has_dial else None,
        status=max(
            (one.status for one in outcomes), key=lambda status: _SEVERITY.get(status, len(_SEVERITY))
        ),
    )


def _finite(value: Any) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)
