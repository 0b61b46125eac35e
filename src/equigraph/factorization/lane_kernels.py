"""Compiled loops that run several fits at once, one in each lane of a vector.

Entry (i, c) of the membership of fit f stands in column ``c * LANES + f`` of a panel: one product with the panel is the
product of all fits, and every instruction of an update works for all of them. A lane does exactly what
`equigraph.factorization.fused_kernels` does for a single fit, in the same order, so the numbers are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph.compilation import compiled
from equigraph.execution.kernels import FLOOR, product_rows
from equigraph.execution.panels import Entries, Tables, Totals
from equigraph.execution.vectors import (
    UNIT,
    add,
    add_multiple,
    at_least,
    divide,
    load,
    load_like,
    multiply,
    splat,
    square_root,
    store,
    subtract,
    widen,
)
from equigraph.factorization.fused_kernels import (
    CONVERGED,
    DIVERGED,
    EXHAUSTED,
    GOING_ON,
    Form,
    accept,
    fill_zero,
    next_interaction,
    penalty_tables,
    relative_length,
    update_tables,
)

# Units of a lane vector: a cache line.
UNITS = 2
# Lanes that are free.
FREE = -1
# Rows that are summed up while they are still in the first cache.
_TILE = 32


class Lanes(NamedTuple):
    """The fits under way.

    Attributes
    ----------
    AH : ndarray of shape (n_nodes, k * lanes)
        Image of the memberships.
    tables : Tables
        ``right`` and ``middle`` of shape (k * k, lanes), ``positive`` and ``negative`` of shape (m, k * lanes),
        ``own`` of shape (m, lanes).
    totals, part : Totals
        Sums over all rows, and over a block of them: ``HH`` of shape (k * k, lanes), ``sums`` and ``squares`` of
        shape (m, k * lanes), ``moved`` of shape (k, lanes).
    HAH, HAH_part : ndarray of shape (k * k, lanes)
        H'AH of all rows, and of a block.
    W : ndarray of shape (lanes, k, k)
        Interactions.
    positive, negative : ndarray of shape (lanes, m, m)
        Tables of the penalties.
    own : ndarray of shape (lanes, m)
        Coefficients of own rows.
    status, done : ndarray of shape (lanes,)
        Why a fit ended, or FREE, and its iterations.
    change : ndarray of shape (lanes,)
        Last relative change of H.
    history : ndarray of shape (lanes, max_iter)
        Objectives.
    H_end : ndarray of shape (lanes, n_nodes, k)
        Membership of fits that ended.
    """

    AH: NDArray
    tables: Tables
    totals: Totals
    part: Totals
    HAH: NDArray[np.float64]
    HAH_part: NDArray[np.float64]
    W: NDArray[np.float64]
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    own: NDArray[np.float64]
    status: NDArray[np.int64]
    done: NDArray[np.int64]
    change: NDArray[np.float64]
    history: NDArray[np.float64]
    H_end: NDArray


class Graph(NamedTuple):
    """What all fits share."""

    entries: Entries
    ahead: int
    cuts: NDArray[np.int64]
    codes: NDArray[np.int32] | None
    squared_norm: float
    fit_interaction: bool
    tol: float


@compiled
def _update_rows(H, AH, codes, tables, out, totals, low, high):
    right, middle, positive, negative, own = tables
    _, sums, squares, moved = totals
    zero, floor = H.dtype.type(0), H.dtype.type(FLOOR)
    lanes = UNITS * UNIT // H.itemsize
    k = H.shape[1] // lanes
    for row in range(low, high):
        for c in range(k):
            numerator = splat(zero, UNITS)
            denominator = numerator
            for a in range(k):
                image, own_row = load(AH, row, a * lanes, UNITS), load(H, row, a * lanes, UNITS)
                numerator = add_multiple(numerator, image, load(right, a * k + c, 0, UNITS))
                denominator = add_multiple(denominator, own_row, load(middle, a * k + c, 0, UNITS))
            old = load(H, row, c * lanes, UNITS)
            if codes is not None:
                group = np.intp(codes[row])
                numerator = add(numerator, load(negative, group, c * lanes, UNITS))
                above = load(positive, group, c * lanes, UNITS)
                above = add_multiple(above, load(own, group, 0, UNITS), old)
                denominator = add(denominator, at_least(above, zero))
            ratio = divide(numerator, at_least(denominator, floor))
            new = multiply(square_root(square_root(ratio)), old)
            store(out, row, c * lanes, new)
            step, wide = widen(subtract(new, old)), widen(new)
            store(moved, c, 0, add_multiple(load_like(moved, c, 0, wide), step, step))
            if codes is not None:
                store(sums, group, c * lanes, add(load_like(sums, group, c * lanes, wide), wide))
                square = add_multiple(load_like(squares, group, c * lanes, wide), wide, wide)
                store(squares, group, c * lanes, square)


@compiled
def _gram_rows(left, right, low, high, sums, symmetric):
    """Add rows of left'right to ``sums``; of a symmetric one only the columns from the diagonal's group of four on."""
    lanes = UNITS * UNIT // left.itemsize
    k = left.shape[1] // lanes
    for a in range(k):
        # Four columns at a time: sums stay in registers, and need not wait for each other.
        for c in range(a // 4 * 4 if symmetric else 0, k - 3, 4):
            like = widen(load(left, low, a * lanes, UNITS))
            first, second = load_like(sums, a * k + c, 0, like), load_like(sums, a * k + c + 1, 0, like)
            third, fourth = load_like(sums, a * k + c + 2, 0, like), load_like(sums, a * k + c + 3, 0, like)
            for row in range(low, high):
                factor = widen(load(left, row, a * lanes, UNITS))
                first = add_multiple(first, factor, widen(load(right, row, c * lanes, UNITS)))
                second = add_multiple(second, factor, widen(load(right, row, (c + 1) * lanes, UNITS)))
                third = add_multiple(third, factor, widen(load(right, row, (c + 2) * lanes, UNITS)))
                fourth = add_multiple(fourth, factor, widen(load(right, row, (c + 3) * lanes, UNITS)))
            store(sums, a * k + c, 0, first)
            store(sums, a * k + c + 1, 0, second)
            store(sums, a * k + c + 2, 0, third)
            store(sums, a * k + c + 3, 0, fourth)
        for c in range(k - k % 4, k):
            total = load_like(sums, a * k + c, 0, widen(load(left, low, a * lanes, UNITS)))
            for row in range(low, high):
                factor = widen(load(left, row, a * lanes, UNITS))
                total = add_multiple(total, factor, widen(load(right, row, c * lanes, UNITS)))
            store(sums, a * k + c, 0, total)


@compiled
def _mirror(sums, k):
    """Fill in what `_gram_rows` leaves out."""
    for a in range(k):
        for c in range(a // 4 * 4):
            for lane in range(sums.shape[1]):
                sums[a * k + c, lane] = sums[c * k + a, lane]


@compiled
def _add_to(part, total):
    for i in range(total.shape[0]):
        for j in range(total.shape[1]):
            total[i, j] += part[i, j]


@compiled
def _update(graph, lanes, H, out):
    """Write the next H of all fits, and its sums."""
    totals, part = lanes.totals, lanes.part
    for total in (totals.HH, totals.sums, totals.squares, totals.moved):
        fill_zero(total)
    for b in range(graph.cuts.size - 1):
        low, high = graph.cuts[b], graph.cuts[b + 1]
        for one in (part.HH, part.sums, part.squares, part.moved):
            fill_zero(one)
        for start in range(low, high, _TILE):
            stop = min(start + _TILE, high)
            _update_rows(H, lanes.AH, graph.codes, lanes.tables, out, part, start, stop)
            _gram_rows(out, out, start, stop, part.HH, True)
        _mirror(part.HH, lanes.W.shape[1])
        _add_to(part.HH, totals.HH)
        _add_to(part.sums, totals.sums)
        _add_to(part.squares, totals.squares)
        _add_to(part.moved, totals.moved)


@compiled
def _product(graph, lanes, H):
    fill_zero(lanes.HAH)
    for b in range(graph.cuts.size - 1):
        low, high = graph.cuts[b], graph.cuts[b + 1]
        fill_zero(lanes.HAH_part)
        for start in range(low, high, _TILE):
            stop = min(start + _TILE, high)
            product_rows(graph.entries, H, lanes.AH, start, stop, graph.ahead)
            _gram_rows(H, lanes.AH, start, stop, lanes.HAH_part, False)
        _add_to(lanes.HAH_part, lanes.HAH)


@compiled
def _square_of_lane(table, lane, out):
    k = out.shape[0]
    for i in range(k):
        for j in range(k):
            out[i, j] = table[i * k + j, lane]


@compiled
def _before_update(lanes):
    n_lanes, k = lanes.W.shape[0], lanes.W.shape[1]
    HH, right, middle = np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    for lane in range(n_lanes):
        if lanes.status[lane] == GOING_ON:
            _square_of_lane(lanes.totals.HH, lane, HH)
            update_tables(lanes.W[lane], HH, right, middle)
            for i in range(k):
                for j in range(k):
                    lanes.tables.right[i * k + j, lane] = right[i, j]
                    lanes.tables.middle[i * k + j, lane] = middle[i, j]


@compiled
def _penalty(lanes, lane):
    """Write the tables of one lane's penalty, and return its value."""
    n_lanes, k = lanes.W.shape[0], lanes.W.shape[1]
    m = lanes.own.shape[1]
    sums, squares = np.empty((m, k)), np.empty((m, k))
    up, down = np.empty((m, k)), np.empty((m, k))
    for s in range(m):
        for c in range(k):
            sums[s, c] = lanes.totals.sums[s, c * n_lanes + lane]
            squares[s, c] = lanes.totals.squares[s, c * n_lanes + lane]
    form = Form(lanes.positive[lane], lanes.negative[lane], lanes.own[lane])
    value = penalty_tables(form, Totals(sums, sums, squares, sums), Tables(up, up, up, down, up))
    for s in range(m):
        for c in range(k):
            lanes.tables.positive[s, c * n_lanes + lane] = up[s, c]
            lanes.tables.negative[s, c * n_lanes + lane] = down[s, c]
    return value


