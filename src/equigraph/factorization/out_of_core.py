"""Factorisations out of core: rows streamed from disk, or on the workers of a Dask cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from equigraph._utils.callbacks import Notifier
from equigraph._utils.text import count
from equigraph.base import Problem
from equigraph.exceptions import SchedulerLostError, SchedulerLostWarning, warn
from equigraph.factorization.multiplicative import Factors, Status, iterate
from equigraph.factorization.out_of_core_updates import BlockSteps, has_row_form
from equigraph.factorization.penalties import Penalty, check_penalty
from equigraph.factorization.starts import DENSE_NODES, factors_of_labels, random_factors, values_by_lanczos
from equigraph.spectral.soft import are_few, labels_by_products, soft_fair_labels
from equigraph.stores import Product, single_blas_thread
from equigraph.stores.blocks import BlockGraph
from equigraph.stores.distributed import RowStore
from equigraph.stores.distributed.rows import StoreProduct
from equigraph.stores.stores import open_store

if TYPE_CHECKING:
    from equigraph.factorization.nmtf import NMTF


class GraphFacts(NamedTuple):
    """Sum of the squared weights, sum of the weights, their type, and the number of stored entries."""

    squared_norm: float
    total: float
    dtype: np.dtype
    n_entries: int


def graph_facts(problem: Problem) -> GraphFacts:
    """Return what is known of a graph, weights in units of the largest, wherever it lies."""
    if isinstance(problem.graph, BlockGraph):
        graph = problem.graph.in_units()
        return GraphFacts(graph.squared_norm, graph.total, graph.dtype, graph.n_entries)
    data = problem.adjacency.data
    squared_norm = float(np.einsum("i,i->", data, data, dtype=np.float64))
    return GraphFacts(squared_norm, float(data.sum(dtype=np.float64)), data.dtype, data.size)


def row_start(
    init: str, product: StoreProduct, total: float, n_clusters: int, problem: Problem
) -> tuple[NDArray, NDArray]:
    """Return the starts of `equigraph.factorization.starts`, by products alone; that from labels is a quicker one."""
    if init == "spectral":
        labels = row_spectral_labels(problem, product, n_clusters, strength=0.0, seed=problem.seed)
        return factors_of_rows(product.store, labels, n_clusters)
    rng = problem.rng()
    if init == "svd":
        H = rng.random((product.n_nodes, n_clusters))
        return H, np.diag(singular_values(product, n_clusters) + 0.1)
    return random_factors(product.n_nodes, total, n_clusters, rng)


def row_spectral_labels(
    problem: Problem, product: StoreProduct, n_clusters: int, *, strength: float, seed: int
) -> NDArray[np.intp]:
    """Return the labels of `quick_fair_labels`; a graph of few linked nodes is read as a whole."""
    codes = None if problem.groups is None else problem.groups.codes
    degrees = product(np.ones((product.n_nodes, 1)))[:, 0]
    if are_few(degrees, n_clusters):
        graph = problem.graph.to_graph() if isinstance(problem.graph, BlockGraph) else problem.graph
        return soft_fair_labels(graph.unit_adjacency, codes, n_clusters, strength=strength, seed=seed)
    return labels_by_products(product, degrees, codes, n_clusters, strength=strength, seed=seed)


def factors_of_rows(
    store: RowStore, labels: NDArray, n_clusters: int, dtype: Any = np.float64
) -> tuple[NDArray, NDArray]:
    """Return the factors of labels, and the W that fits them best; one pass over the rows."""
    store.place("labels", labels.astype(np.int32))
    weights = store.tally("labels", n_clusters)
    store.checkpoint(())
    sizes = np.bincount(labels, minlength=n_clusters).astype(np.float64)
    return factors_of_labels(labels, weights / np.maximum(np.outer(sizes, sizes), 1), dtype)


def singular_values(product: Product, count: int) -> NDArray[np.float64]:
    """Return the largest singular values of A, in descending order, by products alone."""
    n_nodes = product.n_nodes
    if n_nodes <= max(DENSE_NODES, 2 * count + 1):
        return np.sort(np.abs(np.linalg.eigvalsh(product(np.eye(n_nodes)))))[::-1][:count]
    if product.squared_norm() == 0:
        return np.zeros(count)
    norm = float(np.sqrt(product.squared_norm()))

    def image(vector: NDArray) -> NDArray:
        return product(vector.reshape(-1, 1)).ravel() / norm

    operator = LinearOperator((n_nodes, n_nodes), matvec=image, dtype=np.float64)
    return values_by_lanczos(operator, count) * norm


def factorize_rows(model: NMTF, problem: Problem, start: tuple[NDArray, NDArray] | None) -> Factors:
    """Return the factors of an NMTF, or a relative of it, out of core.

    Multiplicative updates with group penalties, or none, run where the rows live. Whatever else there is only asks for
    products: these are made there, with panels of this process.
    """
    squared_norm, total, dtype, _ = graph_facts(problem)
    dtype = np.dtype(model.dtype or dtype)
    codes = None if problem.groups is None else problem.groups.codes
    with single_blas_thread(), open_store(problem.graph, model.execution, codes) as store:
        product = StoreProduct(store, squared_norm)
        H, W = start or row_start(model.init, product, total, model.n_clusters, problem)
        H = H.astype(dtype, copy=False)
        if model.penalty is not None:
            check_penalty(model.penalty, H)
        penalty = model._penalty_of(problem)
        if getattr(model, "solver", "mu") == "mu" and has_row_form(penalty):
            limits: dict[str, Any] = {"max_iter": model.max_iter, "tol": model.tol}
            notify = Notifier(model.callbacks)
            return multiplicative_rows(
                store, H, W, penalty, squared_norm=squared_norm, notify=notify, **limits
            )
        return model._solve(product, H, W, penalty)


def multiplicative_rows(
    store: RowStore,
    H: NDArray,
    W: NDArray,
    penalty: Penalty,
    *,
    squared_norm: float,
    scale: float = 1.0,
    max_iter: int,
    tol: float,
    notify: Notifier,
) -> Factors:
    """Run the multiplicative updates where the rows live; if these are lost, return the last checkpoint."""
    steps = BlockSteps(store, H, penalty, squared_norm=squared_norm, scale=scale)
    history: list[float | None] = []
    told = Notifier([lambda progress: history.append(progress.objective), *notify.callbacks])
    try:
        return iterate(steps, W, max_iter=max_iter, tol=tol, fit_interaction=True, notify=told)
    except SchedulerLostError:
        if steps.kept is None:
            raise
    kept = steps.kept
    warn(
        f"The Dask scheduler is gone after {count(len(history), 'step')}: the factors are those after {kept.n_steps}, "
        "with the status 'stopped'.",
        SchedulerLostWarning,
    )
    return Factors(
        kept.H, kept.W, np.asarray(history[: kept.n_steps], dtype=np.float64), float("nan"), Status.STOPPED
    )
