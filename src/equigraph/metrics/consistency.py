"""Consistency: whether nodes get the output of their neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from equigraph.metrics._membership import as_outputs
from equigraph.metrics._table import read_nodes
from equigraph.metrics.quality import _degrees, kept_links


def consistency_score(membership: ArrayLike, *, adjacency: Any, weighted: bool = False) -> float:
    """Return how far the output of each node agrees with the mean output of its neighbours.

    ``1 - (1/2n) sum_i || c_i - mean_{j in N(i)} c_j ||_1`` with c_i the membership row of node i scaled to
    sum to 1 and N(i) its neighbours in the graph. It lies in [0, 1]: 1 means that every node is treated as
    its neighbours are on average, 0 that every node shares nothing with its neighbours. For labels it is the
    mean share of neighbours in the node's own cluster. A node without neighbours counts as consistent.

    Equation 2 of the paper puts the 1/k outside the inner sum, where a constant output scores 1/k; this is
    the form of Zemel et al., with half the L1 norm in place of the absolute value.

    Parameters
    ----------
    membership : array-like of shape (n_nodes, n_clusters) or (n_nodes,)
        Nonnegative memberships, or labels of any type.
    adjacency : graph-like
        Anything that :func:`equigraph.graph.as_graph` takes.
    weighted : bool, default False
        Whether neighbours count by edge weight; by default all count alike.

    Returns
    -------
    float
        The consistency.

    Raises
    ------
    ParameterError
        If the membership does not fit the graph, or a row is negative or all zero.

    References
    ----------
    R. Zemel et al., "Learning Fair Representations", ICML 2013.

    Examples
    --------
    A path of three nodes, the last in another cluster:

    >>> A = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> consistency_score([0, 0, 1], adjacency=A)
    0.5
    """
    nodes = read_nodes(adjacency)
    matrix, outputs = nodes.adjacency, as_outputs(membership, nodes=nodes)
    if not weighted:
        # Shares the index arrays: only the data differ.
        arrays = (np.ones(matrix.nnz), matrix.indices, matrix.indptr)
        matrix = sparse.csr_array(arrays, shape=matrix.shape, copy=False)
    degrees = _degrees(matrix)
    isolated = degrees == 0
    if outputs.codes is not None:
        agreement = kept_links(matrix, outputs.codes)[0] / np.where(isolated, 1.0, degrees)
        gaps = 1.0 - agreement
    else:
        assert outputs.rows is not None
        means = (matrix @ outputs.rows) / np.where(isolated, 1.0, degrees)[:, None]
        gaps = np.abs(outputs.rows - means).sum(axis=1) / 2
    gaps[isolated] = 0.0
    return float(np.clip(1.0 - gaps.mean(), 0.0, 1.0))
