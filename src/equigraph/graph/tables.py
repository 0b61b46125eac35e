"""Read edge tables and square matrices from tables of pandas, polars, pyarrow and others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.text import did_you_mean
from equigraph.exceptions import GraphError, InputError, only_ours, reason, require
from equigraph.graph.edges import EdgeRows, Ends, Weight, encode_rows, rows_of_codes
from equigraph.graph.groups.encode import is_missing
from equigraph.graph.limits import check_rows
from equigraph.graph.names import as_names, object_array, texts

END_NAMES = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("i", "j"),
)
WEIGHT_NAMES = ("weight", "weights", "w", "value", "strength", "count")
# Leading columns that number the rows, such as the one that pandas writes without a name.
ROW_NAMES = ("", "id", "index", "row", "edge", "edge_id", "unnamed: 0")


@dataclass(frozen=True)
class Table:
    """Columns of a table, and the labels of its rows if it has any."""

    columns: list[Any]  # names of the columns, as the table has them
    column: Callable[[int], NDArray[Any]]  # returns a column by its place; converts it each time
    n_rows: int
    index: NDArray[Any] | None = None  # labels of the rows (pandas only)
    counts_rows: bool = False  # whether the labels are pandas' default ones, which only count the rows
    arrow: Any = None  # the table itself, of pyarrow


def is_table(X: Any) -> bool:
    """Return whether an object of a table library is a table rather than a column."""
    if hasattr(X, "collect_schema"):  # polars, where asking a lazy frame for its columns is costly
        return True
    return hasattr(X, "columns") and len(getattr(X, "shape", ())) == 2


def read_table(X: Any) -> Table:
    """Return the columns of any table that narwhals knows."""
    import narwhals.stable.v2 as nw

    arrow = X if hasattr(X, "to_batches") else None
    try:
        if arrow is not None:  # whose texts may not be UTF-8, or lie outside their buffer
            arrow.validate(full=True)
        frame = nw.from_native(X)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        columns = list(frame.columns)
    except Exception as error:  # every library of tables has errors of its own
        raise GraphError(
            f"The {type(X).__name__} is not a table that can be read: {reason(error)}."
        ) from error
    index, counts_rows = row_labels(X)
    return Table(columns, lambda k: _column(frame[:, k]), len(frame), index, counts_rows, arrow)


def row_labels(X: Any) -> tuple[NDArray[Any] | None, bool]:
    """Return the labels of the rows of a pandas object, if it is one, and whether they only count the rows."""
    index: Any = getattr(X, "index", None)
    if not hasattr(index, "to_numpy"):
        return None, False
    counts = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    return _plain(index.to_numpy()), counts


@only_ours("The table cannot be read", GraphError)
def _column(series: Any) -> NDArray[Any]:
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if hasattr(native, "dictionary_encode") and is_text(native.type):
        if not len(native):
            return object_array([])
        known, codes = _decoded(native)
        return known[codes]  # rows with the same text share one object
    coded = isinstance(series.dtype, (nw.Categorical, nw.Enum))
    # Nullable integers turn into floats with NaN on the way to numpy, which would change large ids.
    # A categorical column of missing values only has no categories to look up.
    if (series.dtype.is_integer() or coded) and series.null_count():
        return object_array(series.to_list())
    return _plain(series.to_numpy())


def _decoded(column: Any) -> tuple[NDArray[Any], NDArray[np.integer]]:
    """Return the distinct texts of a column of pyarrow with rows, None last, and the index of each row among them."""
    import pyarrow as pa

    chunks = []
    for chunk in column.dictionary_encode().chunks:
        texts = chunk.dictionary.dictionary_encode()  # it may hold a text twice, or none
        chunks.append(pa.DictionaryArray.from_arrays(texts.indices.take(chunk.indices), texts.dictionary))
    encoded = pa.chunked_array(chunks).unify_dictionaries().combine_chunks()
    known = object_array([*encoded.dictionary.to_pylist(), None])
    return known, encoded.indices.fill_null(known.size - 1).to_numpy()


def is_text(kind: Any) -> bool:
    """Return whether a column of this arrow type holds text."""
    from pyarrow import types

    value = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(value) or types.is_large_string(value))


def read_parquet(path: Path) -> Any:
    """Read a Parquet file as a pyarrow table, in which texts stay encoded: a long one may occur in every row."""
    parquet = require("pyarrow.parquet", extra="io", purpose="Reading Parquet")
    check_rows(parquet.read_metadata(path).num_rows, path)
    encoded = [field.name for field in parquet.read_schema(path) if is_text(field.type)]
    with parquet.ParquetFile(path, read_dictionary=encoded) as file:
        return file.read()


def _plain(array: Any) -> NDArray[Any]:
    """Return an array of one of numpy's own types, or of objects."""
    array = np.asarray(array)
    return array.astype(object) if array.dtype.kind in "TV" else array


