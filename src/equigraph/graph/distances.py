"""A look at weights that may be distances, for which far nodes would be strongly linked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import DistanceWarning, warn
from equigraph.graph.units import largest_weight

# Nodes whose triangles are looked at, neighbours of each, and how many broken triangles must have been expected of
# similarities: real ones give hundreds of times that, random weights that vary little a quarter.
_NODES, _NEIGHBOURS, _EXPECTED = 256, 16, 20


def warn_of_distances(matrix: Any, adjacency: sparse.csr_array) -> None:
    """Warn if the weights of a matrix, which became the adjacency, look like distances."""
    if adjacency.nnz == 0 or adjacency.data.max() / 2 <= adjacency.data.min():
        return
    if _nearest_first(matrix) or looks_like_distances(adjacency):
        warn(
            "The weights look like distances, and a large weight is a strong link here: give similarities, such as "
            "those of knn_graph(X).",
            DistanceWarning,
        )


def _nearest_first(matrix: Any) -> bool:
    """Return whether the entries of every row ascend, not in the order of columns, as scikit-learn writes distances."""
    if not sparse.issparse(matrix) or matrix.format != "csr" or matrix.has_sorted_indices:
        return False
    lengths = np.diff(matrix.indptr)
    if lengths.min() != lengths.max() or matrix.nnz - lengths.size < _EXPECTED:
        return False
    ascends = matrix.data[1:] >= matrix.data[:-1]
    ascends[np.arange(lengths[0], matrix.nnz, lengths[0]) - 1] = True  # from one row to the next
    return bool(ascends.all())


def looks_like_distances(adjacency: sparse.csr_array) -> bool:
    """Return whether no triangle breaks the triangle inequality where similarities would break it often.

    With the shortest side a and the longest c, the middle one of a triangle lies in [a, c] and breaks it below c - a.
    Directed triangles will do, so that it may be asked before the two directions of a pair are combined.
    """
    unit, expected = largest_weight(adjacency.data), 0.0
    seen: set[tuple[int, ...]] = set()
    for node in np.unique(np.linspace(0, adjacency.shape[0] - 1, _NODES).astype(np.intp)):
        corners, sides = _triangles(adjacency, int(node))
        a, b, c = (sides / unit).T  # so that no sum overflows
        if (c > (a + b) * (1 + 1e-6)).any():
            return False
        for place in np.flatnonzero(c > 2 * a):
            triangle = tuple(corners[place].tolist())
            if triangle not in seen:
                seen.add(triangle)
                expected += float((c[place] - 2 * a[place]) / (c[place] - a[place]))
    return expected >= _EXPECTED


def _triangles(adjacency: sparse.csr_array, node: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return corners and weights, both in ascending order, of triangles of a node with some of its neighbours."""
    row = slice(adjacency.indptr[node], adjacency.indptr[node + 1])
    some = np.unique(
        np.linspace(0, max(row.stop - row.start - 1, 0), min(row.stop - row.start, _NEIGHBOURS)).astype(int)
    )
    neighbours, weights = adjacency.indices[row][some], adjacency.data[row][some].astype(np.float64)
    between = adjacency[neighbours][:, neighbours].toarray()
    first, second = np.nonzero(between)
    corners = np.column_stack([np.full(first.size, node), neighbours[first], neighbours[second]])
    sides = np.column_stack([weights[first], weights[second], between[first, second]])
    return np.sort(corners, axis=1), np.sort(sides, axis=1)
