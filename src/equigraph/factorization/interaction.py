r"""The interaction W that fits a membership best: a nonnegative least-squares problem of k (k + 1) / 2 unknowns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def fit_interaction(
    W: NDArray[np.float64],
    HAH: NDArray[np.float64],
    HH: NDArray[np.float64],
    cost: NDArray[np.float64],
    *,
    capped: bool,
    n_sweeps: int,
    tolerance: float,
) -> NDArray[np.float64]:
    r"""Lower the normalised objective over W by exact coordinate descent.

    .. math:: \min_{W \ge 0} \; -2 \langle H^\top A H, W\rangle + \langle H^\top H W H^\top H, W\rangle
              + \sum_l c_l \max_m W_{lm} \frac{\|h_m\|}{\|h_l\|}

    It is convex where the costs c, penalties of the columns of H, are nonnegative. W is symmetric and not changed;
    ``capped`` lets its entries off the diagonal fall but not rise. The tolerance is for columns of unit length.
    """
    W, image, length = W.copy(), HH @ W @ HH, np.sqrt(np.diag(HH))
    k = W.shape[0]
    for _ in range(n_sweeps):
        largest = 0.0
        for i in range(k):
            for j in range(i, k):
                if length[i] == 0.0 or length[j] == 0.0:
                    continue
                value = _best_entry(W, image, HAH, HH, cost, length, i, j)
                if capped and i != j:
                    value = min(value, W[i, j])
                step = value - W[i, j]
                if step == 0.0:
                    continue
                W[i, j] = value
                W[j, i] = value
                change = step * np.outer(HH[i], HH[j])
                image += change
                if i != j:
                    image += change.T
                largest = max(largest, abs(step) * length[i] * length[j])
        if largest <= tolerance:
            break
    return W


def _best_entry(W, image, HAH, HH, cost, length, i, j):
    """Return the best value of one entry of W (and its mirror) while the others stay."""
    # A slope that sets in at a threshold: what lies between is a threshold itself.
    if i == j:
        curvature = 2 * HH[i, i] ** 2
        value = W[i, i] - 2 * (image[i, i] - HAH[i, i]) / curvature
        threshold = _strongest_other(W, length, i, i) / length[i]
        if value > threshold:
            value = max(threshold, value - cost[i] / curvature)
        return max(value, 0.0)
    curvature = 4 * (HH[i, i] * HH[j, j] + HH[i, j] ** 2)
    value = W[i, j] - 4 * (image[i, j] - HAH[i, j]) / curvature
    first, second = (
        _strongest_other(W, length, i, j) / length[j],
        _strongest_other(W, length, j, i) / length[i],
    )
    slope, slope_second = cost[i] * length[j] / length[i], cost[j] * length[i] / length[j]
    if first > second:
        first, second = second, first
        slope, slope_second = slope_second, slope
    # The slope that sets in last acts first when one comes from above.
    both = value - (slope + slope_second) / curvature
    if both > second:
        return both
    one = value - slope / curvature
    if one > first:
        return max(min(one, second), 0.0)
    return max(min(value, first), 0.0)


def _strongest_other(W, length, i, skip):
    """Return the strongest link of cluster i except that to ``skip``, in units of the length of i."""
    strongest = 0.0
    for m in range(W.shape[0]):
        if m != skip:
            strongest = max(strongest, W[i, m] * length[m])
    return strongest
