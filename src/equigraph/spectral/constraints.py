"""Fairness as linear constraints on an embedding: the matrix F of F'H = 0."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import ArpackError

from equigraph.exceptions import InfeasibleError, ParameterError
from equigraph.graph.groups.sums import indicator
from equigraph.graph.sparse_arrays import check_sparse
from equigraph.spectral.solvers import lanczos

# Up to this many different rows the rank of a representation graph is computed, by a dense matrix of that
# order.
_EXACT_ROWS = 2_000
# And only while a basis of its row space stays below half a gigabyte.
_EXACT_ENTRIES = 2**26
# Eigenvalues of R J R' below this share of the largest one count as zero.
_RANK_TOLERANCE = 1e-12
_DENSE_NODES = 100


def group_constraint(codes: NDArray[np.intp], n_groups: int) -> NDArray[np.float64]:
    """Return the centred group indicators, one column dropped.

    A clustering has the group shares of the population in every cluster if and only if its indicator vectors
    are orthogonal to these columns. Groups without a node are left out; the columns of the others sum to
    zero, hence the dropped one.
    """
    onehot = group_indicators(codes, n_groups)[:, :-1]
    return onehot - onehot.mean(axis=0) if codes.size else onehot


def group_indicators(codes: NDArray[np.intp], n_groups: int) -> NDArray[np.float64]:
    """Return one column per group that has a node; as a constraint, it also excludes the constant vector."""
    present = np.bincount(codes, minlength=n_groups) > 0
    return indicator((np.cumsum(present) - 1)[codes], int(present.sum())).toarray()


def check_representation(representation: Any, n_nodes: int) -> sparse.csr_array:
    """Check a representation graph and return it with a self-loop at every node.

    Everybody represents oneself: without self-loops, groups as a representation graph would leave no feasible
    vector but the constant one. Self-loops that are missing get the largest weight.
    """
    check_sparse(representation, "The representation")
    try:
        matrix = sparse.csr_array(representation, dtype=np.float64, copy=True)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"representation must be a sparse matrix of numbers ({error}).") from error
    if matrix.shape != (n_nodes, n_nodes):
        raise ParameterError(
            f"representation has shape {matrix.shape}; expected ({n_nodes}, {n_nodes}): one row per node."
        )
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
        raise ParameterError("representation must be finite and nonnegative: it says who represents whom.")
    if abs(matrix - matrix.T).max() > 1e-12 * max(matrix.data.max(initial=0.0), np.finfo(float).tiny):
        raise ParameterError(
            "representation must be symmetric: use (R + R.T) / 2, or R.maximum(R.T), of your matrix R."
        )
    missing = matrix.diagonal() == 0
    weight = float(matrix.data.max(initial=0.0)) or 1.0
    matrix = sparse.csr_array(matrix + sparse.diags_array(weight * missing))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix


def exact_row_space(representation: sparse.csr_array) -> NDArray[np.float64] | None:
    """Return an orthonormal basis of the row space of R J, or None where that would be too large.

    J centres, so a vector h meets R J h = 0 if and only if it is orthogonal to this basis. Only the different
    rows of R are looked at: a graph made of groups has as many of them as groups.
    """
    n_nodes = representation.shape[0]
    rows = representation[_different_rows(representation)]
    if rows.shape[0] > _EXACT_ROWS or rows.shape[0] * n_nodes > _EXACT_ENTRIES:
        return None
    # Rows of equal length: how strongly somebody is represented does not change the constraint, only its
    # rounding.
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    rows = sparse.csr_array(sparse.diags_array(1 / norms) @ rows)
    sums = np.asarray(rows.sum(axis=1)).ravel()
    gram = (rows @ rows.T).toarray() - np.outer(sums, sums) / n_nodes
    values, vectors = linalg.eigh(gram)
    kept = values > _RANK_TOLERANCE * max(1.0, values[-1])
    basis = rows.T @ vectors[:, kept] - (sums @ vectors[:, kept]) / n_nodes
    return np.linalg.qr(basis)[0]


def low_rank_row_space(representation: sparse.csr_array, rank: int) -> NDArray[np.float64]:
    """Return a spanning set of the row space of R_r J, with R_r the best approximation of R of a given rank.

    These are the centred eigenvectors of the r eigenvalues that are largest in absolute value; zeros do not count.
    """
    n_nodes = representation.shape[0]
    if n_nodes <= _DENSE_NODES or rank >= n_nodes // 2:
        # With that many eigenvectors the answer itself is nearly as large as a dense R.
        values, vectors = linalg.eigh(representation.toarray())
    else:
        start = np.random.default_rng(0).standard_normal(n_nodes)
        try:
            values, vectors = lanczos(representation, rank, start, which="LM")
        except ArpackError as error:
            raise InfeasibleError(
                f"The {rank} largest eigenvectors of the representation graph did not converge ({error}): "
                "choose another rank."
            ) from error
    order = np.argsort(-np.abs(values), kind="stable")[:rank]
    order = order[np.abs(values[order]) > 1e-10 * np.abs(values).max()]
    vectors = vectors[:, order]
    return vectors - vectors.mean(axis=0)


def _different_rows(matrix: sparse.csr_array) -> NDArray[np.intp]:
    """Return the first of each set of equal rows."""
    seen: dict[tuple[bytes, bytes], int] = {}
    for row, (start, end) in enumerate(zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)):
        seen.setdefault((matrix.indices[start:end].tobytes(), matrix.data[start:end].tobytes()), row)
    return np.fromiter(seen.values(), dtype=np.intp, count=len(seen))
