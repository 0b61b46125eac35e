"""Large text files, read by pyarrow in batches; anything odd is left to the csv module."""

from __future__ import annotations

import codecs
import importlib.util
import itertools
import zlib
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GraphError
from equigraph.graph.delimited import COMMENTS, WHITESPACE, TextFile, separator_told
from equigraph.graph.limits import open_bytes
from equigraph.graph.names import INTEGER, names_from_text, text_array
from equigraph.graph.strict_bytes import LONGEST_FIELD, StrictBytes
from equigraph.graph.text_codes import TextCodes

# Smaller files do not repay the time to load pyarrow.
FAST_BYTES = 1_000_000
# How much larger the text of a packed file is, about.
_PACKED = 5
# Bytes of a batch. The texts of a small one fit the processor's caches while they are encoded.
BATCH = 1 << 20


class Columns(NamedTuple):
    """Columns of a text file."""

    codes: list[NDArray[np.int32]]  # for each column of texts, positions in `texts`
    texts: NDArray[Any]  # the distinct texts, as int64 if all are plain integers
    numbers: NDArray[np.float64] | None


def is_for_pyarrow(file: TextFile) -> bool:
    """Return whether a file is large enough for pyarrow, and pyarrow installed."""
    times = _PACKED if file.path.suffix.lower() == ".gz" else 1
    return times * file.path.stat().st_size > FAST_BYTES and importlib.util.find_spec("pyarrow") is not None


def read_columns(
    file: TextFile, *, header: int | None, width: int, texts: tuple[int, ...], number: int | None
) -> Columns | None:
    """Read columns of a file with pyarrow, or return None if the csv module might read anything else.

    Columns of `texts` are read as text, `number` as numbers; `header` is the line of the header.
    """
    import pyarrow as pa
    from pyarrow import csv

    if not file.delimiter.isascii() or file.delimiter in '"\r\n':
        return None
    names = [f"c{k}" for k in range(width + file.n_empty)]
    text = pa.dictionary(pa.int32(), pa.string())
    kinds = {names[k]: text for k in texts}
    if number is not None:
        kinds[names[number]] = pa.float64()
    codes, numbers, n_rows = TextCodes(len(texts)), [], 0
    try:
        with open_bytes(file.path) as stream:
            start = _first_record(stream, header)
            if start is None:
                return None
            checked = StrictBytes(stream, file.delimiter, all_columns=len(kinds) == len(names), start=start)
            reader = csv.open_csv(
                checked,
                read_options=csv.ReadOptions(column_names=names, block_size=BATCH),
                parse_options=csv.ParseOptions(delimiter=file.delimiter),
                convert_options=csv.ConvertOptions(
                    column_types=kinds, include_columns=list(kinds), null_values=[], strings_can_be_null=False
                ),
            )
            with reader:
                for batch in reader:
                    n_rows += batch.num_rows
                    codes.add([batch.column(k) for k in range(len(texts))])
                    if number is not None:
                        numbers.append(batch.column(len(texts)).to_numpy().copy())
    except (pa.ArrowException, GraphError, OSError, EOFError, zlib.error):
        return None
    if not n_rows or not checked.same(n_rows):
        return None
    encoded, distinct = codes.finish()
    cleaned = _cleaned(distinct, file.delimiter)
    if cleaned is None:
        return None
    values, place = cleaned
    if place is not None:
        encoded = [place[column] for column in encoded]
    return Columns(encoded, values, np.concatenate(numbers) if numbers else None)


def _first_record(stream: IO[bytes], header: int | None) -> bytes | None:
    """Return the first line of data: behind byte order mark, the line sep=, comments on top and the header."""
    marks = tuple(mark.encode() for mark in COMMENTS)
    for line in itertools.count(1):
        content = stream.readline(LONGEST_FIELD)
        if line == 1:
            content = content.removeprefix(codecs.BOM_UTF8)
        if b"\r" in content.removesuffix(b"\n").removesuffix(b"\r") or len(content) >= LONGEST_FIELD:
            return None  # lines that end in a return alone are counted otherwise
        skip = content.startswith(marks) or not content.strip()
        if line == 1 and separator_told(content[:8].decode("utf-8", "ignore")) is not None:
            skip = True
        if not content or not (skip or (header is not None and line <= header)):
            # pyarrow drops a byte order mark before its first record, wherever that stands in the file.
            return None if content.startswith(codecs.BOM_UTF8) else content
    return None


def _cleaned(texts: Any, delimiter: str) -> tuple[NDArray[Any], NDArray[np.int32] | None] | None:
    """Return the texts without outer blanks and, where some then agree, the place of each among them.

    Returns None where a text holds white space that only the csv module takes for a separator.
    """
    import pyarrow as pa
    from pyarrow import compute

    if compute.all(compute.match_substring_regex(texts, f"^({INTEGER})$")).as_py():
        return texts.cast(pa.int64()).to_numpy(), None  # millions of integers never become Python objects
    objects = texts.to_numpy(zero_copy_only=False)
    if compute.all(compute.match_substring_regex(texts, "^[!-~]+$")).as_py():
        return text_array(objects.tolist()), None
    stripped = [text.strip() for text in objects]
    if delimiter == WHITESPACE and any(len(text.split()) != 1 for text in stripped):
        return None
    place: dict[str, int] = {}
    codes = [place.setdefault(text, len(place)) for text in stripped]
    changed = len(place) < len(codes)
    return names_from_text(list(place)), np.asarray(codes, dtype=np.int32) if changed else None
