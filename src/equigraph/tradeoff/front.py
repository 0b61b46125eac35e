"""Which of several points are best, and how much they cover; both measures are better when larger."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def pareto_front(x: ArrayLike, y: ArrayLike) -> NDArray[np.intp]:
    """Return the indices of the points that no other point dominates, in ascending order.

    A point dominates another when it is at least as good by both measures and better by one. Equal points do
    not dominate each other, so that all of them are kept; a point with a NaN is never kept.

    Parameters
    ----------
    x, y : array-like of shape (n_points,)
        The two measures.

    Returns
    -------
    ndarray of int
        Indices.

    Examples
    --------
    >>> pareto_front([3, 2, 2, 1], [1, 2, 2, 1]).tolist()
    [0, 1, 2]
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


def hypervolume(x: ArrayLike, y: ArrayLike, reference: tuple[float, float] = (0.0, 0.0)) -> float:
    """Return the area between a reference and the front of the points: what is dominated by at least one.

    Points that are not better than the reference by both measures, and points with a NaN, add nothing.

    Parameters
    ----------
    x, y : array-like of shape (n_points,)
        The two measures.
    reference : tuple of two floats, default=(0, 0)
        The corner from which the area is measured.

    Returns
    -------
    float
        The area.

    Examples
    --------
    >>> hypervolume([1.0, 2.0], [3.0, 1.0])
    4.0
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
