"""Candidates of a comparison, methods by name and estimators of one's own, and the metrics that they are scored by."""

from __future__ import annotations

import inspect
import numbers
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from equigraph._utils.callbacks import Watched
from equigraph._utils.parameters import Real
from equigraph._utils.text import did_you_mean
from equigraph.analysis.comparison.rows import Fit, finite
from equigraph.base import GraphClusterer
from equigraph.exceptions import ParameterError
from equigraph.graph import Graph
from equigraph.methods import get_method
from equigraph.metrics import adjusted_rand_score, evaluate
from equigraph.metrics.scores import COMPARED, FURTHER, SCORES

Metric = Callable[[Graph, NDArray[Any]], float | None]
# Where a dial has no upper end, its values are tried by powers of ten.
_TRIED_WEIGHTS = (0.0, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
_TRIED_SHARES = 11
# Methods that are fair by construction, and what they are without: the class, and what must be the same.
_TWINS = {"FairSC": "SpectralClustering", "ScalableFairSC": "SpectralClustering"}


@dataclass(frozen=True)
class Candidate:
    """A method or an estimator under the name of its row."""

    name: str
    source: Any  # the name of a method, or an estimator of the user's, which is copied for every fit
    fairness: float | None = None  # its dial; None leaves it as it is

    def make(self, **wanted: Any) -> Any:
        """Return a new estimator; of what is wanted those parameters are set that it has."""
        base = get_method(self.source).load()() if isinstance(self.source, str) else clone(self.source)
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


@dataclass(frozen=True)
class Metrics:
    """Scores of a comparison: those of `evaluate`, and functions of the graph and the labels."""

    shown: tuple[str, ...] = COMPARED
    own: Mapping[str, Metric] = field(default_factory=dict)

    @classmethod
    def of(cls, metrics: Any) -> Self:
        """Return the metrics that were asked for: none, a name or function, several of them, or a mapping to them."""
        if metrics is None:
            return cls()
        given = [metrics] if isinstance(metrics, str) or callable(metrics) else metrics
        pairs = given.items() if isinstance(given, Mapping) else [(_metric_name(one), one) for one in given]
        own: dict[str, Metric] = {}
        shown: list[str] = []
        for name, one in pairs:
            if not isinstance(name, str) or name in shown or (name in SCORES and name != one):
                raise ParameterError(
                    f"metrics has the name {name!r}, which is taken or no text: give another."
                )
            shown.append(name)
            if one not in SCORES:
                own[name] = one if callable(one) else partial(_score, _checked_metric(one))
            elif name != one:
                own[name] = partial(_score, one)
        if not shown:
            raise ParameterError(
                "metrics is empty: give the name of a score, or leave it out for the usual ones."
            )
        return cls(tuple(shown), own)

    def scores(self, graph: Graph, labels: NDArray[Any]) -> dict[str, float | None]:
        """Return all scores of a clustering; None where one is not a finite number."""
        found: dict[str, Any] = dict(evaluate(graph, labels))
        for name, function in self.own.items():
            found[name] = function(graph, labels)
            if not isinstance(found[name], (numbers.Real, type(None))):
                raise ParameterError(f"The metric {name!r} returned {found[name]!r}: expected a number.")
        return {name: finite(value) for name, value in found.items()}


def _metric_name(metric: Any) -> Any:
    return getattr(metric, "__name__", type(metric).__name__) if callable(metric) else metric


def _checked_metric(name: Any) -> str:
    known = (*SCORES, *FURTHER)
    if name not in known:
        raise ParameterError(
            f"There is no metric {name!r}{did_you_mean(name, known)}: expected some of {', '.join(known)}, or "
            "functions of the graph and the labels."
        )
    return str(name)


def _score(name: str, graph: Graph, labels: NDArray[Any]) -> float | None:
    """Return one score of `evaluate`; None for a fairness score of a graph without groups."""
    return evaluate(graph, labels, further=[name] if name in FURTHER else ()).get(name)


def candidates_of(methods: Any, fairness: float | Mapping[str, float] | None) -> tuple[Candidate, ...]:
    """Return what is compared, each under a name of its own."""
    found: list[Candidate] = []
    if isinstance(methods, Mapping):
        for name, one in methods.items():
            if not isinstance(name, str) or not name:
                raise ParameterError(f"methods has the name {name!r}: expected a text.")
            found.append(Candidate(name, get_method(one).name if isinstance(one, str) else _checked(one)))
    else:
        for one in [methods] if isinstance(methods, str) else methods:
            name = get_method(one).name if isinstance(one, str) else type(_checked(one)).__name__
            taken = [known.name for known in found]
            numbered = [name, *(f"{name} ({i})" for i in range(2, len(taken) + 3))]
            found.append(
                Candidate(
                    next(name for name in numbered if name not in taken),
                    name if isinstance(one, str) else one,
                )
            )
    if not found:
        raise ParameterError(
            "methods is empty: give the name of a method or an estimator, or leave it out for all."
        )
    return tuple(_with_dial(entry, fairness, [one.name for one in found]) for entry in found)


def _checked(estimator: Any) -> Any:
    if isinstance(estimator, type) or not all(hasattr(estimator, name) for name in ("fit", "get_params")):
        raise ParameterError(
            f"{estimator!r} cannot be compared: expected the name of a method, or an instance of an estimator with fit "
            "and get_params, such as NMTF()."
        )
    return estimator


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
    elif not isinstance(entry.source, str):
        fairness = None  # whoever brings an estimator has set its dial
    return entry if fairness is None else replace(entry, fairness=float(fairness))


def fit(
    entry: Candidate, graph: Graph, n_clusters: int, seed: int, watch: Watched | None = None
) -> tuple[NDArray[Any], Fit]:
    """Fit once; return the labels, and all but the scores of the fit."""
    model = entry.make(n_clusters=n_clusters, random_state=seed, callbacks=watch)
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
    return labels, Fit(seed, {}, _sizes(model, labels), seconds, status)


def _sizes(model: Any, labels: NDArray[Any]) -> tuple[int, ...]:
    """Return the sizes of the clusters, empty ones included where the estimator is one of ours."""
    if isinstance(model, GraphClusterer):
        return tuple(np.bincount(labels, minlength=model.membership_.shape[1]).tolist())
    return tuple(np.unique(labels, return_counts=True)[1].tolist())


def same_without_fairness(
    entry: Candidate, graph: Graph, n_clusters: int, seed: int, labels: NDArray[Any]
) -> str:
    """Say that the labels are those of the same method without fairness, where they are; nothing otherwise."""
    twin = _twin(entry, n_clusters)
    if twin is None or graph.sensitive_features is None:
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other, _ = fit(twin[0], graph, n_clusters, seed)
    same = adjusted_rand_score(labels, other) == 1.0
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
        return Candidate(kind, plain), _TWINS[kind]
    if getattr(model, "fairness", None):
        return replace(entry, fairness=0.0), f"{kind} without fairness"
    return None


def tuned(entry: Candidate, graph: Graph, n_clusters: int, seed: int) -> Candidate:
    """Return the same with the value of its dial for which Q times NB is largest; what has no dial stays as it is."""
    if not entry.has_dial:
        return entry
    constraint = getattr(entry.make(), "_parameters", {}).get("fairness")
    bounded = isinstance(constraint, Real) and constraint.high == 1
    values = np.linspace(0, 1, _TRIED_SHARES).tolist() if bounded else _TRIED_WEIGHTS
    tried = [replace(entry, fairness=value) for value in values]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = [evaluate(graph, fit(one, graph, n_clusters, seed)[0]) for one in tried]
    return tried[int(np.argmax([max(one["Q"], 0.0) * one["NB"] for one in scores]))]
