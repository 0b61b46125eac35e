"""Individual fairness by representation: how the representatives of a node are spread over the clusters.

The representatives of node i are ``N_R(i) = {j : R_ij != 0}`` for a sparse representation graph R, or all nodes of its
group. Group-induced R is never formed: the value of a node depends on its group and its cluster only, so there are
n_groups * n_clusters values to compute.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph.exceptions import ParameterError
from equigraph.graph.groups import Groups
from equigraph.graph.groups.encode import indicator
from equigraph.graph.sparse_arrays import check_sparse
from equigraph.metrics._table import (
    Labels,
    LabelTable,
    encode_labels,
    make_table,
    mean_over_attributes,
    read_nodes,
)

_BLOCK_CELLS = 1 << 21  # number of counts in memory at a time


def representation_violation(
    representation: Any,
    labels: Any,
    *,
    sensitive_features: ArrayLike | Groups | None = None,
    self_pairs: bool = False,
) -> NDArray[np.float64]:
    """Return how far the clustering is from individual fairness, for each node.

    ``v_i = max_l | |N_R(i) ∩ C_l| / |C_l| - |N_R(i)| / n |`` over the non-empty clusters. It lies in [0, 1]:
    0 means that the representatives of i are spread over the clusters in proportion to the cluster sizes,
    near 1 that they fill one cluster and are few in the population. A node without representatives has
    v = 0: there is nothing to spread.

    Parameters
    ----------
    representation : graph-like or None
        Sparse or dense matrix R of shape (n_nodes, n_nodes) or anything that
        :func:`equigraph.graph.as_graph` takes; an entry other than zero in row i, column j says that j
        represents i. Weights do not count. With the adjacency itself it is equation 3 of the paper.
        None when the groups are given instead.
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    sensitive_features : array-like of shape (n_nodes,) or Groups, optional
        In place of R: every node is represented by its group; a node without one has no representatives.
    self_pairs : bool, default False
        Whether a node represents itself; the diagonal of R is ignored. With True and groups, v = 0 for
        all nodes if and only if every cluster mirrors the population.

    Returns
    -------
    ndarray of shape (n_nodes,)
        The violation v of each node.

    Raises
    ------
    ParameterError, GraphError, GroupsError
        If not exactly one of R and groups is given, or they do not fit the labels.

    References
    ----------
    S. Gupta, A. Dukkipati, "Consistency of Constrained Spectral Clustering under Graph Induced Fair
    Planted Partitions", NeurIPS 2022.

    Examples
    --------
    >>> groups = ["x", "y", "x", "y"]
    >>> representation_violation(None, [0, 0, 1, 1], sensitive_features=groups, self_pairs=True).tolist()
    [0.0, 0.0, 0.0, 0.0]
    >>> representation_violation(None, [0, 1, 0, 1], sensitive_features=groups, self_pairs=True).tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    _check_one_given(representation, sensitive_features)
    if sensitive_features is not None:
        table = make_table(labels, sensitive_features)
        return _per_node(_group_violations(table, self_pairs), table, 0.0)
    encoded, blocks = _representatives(representation, labels, self_pairs)
    found = []
    for counts in blocks:
        shares = counts.sum(axis=1, keepdims=True) / encoded.n_nodes
        found.append(np.abs(counts / encoded.sizes - shares).max(axis=1))
    return np.concatenate(found)


def individual_balance_score(
    labels: Any,
    *,
    sensitive_features: ArrayLike | Groups | None = None,
    representation: Any = None,
    self_pairs: bool = False,
    normalize: bool = False,
    per_node: bool = False,
) -> Any:
    """Return the individual balance rho.

    ``rho_i = min_{l, l'} |C_l ∩ N_R(i)| / |C_l' ∩ N_R(i)|`` over the non-empty clusters, and rho is the mean over the
    nodes. It lies in [0, 1]: 1 means that every node has equally many representatives in each cluster, 0 that every
    node has none in some cluster. With groups and without ``self_pairs`` no node represents itself, so that 1 is out of
    reach: where each of several clusters holds c of a group, its members score (c - 1) / c. A single cluster scores 1,
    and so does a node without representatives, which no clustering treats unfairly.

    Parameters
    ----------
    labels : array-like of shape (n_nodes,)
        Cluster of each node, of any type.
    sensitive_features : array-like of shape (n_nodes,) or Groups, optional
        Every node is represented by its group. O(n + h k) for h groups and k clusters. Nodes without a group have no
        rho (NaN), and the mean is over the others.
    representation : graph-like, optional
        In place of the groups: sparse or dense R of shape (n_nodes, n_nodes) or anything that
        :func:`equigraph.graph.as_graph` takes; an entry other than zero in row i, column j says that j
        represents i. O(entries + n k).
    self_pairs : bool, default False
        Whether a node represents itself; the diagonal of R is ignored.
    normalize : bool, default False
        Whether counts are divided by the cluster sizes first; 1 then means representatives in proportion
        to the cluster sizes.
    per_node : bool, default False
        Whether to return rho of each node in place of the mean.

    Returns
    -------
    float or ndarray of shape (n_nodes,)
        rho, or rho_i of each node.

    Raises
    ------
    ParameterError, GraphError, GroupsError
        If not exactly one of R and groups is given, or they do not fit the labels.

    References
    ----------
    S. Gupta, A. Dukkipati, "Protecting Individual Interests across Clusters: Spectral Clustering with
    Guarantees", arXiv 2105.03714, 2021.

    Examples
    --------
    >>> groups = ["x", "y"] * 4
    >>> individual_balance_score([0, 0, 0, 0, 1, 1, 1, 1], sensitive_features=groups)
    0.5
    >>> individual_balance_score([0, 0, 0, 0, 1, 1, 1, 1], sensitive_features=groups, self_pairs=True)
    1.0
    """
    _check_one_given(representation, sensitive_features)
    if sensitive_features is not None:
        if not per_node:
            return mean_over_attributes(
                labels,
                sensitive_features,
                lambda table: individual_balance(
                    table.counts, table.labels.sizes[:, None] if normalize else 1, self_pairs
                ),
            )
        table = make_table(labels, sensitive_features)
        sizes = table.labels.sizes[:, None] if normalize else 1
        return _per_node(group_balances(table.counts, sizes, self_pairs), table, np.nan)
    encoded, blocks = _representatives(representation, labels, self_pairs)
    seen = (counts / encoded.sizes if normalize else counts for counts in blocks)
    bounds = np.concatenate([np.stack([one.min(axis=1), one.max(axis=1)], axis=1) for one in seen])
    rho = np.divide(bounds[:, 0], bounds[:, 1], out=np.ones(encoded.n_nodes), where=bounds[:, 1] > 0)
    return rho if per_node else float(rho.mean())


