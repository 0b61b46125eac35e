"""Row blocks, and the files of a folder of blocks: writing, reading and validation."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import tempfile
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.files import naming_the_path, private_folder, umask
from equigraph.exceptions import GraphError, ParameterError, reason
from equigraph.graph.matrix_files import npy_header
from equigraph.graph.names import texts
from equigraph.graph.sparse_arrays import check_compressed

FORMAT, VERSION = "equigraph row blocks", 2
META = "blocks.json"
_CHUNK = 2**24
# Default size of a block in bytes, approximately.
BLOCK_BYTES = 64 * 2**20
# A header is a Python literal. Python 3.11 may raise a SystemError if two threads parse literals at the same time.
_one_header = threading.Lock()


@dataclass(frozen=True)
class RowBlock:
    """Consecutive rows ``range(low, high)`` of an adjacency; columns are sorted within a row."""

    low: int
    high: int
    indptr: NDArray
    indices: NDArray
    data: NDArray | None  # None if all weights are `value`
    value: float = 1.0

    @property
    def n_entries(self) -> int:
        """Number of stored entries."""
        return int(self.indices.size)

    def weights_or_value(self) -> NDArray:
        """Return the weights, or an array with their common value once; empty without edges."""
        return np.full(min(self.n_entries, 1), self.value) if self.data is None else self.data

    def weights(self, dtype: Any = np.float64) -> NDArray:
        """Return one weight per stored entry."""
        if self.data is None:
            return np.full(self.n_entries, self.value, dtype=dtype)
        return np.asarray(self.data, dtype=dtype)

    def split_points(self, cuts: Sequence[int]) -> NDArray:
        """Return, for every cut, the first entry of each row whose column is at least the cut."""
        points = np.empty((len(cuts), self.high - self.low), dtype=self.indptr.dtype)
        below = np.zeros(self.n_entries + 1, dtype=self.indptr.dtype)
        for cut, firsts in zip(cuts, points, strict=True):
            np.cumsum(self.indices < cut, out=below[1:])
            firsts[:] = self.indptr[:-1] + np.diff(below[self.indptr])
        return points

    def writable(self) -> RowBlock:
        """Return the block with writable arrays, so that compiled loops need no variant for read-only ones."""
        data = None if self.data is None else writable(self.data)
        return replace(self, indptr=writable(self.indptr), indices=writable(self.indices), data=data)

    def csr(self, n_nodes: int, dtype: Any = np.float64) -> sparse.csr_array:
        """Return the rows as a CSR array of shape (high - low, n_nodes)."""
        arrays = (self.weights(dtype), np.asarray(self.indices), np.asarray(self.indptr))
        return sparse.csr_array(arrays, shape=(self.high - self.low, n_nodes))


def writable(array: NDArray) -> NDArray:
    """Return the array if it is writable, otherwise a copy; arrays received from other processes are read-only."""
    return array if array.flags.writeable else array.copy()


def split_rows(adjacency: sparse.csr_array, cuts: Sequence[int]) -> Iterator[RowBlock]:
    """Yield row blocks of an adjacency; they share its memory, except for the row pointers."""
    value = common_value(adjacency.data)
    for low, high in itertools.pairwise(cuts):
        start, stop = adjacency.indptr[low], adjacency.indptr[high]
        yield RowBlock(
            low,
            high,
            adjacency.indptr[low : high + 1] - start,
            adjacency.indices[start:stop],
            adjacency.data[start:stop] if value is None else None,
            1.0 if value is None else value,
        )


def common_value(data: NDArray) -> float | None:
    """Return the common value of all weights, or None; without edges it is 1."""
    if data.size == 0:
        return 1.0
    return float(data[0]) if (data == data[0]).all() else None


def entry_bytes(adjacency: sparse.csr_array) -> int:
    """Return the number of bytes per stored entry in a block."""
    weights = 0 if common_value(adjacency.data) is not None else adjacency.data.itemsize
    return int(adjacency.indices.itemsize + weights)


def block_cuts(
    indptr: NDArray, bytes_per_entry: int, rows_per_block: int | None = None, block_bytes: int = BLOCK_BYTES
) -> list[int]:
    """Return the first row of each block, and the end: equal numbers of rows, or approximately equal sizes."""
    n_nodes = indptr.size - 1
    if rows_per_block is not None:
        if rows_per_block < 1:
            raise ParameterError(
                f"rows_per_block must be a whole number of at least 1; got {rows_per_block!r}."
            )
        return [*range(0, n_nodes, rows_per_block), n_nodes]
    if block_bytes < 1:
        raise ParameterError(f"block_bytes must be a whole number of at least 1; got {block_bytes!r}.")
    # Row pointers count too; otherwise a graph without edges would be one block, however many rows it has.
    size = indptr.astype(np.float64) * bytes_per_entry + 4.0 * np.arange(n_nodes + 1)
    n_blocks = min(max(int(np.ceil(size[-1] / block_bytes)), 1), max(n_nodes, 1))
    inner = np.searchsorted(size, np.linspace(0, size[-1], n_blocks + 1)[1:-1])
    return np.unique([0, *inner.tolist(), n_nodes]).tolist()


@contextmanager
def block_writer(
    folder: str | os.PathLike[str], n_nodes: int, cuts: Sequence[int], dtype: Any = np.float64
) -> Iterator[BlockWriter]:
    """Open a writer of row blocks; the folder appears atomically once all blocks are written."""
    target = check_target(folder)
    with naming_the_path(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with private_folder(target.parent) as partial:
            writer = BlockWriter(partial, n_nodes, cuts, dtype)
            yield writer
            text = json.dumps({**writer.meta, "checksum": _digest(writer.meta)}, indent=1)
            (partial / META).write_text(text + "\n", encoding="utf-8")
            partial.chmod(0o777 & ~umask())
            os.replace(partial, target)


class BlockWriter:
    """Metadata of a folder of row blocks in the making, and the files beside the blocks."""

    def __init__(self, partial: Path, n_nodes: int, cuts: Sequence[int], dtype: Any):
        self.partial = partial
        self.meta: dict[str, Any] = {
            "format": FORMAT,
            "version": VERSION,
            "n_nodes": n_nodes,
            "n_entries": 0,
            "dtype": np.dtype(dtype).name,
            "squared_norm": 0.0,
            "total": 0.0,
            "value": 1.0,
            "attribute": None,
            "named": True,  # the node numbers of an edge set are names
            "cuts": [int(cut) for cut in cuts],
            "files": {},
        }

    def add(self, facts: dict[str, Any]) -> None:
        """Register a block written by `save_block` into `partial`."""
        self.meta["files"].update(facts["files"])
        self.meta["value"] = facts["value"]
        for name in ("n_entries", "squared_norm", "total"):
            self.meta[name] += facts[name]

    def save(self, name: str, values: NDArray) -> None:
        """Write names or groups: numbers as npy, anything else as JSON, as numpy pads all texts to the longest."""
        path = self.partial / name
        if values.dtype.kind in "iufb":
            path = path.with_suffix(".npy")
            np.save(path, values)
        else:
            path = path.with_suffix(".json")
            path.write_text(json.dumps(texts(values)), encoding="utf-8")
        self.meta["files"][path.name] = file_facts(path)


def save_block(folder: Path, number: int, block: RowBlock) -> dict[str, Any]:
    """Write the files of one block, and return its metadata."""
    index = np.int32 if block.n_entries <= np.iinfo(np.int32).max else np.int64
    arrays = [block.indptr.astype(index, copy=False), block.indices]
    arrays += [] if block.data is None else [block.data]
    paths = block_paths(folder, number, block.data is not None)
    for path, array in zip(paths, arrays, strict=True):
        np.save(path, array)
    weights, times = block.weights_or_value(), block.n_entries if block.data is None else 1
    with np.errstate(over="ignore", under="ignore"):
        squares = float(times * np.einsum("i,i->", weights, weights, dtype=np.float64))
        total = float(times * weights.sum(dtype=np.float64))
    if not (np.isfinite(squares) and np.isfinite(total) and (squares > 0 or not block.n_entries)):
        raise GraphError(
            "The weights of the edges, or their squares, add up to what float64 cannot hold: expected weights between "
            "about 1e-150 and 1e150; give them in another unit."
        )
    value = block.value if block.data is None else None
    return {
        "files": {path.name: file_facts(path) for path in paths},
        "n_entries": block.n_entries,
        "squared_norm": squares,
        "total": total,
        "value": value,
    }


def file_facts(path: Path) -> dict[str, int]:
    """Return the length and checksum of a file."""
    return {"bytes": path.stat().st_size, "crc32": file_checksum(path)}


def check_target(folder: str | os.PathLike[str]) -> Path:
    """Return the target as a path; raise a ParameterError if it exists and is not empty."""
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ParameterError(f"The folder {target} for row blocks exists and is not empty: give a new one.")
    return target


@contextmanager
def temporary_blocks() -> Iterator[Path]:
    """Yield the path of a temporary folder for row blocks."""
    with private_folder(Path(tempfile.gettempdir()), "equigraph-blocks-") as folder:
        yield folder / "blocks"


def is_block_folder(path: Any) -> bool:
    """Return whether a path is a folder of row blocks."""
    return isinstance(path, (str, os.PathLike)) and (Path(path) / META).is_file()


def block_paths(folder: Path, number: int, weighted: bool) -> list[Path]:
    """Return the files of a block."""
    kinds = ("indptr", "indices", "data") if weighted else ("indptr", "indices")
    return [folder / f"{kind}-{number:05d}.npy" for kind in kinds]


def load_array(path: Path, mapped: bool) -> NDArray:
    """Read or memory-map an array, after a comparison of its header with the length of the file."""
    try:
        with _one_header:
            _check_header(path)
            return np.load(path, mmap_mode="r" if mapped else None, allow_pickle=False)
    except (OSError, ValueError, EOFError, TypeError, MemoryError, OverflowError) as error:
        raise GraphError(
            f"{path} cannot be read as an array ({reason(error)}): write the blocks again."
        ) from error


def _check_header(path: Path) -> None:
    """Raise a ValueError if the length of a file does not match its header, which numpy would trust."""
    with path.open("rb") as stream:
        shape, dtype = npy_header(stream)
        n_bytes = stream.tell() + math.prod(shape) * dtype.itemsize
    if n_bytes != path.stat().st_size:
        raise ValueError(f"it declares an array of shape {shape} and dtype {dtype}")


def check_file(path: Path, facts: dict[str, int] | None) -> None:
    """Raise a GraphError unless a file exists and has the checksum stored when it was written."""
    if facts is None or not path.is_file() or file_checksum(path) != facts["crc32"]:
        raise GraphError(f"{path} is gone or has changed since it was written: write the blocks again.")


def check_block(block: RowBlock, n_nodes: int, path: Path) -> None:
    """Raise a GraphError unless a block is safe for compiled code: pointers in order, columns and weights in range.

    Checksums detect damaged files; this detects files that were written wrongly.
    """
    n_rows = block.high - block.low
    try:
        if block.data is not None and (block.data.ndim != 1 or block.data.dtype.kind != "f"):
            raise GraphError(f"its weights have shape {block.data.shape} and dtype {block.data.dtype}.")
        n_values = block.n_entries if block.data is None else block.data.size
        shape = (n_rows, n_nodes)
        if check_compressed(block.indptr, block.indices, n_values, shape, shape) != n_values:
            raise GraphError(f"its pointers end before the {n_values} entries.")
        if (
            block.data is not None
            and block.data.size
            and not (block.data.min() > 0 and block.data.max() < np.inf)
        ):
            raise GraphError("a weight is not a positive finite number.")
    except GraphError as error:
        raise GraphError(
            f"{path}: the block is not one of a graph ({reason(error)}): write the blocks again."
        ) from None


def read_json(path: Path) -> Any:
    """Read a JSON file of a folder of row blocks."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise GraphError(f"{path} cannot be read ({reason(error)}): write the blocks again.") from error


