"""The rows of an edge list, sorted by pair and merged, in linear time and without a key per row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.messages import option


def sorted_pairs(
    first: NDArray[np.integer], second: NDArray[np.integer], weight: NDArray[Any] | None, n: int
) -> sparse.csr_array:
    """Return the rows as a CSR with sorted indices that still holds repeated pairs, in the order of the rows.

    Two counting sorts, each stable: by the second end, then by the first. They move what they sort and need neither
    64-bit keys nor a permutation. No weights stand for ones, kept in one byte each.

    >>> pairs = sorted_pairs(np.array([1, 0, 1]), np.array([2, 1, 2]), np.array([5.0, 6.0, 4.0]), 3)
    >>> pairs.indptr.tolist(), pairs.indices.tolist(), pairs.data.tolist()
    ([0, 1, 3, 3], [1, 2, 2], [6.0, 5.0, 4.0])
    """
    index = np.int32 if max(n, first.size) <= np.iinfo(np.int32).max else np.int64
    ends = (second.astype(index, copy=False), first.astype(index, copy=False))
    data = np.ones(first.size, dtype=np.int8) if weight is None else weight
    rows = sparse.coo_array((data, ends), shape=(n, n))
    rows.has_canonical_format = True  # else scipy would add up what is repeated
    return rows.tocsr().tocsc().T


def merge_repeated(
    pairs: sparse.csr_array, duplicates: str, conflict: Callable[[int, int], GraphError]
) -> sparse.csr_array:
    """Return the pairs with one entry each; pairs without any repetition are returned as they are.

    Weights may be sorted in place; `conflict` makes the error for the first pair whose weights differ, if that is one.
    """
    is_start = _starts(pairs)
    if is_start.all():
        return pairs
    starts = np.flatnonzero(is_start)
    indptr = np.searchsorted(starts, pairs.indptr).astype(pairs.indptr.dtype)
    indices = pairs.indices[is_start]
    if pairs.dtype.kind != "f" or duplicates == "first":  # without weights all rows of a pair are alike
        data = pairs.data[is_start]
    elif duplicates in ("sum", "mean"):
        data = added(pairs.data, starts, mean=duplicates == "mean")
        if not np.isfinite(data).all():
            raise GraphError(
                f"The weights of an edge that is listed more than once add up to more than {data.dtype} holds: "
                f"expected smaller weights, or {option('duplicates', 'max', 'min', 'mean', 'first')}."
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


def added(weight: NDArray[Any], starts: NDArray[np.intp], *, mean: bool) -> NDArray[Any]:
    """Return the sum or mean of each pair, the same to the last bit whatever the order of the rows."""
    lengths = np.diff(starts, append=weight.size)
    several = lengths > 1
    repeated = np.repeat(several, lengths)
    values = weight[repeated]
    pair = np.repeat(np.flatnonzero(several), lengths[several])
    weight[repeated] = values[np.lexsort((values, pair))]
    with np.errstate(over="ignore"):
        total = np.add.reduceat(weight, starts)
    if not mean:
        return total
    if not np.isfinite(total).all():
        # Shares of the smallest numbers are zero, so dividing before adding is only for the largest.
        shares = np.add.reduceat(weight / np.repeat(lengths, lengths), starts)
        return np.where(np.isfinite(total), total / lengths, shares).astype(weight.dtype, copy=False)
    return (total / lengths).astype(weight.dtype, copy=False)
