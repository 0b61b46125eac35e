"""Cohesion of clusters: modularity of a clustering and of each group, cuts, and link shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.parameters import Real, check_known, check_parameters
from equigraph.graph.groups import Groups
from equigraph.graph.groups.encode import indicator
from equigraph.metrics._table import Labels, read_nodes

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
    return modularity_of(nodes.adjacency, encoded.codes, resolution)


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
        Group of each node. The contribution of nodes without one is in no part.
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
    encoded, attributes = nodes.labels(labels), nodes.attributes(sensitive_features)
    assert attributes is not None
    check_parameters("group_modularity_scores", _PARAMETERS, {"resolution": resolution})
    scores = links_of(nodes.adjacency, encoded.codes).modularity_of_groups(attributes.joint, resolution)
    return dict(zip(attributes.joint.names.tolist(), scores.tolist(), strict=True))


def conductance_score(adjacency: Any, labels: Any, *, average: Literal["mean", "max"] = "mean") -> float:
    """Return the conductance of a clustering.

    The conductance of a cluster is ``cut(C) / min(vol(C), 2m - vol(C))``: the weight of the edges that leave it over
    the smaller of its volume and that of the rest. It lies in [0, 1]; lower is better.

    Parameters
    ----------
    adjacency : graph-like
        Anything that :func:`equigraph.graph.as_graph` takes; edge weights count.
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    average : {"mean", "max"}, default "mean"
        Over the clusters: the mean, or the worst cluster.

    Returns
    -------
    float
        The conductance; a cluster that has no edge, or all of them, counts as 0.

    References
    ----------
    R. Kannan, S. Vempala, A. Vetta, "On Clusterings: Good, Bad and Spectral", Journal of the ACM 51(3), 2004.

    Examples
    --------
    A path of four nodes, cut in the middle:

    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> round(conductance_score(path, [0, 0, 1, 1]), 3)
    0.333
    """
    check_known("average", average, ("mean", "max"))
    nodes = read_nodes(adjacency)
    return _conductance(nodes.adjacency, nodes.labels(labels), average)


def normalized_cut_score(adjacency: Any, labels: Any) -> float:
    """Return the normalised cut of a clustering.

    It is ``sum_C cut(C) / vol(C)`` over the clusters, from 0 to their number; lower is better.

    Parameters
    ----------
    adjacency : graph-like
        Anything that :func:`equigraph.graph.as_graph` takes; edge weights count.
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.

    Returns
    -------
    float
        The normalised cut; a cluster without edges counts as 0.

    References
    ----------
    J. Shi, J. Malik, "Normalized Cuts and Image Segmentation", IEEE TPAMI 22(8), 2000.

    Examples
    --------
    >>> path = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> round(normalized_cut_score(path, [0, 0, 1, 1]), 3)
    0.667
    """
    nodes = read_nodes(adjacency)
    return _normalized_cut(nodes.adjacency, nodes.labels(labels))


def link_shares(adjacency: Any, labels: Any) -> NDArray[np.float64]:
    """Return the share of each node's link weight that goes into each cluster.

    Parameters
    ----------
    adjacency : graph-like
        Anything that :func:`equigraph.graph.as_graph` takes; edge weights count.
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.

    Returns
    -------
    ndarray of shape (n_nodes, n_clusters)
        Rows sum to 1, and to 0 for a node without a link; columns are the non-empty clusters by label value.

    Raises
    ------
    ParameterError
        If the labels do not fit the graph.

    Examples
    --------
    A path of three nodes, the last one in a cluster of its own:

    >>> path = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    >>> link_shares(path, ["a", "a", "b"]).tolist()
    [[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]]
    """
    nodes = read_nodes(adjacency)
    encoded = nodes.labels(labels)
    weights = (nodes.adjacency @ indicator(encoded.codes, encoded.n_clusters)).toarray().astype(np.float64)
    return ratio(weights, weights.sum(axis=1, keepdims=True), 0.0)


@dataclass(frozen=True, eq=False)
class Links:
    """Weight and number of each node's links, and of its links within its cluster."""

    codes: NDArray[np.intp]  # cluster of each node
    weight: NDArray[np.float64]
    kept_weight: NDArray[np.float64]
    number: NDArray[np.int64]
    kept: NDArray[np.int64]

    @property
    def lost_all(self) -> NDArray[np.bool_]:
        """Nodes that have links, and none within the cluster."""
        return (self.kept == 0) & (self.number > 0)

    def modularity(self, resolution: float = 1.0) -> NDArray[np.float64]:
        """Return the contribution of each cluster to Q; exactly 0 for a single cluster at resolution 1."""
        inside, volumes = np.bincount(self.codes, self.kept_weight), np.bincount(self.codes, self.weight)
        # Scaling before squaring keeps sums of huge or tiny weights in range.
        total = float(volumes.sum()) or 1.0
        return inside / total - resolution * (volumes / total) ** 2

    def modularity_of_groups(self, groups: Groups, resolution: float = 1.0) -> NDArray[np.float64]:
        """Return the contribution of the nodes of each group to Q."""
        total = float(self.weight.sum()) or 1.0
        volumes = np.bincount(self.codes, self.weight / total)
        parts = self.kept_weight / total - resolution * (self.weight / total) * volumes[self.codes]
        return sums(parts, groups.codes, groups.n_groups)

    @property
    def share_kept(self) -> float:
        """Share of the weight within clusters; NaN without links."""
        return float(ratio(self.kept_weight.sum(), self.weight.sum()))

    @property
    def scores(self) -> dict[str, float]:
        """Q, the share of link weight kept, and the number of nodes that have lost all links."""
        lost = int(self.lost_all.sum())
        return {"Q": float(self.modularity().sum()), "links_kept": self.share_kept, "without_link": lost}

    def columns(self, codes: NDArray[np.integer], n: int) -> dict[str, list[Any]]:
        """Return the share of link weight kept and the number of nodes without kept links, by cluster or group."""
        kept, weight = sums(self.kept_weight, codes, n), sums(self.weight, codes, n)
        lost = sums(self.lost_all, codes, n).astype(int)
        return {"links_kept": ratio(kept, weight).tolist(), "without_link": lost.tolist()}


