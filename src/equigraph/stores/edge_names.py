"""Names of the nodes of a partitioned edge set: collection, numbering and lookup, file by file.

The edges are never in memory as a whole. The names of the nodes are, as an arrow array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GraphError, only_ours, require
from equigraph.graph.names import text_array

if TYPE_CHECKING:
    from equigraph.stores.edge_blocks import EdgeColumns

NAMES_FILE, _COLUMN = "names.parquet", "name"
_BATCH = 2**20


def is_text(kind: Any) -> bool:
    """Return whether a column of this arrow type holds text."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind))


def collect_names(
    files: list[Path], columns: EdgeColumns, path: Path, mapped: Callable[..., Iterable[Any]]
) -> int:
    """Write the sorted names of all nodes as parquet, and return their number.

    ``mapped`` is ``map`` or a parallel version of it, whose processes must see the files.
    """
    import pyarrow
    from pyarrow import parquet

    known = _distinct([found] for found in mapped(names_of_file, files, [columns] * len(files)))
    known = known.take(pyarrow.compute.sort_indices(known))
    parquet.write_table(pyarrow.table({_COLUMN: known}), path)
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
    absent = compute.fill_null(compute.equal(compute.utf8_length(texts), 0), True).to_numpy(
        zero_copy_only=False
    )
    if absent.any():
        row = first + int(np.argmax(absent))
        raise GraphError(f"{file}, row {row}: {name!r} is missing, expected the name of a node.")
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


def names_array(path: Path) -> NDArray[Any]:
    """Return the names in a folder of row blocks as an array of text."""
    require("pyarrow.parquet", extra="io", purpose="Reading names in parquet")
    with only_ours(f"{path} cannot be read as names, so write the blocks again", GraphError):
        return text_array(read_names(path).to_pylist())


def name_of(path: Path | None, node: int) -> Any:
    """Return the name of a node, or its number without names, for a message."""
    return node if path is None else read_names(path)[node].as_py()
