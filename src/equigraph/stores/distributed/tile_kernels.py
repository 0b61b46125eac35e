"""Compiled loops over the stored entries of a tile: a row block, restricted to a range of columns.

Every loop adds to what is there, entry by entry in the order of the columns: a row has the same sum, to the bit, into
however many tiles its entries are cut.
"""

# The intrinsics of `vectors` lose their first argument when they are called, which no type checker knows.
# mypy: disable-error-code="call-arg,var-annotated"

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from equigraph._utils.compilation import compiled
from equigraph.stores.vectors import UNIT, add_multiple, load, prefetch, store

_LINE = 64
# Rows of a panel beyond this size are asked for before they are needed: it has left the caches near a core.
_FAR_BYTES = 2**22


@compiled
def split_points(indptr, indices, cuts, points):
    """Set ``points[p, i]`` to the first entry of row i whose column is at least ``cuts[p]``."""
    for i in range(indptr.size - 1):
        entry = indptr[i]
        for p in range(cuts.size):
            while entry < indptr[i + 1] and indices[entry] < cuts[p]:
                entry += 1
            points[p, i] = entry


def _add_row(units):
    """Return a loop that adds the entries of a row for a number of units of columns, and one unit at the end.

    The two may overlap: both are loaded before either is stored, so the columns that they share get the same sum twice.
    """

    @register_jitable
    def add_row(indices, data, scale, first_column, panel, out, row, first, last, column):
        total = load(out, row, column, units)
        end = panel.shape[1] - UNIT // panel.itemsize
        total_end = load(out, row, end, 1)
        for p in range(first, last):
            node = np.intp(indices[p] - first_column)
            weight = scale if data is None else panel.dtype.type(data[p])
            total = add_multiple(total, weight, load(panel, node, column, units))
            total_end = add_multiple(total_end, weight, load(panel, node, end, 1))
        store(out, row, column, total)
        store(out, row, end, total_end)

    return add_row


_add_1, _add_2, _add_3 = _add_row(1), _add_row(2), _add_row(3)


@register_jitable
def _add_narrow(indices, data, scale, first_column, panel, out, row, first, last):
    for p in range(first, last):
        node = np.intp(indices[p] - first_column)
        weight = scale if data is None else panel.dtype.type(data[p])
        for c in range(panel.shape[1]):
            out[row, c] += weight * panel[node, c]


@compiled
def add_product(starts, stops, indices, data, scale, first_column, panel, out, far):
    """Add to ``out`` the product of a tile with the rows of a panel from ``first_column`` on."""
    unit, width = UNIT // panel.itemsize, panel.shape[1]
    for row in range(starts.size):
        first, last = starts[row], stops[row]
        if far and row + 1 < starts.size:
            # The next row of a tile need not follow in memory, so it is its own entries that are asked for.
            for p in range(starts[row + 1], stops[row + 1]):
                for column in range(0, width, _LINE // panel.itemsize):
                    prefetch(panel, np.intp(indices[p] - first_column), column)
        if width < unit:
            _add_narrow(indices, data, scale, first_column, panel, out, row, first, last)
            continue
        column = 0
        while width - column > 4 * unit:
            # The unit at the end would be added once more by every further call: these columns go by themselves.
            _add_narrow_units(indices, data, scale, first_column, panel, out, row, first, last, column)
            column += unit
        rest = (width - column - 1) // unit
        if rest <= 1:
            _add_1(indices, data, scale, first_column, panel, out, row, first, last, column)
        elif rest == 2:
            _add_2(indices, data, scale, first_column, panel, out, row, first, last, column)
        else:
            _add_3(indices, data, scale, first_column, panel, out, row, first, last, column)


@register_jitable
def _add_narrow_units(indices, data, scale, first_column, panel, out, row, first, last, column):
    total = load(out, row, column, 1)
    for p in range(first, last):
        weight = scale if data is None else panel.dtype.type(data[p])
        total = add_multiple(total, weight, load(panel, np.intp(indices[p] - first_column), column, 1))
    store(out, row, column, total)


@compiled
def add_pairs(starts, stops, indices, data, scale, first_column, own, labels, out):
    """Add to ``out[a, b]`` the weight of the edges of the tile from nodes of cluster a to nodes of cluster b."""
    for row in range(starts.size):
        for p in range(starts[row], stops[row]):
            weight = scale if data is None else data[p]
            out[own[row], labels[indices[p] - first_column]] += weight


@compiled
def weight_to_own(indptr, indices, data, low, labels):
    """Return the weight of each node, of the rows from ``low`` on, to its own cluster."""
    own = np.zeros(indptr.size - 1)
    for node in range(own.size):
        for entry in range(indptr[node], indptr[node + 1]):
            if labels[indices[entry]] == labels[low + node]:
                own[node] += data[entry]
    return own


def add_tile(starts, stops, block, first_column, panel, out):
    """Add the product of one tile with a panel."""
    tile = _tile(starts, stops, block, first_column, out.dtype)
    add_product(*tile, _read_only(panel), out, panel.nbytes > _FAR_BYTES)


def tally_tile(starts, stops, block, first_column, own, labels, out):
    """Add the weights between clusters of one tile."""
    tile = _tile(starts, stops, block, first_column, out.dtype)
    add_pairs(*tile, _read_only(own), _read_only(labels), out)


def _tile(starts, stops, block, first_column, dtype):
    data = None if block.data is None else _read_only(block.data)
    return *map(_read_only, (starts, stops, block.indices)), data, dtype.type(block.value), first_column


def _read_only(array):
    """Return a plain view that cannot be written to: mapped, received and own arrays then share one compiled loop."""
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view
