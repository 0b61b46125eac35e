"""File formats: from a path to a graph, or to the object of another library that holds it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import DTypeLike

from equigraph.exceptions import GraphError, ParameterError, only_ours, require
from equigraph.graph.delimited import open_text_file
from equigraph.graph.graphml_files import read_gml, read_graphml
from equigraph.graph.limits import check_rows
from equigraph.graph.market_files import read_matrix_market
from equigraph.graph.mat_files import read_mat
from equigraph.graph.npz_files import read_npz
from equigraph.messages import option

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
            raise ParameterError(
                f"{option('format', format)} is unknown: expected one of {', '.join(FORMATS)}."
            )
        return "delimited" if format in ("csv", "tsv", "txt") else format
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    known = SUFFIXES.get(suffixes[-1]) if suffixes else None
    if known is None:
        raise GraphError(
            f"{path.name} has an unknown suffix: expected one of {', '.join(SUFFIXES)} (and .gz), or name "
            f"the format with {option('format')}."
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
        raise ParameterError(
            f"{option('header')} and {option('delimiter')} are for text files, and {path.name} is read as {kind}."
        )
    options: dict[str, Any] = {"symmetrize": symmetrize, "duplicates": duplicates, "dtype": dtype}
    readers: dict[str, Callable[[Path], Any]] = {
        "parquet": partial(_read_edge_parquet, weight=weight, **options),
        "graphml": read_graphml,
        "gml": read_gml,
        "mtx": read_matrix_market,
        "npz": read_npz,
        "mat": read_mat,
    }
    with only_ours(f"{path.name} cannot be read as {kind}", GraphError):
        return readers[kind](path)


def read_parquet(path: Path) -> Any:
    """Read a Parquet file as a pyarrow table."""
    parquet = require("pyarrow.parquet", extra="io", purpose="Reading Parquet")
    check_rows(parquet.read_metadata(path).num_rows, path)
    return parquet.read_table(path)


def _read_edge_parquet(path: Path, *, weight: str | int | bool | None, **options: Any) -> Any:
    """Read an edge list in batches, or anything else as a table."""
    from equigraph.graph.arrow_tables import rows_of_parquet
    from equigraph.graph.edges import graph_from_rows

    rows = rows_of_parquet(path, weight)
    return read_parquet(path) if rows is None else graph_from_rows(rows, **options)
