"""Conversion of a partitioned parquet edge set to row blocks, out of core.

Names of nodes are collected and numbered first; they are in memory all at once, the edges never. Three passes follow:
count the edges of every node, scatter both directions of every edge to the row block of its first end, and sort each
block. A pass works file by file, or block by block, so that the workers of a Dask cluster can share it.
"""

from __future__ import annotations

import os
import shutil
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.files import naming_the_path, private_folder
from equigraph._utils.parameters import check_known
from equigraph.exceptions import GraphError, ParameterError, only_ours, reason, require
from equigraph.graph.edges import merge_repeated
from equigraph.graph.limits import FREE_NODES, TIMES
from equigraph.graph.names import text_array
from equigraph.graph.tables import edge_columns, is_text
from equigraph.graph.validate import warn_self_loops
from equigraph.stores.block_files import (
    BLOCK_BYTES,
    RowBlock,
    block_cuts,
    block_writer,
    check_target,
    save_block,
)
from equigraph.stores.blocks import BlockGraph, open_blocks

# Column of the names of the nodes in their temporary file, and rows that are read at a time.
_COLUMN, _BATCH = "name", 2**20
DUPLICATES = ("error", "sum", "max", "min", "mean")
# Limit of node numbers: larger ones are probably keys, and rows are counted in an array over nodes.
_MOST_NODES = 2**33


@dataclass(frozen=True)
class EdgeColumns:
    """Names of the columns of both ends and, if any, of the weights.

    If ends are names, ``names`` is the temporary file for all of them in order.
    """

    ends: list[str]
    weight: str | None
    names: Path | None


