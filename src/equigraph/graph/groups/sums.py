"""Sums, means and counts over groups, in O(n k)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def indicator(codes: NDArray[np.intp], n_codes: int, dtype: type | np.dtype = np.float64) -> sparse.csr_array:
    """Return the one-hot matrix of shape (n_nodes, n_codes) of integer codes."""
    n = codes.size
    data = np.ones(n, dtype=dtype)
    return sparse.csr_array((data, codes, np.arange(n + 1)), shape=(n, n_codes))


def group_sums(values: NDArray, codes: NDArray[np.intp], n_groups: int) -> NDArray:
    """Sum the rows of each group, always in double precision: a group may have millions of rows."""
    values = np.asarray(values)
    return np.column_stack(
        [np.bincount(codes, weights=values[:, j], minlength=n_groups) for j in range(values.shape[1])]
    )


def group_means(values: NDArray, codes: NDArray[np.intp], n_groups: int) -> NDArray:
    """Average the rows of each group; every group must have a member."""
    sizes = np.bincount(codes, minlength=n_groups)
    return group_sums(values, codes, n_groups) / sizes[:, None]


def contingency_table(
    labels: NDArray[np.intp], codes: NDArray[np.intp], n_clusters: int, n_groups: int
) -> NDArray[np.int64]:
    """Count the nodes of every (cluster, group) pair; a node without a group (-1) is not counted."""
    if codes.size and codes.min() < 0:
        labels, codes = labels[codes >= 0], codes[codes >= 0]
    pairs = labels.astype(np.int64) * n_groups + codes
    return np.bincount(pairs, minlength=n_clusters * n_groups).reshape(n_clusters, n_groups).astype(np.int64)
