"""The numbers of clusters: by size, largest first, ties by first node."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def size_order(labels: NDArray, n_clusters: int) -> NDArray[np.intp]:
    """Return the clusters by size, largest first, ties by their first node; empty ones last."""
    sizes = np.bincount(labels, minlength=n_clusters)
    first = np.full(n_clusters, labels.size)
    np.minimum.at(first, labels, np.arange(labels.size))
    return np.lexsort((first, -sizes))


def number_by_size(labels: NDArray, n_clusters: int) -> NDArray[np.intp]:
    """Return the same clusters numbered in the order of `size_order`."""
    labels = np.asarray(labels, dtype=np.intp)
    return np.argsort(size_order(labels, n_clusters))[labels]
