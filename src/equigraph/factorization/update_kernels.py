"""Compiled loops of the multiplicative updates: blocks of rows, the small matrices between them, whole iterations.

Import this module only where the loops are about to run: it loads the compiler. Sums of a block of rows are kept apart
and added in the order of the blocks, so that a run by any number of threads gives the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.compilation import compiled
from equigraph.stores.kernels import add_product, gram_rows, sum_rows, update_rows
from equigraph.stores.panels import FLOOR, Entries, Tables, Totals

# Why `iterations` ended.
GOING_ON, CONVERGED, DIVERGED = 0, 1, 2
_TINY = float(np.finfo(np.float64).tiny)


class FixedInputs(NamedTuple):
    """What does not change in a run: the graph, its blocks of rows, and the penalty, as in `GroupForm`.

    Without a penalty the codes are None, and its tables are empty.
    """

    entries: Entries
    cuts: NDArray[np.int64]
    codes: NDArray[np.int32] | None
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    own: NDArray[np.float64]
    squared_norm: float
    fit_interaction: bool


class Work(NamedTuple):
    """What changes: A H, the tables of the next update, the sums of each block and of all, and W before and after."""

    AH: NDArray
    tables: Tables
    HH_blocks: NDArray[np.float64]
    sums_blocks: NDArray[np.float64]
    squares_blocks: NDArray[np.float64]
    moved_blocks: NDArray[np.float64]
    HAH_blocks: NDArray[np.float64]
    totals: Totals
    HAH: NDArray[np.float64]
    W: NDArray[np.float64]
    W_next: NDArray[np.float64]


@compiled
def _multiply(left, right, out):
    k = out.shape[0]
    for i in range(k):
        for j in range(k):
            out[i, j] = 0.0
        for a in range(k):
            for j in range(k):
                out[i, j] += left[i, a] * right[a, j]


# Entry by entry, here and below: assignments of whole arrays take seconds to compile.
@compiled
def copy_part(source, out):
    """Copy as much as ``out`` takes."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = source[i, j]


@compiled
def fill_zero(out):
    """Set all entries to 0."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0.0


@compiled
def _add_up(blocks, total):
    """Add blocks in their order."""
    fill_zero(total)
    for b in range(blocks.shape[0]):
        for i in range(total.shape[0]):
            for j in range(total.shape[1]):
                total[i, j] += blocks[b, i, j]


@compiled
def before_update(work):
    """Write the tables of the next update: W + W', and W'H'HW + WH'HW'."""
    W, HH, k = work.W, work.totals.HH, work.W.shape[0]
    turned, once = np.empty((k, k)), np.empty((k, k))
    middle, other = np.empty((k, k)), np.empty((k, k))
    for i in range(k):
        for j in range(k):
            turned[i, j] = W[j, i]
    _multiply(HH, W, once)
    _multiply(turned, once, middle)
    _multiply(HH, turned, once)
    _multiply(W, once, other)
    for i in range(k):
        for j in range(k):
            work.tables.right[i, j] = W[i, j] + W[j, i]
            work.tables.middle[i, j] = middle[i, j] + other[i, j]


@compiled
def _part(codes, low, high):
    # A branch on an argument is decided when the loop is compiled, one on the field of a tuple is not.
    if codes is None:
        return None
    return codes[low:high]


@compiled
def update_blocks(fixed, work, H, out, first, last):
    """Write the next H into ``out``, for some blocks of rows."""
    for b in range(first, last):
        totals = Totals(work.HH_blocks[b], work.sums_blocks[b], work.squares_blocks[b], work.moved_blocks[b])
        fill_zero(totals.HH)
        fill_zero(totals.sums)
        fill_zero(totals.squares)
        fill_zero(totals.moved)
        low, high = fixed.cuts[b], fixed.cuts[b + 1]
        codes = _part(fixed.codes, low, high)
        update_rows(H[low:high], work.AH[low:high], codes, work.tables, out[low:high], totals)


@compiled
def start_blocks(fixed, work, H, first, last):
    """Write the sums of H as it is, for some blocks of rows."""
    for b in range(first, last):
        low, high = fixed.cuts[b], fixed.cuts[b + 1]
        gram_rows(H[low:high], H[low:high], work.HH_blocks[b])
        codes = _part(fixed.codes, low, high)
        sum_rows(H[low:high], codes, work.sums_blocks[b], work.squares_blocks[b])


