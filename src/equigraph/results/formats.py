"""Read and write single files: tables as csv or parquet, matrices as npz or csv, objects as json.

Everything that is read back from JSON is checked against types by `decode`.
"""

from __future__ import annotations

import csv
import inspect
import io
import json
import math
import struct
import sys
import types
import typing
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, TypedDict, Union, get_args, get_origin

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.files import atomic_path
from equigraph._utils.records import as_given, write_csv, write_json, write_parquet
from equigraph.exceptions import InputError, reason, require
from equigraph.graph.groups.encode import as_column, is_missing
from equigraph.graph.names import as_names, object_array, with_gaps

_EXPECTED = "expected the file that equigraph wrote"
_TYPES = {"i": "integer", "u": "integer", "f": "number", "b": "boolean"}
# Errors of reading a damaged archive of arrays; an unknown compression is a RuntimeError.
_DAMAGE = (OSError, ValueError, KeyError, TypeError, EOFError, RuntimeError, OverflowError, struct.error,
           zipfile.BadZipFile, zlib.error)  # fmt: skip


class ColumnEntry(TypedDict):
    """Entry of the manifest for a column of a table, so that it is read back with its type."""

    type: Literal["integer", "number", "boolean", "text"]
    n_missing: int  # empty cells that stand for None


def write_content(path: Path, content: Any, raw: bool) -> dict[str, ColumnEntry]:
    """Write a file by its suffix; return the entries of its columns, none unless it is a csv table."""
    if path.suffix == ".json":
        write_json(path, content)
    elif path.suffix == ".parquet":
        write_parquet(path, content)
    elif path.suffix == ".csv" and not isinstance(content, np.ndarray):
        if sparse.issparse(content):
            found = sparse.coo_array(content)  # of clusters
            content = {"cluster": found.row, "other": found.col, "interaction": found.data}
        write_csv(path, dict(content), raw=raw)
        return _column_entries(content)
    else:
        with atomic_path(path) as partial:
            if path.suffix == ".csv":
                np.savetxt(partial, content, delimiter=",", fmt="%.17g")
            elif sparse.issparse(content):
                sparse.save_npz(partial, content)
            else:
                np.savez_compressed(partial, **{path.stem: content})
    return {}


@dataclass(frozen=True)
class Stored:
    """Files of a folder, checked against its manifest."""

    folder: Path
    manifest: Mapping[str, Any]
    files: Mapping[str, bytes]

    def __contains__(self, name: str) -> bool:
        return name in self.files

    def bytes_of(self, name: str) -> bytes:
        """Return the bytes of a file that the folder must have."""
        if name not in self.files:
            raise InputError(
                f"{self.folder} holds no {name}: it is a folder of equigraph with another kind of result "
                f"({self.manifest['kind']})."
            )
        return self.files[name]

    def json(self, name: str, schema: Any) -> Any:
        """Return the content of a JSON file, checked against a schema; see `decode`."""
        path = self.folder / name
        return decode(parse_json(self.bytes_of(name), path), schema, path)

    def table(self, name: str) -> dict[str, NDArray]:
        """Return the columns of a csv or parquet file; None where a cell is missing."""
        data, path, entries = self.bytes_of(name), self.folder / name, self.manifest["columns"].get(name, {})
        if path.suffix == ".parquet":
            return _read_parquet(data, path)
        heads, *rows = _csv_rows(data, path) or [[]]
        if set(heads) != set(entries) or len(set(heads)) < len(heads):
            raise InputError(f"{path} is no table with the columns {', '.join(entries)}: {_EXPECTED}.")
        if any(len(row) != len(heads) for row in rows):
            raise InputError(f"{path} has rows of different lengths: {_EXPECTED}.")
        plain = str if self.manifest["raw"] else as_given
        columns = zip(*rows, strict=True) if rows else ([] for _ in heads)
        return {
            head: _column([plain(cell) for cell in cells], entries[head], path)
            for head, cells in zip(heads, columns, strict=True)
        }

    def matrix(self, name: str, shape: tuple[int, int]) -> Any:
        """Return a matrix of finite numbers from an npz file, or from a csv file of its rows or its entries."""
        data, path = self.bytes_of(name), self.folder / name
        try:
            if path.suffix == ".npz":
                found = _npz_matrix(data, path.stem, (shape[0] + 1) * (shape[1] + 1))
            elif name in self.manifest["columns"]:
                row, column, values = self.table(name).values()
                found = sparse.csr_array((values, (row, column)), shape=shape)
            else:
                found = np.array(_csv_rows(data, path), dtype=np.float64)
        except _DAMAGE as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{path} cannot be read ({reason(error)}): {_EXPECTED}.") from None
        what = f"{found.shape} of {found.dtype}"
        if found.shape != shape or found.dtype.kind not in "fiu":
            raise InputError(f"{path} holds {what}: expected a matrix of {shape} numbers.")
        if not np.isfinite(found.data if sparse.issparse(found) else found).all():
            raise InputError(f"{path} holds NaN or infinity: expected finite numbers.")
        return found


