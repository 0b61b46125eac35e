"""Matrices in MATLAB files of versions 4 and 5: numeric arrays, dense or sparse, and nothing else.

The layout is that of "MAT-File Format" (The MathWorks, 2019). Every length is compared with the bytes that are there
before anything is made of it; what a variable unpacks to is bounded by the size of the file. Not scipy's reader, which
ends the process on some damaged files.
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.exceptions import GraphError
from equigraph.graph.limits import FREE_DENSE, TIMES, check_bytes, check_nodes, open_bytes
from equigraph.graph.npz_files import choose, not_too_full

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_SPARSE, _NUMERIC = 5, range(6, 16)
_COMPLEX = 0x08
# Precisions of version 4, by their digit.
_OLD_TYPES = ("f8", "f4", "i4", "i2", "u2", "u1")
# Flags, dimensions and name of a variable stand in its first bytes.
_START = 1 << 10


@dataclass(frozen=True)
class Variable:
    """A variable of a file: its name, shape, kind (a letter of numpy; "O" if it is no matrix), and a way to read it."""

    name: str
    shape: tuple[int, ...]
    kind: str
    load: Callable[[], Any]


def read_mat(path: Path) -> sparse.spmatrix | sparse.sparray | NDArray[Any]:
    """Read the matrix called A or adjacency, or the only square one; the arrays of a sparse one are not checked yet."""
    with open_bytes(path) as opened:
        # What is unpacked cannot be gone back in.
        stream: IO[bytes] = io.BytesIO(opened.read()) if path.suffix.lower() == ".gz" else opened
        head = stream.read(_HEADER)
        if len(head) >= 4 and 0 in head[:4]:
            found = list(_old_variables(stream, path))
        elif len(head) < _HEADER or head[126:] not in (b"IM", b"MI"):
            raise GraphError(f"{path.name} has no header of a MATLAB file: expected one of version 4 or 5.")
        elif head[124:126] in (b"\x00\x02", b"\x02\x00"):
            raise GraphError(f"{path.name} is a MATLAB file of version 7.3: save it with -v7.")
        else:
            found = list(_variables(stream, path, "<" if head[126:] == b"IM" else ">"))
        by_name = {variable.name: variable for variable in found}
        chosen = choose({name: (one.shape, one.kind) for name, one in by_name.items()}, path)
        if by_name[chosen].kind == "O":
            raise GraphError(
                f"{path.name}: the variable {chosen!r} holds no numbers, expected a real matrix."
            )
        return not_too_full(by_name[chosen].load(), path)


def _cut_off(path: Path) -> GraphError:
    return GraphError(f"{path.name} ends within a variable, or is damaged: expected a whole MATLAB file.")


def _read(stream: IO[bytes], size: int, path: Path) -> bytes:
    """Return exactly this many bytes; no room is made for more than there are."""
    start = stream.tell()
    end = stream.seek(0, io.SEEK_END)
    stream.seek(start)
    if size < 0 or size > end - start:
        raise _cut_off(path)
    return stream.read(size)


class _Elements:
    """The elements of a variable of version 5, one after another."""

    def __init__(self, data: bytes, order: str, path: Path) -> None:
        self._data, self._order, self._path, self._at = data, order, path, 0

    def next(self) -> NDArray[Any]:
        """Return the numbers of the next element."""
        tag = self._take(4)
        kind = int(np.frombuffer(tag, dtype=f"{self._order}u4")[0])
        if kind >> 16:  # a short element has its length beside its type
            kind, size, room = kind & 0xFFFF, kind >> 16, 4
        else:
            size = room = int(np.frombuffer(self._take(4), dtype=f"{self._order}u4")[0])
            room += -size % 8
        if kind not in _TYPES or size > room:
            raise _cut_off(self._path)
        dtype = np.dtype(f"{self._order}{_TYPES[kind]}")
        data = self._take(size)
        self._at = min(self._at + room - size, len(self._data))  # the last padding may be missing
        if size % dtype.itemsize:
            raise _cut_off(self._path)
        return np.frombuffer(data, dtype=dtype)

    def _take(self, size: int) -> bytes:
        if self._at + size > len(self._data):
            raise _cut_off(self._path)
        self._at += size
        return self._data[self._at - size : self._at]


def _variables(stream: IO[bytes], path: Path, order: str) -> Iterator[Variable]:
    """Yield the variables of a file of version 5; of each only the start is read."""
    while tag := stream.read(8):
        if len(tag) < 8:
            raise _cut_off(path)
        kind, size = struct.unpack(f"{order}II", tag)
        start = stream.tell()
        if kind in (_MATRIX, _COMPRESSED):
            yield _variable(stream, start, size, kind == _COMPRESSED, path, order)
        stream.seek(start + size)


def _variable(stream: IO[bytes], start: int, size: int, packed: bool, path: Path, order: str) -> Variable:
    def content(most: int | None = None) -> bytes:
        stream.seek(start)
        if not packed:
            return _read(stream, size if most is None else min(size, most), path)
        return _unpacked(_read(stream, size, path), path, order, most)

    head = _Elements(content(_START), order, path)
    flags, dims, name = head.next(), head.next(), head.next()
    if flags.size != 2 or flags.dtype.kind != "u" or dims.dtype.kind != "i" or (dims < 0).any():
        raise _cut_off(path)
    what, shape = int(flags[0]) & 0xFF, tuple(dims.tolist())
    real = not int(flags[0]) >> 8 & _COMPLEX
    kind = "f" if real and len(shape) == 2 and (what == _SPARSE or what in _NUMERIC) else "O"

    def load() -> Any:
        parts = _Elements(content(), order, path)
        for _ in range(3):
            parts.next()
        if what == _SPARSE:
            indices, pointers, values = parts.next(), parts.next(), parts.next()
            return _sparse(values, indices, pointers, shape, path)
        return _dense(parts.next(), shape, path)

    return Variable(name.tobytes().decode("latin-1"), shape, kind, load)


def _unpacked(data: bytes, path: Path, order: str, most: int | None) -> bytes:
    """Return what a packed variable holds, behind its tag; or only the start of it."""
    bound = FREE_DENSE + TIMES * path.stat().st_size
    try:
        result = zlib.decompressobj().decompress(data, bound if most is None else most)
    except zlib.error as error:
        raise GraphError(f"{path.name} cannot be unpacked: {error}.") from error
    if len(result) < 8:
        raise _cut_off(path)
    kind, size = struct.unpack(f"{order}II", result[:8])
    if kind != _MATRIX:
        raise _cut_off(path)
    check_bytes(size, path, free=FREE_DENSE)
    return result[8 : 8 + size]


def _sparse(values: NDArray, indices: NDArray, pointers: NDArray, shape: tuple[int, ...], path: Path) -> Any:
    """Return a CSC on arrays as they are in the file; `to_csr` looks at them."""
    n_rows, n_columns = shape
    if indices.dtype.kind not in "iu" or pointers.dtype.kind not in "iu" or pointers.size != n_columns + 1:
        raise _cut_off(path)
    check_nodes(n_rows, values.nbytes + indices.nbytes + pointers.nbytes, path.name)
    # MATLAB leaves room behind the entries.
    last = int(pointers[-1])
    if not 0 <= last <= min(values.size, indices.size):
        raise _cut_off(path)
    result = sparse.csc_array(shape)
    result.data, result.indices, result.indptr = values[:last], indices[:last], pointers
    return result


def _dense(values: NDArray, shape: tuple[int, ...], path: Path) -> NDArray:
    if values.size != math.prod(shape):
        raise _cut_off(path)
    return values.reshape(shape, order="F")


def _old_variables(stream: IO[bytes], path: Path) -> Iterator[Variable]:
    """Yield the variables of a file of version 4."""
    stream.seek(0)
    while head := stream.read(20):
        if len(head) < 20:
            raise _cut_off(path)
        order = "<" if 0 <= struct.unpack("<i", head[:4])[0] < 10_000 else ">"
        code, n_rows, n_columns, imaginary, length = struct.unpack(f"{order}5i", head)
        digits = (code // 1000, code // 100 % 10, code // 10 % 10, code % 10)
        if digits[0] not in (0, 1) or digits[1] or digits[2] >= len(_OLD_TYPES) or digits[3] > 2:
            raise _cut_off(path)
        if min(n_rows, n_columns, length) < 0:
            raise _cut_off(path)
        name = _read(stream, length, path).rstrip(b"\0").decode("latin-1")
        dtype = np.dtype(f"{order}{_OLD_TYPES[digits[2]]}")
        start, size = stream.tell(), n_rows * n_columns * dtype.itemsize

        yield _old_variable(stream, path, name, start, (n_rows, n_columns), dtype, digits[3], bool(imaginary))
        stream.seek(start + size * (2 if imaginary else 1))


def _old_variable(
    stream: IO[bytes],
    path: Path,
    name: str,
    start: int,
    stored: tuple[int, int],
    dtype: np.dtype,
    kind: int,
    imaginary: bool,
) -> Variable:
    def load() -> NDArray:
        stream.seek(start)
        data = _read(stream, math.prod(stored) * dtype.itemsize, path)
        return np.frombuffer(data, dtype=dtype).reshape(stored, order="F")

    if imaginary or kind == 1:
        return Variable(name, stored, "O", load)
    if kind == 0:
        return Variable(name, stored, "f", load)
    # Rows of a sparse matrix are row, column and value of an entry; the last one is the shape.
    entries = load()
    sizes = entries[:, :2]
    whole = (sizes >= 0) & (sizes < 2**53) & (sizes == np.trunc(sizes))
    if stored[1] != 3 or not stored[0] or not whole.all():
        raise _cut_off(path)
    shape = tuple(entries[-1, :2].astype(np.int64).tolist())
    ends = entries[:-1, :2].astype(np.int64) - 1

    def triples() -> Any:
        check_nodes(max(shape), entries.nbytes, path.name)
        if ends.size and ((ends < 0).any() or (ends >= shape).any()):
            raise _cut_off(path)
        return sparse.coo_array((entries[:-1, 2], (ends[:, 0], ends[:, 1])), shape=shape)

    return Variable(name, shape, "f", triples)
