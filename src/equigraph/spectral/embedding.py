"""Constrained spectral embedding for all spectral methods, and the constraint matrix F of groups.

The smallest eigenpairs of a graph Laplacian on a subspace are computed without a basis of that subspace.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
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
# Up to this size LAPACK is as fast as ARPACK, and always converges: for constrained eigenvectors, and for plain ones.
DENSE_NODES, _LAPACK_NODES = 100, 64
# Limits of graphs for which a sparse factorisation is tried first. Its fill-in is not known in advance, and may reach
# n^2 / 2: at worst a few seconds and 300 MB within these limits (LastFM, 5,576 nodes with 8 entries each, takes 0.1 s).
_FACTOR_NODES = 2_000
_FACTOR_SPARSE_NODES = 8_000
_FACTOR_ENTRIES = 9
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
    # A power of two near the mean degree: scaling is exact, and the result does not depend on the unit of weights.
    unit = 2.0 ** np.round(np.log2(float(adjacency.sum()) / max(n_nodes, 1)))
    # Not adjacency.sum, which adds float32 weights in single precision.
    degrees = adjacency @ np.ones(n_nodes) / unit
    # The null vector of a connected graph, in coordinates in which the eigenvectors are orthonormal.
    root = np.sqrt(degrees) if normalized else np.ones(n_nodes)
    half = sparse.diags_array(1 / root)
    laplacian = sparse.csr_array(sparse.diags_array(degrees / root**2) - half / unit @ adjacency @ half)
    with threadpool_limits(limits=1, user_api="blas"):
        excluded = _orthonormal(half @ (np.zeros((n_nodes, 0)) if constraint is None else constraint))
        check_dimensions(n_nodes, excluded.shape[1], n_vectors)
        known = null_vectors(adjacency, root, excluded, n_vectors)
        values, vectors = np.zeros(known.shape[1]), known
        if known.shape[1] < n_vectors:
            n_more = n_vectors - known.shape[1]
            found = smallest(laplacian, excluded, known, n_more, normalized=normalized, method=method)
            found_values, found = _refine(laplacian, found, np.hstack([excluded, known]))
            values, vectors = np.concatenate([values, found_values]), np.hstack([known, found])
    if normalized:
        return values, vectors / (root * np.sqrt(unit))[:, None]
    return values * unit, vectors


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
    # null_space is relative to the largest singular value, which may itself be rounding noise.
    if overlap.size == 0 or np.abs(overlap).max() <= _RANK_TOLERANCE:
        return indicators.toarray()[:, :n_vectors]
    return indicators @ linalg.null_space(overlap, rcond=_RANK_TOLERANCE)[:, :n_vectors]


def _orthonormal(columns: NDArray) -> NDArray[np.float64]:
    """Return an orthonormal basis of the constrained directions, without dependent columns."""
    norms = np.linalg.norm(columns, axis=0)
    columns = columns[:, norms > 0] / norms[norms > 0]
    q, r, _ = linalg.qr(columns, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = np.count_nonzero(diagonal > _RANK_TOLERANCE * diagonal.max(initial=0.0))
    return np.ascontiguousarray(q[:, :rank])


def _refine(laplacian: sparse.csr_array, vectors: NDArray, deflated: NDArray) -> tuple[NDArray, NDArray]:
    """Restore orthogonality to machine precision and return Rayleigh-Ritz pairs, ascending."""
    for _ in range(2):
        vectors = vectors - deflated @ (deflated.T @ vectors)
        vectors = np.linalg.qr(vectors)[0]
    projected = vectors.T @ (laplacian @ vectors)
    values, rotation = linalg.eigh((projected + projected.T) / 2)
    return np.maximum(values, 0.0), vectors @ rotation


def smallest(
    laplacian: sparse.csr_array,
    excluded: NDArray,
    known: NDArray,
    n_vectors: int,
    *,
    normalized: bool,
    method: str = "auto",
) -> NDArray[np.float64]:
    """Return the eigenvectors of the smallest eigenvalues on the complement of orthonormal directions, unsorted.

    Some of the directions are ``known`` null vectors. The method "iterate" uses products only; "factor" uses a sparse
    factorisation, and takes few steps; "auto" is "factor" if that is cheap. If ARPACK does not converge with one, the
    other is tried.
    """
    deflated = np.hstack([excluded, known])
    n_nodes, n_free = laplacian.shape[0], laplacian.shape[0] - deflated.shape[1]
    # If the complement is small, the constraint basis is nearly n x n, and a dense matrix adds little.
    if method == "dense" or n_nodes <= DENSE_NODES or n_free <= 2 * _krylov(n_vectors):
        return _dense(laplacian, deflated, n_vectors)
    for candidate in _methods(laplacian, method):
        if candidate == "iterate" and normalized:
            operator = _forward_operator(laplacian, deflated)
        else:
            operator = _inverse_operator(_shifted_inverse(laplacian, candidate), excluded, known)
        vectors = _largest(operator, deflated, n_vectors)
        if vectors is not None:
            return vectors
    raise InfeasibleError(
        f"The {n_vectors} smallest eigenvectors of the Laplacian did not converge on this graph of "
        f"{n_nodes} nodes: ask for fewer clusters, or use the normalised Laplacian."
    )


def _methods(laplacian: sparse.csr_array, method: str) -> tuple[str, ...]:
    """Return the methods to try, in order."""
    n_nodes = laplacian.shape[0]
    is_sparse = laplacian.nnz <= _FACTOR_ENTRIES * n_nodes
    is_small = n_nodes <= _FACTOR_NODES or (n_nodes <= _FACTOR_SPARSE_NODES and is_sparse)
    if method == "factor" or (method == "auto" and is_small):
        return ("factor", "iterate")
    return ("iterate", "factor") if is_small or (is_sparse and n_nodes <= _RESCUE_NODES) else ("iterate",)


def _krylov(n_vectors: int) -> int:
    return max(4 * n_vectors, 20)


def _dense(laplacian: sparse.csr_array, deflated: NDArray, n_vectors: int) -> NDArray[np.float64]:
    matrix = laplacian.toarray()
    bound = np.abs(matrix).sum(axis=1).max()
    matrix -= deflated @ (deflated.T @ matrix)
    matrix -= (matrix @ deflated) @ deflated.T
    # Shift the deflated directions above the whole spectrum.
    matrix += 2 * bound * (deflated @ deflated.T)
    return linalg.eigh((matrix + matrix.T) / 2, subset_by_index=[0, n_vectors - 1])[1]


def _forward_operator(laplacian: sparse.csr_array, deflated: NDArray) -> LinearOperator:
    """Return P (2 I - M) P - 2 (I - P) of a normalised Laplacian M, whose eigenvalues are at most 2.

    The wanted eigenvalues are the largest, deflated ones negative.
    """
    basis = np.ascontiguousarray(deflated)

    def matvec(x: NDArray) -> NDArray:
        x = x.ravel()
        away = basis @ (basis.T @ x)
        inside = x - away
        image = 2 * inside - laplacian @ inside
        return image - basis @ (basis.T @ image) - 2 * away

    return LinearOperator(laplacian.shape, matvec=matvec, dtype=np.float64)


def _shifted_inverse(laplacian: sparse.csr_array, method: str) -> Callable[[NDArray], NDArray]:
    """Return the inverse of M + shift I as a function, by a sparse factorisation or by conjugate gradients.

    With the degrees as preconditioner the number of steps depends on the gap of the *normalised* Laplacian, which does
    not suffer from hubs.
    """
    shifted = sparse.csr_array(laplacian + _SHIFT * sparse.eye_array(laplacian.shape[0]))
    if method == "factor":
        symmetric = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
        return splu(shifted.tocsc(), permc_spec="MMD_AT_PLUS_A", **symmetric).solve
    inverse_diagonal = sparse.diags_array(1 / shifted.diagonal())

    def solve(b: NDArray) -> NDArray:
        columns = [
            cg(shifted, column, rtol=1e-12, maxiter=10_000, M=inverse_diagonal)[0]
            for column in np.atleast_2d(b.T)
        ]
        return np.column_stack(columns).reshape(b.shape)

    return solve


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


def leading_eigenpairs(
    product: Callable[[NDArray], NDArray],
    n_vectors: int,
    start: NDArray,
    *,
    which: str,
    error: str,
    tol: float = 0.0,
) -> tuple[NDArray, NDArray]:
    """Return the eigenpairs of a symmetric matrix with the largest eigenvalues or, by "LM", absolute eigenvalues.

    The matrix is given by its product with a panel. It is made dense if it is small, or if nearly all eigenvalues are
    wanted. The error is that of the InfeasibleError if ARPACK does not converge, with a place for its reason.
    """
    n_nodes = start.size
    # One BLAS thread: the order of summation must not depend on the machine.
    with threadpool_limits(limits=1, user_api="blas"):
        if n_nodes <= max(_LAPACK_NODES, 2 * n_vectors + 1):
            values, vectors = np.linalg.eigh(product(np.eye(n_nodes)))
        else:

            def matvec(x: NDArray) -> NDArray:
                return product(x.reshape(-1, 1)).ravel()

            operator = LinearOperator((n_nodes, n_nodes), matvec=matvec, dtype=np.float64)
            try:
                values, vectors = lanczos(operator, n_vectors, start, which=which, tol=tol)
            except ArpackError as reason:
                raise InfeasibleError(error.format(reason)) from reason
    size = np.abs(values) if which == "LM" else values
    order = np.argsort(-size, kind="stable")[:n_vectors]
    return values[order], vectors[:, order]


def _start(deflated: NDArray, number: int = 0) -> NDArray[np.float64]:
    """Return a fixed start vector that meets the constraint and has a component in every direction.

    A vector has no component in the copies of an eigenvalue that it missed, so each new search needs another number.
    """
    start = np.random.default_rng(number).standard_normal(deflated.shape[0])
    return start - deflated @ (deflated.T @ start)
