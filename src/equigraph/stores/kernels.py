"""Compiled loops over a range of rows: products with the graph, Gram matrices, multiplicative updates.

Import this module only where the loops are about to run: it loads the compiler. All loops are plain functions on arrays
that release the interpreter's lock; rows ``low`` to ``high`` are worked on and no others, so that threads, blocks on
disk and workers elsewhere use the same ones. Sums are added to what their arrays hold, row after row.

``product_rows`` takes panels of any width. The others want rows padded to whole vectors (`equigraph.stores.panels`).
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from equigraph._utils.compilation import compiled
from equigraph.stores.panels import FLOOR
from equigraph.stores.vectors import (
    UNIT,
    add,
    add_multiple,
    at_least,
    divide,
    load,
    load_like,
    multiply,
    prefetch,
    splat,
    square_root,
    store,
    subtract,
    widen,
)

# Rows that are summed up while they are still close: between the first and the second cache.
_TILE = 128
_LINE = 64


def _product_columns(units):
    """Return a loop over rows and their entries for some units from a column on."""

    # Arrays are arguments of their own: as attributes of a tuple they would be counted as new references for every
    # entry, and the compiler would not decide a branch on them. Without weights, the scale comes at the end.
    @register_jitable
    def product_columns(indptr, indices, data, scale, panel, out, low, high, ahead, column):
        for row in range(low, high):
            total = splat(panel.dtype.type(0), units)
            for p in range(indptr[row], indptr[row + 1]):
                if ahead > 0:
                    prefetch(panel, np.intp(indices[min(p + ahead, indices.size - 1)]), column)
                values = load(panel, np.intp(indices[p]), column, units)
                if data is None:
                    total = add(total, values)
                else:
                    total = add_multiple(total, data[p], values)
            if data is None:
                total = multiply(total, splat(scale, units))
            store(out, row, column, total)

    return product_columns


def _product_columns_to(units):
    """Return the same with one more unit, which may overlap the others so as to end with the row."""

    @register_jitable
    def product_columns_to(indptr, indices, data, scale, panel, out, low, high, ahead, column, last):
        unit, step = UNIT // panel.itemsize, _LINE // panel.itemsize
        for row in range(low, high):
            total, total_last = splat(panel.dtype.type(0), units), splat(panel.dtype.type(0), 1)
            for p in range(indptr[row], indptr[row + 1]):
                if ahead > 0:
                    later = np.intp(indices[min(p + ahead, indices.size - 1)])
                    for c in range(column, last, step):
                        prefetch(panel, later, c)
                    prefetch(panel, later, last + unit - 1)
                node = np.intp(indices[p])
                values, values_last = load(panel, node, column, units), load(panel, node, last, 1)
                if data is None:
                    total, total_last = add(total, values), add(total_last, values_last)
                else:
                    total = add_multiple(total, data[p], values)
                    total_last = add_multiple(total_last, data[p], values_last)
            if data is None:
                total = multiply(total, splat(scale, units))
                total_last = multiply(total_last, splat(scale, 1))
            store(out, row, column, total)
            # Where both overlap, these are the same numbers.
            store(out, row, last, total_last)

    return product_columns_to


_columns_1, _columns_4 = _product_columns(1), _product_columns(4)
_columns_2_to, _columns_3_to, _columns_4_to = (_product_columns_to(units) for units in (1, 2, 3))


@register_jitable
def _narrow_product(indptr, indices, data, scale, panel, out, low, high):
    for row in range(low, high):
        for c in range(panel.shape[1]):
            total = panel.dtype.type(0)
            for p in range(indptr[row], indptr[row + 1]):
                value = panel[np.intp(indices[p]), c]
                if data is None:
                    total += value
                else:
                    total += data[p] * value
            if data is None:
                total *= scale
            out[row, c] = total


@register_jitable
def _wide_product(indptr, indices, data, scale, panel, out, low, high, ahead):
    width, unit = panel.shape[1], UNIT // panel.itemsize
    c, last = 0, width - unit
    while width - c >= 4 * unit:
        _columns_4(indptr, indices, data, scale, panel, out, low, high, ahead, c)
        c += 4 * unit
    rest = width - c
    if 0 < rest <= unit:
        _columns_1(indptr, indices, data, scale, panel, out, low, high, ahead, last)
    elif unit < rest <= 2 * unit:
        _columns_2_to(indptr, indices, data, scale, panel, out, low, high, ahead, c, last)
    elif 2 * unit < rest <= 3 * unit:
        _columns_3_to(indptr, indices, data, scale, panel, out, low, high, ahead, c, last)
    elif rest > 3 * unit:
        _columns_4_to(indptr, indices, data, scale, panel, out, low, high, ahead, c, last)


@compiled
def product_rows(entries, panel, out, low, high, ahead):
    """Write rows of A times a panel into ``out``; its rows are asked for so many entries ``ahead``, or not (0)."""
    indptr, indices, data, scale = entries
    for start in range(low, high, _TILE):
        stop = min(start + _TILE, high)
        if panel.shape[1] < UNIT // panel.itemsize:
            _narrow_product(indptr, indices, data, scale, panel, out, start, stop)
        else:
            _wide_product(indptr, indices, data, scale, panel, out, start, stop, ahead)


def _outer_rows(units):
    """Return a loop that adds four rows and a few columns of left'right, kept in registers meanwhile."""

    @register_jitable
    def outer_rows(left, right, low, high, sums, a, column):
        like = widen(load(right, low, column, units))
        first, second = load_like(sums, a, column, like), load_like(sums, a + 1, column, like)
        third, fourth = load_like(sums, a + 2, column, like), load_like(sums, a + 3, column, like)
        for i in range(low, high):
            values = widen(load(right, i, column, units))
            first = add_multiple(first, np.float64(left[i, a]), values)
            second = add_multiple(second, np.float64(left[i, a + 1]), values)
            third = add_multiple(third, np.float64(left[i, a + 2]), values)
            fourth = add_multiple(fourth, np.float64(left[i, a + 3]), values)
        store(sums, a, column, first)
        store(sums, a + 1, column, second)
        store(sums, a + 2, column, third)
        store(sums, a + 3, column, fourth)

    return outer_rows