def read_meta(folder: Path) -> dict[str, Any]:
    """Read and validate the metadata of a folder."""
    path = folder / META
    if not path.exists():
        raise GraphError(
            f"{folder} is not a folder of row blocks, as it has no {META}: make one with write_blocks."
        )
    meta = read_json(path)
    if not isinstance(meta, dict) or meta.get("format") != FORMAT or meta.get("version") != VERSION:
        raise GraphError(f"{path} does not describe row blocks of version {VERSION}: write the blocks again.")
    if meta.pop("checksum", None) != _digest(meta):
        raise GraphError(f"{path} has changed since it was written: write the blocks again.")
    if not _is_consistent(meta):
        raise GraphError(f"{path} contradicts itself: write the blocks again.")
    return meta


def _is_consistent(meta: dict[str, Any]) -> bool:
    """Return whether the cuts cover the nodes, and all entries have valid types and values."""
    try:
        cuts, value, files = meta["cuts"], meta["value"], meta["files"].items()
        return (
            all(type(number) is int for number in (meta["n_nodes"], meta["n_entries"], *cuts))
            and (cuts[0] == 0 and cuts[-1] == meta["n_nodes"] >= 1 and cuts == sorted(cuts))
            and all(Path(name).name == name and {"bytes", "crc32"} <= facts.keys() for name, facts in files)
            and (meta["dtype"] in ("float32", "float64") and (value is None or 0 < value < np.inf))
            and all(meta[name] >= 0 for name in ("n_entries", "squared_norm", "total"))
            and isinstance(meta["attribute"], str | None)
            and isinstance(meta["named"], bool)
        )
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return False


def _digest(meta: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(meta, sort_keys=True).encode()).hexdigest()


def file_checksum(path: Path) -> int:
    """Return the CRC-32 of a file."""
    value = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            value = zlib.crc32(chunk, value)
    return value
