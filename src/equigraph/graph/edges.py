"""From rows of an edge list to an adjacency: encode the names, merge repeated pairs, build the CSR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from equigraph.exceptions import GraphError, ParameterError
from equigraph.graph.delimited import comma_hint
from equigraph.graph.graph import Graph
from equigraph.graph.names import as_names, has_missing, object_array, sort_names, texts
from equigraph.graph.validate import canonical_adjacency, check_dtype, pair_text, warn_self_loops

DUPLICATES = ("error", "sum", "max", "min", "mean", "first")


@dataclass(frozen=True)
class EdgeRows:
    """Rows of an edge list, with nodes as positions in a list of names.

    Attributes
    ----------
    source, target : ndarray of shape (n_rows,)
        Positions of the two ends in `names`.
    weight : ndarray of shape (n_rows,) or None
        Weights, or None for an unweighted list.
    names : ndarray of shape (n_nodes,)
        Distinct node names.
    where : callable
        Says in words where a row stands, for the messages: ``where(3)`` may be "friends.csv, line 5".
    """

    source: NDArray[np.integer]
    target: NDArray[np.integer]
    weight: NDArray[Any] | None
    names: NDArray[Any]
    where: Callable[[int], str]


def check_duplicates(duplicates: str) -> None:
    """Raise ParameterError unless the value is one of the ways to merge repeated pairs."""
    if duplicates not in DUPLICATES:
        raise ParameterError(
            f"duplicates={duplicates!r} is unknown: expected 'error', 'sum', 'max', 'min', 'mean' or 'first'."
        )


def encode_rows(
    source: NDArray[Any], target: NDArray[Any], weight: NDArray[Any] | None, where: Callable[[int], str]
) -> EdgeRows:
    """Encode the ids of both ends of every row; ids of different types become text."""
    for ids, end in ((source, "source"), (target, "target")):
        missing = np.flatnonzero(has_missing(ids))
        if missing.size:
            raise GraphError(f"{where(int(missing[0]))}: the {end} is missing, expected the name of a node.")
    ends = [as_names(source), as_names(target)]
    if len({end.dtype.kind for end in ends}) > 1 or ends[0].dtype.kind == "O":
        ends = [object_array(texts(end)) for end in ends]
    ids = np.concatenate(ends)
    if ids.dtype.kind in "if":
        names, codes = encode_numbers(ids)
    else:
        # A dictionary looks at every text once; sorting all rows would compare each many times.
        place: dict[str, int] = {}
        listed = (place.setdefault(text, len(place)) for text in ids.tolist())
        codes = np.fromiter(listed, dtype=np.intp, count=ids.size)
        names = np.asarray(list(place), dtype=str)
    half = source.size
    return EdgeRows(codes[:half], codes[half:], weight, names, where)


def encode_numbers(ids: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted distinct ids and the place of each id among them.

    A table of all values in range is many times faster than np.unique, where the range is compact.
    """
    if ids.dtype.kind != "i" or not ids.size:
        return np.unique(ids, return_inverse=True)
    low, high = int(ids.min()), int(ids.max())
    if high - low > 4 * ids.size + 1000:
        return np.unique(ids, return_inverse=True)
    present = np.zeros(high - low + 1, dtype=bool)
    present[ids - low] = True
    names = np.flatnonzero(present) + low
    return names, (np.cumsum(present) - 1)[ids - low]


