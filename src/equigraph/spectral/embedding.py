"""Constrained spectral embedding for all spectral methods, and the constraint matrix F of groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from threadpoolctl import threadpool_limits

from equigraph.exceptions import InfeasibleError
from equigraph.graph.groups.encode import indicator
from equigraph.spectral.solvers import Laplacian, smallest

# Singular values below this, relative to the largest possible one, count as zero.
_RANK_TOLERANCE = 1e-10


def constrained_embedding(
    adjacency: sparse.csr_array,
    constraint: NDArray | None,
    n_vectors: int,
    *,
    normalized: bool,
    method: str = "auto",
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Embed the nodes of a graph by the smoothest vectors under a linear constraint.

    .. math:: \min_H \operatorname{tr}(H^\top L H) \quad \text{s.t.}\quad F^\top H = 0,\; H^\top B H = I

    with L = D - A, and B = I (unnormalised) or B = D (normalised). No basis of the feasible subspace is formed:
    every step costs one product with A, or one solve with a sparse factorisation, plus O(n r). Every node must have an
    edge; columns of F may be linearly dependent. Returns the eigenvalues in ascending order, and H.
    """
    n_nodes = adjacency.shape[0]
    check_dimensions(n_nodes, 0, n_vectors)
    # A power of two near the mean degree: scaling is exact, and the result does not depend on the unit of weights.
    unit = 2.0 ** np.round(np.log2(float(adjacency.sum()) / max(n_nodes, 1)))
    scaled = sparse.csr_array(adjacency, dtype=np.float64) / unit
    degrees = np.asarray(scaled.sum(axis=1)).ravel()
    scale = 1 / np.sqrt(degrees) if normalized else None
    laplacian = Laplacian(scaled, degrees, scale)
    with threadpool_limits(limits=1, user_api="blas"):
        excluded = _orthonormal(constraint, scale, n_nodes)
        check_dimensions(n_nodes, excluded.shape[1], n_vectors)
        known = null_vectors(
            scaled, np.sqrt(degrees) if normalized else np.ones(n_nodes), excluded, n_vectors
        )
        values, vectors = np.zeros(known.shape[1]), known
        if known.shape[1] < n_vectors:
            found = smallest(laplacian, excluded, known, n_vectors - known.shape[1], method=method)
            found_values, found = _refine(laplacian, found, np.hstack([excluded, known]))
            values, vectors = np.concatenate([values, found_values]), np.hstack([known, found])
    if scale is None:
        return values * unit, vectors
    return values, vectors * (scale / np.sqrt(unit))[:, None]


def group_constraint(codes: NDArray[np.intp], n_groups: int) -> NDArray[np.float64]:
    """Return the centred group indicators, without the last column.

    Every cluster has the group shares of the population if and only if the cluster indicators are orthogonal to these
    columns. Groups without a node are left out. The columns of the others sum to zero, so one is redundant.
    """
    onehot = group_indicators(codes, n_groups)[:, :-1]
    return onehot - onehot.mean(axis=0) if codes.size else onehot


def group_indicators(codes: NDArray[np.intp], n_groups: int) -> NDArray[np.float64]:
    """Return one indicator column per nonempty group; as a constraint, they also exclude the constant vector."""
    present = np.bincount(codes, minlength=n_groups) > 0
    return indicator((np.cumsum(present) - 1)[codes], int(present.sum())).toarray()


def check_dimensions(n_nodes: int, n_constraints: int, n_vectors: int) -> None:
    """Raise an InfeasibleError if the constraint leaves too few dimensions."""
    if n_nodes - n_constraints < n_vectors:
        raise InfeasibleError(
            f"The {n_nodes} nodes with an edge, less {n_constraints} for the fairness constraint, leave "
            f"{n_nodes - n_constraints} dimensions for an embedding of {n_vectors}: ask for fewer clusters "
            "or use fewer groups."
        )


def null_vectors(
    adjacency: sparse.csr_array, weights: NDArray, excluded: NDArray, n_vectors: int
) -> NDArray[np.float64]:
    """Return orthonormal null vectors of the constrained Laplacian.

    They are combinations of the indicators of connected components. They are computed directly, because Lanczos
    iterations find only one vector of a multiple eigenvalue, apart from rounding errors. ``weights`` is the null vector
    of a connected graph. Vectors that separate the largest components come first.
    """
    n_components, component = connected_components(adjacency, directed=False)
    mass = np.bincount(component, weights=weights**2)
    rank = np.empty(n_components, dtype=np.intp)
    rank[np.argsort(-mass, kind="stable")] = np.arange(n_components)
    # If there are more components than vectors can separate, the smallest ones are treated as one.
    n_parts = min(n_components, n_vectors + excluded.shape[1])
    part = np.minimum(rank[component], n_parts - 1)
    norms = np.sqrt(np.bincount(part, weights=weights**2))
    rows = np.arange(component.size)
    indicators = sparse.csr_array((weights / norms[part], (rows, part)), shape=(component.size, n_parts))
    overlap = (indicators.T @ excluded).T
    mixing = linalg.null_space(overlap, rcond=_RANK_TOLERANCE) if _is_large(overlap) else np.eye(n_parts)
    return indicators @ mixing[:, :n_vectors]


def _is_large(overlap: NDArray) -> bool:
    # null_space is relative to the largest singular value, which may itself be rounding noise.
    return bool(overlap.size and np.abs(overlap).max() > _RANK_TOLERANCE)


def _orthonormal(constraint: NDArray | None, scale: NDArray | None, n_nodes: int) -> NDArray[np.float64]:
    """Return an orthonormal basis of the constrained directions, without dependent columns."""
    if constraint is None or constraint.shape[1] == 0:
        return np.zeros((n_nodes, 0))
    columns = constraint if scale is None else constraint * scale[:, None]
    norms = np.linalg.norm(columns, axis=0)
    columns = columns[:, norms > 0] / norms[norms > 0]
    q, r, _ = linalg.qr(columns, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(r))
    return np.ascontiguousarray(
        q[:, : np.count_nonzero(diagonal > _RANK_TOLERANCE * max(diagonal.max(), 0.0))]
    )


def _refine(laplacian: Laplacian, vectors: NDArray, deflated: NDArray) -> tuple[NDArray, NDArray]:
    """Restore orthogonality to machine precision and return Rayleigh-Ritz pairs, ascending."""
    for _ in range(2):
        vectors = vectors - deflated @ (deflated.T @ vectors)
        vectors = np.linalg.qr(vectors)[0]
    projected = vectors.T @ laplacian.times(vectors)
    values, rotation = linalg.eigh((projected + projected.T) / 2)
    return np.maximum(values, 0.0), vectors @ rotation
