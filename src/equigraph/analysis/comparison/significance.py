"""Confidence intervals of a comparison, and paired tests between its methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

# Scores by graph, method and seed.
Values = Mapping[str, Mapping[str, Mapping[int, float]]]
# Differences that are equal up to rounding are ties.
_DIGITS = 12
# Up to so many differences all signs are tried; scipy has no exact p-value where there are ties.
_MOST_SIGNS = 12


def interval(values: Sequence[float], confidence: float) -> tuple[float, float]:
    """Return the interval of Student's t for a mean; NaN for fewer than two values.

    >>> low, high = interval([1.0, 2.0, 3.0], 0.95)
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    if len(values) < 2:
        return np.nan, np.nan
    mean = float(np.mean(values))
    quantile = float(stats.t.ppf((1 + confidence) / 2, len(values) - 1))
    half = quantile * float(np.std(values, ddof=1)) / math.sqrt(len(values))
    return mean - half, mean + half


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for several tests by the method of Holm; NaN stays, and counts for no test.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found = np.asarray(p_values, dtype=float)
    corrected = np.full(found.size, np.nan)
    order = [i for i in np.argsort(found, kind="stable").tolist() if not np.isnan(found[i])]
    least = 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * found[i]))
        corrected[i] = least
    return corrected.tolist()


def wilcoxon(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of the signed-rank test; exact, also with ties, for few differences.

    Differences of zero are left out; without any other, p is 1.

    >>> wilcoxon(np.array([0.1, 0.2, 0.3, 0.0]))
    0.25
    """
    differences = np.round(differences, _DIGITS)
    differences = differences[differences != 0]
    if not differences.size:
        return 1.0
    if differences.size > _MOST_SIGNS:
        return float(stats.wilcoxon(differences).pvalue)
    ranks = stats.rankdata(np.abs(differences))
    signs = (np.arange(2**differences.size)[:, None] >> np.arange(differences.size)) & 1
    sums = signs @ ranks - ranks.sum() / 2
    observed = abs(ranks[differences > 0].sum() - ranks.sum() / 2)
    return float(np.mean(np.abs(sums) >= observed - 1e-9))


def paired_tests(
    values: Values, methods: Sequence[str], baseline: str | None, over: str
) -> dict[str, list[Any]]:
    """Return one row for each pair of methods, as columns; with a baseline, only the pairs with it."""
    pairs = (
        list(combinations(methods, 2))
        if baseline is None
        else [(one, baseline) for one in methods if one != baseline]
    )
    rows = [_paired(values, one, other, over) for one, other in pairs]
    names = ("method", "other", "n", "difference", "wins", "ties", "losses", "p")
    columns: dict[str, list[Any]] = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return {**columns, "p_holm": holm(columns["p"])}


def _paired(values: Values, one: str, other: str, over: str) -> tuple[Any, ...]:
    found: list[float] = []
    for scores in values.values():
        first, second = scores.get(one, {}), scores.get(other, {})
        each = np.round([first[seed] - second[seed] for seed in first if seed in second], _DIGITS)
        if not each.size:
            continue
        # Where no seed changes anything there is one observation, however many seeds there are.
        constant = len(set(first.values())) == len(set(second.values())) == 1
        found += [float(each.mean())] if over == "graphs" or constant else each.tolist()
    differences = np.array(found)
    if not differences.size:
        return one, other, 0, np.nan, 0, 0, 0, np.nan
    signs = [int(np.count_nonzero(np.sign(np.round(differences, _DIGITS)) == sign)) for sign in (1, 0, -1)]
    return one, other, differences.size, float(differences.mean()), *signs, wilcoxon(differences)
