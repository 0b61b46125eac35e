"""Check an adjacency matrix, and return it in canonical form with weights in units of the largest.

A graph is the same in grams and in tonnes. Methods and scores therefore see every weight as a share of the largest;
reported weights are in the user's unit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from equigraph._utils.parameters import check_known
from equigraph.exceptions import DistanceWarning, GraphError, ParameterError, SelfLoopWarning, warn
from equigraph.graph.sparse_arrays import check_shape, to_csr

SYMMETRIZE = ("max", "min", "mean", "sum")
# Smaller shares are raised to this one: an edge stays an edge, and its squared weight does not underflow.
LEAST_SHARE = 2.0**-400
# Rounds a double to 40 bits of its mantissa.
_SPLIT = 2.0**13 + 1
# Weights that are scaled at a time.
_CHUNK = 1 << 20


def check_adjacency(
    matrix: Any, *, symmetrize: str | None = None, dtype: DTypeLike | None = None
) -> sparse.csr_array:
    """Check an adjacency matrix and return it as canonical CSR.

    Canonical means symmetric, nonnegative, a zero diagonal, sorted indices, no duplicates and no stored
    zeros; indices are int32 while they fit. The arrays of the caller are never changed; a matrix that is
    canonical already is returned on the same arrays, without a copy.

    Parameters
    ----------
    matrix : scipy sparse matrix or array, ndarray or nested lists of shape (n_nodes, n_nodes)
        Edge weights; zero means no edge. Repeated entries of a sparse matrix add up, as they do in scipy.
    symmetrize : {"max", "min", "mean", "sum"}, optional
        How to combine the two weights of a pair, for a directed graph; ``"min"`` keeps the reciprocated
        edges of an unweighted graph, ``"max"`` keeps all. By default an asymmetric matrix is an error.
    dtype : float32 or float64, optional
        Type of the weights. By default float32 stays float32 and everything else becomes float64.

    Returns
    -------
    scipy.sparse.csr_array
        The adjacency. It may have no edge at all.

    Raises
    ------
    GraphError
        If the matrix is not square, has no nodes, holds negative, NaN, infinite, complex or non-numeric
        entries, or is asymmetric beyond rounding (1e-10 relative to the larger weight of the pair, 1e-5
        for float32).
    ParameterError
        If ``symmetrize`` or ``dtype`` is none of the above.

    Warns
    -----
    SelfLoopWarning
        If the diagonal is not zero; those entries are dropped, without a warning if all are equal.
    DistanceWarning
        If the weights look like distances; nothing is changed.

    Examples
    --------
    >>> check_adjacency([[0, 1, 0], [1, 0, 2], [0, 2, 0]]).toarray().tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]]
    >>> check_adjacency([[0, 1], [0, 0]], symmetrize="max").nnz
    2
    """
    check_known("symmetrize", symmetrize, (None, *SYMMETRIZE))
    return canonical_adjacency(matrix, symmetrize=symmetrize, dtype=dtype)


def canonical_adjacency(
    matrix: Any,
    *,
    symmetrize: str | None = None,
    dtype: DTypeLike | None = None,
    names: NDArray[Any] | None = None,
) -> sparse.csr_array:
    """Implement `check_adjacency`, with node names in the messages if given."""
    adjacency = to_csr(matrix, check_dtype(dtype))
    _check_values(adjacency, names)
    if adjacency.shape[0] != adjacency.shape[1] or not adjacency.shape[0]:
        check_shape(adjacency.shape)  # after the values: scikit-learn's checks expect that order
    adjacency = without_loops_and_zeros(adjacency)
    varied = adjacency.nnz and adjacency.data.max() / 2 > adjacency.data.min()
    if varied and (_nearest_first(matrix) or looks_like_distances(adjacency)):
        warn(
            "The weights look like distances, and a large weight is a strong link here: give similarities, such as "
            "those of knn_graph(X).",
            DistanceWarning,
        )
    if symmetrize is not None:
        adjacency = _symmetrized(adjacency, symmetrize)
        _check_values(adjacency, names)  # two finite weights may add up to infinity
    elif not is_symmetric(adjacency, tolerance := 1e-5 if adjacency.dtype == np.float32 else 1e-10):
        raise _asymmetric(adjacency, tolerance, names)
    return adjacency


def check_dtype(dtype: DTypeLike | None) -> np.dtype | None:
    """Return the dtype of the weights, or None for the default."""
    if dtype is None:
        return None
    try:
        resolved = np.dtype(dtype)
    except TypeError as error:
        raise ParameterError(f"dtype={dtype!r} is unknown: expected float32 or float64.") from error
    if resolved not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise ParameterError(f"dtype={resolved} is not supported: expected float32 or float64.")
    return resolved


def _check_values(adjacency: sparse.csr_array, names: NDArray[Any] | None) -> None:
    data = adjacency.data
    if data.size == 0:
        return
    low, high = data.min(), data.max()  # NaN propagates through both; no boolean array is made
    if not (np.isfinite(low) and np.isfinite(high)):
        entry = int(np.flatnonzero(~np.isfinite(data))[0])
        found = [word for word, test in (("NaN", np.isnan), ("infinity", np.isinf)) if test(data).any()]
        raise GraphError(
            f"The adjacency matrix contains {' and '.join(found)}, first {_position(adjacency, entry, names)}: "
            "expected finite nonnegative weights."
        )
    if low < 0:
        entry = int(np.flatnonzero(data < 0)[0])
        raise GraphError(
            f"Negative values in data: the adjacency matrix has negative weights, first {data[entry]:g} "
            f"{_position(adjacency, entry, names)}; expected nonnegative weights."
        )


def _position(adjacency: sparse.csr_array, entry: int, names: NDArray[Any] | None) -> str:
    row = int(np.searchsorted(adjacency.indptr, entry, side="right")) - 1
    return f"at {pair_text(row, int(adjacency.indices[entry]), names)}"


def pair_text(i: int, j: int, names: NDArray[Any] | None) -> str:
    """Return a pair of nodes as text for messages."""
    if names is None:
        return f"({i}, {j})"
    return f"({names[[i]].tolist()[0]!r}, {names[[j]].tolist()[0]!r})"


def warn_self_loops(count: int) -> None:
    """Warn that self-loops were dropped, and how many."""
    if count:
        warn(
            f"{count} self-loop{'s were' if count > 1 else ' was'} dropped: clustering needs none.",
            SelfLoopWarning,
        )


def without_loops_and_zeros(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Drop the diagonal, with a warning, and stored zeros of a matrix without repeated entries."""
    diagonal = adjacency.diagonal()
    loops = int(np.count_nonzero(diagonal))
    # Equal loops at all nodes, as in graphs of nearest neighbours, do not distinguish nodes.
    if diagonal.size < 2 or (diagonal != diagonal[0]).any():
        warn_self_loops(loops)
    if loops == 0 and np.count_nonzero(adjacency.data) == adjacency.nnz:
        return adjacency
    n = adjacency.shape[0]
    rows = np.repeat(np.arange(n, dtype=adjacency.indices.dtype), np.diff(adjacency.indptr))
    keep = adjacency.indices != rows
    keep &= adjacency.data != 0
    indptr = np.zeros(n + 1, dtype=adjacency.indptr.dtype)
    np.cumsum(np.bincount(rows[keep], minlength=n), out=indptr[1:])
    return sparse.csr_array((adjacency.data[keep], adjacency.indices[keep], indptr), shape=adjacency.shape)


