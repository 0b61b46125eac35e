"""From any sparse or dense matrix to CSR: every array is looked at before compiled code walks along it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.graph.limits import check_nodes

# Entries of a dense matrix that are looked at at once.
_CHUNK = 1 << 20


class NotNumericError(GraphError, TypeError):
    """The entries of a matrix are not numbers."""


def to_csr(matrix: Any, dtype: np.dtype | None = None) -> sparse.csr_array:
    """Return a square matrix as CSR without repetition and with sorted indices, never touching the input.

    Compiled conversions read and write where the arrays of a sparse matrix say, so lengths, order of the pointers and
    range of the indices are checked first, whatever the format. Weights become floats before repeated ones are added
    up: in their own type 200 + 100 may be 44. The result is on the arrays of the input, where these are in order
    already.
    """
    if not sparse.issparse(matrix):
        return _from_dense(matrix, dtype)
    _check_shape(matrix.shape)
    asked = _weight_dtype(matrix.dtype, dtype)
    csr = (_from_triples if matrix.format in _TRIPLES else _from_compressed)(matrix, asked)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def as_weights(values: NDArray[Any], dtype: np.dtype) -> NDArray[Any]:
    """Return numbers as floats of a type; those that it cannot tell from zero are an error."""
    if values.dtype == object:
        values = _from_objects(values)
    result = cast_weights(values, dtype)
    lost = lost_weights(values, result)
    if lost.size:
        raise GraphError(
            f"The weight {values.flat[lost[0]]:g} is zero in {dtype}, which would drop the edge: expected weights that "
            "the type can hold; take float64, or give the weights in a smaller unit."
        )
    return result


def cast_weights(values: NDArray[Any], dtype: np.dtype) -> NDArray[Any]:
    """Return numbers as another type; what it cannot hold becomes infinity, which is reported later."""
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(dtype, copy=False)


def lost_weights(values: NDArray[Any], result: NDArray[Any]) -> NDArray[np.intp]:
    """Return where a cast to a smaller type has made zeros of other numbers."""
    if values.dtype.kind != "f" or values.dtype.itemsize <= result.dtype.itemsize:
        return np.empty(0, dtype=np.intp)
    if np.count_nonzero(values) == np.count_nonzero(result):
        return np.empty(0, dtype=np.intp)
    return np.flatnonzero((values != 0) & (result == 0))


def index_type(n_entries: int, n_nodes: int) -> Any:
    """Return the smallest type that counts entries and nodes."""
    return np.int32 if max(n_entries, n_nodes) <= np.iinfo(np.int32).max else np.int64


def _check_array(array: Any, what: str) -> NDArray[Any]:
    array = np.asarray(array)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise _damaged(
            f"its {what} have shape {array.shape} and dtype {array.dtype}", "a list of whole numbers"
        )
    return array


def _damaged(found: str, expected: str) -> GraphError:
    return GraphError(f"The adjacency matrix is damaged: {found}, expected {expected}.")


def _check_indices(indices: NDArray[Any], n: int, shape: tuple[int, ...]) -> None:
    if not indices.size:
        return
    low, high = indices.min(), indices.max()
    if low < 0 or high >= n:
        raise GraphError(
            f"The adjacency matrix of shape {shape} has an index {low if low < 0 else high}: "
            f"expected indices from 0 to {n - 1}."
        )


def check_pointers(indptr: NDArray[Any], n_rows: int, n_entries: int) -> int:
    """Return how many entries the pointers of a compressed matrix speak of, after a look at each of them."""
    indptr = _check_array(indptr, "pointers (indptr)")
    if indptr.size != n_rows + 1:
        raise _damaged(f"it has {indptr.size} pointers (indptr) for {n_rows} rows", f"{n_rows + 1}")
    last = int(indptr[-1])
    if indptr[0] != 0 or last > n_entries:
        raise _damaged(
            f"its pointers (indptr) run from {indptr[0]} to {last}",
            f"0 to at most the {n_entries} entries there are",
        )
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if falls.size:
        at = int(falls[0])
        raise _damaged(f"pointer {at + 1} (indptr) is {indptr[at + 1]} after {indptr[at]}", "no decrease")
    return last


def check_entries(indices: NDArray[Any], n_values: int, n: int, shape: tuple[int, ...]) -> None:
    """Raise GraphError unless there is one value for each index, and every index is one of n."""
    if _check_array(indices, "indices").size != n_values:
        raise _damaged(f"it has {indices.size} indices and {n_values} values", "as many of both")
    _check_indices(indices, n, shape)


def _compressed(matrix: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return values, indices and pointers of a CSR, CSC or BSR, in types of this machine."""
    values = np.asarray(matrix.data)
    shape = matrix.shape[::-1] if matrix.format == "csc" else matrix.shape
    if matrix.format == "bsr":
        shape = _blocks(values, matrix.shape)
    last = check_pointers(matrix.indptr, shape[0], min(np.size(matrix.indices), values.shape[0]))
    indices = np.asarray(matrix.indices)
    if indices.size != values.shape[0]:
        raise _damaged(f"it has {indices.size} indices and {values.shape[0]} values", "as many of both")
    if last < indices.size:
        values, indices = values[:last], indices[:last]  # scipy leaves room at the end
    check_entries(indices, last, shape[1], matrix.shape)
    index = index_type(last, max(matrix.shape))
    pointers = np.asarray(matrix.indptr).astype(index, copy=False)
    return values, indices.astype(index, copy=False), pointers