@compiled
def after_update(fixed, work):
    """Add up the sums of the blocks, write the tables of the penalty, and return its value."""
    totals, tables = work.totals, work.tables
    _add_up(work.HH_blocks, totals.HH)
    _add_up(work.sums_blocks, totals.sums)
    _add_up(work.squares_blocks, totals.squares)
    _add_up(work.moved_blocks, totals.moved)
    value = 0.0
    sums, squares = totals.sums, totals.squares
    for s in range(sums.shape[0]):
        for c in range(sums.shape[1]):
            up, down = 0.0, 0.0
            for t in range(sums.shape[0]):
                up += fixed.positive[s, t] * sums[t, c]
                down += fixed.negative[s, t] * sums[t, c]
            tables.positive[s, c] = up
            tables.negative[s, c] = down
            value += sums[s, c] * (up - down) + fixed.own[s] * squares[s, c]
    return value


@compiled
def product_blocks(fixed, work, H, first, last):
    """Write A H, for some blocks of rows."""
    for b in range(first, last):
        low, high = fixed.cuts[b], fixed.cuts[b + 1]
        indptr, indices, data, scale = fixed.entries
        AH, HAH = work.AH[low:high], work.HAH_blocks[b]
        fill_zero(AH)
        fill_zero(HAH)
        add_product(indptr[low:high], indptr[low + 1 : high + 1], indices, data, scale, np.int64(0), H, AH)
        gram_rows(H[low:high], AH, HAH)


@compiled
def after_product(fixed, work, penalty):
    """Write the next W, and return the objective there."""
    _add_up(work.HAH_blocks, work.HAH)
    W, W_next, HH, HAH, k = work.W, work.W_next, work.totals.HH, work.HAH, work.W.shape[0]
    once, image = np.empty((k, k)), np.empty((k, k))
    copy_part(W, W_next)
    if fixed.fit_interaction:
        _multiply(HH, W, once)
        _multiply(once, HH, image)
        for i in range(k):
            for j in range(k):
                # Not the larger of the two, which would hide NaN.
                floored = FLOOR if image[i, j] < FLOOR else image[i, j]
                W_next[i, j] = W[i, j] * HAH[i, j] / floored
    _multiply(HH, W_next, once)
    _multiply(once, HH, image)
    cross, square = 0.0, 0.0
    for i in range(k):
        for j in range(k):
            cross += HAH[i, j] * W_next[i, j]
            square += image[i, j] * W_next[i, j]
    return fixed.squared_norm + (square - 2.0 * cross) + penalty


@compiled
def accept(W, W_next, objective):
    """Take the next W, unless it or the objective is not finite; return whether it was taken."""
    finite = np.isfinite(objective)
    for i in range(W.shape[0]):
        for j in range(W.shape[0]):
            finite = finite and np.isfinite(W_next[i, j])
    if finite:
        copy_part(W_next, W)
    return finite


@compiled
def squared_size(work):
    """Return the squared norm of H."""
    size = 0.0
    for c in range(work.W.shape[0]):
        size += work.totals.HH[c, c]
    return size


@compiled
def relative_move(work, size):
    """Return how far H moved, relative to its size before."""
    moved = 0.0
    for c in range(work.totals.moved.shape[1]):
        moved += work.totals.moved[0, c]
    return np.sqrt(moved / max(size, _TINY))


@compiled
def iterations(fixed, work, H, other, history, tol):
    """Iterate as often as ``history`` is long, or to the end.

    Returns the number of iterations done, the last change, and why it ended. H and ``other`` change roles in each.
    """
    # A literal zero would make the loops over blocks compile once more.
    first, last = np.intp(0), fixed.cuts.size - 1
    change = np.nan
    for step in range(history.size):
        size = squared_size(work)
        before_update(work)
        update_blocks(fixed, work, H, other, first, last)
        penalty = after_update(fixed, work)
        product_blocks(fixed, work, other, first, last)
        objective = after_product(fixed, work, penalty)
        if not accept(work.W, work.W_next, objective):
            return step, change, DIVERGED
        history[step] = objective
        change = relative_move(work, size)
        H, other = other, H
        if tol > 0.0 and change < tol:
            return step + 1, change, CONVERGED
    return history.size, change, GOING_ON
