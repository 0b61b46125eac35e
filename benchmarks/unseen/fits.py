"""Labels of the methods that are compared, their score, and the time of the processor that they took."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import equigraph as eg
from benchmarks.unseen.graphs import Case, make_case
from equigraph._utils.callbacks import TimeLimit

DIAL = (0.0, 0.2, 0.5, 0.8)
# The default method of the library.
DEFAULT = "FairPartition"


@dataclass(frozen=True)
class Scored:
    """Labels with exactly k clusters, their two scores and the seconds of the processor that they took."""

    labels: NDArray[np.intp]
    modularity: float
    balance: float
    seconds: float = 0.0

    def value(self, fairness: float) -> float:
        """Return what the dial weighs together."""
        return (1 - fairness) * self.modularity + fairness * self.balance


def score(case: Case, labels: NDArray, k: int, seconds: float = 0.0) -> Scored:
    """Score labels by the public metrics; another number of clusters than k is an error, it could not be compared."""
    n_clusters = np.unique(labels).size
    if n_clusters != k:
        raise RuntimeError(f"{case.name}: labels have {n_clusters} clusters, {k} were asked for.")
    return Scored(
        np.asarray(labels, dtype=np.intp),
        eg.metrics.modularity_score(case.adjacency, labels),
        eg.metrics.normalized_balance_score(labels, sensitive_features=case.groups),
        seconds,
    )


def fit(case: Case, model: Any) -> Scored:
    """Fit a model with a number of clusters."""
    with warnings.catch_warnings():
        # What is said about small groups and small clusters is for people who look at one result.
        warnings.simplefilter("ignore")
        start = time.process_time()
        model.fit(case.adjacency, sensitive_features=case.groups)
        seconds = time.process_time() - start
    return score(case, model.labels_, model.n_clusters, seconds)


def fit_default(
    case: Case,
    fairness: float,
    seed: int,
    *,
    k: int | None = None,
    effort: float = 1.0,
    limit: float | None = None,
) -> Scored:
    """Fit the default method, with another k, effort or limit of seconds where these are given.

    Without bounds on sizes: the methods that it is compared with have none.
    """
    callbacks = None if limit is None else TimeLimit(limit)
    model = eg.FairPartition(k or case.k, fairness, size_bounds=None, random_state=seed, callbacks=callbacks)
    return fit(case, model if effort == 1 else model.set_params(effort=effort))


def fit_louvain(case: Case, fairness: float, seed: int) -> Scored:
    """Fit FairLouvain."""
    return fit(case, eg.FairLouvain(case.k, fairness=fairness, random_state=seed))


def refine(
    case: Case, labels: NDArray, fairness: float, *, effort: float = 0.0, limit: float | None = None
) -> Scored:
    """Make exactly k clusters of labels, and climb or search from there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = eg.refine_labels(
            case.adjacency,
            labels,
            sensitive_features=case.groups,
            n_clusters=case.k,
            fairness=fairness,
            effort=effort,
            random_state=0,
            callbacks=None if limit is None else TimeLimit(limit),
        )
    return score(case, found, case.k)


@cache
def warm_up() -> None:
    """Compile or load everything once in this process: small and large graphs, few and many clusters."""
    for family, size, k in (("lfr-0.3", 300, 3), ("lfr-0.3", 300, 70), ("scattered", 5000, 5)):
        drawn = make_case(family, family, size, np.random.default_rng(0))
        case = Case(drawn.name, drawn.adjacency, drawn.groups, k)
        for fairness in (0.0, 0.5):
            fit_louvain(case, fairness, 0)
            fit_default(case, fairness, 0)
