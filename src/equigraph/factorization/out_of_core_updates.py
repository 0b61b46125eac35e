"""Multiplicative updates where the rows of H live with the row blocks of the graph.

The rows of a block need the k x k tables, the group sums and nothing else to take their next step; only the product
with A brings rows of other blocks together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.factorization.multiplicative import Sums, is_nothing
from equigraph.factorization.penalties import Penalty
from equigraph.factorization.penalties.base import form_of
from equigraph.stores.distributed.rows import Rows, RowStore, in_order
from equigraph.stores.panels import Tables, Totals, zero_totals

# Steps between two checkpoints: a loss costs at most so many steps again, a checkpoint one transfer of H.
CHECKPOINT = 25


class Checkpoint(NamedTuple):
    """Factors in this process, and after how many steps."""

    H: NDArray
    W: NDArray[np.float64]
    n_steps: int


class BlockSteps:
    """MembershipSteps on the rows of a store, where A is multiplied with a scale."""

    def __init__(
        self, store: RowStore, H: NDArray, penalty: Penalty, *, squared_norm: float, scale: float = 1.0
    ):
        self._store = store
        self._form = None if is_nothing(penalty) else penalty.group_form()
        self._squared_norm, self._scale = squared_norm * scale**2, scale
        self._n_clusters, self._dtype = H.shape[1], H.dtype
        self._n_groups = 0 if self._form is None else self._form.own.size
        # H and the H before it take turns under these two names.
        self._here, self._before = "H", "H before"
        self._n_steps = 0
        # The factors of the last checkpoint, where the rows are in other processes.
        self.kept: Checkpoint | None = None
        store.place(self._here, np.ascontiguousarray(H))

    def squared_norm(self) -> float:
        """Return the sum of the squared weights of A."""
        return self._squared_norm

    def start(self) -> Sums:
        """Return the sums of the start."""
        return self._sums(self._store.each(start_rows, self._here, self._n_clusters, self._n_groups))

    def advance(self, W: NDArray[np.float64], HH: NDArray[np.float64]) -> Sums:
        """Replace H by the next one and return its sums."""
        self._n_steps += 1
        if self._n_steps % CHECKPOINT == 0:
            saved = self._store.checkpoint([self._here], [(self._here, "AH")])
            if self._here in saved:
                self.kept = Checkpoint(saved[self._here], W.copy(), self._n_steps - 1)
        self._here, self._before = self._before, self._here
        tables = self._tables(W, HH)
        parts = self._store.each(
            advance_rows, self._before, self._here, tables, self._n_clusters, self._n_groups
        )
        return self._sums(parts)

    def back(self) -> None:
        """Take the last `advance` back."""
        self._here, self._before = self._before, self._here

    def membership(self) -> NDArray:
        """Return H."""
        return self._store.collect(self._here)

    def _tables(self, W: NDArray[np.float64], HH: NDArray[np.float64]) -> Tables:
        middle = W.T @ HH @ W + W @ HH @ W.T
        positive = negative = np.zeros((0, self._n_clusters))
        own = np.zeros(0)
        if self._form is not None:
            positive, negative = (
                self._form.positive @ self._group_sums,
                self._form.negative @ self._group_sums,
            )
            own = self._form.own
        # A scaled graph has a scaled product: it is the table beside it that is multiplied, not the rows.
        right = self._scale * (W + W.T)
        dtype = self._dtype
        return Tables(
            right=right.astype(dtype),
            middle=middle.astype(dtype),
            positive=positive.astype(dtype),
            negative=negative.astype(dtype),
            own=own.astype(dtype),
        )

    def _sums(self, parts: list[Totals]) -> Sums:
        crosses = self._store.multiply(self._here, "AH", then=cross_rows, arguments=(self._here,))
        HH, HAH = in_order([part.HH for part in parts]), in_order(crosses)
        moved = float(in_order([part.moved for part in parts]).sum())
        value = 0.0
        if self._form is not None:
            self._group_sums = in_order([part.sums for part in parts])
            squares = in_order([part.squares for part in parts]).sum(axis=1)
            value = self._form.value(self._group_sums, squares)
        return Sums(HH, HAH * self._scale, value, moved)


def has_row_form(penalty: Penalty) -> bool:
    """Return whether a penalty needs no more of other rows than sums over groups; no penalty at all does not."""
    return is_nothing(penalty) or form_of(penalty) is not None


def start_rows(rows: Rows, here: str, n_clusters: int, n_groups: int) -> Totals:
    """Return the sums of the rows of one block."""
    from equigraph.stores.kernels import gram_rows, sum_rows

    H = rows.get(here)
    totals = zero_totals(n_clusters, n_groups)
    gram_rows(H, H, totals.HH)
    if n_groups:
        sum_rows(H, rows.codes, totals.sums, totals.squares)
    return totals


def advance_rows(
    rows: Rows, before: str, here: str, tables: Tables, n_clusters: int, n_groups: int
) -> Totals:
    """Give the rows of one block their next values, and return their sums."""
    from equigraph.stores.kernels import update_rows

    H, AH = rows.get(before), rows.get("AH")
    out = rows.room(here, H.shape[1:], H.dtype)
    totals = zero_totals(n_clusters, n_groups)
    # A copy, so that tables that came over the wire and tables made here share one compiled loop.
    tables = Tables(*map(np.array, tables))
    update_rows(H, AH, rows.codes if n_groups else None, tables, out, totals)
    return totals


def cross_rows(rows: Rows, here: str) -> NDArray[np.float64]:
    """Return H'AH of the rows of one block."""
    from equigraph.stores.kernels import gram_rows

    H, AH = rows.get(here), rows.get("AH")
    sums = np.zeros((H.shape[1], AH.shape[1]))
    gram_rows(H, AH, sums)
    return sums