def _distinct(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sorted distinct keys; np.unique hashes them first, which is slow on millions of them."""
    keys = np.sort(keys)
    return keys[np.concatenate(([True], keys[1:] != keys[:-1]))] if keys.size else keys


def graph_from_rows(
    rows: EdgeRows,
    *,
    symmetrize: str | None = None,
    duplicates: str = "error",
    dtype: DTypeLike | None = None,
    directed: bool = False,
    sort: bool = True,
) -> Graph:
    """Build the graph of an edge list.

    Parameters
    ----------
    rows : EdgeRows
        The rows.
    symmetrize : str, optional
        If given, rows are directed edges, and this says how to combine the two directions of a pair.
    duplicates : str
        What to do with rows of one pair whose weights conflict.
    dtype : dtype, optional
        Type of the weights.
    directed : bool
        Whether rows are directed even without `symmetrize`; the adjacency must then be symmetric.
    sort : bool
        Whether to sort the nodes by name. The order is then not the user's, and the graph not positional.

    Returns
    -------
    Graph
        The graph, without groups.
    """
    check_duplicates(duplicates)
    n = rows.names.size
    if n == 0:
        raise GraphError("The graph has no nodes: expected at least one edge or node.")
    source, target, names = rows.source, rows.target, rows.names
    if sort:
        names, place = sort_names(names)
        source, target = place[source], place[target]
    weight = _checked_weights(rows.weight, rows.where, check_dtype(dtype))
    directed = directed or symmetrize is not None
    first = source.astype(np.int64) if directed else np.minimum(source, target).astype(np.int64)
    second = target.astype(np.int64) if directed else np.maximum(source, target).astype(np.int64)
    keys = first * n + second
    pairs, merged = _merge(keys, weight, duplicates, names, rows.where)
    first, second = np.divmod(pairs, n)
    loops = first == second
    keep = ~loops if merged is None else ~loops & (merged != 0)
    n_loops = np.count_nonzero(loops if merged is None else loops & (merged != 0))
    first, second = first[keep], second[keep]
    data = np.ones(first.size, dtype=check_dtype(dtype) or np.float64) if merged is None else merged[keep]
    warn_self_loops(int(n_loops))
    adjacency = _csr(first, second, data, n, both=not directed)
    if directed:
        adjacency = canonical_adjacency(adjacency, symmetrize=symmetrize, names=names)
    return Graph._trusted(adjacency, names, positional=not sort)


def _checked_weights(
    weight: NDArray[Any] | None, where: Callable[[int], str], dtype: np.dtype | None
) -> NDArray[Any] | None:
    """Return the weights as floats, after a look at each."""
    if weight is None:
        return None
    if weight.dtype.kind not in "buif":
        weight = _numbers(weight, where)
    if dtype is None:
        dtype = np.dtype(np.float32) if weight.dtype == np.float32 else np.dtype(np.float64)
    with np.errstate(over="ignore"):  # what float32 cannot hold is infinity, and told as such
        weight = weight.astype(dtype, copy=False)
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if wrong.size:
        row = int(wrong[0])
        raise GraphError(
            f"{where(row)}: the weight is {_weight_text(weight[row])}, expected a finite nonnegative number."
        )
    return weight


def _weight_text(value: Any) -> str:
    if np.isnan(value):
        return "NaN"
    return "infinity" if np.isinf(value) else f"{value:g}"


def _numbers(weight: NDArray[Any], where: Callable[[int], str]) -> NDArray[np.float64]:
    result = np.empty(weight.size)
    for row, value in enumerate(weight.tolist()):
        try:
            result[row] = np.nan if value is None else float(value)
        except (TypeError, ValueError):
            raise GraphError(
                f"{where(row)}: the weight is {value!r}, expected a nonnegative number{comma_hint(str(value))} "
                "(weight=False ignores the weights)."
            ) from None
    return result


def _merge(
    keys: NDArray[np.int64],
    weight: NDArray[Any] | None,
    duplicates: str,
    names: NDArray[Any],
    where: Callable[[int], str],
) -> tuple[NDArray[np.int64], NDArray[Any] | None]:
    """Merge the rows of each pair, and return the distinct pairs and their weights."""
    if weight is None or keys.size == 0:
        return _distinct(keys), weight
    if duplicates in ("sum", "mean"):
        order = np.lexsort((weight, keys))  # sums then do not depend on the order of the rows
    else:
        order = np.argsort(keys, kind="stable")
    keys, ordered = keys[order], weight[order]
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    pairs = keys[starts]
    if starts.size == keys.size or duplicates == "first":
        return pairs, ordered[starts]
    if duplicates in ("sum", "mean"):
        total = np.add.reduceat(ordered, starts)
        if duplicates == "sum":
            return pairs, total
        counts = np.diff(np.append(starts, keys.size))
        return pairs, (total / counts).astype(weight.dtype, copy=False)
    low = np.minimum.reduceat(ordered, starts)
    if duplicates == "min":
        return pairs, low
    high = np.maximum.reduceat(ordered, starts)
    if duplicates == "error" and (low != high).any():
        pair = int(np.flatnonzero(low != high)[0])
        stop = starts[pair + 1] if pair + 1 < starts.size else keys.size
        of_pair = order[starts[pair] : stop]
        other = of_pair[weight[of_pair] != weight[of_pair[0]]][0]
        i, j = divmod(int(pairs[pair]), names.size)
        raise GraphError(
            f"{where(int(other))}: the pair {pair_text(i, j, names)} has the weight {weight[other]:g} here "
            f"and {weight[of_pair[0]]:g} in {where(int(of_pair[0]))}; say how to combine them with "
            "duplicates='sum', 'max', 'min', 'mean' or 'first'."
        )
    return pairs, high


def _csr(
    first: NDArray[np.int64], second: NDArray[np.int64], data: NDArray[Any], n: int, *, both: bool
) -> sparse.csr_array:
    """Build a canonical CSR from distinct pairs, in both directions if asked."""
    fits = max(n, 2 * first.size) <= np.iinfo(np.int32).max
    index = np.int32 if fits else np.int64
    rows, columns = first.astype(index, copy=False), second.astype(index, copy=False)
    if both:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        data = np.concatenate([data, data])
    adjacency = sparse.coo_array((data, (rows, columns)), shape=(n, n)).tocsr()
    adjacency.sort_indices()
    return canonical_index(adjacency)


def canonical_index(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix with int32 indices where they fit; scipy's operations choose by other rules."""
    fits = max(adjacency.nnz, adjacency.shape[0]) <= np.iinfo(np.int32).max
    index = np.int32 if fits else np.int64
    if adjacency.indices.dtype == index and adjacency.indptr.dtype == index:
        return adjacency
    arrays = (adjacency.data, adjacency.indices.astype(index), adjacency.indptr.astype(index))
    return sparse.csr_array(arrays, shape=adjacency.shape)