@compiled
def _take(H, lane, n_lanes, out):
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[i, c] = H[i, c * n_lanes + lane]


@compiled
def iterations(graph, lanes, H, other, count):
    """Do some iterations of all fits; H and ``other`` change roles in each.

    A fit that ends is written to ``H_end``, and its lane idles for the rest.
    """
    n_lanes, k = lanes.W.shape[0], lanes.W.shape[1]
    HH, HAH, W_next = np.empty((k, k)), np.empty((k, k)), np.empty((k, k))
    size = np.empty(n_lanes)
    for _ in range(count):
        for lane in range(n_lanes):
            size[lane] = 0.0
            for c in range(k):
                size[lane] += lanes.totals.HH[c * k + c, lane]
        _before_update(lanes)
        _update(graph, lanes, H, other)
        _product(graph, lanes, other)
        for lane in range(n_lanes):
            if lanes.status[lane] != GOING_ON:
                continue
            penalty = _penalty(lanes, lane)
            _square_of_lane(lanes.totals.HH, lane, HH)
            _square_of_lane(lanes.HAH, lane, HAH)
            error = next_interaction(lanes.W[lane], W_next, HH, HAH, graph.fit_interaction)
            objective = graph.squared_norm + error + penalty
            if not accept(lanes.W[lane], W_next, objective):
                lanes.status[lane] = DIVERGED
                _take(H, lane, n_lanes, lanes.H_end[lane])
                continue
            lanes.history[lane, lanes.done[lane]] = objective
            lanes.done[lane] += 1
            moved = 0.0
            for c in range(k):
                moved += lanes.totals.moved[c, lane]
            lanes.change[lane] = relative_length(moved, size[lane])
            if graph.tol > 0.0 and lanes.change[lane] < graph.tol:
                lanes.status[lane] = CONVERGED
            elif lanes.done[lane] == lanes.history.shape[1]:
                lanes.status[lane] = EXHAUSTED
            if lanes.status[lane] != GOING_ON:
                _take(other, lane, n_lanes, lanes.H_end[lane])
        H, other = other, H
