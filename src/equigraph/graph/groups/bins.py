"""Numbers as groups: quantile bins, and how far the means of clusters lie apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph.groups.encode import Groups, as_column, encode_groups, is_missing


def bin_groups(
    values: Any, n_bins: int, *, n_nodes: int | None = None, missing: str = "error", name: str | None = None
) -> Groups:
    """Return groups of numbers, as equal in size as equal numbers, which share a bin, allow."""
    if isinstance(n_bins, bool) or not isinstance(n_bins, (int, np.integer)) or n_bins < 2:
        raise ParameterError(f"bins must be whole numbers of at least 2; got {n_bins!r}.")
    column = as_column(values)
    numbers = as_numbers(column, name)
    known = np.isfinite(numbers)
    codes = np.full(numbers.size, np.nan)
    if known.any():
        codes[known] = np.searchsorted(_borders(numbers[known], n_bins), numbers[known])
    groups = encode_groups(codes, n_nodes=n_nodes, missing=missing)
    names = np.empty(groups.n_groups, dtype=object)
    names[:] = [_range(numbers[groups.codes == code]) for code in range(groups.n_groups)]
    return replace(groups, names=names, numbers=numbers)


def _borders(numbers: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Return the largest numbers of all bins but the last, each where the count below is nearest to its share."""
    values, counts = np.unique(numbers, return_counts=True)
    below = np.cumsum(counts)[:-1]
    if not below.size:
        return values[:0]
    wanted = np.arange(1, n_bins) * numbers.size / n_bins
    return values[np.unique(np.abs(below[:, None] - wanted).argmin(axis=0))]


def as_numbers(column: NDArray[Any], name: str | None = None) -> NDArray[np.float64]:
    """Return numbers, NaN for what is missing."""
    absent = is_missing(column)
    numbers = np.full(column.size, np.nan)
    try:
        numbers[~absent] = column[~absent].astype(np.float64)
    except (TypeError, ValueError):
        wrong = next(value for value in column[~absent].tolist() if not _is_number(value))
        what = f"The attribute {name!r}" if name else "The sensitive feature"
        raise GroupsError(
            f"{what} has the value {wrong!r}, which is no number: bins are for numbers."
        ) from None
    if not np.isfinite(numbers[~absent]).all():
        raise GroupsError("An infinite number belongs to no bin: expected finite numbers.")
    return numbers


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _range(numbers: NDArray[np.float64]) -> str:
    low, high = f"{numbers.min():.6g}", f"{numbers.max():.6g}"
    return low if low == high else f"{low} to {high}"


def mean_gap(numbers: NDArray[np.float64], labels: NDArray[np.intp], n_clusters: int) -> tuple[float, float]:
    """Return the largest minus the smallest mean of a cluster, as it is and in standard deviations of all numbers.

    Clusters without a number do not count; with fewer than two that have one, or equal numbers, the gap is 0.
    """
    known = np.isfinite(numbers)
    numbers, labels = numbers[known], labels[known]
    counts = np.bincount(labels, minlength=n_clusters)
    sums = np.bincount(labels, weights=numbers, minlength=n_clusters)
    means = sums[counts > 0] / counts[counts > 0]
    gap = float(means.max() - means.min()) if means.size else 0.0
    spread = float(numbers.std()) if numbers.size else 0.0
    return gap, gap / spread if spread > 0 else 0.0
