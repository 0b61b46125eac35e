"""Numbering of clusters by size, and detection of very small clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph._utils.text import count, listed

SMALL = 2
_MOST_NAMED = 5


def small_clusters(sizes: ArrayLike, parameters: Mapping[str, Any]) -> NDArray[np.intp]:
    """Return the clusters of one or two nodes that were not requested.

    They count as requested with ``size_bounds``, with ``rules`` on sizes, without a number of clusters, and if they
    have at least a third of the mean size.

    >>> small_clusters([20, 9, 1], {"n_clusters": 3}).tolist()
    [2]
    >>> small_clusters([20, 9, 1], {"n_clusters": 3, "size_bounds": (1, 20)}).tolist()
    []
    """
    sizes = np.asarray(sizes)
    n_clusters = parameters.get("n_clusters")
    if n_clusters is None or parameters.get("size_bounds") is not None or _has_sizes(parameters.get("rules")):
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero((sizes > 0) & (sizes <= SMALL) & (3 * n_clusters * sizes < sizes.sum()))


def _has_sizes(rules: Any) -> bool:
    """Return whether rules, as an object or as a mapping from a file, bound sizes."""
    content = rules if isinstance(rules, Mapping) else getattr(rules, "to_dict", dict)()
    return content.get("sizes") is not None


def small_words(sizes: ArrayLike, small: NDArray[np.intp]) -> str:
    """Return the part of a sentence that names small clusters."""
    sizes = np.asarray(sizes)
    first = small[:_MOST_NAMED]
    parts = [f"cluster {cluster} has {count(int(sizes[cluster]), 'node')}" for cluster in first.tolist()]
    if small.size > first.size:
        parts.append(f"{small.size - first.size:,} more have at most {SMALL}")
    return listed(parts)


def proposed_bounds(n_nodes: int, n_clusters: int) -> tuple[int, None]:
    """Return size bounds that avoid small clusters: at least half of the mean size."""
    return max(SMALL + 1, n_nodes // (2 * n_clusters)), None


def size_order(labels: NDArray, n_clusters: int) -> NDArray[np.intp]:
    """Return the clusters by size, largest first, ties by their first node; empty ones last."""
    sizes = np.bincount(labels, minlength=n_clusters)
    first = np.full(n_clusters, labels.size)
    np.minimum.at(first, labels, np.arange(labels.size))
    return np.lexsort((first, -sizes))


def number_by_size(labels: NDArray, n_clusters: int) -> NDArray[np.intp]:
    """Renumber clusters in the order of `size_order`."""
    labels = np.asarray(labels, dtype=np.intp)
    return np.argsort(size_order(labels, n_clusters))[labels]
