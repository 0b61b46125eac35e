"""Convert sparse and dense matrices of any format to CSR, with checks.

Compiled code trusts the arrays of a sparse matrix, so they are checked before use, in every format. scipy's
`check_format` is not enough: it skips the pointers if the last one is zero.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.graph.limits import check_nodes

# Entries of a dense matrix that are converted at a time.
_CHUNK = 1 << 20
_COMPLEX = "Complex data not supported: the weights of a graph are real numbers."


class NotNumericError(GraphError, TypeError):
    """The entries of a matrix are not numbers."""


def to_csr(matrix: Any, dtype: np.dtype | None = None) -> sparse.csr_array:
    """Return a matrix as CSR without repeated entries and with sorted indices; the input is not changed.

    Weights become floats before repeated entries are summed: as uint8, 200 + 100 is 44. The result shares the arrays of
    the input if these are canonical already.
    """
    if not sparse.issparse(matrix):
        return _from_dense(matrix, dtype)
    if len(matrix.shape) != 2:
        check_shape(matrix.shape)
    indptr, indices, values = _checked_arrays(matrix)
    values, shape = as_weights(values, dtype), matrix.shape
    if matrix.format in _COMPRESSED:
        # A new object on the same arrays has its own flags, and sorting it never sorts the caller's.
        fresh = _COMPRESSED[matrix.format]((values, indices, indptr), shape=shape)
    else:
        check_nodes(max(shape), indptr.nbytes + indices.nbytes + values.nbytes, "The adjacency matrix")
        fresh = sparse.coo_array((values, (indptr, indices)), shape=shape)
    csr = fresh if matrix.format == "csr" else canonical_index(fresh.tocsr())
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


_COMPRESSED = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}


def _checked_arrays(matrix: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return pointers (or rows), indices (or columns) and values of a compressed (or other) matrix."""
    shape = matrix.shape
    if matrix.format not in _COMPRESSED:
        rows, columns, values = _triples(matrix)
        if values.ndim != 1 or not rows.size == columns.size == values.size:
            raise _damaged(
                f"it has {rows.size} row numbers, {columns.size} column numbers and {values.size} values",
                "one size",
            )
        check_range(rows, shape[0], shape)
        check_range(columns, shape[1], shape)
        return rows, columns, values
    values = np.asarray(matrix.data)
    height, width = shape[::-1] if matrix.format == "csc" else shape
    if matrix.format == "bsr":
        blocks = values.shape[1:] if values.ndim == 3 else (0, 0)
        if 0 in blocks or height % blocks[0] or width % blocks[1]:
            raise _damaged(
                f"its blocks have shape {values.shape}", f"blocks that divide a matrix of shape {shape}"
            )
        height, width = height // blocks[0], width // blocks[1]
    elif values.ndim != 1:
        raise _damaged(f"its values have shape {values.shape}", "a list")
    last = check_compressed(matrix.indptr, matrix.indices, len(values), (height, width), shape)
    index = index_type(last, max(shape))
    indptr = np.asarray(matrix.indptr).astype(index, copy=False)
    indices = np.asarray(matrix.indices).astype(index, copy=False)
    return indptr, indices[:last], values[:last]  # scipy may allocate more space than there are entries


def check_compressed(
    indptr: Any, indices: Any, n_values: int, n_parts: tuple[int, int], shape: tuple[int, ...]
) -> int:
    """Check every pointer and index of a compressed matrix, and return its number of entries.

    ``n_parts`` is the number of rows (or columns, or rows of blocks), and the exclusive upper bound of the indices.
    """
    indptr, indices = _whole_numbers(indptr, "pointers (indptr)"), _whole_numbers(indices, "indices")
    n_rows, n_columns = n_parts
    if indices.size != n_values:
        raise _damaged(f"it has {indices.size} indices and {n_values} values", "as many of both")
    if indptr.size != n_rows + 1:
        raise _damaged(f"it has {indptr.size} pointers (indptr) for {n_rows} rows", f"{n_rows + 1}")
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if indptr[0] != 0 or falls.size or indptr[-1] > n_values:
        at = int(falls[0]) if falls.size else n_rows - 1
        raise _damaged(
            f"its pointers (indptr) start at {indptr[0]}, and pointer {at + 1} is {indptr[at + 1]} after {indptr[at]}",
            f"no decrease from 0 to at most {n_values}",
        )
    last = int(indptr[-1])
    check_range(indices[:last], n_columns, shape)
    return last


def check_range(indices: NDArray[Any], n: int, shape: tuple[int, ...]) -> None:
    """Raise GraphError unless every index of a matrix is in ``range(n)``."""
    if not indices.size:
        return
    low, high = indices.min(), indices.max()
    if low < 0 or high >= n:
        raise GraphError(
            f"The adjacency matrix of shape {shape} has an index {low if low < 0 else high}: "
            f"expected indices from 0 to {n - 1}."
        )


def _whole_numbers(array: Any, what: str) -> NDArray[Any]:
    array = np.asarray(array)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise _damaged(
            f"its {what} have shape {array.shape} and dtype {array.dtype}", "a list of whole numbers"
        )
    return array


def _damaged(found: str, expected: str) -> GraphError:
    return GraphError(f"The adjacency matrix is damaged: {found}, expected {expected}.")


