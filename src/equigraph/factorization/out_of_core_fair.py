"""FairNMTF out of core: labels to start from, and factors of the clusters by multiplicative updates."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Notifier
from equigraph.base import Problem
from equigraph.exceptions import InfeasibleError, ParameterError
from equigraph.factorization.multiplicative import Factors, Status
from equigraph.factorization.normalized import Scale, on_unit_graph
from equigraph.factorization.out_of_core import (
    factors_of_rows,
    graph_facts,
    multiplicative_rows,
    row_spectral_labels,
)
from equigraph.factorization.out_of_core_updates import has_row_form
from equigraph.factorization.penalties import Penalty
from equigraph.factorization.starts import random_labels
from equigraph.search.targets import Target
from equigraph.stores import single_blas_thread
from equigraph.stores.distributed import RowStore
from equigraph.stores.distributed.rows import StoreProduct
from equigraph.stores.stores import open_store

if TYPE_CHECKING:
    from equigraph.factorization.fair_nmtf import FairNMTF


def fit_rows(
    model: FairNMTF, problem: Problem, penalty: Penalty | None, weight: float, notify: Notifier
) -> Factors:
    """Return the factors of a FairNMTF out of core; ``weight`` is that of the penalty in the normalised objective."""
    if penalty is not None and not has_row_form(penalty):
        raise ParameterError(
            f"FairNMTF: the penalty {penalty!r} links single nodes, whose rows are apart out of core: use one with a "
            "group_form(), or a graph in memory."
        )
    squared_norm, total, dtype, n_entries = graph_facts(problem)
    if n_entries == 0:
        raise InfeasibleError(f"{problem.graph} has no edge: there is nothing to cluster by.")
    scale = Scale(float(np.sqrt(squared_norm)), total / problem.n_nodes)
    codes = None if problem.groups is None else problem.groups.codes
    with single_blas_thread(), open_store(problem.graph, model.execution, codes) as store:
        runs: list[Factors] = []
        for run in range(model.n_init):
            if runs and runs[-1].status is Status.STOPPED:
                break
            labels, rows = _start(model, problem, StoreProduct(store, squared_norm), problem.seed + run)
            updates = partial(
                multiplicative_rows,
                rows,
                squared_norm=squared_norm,
                scale=1 / scale.norm,
                # With the workers gone, one step makes factors of the labels that are left.
                max_iter=model.max_iter if rows is store else 1,
                tol=model.tol,
                notify=notify,
            )
            H, W = factors_of_rows(rows, labels, model.n_clusters, dtype)
            found = on_unit_graph(updates, H, W, penalty, weight, scale)
            if rows is not store:
                return replace(found, status=Status.STOPPED)
            runs.append(found)
    return min(runs, key=lambda run: run.history[-1])


def _start(
    model: FairNMTF, problem: Problem, product: StoreProduct, seed: int
) -> tuple[NDArray[np.intp] | NDArray[np.int32], RowStore]:
    """Return the labels to start from, and the rows where they are then: a search may have lost its workers."""
    if model.init == "random":
        return random_labels(problem.n_nodes, model.n_clusters, seed), product.store
    if model.init == "partition":
        codes = None if problem.groups is None or problem.groups.n_groups < 2 else problem.groups.codes
        from equigraph.search.large import LargeSearch, make_search

        search = make_search(product.store, codes, model.n_clusters, seed=seed)
        assert isinstance(search, LargeSearch)
        return search.solve([Target(float(model.fairness))])[0], search.store
    strength = model._start_strength()
    return row_spectral_labels(
        problem, product, model.n_clusters, strength=strength, seed=seed
    ), product.store
