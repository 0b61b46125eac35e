"""Build an adjacency from rows of an edge list: encode the names, merge repeated pairs, build the CSR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.graph.delimited import comma_hint
from equigraph.graph.graph import Graph
from equigraph.graph.groups.encode import is_missing
from equigraph.graph.names import (
    as_names,
    first_nested,
    object_array,
    sort_names,
    text_array,
    texts,
)
from equigraph.graph.sparse_arrays import as_weights, canonical_index, index_type
from equigraph.graph.validate import canonical_adjacency, check_dtype, pair_text, without_loops_and_zeros

Array = NDArray[Any]
# Column or attribute of the weights, by name or number; None is the default, False ignores weights.
Weight = str | int | bool | None
# Columns of the two ends of an edge, each by name or number.
Ends = tuple[str | int, str | int]


def sorted_pairs(first: Array, second: Array, weight: Array | None, n: int) -> sparse.csr_array:
    """Return the rows as a CSR with sorted indices that still holds repeated pairs, in the order of the rows.

    It takes two stable counting sorts: by the second end, then by the first. They need neither 64-bit keys nor a
    permutation. Without weights the entries are ones, of one byte each.
    """
    index = index_type(first.size, n)
    ends = (second.astype(index, copy=False), first.astype(index, copy=False))
    data = np.ones(first.size, dtype=np.int8) if weight is None else weight
    rows = sparse.coo_array((data, ends), shape=(n, n))
    rows.has_canonical_format = True  # else scipy would sum repeated entries
    return rows.tocsr().tocsc().T


def merge_repeated(
    pairs: sparse.csr_array, duplicates: str, conflict: Callable[[int, int], GraphError]
) -> sparse.csr_array:
    """Return the pairs with one entry each; pairs without any repetition are returned as they are.

    Without weights ``"sum"`` counts the rows of a pair. `conflict` returns the error for the first pair whose weights
    differ, for ``duplicates="error"``.
    """
    is_start = _starts(pairs)
    if is_start.all():
        return pairs
    starts = np.flatnonzero(is_start)
    indptr = np.searchsorted(starts, pairs.indptr).astype(pairs.indptr.dtype)
    indices = pairs.indices[is_start]
    if pairs.dtype.kind != "f" and duplicates == "sum":
        data = np.diff(starts, append=pairs.nnz).astype(np.float64)
    elif pairs.dtype.kind != "f" or duplicates == "first":  # without weights all rows of a pair are alike
        data = pairs.data[is_start]
    elif duplicates in ("sum", "mean"):
        data = added(pairs.data, starts, mean=duplicates == "mean")
        if not np.isfinite(data).all():
            raise GraphError(
                f"The weights of an edge that is listed more than once add up to more than {data.dtype} holds: "
                f"expected smaller weights, or duplicates='max', 'min', 'mean' or 'first'."
            )
    elif duplicates == "min":
        data = np.minimum.reduceat(pairs.data, starts)
    else:
        data = np.maximum.reduceat(pairs.data, starts)
        if duplicates == "error":
            differ = np.minimum.reduceat(pairs.data, starts) != data
            if differ.any():
                at = int(np.argmax(differ))
                row = int(np.searchsorted(indptr, at, side="right")) - 1
                raise conflict(row, int(indices[at]))
    return sparse.csr_array((data, indices, indptr), shape=pairs.shape)


def _starts(pairs: sparse.csr_array) -> NDArray[np.bool_]:
    """Return which entries are the first of their pair."""
    indices = pairs.indices
    result = np.ones(indices.size, dtype=bool)
    np.not_equal(indices[1:], indices[:-1], out=result[1:])
    rows = pairs.indptr[:-1]
    result[rows[rows < indices.size]] = True
    return result


def added(weight: Array, starts: NDArray[np.intp], *, mean: bool) -> Array:
    """Return the sum or mean of each pair, bitwise independent of the order of the rows."""
    lengths = np.diff(starts, append=weight.size)
    weight = weight[np.lexsort((weight, np.repeat(np.arange(starts.size), lengths)))]
    with np.errstate(over="ignore"):
        total = np.add.reduceat(weight, starts)
    if not mean:
        return total
    if not np.isfinite(total).all():
        # Dividing first would round the smallest numbers to zero, so it is done only if the sum overflows.
        shares = np.add.reduceat(weight / np.repeat(lengths, lengths), starts)
        return np.where(np.isfinite(total), total / lengths, shares).astype(weight.dtype, copy=False)
    return (total / lengths).astype(weight.dtype, copy=False)


DUPLICATES = ("error", "sum", "max", "min", "mean", "first")


@dataclass(frozen=True)
class EdgeRows:
    """Rows of an edge list, with nodes as positions in a list of names."""

    source: Array  # positions of the two ends in `names`
    target: Array
    weight: Array | None  # weights, or None for an unweighted list
    names: Array  # distinct node names
    # Location of a row, for messages: ``where(3)`` may be "friends.csv, line 5".
    where: Callable[[int], str]


def encode_rows(source: Array, target: Array, weight: Array | None, where: Callable[[int], str]) -> EdgeRows:
    """Encode the ids of both ends of every row; ids of different types become text."""
    half = source.size
    ends = [end.astype(str) if end.dtype.kind == "b" else end for end in (source, target)]  # True is not 1
    ends = [end if end.dtype.kind == "O" else as_names(end) for end in ends]
    if {end.dtype.kind for end in ends} not in ({"i"}, {"f"}):
        ends = [end.astype(object) for end in ends]
    ids = np.concatenate(ends)
    nested = first_nested(ids, bytes)
    if nested is not None:
        end, kind = "source" if nested < half else "target", type(ids[nested]).__name__
        raise GraphError(f"{where(nested % half)}: the {end} is a {kind}, expected text or a number.")
    return rows_of_codes(*encode_ids(ids), weight, where)


def rows_of_codes(
    names: Array, codes: NDArray[np.integer], weight: Array | None, where: Callable[[int], str]
) -> EdgeRows:
    """Return rows from the codes of all sources, then of all targets, into distinct ids that all occur."""
    half = codes.size // 2
    absent = is_missing(names, or_empty=True)
    if absent.any():
        row = int(np.argmax(absent[codes]))
        end = "source" if row < half else "target"
        raise GraphError(f"{where(row % half)}: the {end} is missing, expected the name of a node.")
    names = as_names(names)
    if names.dtype.kind == "O":
        distinct, places = encode_ids(object_array(texts(names)))
        names, codes = text_array(distinct), places[codes]
    return EdgeRows(codes[:half], codes[half:], weight, names, where)


def encode_ids(ids: Array) -> tuple[Array, NDArray[np.integer]]:
    """Return the distinct ids, numbers sorted, and the index of each id among them.

    If the range of values is compact, a table of it is much faster than np.unique.
    """
    if ids.dtype.kind == "O":
        # A dictionary looks at every id twice; sorting all rows would compare each many times.
        known = {one: k for k, one in enumerate(dict.fromkeys(ids))}
        return object_array(known), np.fromiter(map(known.__getitem__, ids), dtype=np.int32, count=ids.size)
    if ids.dtype.kind != "i" or not ids.size:
        return np.unique(ids, return_inverse=True)
    low, high = int(ids.min()), int(ids.max())
    if high - low > 4 * ids.size + 1000:
        return np.unique(ids, return_inverse=True)
    present = np.zeros(high - low + 1, dtype=bool)
    present[ids - low] = True
    names = np.flatnonzero(present) + low
    return names, (np.cumsum(present, dtype=index_type(ids.size, 0)) - 1)[ids - low]


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

    With `symmetrize` the rows are directed edges, and it says how to combine the two directions of a pair. With
    `directed` alone, the two directions must agree. Sorted nodes are not in the user's order, so that graph is not
    positional.
    """
    if rows.names.size == 0:
        raise GraphError("The graph has no nodes: expected at least one edge or node.")
    weight = _checked_weights(rows.weight, rows.where, check_dtype(dtype))
    directed = directed or symmetrize is not None
    names, ends = rows.names, [rows.source, rows.target]
    if sort:
        names, place = sort_names(names)
        ends = [place[end] for end in ends]
    if not directed:
        ends = [np.minimum(*ends), np.maximum(*ends)]

    def conflict(i: int, j: int) -> GraphError:
        assert weight is not None
        of_pair = np.flatnonzero((ends[0] == i) & (ends[1] == j))
        first = of_pair[0]
        other = of_pair[weight[of_pair] != weight[first]][0]
        return GraphError(
            f"{rows.where(int(other))}: the pair {pair_text(i, j, names)} has the weight {weight[other]:g} here "
            f"and {weight[first]:g} in {rows.where(int(first))}; say how to combine them with "
            f"duplicates='sum', 'max', 'min', 'mean' or 'first'."
        )

    pairs = merge_repeated(sorted_pairs(ends[0], ends[1], weight, names.size), duplicates, conflict)
    ends.clear()  # their memory is needed below
    pairs = without_loops_and_zeros(pairs)
    if weight is None:
        pairs = pairs.astype(check_dtype(dtype) or np.float64)
    if directed:
        adjacency = canonical_adjacency(pairs, symmetrize=symmetrize, names=names)
    else:
        adjacency = canonical_index(pairs + pairs.T)
    return Graph._trusted(adjacency, names, positional=not sort)


def _checked_weights(
    weight: Array | None, where: Callable[[int], str], dtype: np.dtype | None
) -> Array | None:
    """Return the weights as floats; raise GraphError unless they are finite and nonnegative."""
    if weight is None:
        return None
    if weight.dtype.kind not in "buif":
        weight = _numbers(weight, where)
    weight = as_weights(weight, dtype, where)
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if wrong.size:
        row = int(wrong[0])
        shown_weight = f"{weight[row]:g}".replace("nan", "NaN").replace("inf", "infinity")
        raise GraphError(f"{where(row)}: the weight is {shown_weight}, expected a finite nonnegative number.")
    return weight


def _numbers(weight: Array, where: Callable[[int], str]) -> NDArray[np.float64]:
    result = np.empty(weight.size)
    for row, value in enumerate(weight.tolist()):
        try:
            result[row] = np.nan if value is None else float(value)
        except OverflowError:
            raise GraphError(
                f"{where(row)}: the weight is beyond float64, expected a finite number."
            ) from None
        except (TypeError, ValueError):
            raise GraphError(
                f"{where(row)}: the weight is {value!r}, expected a nonnegative number{comma_hint(str(value))} "
                "(weight=False, on the command line none, ignores the weights)."
            ) from None
    return result