def end_columns(columns: list[Any]) -> tuple[int, int] | None:
    """Return the positions of the columns with names of the two ends of an edge, or None."""
    lower = [str(name).strip().casefold() for name in columns]
    for source, target in END_NAMES:
        if source in lower and target in lower:
            check_once(lower, source)
            check_once(lower, target)
            return lower.index(source), lower.index(target)
    return None


def check_once(columns: list[Any], name: Any, kind: type[InputError] = GraphError) -> None:
    """Raise an error if several columns have a name that should select one."""
    if columns.count(name) > 1:
        numbers = ", ".join(str(k) for k, column in enumerate(columns) if column == name)
        raise kind(
            f"There are {columns.count(name)} columns called {name!r}, with the numbers {numbers} counting from 0: "
            "expected one; give the others another name, or name the column by its number."
        )


def weight_column(
    columns: list[Any],
    ends: tuple[int, int],
    weight: Weight,
    where: str,
    is_text: Callable[[int], bool] = lambda column: False,
) -> int | None:
    """Return the position of the weights: the given column, or one after the ends with a usual name.

    Without names a third column holds the weights. With names, any other column may be a weight, so the user must say;
    a column of text is none. Errors start with ``where``.
    """
    if weight is False:
        return None
    if weight is not None and weight is not True:
        return found_column(columns, weight, f"{where}: weight={weight!r} is not a column")
    lower = [str(name).strip().casefold() for name in columns]
    others = [k for k in range(len(columns)) if k not in ends]
    candidates, named = others, _are_names(columns)
    if named:
        after = [k for k in others if k > max(ends) and lower[k] in WEIGHT_NAMES]
        candidates = [k for k in after if lower[k] == "weight"] or after
        if len(candidates) > 1 and lower[candidates[0]] == "weight":
            check_once(lower, "weight")
    if len(candidates) == 1:
        return candidates[0]
    if weight is True:
        raise GraphError(
            f"{where}: there is no weight column among {listed_columns(columns)}, name it with weight."
        )
    for k in others if named else ():
        counts_rows = k < min(ends) and lower[k] in ROW_NAMES
        if not counts_rows and not is_text(k):
            raise GraphError(
                f"{where}: the column {columns[k]!r} may be a weight: say weight={columns[k]!r}, or "
                "weight=False (on the command line none) to ignore it."
            )
    return None


def _are_names(columns: list[Any]) -> bool:
    """Return whether columns have names of their own, rather than numbers or the default names of polars."""
    return any(
        not isinstance(name, (int, np.integer)) and name != f"column_{k}" for k, name in enumerate(columns)
    )


def are_words(values: Iterable[Any]) -> bool:
    """Return whether values are texts without digits, so that they cannot be weights.

    >>> are_words(["red", None]), are_words(["red", "3,5"]), are_words([None])
    (True, False, False)
    """
    array = object_array(values)
    known = array[~is_missing(array, or_empty=True)]
    return bool(known.size) and all(
        isinstance(value, str) and not any(letter.isdigit() for letter in value) for value in known
    )


def column_place(columns: list[Any], column: Any, kind: type[InputError] = GraphError) -> int | None:
    """Return the position of a column given by name or else, counting from 0, by number.

    A number is looked for among the names too: a file of the year 2024 may have a column of that name. A name that
    several columns have is an error of the given kind.
    """
    check_once(columns, column, kind)
    if column in columns:
        return columns.index(column)
    if not isinstance(column, (int, np.integer)) or isinstance(column, bool):
        return None
    if str(column) in columns:
        return columns.index(str(column))
    return int(column) if 0 <= column < len(columns) else None


def found_column(
    columns: list[Any],
    column: Any,
    fault: str,
    *,
    there: str = "expected one of",
    kind: type[InputError] = GraphError,
) -> int:
    """Return `column_place` of a column, or raise an error of the given kind that starts with `fault`."""
    place = column_place(columns, column, kind)
    if place is None:
        raise kind(f"{fault}{did_you_mean(column, columns)}: {there} {listed_columns(columns)}.")
    return place


def listed_columns(columns: list[Any]) -> str:
    """Return the names of the first columns."""
    shown = ", ".join(repr(name) for name in columns[:10])
    return shown if len(columns) <= 10 else f"{shown}, ..."


