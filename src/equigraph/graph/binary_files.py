"""Matrices in npz and mat files: what they declare is weighed against what they are before anything is unpacked."""

from __future__ import annotations

import io
import math
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.graph.limits import FREE_DENSE, check_bytes, open_bytes

# What the adjacency is called among other arrays, the first that is there.
NAMES = ("A", "adjacency")
_COMPRESSED = 15
# Bytes of an entry of the CSR that a dense matrix becomes: an index and a weight.
_ENTRY = 12

# Shape of an array and, by numpy's letters, the kind of its entries.
Declared = dict[str, tuple[tuple[int, ...], str]]


def read_npz(path: Path) -> Any:
    """Read a sparse matrix of scipy, or an array of numpy."""
    if path.suffix.lower() == ".gz" or not zipfile.is_zipfile(path):
        raise GraphError(
            f"{path.name} is not an npz file: expected one of scipy.sparse.save_npz or numpy.savez."
        )
    with zipfile.ZipFile(path) as archive:
        headers = {
            name.removesuffix(".npy"): _header(archive, name)
            for name in archive.namelist()
            if name.endswith(".npy")
        }
    if "format" in headers:
        check_bytes(sum(_declared_bytes(*header) for header in headers.values()), path)
        return sparse.load_npz(path)
    chosen = choose({name: (shape, dtype.kind) for name, (shape, dtype) in headers.items()}, path)
    check_bytes(_declared_bytes(*headers[chosen]), path, free=FREE_DENSE)
    with np.load(path, allow_pickle=False) as arrays:
        return _not_too_full(arrays[chosen], path)


def _header(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], np.dtype]:
    """Return shape and type that an array declares; nothing else of it is read."""
    with archive.open(name) as stream:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(stream)
    return shape, dtype


def _declared_bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    return math.prod(shape) * dtype.itemsize


def _not_too_full(array: Any, path: Path) -> Any:
    """Return a dense array, after a look at how large it is as a sparse one; a packed file may be full of ones."""
    if isinstance(array, np.ndarray) and array.dtype.kind in "buif":
        check_bytes(_ENTRY * int(np.count_nonzero(array)), path)
    return array


def choose(arrays: Declared, path: Path) -> str:
    """Return the name of the variable called A or adjacency, or else of the only square one."""
    for key in NAMES:
        if key in arrays:
            return key
    square = [
        key
        for key, (shape, kind) in arrays.items()
        if len(shape) == 2 and shape[0] == shape[1] and kind in "buif"
    ]
    if len(square) == 1:
        return square[0]
    found = ", ".join(f"{key} {shape}" for key, (shape, _) in arrays.items())
    raise GraphError(
        f"{path.name} holds {len(square)} square matrices among {found or 'no variables'}: expected one "
        "that is called A or adjacency, or only one square matrix."
    )


def read_mat(path: Path) -> Any:
    """Read a matrix from a MATLAB file."""
    from scipy.io import loadmat, whosmat

    with closing(_seekable(path)) as stream:
        for n_bytes in _unpacked(stream):
            check_bytes(n_bytes, path, free=FREE_DENSE)
        stream.seek(0)
        found = {name: (tuple(shape), kind) for name, shape, kind in whosmat(stream) if name[:2] != "__"}
        kinds = {name: (shape, _letter(kind)) for name, (shape, kind) in found.items()}
        chosen = choose(kinds, path)
        shape, kind = found[chosen]
        if kind != "sparse":
            # MATLAB packs whole numbers into bytes that become float64 when they are read.
            check_bytes(8 * math.prod(shape), path, free=FREE_DENSE)
        stream.seek(0)
        return _not_too_full(loadmat(stream, variable_names=[chosen])[chosen], path)


def _letter(kind: str) -> str:
    """Return numpy's letter for a class of MATLAB, as far as graphs are concerned."""
    numeric = ("sparse", "double", "single", "logical")
    return "f" if kind in numeric or kind.startswith(("int", "uint")) else "O"


def _seekable(path: Path) -> IO[bytes]:
    if path.suffix.lower() != ".gz":
        return path.open("rb")
    with open_bytes(path) as stream:
        return io.BytesIO(stream.read())


def _unpacked(stream: IO[bytes]) -> Iterator[int]:
    """Yield how many bytes every packed variable of a mat file of version 5 unpacks to, as it says itself."""
    header = stream.read(128)
    if len(header) < 128 or 0 in header[:4]:
        return  # version 4, which packs nothing
    order = "<" if header[126:] == b"IM" else ">"
    while len(tag := stream.read(8)) == 8:
        kind, size = struct.unpack(f"{order}II", tag)
        start = stream.tell()
        if kind == _COMPRESSED:
            inner = zlib.decompressobj().decompress(stream.read(min(size, 1 << 12)), 8)
            if len(inner) == 8:
                yield struct.unpack(f"{order}II", inner)[1]
        stream.seek(start + size)

