"""FairNMTF out of core: labels to start from, and factors of the clusters by multiplicative updates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equigraph.base import Problem
from equigraph.callbacks import Notifier
from equigraph.exceptions import InfeasibleError, ParameterError
from equigraph.execution import single_blas_thread
from equigraph.execution.distributed import RowStore
from equigraph.execution.stores import open_store
from equigraph.factorization.multiplicative import Factors, Status
from equigraph.factorization.normalized import Scale, on_unit_graph
from equigraph.factorization.out_of_core import graph_facts, mean_weights, multiplicative_rows
from equigraph.factorization.out_of_core_spectral import row_spectral_labels
from equigraph.factorization.out_of_core_updates import has_row_form
from equigraph.factorization.starts import factors_of_labels
from equigraph.penalties import Penalty
from equigraph.search.search import Search, Target

if TYPE_CHECKING:
    from equigraph.factorization.fair_nmtf import FairNMTF

# A start needs some fairness only: what the embedding mixes up, no search on super-nodes can tell apart again.
_MOST_STRENGTH = 0.2
# A graph has more structure than k clusters, and the search on super-nodes can use it.
_VECTORS = 16


@dataclass(frozen=True)
class RowProblem:
    """What is to be found out of core.

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
    """

    store: RowStore
    codes: NDArray[np.intp] | None
    n_clusters: int
    squared_norm: float
    total: float
    n_entries: int


def row_problem(
    store: RowStore, problem: Problem, facts: tuple[float, float, Any, int], n_clusters: int
) -> RowProblem:
    """Return what is to be found on the rows of a store."""
    squared_norm, total, _, n_entries = facts
    if n_entries == 0:
        raise InfeasibleError(f"{problem.graph} has no edge: there is nothing to cluster by.")
    codes = None if problem.groups is None or problem.groups.n_groups < 2 else problem.groups.codes
    return RowProblem(store, codes, n_clusters, squared_norm, total, n_entries)


def fit_rows(
    model: FairNMTF, problem: Problem, penalty: Penalty | None, weight: float, notify: Notifier
) -> Factors:
    """Return the factors of a FairNMTF out of core.

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
            f"FairNMTF: the penalty {penalty!r} links single nodes, whose rows are apart out of core: use one with a "
            "group_form(), or a graph in memory."
        )
    facts = graph_facts(problem)
    limits: dict[str, Any] = {
        "dtype": facts[2],
        "max_iter": model.max_iter,
        "tol": model.tol,
        "notify": notify,
    }
    codes = None if problem.groups is None else problem.groups.codes
    with single_blas_thread(), open_store(problem.graph, model.execution, codes) as store:
        rows = row_problem(store, problem, facts, model.n_clusters)
        runs: list[Factors] = []
        for run in range(model.n_init):
            if runs and runs[-1].status is Status.STOPPED:
                break
            if model.init == "partition":
                labels, rows = searched_labels(rows, float(model.fairness), problem.seed + run)
            else:
                labels = start_labels(rows, model.init, float(model.fairness), problem.seed + run)
            mean = mean_weights(cluster_weights(rows, labels), labels)
            if rows.store is not store:
                # The workers are gone: one step makes factors of the labels that are left.
                limits["max_iter"] = 1
                found = label_factors(rows, labels, mean, penalty, weight, **limits)
                return replace(found, status=Status.STOPPED)
            runs.append(label_factors(rows, labels, mean, penalty, weight, **limits))
    return min(runs, key=lambda run: run.history[-1])


def start_labels(problem: RowProblem, init: str, fairness: float, seed: int) -> NDArray[np.int32]:
    """Return the labels to start from, and leave degrees and points of the embedding with the rows."""
    strength = min(fairness, _MOST_STRENGTH) if init == "fair-spectral" else 0.0
    labels = row_spectral_labels(
        problem.store, problem.codes, problem.n_clusters, strength=strength, seed=seed, n_vectors=_VECTORS
    )
    if init == "random":
        labels = np.random.default_rng(seed).permutation(np.arange(labels.size) % problem.n_clusters)
    return labels.astype(np.int32)


def searched_labels(problem: RowProblem, fairness: float, seed: int) -> tuple[NDArray[np.int32], RowProblem]:
    """Return the labels that `FairPartition` finds on the same rows, and the rows where they are then."""
    search = Search(problem.store, problem.codes, problem.n_clusters, seed=seed)
    labels = search.solve([Target(fairness)])[0]
    assert search.ground is not None
    return labels, replace(problem, store=search.ground.store)


def cluster_weights(problem: RowProblem, labels: NDArray) -> NDArray[np.float64]:
    """Return the weight between every two clusters; one pass."""
    problem.store.place("labels", labels.astype(np.int32))
    return problem.store.tally("labels", problem.n_clusters)


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
    scale = Scale(float(np.sqrt(problem.squared_norm)), problem.total / labels.size)
    run = partial(
        multiplicative_rows,
        problem.store,
        squared_norm=problem.squared_norm,
        scale=1 / scale.norm,
        max_iter=max_iter,
        tol=tol,
        notify=notify,
    )
    return on_unit_graph(run, *factors_of_labels(labels, mean, dtype), penalty, weight, scale)
