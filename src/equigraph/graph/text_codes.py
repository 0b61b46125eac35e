"""Ids that come as text in batches, turned into numbers; only the distinct texts are ever held."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Distinct texts of single batches that are kept before they are merged into those of the whole.
PENDING = 4_000_000


class TextCodes:
    """Codes of text columns of pyarrow: the same text has the same code in every column and batch.

    Each batch is encoded by itself, and from time to time the texts of the batches are merged: seldom enough that the
    known texts are not hashed for every batch, often enough that memory follows their number. At least `pending` texts
    are kept unmerged; the texts known so far, if that is more.

    >>> import pyarrow as pa
    >>> codes = TextCodes(2)
    >>> codes.add([pa.array(["ann", "bob"]), pa.array(["bob", "cem"])])
    >>> codes.add([pa.array(["cem"]), pa.array(["ann"])])
    >>> (source, target), names = codes.finish()
    >>> source.tolist(), target.tolist(), names.to_pylist()
    ([0, 1, 2], [1, 2, 0], ['ann', 'bob', 'cem'])
    """

    def __init__(self, n_columns: int, *, pending: int = PENDING) -> None:
        self._n_columns = n_columns
        self._limit = pending
        self._known: Any = None
        self._waiting: list[Any] = []
        self._codes: list[NDArray[np.int32]] = []

    def add(self, columns: list[Any]) -> None:
        """Take one batch: an array of text, encoded by pyarrow or not, for each column."""
        self._waiting += [column.dictionary_encode() for column in columns]
        known = 0 if self._known is None else len(self._known)
        if sum(len(column.dictionary) for column in self._waiting) > max(self._limit, known):
            self._merge()

    def finish(self) -> tuple[list[NDArray[np.int32]], Any]:
        """Return the codes of every column, and the distinct texts as a pyarrow array."""
        self._merge()
        columns = [np.concatenate(self._codes[k :: self._n_columns]) for k in range(self._n_columns)]
        self._codes = []
        return columns, self._known

    def _merge(self) -> None:
        import pyarrow as pa

        if not self._waiting:
            return
        chunks = self._waiting
        if self._known is not None:
            # What comes first keeps its codes, so those that were given out stay true.
            nothing = pa.array([], type=pa.int32())
            chunks = [pa.DictionaryArray.from_arrays(nothing, self._known), *chunks]
        merged = pa.chunked_array(chunks).unify_dictionaries()
        self._known = merged.chunk(0).dictionary
        added = merged.chunks[len(chunks) - len(self._waiting) :]
        self._codes += [np.array(chunk.indices, dtype=np.int32) for chunk in added]
        self._waiting = []
