"""Edge tables of pyarrow and Parquet files, encoded batch by batch; no text becomes a Python object per row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GraphError, only_ours, require
from equigraph.graph.edges import EdgeRows, encode_rows
from equigraph.graph.limits import check_rows
from equigraph.graph.names import text_array
from equigraph.graph.tables import Ends, edge_columns, row_text

# Distinct texts of single batches that are kept before they are merged into those of the whole.
PENDING = 4_000_000


class TextCodes:
    """Codes of text columns of pyarrow: the same text has the same code in every column and batch.

    Each batch is encoded by itself, and from time to time the texts of the batches are merged: seldom enough that the
    known texts are not hashed for every batch, often enough that memory follows their number. At least `pending` texts
    are kept unmerged; the texts known so far, if that is more.
    """

    def __init__(self, n_columns: int, *, pending: int = PENDING) -> None:
        self._n_columns = n_columns
        self._limit = pending
        self._known: Any = None
        self._waiting: list[Any] = []
        self._codes: list[NDArray[np.int32]] = []

    def add(self, columns: list[Any]) -> None:
        """Add one batch: an array of text, encoded by pyarrow or not, for each column."""
        self._waiting += [column.dictionary_encode() for column in columns]
        known = 0 if self._known is None else len(self._known)
        if sum(len(column.dictionary) for column in self._waiting) > max(self._limit, known):
            self._merge()

    def finish(self) -> tuple[list[NDArray[np.int32]], Any]:
        """Return the codes of every column, and the distinct texts as a pyarrow array."""
        self._merge()
        columns = [np.concatenate(self._codes[k :: self._n_columns]) for k in range(self._n_columns)]
        self._codes = []
        return columns, self._known

    def _merge(self) -> None:
        import pyarrow as pa

        if not self._waiting:
            return
        chunks = self._waiting
        if self._known is not None:
            # What comes first keeps its codes, so those that were given out stay true.
            nothing = pa.array([], type=pa.int32())
            chunks = [pa.DictionaryArray.from_arrays(nothing, self._known), *chunks]
        merged = pa.chunked_array(chunks).unify_dictionaries()
        self._known = merged.chunk(0).dictionary
        added = merged.chunks[len(chunks) - len(self._waiting) :]
        self._codes += [np.array(chunk.indices, dtype=np.int32) for chunk in added]
        self._waiting = []


# Rows of a batch. The texts of a small one fit the processor's caches while they are encoded.
BATCH = 1 << 16
# Bytes of a text that every row of a batch may repeat.
_LONG = 1 << 10


def rows_of_table(
    table: Any, weight: str | int | bool | None, end_names: Ends | None = None
) -> EdgeRows | None:
    """Return the rows of a pyarrow edge table.

    Returns None for a matrix, and for anything odd: missing values, types other than text or integers, ids
    of two types. The reader of all tables then decides.
    """
    with only_ours("The table cannot be read", GraphError):
        return _rows(
            table.schema, weight, end_names, lambda names: table.select(names).to_batches(max_chunksize=BATCH)
        )


def rows_of_parquet(
    path: Path, weight: str | int | bool | None, end_names: Ends | None = None
) -> EdgeRows | None:
    """Return the rows of a Parquet file, or None as `rows_of_table` does; only needed columns are read."""
    parquet = require("pyarrow.parquet", extra="io", purpose="Reading Parquet")
    check_rows(parquet.read_metadata(path).num_rows, path)
    schema = parquet.read_schema(path)
    with parquet.ParquetFile(path, read_dictionary=_long_texts(path, schema)) as file:
        return _rows(
            schema, weight, end_names, lambda names: file.iter_batches(batch_size=BATCH, columns=names)
        )


def _long_texts(path: Path, schema: Any) -> list[str]:
    """Return the columns to take as they are stored, each text once: a long one may stand in every row.

    Others are read as plain text, which is faster. The first row of a group brings all texts that its rows share.
    """
    parquet = require("pyarrow.parquet", extra="io", purpose="Reading Parquet")
    if not _distinct(schema):
        return []
    texts = [name for name in schema.names if _kind(schema.field(name).type) == "text"]
    with parquet.ParquetFile(path, read_dictionary=texts) as file:
        for group in range(file.num_row_groups if texts else 0):
            for batch in itertools.islice(file.iter_batches(1, row_groups=[group], columns=texts), 1):
                if any(_longest(column) > _LONG for column in batch.columns):
                    return texts
    return []


def _longest(column: Any) -> int:
    """Return the bytes of the longest text that a column holds or, if it is encoded, may hold."""
    from pyarrow import compute, types

    texts = column.dictionary if types.is_dictionary(column.type) else column
    return compute.max(compute.binary_length(texts)).as_py() or 0


def _distinct(schema: Any) -> bool:
    return len(set(schema.names)) == len(schema.names)


def _rows(
    schema: Any, weight: str | int | bool | None, end_names: Ends | None, batches: Any
) -> EdgeRows | None:
    names = list(schema.names)
    found = _edge_columns(schema, weight, end_names) if _distinct(schema) else None
    if found is None:
        return None
    ends, at = found
    kinds = [_kind(schema.field(end).type) for end in ends]
    chosen = [names[end] for end in ends] + ([] if at is None else [names[at]])
    if at is not None and _kind(schema.field(at).type) not in ("integer", "float"):
        return None
    if len(set(chosen)) < len(chosen):
        return None
    if kinds == ["text", "text"]:
        return _from_text(batches(chosen), chosen)
    if kinds == ["integer", "integer"]:
        return _from_integers(batches(chosen), chosen)
    return None


def _edge_columns(
    schema: Any, weight: str | int | bool | None, end_names: Ends | None
) -> tuple[tuple[int, int], int | None] | None:
    """Return what `edge_columns` does; whether a text is like a number is left to the reader of all tables."""
    try:
        return edge_columns(list(schema.names), weight, end_names)
    except GraphError:
        if any(_kind(field.type) == "text" for field in schema):
            return None
        raise


def _kind(kind: Any) -> str:
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
        return "text" if types.is_string(kind) or types.is_large_string(kind) else "other"
    if types.is_string(kind) or types.is_large_string(kind):
        return "text"
    if types.is_integer(kind) and not types.is_uint64(kind):  # some of those are beyond int64
        return "integer"
    return "float" if types.is_float32(kind) or types.is_float64(kind) else "other"


def _complete(batches: Iterator[Any], chosen: list[str]) -> Iterator[list[Any] | None]:
    """Yield the chosen columns of every batch, or None in place of a batch in which a value is missing."""
    for batch in batches:
        # Text that is no UTF-8, or lies outside its buffer, would be found by compiled code or not at all.
        batch.validate(full=True)
        columns = [batch.column(batch.schema.get_field_index(name)) for name in chosen]
        yield None if any(_has_null(column) for column in columns) else columns


def _has_null(column: Any) -> bool:
    from pyarrow import types

    return bool(column.null_count or (types.is_dictionary(column.type) and column.dictionary.null_count))


def _from_text(batches: Iterator[Any], chosen: list[str]) -> EdgeRows | None:
    import pyarrow as pa
    from pyarrow import compute

    codes = TextCodes(2)
    weights: list[NDArray[Any]] = []
    n_rows = 0
    for columns in _complete(batches, chosen):
        if columns is None:
            return None
        n_rows += len(columns[0])
        codes.add([_text(column, pa.string()) for column in columns[:2]])
        weights += [column.to_numpy().copy() for column in columns[2:]]
    if not n_rows:
        return None
    (source, target), texts = codes.finish()
    if compute.any(compute.match_substring_regex(texts, "^$|\\x00")).as_py():
        return None  # numpy drops a NUL at the end of a text
    names = text_array(texts.to_pylist())
    return EdgeRows(source, target, np.concatenate(weights) if weights else None, names, row_text)


def _text(column: Any, kind: Any) -> Any:
    """Return a column as text, encoded or not; a stored encoding may hold texts that no row has."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type) or _longest(column) <= _LONG:
        return column.cast(kind) if column.type != kind else column
    used, places = np.unique(column.indices.to_numpy(), return_inverse=True)
    texts = column.dictionary.take(pa.array(used)).cast(kind)
    return pa.DictionaryArray.from_arrays(pa.array(places.astype(np.int32)), texts)


def _from_integers(batches: Iterator[Any], chosen: list[str]) -> EdgeRows | None:
    parts: list[list[NDArray[Any]]] = []
    for columns in _complete(batches, chosen):
        if columns is None:
            return None
        parts.append([column.to_numpy().copy() for column in columns])
    if not parts:
        return None
    source, target, *weight = (np.concatenate(part) for part in zip(*parts, strict=True))
    return encode_rows(source, target, weight[0] if weight else None, row_text)
