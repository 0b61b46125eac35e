"""Rules that pick one point of a trade-off curve; each returns an index."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.parameters import Real, check_parameters
from equigraph.analysis.tradeoff.front import pareto_front
from equigraph.exceptions import InfeasibleError, ParameterError

# Scores that differ by less are equal: they are sums of rounded numbers.
_DIGITS = 12


def min_max(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale to [0, 1]; values that are all equal become 1, since all of them are the best there is."""
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


def reaching(x: NDArray[np.float64], y: NDArray[np.float64], target: float, *, names: tuple[str, str]) -> int:
    """Return the point of largest x among those whose y is at least the target (equal x: largest y)."""
    enough = np.nonzero(np.round(y - target, _DIGITS) >= 0)[0]
    if enough.size == 0:
        highest = float(y.max())
        raise InfeasibleError(
            f"No point of the curve reaches {names[1]} = {target:g}: the highest is {highest:.4g}, so ask for at "
            "most that, or sweep higher values of fairness."
        )
    return _best(enough, x, y)


def within_loss(x: NDArray[np.float64], y: NDArray[np.float64], loss: float) -> int:
    """Return the point of largest y among those that lose at most a fraction of the best x (equal y: largest x).

    The loss of a point is ``(best - x) / |best|``, relative to the largest x of the curve; 0 where both are 0.
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
        return int(known[reaching(x, y, min_fairness, names=names)])
    assert max_quality_loss is not None
    return int(known[within_loss(x, y, max_quality_loss)])
