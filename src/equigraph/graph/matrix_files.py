"""Read dense and sparse matrices of numbers from npz, MATLAB (versions 4 and 5) and Matrix Market files.

Sizes that a file declares are compared with its bytes before memory is allocated, and the decompressed size of a
variable is bounded by the size of the file. MATLAB files follow "MAT-File Format" (The MathWorks, 2019). scipy's reader
of version 5 is not used, since it crashes the process on some damaged files. Nor is its reader of Matrix Market, which
takes ``3x`` for 3 and ``1d5`` for 1, and ignores further words of a line.
"""

from __future__ import annotations

import io
import math
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import loadmat

from equigraph.exceptions import GraphError
from equigraph.graph.delimited import is_number, read_lines
from equigraph.graph.limits import FREE_DENSE, TIMES, check_bytes, check_nodes, open_bytes

# Names of the adjacency among other arrays, in order of preference.
NAMES = ("A", "adjacency")
# Bytes of an entry of the CSR that a dense matrix becomes: an index and a weight.
_ENTRY = 12

# Arrays of a scipy sparse matrix that must be integers.
_INTEGER_ARRAYS = {"indices", "indptr", "row", "col", "offsets", "shape"}

# Shape and kind of entries (a letter of numpy) of each array.
Declared = dict[str, tuple[tuple[int, ...], str]]


def read_npz(path: Path) -> Any:
    """Read a sparse matrix of scipy, or an array of numpy."""
    if path.suffix.lower() == ".gz" or not zipfile.is_zipfile(path):
        raise GraphError(
            f"{path.name} is not an npz file: expected one of scipy.sparse.save_npz or numpy.savez."
        )
    with zipfile.ZipFile(path) as archive:
        headers = {}
        for name in archive.namelist():
            if name.endswith(".npy"):
                with archive.open(name) as stream:
                    headers[name.removesuffix(".npy")] = npy_header(stream)
    if "format" in headers:
        check_bytes(sum(_declared_bytes(*header) for header in headers.values()), path)
        for name in _INTEGER_ARRAYS & headers.keys():
            if headers[name][1].kind not in "iu":
                raise GraphError(
                    f"{path.name}: {name!r} of the sparse matrix has dtype {headers[name][1]}, expected whole numbers."
                )
        return sparse.load_npz(path)
    chosen = choose({name: (shape, dtype.kind) for name, (shape, dtype) in headers.items()}, path)
    check_bytes(_declared_bytes(*headers[chosen]), path, free=FREE_DENSE)
    with np.load(path, allow_pickle=False) as arrays:
        return checked_size(arrays[chosen], path)


def npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype]:
    """Return the declared shape and type of an npy file, without reading its data."""
    version = npy.read_magic(stream)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            shape, _, dtype = read(stream)
    except Exception as error:  # the header is a Python literal, which can fail in many ways
        raise ValueError("the header is damaged") from error
    if min(shape, default=0) < 0:
        raise ValueError(f"an array of shape {shape}")
    return shape, dtype


def _declared_bytes(shape: tuple[int, ...], dtype: np.dtype) -> int:
    return math.prod(shape) * dtype.itemsize


def checked_size(array: Any, path: Path) -> Any:
    """Return a dense array; raise GraphError if it is too large as a sparse one."""
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
    first = list(arrays.items())[:10]
    found = ", ".join(f"{key if key.isprintable() else ascii(key)} {shape}" for key, (shape, _) in first)
    raise GraphError(
        f"{path.name} holds {len(square)} square matrices among {found or 'no variables'}: expected one "
        "that is called A or adjacency, or only one square matrix."
    )


# MATLAB files: bytes of the header, codes of elements with a matrix or a compressed one, and of number types.
_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_SPARSE, _NUMERIC = 5, range(6, 16)
_COMPLEX = 0x08
# Flags, dimensions and name of a variable are in its first bytes.
_START = 1 << 10


class Variable(NamedTuple):
    """A variable of a file: name, shape, kind (a letter of numpy; "O" if it is no matrix), and its reader."""

    name: str
    shape: tuple[int, ...]
    kind: str
    load: Callable[[], Any]


def read_mat(path: Path) -> sparse.spmatrix | sparse.sparray | NDArray[Any]:
    """Read the matrix called A or adjacency, or the only square one; the arrays of a sparse one are not checked yet."""
    with open_bytes(path) as stream:
        data = stream.read()
    if len(data) >= 4 and 0 in data[:4]:
        # Version 4: scipy's reader is written in Python and reads no more bytes than there are.
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # such as a cast of non-numeric data
            content = loadmat(io.BytesIO(data))
        arrays = {name: array for name, array in content.items() if not name.startswith("__")}
        kinds = {name: (array.shape, array.dtype.kind) for name, array in arrays.items()}
        chosen = choose(kinds, path)
        if kinds[chosen][1] not in "buif":
            raise _no_numbers(chosen, path)
        return checked_size(arrays[chosen], path)
    if len(data) < _HEADER or data[126:_HEADER] not in (b"IM", b"MI"):
        raise GraphError(f"{path.name} has no header of a MATLAB file: expected one of version 4 or 5.")
    elif data[124:126] in (b"\x00\x02", b"\x02\x00"):
        raise GraphError(f"{path.name} is a MATLAB file of version 7.3: save it with -v7.")
    else:
        order = "<" if data[126:_HEADER] == b"IM" else ">"
        found = list(_variables(_Bytes(data[_HEADER:], order, path)))
    by_name = {variable.name: variable for variable in found}
    variable = by_name[choose({name: (one.shape, one.kind) for name, one in by_name.items()}, path)]
    if variable.kind == "O":
        raise _no_numbers(variable.name, path)
    return checked_size(variable.load(), path)


