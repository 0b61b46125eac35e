"""Constrained spectral embedding for all spectral methods, and the constraint matrix F of groups.

The smallest eigenpairs of a graph Laplacian on a subspace are computed without a basis of that subspace.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackError, LinearOperator, cg, eigsh, splu
from threadpoolctl import threadpool_limits

from equigraph.exceptions import InfeasibleError
from equigraph.graph.groups.encode import indicator

# Singular values below this, relative to the largest possible one, count as zero.
_RANK_TOLERANCE = 1e-10
# Up to this size LAPACK is as fast as ARPACK, and always converges.
DENSE_NODES = 100
# Limits of graphs for which a sparse factorisation is tried first. Its fill-in is not known in advance, and may reach
# n^2 / 2: at worst a few seconds and 300 MB within these limits (LastFM, 5,576 nodes with 7 entries each, takes 0.1 s).
_FACTOR_NODES = 2_000
_FACTOR_SPARSE_NODES = 8_000
_FACTOR_ENTRIES = 8
# Limit for a factorisation after iterations have failed: they fail on long, thin graphs, whose fill-in is small.
_RESCUE_NODES = 200_000
# Shift of the Laplacian, relative to the mean degree: large enough for accurate solves, small against its gaps.
_SHIFT = 1e-4
# Accuracy of the eigenpairs, before their Rayleigh-Ritz refinement.
_TOLERANCE = 1e-12
# Accuracy in the search for missed copies of a multiple eigenvalue.
_CHECK_TOLERANCE = 1e-7
# (factor on the Krylov dimension, restarts) of the attempts with ARPACK.
_ATTEMPTS = ((1, 300), (4, 1_000))


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


@dataclass(frozen=True)
class Laplacian:
    r"""Operator M of the eigenproblem, in coordinates in which the eigenvectors are orthonormal.

    M is L = D - A, or with ``scale`` :math:`s = d^{-1/2}` the normalised :math:`I - D^{-1/2} A D^{-1/2}`.
    """

    adjacency: sparse.csr_array  # in double precision, mean degree near 1, every node with an edge
    degrees: NDArray[np.float64]
    scale: NDArray[np.float64] | None

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.degrees.size)

    def bound(self) -> float:
        """Return a bound on the eigenvalues: 2 if normalised, else the largest d_i + d_j of an edge."""
        if self.scale is not None:
            return 2.0
        rows = np.repeat(np.arange(self.n_nodes), np.diff(self.adjacency.indptr))
        return float((self.degrees[rows] + self.degrees[self.adjacency.indices]).max())

    def times(self, x: NDArray) -> NDArray:
        """Return M x for one vector or a panel."""
        column = (slice(None), None) if x.ndim == 2 else slice(None)
        if self.scale is None:
            return self.degrees[column] * x - self.adjacency @ x
        scale = self.scale[column]
        return x - scale * (self.adjacency @ (scale * x))

    def factorized_inverse(self) -> Callable[[NDArray], NDArray]:
        """Factorise M + shift I, and return its inverse as a function of a vector or panel."""
        shift = self.degrees if self.scale is not None else np.ones(self.n_nodes)
        matrix = sparse.diags_array(self.degrees + _SHIFT * shift) - self.adjacency
        factors = splu(
            matrix.tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        if self.scale is None:
            return factors.solve
        root = 1 / self.scale

        def solve(b: NDArray) -> NDArray:
            side = root[:, None] if b.ndim == 2 else root
            return side * factors.solve(side * b)

        return solve

    def iterative_inverse(self) -> Callable[[NDArray], NDArray]:
        """Return the inverse of L + shift I as a function, by conjugate gradients (unnormalised only).

        With the degrees as preconditioner the number of steps depends on the gap of the *normalised* Laplacian, which
        does not suffer from hubs.
        """
        diagonal = self.degrees + _SHIFT
        shape = (self.n_nodes, self.n_nodes)
        shifted = LinearOperator(shape, matvec=lambda x: diagonal * x - self.adjacency @ x, dtype=np.float64)
        scaled = LinearOperator(shape, matvec=lambda x: x / diagonal, dtype=np.float64)

        def solve(b: NDArray) -> NDArray:
            if b.ndim == 2:
                return np.column_stack([solve(column) for column in b.T])
            return cg(shifted, b, rtol=1e-12, maxiter=10_000, M=scaled)[0]

        return solve


def smallest(
    laplacian: Laplacian, excluded: NDArray, known: NDArray, n_vectors: int, *, method: str = "auto"
) -> NDArray[np.float64]:
    """Return the eigenvectors of the smallest eigenvalues on the complement of orthonormal directions, unsorted.

    Some of the directions are ``known`` null vectors of M. The method "iterate" uses products with A only; "factor"
    uses a sparse factorisation, and takes few steps; "auto" is "factor" if that is cheap. If ARPACK does not converge
    with one, the other is tried.
    """
    deflated = np.hstack([excluded, known])
    n_free = laplacian.n_nodes - deflated.shape[1]
    # If the complement is small, the constraint basis is nearly n x n, and a dense matrix adds little.
    if method == "dense" or laplacian.n_nodes <= DENSE_NODES or n_free <= 2 * _krylov(n_vectors):
        return _dense(laplacian, deflated, n_vectors)
    for candidate in _methods(laplacian, method):
        operator = _operator(candidate, laplacian, excluded, known)
        vectors = _largest(operator, deflated, n_vectors)
        if vectors is not None:
            return vectors
    raise InfeasibleError(
        f"The {n_vectors} smallest eigenvectors of the Laplacian did not converge on this graph of "
        f"{laplacian.n_nodes} nodes: ask for fewer clusters, or use the normalised Laplacian."
    )


def _methods(laplacian: Laplacian, method: str) -> tuple[str, ...]:
    """Return the methods to try, in order."""
    n_nodes = laplacian.n_nodes
    is_sparse = laplacian.adjacency.nnz <= _FACTOR_ENTRIES * n_nodes
    is_small = n_nodes <= _FACTOR_NODES or (n_nodes <= _FACTOR_SPARSE_NODES and is_sparse)
    if method == "factor" or (method == "auto" and is_small):
        return ("factor", "iterate")
    return ("iterate", "factor") if is_small or (is_sparse and n_nodes <= _RESCUE_NODES) else ("iterate",)


def _operator(method: str, laplacian: Laplacian, excluded: NDArray, known: NDArray) -> LinearOperator:
    if method == "factor":
        return _inverse_operator(laplacian.factorized_inverse(), excluded, known)
    if laplacian.scale is None:
        return _inverse_operator(laplacian.iterative_inverse(), excluded, known)
    return _forward_operator(laplacian, np.hstack([excluded, known]))


def _krylov(n_vectors: int) -> int:
    return max(4 * n_vectors, 20)


def _dense(laplacian: Laplacian, deflated: NDArray, n_vectors: int) -> NDArray[np.float64]:
    n_nodes = laplacian.n_nodes
    matrix = laplacian.times(np.eye(n_nodes))
    matrix -= deflated @ (deflated.T @ matrix)
    matrix -= (matrix @ deflated) @ deflated.T
    # Shift the deflated directions above the whole spectrum.
    matrix += 2 * laplacian.bound() * (deflated @ deflated.T)
    return linalg.eigh((matrix + matrix.T) / 2, subset_by_index=[0, n_vectors - 1])[1]


def _forward_operator(laplacian: Laplacian, deflated: NDArray) -> LinearOperator:
    """Return P (bound I - M) P - bound (I - P): wanted eigenvalues are the largest, deflated ones negative."""
    bound = laplacian.bound()
    basis = np.ascontiguousarray(deflated)

    def matvec(x: NDArray) -> NDArray:
        x = x.ravel()
        away = basis @ (basis.T @ x)
        inside = x - away
        image = bound * inside - laplacian.times(inside)
        return image - basis @ (basis.T @ image) - bound * away

    return LinearOperator((laplacian.n_nodes, laplacian.n_nodes), matvec=matvec, dtype=np.float64)


def _inverse_operator(
    solve: Callable[[NDArray], NDArray], excluded: NDArray, known: NDArray
) -> LinearOperator:
    """Return the inverse of K = M + shift I, given as a function, compressed to the complement.

    With U = ``excluded``, Z (Z'KZ)^-1 Z' = K^-1 - K^-1 U (U'K^-1 U)^-1 U'K^-1 for any basis Z
    of the complement of U. The known null vectors are eigenvectors of it, so their projection is exact.
    """
    if excluded.shape[1]:
        panel = solve(np.ascontiguousarray(excluded))
        schur = linalg.cho_factor(excluded.T @ panel)

    def matvec(x: NDArray) -> NDArray:
        x = x.ravel()
        x = x - known @ (known.T @ x)
        y = solve(x)
        if excluded.shape[1]:
            y = y - panel @ linalg.cho_solve(schur, panel.T @ x)
        return y - known @ (known.T @ y)

    return LinearOperator((known.shape[0], known.shape[0]), matvec=matvec, dtype=np.float64)


def _largest(operator: LinearOperator, deflated: NDArray, n_vectors: int) -> NDArray[np.float64] | None:
    """Return the eigenvectors of the largest eigenvalues, or None if ARPACK does not converge."""
    start = _start(deflated)
    for factor, restarts in _ATTEMPTS:
        ncv = min(start.size, factor * _krylov(n_vectors))
        try:
            values, vectors = lanczos(operator, n_vectors, start, ncv=ncv, maxiter=restarts, tol=_TOLERANCE)
            return _with_missed_copies(operator, deflated, values, vectors)
        except ArpackError:
            continue
    return None


def _with_missed_copies(
    operator: LinearOperator, deflated: NDArray, values: NDArray, vectors: NDArray
) -> NDArray[np.float64]:
    """Replace eigenvectors by missed copies of multiple eigenvalues.

    Lanczos iterations find one vector of a multiple eigenvalue; the others appear only by rounding, sometimes too late.
    The complement of the vectors found is therefore searched for a larger eigenvalue, until there is none.
    """
    n_nodes, n_vectors = vectors.shape
    for attempt in range(1, n_vectors + 2):
        seen = np.hstack([deflated, np.linalg.qr(vectors)[0]])

        def matvec(x: NDArray, seen: NDArray = seen) -> NDArray:
            x = x.ravel()
            y = operator.matvec(x - seen @ (seen.T @ x))
            # Shift the known vectors far down in the spectrum, so that they are not found again.
            return y - seen @ (seen.T @ y) - values.max() * (seen @ (seen.T @ x))

        rest = LinearOperator(operator.shape, matvec=matvec, dtype=np.float64)
        size = {"ncv": min(n_nodes, 20), "maxiter": 1_000}
        value, vector = lanczos(rest, 1, _start(seen, attempt), tol=_CHECK_TOLERANCE, **size)
        if value[0] <= values.min() * (1 + 10 * _CHECK_TOLERANCE):
            break
        value, vector = lanczos(rest, 1, vector[:, 0], tol=_TOLERANCE, **size)
        worst = int(np.argmin(values))
        values[worst], vectors[:, worst] = value[0], vector[:, 0]
    else:
        raise ArpackError(-9999)
    return vectors


def lanczos(
    operator: Any, n_vectors: int, start: NDArray, *, which: str = "LA", **options: Any
) -> tuple[NDArray, NDArray]:
    """Return eigenpairs by ARPACK, reproducibly."""
    # Newer versions of scipy draw vectors after a breakdown from rng, which is unseeded by default.
    if "rng" in inspect.signature(eigsh).parameters:
        options["rng"] = np.random.default_rng(0)
    return eigsh(operator, k=n_vectors, which=which, v0=start, **options)


def _start(deflated: NDArray, number: int = 0) -> NDArray[np.float64]:
    """Return a fixed start vector that meets the constraint and has a component in every direction.

    A vector has no component in the copies of an eigenvalue that it missed, so each new search needs another number.
    """
    start = np.random.default_rng(number).standard_normal(deflated.shape[0])
    return start - deflated @ (deflated.T @ start)
