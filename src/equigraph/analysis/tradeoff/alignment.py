"""Alignment of the numbers of clusters along a curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equigraph.graph.groups import contingency_table


def align_labels(labels: NDArray, reference: NDArray, n_clusters: int) -> NDArray[np.intp]:
    """Renumber clusters so that most nodes keep the number that they have in a reference.

    The numbers are those of the assignment with the largest total overlap (the Hungarian method). Clusters without such
    an overlap get the remaining numbers.

    Parameters
    ----------
    labels, reference : ndarray of int, shape (n_nodes,)
        Cluster of each node, in ``range(n_clusters)``.
    n_clusters : int
        Number of clusters, empty ones included.

    Returns
    -------
    ndarray of int, shape (n_nodes,)
        The labels, renumbered.

    Examples
    --------
    >>> align_labels(np.array([1, 1, 0, 2]), np.array([0, 0, 1, 1]), 3).tolist()
    [0, 0, 1, 2]
    """
    labels = np.asarray(labels, dtype=np.intp)
    overlap = contingency_table(labels, np.asarray(reference, dtype=np.intp), n_clusters, n_clusters)
    return best_numbers(overlap)[labels]


def best_numbers(overlap: NDArray) -> NDArray[np.intp]:
    """Return the column assigned to each row by the assignment with the largest total overlap."""
    from scipy.optimize import linear_sum_assignment

    return np.asarray(linear_sum_assignment(overlap, maximize=True)[1], dtype=np.intp)
