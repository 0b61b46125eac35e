r"""Soft-fair spectral clustering, with fairness as a penalty instead of a constraint; used as a start.

The embedding is given by the leading eigenvectors of :math:`D^{-1/2} A D^{-1/2} - \tau U U^\top`, where U spans the
directions in which groups differ. :math:`\tau = 0` is plain spectral clustering, and :math:`\tau \to \infty` is
`ScalableFairSC`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.graph.groups import group_means
from equigraph.graph.groups.placement import place_isolated
from equigraph.spectral.embedding import group_constraint
from equigraph.spectral.labels import embedded_labels, fill_empty, kmeans_labels, unit_rows
from equigraph.stores.products import Product, single_blas_thread

# Number of extra vectors, for faster convergence.
_SPARE = 2
# On large graphs: most vectors of a block, size of the sample for k-means (least, and per cluster), and rows that are
# processed at a time, so that they stay in the cache.
_MOST_WIDE, _SAMPLE, _SAMPLE_EACH, _ROWS = 24, 20_000, 200, 8192
# With fewer nodes with an edge than this, samples and single precision are not used.
_FEW = 1000
# Number of products with blocks for the vectors in single precision.
_QUICK_STEPS = 5
# Number of starts of k-means.
_STARTS = 3
# Squared length below which a vector in single precision is only rounding error.
_ROUNDING = 1e-8


def soft_fair_labels(
    adjacency: sparse.csr_array,
    codes: NDArray[np.intp] | None,
    n_clusters: int,
    *,
    strength: float,
    seed: int,
) -> NDArray[np.intp]:
    r"""Return labels of soft-fair spectral clustering with a weight :math:`\tau` of fairness, as a start.

    Nodes without an edge are assigned last, to the clusters where they improve fairness most; no cluster is empty.
    """

    def embed(connected: sparse.csr_array, members: NDArray | None, n_vectors: int) -> NDArray:
        degrees = connected.sum(axis=1, dtype=np.float64)
        with single_blas_thread():
            return _leading_vectors(connected.__matmul__, degrees, members, n_vectors, strength, seed)

    return embedded_labels(adjacency, codes, n_clusters, embed, n_init=_STARTS, seed=seed)


def _leading_vectors(
    product: Callable[[NDArray], NDArray],
    degrees: NDArray[np.float64],
    codes: NDArray[np.intp] | None,
    n_vectors: int,
    strength: float,
    seed: int,
    *,
    n_steps: int = 8,
    quick: bool = False,
) -> NDArray:
    """Return approximate leading eigenvectors from a block Krylov space; those of a small graph are exact.

    Rows of nodes without an edge are 0. The quick ones are in single precision. Some power iterations come first, more
    of them on larger graphs, where a random start has a smaller component along each eigenvector.
    """
    n, width = degrees.size, n_vectors + _SPARE
    width, orthonormal = (min(width, _MOST_WIDE), _orthonormal) if quick else (min(width, n), _qr)
    dtype: Any = np.float32 if quick else np.float64
    half = np.zeros((n, 1), dtype=dtype)
    half[degrees > 0, 0] = 1 / np.sqrt(degrees[degrees > 0])
    basis = None
    if codes is not None and strength:
        basis = orthonormal(half * group_constraint(codes, int(codes.max()) + 1).astype(dtype))

    def operator(panel: NDArray, strength: float = strength) -> NDArray:
        image = product(half * panel)
        image *= half
        if basis is not None:
            image -= strength * (basis @ _gram(basis, panel).astype(dtype))
        return image

    start = np.random.default_rng(seed).standard_normal((n, width), dtype=dtype)
    for _ in range(1 + round(3 * np.log10(max(n, 100_000) / 10_000)) if quick else 0):
        # At half the strength no negative eigenvalue is large enough to dominate the power iteration.
        start = operator(start, strength / 2)
    return _krylov(operator, orthonormal(start * (half > 0)), n_vectors, n_steps, orthonormal)


def _qr(panel: NDArray) -> NDArray:
    """Return orthonormal columns by QR, without those that depend on the columns before."""
    block, triangle = np.linalg.qr(panel)
    return block[:, np.abs(np.diag(triangle)) > 1e-10]


def _krylov(
    operator: Callable[[NDArray], NDArray],
    block: NDArray,
    n_vectors: int,
    n_steps: int,
    orthonormal: Callable[[NDArray], NDArray],
) -> NDArray:
    """Return orthonormal approximations of the leading eigenvectors, by one product with each of some blocks.

    The image of the space is not stored: the coefficients that make a block orthogonal to the space are the entries of
    the projected matrix.
    """
    n, width = block.shape
    space, size = np.empty((n, width * n_steps), dtype=block.dtype), 0
    small = np.zeros((width * n_steps, width * n_steps))
    for _ in range(n_steps):
        # The last block of a small graph fills the space: the vectors are then exact.
        block = block[:, : n - size]
        if block.shape[1] == 0:
            break
        fresh = slice(size, size + block.shape[1])
        space[:, fresh], size = block, fresh.stop
        image = operator(block)
        small[:size, fresh] = _gram(space[:, :size], image)
        _subtract(image, space[:, :size], small[:size, fresh])
        # Two orthogonalisations suffice for working precision.
        _subtract(image, space[:, :size], _gram(space[:, :size], image))
        block = orthonormal(image)
    small = np.triu(small[:size, :size])
    _, rotation = np.linalg.eigh(small + np.triu(small, 1).T)
    return space[:, :size] @ rotation[:, ::-1][:, :n_vectors].astype(space.dtype)


def are_few(degrees: NDArray, n_clusters: int) -> bool:
    """Return whether too few nodes have an edge for the approximations of `labels_by_products`."""
    return bool(np.count_nonzero(degrees) < max(n_clusters, _FEW))


def labels_by_products(
    product: Product,
    degrees: NDArray[np.float64],
    codes: NDArray[np.intp] | None,
    n_clusters: int,
    *,
    strength: float,
    seed: int,
) -> NDArray[np.intp]:
    """Approximate `soft_fair_labels` for large graphs, by products with the graph.

    The vectors are computed in single precision, at most 24 in a block: random mixtures of the leading eigenvectors
    separate more clusters than there are mixtures. k-means runs on a sample of the nodes, and the others are assigned
    to the nearest centre. Weights are in units of the largest, as single precision requires.
    """
    active = degrees > 0
    with single_blas_thread():
        points = _leading_vectors(
            product, degrees, codes, n_clusters, strength, seed, n_steps=_QUICK_STEPS, quick=True
        )
        nodes = np.random.default_rng(seed).permutation(np.flatnonzero(active))
        sample = nodes[: max(_SAMPLE, _SAMPLE_EACH * n_clusters)]
        seen = unit_rows(points[sample])
        found = fill_empty(kmeans_labels(seen, n_clusters, n_init=_STARTS, seed=seed), seen, n_clusters)
        labels = _nearest(points, group_means(seen, found, n_clusters))
    # The labels of the sample leave no cluster empty; the nearest centres might.
    labels[sample] = found
    n_groups = 1 if codes is None else int(codes.max()) + 1
    return place_isolated(labels, ~active, codes, n_clusters, n_groups)


def _nearest(points: NDArray, centres: NDArray) -> NDArray[np.intp]:
    """Return the index of the centre nearest to each point scaled to unit length."""
    labels = np.empty(points.shape[0], dtype=np.intp)
    centres = centres.astype(points.dtype)
    half_squares = np.einsum("ij,ij->i", centres, centres) / 2
    for start in range(0, labels.size, _ROWS):
        rows = points[start : start + _ROWS]
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
        labels[start : start + _ROWS] = (rows @ centres.T - lengths * half_squares).argmax(axis=1)
    return labels


def _gram(left: NDArray, right: NDArray) -> NDArray[np.float64]:
    """Return ``left.T @ right`` of two panels in single precision; blocks of rows are summed in double precision."""
    total = np.zeros((left.shape[1], right.shape[1]))
    for start in range(0, left.shape[0], _ROWS):
        total += left[start : start + _ROWS].T @ right[start : start + _ROWS]
    return total


def _subtract(panel: NDArray, space: NDArray, coefficients: NDArray) -> None:
    """Subtract ``space @ coefficients`` from a panel, in place."""
    coefficients = coefficients.astype(panel.dtype)
    for start in range(0, panel.shape[0], _ROWS):
        panel[start : start + _ROWS] -= space[start : start + _ROWS] @ coefficients


def _orthonormal(panel: NDArray) -> NDArray:
    """Return an orthonormal basis of the columns of a panel, by its Gram matrix."""
    squares, vectors = np.linalg.eigh(_gram(panel, panel))
    used = squares > _ROUNDING
    return panel @ (vectors[:, used] / np.sqrt(squares[used])).astype(panel.dtype)