def links_of(adjacency: sparse.csr_array, codes: NDArray[np.intp]) -> Links:
    """Count the links of each node, and those to its own cluster."""
    weight, number = np.zeros(codes.size), np.zeros(codes.size, dtype=np.int64)
    indptr = adjacency.indptr
    for start, stop in row_blocks(indptr, _BLOCK_ENTRIES):
        entries = slice(indptr[start], indptr[stop])
        rows = np.repeat(np.arange(start, stop), np.diff(indptr[start : stop + 1]))
        same = codes[rows] == codes[adjacency.indices[entries]]
        weight += np.bincount(rows[same], weights=adjacency.data[entries][same], minlength=codes.size)
        number += np.bincount(rows[same], minlength=codes.size)
    # Degrees are summed in double precision.
    return Links(codes, adjacency @ np.ones(codes.size), weight, np.diff(indptr).astype(np.int64), number)


def sums(values: NDArray[Any], codes: NDArray[np.integer], n: int) -> NDArray[np.float64]:
    """Return the sums of values by cluster or group; a node of the code -1 is in none."""
    found: NDArray[Any] = np.bincount(codes + 1, weights=values, minlength=n + 1)
    return found[1:]


def ratio(part: Any, whole: Any, without: float = np.nan) -> NDArray[np.float64]:
    """Return part over whole; NaN or another value where the whole is 0."""
    return np.divide(part, whole, out=np.full(np.shape(part), without), where=np.not_equal(whole, 0))


def modularity_of(adjacency: sparse.csr_array, codes: NDArray[np.intp], resolution: float = 1.0) -> float:
    """Return the modularity of labels from 0 on, on a validated graph."""
    return float(links_of(adjacency, codes).modularity(resolution).sum())


def _cuts_and_volumes(
    adjacency: sparse.csr_array, labels: Labels
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight that leaves each cluster, and the sum of its degrees."""
    links = links_of(adjacency, labels.codes)
    volumes = sums(links.weight, labels.codes, labels.n_clusters)
    return np.maximum(volumes - sums(links.kept_weight, labels.codes, labels.n_clusters), 0), volumes


def _conductance(adjacency: sparse.csr_array, labels: Labels, average: str = "mean") -> float:
    cuts, volumes = _cuts_and_volumes(adjacency, labels)
    each = ratio(cuts, np.minimum(volumes, volumes.sum() - volumes), 0.0)
    return float(each.max() if average == "max" else each.mean())


def _normalized_cut(adjacency: sparse.csr_array, labels: Labels) -> float:
    return float(ratio(*_cuts_and_volumes(adjacency, labels), 0.0).sum())


def share_inside(adjacency: sparse.csr_array, labels: NDArray) -> float:
    """Return the share of the links, by weight, whose two ends are in the same cluster; NaN without links."""
    return links_of(adjacency, labels).share_kept


def row_blocks(indptr: NDArray[np.integer], max_entries: int) -> Iterator[tuple[int, int]]:
    """Cut the rows into ranges of at most max_entries stored entries, at least one row each."""
    start, n_rows = 0, indptr.size - 1
    while start < n_rows:
        limit = int(indptr[start]) + max_entries
        stop = min(max(int(np.searchsorted(indptr, limit, side="right")) - 1, start + 1), n_rows)
        yield start, stop
        start = stop