def _triples(matrix: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return rows, columns and values of the entries of a matrix that is not compressed."""
    if matrix.format == "lil":  # whose conversion is compiled too
        lengths = [len(row) for row in matrix.rows]
        places, listed = (list(itertools.chain.from_iterable(part)) for part in (matrix.rows, matrix.data))
        columns, values = np.array(places, dtype=np.int64), np.array(listed, dtype=matrix.dtype)
        return np.repeat(np.arange(len(lengths)), lengths), columns, values
    if matrix.format == "dok":
        ends = np.array(list(matrix.keys()), dtype=np.int64).reshape(-1, 2)
        return ends[:, 0], ends[:, 1], np.array(list(matrix.values()), dtype=matrix.dtype)
    if matrix.format == "coo":
        row, column = matrix.coords
        rows, columns = _whole_numbers(row, "row numbers"), _whole_numbers(column, "column numbers")
        return rows, columns, np.asarray(matrix.data)
    offsets, values = _whole_numbers(matrix.offsets, "offsets"), np.asarray(matrix.data)
    if values.ndim != 2 or values.shape[0] != offsets.size or np.unique(offsets).size != offsets.size:
        raise _damaged(
            f"it has {offsets.size} offsets and diagonals of shape {values.shape}", "one for each offset"
        )
    # Column j of a diagonal holds the entry of column j of the matrix; what lies outside is padding.
    columns = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    rows = columns - offsets.astype(np.int64)[:, None]
    inside = (rows >= 0) & (rows < matrix.shape[0]) & (columns < matrix.shape[1]) & (values != 0)
    return rows[inside], columns[inside], values[inside]


def check_sparse(matrix: Any, what: str) -> None:
    """Raise GraphError if the arrays of a sparse matrix, of any shape and format, contradict each other.

    For matrices given besides the graph, before scipy converts or multiplies them. Other objects pass.
    """
    if sparse.issparse(matrix) and len(matrix.shape) == 2:
        try:
            _checked_arrays(matrix)
        except GraphError as error:
            raise GraphError(str(error).replace("The adjacency matrix", what, 1)) from None


def index_type(n_entries: int, n_nodes: int) -> Any:
    """Return the smallest type that counts entries and nodes."""
    return np.int32 if max(n_entries, n_nodes) <= np.iinfo(np.int32).max else np.int64


def canonical_index(csr: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix with int32 indices if they fit; scipy's operations choose differently."""
    index = index_type(csr.nnz, csr.shape[0])
    if csr.indices.dtype == csr.indptr.dtype == index:
        return csr
    arrays = (csr.data, csr.indices.astype(index), csr.indptr.astype(index))
    return sparse.csr_array(arrays, shape=csr.shape)


def as_weights(
    values: NDArray[Any],
    dtype: np.dtype | None = None,
    where: Callable[[int], str] = lambda place: "The adjacency matrix",
) -> NDArray[Any]:
    """Return numbers as floats of a type, by default float32 as it is; raise GraphError if one underflows to zero.

    Numbers that overflow become infinity, which is reported later.
    """
    if values.dtype.kind == "c":
        raise GraphError(_COMPLEX)
    if values.dtype.kind not in "buifO":
        raise NotNumericError(f"The adjacency matrix has dtype {values.dtype}: expected numbers.")
    if dtype is None:
        dtype = np.dtype(np.float32) if values.dtype == np.float32 else np.dtype(np.float64)
    if values.dtype == object:
        values = _from_objects(values)
    with np.errstate(over="ignore", under="ignore"):
        result = values.astype(dtype, copy=False)
    if values.dtype.kind == "f" and np.count_nonzero(values) != np.count_nonzero(result):
        lost = int(np.flatnonzero((values != 0) & (result == 0))[0])
        raise GraphError(
            f"{where(lost)}: the weight {values.flat[lost]:g} is zero in {dtype}, which would drop the edge: expected "
            "weights that the type can hold; take float64, or give the weights in a smaller unit."
        )
    return result


def _from_dense(matrix: Any, dtype: np.dtype | None) -> sparse.csr_array:
    """Return the CSR of a dense matrix, some rows at a time, without a second dense matrix."""
    if isinstance(matrix, np.ma.MaskedArray) and np.ma.is_masked(matrix):
        raise GraphError(
            f"The adjacency matrix masks {np.ma.count_masked(matrix)} of its entries: expected a value for each; "
            "fill them, with 0 where there is no edge."
        )
    try:
        array = np.asarray(matrix)
    except ValueError as error:
        raise GraphError(
            "The adjacency matrix has rows of different lengths: expected a square matrix."
        ) from error
    if array.ndim != 2 or 0 in array.shape:
        check_shape(array.shape)
    step = max(_CHUNK // array.shape[1], 1)
    starts = range(0, array.shape[0], step)
    parts = [sparse.csr_array(as_weights(array[low : low + step], dtype)) for low in starts]
    return canonical_index(sparse.vstack(parts, format="csr"))


def _from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    if any(isinstance(value, (complex, np.complexfloating)) for value in array.flat):
        raise GraphError(_COMPLEX)
    try:
        return array.astype(np.float64)
    except OverflowError as error:
        raise GraphError(f"The adjacency matrix holds a number beyond float64: {error}.") from error
    except (TypeError, ValueError) as error:
        raise NotNumericError(f"The adjacency matrix holds entries that are not numbers: {error}.") from error


def check_shape(shape: tuple[int, ...]) -> None:
    """Raise GraphError unless a shape is that of a square matrix."""
    if len(shape) != 2:
        raise GraphError(
            f"The adjacency matrix has shape {shape}: expected a square matrix with two dimensions."
        )
    if shape[1] == 0:
        raise GraphError(
            "The adjacency matrix is empty, with 0 feature(s) "
            f"(shape=({shape[0]}, 0)) while a minimum of 1 is required."
        )
    if shape[0] != shape[1]:
        raise GraphError(
            f"The adjacency matrix has shape {shape}: expected a square matrix, one row and one column per "
            "node; an edge list is given as a table or a file."
        )