def _no_numbers(name: str, path: Path) -> GraphError:
    return GraphError(f"{path.name}: the variable {name!r} holds no numbers, expected a real matrix.")


class _Bytes:
    """Cursor over the bytes of a MATLAB file; reading beyond the end is an error."""

    def __init__(self, data: bytes, order: str, path: Path) -> None:
        self._data, self.order, self.path, self._at = data, order, path, 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def cut_off(self) -> GraphError:
        """Return the error for truncated or inconsistent data."""
        return GraphError(
            f"{self.path.name} ends within a variable, or is damaged: expected a whole MATLAB file."
        )

    def take(self, size: int) -> bytes:
        """Return the next bytes."""
        if size < 0 or self._at + size > len(self._data):
            raise self.cut_off()
        self._at += size
        return self._data[self._at - size : self._at]

    def unpack(self, codes: str) -> tuple[int, ...]:
        """Return the next numbers, by the letters of `struct`."""
        return struct.unpack(f"{self.order}{codes}", self.take(struct.calcsize(f"={codes}")))

    def element(self) -> NDArray[Any]:
        """Return the numbers of the next element of version 5."""
        (kind,) = self.unpack("I")
        if kind >> 16:  # a short element has its length beside its type
            kind, size, room = kind & 0xFFFF, kind >> 16, 4
        else:
            (size,) = self.unpack("I")
            room = size + -size % 8
        if kind not in _TYPES or size > room:
            raise self.cut_off()
        dtype = np.dtype(f"{self.order}{_TYPES[kind]}")
        data = self.take(size)
        self._at = min(self._at + room - size, len(self._data))  # the last padding may be missing
        if size % dtype.itemsize:
            raise self.cut_off()
        return np.frombuffer(data, dtype=dtype)


def _variables(data: _Bytes) -> Iterator[Variable]:
    """Yield the variables of a file of version 5; only the start of a compressed one is decompressed."""
    while data:
        kind, size = data.unpack("II")
        content = data.take(size)
        if kind in (_MATRIX, _COMPRESSED):
            yield _variable(content, kind == _COMPRESSED, data.order, data.path)


def _variable(content: bytes, packed: bool, order: str, path: Path) -> Variable:
    def parts(most: int | None = None) -> tuple[_Bytes, list[NDArray[Any]]]:
        data = _Bytes(_unpacked(content, path, order, most) if packed else content, order, path)
        return data, [data.element() for _ in range(3)]

    head, (flags, dims, name) = parts(_START)
    if flags.size != 2 or flags.dtype.kind != "u" or dims.dtype.kind != "i" or (dims < 0).any():
        raise head.cut_off()
    what, shape = int(flags[0]) & 0xFF, tuple(dims.tolist())
    real = not int(flags[0]) >> 8 & _COMPLEX
    kind = "f" if real and len(shape) == 2 and (what == _SPARSE or what in _NUMERIC) else "O"

    def load() -> Any:
        data, _ = parts()
        if what == _SPARSE:
            return _sparse(data, shape)
        values = data.element()
        if values.size != math.prod(shape):
            raise data.cut_off()
        return values.reshape(shape, order="F")

    return Variable(name.tobytes().decode("latin-1"), shape, kind, load)


def _unpacked(content: bytes, path: Path, order: str, most: int | None) -> bytes:
    """Decompress a variable, or only its start; return the bytes after its tag."""
    bound = FREE_DENSE + TIMES * path.stat().st_size
    try:
        result = zlib.decompressobj().decompress(content, bound if most is None else most)
    except zlib.error as error:
        raise GraphError(f"{path.name} cannot be unpacked: {error}.") from error
    data = _Bytes(result, order, path)
    kind, size = data.unpack("II")
    if kind != _MATRIX:
        raise data.cut_off()
    check_bytes(size, path, free=FREE_DENSE)
    return result[8 : 8 + size]


def _sparse(data: _Bytes, shape: tuple[int, ...]) -> sparse.csc_array:
    """Return a CSC on the arrays of the file; `to_csr` checks them."""
    indices, pointers, values = data.element(), data.element(), data.element()
    if indices.dtype.kind not in "iu" or pointers.dtype.kind not in "iu" or pointers.size != shape[1] + 1:
        raise data.cut_off()
    check_nodes(shape[0], values.nbytes + indices.nbytes + pointers.nbytes, data.path.name)
    # MATLAB allocates more space than there are entries.
    last = int(pointers[-1])
    if not 0 <= last <= min(values.size, indices.size):
        raise data.cut_off()
    result = sparse.csc_array(shape)
    result.data, result.indices, result.indptr = values[:last], indices[:last], pointers
    return result


