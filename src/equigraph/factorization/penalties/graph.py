"""A penalty given by any sparse graph over the nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.factorization.penalties.base import Penalty
from equigraph.graph.sparse_arrays import check_sparse


class GraphPenalty(Penalty):
    r"""Laplacian smoothing over a similarity graph S of one's own.

    .. math:: R(H) = \mathrm{Tr}(H^\top (D - S) H) = \tfrac12 \sum_{ij} S_{ij} \|h_i - h_j\|^2,

    where D is the diagonal matrix of the row sums of S.

    Pairs with a positive weight are drawn together, pairs with a negative weight are pushed apart.

    Parameters
    ----------
    similarity : sparse or dense array of shape (n_nodes, n_nodes)
        Symmetric weights, in any scipy format. The diagonal plays no part.

    Examples
    --------
    >>> import numpy as np
    >>> penalty = GraphPenalty([[0, 1], [1, 0]])
    >>> penalty.value(np.array([[1.0, 0.0], [0.0, 1.0]]))
    2.0
    """

    def __init__(self, similarity: Any):
        check_sparse(similarity, "The similarity of a GraphPenalty")
        matrix = sparse.csr_array(similarity, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise GraphError(f"The similarity of a GraphPenalty must be square; it has shape {matrix.shape}.")
        if not np.isfinite(matrix.data).all():
            raise GraphError("The similarity of a GraphPenalty has NaN or infinite weights.")
        gap = matrix - matrix.T
        scale = np.abs(matrix.data).max(initial=0.0)
        if gap.nnz and np.abs(gap.data).max() > 1e-10 * scale:
            raise GraphError("The similarity of a GraphPenalty must be symmetric: use (S + S.T) / 2.")
        matrix = matrix - sparse.diags_array(matrix.diagonal())
        laplacian = sparse.csr_array(sparse.diags_array(matrix.sum(axis=1)) - matrix)
        self._up = laplacian.maximum(0).tocsr()
        self._down = (-laplacian).maximum(0).tocsr()

    def positive(self, H: NDArray) -> NDArray:
        """Return the product with the positive entries of the Laplacian."""
        return (self._up @ H).astype(H.dtype, copy=False)

    def negative(self, H: NDArray) -> NDArray:
        """Return the product with the negative entries of the Laplacian."""
        return (self._down @ H).astype(H.dtype, copy=False)

    def curvature(self) -> float:
        """Return the largest row sum of absolute values, a bound on the largest eigenvalue."""
        return float((self._up.sum(axis=1) + self._down.sum(axis=1)).max(initial=0.0))

    def __repr__(self) -> str:
        return f"GraphPenalty({self._up.shape[0]} nodes)"
