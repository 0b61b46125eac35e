"""Scores of the labels at one value of the dial, over several restarts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from equigraph.metrics.notions import get_notion
from equigraph.search.pool import TOLERANCE


def measure_of(notion: Any) -> str:
    """Return the name of the score that belongs to a notion.

    >>> measure_of("normalized"), measure_of("balance")
    ('NB', 'B')
    """
    return get_notion(notion).measure


def mean_and_spread(scores: Sequence[dict[str, float]]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean and the standard deviation (n - 1 in the denominator; NaN for one value) by score.

    >>> mean_and_spread([{"Q": 0.25}, {"Q": 0.75}])
    ({'Q': 0.5}, {'Q': 0.353...})
    """
    columns = {name: np.array([one[name] for one in scores], dtype=np.float64) for name in scores[0]}
    means = {name: float(values.mean()) for name, values in columns.items()}
    if len(scores) == 1:
        return means, dict.fromkeys(columns, float("nan"))
    return means, {name: float(values.std(ddof=1)) for name, values in columns.items()}


def best_restart(scores: Sequence[Mapping[str, float]], fairness: float, measure: str) -> int:
    """Return the restart with the largest ``(1 - f) Q + f N``; equal: the larger Q, then the first.

    At 1, as in the search, the one with the largest Q among those whose N is within .01 of the largest.

    >>> best_restart([{"Q": 0.2, "NB": 1.0}, {"Q": 0.4, "NB": 0.995}], 1, "NB")
    1
    """
    enough = max(one[measure] for one in scores) - TOLERANCE

    def key(i: int) -> tuple[float, float, int]:
        quality, notion = scores[i]["Q"], scores[i][measure]
        value = (
            (1 - fairness) * quality + fairness * notion if fairness < 1 else float(notion >= enough - 1e-12)
        )
        return round(value, 12), round(quality, 12), -i

    return max(range(len(scores)), key=key)


def typical_restart(scores: Sequence[dict[str, float]], measure: str) -> int:
    """Return the restart whose Q and N are closest to their means (Euclidean); equal: the first."""
    points = np.array([[one["Q"], one[measure]] for one in scores])
    distance = np.linalg.norm(points - points.mean(axis=0), axis=1)
    return int(np.argmin(np.round(distance, 12)))
