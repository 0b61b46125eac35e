"""Individual fairness by similarity: consistency with neighbours, and the Lipschitz condition.

The output of a node is its label, or its row of memberships.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.parameters import Integer, check_parameters
from equigraph.exceptions import ParameterError
from equigraph.graph.adapters import labels_of_communities
from equigraph.graph.labels import keys_of_index, labels_in_order
from equigraph.graph.names import check_unique
from equigraph.graph.sparse_arrays import check_sparse
from equigraph.graph.tables import row_labels
from equigraph.metrics._table import Nodes, encode_labels, read_nodes
from equigraph.metrics.quality import links_of, row_blocks

_TOLERANCE = 1e-12  # output distances below this are rounding, not a difference
_BLOCK_ENTRIES = 1 << 21


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
    matrix, outputs = nodes.adjacency, as_outputs(membership, nodes)
    if not weighted:
        # Shares the index arrays: only the data differ.
        arrays = (np.ones(matrix.nnz), matrix.indices, matrix.indptr)
        matrix = sparse.csr_array(arrays, shape=matrix.shape, copy=False)
    degrees = matrix @ np.ones(nodes.graph.n_nodes)
    weights = np.where(degrees == 0, 1.0, degrees)
    if outputs.ndim == 1:
        gaps = 1.0 - links_of(matrix, outputs).kept_weight / weights
    else:
        gaps = np.abs(outputs - (matrix @ outputs) / weights[:, None]).sum(axis=1) / 2
    gaps[degrees == 0] = 0.0
    return float(np.clip(1.0 - gaps.mean(), 0.0, 1.0))


@dataclass(frozen=True)
class LipschitzReport:
    """Result of checking the Lipschitz condition ``D(f(i), f(j)) <= L d(i, j)``.

    Attributes
    ----------
    constant : float
        Smallest L that all pairs meet; inf if two nodes at distance 0 get different outputs.
    violations : float
        Share of the pairs that violate the condition with L = bound.
    worst : tuple of (int, int, float)
        The pairs with the largest ratio D / d, worst first: both nodes and the ratio.
    bound : float
        The bound L for which violations are counted.
    n_pairs : int
        Number of pairs that were checked.
    """

    constant: float
    violations: float
    worst: tuple[tuple[int, int, float], ...]
    bound: float
    n_pairs: int


def lipschitz_score(
    membership: ArrayLike,
    *,
    adjacency: Any = None,
    pairs: ArrayLike | None = None,
    distances: ArrayLike | None = None,
    bound: float = 1.0,
    n_worst: int = 10,
) -> LipschitzReport:
    """Check whether similar nodes get similar outputs (Lipschitz condition).

    The condition is ``D(f(i), f(j)) <= L d(i, j)`` (equation 1 of the paper). D is the total variation
    ``1/2 ||c_i - c_j||_1`` of the membership rows scaled to sum to 1, in [0, 1] (for labels: 0 or 1). By
    default d is ``1 - |N[i] ∩ N[j]| / |N[i] ∪ N[j]|``, one minus the Jaccard similarity of the *closed*
    neighbourhoods (a node and its neighbours, weights not counted), in [0, 1]: two nodes joined by an edge
    that have all other neighbours in common are at distance 0, which open neighbourhoods cannot express.
    The constant lies in [0, inf]: 0 means that the outputs are equal on every pair, at most 1 that outputs
    never differ more than neighbourhoods do, inf that nodes at distance 0 get different outputs.

    Parameters
    ----------
    membership : array-like of shape (n_nodes, n_clusters) or (n_nodes,)
        Nonnegative memberships, or labels of any type.
    adjacency : graph-like, optional
        Anything that :func:`equigraph.graph.as_graph` takes. Needed unless pairs and distances are given.
    pairs : array-like of int, shape (n_pairs, 2), optional
        Pairs of nodes to check; by default the edges of the graph.
    distances : array-like of shape (n_pairs,), optional
        Input distance d >= 0 of each pair, in place of the Jaccard distance.
    bound : float, default 1.0
        The L for which violations are counted.
    n_worst : int, default 10
        Number of worst pairs to list.

    Returns
    -------
    LipschitzReport
        The smallest constant, the share of violations and the worst pairs; 0, 0 and () without pairs.

    Raises
    ------
    ParameterError
        If the arguments do not fit each other.

    Notes
    -----
    Jaccard similarities cost the sum over the pairs of the smaller degree, in blocks of bounded memory.
    Output distances below 1e-12 count as 0.

    References
    ----------
    C. Dwork et al., "Fairness Through Awareness", ITCS 2012.

    Examples
    --------
    Two triangles joined by an edge. Cut at the bridge, whose ends share a third of their neighbourhoods,
    and cut through a triangle:

    >>> edges = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (3, 5), (4, 5)]
    >>> A = np.zeros((6, 6))
    >>> A[tuple(np.transpose(edges))] = 1
    >>> report = lipschitz_score([0, 0, 0, 1, 1, 1], adjacency=A + A.T)
    >>> round(report.constant, 3), round(report.violations, 3), report.worst[0][:2]
    (1.5, 0.143, (2, 3))
    >>> lipschitz_score([0, 1, 1, 1, 1, 1], adjacency=A + A.T).constant
    inf
    """
    if not (isinstance(bound, (int, float, np.number)) and bound >= 0):
        raise ParameterError(f"bound must be a number >= 0, not {bound!r}.")
    check_parameters("lipschitz_score", {"n_worst": Integer(low=0)}, {"n_worst": n_worst})
    if distances is not None and pairs is None:
        raise ParameterError("distances needs pairs: give the pair that each distance belongs to.")
    if adjacency is None and (pairs is None or distances is None):
        raise ParameterError("Give the adjacency, or both pairs and distances.")
    nodes = None if adjacency is None else read_nodes(adjacency)
    outputs = as_outputs(membership, nodes)
    if pairs is not None:
        first, second = _check_pairs(pairs, len(outputs))
    else:
        assert nodes is not None
        first, second = sparse.triu(nodes.adjacency, k=1).coords
    if distances is None:
        assert nodes is not None
        inputs = 1.0 - _jaccard(nodes.adjacency, first, second)
    else:
        inputs = np.asarray(distances, dtype=np.float64)
        if inputs.shape != first.shape:
            raise ParameterError(
                f"distances has shape {inputs.shape}; expected one per pair, ({first.size},)."
            )
        if not (inputs >= 0).all():
            raise ParameterError("distances has negative or missing values: expected numbers >= 0.")
    if first.size == 0:
        return LipschitzReport(0.0, 0.0, (), float(bound), 0)
    apart = total_variation(outputs, first, second)
    apart[apart <= _TOLERANCE] = 0.0
    ratios = np.where(apart > 0, np.inf, 0.0)
    # A distance too small for the quotient to be finite is a distance of 0.
    with np.errstate(over="ignore"):
        np.divide(apart, inputs, out=ratios, where=inputs > 0)
    # Not inputs * bound: an infinite distance times a bound of 0 has no value.
    violated = ratios > float(bound) * (1 + _TOLERANCE)
    worst = np.argsort(-ratios, kind="stable")[: int(n_worst)]
    listed = zip(first[worst].tolist(), second[worst].tolist(), ratios[worst].tolist(), strict=True)
    return LipschitzReport(
        float(ratios.max()), float(violated.mean()), tuple(listed), float(bound), int(first.size)
    )


def total_variation(
    outputs: NDArray[Any], first: NDArray[np.integer], second: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Half the L1 distance between the outputs of ``first[p]`` and ``second[p]``, for each pair p."""
    if outputs.ndim == 1:
        return (outputs[first] != outputs[second]).astype(np.float64)
    distances = np.empty(first.size)
    step = max(1, _BLOCK_ENTRIES // outputs.shape[1])
    for start in range(0, first.size, step):
        block = slice(start, start + step)
        distances[block] = np.abs(outputs[first[block]] - outputs[second[block]]).sum(axis=1) / 2
    return distances


def _jaccard(
    adjacency: sparse.csr_array, first: NDArray[np.integer], second: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Jaccard similarity of the closed neighbourhoods of pairs, without a product of A with itself."""
    n, sizes = adjacency.shape[0], np.diff(adjacency.indptr).astype(np.int64) + 1
    links = sparse.csr_array(
        (np.ones(adjacency.nnz), adjacency.indices, adjacency.indptr), shape=adjacency.shape
    )
    closed = (links + sparse.eye_array(n, format="csr")).tocsr()
    swap = sizes[first] > sizes[second]
    small, large = np.where(swap, second, first), np.where(swap, first, second)
    common = np.empty(first.size)
    for start, stop in row_blocks(np.append(0, np.cumsum(sizes[small])), _BLOCK_ENTRIES):
        pair, neighbour = closed[small[start:stop]].tocoo().coords
        shared = closed[large[start:stop][pair], neighbour]
        common[start:stop] = np.bincount(pair, weights=np.asarray(shared).ravel(), minlength=stop - start)
    return common / (sizes[first] + sizes[second] - common)


def _check_pairs(pairs: ArrayLike, n_nodes: int) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    array = np.asarray(pairs)
    if array.size == 0:
        array = np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ParameterError(
            f"pairs has shape {array.shape} and type {array.dtype}; expected integers, (n_pairs, 2)."
        )
    if array.size and (array.min() < 0 or array.max() >= n_nodes):
        raise ParameterError(f"pairs names nodes outside 0..{n_nodes - 1}: give positions of nodes.")
    array = array.astype(np.int64)
    return array[:, 0], array[:, 1]


def as_outputs(membership: ArrayLike, nodes: Nodes | None = None) -> NDArray[Any]:
    """Return codes of labels (n_nodes,) of any type, or the rows of a nonnegative membership, scaled to sum to 1.

    Both are matched with the nodes by name if they have names.
    """
    membership = labels_of_communities(membership)
    rows = _dense(membership) if sparse.issparse(membership) else membership
    matrix = _as_matrix(rows)
    if matrix is None:
        return (nodes.labels(rows, "membership") if nodes else encode_labels(rows, name="membership")).codes
    if nodes is not None:
        matrix = _rows_in_order(matrix, membership, nodes)
    bad = np.flatnonzero(~((matrix >= 0) & np.isfinite(matrix)).all(axis=1))
    if bad.size:
        raise ParameterError(
            f"membership has negative or non-finite entries (first in row {bad[0]}): expected values >= 0."
        )
    largest = matrix.max(axis=1, keepdims=True)
    if (largest == 0).any():
        raise ParameterError(
            f"Row {int(np.argmin(largest))} of membership is all zero and cannot be scaled to sum to 1: "
            "give every node a membership, or pass labels."
        )
    matrix = matrix / largest  # first, so that the sum of a row cannot overflow
    return matrix / matrix.sum(axis=1, keepdims=True)


def _rows_in_order(matrix: NDArray[np.float64], membership: Any, nodes: Nodes) -> NDArray[np.float64]:
    """Return the rows in the order of the nodes, matched by the names that a table has in its index."""
    n_nodes = nodes.graph.n_nodes
    if matrix.shape[0] != n_nodes:
        raise ParameterError(
            f"membership has {matrix.shape[0]} rows and the graph has {n_nodes} nodes: give one row per node."
        )
    what = "rows of the membership"
    names = keys_of_index(*row_labels(membership), nodes.graph)
    if names is None:
        return matrix
    check_unique(names, f"the {what}")
    rows = dict(zip(names.tolist(), range(n_nodes), strict=True))
    return matrix[labels_in_order(rows, nodes.graph, what).astype(np.intp)]


def _dense(membership: Any) -> NDArray[Any]:
    """Return a sparse membership as labels if every row has one positive entry, and else as a dense matrix.

    Labels may have as many clusters as nodes, and must not become dense.
    """
    check_sparse(membership, "The membership")
    matrix = sparse.csr_array(membership)
    single = matrix.nnz > 0 and (np.diff(matrix.indptr) == 1).all()
    if single and (matrix.data > 0).all() and np.isfinite(matrix.data).all():
        return matrix.indices
    return matrix.toarray()


def _as_matrix(membership: Any) -> NDArray[np.float64] | None:
    """Return a two-dimensional float array, or None for other objects."""
    if isinstance(membership, Mapping):
        return None
    if isinstance(membership, (list, tuple)) and not (membership and np.ndim(membership[0]) == 1):
        return None  # a list of labels: numpy must not cast mixed types to strings
    array = np.asarray(membership.to_numpy() if hasattr(membership, "to_numpy") else membership)
    if array.ndim != 2 or 0 in array.shape:
        return None
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise ParameterError("membership of shape (n_nodes, n_clusters) must hold numbers.") from None