def parse_json(data: bytes, path: Path) -> dict[str, Any]:
    """Return the JSON object in a file."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON ({error}): {_EXPECTED}.") from None
    if not isinstance(content, dict):
        raise InputError(f"{path} is not what equigraph wrote: expected an object of JSON.")
    return content


def _column_entries(table: Mapping[str, NDArray]) -> dict[str, ColumnEntry]:
    entries: dict[str, ColumnEntry] = {}
    for name, column in table.items():
        missing = is_missing(column) if column.dtype.kind == "O" else np.zeros(column.size, dtype=bool)
        if missing.any() and not missing.all():
            column = as_column(column[~missing].tolist())  # restore the type that a None made object
        found: Any = _TYPES.get(column.dtype.kind, "text")
        entries[name] = {"type": found, "n_missing": int(missing.sum())}
    return entries


def _csv_rows(data: bytes, path: Path) -> list[list[str]]:
    try:
        text = data.decode("utf-8", "surrogatepass")
        return list(csv.reader(io.StringIO(text, newline="")))
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path} is no table ({error}): {_EXPECTED}.") from None


def _column(cells: list[str], entry: ColumnEntry, path: Path) -> NDArray:
    if not entry["n_missing"]:
        return _typed(cells, entry["type"], path)
    missing = np.array([cell == "" for cell in cells])
    found, expected = int(missing.sum()), entry["n_missing"]
    if found != expected:
        raise InputError(f"{path} has {found:,} empty cells in a column with {expected:,}: {_EXPECTED}.")
    return with_gaps(_typed([cell for cell in cells if cell], entry["type"], path), missing)


def _typed(cells: list[str], kind: str, path: Path) -> NDArray:
    try:
        if kind == "integer":
            return np.array([int(cell) for cell in cells], dtype=np.int64)
        if kind == "number":
            return np.array([float(cell) for cell in cells])
        if kind == "boolean":
            return np.array([{"True": True, "False": False}[cell] for cell in cells])
    except (ValueError, OverflowError, KeyError):
        raise InputError(f"{path} has a value that is no {kind}: {_EXPECTED}.") from None
    objects = np.array(cells, dtype=object)
    texts = as_names(objects)
    # numpy drops a NUL at the end of its texts, so names with one stay objects.
    return texts if texts.tolist() == cells else objects


def _read_parquet(data: bytes, path: Path) -> dict[str, NDArray]:
    parquet = require("pyarrow.parquet", extra="io", purpose="Reading labels in parquet")
    try:
        table = parquet.read_table(io.BytesIO(data))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} is no table ({error}): {_EXPECTED}.") from None
    return {name: as_names(object_array(table.column(name).to_pylist())) for name in table.column_names}


def _npz_matrix(data: bytes, name: str, most: int) -> Any:
    """Return the matrix of an npz file, dense or sparse, whose arrays may declare at most `most` entries."""
    from equigraph.graph.matrix_files import npy_header

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for member in archive.namelist():
            with archive.open(member) as stream:
                shape, _ = npy_header(stream)
            if math.prod(shape) > most:
                raise ValueError(f"it declares an array of shape {shape}")
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        if name in stored.files:
            return stored[name]
        parts = (stored["data"], stored["indices"], stored["indptr"])
        found = sparse.csr_array(parts, shape=tuple(stored["shape"].tolist()))
    found.check_format(full_check=True)
    return found


def decode(value: Any, schema: Any, path: Path, name: str = "") -> Any:
    """Return a value of JSON as a type, or raise InputError with the path and the name of the entry.

    A type is one of those of JSON, ``Any``, ``Literal``, a union, a list, tuple or mapping, an array of numbers, a
    ``TypedDict`` (whose further entries are kept) or a dataclass. ``float`` is a finite number, or null for NaN.

    >>> decode({"a": [1, 2]}, dict[str, tuple[int, ...]], Path("x"))
    {'a': (1, 2)}
    """
    origin, args = get_origin(schema), get_args(schema)
    if origin in (Union, types.UnionType):
        *first, last = [option for option in args if option is not type(None)]
        if value is None and type(None) in args:
            return None
        for option in first:
            with suppress(InputError):
                return decode(value, option, path, name)
        return decode(value, last, path, name)
    if origin is NotRequired:
        return decode(value, args[0], path, name)
    if typing.is_typeddict(schema) or is_dataclass(schema):
        return _decode_object(value, schema, path, name)
    if origin is np.ndarray:
        return _decode_array(value, get_args(args[1])[0], path, name)
    if schema is float and value is None:
        return math.nan
    if origin in (list, tuple) and isinstance(value, list):
        inner = args if origin is tuple and args[-1] is not Ellipsis else [args[0]] * len(value)
        if len(inner) == len(value):
            return origin(decode(one, kind, path, name) for one, kind in zip(value, inner, strict=True))
    elif isinstance(origin, type) and issubclass(origin, Mapping) and isinstance(value, dict):
        return {key: decode(one, args[1], path, name or key) for key, one in value.items()}
    elif _is_scalar(value, schema, args):
        return value
    raise _wrong(value, path, name)


def _is_scalar(value: Any, schema: Any, options: tuple[Any, ...]) -> bool:
    """Return whether a value is of a type without parts, or one of the options of a ``Literal``."""
    if schema is float:
        return type(value) in (int, float) and abs(value) <= sys.float_info.max
    if schema is int:
        return type(value) is int and abs(value) < 2**64
    return schema is Any or value in options or type(value) is (type(None) if schema is None else schema)


def _decode_object(value: Any, schema: Any, path: Path, name: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(value, path, name)
    hints = typing.get_type_hints(schema, include_extras=True)
    if typing.is_typeddict(schema):
        # Not __required_keys__: annotations are strings when the class is created.
        required = {key for key in hints if schema.__total__ and get_origin(hints[key]) is not NotRequired}
    else:
        arguments = inspect.signature(schema).parameters
        hints = {name: hints[name] for name in arguments}
        required = {name for name, one in arguments.items() if one.default is one.empty}
        unknown = next((key for key in value if key not in arguments), None)
        if unknown is not None:
            raise InputError(f"{path} has an unknown entry {_short(unknown)}: {_EXPECTED}.")
    for key in required:
        if key not in value:
            raise InputError(f"{path} has no entry {key!r}: {_EXPECTED}.")
    found = {key: decode(value[key], kind, path, key) for key, kind in hints.items() if key in value}
    return {**value, **found} if typing.is_typeddict(schema) else schema(**found)


def _decode_array(value: Any, dtype: type, path: Path, name: str) -> NDArray:
    try:
        found = np.array(value if isinstance(value, list) else None)
    except (ValueError, OverflowError):
        raise _wrong(value, path, name) from None
    if found.size == 0 and isinstance(value, list):
        return found.astype(dtype)
    kinds = "i" if issubclass(dtype, np.integer) else "if"
    if found.dtype.kind not in kinds or not np.isfinite(found).all():
        raise _wrong(value, path, name)
    return found.astype(dtype)


def _wrong(value: Any, path: Path, name: str) -> InputError:
    if not name:
        return InputError(f"{path} is not what equigraph wrote: expected another kind of JSON.")
    return InputError(f"{path} has an entry {name!r} of the wrong kind ({_short(value)}).")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