def individual_balance(
    counts: NDArray[np.int64], sizes: NDArray[np.integer] | int = 1, self_pairs: bool = False
) -> NDArray[np.float64]:
    """Return the mean rho of every table for group-induced R: all nodes of a (cluster, group) cell have one value."""
    cells = group_balances(counts, sizes, self_pairs)
    return (counts * cells).sum(axis=(-2, -1)) / counts.sum(axis=(-2, -1))


def _per_node(cells: NDArray[np.float64], table: LabelTable, without: float) -> NDArray[np.float64]:
    """Return for each node the value of its (cluster, group) cell; a node without a group has one of its own."""
    values = cells[table.labels.codes, table.groups.codes]
    return np.where(table.groups.codes < 0, without, values) if table.groups.n_ungrouped else values


def group_balances(
    counts: NDArray[np.int64], sizes: NDArray[np.integer] | int = 1, self_pairs: bool = False
) -> NDArray[np.float64]:
    """Individual balance of a node of each (cluster, group) cell; values of empty cells are meaningless.

    The last two axes of the counts are clusters and groups; there may be more before them.
    """
    seen = counts / sizes
    own = seen if self_pairs else np.maximum(counts - 1, 0) / sizes
    high = np.maximum(_max_of_others(seen), own)
    low = np.minimum(-_max_of_others(-seen), own)
    return np.divide(low, high, out=np.ones(counts.shape), where=high > 0)


def _group_violations(table: LabelTable, self_pairs: bool) -> NDArray[np.float64]:
    """Violation of a node in each (cluster, group) cell."""
    counts, sizes = table.counts, table.labels.sizes[:, None]
    totals = counts.sum(axis=0) - (not self_pairs)
    shares = totals / sizes.sum()
    others = _max_of_others(np.abs(counts / sizes - shares))
    return np.maximum(others, np.abs((counts - (not self_pairs)) / sizes - shares))


def _max_of_others(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Largest value of each column over all rows but the cell's own; -inf where there is no other row."""
    if values.shape[-2] == 1:
        return np.full(values.shape, -np.inf)
    ordered = np.partition(values, -2, axis=-2)
    first, second = ordered[..., -1:, :], ordered[..., -2:-1, :]
    return np.where(values == first, second, first)


def _representatives(
    representation: Any, labels: Any, self_pairs: bool
) -> tuple[Labels, Iterator[NDArray[np.float64]]]:
    """Return the labels, and blocks of rows of the numbers of each node's representatives in each cluster."""
    # A matrix is not read as a graph: R may be directed, and its self-loops are legitimate.
    if sparse.issparse(representation) or isinstance(representation, np.ndarray):
        encoded = encode_labels(labels)
        check_sparse(representation, "The representation")
        matrix = sparse.csr_array(representation)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
    else:
        nodes = read_nodes(representation)
        matrix, encoded = nodes.adjacency, nodes.labels(labels)
    n = encoded.n_nodes
    if matrix.shape != (n, n):
        raise ParameterError(
            f"representation has shape {matrix.shape} where {n} labels were given: expected ({n}, {n})."
        )
    if matrix.data.dtype.kind == "f" and not np.isfinite(matrix.data).all():
        raise ParameterError("representation has entries that are not finite: expected zero or not zero.")
    rows, columns = matrix.tocoo(copy=False).coords
    keep = (matrix.data != 0) & (rows != columns)
    pattern = sparse.csr_array((np.ones(keep.sum()), (rows[keep], columns[keep])), shape=matrix.shape)
    if self_pairs:
        pattern = pattern + sparse.eye_array(n, format="csr")
    counts = sparse.csr_array(pattern @ indicator(encoded.codes, encoded.n_clusters))
    step = max(1, _BLOCK_CELLS // encoded.n_clusters)
    return encoded, (counts[start : start + step].toarray() for start in range(0, n, step))


def _check_one_given(representation: Any, sensitive_features: Any) -> None:
    if (representation is None) == (sensitive_features is None):
        raise ParameterError("Give either the representation graph or sensitive_features, and not both.")