def _symmetrized(adjacency: sparse.csr_array, how: str) -> sparse.csr_array:
    transposed = adjacency.T.tocsr()
    if how == "max":
        result = adjacency.maximum(transposed)
    elif how == "min":
        result = adjacency.minimum(transposed)
    else:
        with np.errstate(over="ignore"):
            result = adjacency + transposed
        if how == "mean":
            half = adjacency.dtype.type(0.5)
            finite = bool(np.isfinite(result.data).all())
            # Halving first would round the smallest numbers to zero, so it is done only if the sum overflows.
            result = result * half if finite else adjacency * half + transposed * half
    del transposed
    # Binary operations of scipy may leave stored zeros and unused space, and choose their own index type.
    result = without_loops_and_zeros(to_csr(result, adjacency.dtype))
    if result.data.base is None or result.data.base.nbytes == result.data.nbytes:
        return result
    return sparse.csr_array((result.data.copy(), result.indices.copy(), result.indptr), shape=result.shape)


def _asymmetric(adjacency: sparse.csr_array, tolerance: float, names: NDArray[Any] | None) -> GraphError:
    """Return the error for the first pair whose two weights differ."""
    transposed = adjacency.T.tocsr()
    excess = (abs(adjacency - transposed) - tolerance * adjacency.maximum(transposed)).tocoo()
    first = int(np.flatnonzero(excess.data > 0)[0])
    row, column = int(excess.row[first]), int(excess.col[first])
    weights = adjacency[row, column], adjacency[column, row]
    one, other = (f"{weight:g}" for weight in weights)
    if one == other:
        one, other = map(str, weights)
    return GraphError(
        f"The adjacency matrix is not symmetric: entry {pair_text(row, column, names)} is {one} and entry "
        f"{pair_text(column, row, names)} is {other}; read a directed graph with "
        "symmetrize='max', 'min', 'mean' or 'sum'."
    )


