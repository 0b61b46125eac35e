"""The Lipschitz condition: similar nodes must get similar outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.parameters import Integer, check_parameters
from equigraph.exceptions import ParameterError
from equigraph.metrics._membership import as_outputs
from equigraph.metrics._table import read_nodes

_TOLERANCE = 1e-12  # output distances below this are rounding, not a difference
_BLOCK_ENTRIES = 1 << 21


@dataclass(frozen=True)
class LipschitzReport:
    """How a clustering meets ``D(f(i), f(j)) <= L d(i, j)``.

    Attributes
    ----------
    constant : float
        Smallest L that all pairs meet; inf if two nodes at distance 0 get different outputs.
    violations : float
        Share of the pairs that violate the condition with L = bound.
    worst : tuple of (int, int, float)
        The pairs with the largest ratio D / d, worst first: both nodes and the ratio.
    bound : float
        The bound that was asked about.
    n_pairs : int
        Number of pairs that were looked at.
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
    """Report how far similar nodes get similar outputs.

    The condition is ``D(f(i), f(j)) <= L d(i, j)`` (equation 1 of the paper). D is the total variation
    ``1/2 ||c_i - c_j||_1`` of the membership rows scaled to sum to 1, in [0, 1] (for labels: 0 or 1). By
    default d is ``1 - |N[i] ∩ N[j]| / |N[i] ∪ N[j]|``, one minus the Jaccard similarity of the *closed*
    neighbourhoods (a node and its neighbours, weights not counted), in [0, 1]: two nodes joined by an edge
    that have all other neighbours in common are at distance 0, which open neighbourhoods cannot express.
    The constant lies in [0, inf]: 0 means that the outputs are equal on every pair, at most 1 that outputs
    never differ more than neighbourhoods do, inf that nodes at distance 0 are told apart.

    Parameters
    ----------
    membership : array-like of shape (n_nodes, n_clusters) or (n_nodes,)
        Nonnegative memberships, or labels of any type.
    adjacency : graph-like, optional
        Anything that :func:`equigraph.graph.as_graph` takes. Needed unless pairs and distances are given.
    pairs : array-like of int, shape (n_pairs, 2), optional
        Pairs of nodes to look at; by default the edges of the graph.
    distances : array-like of shape (n_pairs,), optional
        Input distance d >= 0 of each pair, in place of the Jaccard distance.
    bound : float, default 1.0
        The L for which violations are counted.
    n_worst : int, default 10
        How many of the worst pairs to list.

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
    _check_bound(bound)
    check_parameters("lipschitz_score", {"n_worst": Integer(low=0)}, {"n_worst": n_worst})
    if distances is not None and pairs is None:
        raise ParameterError("distances needs pairs: give the pair that each distance belongs to.")
    if adjacency is None and (pairs is None or distances is None):
        raise ParameterError("Give the adjacency, or both pairs and distances.")
    nodes = None if adjacency is None else read_nodes(adjacency)
    matrix, outputs = None if nodes is None else nodes.adjacency, as_outputs(membership, nodes=nodes)
    first, second = _edges(matrix) if pairs is None else _check_pairs(pairs, outputs.n_nodes)
    if distances is not None:
        inputs = _check_distances(distances, first.size)
    else:
        inputs = 1.0 - _jaccard(matrix, first, second)
    return _report(first, second, outputs.total_variation(first, second), inputs, float(bound), int(n_worst))


def _report(
    first: NDArray[np.integer],
    second: NDArray[np.integer],
    outputs: NDArray[np.float64],
    inputs: NDArray[np.float64],
    bound: float,
    n_worst: int,
) -> LipschitzReport:
    """Summarise output and input distances of pairs."""
    if first.size == 0:
        return LipschitzReport(0.0, 0.0, (), bound, 0)
    outputs = np.where(outputs <= _TOLERANCE, 0.0, outputs)
    ratios = np.where(outputs > 0, np.inf, 0.0)
    # A distance too small for the quotient to be finite is a distance of 0.
    with np.errstate(over="ignore"):
        np.divide(outputs, inputs, out=ratios, where=inputs > 0)
    # Not inputs * bound: an infinite distance times a bound of 0 has no value.
    violated = ratios > bound * (1 + _TOLERANCE)
    worst = np.argsort(-ratios, kind="stable")[:n_worst]
    listed = zip(first[worst].tolist(), second[worst].tolist(), ratios[worst].tolist(), strict=True)
    return LipschitzReport(float(ratios.max()), float(violated.mean()), tuple(listed), bound, int(first.size))


def _edges(adjacency: sparse.csr_array) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Both ends of every edge, the smaller index first."""
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    upper = rows < adjacency.indices
    return rows[upper], adjacency.indices[upper].astype(rows.dtype)


def _jaccard(
    adjacency: sparse.csr_array, first: NDArray[np.integer], second: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Jaccard similarity of the closed neighbourhoods of pairs, without a product of A with itself."""
    n = adjacency.shape[0]
    indptr = adjacency.indptr.astype(np.int64)
    degrees = np.diff(indptr)
    # In a canonical CSR the keys row * n + column are sorted: membership is a binary search.
    keys = np.repeat(np.arange(n, dtype=np.int64) * n, degrees) + adjacency.indices
    swap = degrees[first] > degrees[second]
    small, large = np.where(swap, second, first), np.where(swap, first, second)
    common = np.empty(first.size, dtype=np.int64)
    for start, stop in _pair_blocks(degrees[small]):
        lengths = degrees[small[start:stop]]
        owner = np.repeat(np.arange(stop - start), lengths)
        within = np.arange(owner.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        neighbours = adjacency.indices[indptr[small[start:stop]][owner] + within]
        found = _contains(keys, large[start:stop][owner].astype(np.int64) * n + neighbours)
        common[start:stop] = np.bincount(owner[found], minlength=stop - start)
    joined = _contains(keys, small.astype(np.int64) * n + large)
    same = first == second
    # Closed neighbourhoods of joined nodes also share both ends.
    common += np.where(same, 1, 2 * joined)
    return common / (degrees[first] + degrees[second] + 2 - common)


def _contains(keys: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the wanted values are among the sorted keys."""
    if keys.size == 0:
        return np.zeros(wanted.size, dtype=bool)
    position = np.searchsorted(keys, wanted)
    return keys[np.minimum(position, keys.size - 1)] == wanted


def _pair_blocks(costs: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Cut the pairs into ranges of bounded total cost, at least one pair each."""
    ends = np.cumsum(costs + 1)
    start = 0
    while start < costs.size:
        done = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, done + _BLOCK_ENTRIES, side="right")), start + 1)
        yield start, stop
        start = stop


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


def _check_distances(distances: ArrayLike, n_pairs: int) -> NDArray[np.float64]:
    array = np.asarray(distances, dtype=np.float64)
    if array.shape != (n_pairs,):
        raise ParameterError(f"distances has shape {array.shape}; expected one per pair, ({n_pairs},).")
    if not (array >= 0).all():
        raise ParameterError("distances has negative or missing values: expected numbers >= 0.")
    return array


def _check_bound(bound: float) -> None:
    if not (isinstance(bound, (int, float, np.number)) and bound >= 0):
        raise ParameterError(f"bound must be a number >= 0, not {bound!r}.")
