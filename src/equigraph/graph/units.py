"""Scale weights to units of the largest, so that results do not depend on the user's unit.

Methods and scores see every weight as a share of the largest. Reported weights are converted back to the user's unit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

# Smaller shares are raised to this one: an edge stays an edge, and its squared weight does not underflow.
LEAST_SHARE = 2.0**-400
# Rounds a double to 40 bits of its mantissa.
_SPLIT = 2.0**13 + 1
# Weights that are scaled at a time.
_CHUNK = 1 << 20


def unit_weights(adjacency: sparse.csr_array) -> sparse.csr_array:
    """Return the graph with weights in units of the largest, those in double precision rounded to 12 digits.

    In another unit the same weights differ in their last digit, which would break ties differently and change results.
    Rounded, they are bitwise equal, except for the rare ones between two rounded numbers. The same object is returned
    if its weights are in that unit already; otherwise one that shares all but the weights.
    """
    data = adjacency.data
    unit = largest_weight(data)
    if not data.size or data.min() == unit == 1:
        return adjacency
    if unit == 1 and all(np.array_equal(shares_of(part, unit), part) for part in _chunks(data)):
        return adjacency
    shares = np.empty_like(data)
    for part, out in zip(_chunks(data), _chunks(shares), strict=True):
        out[...] = shares_of(part, unit)
    return sparse.csr_array((shares, adjacency.indices, adjacency.indptr), shape=adjacency.shape)


def largest_weight(data: NDArray) -> float:
    """Return the largest weight, the unit of a graph; 1 without edges."""
    return float(data.max()) if data.size else 1.0


def in_users_unit(H: NDArray, W: NDArray, unit: float) -> tuple[NDArray, NDArray]:
    """Return factors of a graph whose weights were shares of a unit, so that H W H' is in the user's own.

    W is multiplied by the unit. If that overflows, W is first divided by its maximum, which H takes.
    """
    with np.errstate(over="ignore"):
        scaled = W * unit
    if np.isfinite(scaled).all():
        return H, scaled
    top = W.max()
    return H * H.dtype.type(np.sqrt(top)), W / top * unit


def _chunks(data: NDArray) -> list[NDArray]:
    return [data[start : start + _CHUNK] for start in range(0, data.size, _CHUNK)]


def shares_of(weights: NDArray, unit: float) -> NDArray:
    """Return weights in units of the largest weight of the graph."""
    dtype = weights.dtype.type
    with np.errstate(under="ignore"):
        shares = weights / dtype(unit)
    if weights.dtype != np.float64:
        return np.maximum(shares, np.finfo(weights.dtype).tiny)
    shares = np.maximum(shares, LEAST_SHARE)
    high = shares * _SPLIT
    return high - (high - shares)