def edge_columns(
    columns: list[Any],
    weight: Weight,
    end_names: Ends | None = None,
    is_text: Callable[[int], bool] = lambda column: False,
    *,
    where: str = "The edge table",
    most: int = 3,
) -> tuple[tuple[int, int], int | None] | None:
    """Return the positions of the two ends and of the weights, or None if the table is no edge table.

    Without names of its ends it has two columns, or up to as many as are allowed. Errors start with ``where``.
    """
    if end_names is not None:
        source, target = (
            found_column(columns, column, f"{where}: {name}={column!r} is not a column")
            for name, column in zip(("source", "target"), end_names, strict=True)
        )
        if source == target:
            raise GraphError(
                f"{where}: source and target are both the column {columns[source]!r}: expected two."
            )
        ends: tuple[int, int] | None = (source, target)
    else:
        ends = end_columns(columns)
        if ends is None and not 2 <= len(columns) <= most:
            return None
    ends = ends or (0, 1)
    return ends, weight_column(columns, ends, weight, where, is_text)


def row_text(row: int) -> str:
    """Return the location of a row of an edge table, for messages."""
    return f"row {row} of the edge table (counting from 0)"


def edge_rows(table: Table, weight: Weight, end_names: Ends | None = None) -> EdgeRows | None:
    """Return the rows of an edge table, or None if the table is a matrix."""
    if end_names is None and end_columns(table.columns) is None and _is_labelled_matrix(table):
        return None
    found = edge_columns(table.columns, weight, end_names, lambda k: are_words(table.column(k)[:50].tolist()))
    if found is None:
        return None
    ends, at = found
    if end_names is None:
        _check_no_matrix(table)
    weights = None if at is None else table.column(at)
    coded = _coded_ends(table.arrow, ends)
    if coded is not None:
        return rows_of_codes(*coded, weights, row_text)
    return encode_rows(table.column(ends[0]), table.column(ends[1]), weights, row_text)


def _coded_ends(table: Any, ends: tuple[int, int]) -> tuple[NDArray[Any], NDArray[np.integer]] | None:
    """Return the distinct texts of both ends of a pyarrow table and the code of each row; None for other tables.

    It takes a third of the time of looking up every text in a dictionary of Python.
    """
    columns = [] if table is None else [table.column(k) for k in ends]
    if not columns or columns[0].type != columns[1].type or not is_text(columns[0].type) or not len(table):
        return None
    import pyarrow as pa

    both = pa.chunked_array([chunk for column in columns for chunk in column.chunks])
    known, codes = _decoded(both)
    used = np.bincount(codes, minlength=known.size) > 0
    return known[used], (np.cumsum(used, dtype=np.int32) - 1)[codes]


def _check_no_matrix(table: Table) -> None:
    """Raise GraphError if three columns without names may as well be the matrix of three nodes."""
    if len(table.columns) != 3 or table.n_rows != 3 or _are_names(table.columns):
        return
    values = [table.column(k) for k in range(3)]
    if all(value.dtype.kind in "buif" for value in values) and may_be_matrix(np.column_stack(values)):
        raise GraphError(
            "The table of three rows and columns may be a matrix or three weighted edges: name the columns source, "
            "target and weight, or give the matrix as an array."
        )


def may_be_matrix(numbers: NDArray[Any]) -> bool:
    """Return whether a square of numbers looks like an adjacency matrix: symmetric, or with an empty diagonal."""
    return bool(np.array_equal(numbers, numbers.T) or not numbers.diagonal().any())


def _is_labelled_matrix(table: Table) -> bool:
    index = table.index
    return (
        index is not None
        and index.size == len(table.columns)
        and texts(index) == texts(object_array(table.columns))
    )


def matrix_and_names(table: Table) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the matrix of a square table and the names of its columns."""
    columns, values = table.columns, [table.column(k) for k in range(len(table.columns))]
    height, width = table.n_rows, len(columns)
    if width == height + 1 and texts(values[0]) == texts(object_array(columns[1:])):
        columns, values, width = columns[1:], values[1:], width - 1  # the names once more, as a first column
    if height != width:
        raise GraphError(
            f"The table has {height} rows and {width} columns: expected an edge table (columns source and "
            "target, or two or three columns) or a square adjacency matrix."
        )
    if height == 0:
        raise GraphError("The table is empty: expected an edge table or a square adjacency matrix.")
    wrong = [name for name, value in zip(columns, values, strict=True) if value.dtype.kind not in "buifcO"]
    if wrong:
        raise GraphError(f"The column {wrong[0]!r} of the square table holds no numbers: expected weights.")
    return np.column_stack(values), as_names(object_array(columns))
