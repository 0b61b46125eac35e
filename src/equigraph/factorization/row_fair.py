"""Labels and factors of rows that live apart: spectral start, rounds of moves, and factors of the clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
from equigraph.search.objective import HIGHEST, Objective, make_objective

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
    notion : str or Notion
        The fairness N.
    """

    store: RowStore
    codes: NDArray[np.intp] | None
    n_clusters: int
    squared_norm: float
    total: float
    n_entries: int
    notion: Any = "normalized"

    def objective(self, fairness: float) -> Objective:
        """Return the objective at a value of the dial."""
        objective, _ = make_objective(
            self.codes, n_nodes=self.store.n_nodes, total=self.total, fairness=fairness, notion=self.notion
        )
        return objective


def row_problem(
    store: RowStore, problem: Problem, facts: tuple[float, float, Any, int], n_clusters: int, notion: Any
) -> RowProblem:
    """Return what is to be found on the rows of a store."""
    squared_norm, total, _, n_entries = facts
    if n_entries == 0:
        raise InfeasibleError(f"{problem.graph} has no edge: there is nothing to cluster by.")
    codes = None if problem.groups is None or problem.groups.n_groups < 2 else problem.groups.codes
    return RowProblem(store, codes, n_clusters, squared_norm, total, n_entries, notion)


def fit_rows(
    model: Any, problem: Problem, penalty: Penalty | None, weight: float, notify: Notifier
) -> Factors:
    """Return the factors of a FairNMTF of rows that live apart.

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
    if penalty is not None and not has_row_form(penalty):
        raise ParameterError(
            f"FairNMTF: the penalty {penalty!r} links single nodes, whose rows live apart here: use one with a "
            "group_form(), or a graph in memory."
        )
    facts = graph_facts(problem)
    limits: dict[str, Any] = {
        "dtype": facts[2],
        "max_iter": model.max_iter,
        "tol": model.tol,
        "notify": notify,
    }
    with single_blas_thread(), row_store(problem, model.execution) as store:
        rows = row_problem(store, problem, facts, model.n_clusters, "normalized")
        runs = []
        for run in range(model.n_init):
            init = "fair-spectral" if model.init == "partition" else model.init
            labels = start_labels(rows, init, float(model.fairness), problem.seed + run)
            if model.init == "partition":
                labels = refined_labels(rows, labels, float(model.fairness), 1.0, problem.seed + run, notify)
            mean = mean_weights(cluster_weights(rows, labels), labels)
            runs.append(label_factors(rows, labels, mean, penalty, weight, **limits))
    return min(runs, key=lambda run: run.history[-1])


def partition_rows(
    model: Any, problem: Problem, notify: Notifier
) -> tuple[NDArray[np.int32], float, float, NDArray[np.float64]]:
    """Return labels of a FairPartition of rows that live apart, their Q and N, and mean weights between clusters."""
    facts, fairness = graph_facts(problem), float(model.fairness)
    with single_blas_thread(), row_store(problem, model.execution) as store:
        rows = row_problem(store, problem, facts, model.n_clusters, model.notion)
        found = []
        for run in range(model.n_init):
            labels = start_labels(rows, "fair-spectral", fairness, problem.seed + run)
            labels = refined_labels(rows, labels, fairness, model.effort, problem.seed + run, notify)
            weights = cluster_weights(rows, labels)
            found.append((labels, *label_scores(rows, weights, labels), mean_weights(weights, labels)))
    return max(found, key=lambda one: (1 - fairness) * one[1] + fairness * one[2])


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
    objective = problem.objective(min(fairness, HIGHEST))
    n_groups = objective.population.size
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


def label_scores(problem: RowProblem, weights: NDArray, labels: NDArray) -> tuple[float, float]:
    """Return Q and N of labels, from the weights between their clusters."""
    objective = problem.objective(0.0)
    modularity = objective.modularity(np.diag(weights), weights.sum(axis=1))
    if problem.codes is None:
        return modularity, 1.0
    table = contingency_table(labels, problem.codes, problem.n_clusters, objective.population.size)
    return modularity, objective.notion_value(table)


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
