"""Multiplicative updates where the rows of H are kept with the rows of the graph: in memory, on disk, on Dask.

The rows of a block need the k x k tables, the group sums and nothing else to take their next step; only the product
with A brings rows of other blocks together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.factorization.multiplicative import (
    FLOOR,
    Factors,
    Sums,
    interaction_tables,
    multiplicative_updates,
    update_membership,
)
from equigraph.factorization.penalties import GroupForm, Penalty
from equigraph.factorization.penalties.base import form_of
from equigraph.graph.groups.sums import group_sums
from equigraph.stores.block_files import writable
from equigraph.stores.products import StoreProduct, gram
from equigraph.stores.rows import MOST_COLUMNS, Rows, StreamedRows, in_order
from equigraph.stores.threads import most_threads, run_all

# Steps between two checkpoints: a loss costs at most so many steps again, a checkpoint one transfer of H.
CHECKPOINT = 25
# Entries of H beyond which threads are better used within a fit than for several fits.
MOST_ENTRIES = 2**19
# Fits that are begun at once, per thread.
_PORTION = 2
# Rows that are updated together: the arrays of one step stay in the cache.
_CACHED_ROWS = 8192


class Tables(NamedTuple):
    """The small tables of an update."""

    right: NDArray  # W + W'
    middle: NDArray  # W'H'HW + WH'HW'
    positive: NDArray  # what the penalty adds to the denominators of a group,
    negative: NDArray  # and to its numerators
    own: NDArray  # what a node's own row counts in ``positive``


class Totals(NamedTuple):
    """What an update adds up over the rows of a block, in double precision and column by column."""

    HH: NDArray[np.float64]  # H'H
    sums: NDArray[np.float64]  # of the rows of H by group,
    squares: NDArray[np.float64]  # and of their squares
    moved: NDArray[np.float64]  # squared change of H, in one row


class RowSteps:
    """What `PanelSteps` is, on the rows of a store."""

    def __init__(self, product: StoreProduct, H: NDArray, penalty: Penalty):
        self._store, self._scale = product.store, product.scale
        self.squared_norm = product.squared_norm()
        # A sum without terms is one group whose tables are 0.
        none = np.zeros((1, 1))
        nothing = GroupForm(np.zeros(H.shape[0], dtype=np.intp), none, none, none[0])
        self._form = form_of(penalty) or nothing
        self._n_clusters, self._dtype = H.shape[1], H.dtype
        # H and the H before it take turns under these two names.
        self._here, self._before = "H", "H before"
        self._n_steps = 0
        self.kept: tuple[NDArray, NDArray, int] | None = None
        self._store.place(self._here, self._padded(H))
        self._store.place("codes", self._form.codes.astype(np.int32))

    def start(self) -> Sums:
        """Return the sums of the start."""
        return self._sums(self._store.each(start_rows, self._here, self._form.own.size))

    def advance(self, W: NDArray[np.float64], HH: NDArray[np.float64]) -> Sums:
        """Replace H by the next one and return its sums."""
        self._n_steps += 1
        if self._n_steps % CHECKPOINT == 0:
            saved = self._store.checkpoint([self._here, "codes"], [(self._here, "AH")])
            if self._here in saved:
                H = np.ascontiguousarray(saved[self._here][:, : self._n_clusters])
                self.kept = H, W.copy(), self._n_steps - 1
        self._here, self._before = self._before, self._here
        return self._sums(self._store.each(advance_rows, self._before, self._here, self._tables(W, HH)))

    def back(self) -> None:
        """Take the last `advance` back."""
        self._here, self._before = self._before, self._here

    def membership(self) -> NDArray:
        """Return H; the store keeps nothing of it."""
        H = np.ascontiguousarray(self._store.collect(self._here)[:, : self._n_clusters])
        self._store.checkpoint(())
        return H

    def _tables(self, W: NDArray[np.float64], HH: NDArray[np.float64]) -> Tables:
        right, middle = interaction_tables(W, HH)
        positive, negative = (
            table @ self._group_sums for table in (self._form.positive, self._form.negative)
        )
        # A scaled graph has a scaled product: it is the table beside it that is multiplied, not the rows.
        right, middle, positive, negative = map(
            self._padded, (self._scale * right, middle, positive, negative)
        )
        return Tables(right, middle, positive, negative, self._form.own.astype(self._dtype))

    def _sums(self, parts: list[Totals]) -> Sums:
        crosses = self._store.multiply(self._here, "AH", cross_rows, self._here)
        HH, sums, squares, moved = map(in_order, zip(*parts, strict=True))
        k = self._n_clusters
        self._group_sums = sums[:, :k]
        value = self._form.value(self._group_sums, squares.sum(axis=1))
        return Sums(HH[:k, :k], in_order(crosses)[:k, :k] * self._scale, value, float(moved.sum()))

    def _padded(self, panel: NDArray) -> NDArray:
        """Return a copy with columns of zeros, which stay zero, so that rows of few columns fill whole registers."""
        k = self._n_clusters
        width = k if k > MOST_COLUMNS else -(-k // 4) * 4
        padded = np.zeros((panel.shape[0], width), self._dtype)
        padded[:, :k] = panel
        return padded


def run_fits(
    product: StoreProduct,
    fits: Sequence[tuple[NDArray, NDArray, Penalty]],
    *,
    max_iter: int,
    tol: float,
    n_threads: int | None = None,
) -> Iterator[tuple[int, Factors]]:
    """Run fits (H, W, penalty) with a graph in memory, each by one thread, and yield place and outcome of each.

    The outcome is that of `multiplicative_updates` with the same product and start, to the bit.
    """
    assert isinstance(product.store, StreamedRows)
    graph, n_threads = product.store.graph, n_threads or most_threads()

    def run(H: NDArray, W: NDArray, penalty: Penalty) -> Factors:
        own = StoreProduct(StreamedRows(graph, n_threads=1), product.squared_norm())
        return multiplicative_updates(own, H, W, penalty=penalty, max_iter=max_iter, tol=tol)

    for first in range(0, len(fits), size := _PORTION * n_threads):
        tasks = [partial(run, *fit) for fit in fits[first : first + size]]
        yield from enumerate(run_all(tasks, n_threads), first)


def start_rows(rows: Rows, here: str, n_groups: int) -> Totals:
    """Return the sums of the rows of one block."""
    H = rows.get(here)
    return _totals(H, H, rows.get("codes"), n_groups)


def advance_rows(rows: Rows, before: str, here: str, tables: Tables) -> Totals:
    """Give the rows of one block their next values, and return their sums."""
    from equigraph.stores.kernels import update_rows

    H, AH, codes = rows.get(before), rows.get("AH"), rows.get("codes")
    out, width, n_groups = rows.room(here, H.shape[1:], H.dtype), H.shape[1], tables.own.size
    if width <= MOST_COLUMNS:
        totals = Totals(*(np.zeros((n_rows, width)) for n_rows in (width, n_groups, n_groups, 1)))
        # Tables that came over the wire cannot be written to: made writable, all tables share one compiled loop.
        update_rows(width)(H, AH, codes, Tables(*map(writable, tables)), FLOOR, out, totals)
        return totals
    for start in range(0, H.shape[0], _CACHED_ROWS):
        some = slice(start, start + _CACHED_ROWS)
        positive = tables.positive.take(codes[some], axis=0)
        positive += tables.own.take(codes[some])[:, None] * H[some]
        np.maximum(positive, 0, out=positive)
        negative = tables.negative.take(codes[some], axis=0)
        update_membership(H[some], AH[some], tables.right, tables.middle, positive, negative, out[some])
    return _totals(out, H, codes, n_groups)


def _totals(H: NDArray, before: NDArray, codes: NDArray, n_groups: int) -> Totals:
    squares = group_sums(np.square(H, dtype=np.float64), codes, n_groups)
    moved = np.square(H - before, dtype=np.float64).sum(axis=0, keepdims=True)
    return Totals(gram(H, H), group_sums(H, codes, n_groups), squares, moved)


def cross_rows(rows: Rows, here: str) -> NDArray[np.float64]:
    """Return H'AH of the rows of one block."""
    from equigraph.stores.kernels import gram_rows

    H, AH = rows.get(here), rows.get("AH")
    width = H.shape[1]
    if width > MOST_COLUMNS:
        return gram(H, AH)
    sums = np.zeros((width, width))
    gram_rows(width)(H, AH, sums)
    return sums
