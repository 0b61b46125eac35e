"""Node features for graphs that have none of their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import ArpackError, LinearOperator
from threadpoolctl import threadpool_limits

from equigraph.exceptions import InfeasibleError
from equigraph.graph.groups import Groups
from equigraph.graph.groups.sums import indicator
from equigraph.spectral.solvers import lanczos

# Below this size, or when most eigenvectors are wanted, ARPACK is no better than LAPACK.
_DENSE_NODES = 64


def sensitive_columns(groups: Groups) -> NDArray[np.float64]:
    """Return the one-hot groups, an array of shape (n_nodes, n_groups)."""
    return indicator(groups.codes, groups.n_groups).toarray()


def ordinal_column(groups: Groups) -> NDArray[np.float64]:
    """Return the group of each node as a single number, an array of shape (n_nodes, 1).

    Numeric groups are taken as they are; others are counted from 1, in the order of their names.
    """
    numeric = groups.names.dtype.kind in "iufb"
    values = groups.names if numeric else np.arange(1, groups.n_groups + 1)
    return values.astype(np.float64)[groups.codes][:, None]


def structural_columns(
    adjacency: sparse.csr_array, n_components: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    r"""Return what a node's place in the graph says: leading eigenvectors and the degree.

    They are those of :math:`D^{-1/2} A D^{-1/2}`, and :math:`\log(1 + d)` centred; each column has mean square 1 (equal
    degrees give a column of zeros).
    """
    degrees = np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel()
    vectors = _leading_eigenvectors(adjacency, degrees, n_components, rng)
    logs = np.log1p(degrees)
    logs -= logs.mean()
    spread = np.sqrt(np.mean(logs**2))
    # Rounding of the mean leaves a spread near 1e-16 in a regular graph, which must not be blown up.
    logs = logs / spread if spread > 1e-9 else np.zeros_like(logs)
    return np.column_stack([vectors * np.sqrt(degrees.size), logs])


def propagate(adjacency: sparse.csr_array, columns: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return :math:`\tilde D^{-1/2} (A + I) \tilde D^{-1/2} X`, with the degrees :math:`\tilde D` of A + I."""
    scale = self_loop_scale(adjacency)[:, None]
    scaled = scale * columns
    return scale * (adjacency @ scaled + scaled)


def self_loop_scale(adjacency: sparse.csr_array) -> NDArray[np.float64]:
    """Return the inverse square roots of the degrees of A + I."""
    return 1 / np.sqrt(1 + np.asarray(adjacency.sum(axis=1), dtype=np.float64).ravel())


def _leading_eigenvectors(
    adjacency: sparse.csr_array, degrees: NDArray[np.float64], count: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    n_nodes = degrees.size
    if count > n_nodes:
        raise InfeasibleError(
            f"n_structural={count} eigenvectors were asked of a graph with {n_nodes} nodes: it has {n_nodes}."
        )
    scale = np.zeros(n_nodes)
    np.divide(1, np.sqrt(degrees), out=scale, where=degrees > 0)
    # One BLAS thread: the order of summation must not depend on the machine.
    with threadpool_limits(limits=1, user_api="blas"):
        if n_nodes <= max(_DENSE_NODES, 2 * count + 1):
            dense = scale[:, None] * adjacency.toarray() * scale
            vectors = np.linalg.eigh(dense.astype(np.float64))[1][:, ::-1][:, :count]
        else:

            def times(x: NDArray) -> NDArray:
                return scale * (weights @ (scale * x.ravel()))

            weights = adjacency.astype(np.float64, copy=False)
            operator = LinearOperator(adjacency.shape, matvec=times, dtype=np.float64)
            try:
                values, vectors = lanczos(operator, count, rng.standard_normal(n_nodes), tol=1e-6)
            except ArpackError as error:
                raise InfeasibleError(
                    f"The {count} leading eigenvectors did not converge ({error}): use a smaller n_structural."
                ) from error
            vectors = vectors[:, np.argsort(-values, kind="stable")]
    # An eigenvector is defined up to its sign only: the largest entry is made positive.
    peaks = vectors[np.abs(vectors).argmax(axis=0), np.arange(count)]
    return vectors * np.where(peaks < 0, -1.0, 1.0)
