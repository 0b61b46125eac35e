"""Matrices in npz files: what they declare is weighed against what they are before anything is unpacked."""

from __future__ import annotations

import math
import warnings
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.graph.limits import FREE_DENSE, check_bytes

# What the adjacency is called among other arrays, the first that is there.
NAMES = ("A", "adjacency")
# Bytes of an entry of the CSR that a dense matrix becomes: an index and a weight.
_ENTRY = 12

# Parts of a sparse matrix of scipy that say where its entries are.
_WHOLE = {"indices", "indptr", "row", "col", "offsets", "shape"}

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
        for name in _WHOLE & headers.keys():
            if headers[name][1].kind not in "iu":
                raise GraphError(
                    f"{path.name}: {name!r} of the sparse matrix has dtype {headers[name][1]}, expected whole numbers."
                )
        return sparse.load_npz(path)
    chosen = choose({name: (shape, dtype.kind) for name, (shape, dtype) in headers.items()}, path)
    check_bytes(_declared_bytes(*headers[chosen]), path, free=FREE_DENSE)
    with np.load(path, allow_pickle=False) as arrays:
        return not_too_full(arrays[chosen], path)


def _header(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], np.dtype]:
    with archive.open(name) as stream:
        return npy_header(stream)


def npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    """Return shape and type that an npy file declares; nothing else of it is read."""
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            shape, _, dtype = read(stream)
    except Exception as error:  # the header is a text of Python, which fails in many ways
        raise ValueError("the header is damaged") from error
    if min(shape, default=0) < 0:
        raise ValueError(f"an array of shape {shape}")
    return shape, dtype


def _declared_bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    return math.prod(shape) * dtype.itemsize


def not_too_full(array: Any, path: Path) -> Any:
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
    found = ", ".join(f"{_shown(key)} {shape}" for key, (shape, _) in list(arrays.items())[:10])
    raise GraphError(
        f"{path.name} holds {len(square)} square matrices among {found or 'no variables'}: expected one "
        "that is called A or adjacency, or only one square matrix."
    )


def _shown(name: str) -> str:
    return name if name.isprintable() else ascii(name)
