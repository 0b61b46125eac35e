"""Compiled loops over rows: products with the graph, Gram matrices, multiplicative updates.

Import this module only where the loops are about to run: it loads the compiler. All loops are plain functions on arrays
that release the interpreter's lock, so that threads, blocks on disk and workers elsewhere use the same ones. Sums are
added to what their arrays hold, row after row and entry after entry: a row of a product has the same sum, to the bit,
into however many tiles its entries are cut.
"""

from __future__ import annotations

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.stores.panels import FLOOR


@compiled
def add_product(starts, stops, indices, data, scale, first_column, panel, out):
    """Add to ``out`` the product of some rows with a panel that begins at the node ``first_column``.

    The entries of row i are those from ``starts[i]`` to ``stops[i]``; where ``data`` is None, all weigh ``scale``.
    """
    for row in range(starts.size):
        total = out[row]
        for p in range(starts[row], stops[row]):
            values = panel[np.intp(indices[p]) - first_column]
            weight = scale if data is None else panel.dtype.type(data[p])
            for c in range(values.size):
                total[c] += weight * values[c]


@compiled
def add_pairs(starts, stops, indices, data, scale, first_column, labels, own, out):
    """Add to ``out[a, b]`` the weight of the edges from rows of cluster a to nodes of cluster b."""
    for row in range(starts.size):
        for p in range(starts[row], stops[row]):
            weight = scale if data is None else data[p]
            out[own[row], labels[np.intp(indices[p]) - first_column]] += weight


@compiled
def split_points(indptr, indices, cuts, points):
    """Set ``points[p, i]`` to the first entry of row i whose column is at least ``cuts[p]``."""
    for i in range(indptr.size - 1):
        entry = indptr[i]
        for p in range(cuts.size):
            while entry < indptr[i + 1] and indices[entry] < cuts[p]:
                entry += 1
            points[p, i] = entry


@compiled
def weight_to_own(indptr, indices, data, low, labels):
    """Return the weight of each node, of the rows from ``low`` on, to its own cluster."""
    own = np.zeros(indptr.size - 1)
    for node in range(own.size):
        for entry in range(indptr[node], indptr[node + 1]):
            if labels[indices[entry]] == labels[low + node]:
                own[node] += data[entry]
    return own


@compiled
def gram_rows(left, right, sums):
    """Add left'right, in double precision, to ``sums``."""
    for i in range(left.shape[0]):
        values = right[i]
        for a in range(left.shape[1]):
            factor, total = np.float64(left[i, a]), sums[a]
            for c in range(values.size):
                total[c] += factor * values[c]


@compiled
def sum_rows(H, codes, sums, squares):
    """Add entries and squared entries to the rows of their groups; codes may be None, for no groups."""
    if codes is not None:
        for row in range(H.shape[0]):
            group = np.intp(codes[row])
            for c in range(H.shape[1]):
                value = np.float64(H[row, c])
                sums[group, c] += value
                squares[group, c] += value * value


@compiled
def update_rows(H, AH, codes, tables, out, totals):
    """Write the next H into ``out``, not H itself, and add its sums to ``totals``; no codes mean no penalty."""
    right, middle, positive, negative, own = tables
    floor, denominator = H.dtype.type(FLOOR), np.empty(H.shape[1], H.dtype)
    for row in range(H.shape[0]):
        old, new = H[row], out[row]
        for c in range(old.size):
            new[c] = 0
            denominator[c] = 0
        for a in range(old.size):
            for c in range(old.size):
                new[c] += AH[row, a] * right[a, c]
            for c in range(old.size):
                denominator[c] += old[a] * middle[a, c]
        if codes is not None:
            group = np.intp(codes[row])
            for c in range(old.size):
                new[c] += negative[group, c]
                above = positive[group, c] + own[group] * old[c]
                # Not the larger of the two, which would hide NaN; so below.
                denominator[c] += 0 if above < 0 else above
        for c in range(old.size):
            below = floor if denominator[c] < floor else denominator[c]
            # Two square roots are several times as fast as a power.
            new[c] = np.sqrt(np.sqrt(new[c] / below)) * old[c]
        for c in range(old.size):
            step = np.float64(new[c] - old[c])
            totals.moved[0, c] += step * step
    sum_rows(out, codes, totals.sums, totals.squares)
    gram_rows(out, out, totals.HH)