def write_edge_blocks(
    edges: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    *,
    n_nodes: int | None = None,
    weight: str | bool | None = None,
    duplicates: str = "error",
    block_bytes: int = BLOCK_BYTES,
    execution: Any = None,
) -> BlockGraph:
    """Write a parquet edge set as row blocks; the graph is never in memory as a whole.

    Parameters
    ----------
    edges : path
        A parquet file, or a folder of them. Ends are node numbers 0, 1, ..., or text, the names of the nodes. Names are
        sorted, numbered and stored beside the blocks. Each edge may be listed in one direction or in both.
    folder : path
        A new or empty folder for the blocks. While they are made, temporary files beside it take twice their size.
    n_nodes : int, optional
        Number of nodes, if ends are numbers; by default one more than the largest end. That is then limited to a
        million plus 64 per byte of the files.
    weight : str or False, optional
        Column of the weights, found by name as in `equigraph.read_graph`; False ignores them.
    duplicates : {"error", "sum", "max", "min", "mean"}, default="error"
        What to do with an edge that is listed with different weights; ``"sum"`` without weights counts its rows.
    block_bytes : int
        Approximate size of a block.
    execution : "dask", str or distributed.Client, optional
        Dask cluster whose workers read and sort; all must see both folders.

    Returns
    -------
    BlockGraph
        The folder, opened. A process needs about 40 bytes per node, the names, and six times the size of a block.

    Raises
    ------
    GraphError
        If an end is missing, negative or neither whole number nor text, or a weight is negative or not finite.

    Warns
    -----
    SelfLoopWarning
        If there are self-loops; they are dropped.
    """
    check_known("duplicates", duplicates, DUPLICATES)
    if n_nodes is not None and (not isinstance(n_nodes, (int, np.integer)) or n_nodes < 1):
        raise ParameterError(f"n_nodes must be a whole number of at least 1; got {n_nodes!r}.")
    # The working directory of the workers may differ.
    edges, folder = Path(edges).resolve(), Path(folder).resolve()
    check_target(folder)
    files = edge_files(edges)
    with ExitStack() as stack:
        mapped: Callable[..., Iterable[Any]] = map
        if execution is not None:
            from equigraph.stores.dask_rows import dask_client

            mapped = _mapping(stack.enter_context(dask_client(execution)))
        with naming_the_path(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
        spare = stack.enter_context(private_folder(folder.parent))
        columns = find_columns(files[0], weight, spare / "names.parquet")
        if columns.names is not None:
            if n_nodes is not None:
                raise ParameterError(
                    "n_nodes is for nodes that are numbers, and the edge set has names: leave it out."
                )
            n_nodes = collect_names(files, columns, mapped)
        return _write_numbered(files, columns, folder, n_nodes, duplicates, block_bytes, mapped)


def _mapping(client: Any) -> Callable[..., Iterable[Any]]:
    def mapped(function: Callable[..., Any], *arguments: Iterable[Any]) -> Iterator[Any]:
        futures = deque(client.map(function, *arguments, pure=False))
        while futures:
            # Results are released on the workers once they are taken.
            yield futures.popleft().result()

    return mapped


def _write_numbered(
    files: list[Path],
    columns: EdgeColumns,
    folder: Path,
    n_nodes: int | None,
    duplicates: str,
    block_bytes: int,
    mapped: Callable[..., Iterable[Any]],
) -> BlockGraph:
    """Write blocks of an edge set whose nodes are numbered, or whose names are collected."""
    most = n_nodes or FREE_NODES + TIMES * sum(file.stat().st_size for file in files)
    counts, n_loops = np.zeros(n_nodes or 0, dtype=np.int64), 0
    for found, loops in mapped(partial(count_file, columns=columns, most=most), files):
        counts, n_loops = _padded_sum(counts, found), n_loops + loops
    if counts.size == 0:
        raise GraphError("The edge set has no edge: expected at least one.")
    warn_self_loops(n_loops)
    index = np.dtype(np.int32 if counts.size <= np.iinfo(np.int32).max else np.int64)
    fields = [("row", index), ("column", index)]
    kind = np.dtype(fields if columns.weight is None else [*fields, ("weight", np.float64)])
    entry = index.itemsize + (0 if columns.weight is None and duplicates != "sum" else 8)
    cuts = block_cuts(np.concatenate([[0], np.cumsum(counts)]), entry, block_bytes=block_bytes)
    with block_writer(folder, counts.size, cuts) as writer:
        spill = writer.partial / "spill"
        spill.mkdir()
        scatter = partial(scatter_file, columns=columns, spill=spill, cuts=cuts, kind=kind)
        for _ in mapped(scatter, files, range(len(files))):
            pass
        sort = partial(
            sort_block,
            folder=writer.partial,
            cuts=cuts,
            kind=kind,
            duplicates=duplicates,
            names=columns.names,
        )
        for facts in mapped(sort, range(len(cuts) - 1)):
            writer.add(facts)
        shutil.rmtree(spill)
        if columns.names is not None:
            writer.save("names", text_array(read_names(columns.names).to_pylist()))
    return open_blocks(folder)


def edge_files(edges: str | os.PathLike[str]) -> list[Path]:
    """Return the parquet files of an edge set, in the order of their names."""
    path = Path(edges)
    files = [path] if path.is_file() else sorted(path.rglob("*.parquet"))
    if not files:
        raise GraphError(f"{path} is neither a parquet file nor a folder of them: expected an edge set.")
    return files


def is_edge_folder(path: Any) -> bool:
    """Return whether a path is a folder with parquet files."""
    return isinstance(path, (str, os.PathLike)) and Path(path).is_dir() and any(Path(path).rglob("*.parquet"))


def find_columns(file: Path, weight: str | bool | None, names_file: Path) -> EdgeColumns:
    """Find the columns of an edge set in its first file; ``names_file`` is for the names of nodes, if there are any."""
    parquet = require("pyarrow.parquet", extra="io", purpose="Reading parquet")
    try:
        schema = parquet.read_schema(file)
    except (OSError, ValueError) as error:
        raise GraphError(f"{file} cannot be read as parquet ({reason(error)}).") from error
    names = list(schema.names)
    found = edge_columns(names, weight, where=file.name, most=len(names))
    if found is None:
        raise GraphError(f"{file} has the columns {names}: expected two ends and, optionally, a weight.")
    ends, place = found
    named = any(is_text(schema.types[end]) for end in ends)
    return EdgeColumns(
        [names[end] for end in ends], None if place is None else names[place], names_file if named else None
    )


def read_batches(
    file: Path, columns: EdgeColumns
) -> Iterator[tuple[NDArray, NDArray, NDArray[np.float64] | None]]:
    """Yield validated sources, targets and weights of a file, in batches of rows."""
    weight = columns.weight
    with file_errors(file):
        numbers = _ends if columns.names is None else numbers_of_names(file, columns)
        for first, batch in batches(file, columns.ends if weight is None else [*columns.ends, weight]):
            source, target = (numbers(batch.column(name), name, file, first) for name in columns.ends)
            yield source, target, None if weight is None else _weights(batch.column(weight), file, first)


def _check_rows(right: NDArray, column: Any, name: str, file: Path, first: int, expected: str) -> None:
    """Raise a GraphError that names the first row of a batch whose value is not right."""
    if not right.all():
        row = int(np.argmin(right))
        value = column[row].as_py()
        shown = f"{value:g}" if isinstance(value, float) else value
        raise GraphError(
            f"{file}, row {first + row}: {name} is {'missing' if shown in (None, '') else shown}, expected {expected}."
        )


def _ends(column: Any, name: str, file: Path, first: int) -> NDArray[np.int64]:
    from pyarrow import int64, types

    if not types.is_integer(column.type):
        raise GraphError(
            f"{file}: column {name!r} holds {column.type}, expected whole numbers 0, 1, ... or names as text for the "
            "nodes of a partitioned edge set, the same in all files."
        )
    ends = column.cast(int64(), safe=False).fill_null(-1).to_numpy()
    right = (ends >= 0) & (ends < _MOST_NODES)
    _check_rows(right, column, repr(name), file, first, f"the number of a node, from 0 to {_MOST_NODES - 1}")
    return ends


def _weights(column: Any, file: Path, first: int) -> NDArray[np.float64]:
    try:
        weights = column.to_numpy(zero_copy_only=False).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise GraphError(f"{file}: the weights are not numbers ({reason(error)}).") from error
    right = np.isfinite(weights) & (weights >= 0)
    _check_rows(right, column, "the weight", file, first, "a finite nonnegative number")
    return weights


def count_file(file: Path, columns: EdgeColumns, most: int) -> tuple[NDArray[np.int64], int]:
    """Return the number of rows that name each node, self-loops left out, and the number of self-loops.

    The counts are an array over nodes, so a node number of `most` or more raises a GraphError.
    """
    counts, n_loops = np.zeros(0, dtype=np.int64), 0
    for source, target, _ in read_batches(file, columns):
        loops = source == target
        n_loops += int(np.count_nonzero(loops))
        # A node with only a self-loop counts as a node.
        size = max(int(source.max(initial=-1)), int(target.max(initial=-1)), counts.size - 1) + 1
        if size > most:
            raise GraphError(f"The edge set names node {size - 1}: expected nodes below n_nodes={most}.")
        found = np.bincount(source[~loops], minlength=size) + np.bincount(target[~loops], minlength=size)
        counts = _padded_sum(counts, found)
    return counts, n_loops


def _padded_sum(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of two arrays, the shorter one padded with zeros."""
    short, long = sorted((one, other), key=len)
    return long + np.pad(short, (0, long.size - short.size))


def scatter_file(
    file: Path, number: int, *, columns: EdgeColumns, spill: Path, cuts: list[int], kind: np.dtype
) -> None:
    """Append both directions of every edge of a file to its temporary file for each block."""
    # A task that is repeated after the loss of a worker must remove its earlier output.
    for earlier in spill.glob(f"*-{number:05d}"):
        earlier.unlink()
    for source, target, weights in read_batches(file, columns):
        keep = source != target
        both = np.empty(2 * int(np.count_nonzero(keep)), dtype=kind)
        half = both.size // 2
        both["row"][:half], both["column"][:half] = source[keep], target[keep]
        both["row"][half:], both["column"][half:] = target[keep], source[keep]
        if weights is not None:
            both["weight"][:half] = both["weight"][half:] = weights[keep]
        block = np.searchsorted(cuts, both["row"], side="right") - 1
        order = np.argsort(block, kind="stable")
        stops = np.searchsorted(block[order], np.arange(len(cuts)))
        for place in np.flatnonzero(np.diff(stops)):
            with (spill / f"{place:05d}-{number:05d}").open("ab") as stream:
                both[order[stops[place] : stops[place + 1]]].tofile(stream)


def sort_block(
    number: int,
    *,
    folder: Path,
    cuts: list[int],
    kind: np.dtype,
    duplicates: str,
    names: Path | None,
) -> dict[str, Any]:
    """Write a row block from its temporary files, and return the metadata for `BlockWriter.add`."""
    files = sorted((folder / "spill").glob(f"{number:05d}-*"))
    edges = np.concatenate([np.empty(0, dtype=kind), *(np.fromfile(file, dtype=kind) for file in files)])
    low, high, n_nodes = cuts[number], cuts[number + 1], cuts[-1]
    edges = edges[np.lexsort((edges["column"], edges["row"]))]
    indptr = np.searchsorted(edges["row"], np.arange(low, high + 1))
    weights = edges["weight"].copy() if "weight" in (kind.names or ()) else np.ones(edges.size, dtype=np.int8)
    pairs = sparse.csr_array((weights, edges["column"].copy(), indptr), shape=(high - low, n_nodes))

    def conflict(row: int, column: int) -> GraphError:
        found = weights[(edges["row"] == low + row) & (edges["column"] == column)]
        return GraphError(
            f"The edge between {name_of(names, low + row)} and {name_of(names, column)} is listed with the weights "
            f"{found.min():g} and {found.max():g}: say how to combine them with duplicates='sum', 'max', 'min' or "
            "'mean'."
        )

    merged = merge_repeated(pairs, duplicates, conflict)
    merged.eliminate_zeros()  # edges of weight zero are none
    data = merged.data if merged.dtype.kind == "f" else None
    # The temporary files stay until all blocks are written: after the loss of a worker the task may be repeated.
    columns = merged.indices.astype(kind["row"], copy=False)
    return save_block(folder, number, RowBlock(low, high, merged.indptr, columns, data))


def collect_names(files: list[Path], columns: EdgeColumns, mapped: Callable[..., Iterable[Any]]) -> int:
    """Write the sorted names of all nodes to their temporary file, and return their number.

    ``mapped`` is ``map`` or a parallel version of it, whose processes must see the files.
    """
    import pyarrow
    from pyarrow import parquet

    known = _distinct([found] for found in mapped(names_of_file, files, [columns] * len(files)))
    known = known.take(pyarrow.compute.sort_indices(known))
    parquet.write_table(pyarrow.table({_COLUMN: known}), columns.names)
    return len(known)


def names_of_file(file: Path, columns: EdgeColumns) -> Any:
    """Return the distinct names in a file."""
    with file_errors(file):
        return _distinct(
            # Columns are selected by name, as a reader returns them in the order of the file.
            [_texts(batch.column(name), name, file, first) for name in columns.ends]
            for first, batch in batches(file, columns.ends)
        )


def _distinct(parts: Iterable[list[Any]]) -> Any:
    """Return the distinct texts in lists of arrays."""
    import pyarrow

    known = pyarrow.array([], type=pyarrow.large_string())
    for part in parts:
        known = pyarrow.concat_arrays([known, *part]).unique()
    return known


def file_errors(file: Path) -> AbstractContextManager[None]:
    """Convert all errors with a file of an edge set to a GraphError that names it."""
    return only_ours(f"{file} cannot be read like the first file of the edge set", GraphError)


def batches(file: Path, columns: list[str]) -> Iterator[tuple[int, Any]]:
    """Yield some columns of a file in batches of rows, each with the number of its first row."""
    parquet = require("pyarrow.parquet", extra="io", purpose="Reading parquet")
    first = 0
    for batch in parquet.ParquetFile(file).iter_batches(batch_size=_BATCH, columns=columns):
        yield first, batch
        first += batch.num_rows


def _texts(column: Any, name: str, file: Path, first: int) -> Any:
    from pyarrow import compute, large_string

    if not is_text(column.type):
        raise GraphError(
            f"{file}: column {name!r} holds {column.type}, expected names as text, as other ends of the edge set are."
        )
    texts = column.cast(large_string())
    # An empty text is not a name.
    right = compute.fill_null(compute.greater(compute.utf8_length(texts), 0), False)
    _check_rows(right.to_numpy(zero_copy_only=False), column, repr(name), file, first, "the name of a node")
    return texts


def numbers_of_names(file: Path, columns: EdgeColumns) -> Callable[..., NDArray[np.int64]]:
    """Return a function that maps a batch of names of a file to node numbers."""
    from pyarrow import compute

    assert columns.names is not None
    # One lookup in the long table of all names per file; batches are looked up among the names of the file.
    own = names_of_file(file, columns)
    places = compute.index_in(own, value_set=read_names(columns.names))
    if places.null_count:
        raise GraphError(
            f"{file} has changed since the names of its nodes were collected: write the blocks again."
        )

    def numbers(column: Any, name: str, file: Path, first: int) -> NDArray[np.int64]:
        rows = compute.index_in(_texts(column, name, file, first), value_set=own)
        return places.to_numpy()[rows.to_numpy()].astype(np.int64)

    return numbers


def read_names(path: Path) -> Any:
    """Return the names as an arrow array."""
    import pyarrow
    from pyarrow import parquet

    return parquet.read_table(path)[_COLUMN].cast(pyarrow.large_string()).combine_chunks()


def name_of(path: Path | None, node: int) -> Any:
    """Return the name of a node, or its number without names, for a message."""
    return node if path is None else read_names(path)[node].as_py()
