"""Export of tables, values for JSON, and the versions in use."""

from __future__ import annotations

import csv
import importlib
import importlib.metadata
import json
import os
import platform
import re
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.files import atomic_path, write_text
from equigraph._utils.version import __version__
from equigraph.exceptions import require

# Names may contain lone surrogates; they are written, and read again, unchanged.
_TEXT: dict[str, Any] = {"encoding": "utf-8", "errors": "surrogatepass"}
# Text that a spreadsheet takes for a formula; leading apostrophes are part of a name, or of `harmless`.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def frame_of(columns: dict[str, Any], backend: Literal["pandas", "polars", "pyarrow"]) -> Any:
    """Return columns as a frame of a library; values that the library has no type for become text."""
    import narwhals as nw

    library = require(backend, extra="io" if backend == "pyarrow" else None, purpose=f"A {backend} table")
    if backend != "pandas":
        make = library.array if backend == "pyarrow" else library.Series
        columns = {name: typed(column, make) for name, column in columns.items()}
    return nw.from_dict(columns, backend=backend).to_native()


class Tabular:
    """Base class of objects whose content is a table of columns of one length."""

    def table(self) -> dict[str, NDArray]:
        """Return the columns by name."""
        raise NotImplementedError

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the table as a pandas, polars or pyarrow frame.

        pandas keeps values of any type; the others convert values without a type, such as names of mixed types, to
        text.
        """
        return frame_of(self.table(), backend)

    def to_csv(self, path: str | os.PathLike[str], *, raw: bool = False) -> None:
        """Write the table as csv.

        Parameters
        ----------
        path : path-like
            The file.
        raw : bool, default=False
            Whether texts are written as they are. By default those that a spreadsheet would run as a formula,
            such as ``=1+1``, get an apostrophe in front.
        """
        write_csv(path, self.table(), raw=raw)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table as parquet (extra ``io``); values without a type are written as text."""
        write_parquet(path, self.table())


def write_parquet(path: str | os.PathLike[str], columns: Mapping[str, NDArray]) -> None:
    """Write columns of one length as parquet; values without a type are written as text."""
    pyarrow = require("pyarrow", extra="io", purpose="Writing parquet")
    parquet = require("pyarrow.parquet", extra="io", purpose="Writing parquet")
    typed_columns = {name: typed(column, pyarrow.array) for name, column in columns.items()}
    with atomic_path(path) as partial:
        parquet.write_table(pyarrow.table(typed_columns), partial)


def typed(column: NDArray, make: Callable[[list[Any]], Any]) -> NDArray | list[Any]:
    """Return a column for a library of typed columns: unchanged, or as text if the library rejects it.

    >>> import polars
    >>> typed(np.array([7, "b", None], dtype=object), polars.Series)
    ['7', 'b', None]
    """
    if column.dtype != object:
        return column
    values = column.tolist()
    try:
        make(values)
    except Exception:  # every library has its own errors for this
        return [None if value is None else str(value) for value in values]
    return values


def framed(columns: dict[str, Any], n_keys: int = 1) -> Any:
    """Return columns as a pandas frame, the first ones as its index; as a list of dicts without pandas."""
    pandas = _pandas()
    if pandas is None:
        return [
            dict(zip(columns, row, strict=True)) for row in zip(*map(list, columns.values()), strict=True)
        ]
    return pandas.DataFrame(columns).set_index(list(columns)[:n_keys])


def named(values: dict[str, Any], name: str) -> Any:
    """Return values by name as a pandas Series, or unchanged without pandas."""
    pandas = _pandas()
    return values if pandas is None else pandas.Series(values, name=name)


def _pandas() -> Any:
    try:
        return importlib.import_module("pandas")
    except ImportError:
        return None


def write_csv(path: str | os.PathLike[str], columns: dict[str, NDArray], *, raw: bool = False) -> None:
    """Write columns of one length as csv, the names first; texts are `harmless` unless they are to be raw."""
    rows = zip(*(_cells(column, raw) for column in columns.values()), strict=True)
    with atomic_path(path) as partial, partial.open("w", newline="", **_TEXT) as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(rows)


def _cells(column: NDArray, raw: bool) -> list[Any]:
    values = column.tolist()
    if raw or column.dtype.kind in "iufb":
        return values
    return [harmless(value) for value in values]


def harmless(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: texts that begin like one get an apostrophe.

    Numbers are not changed, whatever their sign. `as_given` is the inverse.

    >>> harmless("=1+1"), harmless("-5"), harmless("@home"), harmless("a=b")
    ("'=1+1", '-5', "'@home", 'a=b')
    """
    text = value if isinstance(value, str) else str(value)
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else value


def as_given(text: str) -> str:
    """Return the original text of a cell; the inverse of `harmless`.

    >>> as_given("'=1+1"), as_given("'tis"), as_given(harmless("'=1+1"))
    ('=1+1', "'tis", "'=1+1")
    """
    return text[1:] if text.startswith("'") and harmless(text) != text else text


def write_json(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a dict as JSON."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def plain(value: Any) -> Any:
    """Convert a value to types of JSON; other objects become their repr."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    return repr(value)


def parameters_of(model: Any, *, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return the parameters of an estimator, ready for JSON.

    Callbacks are left out, since they do not change the result.
    """
    return {
        name: plain(value)
        for name, value in sorted(model.get_params(deep=False).items())
        if name not in ("callbacks", *without)
    }


def versions() -> dict[str, str]:
    """Return the versions of Python, of equigraph and of its numerical dependencies."""
    packages = ("numpy", "scipy", "scikit-learn", "numba")
    return {
        "python": platform.python_version(),
        "equigraph": __version__,
        **{package: importlib.metadata.version(package) for package in packages},
    }