def _blocks(blocks: NDArray[Any], shape: tuple[int, int]) -> tuple[int, int]:
    """Return how many blocks of a BSR lie below each other and side by side."""
    height, width = blocks.shape[1:] if blocks.ndim == 3 else (0, 0)
    if not height or not width or shape[0] % height or shape[1] % width:
        raise _damaged(
            f"its blocks have shape {blocks.shape}", f"blocks that divide a matrix of shape {shape}"
        )
    return shape[0] // height, shape[1] // width


def _from_compressed(matrix: Any, dtype: np.dtype) -> sparse.csr_array:
    values, indices, indptr = _compressed(matrix)
    make = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[matrix.format]
    # A fresh object on the same arrays: its flags are its own, and sorting it never sorts the caller's.
    checked = make((as_weights(values, dtype), indices, indptr), shape=matrix.shape)
    return checked if matrix.format == "csr" else canonical_index(checked.tocsr())


def canonical_index(csr: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix with int32 indices where they fit; scipy's operations choose by other rules."""
    index = index_type(csr.nnz, csr.shape[0])
    if csr.indices.dtype == csr.indptr.dtype == index:
        return csr
    arrays = (csr.data, csr.indices.astype(index), csr.indptr.astype(index))
    return sparse.csr_array(arrays, shape=csr.shape)


# Row numbers, column numbers and values of the entries.
Triples = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


def _from_triples(matrix: Any, dtype: np.dtype) -> sparse.csr_array:
    """Return the CSR of a matrix whose entries are listed one by one."""
    rows, columns, values = _checked_triples(matrix)
    check_nodes(matrix.shape[0], rows.nbytes + columns.nbytes + values.nbytes, "The adjacency matrix")
    index = index_type(values.size, matrix.shape[0])
    ends = (rows.astype(index, copy=False), columns.astype(index, copy=False))
    return canonical_index(sparse.coo_array((as_weights(values, dtype), ends), shape=matrix.shape).tocsr())


def _checked_triples(matrix: Any) -> Triples:
    rows, columns, values = _TRIPLES[matrix.format](matrix)
    rows, columns = _check_array(rows, "row numbers"), _check_array(columns, "column numbers")
    if values.ndim != 1 or not rows.size == columns.size == values.size:
        raise _damaged(
            f"it has {rows.size} row numbers, {columns.size} column numbers and {values.size} values",
            "one size",
        )
    for end, n in zip((rows, columns), matrix.shape, strict=True):
        _check_indices(end, n, matrix.shape)
    return rows, columns, values


def _of_dia(matrix: Any) -> Triples:
    offsets, values = _check_array(matrix.offsets, "offsets"), np.asarray(matrix.data)
    if values.ndim != 2 or values.shape[0] != offsets.size or np.unique(offsets).size != offsets.size:
        raise _damaged(
            f"it has {offsets.size} offsets and diagonals of shape {values.shape}", "one for each offset"
        )
    # Column j of a diagonal holds the entry of column j of the matrix; what lies outside is padding.
    columns = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    rows = columns - offsets.astype(np.int64)[:, None]
    inside = (rows >= 0) & (rows < matrix.shape[0]) & (columns < matrix.shape[1]) & (values != 0)
    return rows[inside], columns[inside], values[inside]


def _of_dok(matrix: Any) -> Triples:
    ends = np.array(list(matrix.keys()), dtype=np.int64).reshape(-1, 2)
    return ends[:, 0], ends[:, 1], np.array(list(matrix.values()), dtype=matrix.dtype)


def _of_lil(matrix: Any) -> Triples:
    lengths = [len(row) for row in matrix.rows]
    columns = np.array(list(itertools.chain.from_iterable(matrix.rows)), dtype=np.int64)
    values = np.array(list(itertools.chain.from_iterable(matrix.data)), dtype=matrix.dtype)
    return np.repeat(np.arange(len(lengths), dtype=np.int64), lengths), columns, values


_TRIPLES: dict[str, Callable[[Any], Triples]] = {
    "coo": lambda matrix: (matrix.row, matrix.col, np.asarray(matrix.data)),
    "dia": _of_dia,
    "dok": _of_dok,
    "lil": _of_lil,
}


def check_sparse(matrix: Any, what: str) -> None:
    """Raise GraphError if the arrays of a sparse matrix, of any shape and format, contradict each other.

    For whatever a user gives besides the graph, before scipy converts it or multiplies with it. Anything that is no
    sparse matrix of two dimensions passes.
    """
    if not sparse.issparse(matrix) or len(matrix.shape) != 2:
        return
    try:
        (_checked_triples if matrix.format in _TRIPLES else _compressed)(matrix)
    except GraphError as error:
        raise GraphError(str(error).replace("The adjacency matrix", what, 1)) from None


def _from_dense(matrix: Any, dtype: np.dtype | None) -> sparse.csr_array:
    """Return the CSR of a dense matrix, some rows at a time: no second dense matrix is made of it."""
    array = _dense(matrix)
    asked = _weight_dtype(array.dtype, dtype)
    if array.dtype == object:
        array = _from_objects(array)
    if array.ndim != 2 or not array.shape[1]:
        _check_shape(array.shape)
    counts, columns, values = [0], [], []
    step = max(_CHUNK // array.shape[1], 1)
    for low in range(0, array.shape[0], step):
        rows = as_weights(array[low : low + step], asked)
        if not np.isfinite(rows).all():
            row, column = np.argwhere(~np.isfinite(rows))[0].tolist()
            raise not_finite(rows, f"at ({low + row}, {column})")
        filled = rows != 0
        counts += np.count_nonzero(filled, axis=1).tolist()
        columns.append(np.nonzero(filled)[1].astype(np.int32))
        values.append(rows[filled])
    # Bad values are reported before a bad shape: that is the order in which scikit-learn's checks expect them.
    _check_shape(array.shape)
    indptr = np.cumsum(counts)
    index = index_type(int(indptr[-1]), array.shape[0])
    arrays = (np.concatenate(values), np.concatenate(columns).astype(index, copy=False), indptr.astype(index))
    return sparse.csr_array(arrays, shape=array.shape)


def _dense(matrix: Any) -> NDArray[Any]:
    if isinstance(matrix, np.ma.MaskedArray):
        if np.ma.is_masked(matrix):
            raise GraphError(
                f"The adjacency matrix masks {np.ma.count_masked(matrix)} of its entries: expected a value for each; "
                "fill them, with 0 where there is no edge."
            )
        return matrix.data
    try:
        return np.asarray(matrix)
    except ValueError as error:
        raise GraphError(
            "The adjacency matrix has rows of different lengths: expected a square matrix."
        ) from error


def not_finite(values: NDArray[Any], first: str) -> GraphError:
    """Return the error for weights that are not finite."""
    found = [word for word, test in (("NaN", np.isnan), ("infinity", np.isinf)) if test(values).any()]
    return GraphError(
        f"The adjacency matrix contains {' and '.join(found)}, first {first}: "
        "expected finite nonnegative weights."
    )


def _from_objects(array: NDArray[Any]) -> NDArray[np.float64]:
    if any(isinstance(value, (complex, np.complexfloating)) for value in array.flat):
        raise GraphError("Complex data not supported: the weights of a graph are real numbers.")
    try:
        return array.astype(np.float64)
    except OverflowError as error:
        raise GraphError(f"The adjacency matrix holds a number beyond float64: {error}.") from error
    except (TypeError, ValueError) as error:
        raise NotNumericError(f"The adjacency matrix holds entries that are not numbers: {error}.") from error


def _check_shape(shape: tuple[int, ...]) -> None:
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


def _weight_dtype(found: np.dtype, asked: np.dtype | None) -> np.dtype:
    if found.kind == "c":
        raise GraphError("Complex data not supported: the weights of a graph are real numbers.")
    if found.kind not in "buifO":
        raise NotNumericError(f"The adjacency matrix has dtype {found}: expected numbers.")
    if asked is not None:
        return asked
    return np.dtype(np.float32) if found == np.float32 else np.dtype(np.float64)
