"""File formats: from a path to a graph, or to the object of another library that holds it."""

from __future__ import annotations

import gzip
import os
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy import sparse

from equigraph.exceptions import EquigraphError, GraphError, ParameterError, require
from equigraph.graph.adapters import with_integer_names
from equigraph.graph.delimited import open_text_file

SUFFIXES = {
    ".csv": "delimited",
    ".tsv": "delimited",
    ".txt": "delimited",
    ".edges": "delimited",
    ".edgelist": "delimited",
    ".parquet": "parquet",
    ".graphml": "graphml",
    ".gml": "gml",
    ".mtx": "mtx",
    ".npz": "npz",
    ".mat": "mat",
}
# What the adjacency is called among other arrays, the first that is there.
NAMES = ("A", "adjacency")
FORMATS = ("edges", "matrix", "csv", "tsv", "txt", "parquet", "graphml", "gml", "mtx", "npz", "mat")


def as_path(source: Any) -> Path | None:
    """Return the path if the source names a file, else None."""
    if isinstance(source, (str, os.PathLike)):
        return Path(source)
    return None


def file_format(path: Path, format: str | None) -> str:
    """Return the format of a file, as told or by its suffix."""
    if format is not None:
        if format not in FORMATS:
            raise ParameterError(f"format={format!r} is unknown: expected one of {', '.join(FORMATS)}.")
        return "delimited" if format in ("csv", "tsv", "txt") else format
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    known = SUFFIXES.get(suffixes[-1]) if suffixes else None
    if known is None:
        raise GraphError(
            f"{path.name} has an unknown suffix: expected one of {', '.join(SUFFIXES)} (and .gz), or name "
            "the format with format=."
        )
    return known


def check_file(path: Path) -> None:
    """Raise GraphError unless the path is a file."""
    if not path.is_file():
        raise GraphError(f"{path} does not exist or is not a file: expected a file with a graph or groups.")


def read_file(
    path: Path,
    format: str | None,
    *,
    header: bool | None,
    delimiter: str | None,
    weight: str | int | bool | None,
    symmetrize: str | None,
    duplicates: str,
    dtype: DTypeLike | None,
) -> Any:
    """Read a file into a Graph, or into a matrix, table or networkx graph that `as_graph` converts."""
    check_file(path)
    kind = file_format(path, format)
    if kind in ("delimited", "edges", "matrix"):
        from equigraph.graph.edge_files import read_edges
        from equigraph.graph.matrix_files import is_matrix_file, read_matrix

        if delimiter is None and (format == "tsv" or Path(path.name.removesuffix(".gz")).suffix == ".tsv"):
            delimiter = "\t"
        file = open_text_file(path, delimiter)
        if kind == "matrix" or (kind == "delimited" and is_matrix_file(file, header)):
            return read_matrix(file, header=header, symmetrize=symmetrize, dtype=dtype)
        return read_edges(
            file, header=header, weight=weight, symmetrize=symmetrize, duplicates=duplicates, dtype=dtype
        )
    if header is not None or delimiter is not None:
        raise ParameterError(f"header= and delimiter= are for text files, and {path.name} is read as {kind}.")
    options: dict[str, Any] = {"symmetrize": symmetrize, "duplicates": duplicates, "dtype": dtype}
    readers: dict[str, Callable[[Path], Any]] = {
        "parquet": partial(_read_edge_parquet, weight=weight, **options),
        "graphml": _read_graphml,
        "gml": _read_gml,
        "mtx": _read_matrix_market,
        "npz": _read_npz,
        "mat": _read_mat,
    }
    try:
        return readers[kind](path)
    except EquigraphError:
        raise
    except Exception as error:  # the readers of other libraries raise what they like
        reason = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
        raise GraphError(f"{path.name} cannot be read as {kind}: {reason}.") from error


def read_parquet(path: Path) -> Any:
    """Read a Parquet file as a pyarrow table."""
    return require("pyarrow.parquet", extra="io", purpose="Reading Parquet").read_table(path)


def _read_edge_parquet(path: Path, *, weight: str | int | bool | None, **options: Any) -> Any:
    """Read an edge list in batches, or anything else as a table."""
    from equigraph.graph.arrow_tables import rows_of_parquet
    from equigraph.graph.edges import graph_from_rows

    rows = rows_of_parquet(path, weight)
    return read_parquet(path) if rows is None else graph_from_rows(rows, **options)


def _read_graphml(path: Path) -> Any:
    networkx = require("networkx", extra="io", purpose="Reading GraphML")
    return with_integer_names(networkx.read_graphml(path))


def _read_gml(path: Path) -> Any:
    networkx = require("networkx", extra="io", purpose="Reading GML")
    try:
        graph = networkx.read_gml(path)
    except networkx.NetworkXError as error:
        if "label" not in str(error):
            raise
        graph = networkx.read_gml(path, label="id")  # labels are optional in GML, ids are not
    return with_integer_names(graph)


def _read_matrix_market(path: Path) -> Any:
    from scipy.io import mmread

    return mmread(path)


def _read_npz(path: Path) -> Any:
    if path.suffix.lower() == ".gz" or not zipfile.is_zipfile(path):
        raise GraphError(
            f"{path.name} is not an npz file: expected one of scipy.sparse.save_npz or numpy.savez."
        )
    with np.load(path, allow_pickle=False) as archive:
        if "format" in archive.files:
            return sparse.load_npz(path)
        wanted = [key for key in NAMES if key in archive.files][:1] or archive.files
        return _choose({key: archive[key] for key in wanted}, path)


def _read_mat(path: Path) -> Any:
    from scipy.io import loadmat

    with gzip.open(path) if path.suffix.lower() == ".gz" else open(path, "rb") as stream:
        variables = loadmat(stream)
    return _choose({key: value for key, value in variables.items() if not key.startswith("__")}, path)


def _choose(arrays: dict[str, Any], path: Path) -> Any:
    """Return the variable called A or adjacency, or else the only square one."""
    for key in NAMES:
        if key in arrays:
            return arrays[key]
    square = [
        key
        for key, value in arrays.items()
        if getattr(value, "ndim", 0) == 2 and value.shape[0] == value.shape[1] and value.dtype.kind in "buif"
    ]
    if len(square) == 1:
        return arrays[square[0]]
    found = ", ".join(f"{key} {getattr(value, 'shape', '')}" for key, value in arrays.items())
    raise GraphError(
        f"{path.name} holds {len(square)} square matrices among {found or 'no variables'}: expected one "
        "called A or adjacency, or only one."
    )
