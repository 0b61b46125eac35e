"""Products and starts of factorisations wherever the rows of the graph are: in memory, on disk, on Dask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from equigraph.base import Problem
from equigraph.factorization.starts import DENSE_NODES, factors_of_labels, random_factors, values_by_lanczos
from equigraph.spectral.soft import are_few, labels_by_products, soft_fair_labels
from equigraph.stores import Product, StoreProduct, product_of, single_blas_thread
from equigraph.stores.blocks import BlockGraph
from equigraph.stores.distributed import RowStore
from equigraph.stores.products import squared_norm
from equigraph.stores.stores import is_out_of_core, open_store


@contextmanager
def open_product(problem: Problem, execution: Any, dtype: Any = None) -> Iterator[tuple[Product, np.dtype]]:
    """Give products with the graph, weights in units of the largest, and the precision of the factors."""
    graph = problem.graph
    dtype = np.dtype(dtype or (graph.dtype if isinstance(graph, BlockGraph) else problem.adjacency.dtype))
    with single_blas_thread():
        if not is_out_of_core(graph, execution):
            yield product_of(problem.adjacency.astype(dtype, copy=False)), dtype
            return
        norm = (
            graph.in_units().squared_norm
            if isinstance(graph, BlockGraph)
            else squared_norm(problem.adjacency.data)
        )
        with open_store(graph, execution) as store:
            yield StoreProduct(store, norm), dtype


def row_start(init: str, product: StoreProduct, n_clusters: int, problem: Problem) -> tuple[NDArray, NDArray]:
    """Return the starts of `equigraph.factorization.starts`, by products alone; that from labels is a quicker one."""
    if init == "spectral":
        labels = row_spectral_labels(problem, product, n_clusters, strength=0.0, seed=problem.seed)
        return factors_of_rows(product.store, labels, n_clusters)
    rng = problem.rng()
    if init == "svd":
        H = rng.random((product.n_nodes, n_clusters))
        return H, np.diag(singular_values(product, n_clusters) + 0.1)
    total = float(product(np.ones((product.n_nodes, 1))).sum())
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