_outer_1, _outer_2 = _outer_rows(1), _outer_rows(2)


@compiled
def gram_rows(left, right, low, high, sums):
    """Add rows of left'right to ``sums``; it has a multiple of 4 of rows, at most as many as left has columns."""
    if low >= high:
        return
    unit, width = UNIT // right.itemsize, right.shape[1]
    for a in range(0, sums.shape[0], 4):
        for column in range(0, width - unit, 2 * unit):
            _outer_2(left, right, low, high, sums, a, column)
        if width // unit % 2 == 1:
            _outer_1(left, right, low, high, sums, a, width - unit)


def _update_columns(units):
    """Return the update of a few columns of a range of rows."""

    @register_jitable
    def update_columns(H, AH, codes, tables, out, totals, low, high, column):
        right, middle, positive, negative, own = tables
        _, sums, squares, moved = totals
        zero, floor = H.dtype.type(0), H.dtype.type(FLOOR)
        distance = load_like(moved, 0, column, widen(splat(zero, units)))
        for row in range(low, high):
            numerator = splat(zero, units)
            denominator = numerator
            for a in range(right.shape[0]):
                numerator = add_multiple(numerator, AH[row, a], load(right, a, column, units))
                denominator = add_multiple(denominator, H[row, a], load(middle, a, column, units))
            old = load(H, row, column, units)
            if codes is not None:
                group = np.intp(codes[row])
                numerator = add(numerator, load(negative, group, column, units))
                above = add_multiple(load(positive, group, column, units), own[group], old)
                denominator = add(denominator, at_least(above, zero))
            ratio = divide(numerator, at_least(denominator, floor))
            # Two square roots are several times as fast as a power.
            new = multiply(square_root(square_root(ratio)), old)
            store(out, row, column, new)
            step, wide = widen(subtract(new, old)), widen(new)
            distance = add_multiple(distance, step, step)
            if codes is not None:
                store(sums, group, column, add(load_like(sums, group, column, wide), wide))
                square = add_multiple(load_like(squares, group, column, wide), wide, wide)
                store(squares, group, column, square)
        store(moved, 0, column, distance)

    return update_columns


_update_1, _update_2 = _update_columns(1), _update_columns(2)


@compiled
def update_rows(H, AH, codes, tables, out, totals, low, high):
    """Write the next H into ``out``, not H itself, and add its sums to ``totals``; no codes mean no penalty."""
    unit, width = UNIT // H.itemsize, H.shape[1]
    for start in range(low, high, _TILE):
        stop = min(start + _TILE, high)
        for column in range(0, width - unit, 2 * unit):
            _update_2(H, AH, codes, tables, out, totals, start, stop, column)
        if width // unit % 2 == 1:
            _update_1(H, AH, codes, tables, out, totals, start, stop, width - unit)
        gram_rows(out, out, start, stop, totals.HH)


@compiled
def sum_rows(H, codes, low, high, sums, squares):
    """Add entries and squared entries to the rows of their groups; codes may be None, for no groups."""
    if codes is not None:
        for row in range(low, high):
            group = np.intp(codes[row])
            for c in range(H.shape[1]):
                value = np.float64(H[row, c])
                sums[group, c] += value
                squares[group, c] += value * value


@compiled
def product_and_gram_rows(entries, panel, own, out, low, high, ahead, sums):
    """Do `product_rows`, and add ``own' out`` to ``sums``.

    Row i of ``own`` is what the panel holds for the node of row i of ``out``: with all rows here it is the panel.
    """
    for start in range(low, high, _TILE):
        stop = min(start + _TILE, high)
        product_rows(entries, panel, out, start, stop, ahead)
        gram_rows(own, out, start, stop, sums)
