"""Pareto front and hypervolume of points, and rules that select one of them.

Larger is better for both measures. A rule returns an index.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph._utils.parameters import Real, check_parameters
from equigraph.exceptions import InfeasibleError, ParameterError

# Scores that differ by less are equal: they are sums of rounded numbers.
_DIGITS = 12


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
    """Return the front in ascending order of y, hence descending in x; of equal points the first.

    Scores that differ by less than 1e-12 are equal.
    """
    x, y = np.round(np.asarray(x, dtype=np.float64), 12), np.round(np.asarray(y, dtype=np.float64), 12)
    front = pareto_front(x, y)
    # On a front equal y means equal x; the first index of each is the one that is kept.
    return front[np.unique(y[front], return_index=True)[1]]


def passing_weights(x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    r"""Return the weight f of y at which an increasing dial passes each point of a front.

    As f grows from 0 to 1, the maximum of :math:`(1 - f) x + f y` moves from corner to corner of the convex hull of the
    front, at the weight where both are equal. That is the weight of the second corner and of all points between the
    two, which are optimal at no other weight. The front is in ascending order of y.

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
    """Return the first points of a front, ascending in y, that reach even levels between its ends."""
    y = np.asarray(y, dtype=np.float64)
    levels = np.linspace(y[0], y[-1], n_points) - 1e-12
    return np.unique(np.searchsorted(y, levels))


def hypervolume(x: ArrayLike, y: ArrayLike, reference: tuple[float, float] = (0.0, 0.0)) -> float:
    """Return the area between a reference and the front of the points, which is dominated by at least one.

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


def min_max(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale to [0, 1]; values that are all equal become 1, since each is the best."""
    low, high = values.min(), values.max()
    if round(float(high - low), _DIGITS) == 0:
        return np.ones_like(values)
    return (values - low) / (high - low)


def intersection(x: NDArray[np.float64], y: NDArray[np.float64]) -> int:
    """Return the evaluated value nearest to where two scaled measures first cross.

    Both are min-max scaled over the sweep, as a chart with two axes shows them. Between two neighbouring values the
    lines are straight, so the nearer one is that with the smaller gap (equal gaps: the lower value). Where the lines
    touch but never cross, it is the value with the smallest gap (equal gaps: where the lines are higher, then the lower
    value).
    """
    across, up = min_max(x), min_max(y)
    gap = np.round(across - up, _DIGITS)
    (apart,) = np.nonzero(gap)
    (change,) = np.nonzero(np.diff(np.sign(gap[apart])))
    if change.size == 0:
        return int(np.lexsort((-np.round(across + up, _DIGITS), np.abs(gap)))[0])
    left, right = apart[change[0]], apart[change[0] + 1]
    return int(left + np.argmin(np.abs(gap[left : right + 1])))


def knee(x: NDArray[np.float64], y: NDArray[np.float64]) -> int:
    """Return the point of the front that stands out most from the chord between its ends.

    The front (see `pareto_front`) is min-max scaled, so that its ends are (0, 1) and (1, 0). The distance is signed:
    points beyond the chord, towards (1, 1), count; on a front that sags below it the ends, at distance 0, are the
    farthest. Equal distances: the lower value of the dial.
    """
    front = pareto_front(x, y)
    distance = (min_max(x[front]) + min_max(y[front]) - 1) / np.sqrt(2)
    return int(front[np.argmax(np.round(distance, _DIGITS))])


def product(x: NDArray[np.float64], y: NDArray[np.float64]) -> int:
    """Return the point with the largest product of both measures (equal products: the lower value of the dial).

    It covers the largest rectangle above (0, 0), the largest part of the hypervolume that one point can cover. Unlike
    the knee it counts losses in proportion, so that on a front like a step it does not stay at one end. Negative values
    count as 0.
    """
    return int(np.argmax(np.round(np.maximum(x, 0) * np.maximum(y, 0), _DIGITS)))


def reaching(x: NDArray[np.float64], y: NDArray[np.float64], target: float, name: str) -> int:
    """Return the point of largest x among those whose y is at least the target (equal x: largest y)."""
    enough = np.nonzero(np.round(y - target, _DIGITS) >= 0)[0]
    if enough.size == 0:
        raise InfeasibleError(
            f"No point of the curve reaches {name} = {target:g}: the highest is {y.max():.4g}, so ask for at "
            "most that, or sweep higher values of fairness."
        )
    return _best(enough, x, y)


def within_loss(x: NDArray[np.float64], y: NDArray[np.float64], loss: float) -> int:
    """Return the point of largest y among those that lose at most a fraction of the best x (equal y: largest x).

    The loss of a point is ``(best - x) / |best|``, relative to the largest x of the curve; 0 if both are 0.
    """
    best = float(x.max())
    cheap = np.nonzero(np.round(x - (best - loss * abs(best)), _DIGITS) >= 0)[0]
    return _best(cheap, y, x)


def _best(indices: NDArray[np.intp], first: NDArray[np.float64], second: NDArray[np.float64]) -> int:
    """Return the index with the largest first value, then the largest second one, then the lowest index."""
    keys = (indices, -np.round(second[indices], _DIGITS), -np.round(first[indices], _DIGITS))
    return int(indices[np.lexsort(keys)[0]])


RULES = {"product": product, "intersection": intersection, "knee": knee}


def choose(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    rule: str | None,
    min_fairness: float | None,
    max_quality_loss: float | None,
    *,
    names: tuple[str, str],
) -> int:
    """Return the point that exactly one rule picks, among those for which both measures are known."""
    limits = {"min_fairness": min_fairness, "max_quality_loss": max_quality_loss}
    if sum(one is not None for one in (rule, *limits.values())) != 1:
        raise ParameterError(
            "select takes exactly one rule: 'product', 'intersection' or 'knee', min_fairness=, or "
            "max_quality_loss=."
        )
    if rule is not None and rule not in RULES:
        raise ParameterError(f"There is no rule {rule!r}: expected one of {', '.join(map(repr, RULES))}.")
    check_parameters("select", dict.fromkeys(limits, Real(low=0, high=1, optional=True)), limits)
    (known,) = np.nonzero(np.isfinite(x) & np.isfinite(y))
    if known.size == 0:
        raise InfeasibleError(f"No point of the curve has both {names[0]} and {names[1]}.")
    x, y = x[known], y[known]
    if rule is not None:
        return int(known[RULES[rule](x, y)])
    if min_fairness is not None:
        return int(known[reaching(x, y, min_fairness, names[1])])
    assert max_quality_loss is not None
    return int(known[within_loss(x, y, max_quality_loss)])
