"""Modularity, of a clustering and of each group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.parameters import Real, check_parameters
from equigraph.graph.groups import Groups
from equigraph.metrics._table import read_nodes

_BLOCK_ENTRIES = 1 << 22  # stored entries handled at a time: bounds the temporaries to some 100 MB

_PARAMETERS = {"resolution": Real(low=0)}


def modularity_score(adjacency: Any, labels: Any, *, resolution: float = 1.0) -> float:
    """Return the modularity Q of a clustering.

    ``Q = sum_C [ e_C / m - resolution * (vol(C) / 2m)^2 ]`` with m the total edge weight, e_C the weight
    inside cluster C and vol(C) the sum of its degrees. At resolution 1, Q lies in [-1/2, 1): near 1 means
    many more edges inside the clusters than chance would place there, 0 means no more than chance (a
    single cluster scores exactly 0).

    Parameters
    ----------
    adjacency : graph-like
        Anything that :func:`equigraph.graph.as_graph` takes; edge weights count.
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    resolution : float, default 1.0
        Weight of the chance term; above 1 favours small clusters.

    Returns
    -------
    float
        Q; 0.0 for a graph without edges.

    Raises
    ------
    ParameterError
        If the labels do not fit the graph or the resolution is negative or not finite.

    References
    ----------
    M. E. J. Newman, "Modularity and community structure in networks", PNAS 103(23), 2006.

    Examples
    --------
    Two edges, each its own cluster:

    >>> A = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> modularity_score(A, ["a", "a", "b", "b"])
    0.5
    """
    nodes = read_nodes(adjacency)
    encoded = nodes.labels(labels)
    check_parameters("modularity_score", _PARAMETERS, {"resolution": resolution})
    return _modularity(nodes.adjacency, encoded.codes, encoded.n_clusters, resolution)


def group_modularity_scores(
    adjacency: Any, labels: Any, *, sensitive_features: ArrayLike | Groups, resolution: float = 1.0
) -> dict[Any, float]:
    """Return the part of the modularity that each group contributes.

    ``Q_g = sum_C [ I_g(C) / 2m - vol(C) vol_g(C) / (2m)^2 ]`` where I_g(C) counts the edges inside C once
    per end in group g and vol_g(C) sums the degrees of the members of g in C. The parts add up to Q, so
    no part is above 1. A part near 0 means that the group is no better connected inside its clusters than
    by chance; unequal parts (relative to the shares of the degrees) mean that the clusters serve one group
    better than another.

    Parameters
    ----------
    adjacency : graph-like
        Anything that :func:`equigraph.graph.as_graph` takes; edge weights count.
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    sensitive_features : array-like of shape (n_nodes,) or Groups
        Group of each node. What nodes without one contribute is in no part.
    resolution : float, default 1.0
        Weight of the chance term.

    Returns
    -------
    dict
        Name of the group to Q_g; all 0.0 for a graph without edges.

    Raises
    ------
    ParameterError, GroupsError
        If the labels or groups do not fit the graph.

    References
    ----------
    C. Gkartzios, E. Pitoura, P. Tsaparas, "Fair Network Communities through Group Modularity", WWW 2025.

    Examples
    --------
    >>> A = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> group_modularity_scores(A, [0, 0, 1, 1], sensitive_features=["x", "x", "x", "y"])
    {'x': 0.375, 'y': 0.125}
    """
    nodes = read_nodes(adjacency)
    encoded, groups = nodes.labels(labels), nodes.groups(sensitive_features)
    assert groups is not None
    check_parameters("group_modularity_scores", _PARAMETERS, {"resolution": resolution})
    scores = _group_modularity(nodes.adjacency, encoded.codes, encoded.n_clusters, groups, resolution)
    return dict(zip(groups.names.tolist(), scores.tolist(), strict=True))


def _modularity(
    adjacency: sparse.csr_array, codes: NDArray[np.intp], n_clusters: int, resolution: float = 1.0
) -> float:
    """Modularity on validated arrays."""
    degrees = _degrees(adjacency)
    total = float(degrees.sum())
    if total == 0.0:
        return 0.0
    inside = 0.0
    for _, _, same, data in _same_cluster(adjacency, codes):
        inside += float(data.sum(where=same, dtype=np.float64))
    # Scaling before squaring keeps sums of huge or tiny weights in range.
    volumes = np.bincount(codes, weights=degrees, minlength=n_clusters) / total
    return inside / total - resolution * float(volumes @ volumes)


def _group_modularity(
    adjacency: sparse.csr_array,
    codes: NDArray[np.intp],
    n_clusters: int,
    groups: Groups,
    resolution: float = 1.0,
) -> NDArray[np.float64]:
    """Group modularity on validated arrays, shape (n_groups,)."""
    degrees = _degrees(adjacency)
    total = float(degrees.sum())
    if total == 0.0:
        return np.zeros(groups.n_groups)
    # The first column is of the nodes without a group.
    own, n_columns = groups.codes + 1, groups.n_groups + 1
    inside = np.zeros(n_columns)
    for start, stop, same, data in _same_cluster(adjacency, codes):
        ends = np.repeat(own[start:stop], np.diff(adjacency.indptr[start : stop + 1]))
        inside += np.bincount(ends[same], weights=data[same], minlength=n_columns)
    volumes = np.bincount(codes * n_columns + own, weights=degrees, minlength=n_clusters * n_columns) / total
    volumes = volumes.reshape(n_clusters, n_columns)
    return (inside / total - resolution * (volumes.sum(axis=1) @ volumes))[1:]


def _same_cluster(
    adjacency: sparse.csr_array, codes: NDArray[np.intp]
) -> Iterator[tuple[int, int, NDArray[np.bool_], NDArray]]:
    """Yield, per block of rows, which stored entries join two nodes of one cluster, and the entries."""
    narrow = codes.astype(np.int32, copy=False) if codes.size < np.iinfo(np.int32).max else codes
    indptr = adjacency.indptr
    for start, stop in _row_blocks(indptr, _BLOCK_ENTRIES):
        entries = slice(indptr[start], indptr[stop])
        own = np.repeat(narrow[start:stop], np.diff(indptr[start : stop + 1]))
        yield start, stop, own == narrow[adjacency.indices[entries]], adjacency.data[entries]


def kept_links(
    adjacency: sparse.csr_array, codes: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return weight and number of the links that join each node to its own cluster."""
    weight, number = np.zeros(codes.size), np.zeros(codes.size, dtype=np.int64)
    for start, stop, same, data in _same_cluster(adjacency, codes):
        rows = np.repeat(np.arange(stop - start), np.diff(adjacency.indptr[start : stop + 1]))[same]
        weight[start:stop] = np.bincount(rows, weights=data[same], minlength=stop - start)
        number[start:stop] = np.bincount(rows, minlength=stop - start)
    return weight, number


def _row_blocks(indptr: NDArray[np.integer], max_entries: int) -> Iterator[tuple[int, int]]:
    """Cut the rows into ranges of at most max_entries stored entries, at least one row each."""
    start, n_rows = 0, indptr.size - 1
    while start < n_rows:
        limit = int(indptr[start]) + max_entries
        stop = min(max(int(np.searchsorted(indptr, limit, side="right")) - 1, start + 1), n_rows)
        yield start, stop
        start = stop


def _degrees(adjacency: sparse.csr_array) -> NDArray[np.float64]:
    """Weighted degrees, always summed in double precision."""
    return adjacency @ np.ones(adjacency.shape[1])
