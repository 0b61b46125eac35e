"""Read dense and sparse matrices of numbers from npz, MATLAB (version 5) and Matrix Market files.

Sizes that a file declares are compared with its bytes before memory is allocated, and the decompressed size of a
variable is bounded by the size of the file. MATLAB files follow "MAT-File Format" (The MathWorks, 2019). scipy's reader
of version 5 is not used, since it crashes the process on some damaged files. Nor is its reader of Matrix Market, which
takes ``3x`` for 3 and ``1d5`` for 1, and ignores further words of a line.
"""

from __future__ import annotations

import itertools
import math
import re
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

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


def read_mat(path: Path) -> sparse.spmatrix | sparse.sparray | NDArray[Any]:
    """Read the matrix called A or adjacency, or the only square one; the arrays of a sparse one are not checked yet."""
    with open_bytes(path) as stream:
        data = stream.read()
    if len(data) < _HEADER or data[126:_HEADER] not in (b"IM", b"MI"):
        raise GraphError(f"{path.name} has no header of a MATLAB file of version 5: save it with -v6 or -v7.")
    if data[124:126] in (b"\x00\x02", b"\x02\x00"):
        raise GraphError(f"{path.name} is a MATLAB file of version 7.3: save it with -v7.")
    order = "<" if data[126:_HEADER] == b"IM" else ">"
    try:
        declared: Declared = {}
        loaders: dict[str, Callable[[], Any]] = {}
        for kind, content in _elements(data[_HEADER:], order):
            if kind not in (_MATRIX, _COMPRESSED):
                raise EOFError
            name, declared_as, load = _variable(content, kind == _COMPRESSED, order, path)
            declared[name], loaders[name] = declared_as, load
        chosen = choose(declared, path)
        if declared[chosen][1] == "O":
            raise GraphError(
                f"{path.name}: the variable {chosen!r} holds no numbers, expected a real matrix."
            )
        return checked_size(loaders[chosen](), path)
    except EOFError:
        raise GraphError(
            f"{path.name} ends within a variable, or is damaged: expected a whole MATLAB file."
        ) from None


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield type and content of the elements of a file or a variable of version 5; EOFError if one is damaged."""
    at = 0
    while at < len(data):
        if at + 8 > len(data):
            raise EOFError
        kind, size = struct.unpack_from(f"{order}II", data, at)
        start, room = at + 8, size if kind in (_MATRIX, _COMPRESSED) else size + -size % 8
        if kind >> 16:  # a short element has its length beside its type
            kind, size, start, room = kind & 0xFFFF, kind >> 16, at + 4, 4
        if size > room or start + size > len(data):
            raise EOFError
        yield kind, data[start : start + size]
        at = start + room  # the last padding may be missing


def _numbers(kind: int, content: bytes, order: str) -> NDArray[Any]:
    dtype = np.dtype(f"{order}{_TYPES.get(kind, 'f8')}")
    if kind not in _TYPES or len(content) % dtype.itemsize:
        raise EOFError
    return np.frombuffer(content, dtype=dtype)


def _variable(
    content: bytes, packed: bool, order: str, path: Path
) -> tuple[str, tuple[tuple[int, ...], str], Callable[[], Any]]:
    """Return name, shape and kind ("O" if it is no matrix) of a variable, and its reader.

    Only the start of a compressed one is decompressed before it is loaded.
    """

    def arrays(first: int, count: int, most: int | None = None) -> list[NDArray[Any]]:
        data = _unpacked(content, path, order, most) if packed else content
        found = itertools.islice(_elements(data, order), first, first + count)
        result = [_numbers(kind, part, order) for kind, part in found]
        if len(result) < count:
            raise EOFError
        return result

    flags, dims, name = arrays(0, 3, _START)
    if flags.size != 2 or flags.dtype.kind != "u" or dims.dtype.kind != "i" or (dims < 0).any():
        raise EOFError
    what, shape = int(flags[0]) & 0xFF, tuple(dims.tolist())
    real = not int(flags[0]) >> 8 & _COMPLEX
    kind = "f" if real and len(shape) == 2 and (what == _SPARSE or what in _NUMERIC) else "O"

    def load() -> Any:
        if what == _SPARSE:
            return _sparse(shape, path, *arrays(3, 3))
        (values,) = arrays(3, 1)
        if values.size != math.prod(shape):
            raise EOFError
        return values.reshape(shape, order="F")

    return name.tobytes().decode("latin-1"), (shape, kind), load


def _unpacked(content: bytes, path: Path, order: str, most: int | None) -> bytes:
    """Decompress a variable, or only its start; return the bytes after its tag."""
    bound = FREE_DENSE + TIMES * path.stat().st_size
    try:
        result = zlib.decompressobj().decompress(content, bound if most is None else most)
    except zlib.error as error:
        raise GraphError(f"{path.name} cannot be unpacked: {error}.") from error
    kind, size = struct.unpack(f"{order}II", result[:8].ljust(8, b"\0"))
    if kind != _MATRIX:
        raise EOFError
    check_bytes(size, path, free=FREE_DENSE)
    return result[8 : 8 + size]


def _sparse(
    shape: tuple[int, ...], path: Path, indices: NDArray[Any], pointers: NDArray[Any], values: NDArray[Any]
) -> sparse.csc_array:
    """Return a CSC on the arrays of the file; `to_csr` checks them."""
    if indices.dtype.kind not in "iu" or pointers.dtype.kind not in "iu" or pointers.size != shape[1] + 1:
        raise EOFError
    check_nodes(shape[0], values.nbytes + indices.nbytes + pointers.nbytes, path.name)
    # MATLAB allocates more space than there are entries.
    last = int(pointers[-1])
    if not 0 <= last <= min(values.size, indices.size):
        raise EOFError
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
