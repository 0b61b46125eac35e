"""What a clustering says about each node: a label, or a row of memberships."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph.exceptions import ParameterError
from equigraph.graph.adapters import labels_of_communities
from equigraph.graph.labels import keys_of_index, labels_in_order
from equigraph.graph.sparse_arrays import check_sparse
from equigraph.graph.tables import row_labels
from equigraph.metrics._table import Nodes, encode_labels

_BLOCK_ENTRIES = 1 << 21


@dataclass(frozen=True, eq=False)
class Outputs:
    """Output of each node: either codes (hard labels) or rows that sum to 1 (soft membership)."""

    codes: NDArray[np.intp] | None
    rows: NDArray[np.float64] | None

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        # One of the two is always there.
        return len(self.codes) if self.codes is not None else len(self.rows)  # type: ignore[arg-type]

    def total_variation(self, first: NDArray[np.integer], second: NDArray[np.integer]) -> NDArray[np.float64]:
        """Half the L1 distance between the outputs of ``first[p]`` and ``second[p]``, for each pair p."""
        if self.codes is not None:
            return (self.codes[first] != self.codes[second]).astype(np.float64)
        assert self.rows is not None
        distances = np.empty(first.size)
        step = max(1, _BLOCK_ENTRIES // self.rows.shape[1])
        for start in range(0, first.size, step):
            block = slice(start, start + step)
            distances[block] = np.abs(self.rows[first[block]] - self.rows[second[block]]).sum(axis=1) / 2
        return distances


def as_outputs(membership: ArrayLike, *, nodes: Nodes | None = None) -> Outputs:
    """Take labels (n_nodes,) of any type, or a nonnegative membership (n_nodes, k), whose rows are scaled.

    Both are matched with the nodes by name where they have names.
    """
    membership = labels_of_communities(membership)
    labels = _hard_labels(membership)
    if labels is not None:
        membership = labels
    matrix = None if isinstance(membership, Mapping) else _as_matrix(membership)
    if matrix is None:
        encoded = (
            nodes.labels(membership, "membership") if nodes else encode_labels(membership, name="membership")
        )
        return Outputs(encoded.codes, None)
    if nodes is not None:
        matrix = _rows_in_order(matrix, membership, nodes)
    bad = np.flatnonzero(~((matrix >= 0) & np.isfinite(matrix)).all(axis=1))
    if bad.size:
        raise ParameterError(
            f"membership has negative or non-finite entries (first in row {bad[0]}): expected values >= 0."
        )
    largest = matrix.max(axis=1, keepdims=True)
    if (largest == 0).any():
        raise ParameterError(
            f"Row {int(np.argmin(largest))} of membership is all zero and cannot be scaled to sum to 1: "
            "give every node a membership, or pass labels."
        )
    matrix = matrix / largest  # first, so that the sum of a row cannot overflow
    return Outputs(None, matrix / matrix.sum(axis=1, keepdims=True))


def _rows_in_order(matrix: NDArray[np.float64], membership: Any, nodes: Nodes) -> NDArray[np.float64]:
    """Return the rows in the order of the nodes, matched by the names that a table has in its index."""
    n_nodes = nodes.graph.n_nodes
    if matrix.shape[0] != n_nodes:
        raise ParameterError(
            f"membership has {matrix.shape[0]} rows and the graph has {n_nodes} nodes: give one row per node."
        )
    what = "rows of the membership"
    names = keys_of_index(*row_labels(membership), nodes.graph, what)
    if names is None:
        return matrix
    rows = dict(zip(names.tolist(), range(n_nodes), strict=True))
    return matrix[labels_in_order(rows, nodes.graph, what).astype(np.intp)]


def _hard_labels(membership: Any) -> NDArray[Any] | None:
    """Return the labels of a sparse membership with one positive entry in every row, else None.

    Such a one may have as many clusters as nodes and must not become dense.
    """
    if not sparse.issparse(membership) or membership.ndim != 2:
        return None
    check_sparse(membership, "The membership")
    matrix = sparse.csr_array(membership)
    single = (np.diff(matrix.indptr) == 1).all() and matrix.nnz > 0
    return matrix.indices if single and (matrix.data > 0).all() and np.isfinite(matrix.data).all() else None


def _as_matrix(membership: Any) -> NDArray[np.float64] | None:
    """Return a two-dimensional float array, or None for what is not two-dimensional."""
    if sparse.issparse(membership):
        membership = membership.toarray()  # n x k, not n x n
    elif hasattr(membership, "to_numpy"):
        membership = membership.to_numpy()
    elif isinstance(membership, (list, tuple)) and not (membership and np.ndim(membership[0]) == 1):
        return None  # a list of labels: numpy must not cast mixed types to strings
    array = np.asarray(membership)
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] == 0:
        return None
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise ParameterError("membership of shape (n_nodes, n_clusters) must hold numbers.") from None
