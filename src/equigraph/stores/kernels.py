"""Compiled loops over the rows of a graph: products with panels, and updates of a membership.

Import this module only where the loops are about to run: it loads the compiler. All loops are functions of arrays that
release the GIL, so that threads, blocks on disk and remote workers use the same ones. Sums are accumulated in the order
of rows and entries: a row of a product is the same, to the bit, whatever the number of tiles.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.stores.vectors import (
    add,
    add_multiple,
    at_least,
    divide,
    load,
    multiply,
    square_root,
    store,
    subtract,
    widen,
    zeros,
)


@cache
def add_product(width):
    """Return a loop that adds to ``out`` the product of a range of rows with ``width`` columns of a panel.

    The panel begins at the node ``first_row``, the columns at ``column``. The entries of row i are those from
    ``starts[i]`` to ``stops[i]``; if ``data`` is None, all weights are ``scale``.
    """

    @compiled
    def add_rows(starts, stops, indices, data, scale, first_row, panel, column, out):
        for row in range(starts.size):
            total = load(out, row, column, width)
            for p in range(starts[row], stops[row]):
                weight = scale if data is None else panel.dtype.type(data[p])
                total = add_multiple(
                    total, weight, load(panel, np.intp(indices[p]) - first_row, column, width)
                )
            store(out, row, column, total)

    return add_rows


@cache
def gram_rows(width):
    """Return a loop that adds left'right, of ``width`` columns each, to ``sums`` in double precision."""

    @compiled
    def add_gram(left, right, sums):
        for row in range(left.shape[0]):
            values = widen(load(right, row, 0, width))
            for a in range(width):
                store(sums, a, 0, add_multiple(load(sums, a, 0, width), np.float64(left[row, a]), values))

    return add_gram


@cache
def update_rows(width):
    """Return a loop that writes the next H, of ``width`` columns, into ``out`` and adds its sums to ``totals``."""

    @compiled
    def update(H, AH, codes, tables, floor, out, totals):
        right, middle, positive, negative, own = tables
        HH, sums, squares, moved = totals
        for row in range(H.shape[0]):
            old, numerator, denominator = load(H, row, 0, width), zeros(H, width), zeros(H, width)
            for a in range(right.shape[0]):
                numerator = add_multiple(numerator, AH[row, a], load(right, a, 0, width))
                denominator = add_multiple(denominator, H[row, a], load(middle, a, 0, width))
            group = np.intp(codes[row])
            numerator = add(numerator, load(negative, group, 0, width))
            above = add(load(positive, group, 0, width), multiply(load(own, group, 0, width), old))
            denominator = add(denominator, at_least(above, H.dtype.type(0)))
            ratio = divide(numerator, at_least(denominator, H.dtype.type(floor)))
            # Two square roots are several times as fast as a power.
            new = multiply(square_root(square_root(ratio)), old)
            store(out, row, 0, new)
            step, wide = widen(subtract(new, old)), widen(new)
            store(moved, 0, 0, add(load(moved, 0, 0, width), multiply(step, step)))
            store(sums, group, 0, add(load(sums, group, 0, width), wide))
            store(squares, group, 0, add(load(squares, group, 0, width), multiply(wide, wide)))
            for a in range(right.shape[0]):
                store(HH, a, 0, add_multiple(load(HH, a, 0, width), np.float64(out[row, a]), wide))

    return update
