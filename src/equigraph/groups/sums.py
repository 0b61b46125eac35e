"""Sums, means and counts over groups: the O(n k) products that fairness is made of."""

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
    """Sum the rows of each group.

    Parameters
    ----------
    values : ndarray of shape (n_nodes, k)
        One row per node.
    codes : ndarray of shape (n_nodes,)
        Group of each node.
    n_groups : int
        Number of groups.

    Returns
    -------
    ndarray of shape (n_groups, k), float64
        Always summed in double precision: a group may have millions of rows.

    Examples
    --------
    >>> group_sums(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 0]), 2).tolist()
    [[5.0], [2.0]]
    """
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
    """Count the nodes of every (cluster, group) pair.

    Parameters
    ----------
    labels : ndarray of shape (n_nodes,)
        Cluster of each node, in ``range(n_clusters)``.
    codes : ndarray of shape (n_nodes,)
        Group of each node, in ``range(n_groups)``; -1 for a node without one, which is not counted.
    n_clusters, n_groups : int
        Shape of the table.

    Returns
    -------
    ndarray of shape (n_clusters, n_groups), int64
        The table T from which every balance-type metric is computed.

    Examples
    --------
    >>> contingency_table(np.array([0, 0, 1]), np.array([0, 1, 1]), 2, 2).tolist()
    [[1, 1], [0, 1]]
    """
    if codes.size and codes.min() < 0:
        labels, codes = labels[codes >= 0], codes[codes >= 0]
    pairs = labels.astype(np.int64) * n_groups + codes
    return np.bincount(pairs, minlength=n_clusters * n_groups).reshape(n_clusters, n_groups).astype(np.int64)
