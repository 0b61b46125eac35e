"""Starting points of a tri-factorisation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import eigsh

from equigraph.exceptions import InfeasibleError, ParameterError
from equigraph.stores import gram, product_of, single_blas_thread

# From this many stored entries on the values are found by a fixed number of passes over the graph, with some columns
# to spare.
_FEW_PASSES_FROM, _PASSES, _SPARE = 5_000_000, 6, 6
# Below this size, or when nearly all eigenvalues are wanted, ARPACK is no better than LAPACK.
DENSE_NODES = 64


def svd_start(
    adjacency: sparse.csr_array, n_clusters: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Return the start of the paper's authors: H uniform in [0, 1), W = diag(s + 0.1)."""
    H = rng.random((adjacency.shape[0], n_clusters))
    return H, np.diag(largest_singular_values(adjacency, n_clusters) + 0.1)


def random_start(
    adjacency: sparse.csr_array, n_clusters: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Return H and W uniform in [0, 1), W symmetric, scaled so that H W H' has the total weight of A."""
    return random_factors(adjacency.shape[0], float(adjacency.sum()), n_clusters, rng)


def random_factors(
    n_nodes: int, total: float, n_clusters: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Return what `random_start` says of a graph of that total weight."""
    H = rng.random((n_nodes, n_clusters))
    W = rng.random((n_clusters, n_clusters))
    W = (W + W.T) / 2
    column = H.sum(axis=0)
    return H, W * (max(total, np.finfo(float).tiny) / (column @ W @ column))


def spectral_start(
    adjacency: sparse.csr_array, n_clusters: int, rng: np.random.Generator
) -> tuple[NDArray, NDArray]:
    """Return the start from the labels of spectral clustering."""
    from equigraph.spectral.labels import spectral_labels

    labels = spectral_labels(adjacency, n_clusters, seed=int(rng.integers(2**31)))
    return start_from_labels(adjacency, labels, n_clusters)


def start_from_labels(
    adjacency: sparse.csr_array, labels: NDArray, n_clusters: int
) -> tuple[NDArray, NDArray]:
    """Return the factors of labels, and the W that fits them best."""
    from equigraph.base import mean_interaction

    return factors_of_labels(labels, mean_interaction(adjacency, labels, n_clusters))


def factors_of_labels(
    labels: NDArray, mean: NDArray[np.float64], dtype: Any = np.float64
) -> tuple[NDArray, NDArray[np.float64]]:
    """Return one-hot labels plus 0.1, and the mean weights of pairs plus a hundredth of their largest.

    A zero never leaves zero under multiplicative updates, hence the small positive numbers.
    """
    H = np.full((labels.size, mean.shape[0]), 0.1, dtype=dtype)
    H[np.arange(labels.size), labels] += 1
    return H, mean + 0.01 * max(float(mean.max()), np.finfo(float).tiny)


def random_labels(n_nodes: int, n_clusters: int, seed: int) -> NDArray[np.intp]:
    """Return random labels of clusters of equal size."""
    return np.random.default_rng(seed).permutation(np.arange(n_nodes) % n_clusters)


def custom_start(
    H: NDArray | None, W: NDArray | None, n_nodes: int, n_clusters: int, unit: float
) -> tuple[NDArray, NDArray]:
    """Check and copy the factors given by the caller, whose W is in the unit of the caller's weights."""
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


def largest_singular_values(adjacency: sparse.csr_array, count: int) -> NDArray[np.float64]:
    """Return the largest singular values of a symmetric matrix, in descending order.

    They are the largest absolute eigenvalues, of which Lanczos iterations find only as many as are needed. Of a graph
    with millions of edges, whose start should not cost more than its factorisation, a few passes find them: those that
    stand out to many digits, those in the bulk of the spectrum to a few percent.
    """
    n_nodes = adjacency.shape[0]
    if n_nodes <= max(DENSE_NODES, 2 * count + 1):
        values = np.linalg.eigvalsh(adjacency.toarray().astype(np.float64))
        return np.sort(np.abs(values))[::-1][:count]
    if adjacency.nnz == 0:
        return np.zeros(count)
    scale = float(np.abs(adjacency.data).max())
    if adjacency.nnz >= _FEW_PASSES_FROM:
        return _values_by_few_passes(adjacency, count, scale)
    return values_by_lanczos((adjacency / scale).astype(np.float64), count) * scale


def values_by_lanczos(operator: Any, count: int) -> NDArray[np.float64]:
    """Return the largest singular values of a symmetric matrix, or of what multiplies like one."""
    n_nodes = operator.shape[0]
    # A fixed, non-symmetric start vector keeps the result the same from run to run.
    v0 = 1 + np.arange(n_nodes) / n_nodes
    try:
        values = eigsh(operator, k=count, which="LM", return_eigenvectors=False, v0=v0)
    except sparse.linalg.ArpackError as error:
        raise InfeasibleError(
            f"The {count} largest singular values of the graph did not converge ({error}): use init='random'."
        ) from error
    return np.sort(np.abs(values))[::-1]


def _values_by_few_passes(adjacency: sparse.csr_array, count: int, scale: float) -> NDArray[np.float64]:
    """Return estimates from below, by subspace iteration from a fixed start, for weights of the order of a scale."""
    product = product_of(adjacency)
    panel = np.random.default_rng(0).standard_normal((adjacency.shape[0], count + _SPARE))
    with single_blas_thread():
        for _ in range(_PASSES):
            # Orthonormal columns from the small Gram matrix; directions that are lost in rounding are left out.
            values, vectors = np.linalg.eigh(gram(panel, panel))
            kept = values > 1e-12 * values[-1]
            panel = product(panel @ (vectors[:, kept] / np.sqrt(values[kept]))) / scale
        squares = np.linalg.eigvalsh(gram(panel, panel))[::-1][:count]
    found = np.zeros(count)
    found[: squares.size] = scale * np.sqrt(np.maximum(squares, 0))
    return found
