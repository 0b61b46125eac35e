"""Multiplicative updates on the rows of a store: in memory, on disk or on Dask.

An update of the rows of a block needs only the k x k tables and the group sums; only the product with A needs rows of
other blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.factorization.factors import Factors
from equigraph.factorization.multiplicative import (
    FLOOR,
    Sums,
    interaction_tables,
    multiplicative_updates,
    update_membership,
)
from equigraph.factorization.penalties import GroupForm, Penalty
from equigraph.factorization.penalties.base import form_of
from equigraph.graph.groups.encode import group_sums
from equigraph.stores.block_files import writable
from equigraph.stores.products import StoreProduct, gram
from equigraph.stores.rows import MOST_COLUMNS, Rows, StreamedRows, ordered_sum
from equigraph.stores.threads import most_threads, run_all

# Steps between two checkpoints: at most so many are repeated after a loss; a checkpoint takes one transfer of H.
CHECKPOINT = 25
# Largest number of entries of H for parallel fits; larger fits use threads within the fit.
MOST_ENTRIES = 2**19
# Number of fits that are started at a time, per thread.
_PORTION = 2
# Rows that are updated at a time, so that the arrays of a step stay in the cache.
_CACHED_ROWS = 8192


class Tables(NamedTuple):
    """Small tables for an update of H."""

    right: NDArray  # W + W'
    middle: NDArray  # W'H'HW + WH'HW'
    positive: NDArray  # contribution of the penalty to the denominators of each group
    negative: NDArray  # contribution of the penalty to the numerators of each group
    own: NDArray  # coefficients of a node's own row in ``positive``


class Totals(NamedTuple):
    """Sums of an update over the rows of a block, in double precision, by column."""

    HH: NDArray[np.float64]  # H'H
    sums: NDArray[np.float64]  # of the rows of H by group
    squares: NDArray[np.float64]  # of their squares by group
    moved: NDArray[np.float64]  # squared change of H, in one row


class RowSteps:
    """Counterpart of `PanelSteps` on the rows of a store."""

    def __init__(self, product: StoreProduct, H: NDArray, penalty: Penalty):
        self._store, self._scale = product.store, product.scale
        self.squared_norm = product.squared_norm()
        # An empty sum is one group with tables of zeros.
        zero = np.zeros((1, 1))
        no_penalty = GroupForm(np.zeros(H.shape[0], dtype=np.intp), zero, zero, zero[0])
        self._form = form_of(penalty) or no_penalty
        self._n_clusters, self._dtype = H.shape[1], H.dtype
        # H and the previous H alternate between these two names.
        self._here, self._before = "H", "H before"
        self._n_steps = 0
        self.kept: tuple[NDArray, NDArray, int] | None = None
        self._store.place(self._here, self._padded(H))
        self._store.place("codes", self._form.codes.astype(np.int32))

    def start(self) -> Sums:
        """Return the sums of the initial H."""
        return self._sums(self._store.each(start_rows, self._here, self._form.own.size))

    def advance(self, W: NDArray[np.float64], HH: NDArray[np.float64], weights: NDArray[np.float64]) -> Sums:
        """Replace H by the next one and return its sums."""
        self._n_steps += 1
        if self._n_steps % CHECKPOINT == 0:
            saved = self._store.checkpoint([self._here, "codes"], [(self._here, "AH")])
            if self._here in saved:
                H = np.ascontiguousarray(saved[self._here][:, : self._n_clusters])
                self.kept = H, W.copy(), self._n_steps - 1
        self._here, self._before = self._before, self._here
        tables = self._tables(W, HH, weights)
        return self._sums(self._store.each(advance_rows, self._before, self._here, tables))

    def undo(self) -> None:
        """Undo the last `advance`."""
        self._here, self._before = self._before, self._here

    def membership(self) -> NDArray:
        """Return H, and discard it in the store."""
        H = np.ascontiguousarray(self._store.collect(self._here)[:, : self._n_clusters])
        self._store.checkpoint(())
        return H

    def _tables(self, W: NDArray[np.float64], HH: NDArray[np.float64], weights: NDArray) -> Tables:
        right, middle = interaction_tables(W, HH)
        form, sums = self._form, self._group_sums * weights
        of_groups = form.positive @ sums, form.negative @ sums, np.outer(form.own, weights)
        # The scale of the graph is applied to the small table instead of the rows of the product.
        return Tables(*map(self._padded, (self._scale * right, middle, *of_groups)))

    def _sums(self, parts: list[Totals]) -> Sums:
        crosses = self._store.multiply(self._here, "AH", cross_rows, self._here)
        HH, sums, squares, moved = map(ordered_sum, zip(*parts, strict=True))
        k = self._n_clusters
        self._group_sums = sums[:, :k]
        costs = self._form.costs(self._group_sums, squares[:, :k])
        return Sums(HH[:k, :k], ordered_sum(crosses)[:k, :k] * self._scale, costs, float(moved.sum()))

    def _padded(self, panel: NDArray) -> NDArray:
        """Return a copy padded with columns of zeros, which stay zero, so that rows fill vector registers."""
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
    """Run fits (H, W, penalty) of a graph in memory in parallel, one thread each; yield index and factors of each.

    The factors equal those of `multiplicative_updates` with the same product and start, to the bit.
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
    """Update the rows of one block, and return their sums."""
    from equigraph.stores.kernels import update_rows

    H, AH, codes = rows.get(before), rows.get("AH"), rows.get("codes")
    out, width, n_groups = rows.allocate(here, H.shape[1:], H.dtype), H.shape[1], len(tables.own)
    if width <= MOST_COLUMNS:
        totals = Totals(*(np.zeros((n_rows, width)) for n_rows in (width, n_groups, n_groups, 1)))
        # Received tables are read-only; as writable arrays all tables share one compiled loop.
        update_rows(width)(H, AH, codes, Tables(*map(writable, tables)), FLOOR, out, totals)
        return totals
    for start in range(0, H.shape[0], _CACHED_ROWS):
        some = slice(start, start + _CACHED_ROWS)
        positive = tables.positive.take(codes[some], axis=0)
        positive += tables.own.take(codes[some], axis=0) * H[some]
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
