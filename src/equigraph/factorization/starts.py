"""Initial factors of a tri-factorisation, by products with a graph in memory, on disk or on Dask."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.base import Problem
from equigraph.exceptions import ParameterError
from equigraph.spectral.embedding import leading_eigenpairs
from equigraph.spectral.labels import spectral_labels
from equigraph.spectral.soft import are_few, labels_by_products, soft_fair_labels
from equigraph.stores.blocks import BlockGraph
from equigraph.stores.products import (
    Product,
    SerialProduct,
    StoreProduct,
    gram,
    product_of,
    single_blas_thread,
    squared_norm,
)
from equigraph.stores.stores import is_out_of_core, open_store

# Least number of stored entries for singular values by a fixed number of passes; number of passes, and of extra columns
# for faster convergence.
_FEW_PASSES_FROM, _PASSES, _SPARE = 5_000_000, 6, 6


@contextmanager
def open_product(problem: Problem, execution: Any, dtype: Any = None) -> Iterator[tuple[Product, np.dtype]]:
    """Yield the product with the graph, weights in units of the largest, and the dtype of the factors."""
    graph = problem.graph
    dtype = np.dtype(dtype or (graph.dtype if isinstance(graph, BlockGraph) else problem.adjacency.dtype))
    with single_blas_thread():
        if not is_out_of_core(graph, execution):
            yield product_of(problem.adjacency.astype(dtype, copy=False)), dtype
            return
        if isinstance(graph, BlockGraph):
            norm = graph.in_units().squared_norm
        else:
            norm = squared_norm(problem.adjacency.data)
        with open_store(graph, execution) as store:
            yield StoreProduct(store, norm), dtype


def svd_start(product: Product, n_clusters: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return the start used by the paper's authors: H uniform in [0, 1), W = diag(s + 0.1)."""
    H = rng.random((product.n_nodes, n_clusters))
    return H, np.diag(largest_singular_values(product, n_clusters) + 0.1)


def random_start(product: Product, n_clusters: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Return H and W uniform in [0, 1), W symmetric, scaled so that H W H' has the total weight of A."""
    total = float(product(np.ones((product.n_nodes, 1))).sum())
    H = rng.random((product.n_nodes, n_clusters))
    W = rng.random((n_clusters, n_clusters))
    W = (W + W.T) / 2
    column = H.sum(axis=0)
    return H, W * (max(total, np.finfo(float).tiny) / (column @ W @ column))


def spectral_start(
    product: SerialProduct, n_clusters: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Return the start from the labels of spectral clustering, for a graph in memory."""
    labels = spectral_labels(product.adjacency, n_clusters, seed=int(rng.integers(2**31)))
    return start_from_labels(product, labels, n_clusters)


def start_from_labels(
    product: Product, labels: NDArray, n_clusters: int, dtype: Any = np.float64
) -> tuple[NDArray, NDArray[np.float64]]:
    """Return one-hot labels plus 0.1, and the mean weights between clusters plus a hundredth of the largest.

    The means are the best W for the labels. The small positive numbers are added because multiplicative updates never
    change a zero.
    """
    H = np.eye(n_clusters)[labels]
    sizes = H.sum(axis=0)
    mean = gram(H, product(H)) / np.maximum(np.outer(sizes, sizes), 1)
    return (H + 0.1).astype(dtype, copy=False), mean + 0.01 * max(float(mean.max()), np.finfo(float).tiny)


def fair_labels(
    problem: Problem, product: Product, n_clusters: int, *, strength: float, seed: int, exact: bool = False
) -> NDArray[np.intp]:
    """Return `labels_by_products`, or `soft_fair_labels` in memory if asked to or if few nodes have an edge."""
    codes = None if problem.groups is None else problem.groups.codes
    degrees = product(np.ones((product.n_nodes, 1)))[:, 0]
    if exact or are_few(degrees, n_clusters):
        graph = problem.graph.to_graph() if isinstance(problem.graph, BlockGraph) else problem.graph
        return soft_fair_labels(graph.unit_adjacency, codes, n_clusters, strength=strength, seed=seed)
    return labels_by_products(product, degrees, codes, n_clusters, strength=strength, seed=seed)


def random_labels(n_nodes: int, n_clusters: int, seed: int) -> NDArray[np.intp]:
    """Return random labels of clusters of equal size."""
    return np.random.default_rng(seed).permutation(np.arange(n_nodes) % n_clusters)


def custom_start(
    H: NDArray | None, W: NDArray | None, n_nodes: int, n_clusters: int, unit: float
) -> tuple[NDArray, NDArray]:
    """Validate and copy the factors given by the caller; W is converted from the unit of the caller's weights."""
    if H is None or W is None:
        raise ParameterError("init='custom' needs both factors: fit(X, H=..., W=...).")
    factors = []
    for name, factor, shape in (("H", H, (n_nodes, n_clusters)), ("W", W, (n_clusters, n_clusters))):
        array = np.array(factor, dtype=np.float64)
        if array.shape != shape:
            raise ParameterError(f"{name} has shape {array.shape}; expected {shape}.")
        if not np.isfinite(array).all() or (array < 0).any():
            raise ParameterError(f"{name} must be finite and nonnegative.")
        factors.append(array)
    return factors[0], factors[1] / unit


def largest_singular_values(product: Product, count: int) -> NDArray[np.float64]:
    """Return the largest singular values of a symmetric matrix, in descending order.

    They are the largest absolute eigenvalues, computed by Lanczos iterations. For a graph in memory with millions of
    edges a few passes of subspace iteration estimate them, so that the start costs no more than the factorisation:
    isolated values are accurate to many digits, those in the bulk of the spectrum to a few percent.
    """
    n_nodes = product.n_nodes
    if product.squared_norm() == 0:
        return np.zeros(count)
    if isinstance(product, SerialProduct) and product.adjacency.nnz >= _FEW_PASSES_FROM:
        return _values_by_few_passes(product_of(product.adjacency), count)
    # A fixed, non-symmetric start vector makes the result reproducible.
    start = 1 + np.arange(n_nodes) / n_nodes
    error = f"The {count} largest singular values of the graph did not converge ({{}}): use init='random'."
    return np.abs(leading_eigenpairs(product, count, start, which="LM", error=error)[0])


def _values_by_few_passes(product: Product, count: int) -> NDArray[np.float64]:
    """Return lower estimates of the values by subspace iteration from a fixed start."""
    panel = np.random.default_rng(0).standard_normal((product.n_nodes, count + _SPARE))
    with single_blas_thread():
        for _ in range(_PASSES):
            # Orthonormal columns by the small Gram matrix, without directions lost in rounding.
            values, vectors = np.linalg.eigh(gram(panel, panel))
            kept = values > 1e-12 * values[-1]
            panel = product(panel @ (vectors[:, kept] / np.sqrt(values[kept])))
        squares = np.linalg.eigvalsh(gram(panel, panel))[::-1][:count]
    return np.sqrt(np.maximum(np.pad(squares, (0, count - squares.size)), 0))
