"""FairNMTF on rows that live apart: spectral start, rounds of moves, and factors of the final clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.base import Problem
from equigraph.callbacks import Notifier
from equigraph.exceptions import InfeasibleError, ParameterError
from equigraph.execution import single_blas_thread
from equigraph.execution.distributed import RowStore
from equigraph.factorization.block_steps import has_row_form
from equigraph.factorization.multiplicative import Factors
from equigraph.factorization.normalized import Scale, penalty_weight, rescale
from equigraph.factorization.row_coarse import coarse_labels
from equigraph.factorization.row_moves import ROUNDS, RowMoves
from equigraph.factorization.row_runs import (
    factors_of_labels,
    graph_facts,
    mean_weights,
    multiplicative_rows,
    row_store,
)
from equigraph.factorization.row_spectral import row_spectral_labels
from equigraph.groups.sums import contingency_table
from equigraph.penalties import Penalty, WeightedSum
from equigraph.refinement.objective import Objective, make_objective

# Beyond this value of the dial single moves would not see Q any more.
_HIGHEST = 0.97
# A start needs some fairness only: what the embedding mixes up, no search on super-nodes can tell apart again.
_MOST_STRENGTH = 0.2
# A graph has more structure than k clusters, and the search on super-nodes can use it.
_VECTORS = 16


@dataclass(frozen=True)
class RowProblem:
    """What is to be found on rows that live apart.

    Attributes
    ----------
    store : RowStore
        The rows.
    codes : ndarray of shape (n_nodes,) or None
        Group of each node.
    n_clusters : int
        k.
    squared_norm, total : float
        Sums of the squared weights and of the weights.
    n_entries : int
        Number of stored entries.
    notion : str
        Name of the fairness N.
    """

    store: RowStore
    codes: NDArray[np.intp] | None
    n_clusters: int
    squared_norm: float
    total: float
    n_entries: int
    notion: str = "normalized"

    def objective(self, fairness: float) -> tuple[Objective, int]:
        """Return the objective at a value of the dial, and the number of groups."""
        objective, _, n_groups = make_objective(
            self.codes,
            None,
            n_nodes=self.store.n_nodes,
            total=self.total,
            fairness=fairness,
            notion=self.notion,
            resolution=1.0,
        )
        return objective, n_groups


class RowFit(NamedTuple):
    """What a fit found: labels, factors, the interaction of the clusters, and the value of the objective."""

    labels: NDArray[np.int32]
    factors: Factors
    interaction: NDArray[np.float64]
    value: float


def fit_rows(
    model: Any, problem: Problem, penalty: Penalty | None, weight: float, notify: Notifier
) -> RowFit:
    """Fit a FairNMTF to rows that live apart.

    Parameters
    ----------
    model : FairNMTF
        Its parameters say what to do.
    problem : Problem
        The graph and its groups.
    penalty, weight : Penalty or None, float
        R and its weight in the normalised objective.
    notify : Notifier
        Told about progress.
    """
    _check(model, penalty)
    squared_norm, total, dtype, n_entries = graph_facts(problem)
    if n_entries == 0:
        raise InfeasibleError(f"{problem.graph} has no edge: there is nothing to cluster by.")
    codes = None if problem.groups is None or problem.groups.n_groups < 2 else problem.groups.codes
    limits: dict[str, Any] = {"dtype": dtype, "max_iter": model.max_iter, "tol": model.tol, "notify": notify}
    with single_blas_thread(), row_store(problem, model.execution) as store:
        rows = RowProblem(store, codes, model.n_clusters, squared_norm, total, n_entries, model.notion)
        found = [
            _labels(rows, model, penalty, weight, problem.seed + run, limits) for run in range(model.n_init)
        ]
        value, labels = max(found, key=lambda pair: pair[0])
        mean = mean_weights(cluster_weights(rows, labels), labels)
        factors = label_factors(rows, labels, mean, penalty, weight, **limits)
    return RowFit(labels, factors, mean, value)


def _labels(
    rows: RowProblem, model: Any, penalty: Penalty | None, weight: float, seed: int, limits: dict[str, Any]
) -> tuple[float, NDArray[np.int32]]:
    """Return labels of one run and their value."""
    fairness = float(model.fairness)
    labels = start_labels(rows, model.init, fairness, seed)
    if model.refine:
        labels = refined_labels(rows, labels, fairness, model.effort, seed, limits["notify"])
    else:
        mean = mean_weights(cluster_weights(rows, labels), labels)
        labels = (
            label_factors(rows, labels, mean, penalty, weight, **limits).H.argmax(axis=1).astype(np.int32)
        )
    return label_value(rows, cluster_weights(rows, labels), labels, fairness), labels


def _check(model: Any, penalty: Penalty | None) -> None:
    """Refuse what only a graph in memory can do."""
    if model.size_bounds is not None:
        raise ParameterError("FairNMTF: size_bounds need the graph in memory: leave them or execution= out.")
    if not isinstance(model.refine, (bool, np.bool_)):
        raise ParameterError("FairNMTF: a refiner of one's own needs the graph in memory: say refine=True.")
    if penalty is not None and not has_row_form(penalty):
        raise ParameterError(
            f"FairNMTF: the penalty {penalty!r} links single nodes, whose rows live apart here: use one with a "
            "group_form(), or a graph in memory."
        )


def start_labels(problem: RowProblem, init: str, fairness: float, seed: int) -> NDArray[np.int32]:
    """Return the labels to start from, and leave degrees and points of the embedding with the rows."""
    strength = min(fairness, _MOST_STRENGTH) if init == "fair-spectral" else 0.0
    labels = row_spectral_labels(
        problem.store, problem.codes, problem.n_clusters, strength=strength, seed=seed, n_vectors=_VECTORS
    )
    if init == "random":
        labels = np.random.default_rng(seed).permutation(np.arange(labels.size) % problem.n_clusters)
    return labels.astype(np.int32)


def refined_labels(
    problem: RowProblem, labels: NDArray, fairness: float, effort: float, seed: int, notify: Notifier
) -> NDArray[np.int32]:
    """Return better labels with exactly k clusters, after `start_labels`.

    Rounds of moves start from the labels given and from those of a search on super-nodes; the better result counts.
    """
    store, k = problem.store, problem.n_clusters
    objective, n_groups = problem.objective(min(fairness, _HIGHEST))
    n_active = int(np.count_nonzero(store.collect("half")))
    rounds = int(np.ceil(ROUNDS * effort))
    mean_weight = problem.total / max(problem.n_entries, 1)
    moves = RowMoves(store, objective, k, n_groups, mean_weight=mean_weight, seed=seed)
    found: list[tuple[float, NDArray[np.int32]]] = []
    if (
        effort
        and n_active
        and coarse_labels(store, objective, k, n_groups, n_active, effort=effort, seed=seed)
    ):
        found.append((moves.run(rounds, notify), store.collect("labels")))
    store.place("labels", labels.astype(np.int32))
    found.append((moves.run(rounds, notify), store.collect("labels")))
    return max(found, key=lambda pair: pair[0])[1]


def cluster_weights(problem: RowProblem, labels: NDArray) -> NDArray[np.float64]:
    """Return the weight between every two clusters; one pass."""
    problem.store.place("labels", labels.astype(np.int32))
    return problem.store.tally("labels", problem.n_clusters)


def label_value(problem: RowProblem, weights: NDArray, labels: NDArray, fairness: float) -> float:
    """Return (1 - f) Q + f N of labels, from the weights between their clusters."""
    objective, n_groups = problem.objective(fairness)
    quality = objective.modularity(np.diag(weights), weights.sum(axis=1))
    if n_groups == 1:
        return objective.value(quality, 0.0)
    assert problem.codes is not None
    table = contingency_table(labels, problem.codes, problem.n_clusters, n_groups)
    return objective.value(quality, objective.notion_value(table))


def label_factors(
    problem: RowProblem,
    labels: NDArray,
    mean: NDArray[np.float64],
    penalty: Penalty | None,
    weight: float,
    *,
    dtype: np.dtype,
    max_iter: int,
    tol: float,
    notify: Notifier,
) -> Factors:
    """Return factors near given clusters, by multiplicative updates on the graph of norm 1.

    Parameters
    ----------
    problem : RowProblem
        The rows.
    labels : ndarray of shape (n_nodes,)
        The clusters.
    mean : ndarray of shape (k, k)
        Mean weight of the pairs between two clusters.
    penalty, weight : Penalty or None, float
        R and its weight in the normalised objective.
    dtype : dtype
        Precision of H.
    max_iter, tol, notify
        As for `multiplicative_updates`.
    """
    k = problem.n_clusters
    scale = Scale(float(np.sqrt(problem.squared_norm)), problem.total / labels.size)
    H, W = factors_of_labels(labels, mean, dtype)
    H, W = rescale(H, W / scale.norm)
    total = WeightedSum([])
    if penalty is not None:
        total = WeightedSum([(penalty_weight(weight, k, scale), penalty)])
    factors = multiplicative_rows(
        problem.store,
        H,
        W,
        total,
        squared_norm=problem.squared_norm,
        scale=1 / scale.norm,
        max_iter=max_iter,
        tol=tol,
        notify=notify,
    )
    H, W = rescale(factors.H, factors.W)
    return Factors(H * H.dtype.type(np.sqrt(scale.norm)), W, factors.history, factors.change, factors.status)