def is_symmetric(adjacency: sparse.csr_array, tolerance: float) -> bool:
    """Return whether a canonical matrix equals its transpose, up to a tolerance relative to each pair."""
    transposed = adjacency.T.tocsr()
    for part in ("indptr", "indices"):
        if not np.array_equal(getattr(adjacency, part), getattr(transposed, part)):
            return False
    here, there = adjacency.data, transposed.data
    if np.array_equal(here, there):
        return True
    return bool((np.abs(here - there) <= tolerance * np.maximum(here, there)).all())


# Number of nodes sampled, of neighbours of each, and of triangles (with one side of more than twice another) that must
# satisfy the triangle inequality: similarities violate it in a quarter of them or more.
_NODES, _NEIGHBOURS, _ENOUGH = 256, 16, 200


def _nearest_first(matrix: Any) -> bool:
    """Return whether every row is sorted by value, not by column, as scikit-learn stores distances."""
    if not sparse.issparse(matrix) or matrix.format != "csr" or matrix.has_sorted_indices:
        return False
    lengths = np.diff(matrix.indptr)
    if lengths.min() != lengths.max() or matrix.nnz - lengths.size < _NEIGHBOURS:
        return False
    rows = matrix.data[: matrix.nnz].reshape(lengths.size, -1)
    return bool((rows[:, 1:] >= rows[:, :-1]).all())


def looks_like_distances(adjacency: sparse.csr_array) -> bool:
    """Return whether sampled triangles satisfy the triangle inequality, which similarities often violate.

    Directed triangles suffice, so it can be called before the two directions of a pair are combined.
    """
    n_telling = 0
    for node in np.unique(np.linspace(0, adjacency.shape[0] - 1, _NODES).astype(np.intp)):
        row = adjacency[[node]]
        some = np.unique(np.linspace(0, row.nnz - 1, min(row.nnz, _NEIGHBOURS)).astype(np.intp))
        to_node, neighbours = row.data[some], row.indices[some]
        between = adjacency[neighbours][:, neighbours].toarray()
        first, second = np.nonzero(between)
        sides = np.column_stack([to_node[first], to_node[second], between[first, second]])
        shortest, middle, longest = np.sort(
            sides / adjacency.data.max(), axis=1
        ).T  # so that no sum overflows
        if (longest > (shortest + middle) * (1 + 1e-6)).any():
            return False
        n_telling += int(np.count_nonzero(longest > 2 * shortest))
    return n_telling >= _ENOUGH


def unit_weights(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return the graph with weights in units of the largest, those in double precision rounded to 12 digits.

    In another unit the same weights differ in their last digit, which would break ties differently and change results.
    Rounded, they are bitwise equal, except for the rare ones between two rounded numbers. The same object is returned
    if its weights are in that unit already; otherwise one that shares all but the weights.
    """
    data = adjacency.data
    unit = largest_weight(data)
    if not data.size or data.min() == unit == 1:
        return adjacency
    shares = np.empty_like(data)
    for start in range(0, data.size, _CHUNK):
        shares[start : start + _CHUNK] = shares_of(data[start : start + _CHUNK], unit)
    if np.array_equal(shares, data):
        return adjacency
    return sparse.csr_array((shares, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def largest_weight(data: NDArray) -> float:
    """Return the largest weight, the unit of a graph; 1 without edges."""
    return float(data.max()) if data.size else 1.0


def in_users_unit(H: NDArray, W: NDArray, unit: float) -> tuple[NDArray, NDArray]:
    """Return factors of a graph whose weights were shares of a unit, so that H W H' is in the user's own.

    W is multiplied by the unit. If that overflows, W is first divided by its maximum, which H takes.
    """
    with np.errstate(over="ignore"):
        scaled = W * unit
    if np.isfinite(scaled).all():
        return H, scaled
    top = W.max()
    return H * H.dtype.type(np.sqrt(top)), W / top * unit


def shares_of(weights: NDArray, unit: float) -> NDArray:
    """Return weights in units of the largest weight of the graph."""
    dtype = weights.dtype.type
    with np.errstate(under="ignore"):
        shares = weights / dtype(unit)
    if weights.dtype != np.float64:
        return np.maximum(shares, np.finfo(weights.dtype).tiny)
    shares = np.maximum(shares, LEAST_SHARE)
    high = shares * _SPLIT
    return high - (high - shares)