_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
_HEADER_LINE = re.compile(r"%%matrixmarket\s+matrix\s+(coordinate|array)\s+(\S+)\s+(general|symmetric)\s*\Z")
_LONGEST_LINE = 1 << 16


def read_matrix_market(path: Path) -> sparse.coo_array | NDArray[np.float64]:
    """Read a Matrix Market file, both triangles of the matrix; the indices of its entries are not checked yet."""
    with open_bytes(path) as stream:
        layout, field, symmetry = _market_words(stream, path)
        sizes, line = _market_sizes(stream, path, 3 if layout == "coordinate" else 2)
        width = 1 if layout == "array" else 2 if field == "pattern" else 3
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # numpy warns about a file without entries
                numbers = np.loadtxt(stream, comments=None, ndmin=2)
            if numbers.size and numbers.shape[1] != width:
                raise GraphError(f"{path.name}, line {line + 1}: expected {width} numbers in a line.")
        except ValueError as error:
            raise _wrong_line(path, line, width) or error from error
    n_rows, n_columns = sizes[:2]
    check_nodes(max(n_rows, n_columns), path.stat().st_size, path.name)
    symmetric = symmetry == "symmetric"
    if symmetric and n_rows != n_columns:
        raise GraphError(
            f"{path.name} is a symmetric matrix of {n_rows} x {n_columns}: expected a square one."
        )
    whole = n_rows * (n_rows + 1) // 2 if symmetric else n_rows * n_columns
    expected = whole if layout == "array" else sizes[2]
    numbers = numbers.reshape(-1, width)
    if len(numbers) != expected:
        raise GraphError(
            f"{path.name} has {len(numbers):,} entries: expected {expected:,}, as its header says."
        )
    if layout == "array" and not symmetric:
        return numbers.reshape(n_columns, n_rows).T
    if layout == "array":
        columns, rows = np.triu_indices(n_rows)
    else:
        rows, columns = _market_ends(numbers[:, :2], sizes, path)
    weights = np.ones(len(numbers)) if field == "pattern" else numbers[:, -1]
    if symmetric:
        other = rows != columns
        rows, columns = np.concatenate([rows, columns[other]]), np.concatenate([columns, rows[other]])
        weights = np.concatenate([weights, weights[other]])
    return sparse.coo_array((weights, (rows, columns)), shape=(n_rows, n_columns))


def _market_words(stream: IO[bytes], path: Path) -> tuple[str, str, str]:
    """Return the layout, the field and the symmetry that the first line names."""
    match = _HEADER_LINE.match(stream.readline(_LONGEST_LINE).decode("latin-1").lower())
    layout, field, symmetry = match.groups() if match else ("", "", "")
    if field == "complex":
        raise GraphError("Complex data not supported: the weights of a graph are real numbers.")
    if field not in _FIELDS or (field == "pattern" and layout == "array"):
        raise GraphError(
            f"{path.name}, line 1: expected '%%MatrixMarket matrix', 'coordinate' or 'array', a field among "
            f"{', '.join(_FIELDS)}, and 'general' or 'symmetric'."
        )
    return layout, field, symmetry


def _market_sizes(stream: IO[bytes], path: Path, count: int) -> tuple[list[int], int]:
    """Return the numbers of rows, columns and entries (if given), and their line."""
    number, line = 1, b"%"
    while line.startswith(b"%") or line.isspace():
        line, number = stream.readline(_LONGEST_LINE), number + 1
    sizes = line.split()
    if len(sizes) != count or not all(size.isdigit() and len(size) < 19 for size in sizes):
        raise GraphError(
            f"{path.name}, line {number}: expected the number of rows, of columns and, where entries have coordinates, "
            "of entries."
        )
    return [int(size) for size in sizes], number


def _wrong_line(path: Path, before: int, width: int) -> GraphError | None:
    """Return the error for the first line below the header without `width` numbers, or None."""
    for number, line in read_lines(path):
        words = line.split()
        if number > before and words and (len(words) != width or not all(map(is_number, words))):
            return GraphError(f"{path.name}, line {number}: expected {width} numbers in a line.")
    return None


def _market_ends(
    ends: NDArray[np.float64], sizes: list[int], path: Path
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and columns of entries, counted from 0."""
    inside = ((ends == np.trunc(ends)) & (ends >= 1) & (ends <= sizes[:2])).all(axis=1)
    if not inside.all():
        entry = int(np.argmin(inside))
        raise GraphError(
            f"{path.name}, entry {entry + 1}: row {ends[entry, 0]:g} and column {ends[entry, 1]:g} are not in the "
            f"matrix, expected numbers from 1 to {sizes[0]}."
        )
    rows, columns = ends.T.astype(np.int64) - 1
    return rows, columns
