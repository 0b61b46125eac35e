"""Which of several points are best, and how much they cover; both measures are better when larger."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray


def pareto_front(x: ArrayLike, y: ArrayLike) -> NDArray[np.intp]:
    """Return the indices of the points that no other point dominates, in ascending order.

    A point dominates another when it is at least as good by both measures and better by one. Equal points do not
    dominate each other, so that all of them are kept; a point with a NaN is never kept.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    (valid,) = np.nonzero(np.isfinite(x) & np.isfinite(y))
    kept = []
    best_of_larger_x, best_here, here = -np.inf, -np.inf, np.inf
    # From large x to small; among equal x the largest y comes first and stands for all of them.
    for i in valid[np.lexsort((-y[valid], -x[valid]))]:
        if x[i] < here:
            best_of_larger_x, here, best_here = max(best_of_larger_x, best_here), x[i], y[i]
        if y[i] == best_here and y[i] > best_of_larger_x:
            kept.append(i)
    return np.sort(np.asarray(kept, dtype=np.intp))


def front_in_order(x: ArrayLike, y: ArrayLike) -> NDArray[np.intp]:
    """Return the front in ascending order of y, which is a descending one of x; of equal points the first.

    Scores are sums of rounded numbers, so those that differ by less than 1e-12 are equal.
    """
    x, y = np.round(np.asarray(x, dtype=np.float64), 12), np.round(np.asarray(y, dtype=np.float64), 12)
    front = pareto_front(x, y)
    # On a front equal y means equal x; the first index of each is the one that is kept.
    return front[np.unique(y[front], return_index=True)[1]]


def passing_weights(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    r"""Return the weight f of y at which a dial that is turned up passes each point of a front.

    Turned from 0 to 1, :math:`(1 - f) x + f y` is largest at one corner of the convex hull of the front after the
    other; at the weight where two of them are equal it goes from one to the next. That is the weight of the second
    corner and of all points between the two, which lie on or under the hull and are the best at no other weight. The
    front is in ascending order of y.

    >>> passing_weights([0.5, 0.42, 0.4], [0.6, 0.61, 0.8]).round(3).tolist()
    [0.0, 0.333, 0.333]
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    corners: list[int] = []
    for i in range(x.size):
        while len(corners) > 1:
            low, middle = corners[-2:]
            if (x[middle] - x[low]) * (y[i] - y[low]) > (x[i] - x[low]) * (y[middle] - y[low]):
                break  # above the line between its neighbours
            corners.pop()
        corners.append(i)
    weights = np.zeros(x.size)
    for low, high in itertools.pairwise(corners):
        loss, gain = x[low] - x[high], y[high] - y[low]
        weights[low + 1 : high + 1] = loss / (loss + gain)
    return weights


def evenly_spaced(y: ArrayLike, n_points: int) -> NDArray[np.intp]:
    """Return for even levels between the ends of a front, which ascends in y, the first point that reaches each."""
    y = np.asarray(y, dtype=np.float64)
    levels = np.linspace(y[0], y[-1], n_points) - 1e-12
    return np.unique(np.searchsorted(y, levels))


def hypervolume(x: ArrayLike, y: ArrayLike, reference: tuple[float, float] = (0.0, 0.0)) -> float:
    """Return the area between a reference and the front of the points: what is dominated by at least one.

    Points that are not better than the reference by both measures, and points with a NaN, add nothing.
    """
    x = np.asarray(x, dtype=np.float64) - reference[0]
    y = np.asarray(y, dtype=np.float64) - reference[1]
    above = (x > 0) & (y > 0)  # False for NaN
    x, y = x[above], y[above]
    front = pareto_front(x, y)
    x, y = x[front], y[front]
    order = np.argsort(x, kind="stable")
    widths = np.diff(x[order], prepend=0.0)  # equal points: a width of 0
    return float(widths @ y[order])
