"""Groups as integer codes: encoding, bins of numbers, warnings about unsuitable groups, sums over groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from equigraph._utils.text import count
from equigraph.exceptions import (
    GroupsError,
    NumericGroupsWarning,
    OwnGroupsWarning,
    ParameterError,
    SmallGroupWarning,
    warn,
)


@dataclass(frozen=True)
class Groups:
    """Group of each node, as codes into a list of names.

    Attributes
    ----------
    codes : ndarray of shape (n_nodes,), dtype intp
        Group of each node, in ``range(n_groups)``; -1 for a node without one. Every group has at least one node.
    names : ndarray of shape (n_groups,)
        Value of the attribute that each code stands for, sorted.
    sizes : ndarray of shape (n_groups,), dtype intp
        Number of members of each group.
    numbers : ndarray of shape (n_nodes,) or None
        The binned numbers, if groups are bins; NaN for a node without a group.
    """

    codes: NDArray[np.intp]
    names: NDArray[Any]
    sizes: NDArray[np.intp]
    numbers: NDArray[np.float64] | None = None

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.codes.size)

    @property
    def n_groups(self) -> int:
        """Number of groups (m in the paper)."""
        return int(self.names.size)

    @property
    def n_ungrouped(self) -> int:
        """Number of nodes without a group: they count for cohesion and sizes, for no group's share."""
        return self.n_nodes - int(self.sizes.sum())

    def values(self) -> NDArray[Any]:
        """Return the name of the group of each node, None for a node without one.

        Examples
        --------
        >>> encode_groups(["girl", None], missing="ignore").values().tolist()
        ['girl', None]
        """
        return np.array([*self.names.tolist(), None], dtype=object)[self.codes]

    @property
    def shares(self) -> NDArray[np.float64]:
        """Share of each group among the nodes that have one."""
        return self.sizes / self.sizes.sum()


def encode_groups(
    sensitive_features: ArrayLike | Groups, *, n_nodes: int | None = None, missing: str = "error"
) -> Groups:
    """Encode a categorical node attribute.

    Parameters
    ----------
    sensitive_features : array-like of shape (n_nodes,) or (n_nodes, 1), Groups or Attributes
        One categorical value per node, in node order, of any type that can be compared with itself: arrays, lists,
        pandas or polars columns; of several `Attributes` the joint groups. Features that name their nodes, such as a
        mapping, are refused: there is no graph to match them with.
    n_nodes : int, optional
        Number of nodes that the attribute must cover.
    missing : {"error", "ignore"}, default="error"
        What to do with None, NaN and the like: raise an error, or leave the node without a group.

    Returns
    -------
    Groups
        Codes, names and sizes.

    Raises
    ------
    GroupsError
        If the shape or length is wrong, or a value is missing (with "ignore": all of them).

    Examples
    --------
    >>> groups = encode_groups(["girl", "boy", "girl"])
    >>> groups.codes.tolist(), groups.names.tolist(), groups.sizes.tolist()
    ([1, 0, 1], ['boy', 'girl'], [1, 2])
    >>> encode_groups(["girl", "boy", None], missing="ignore").codes.tolist()
    [1, 0, -1]
    """
    joint = getattr(sensitive_features, "joint", None)  # of several attributes
    if isinstance(sensitive_features, Groups) or isinstance(joint, Groups):
        groups = sensitive_features if isinstance(sensitive_features, Groups) else joint
        assert isinstance(groups, Groups)
        check_length(groups.n_nodes, n_nodes)
        return groups
    values = as_column(sensitive_features)
    check_length(values.size, n_nodes)
    return encode_column(values, missing)


def encode_column(values: NDArray[Any], missing: str = "error") -> Groups:
    """Implement `encode_groups` for an array in node order."""
    absent = is_missing(values)
    if not absent.any():
        return make_groups(*unique_values(values))
    if missing == "error":
        raise GroupsError(
            f"The sensitive feature of {np.count_nonzero(absent)} of {count(values.size, 'node')} is missing (first at "
            f"position {np.argmax(absent)}): give every node a group, or read the graph with "
            f"missing='ignore' or 'drop'."
        )
    if absent.all():
        raise GroupsError(f"None of {count(values.size, 'node')} has a group: give at least one.")
    present = values[~absent]
    # Restore the type of integers and texts that a None made objects, so that groups sort as usual.
    names, members = unique_values(as_column(present.tolist()) if present.dtype.kind == "O" else present)
    codes = np.full(values.size, -1, dtype=np.intp)
    codes[~absent] = members
    return make_groups(names, codes)


def make_groups(names: NDArray[Any], codes: NDArray[Any]) -> Groups:
    """Return groups of codes into names, -1 for none."""
    codes = codes.astype(np.intp, copy=False)
    sizes = np.bincount(codes + 1, minlength=names.size + 1)[1:].astype(np.intp)
    return Groups(codes=codes, names=names, sizes=sizes)


def as_column(values: Any) -> NDArray[Any]:
    """Return a one-dimensional array of the values of one attribute, without changing any of them."""
    if names_of_rows(values) is not None:
        raise GroupsError(
            f"A {type(values).__name__} that names its nodes cannot be matched without a graph: give an array in node "
            "order."
        )
    return column_of(values)


def names_of_rows(values: Any) -> NDArray[Any] | None:
    """Return the names that a mapping or a pandas object gives to its values; None if they are only in order."""
    if isinstance(values, Mapping):
        return object_array(list(values))
    index: Any = getattr(values, "index", None)
    if not hasattr(index, "to_numpy"):
        return None
    names = index.to_numpy()
    counts = names.dtype.kind in "iu" and np.array_equal(names, np.arange(names.size))
    return None if counts else np.asarray(names)


def column_of(values: Any) -> NDArray[Any]:
    """Return the values as `as_column` does, without regard to names."""
    if isinstance(values, Mapping):
        values = list(values.values())
    if hasattr(values, "to_pylist"):  # pyarrow, whose to_numpy refuses to copy text
        array = object_array(values.to_pylist())
    elif hasattr(values, "to_numpy"):  # pandas, polars and narwhals columns and frames
        array = values.to_numpy()
    elif isinstance(values, np.ma.MaskedArray):
        array = values.data
        if np.ma.is_masked(values):
            array = array.astype(object)
            array[np.ma.getmaskarray(values)] = None
    elif isinstance(values, np.ndarray):
        array = values
    elif isinstance(values, (str, bytes, Set)) or not hasattr(values, "__len__"):
        raise GroupsError(
            f"The sensitive features must be one value per node, not a single {type(values).__name__}."
        )
    else:
        values = list(values)
        # A list of mixed types must not be cast to strings by numpy: 1 and "1" are different groups.
        kinds = {type(value) for value in values}
        array = np.asarray(values) if len(kinds) == 1 else object_array(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise GroupsError(
            f"The sensitive features have shape {array.shape}; expected one value per node, "
            "(n_nodes,) or (n_nodes, 1)."
        )
    return array


def object_array(values: Iterable[Any]) -> NDArray[Any]:
    """Return a one-dimensional object array that holds exactly these values."""
    return np.fromiter(values, dtype=object)


def is_missing(values: NDArray[Any], *, or_empty: bool = False) -> NDArray[np.bool_]:
    """Return which values are None, NaN, NaT or pandas' NA; or empty texts, if these are missing too."""

    def is_none(value: Any) -> bool:
        if value is None or type(value).__name__ in ("NAType", "NaTType"):
            return True
        if isinstance(value, str):
            return or_empty and not value
        return isinstance(value, (float, np.floating)) and bool(np.isnan(value))

    kind = values.dtype.kind
    if kind == "O":
        return np.fromiter(map(is_none, values), dtype=bool, count=values.size)
    if kind == "f":
        return np.isnan(values)
    if kind in "mM":
        return np.isnat(values)
    return values == "" if kind == "U" and or_empty else np.zeros(values.shape, dtype=bool)


def unique_values(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted distinct values and the index of each value among them."""
    try:
        return np.unique(values, return_inverse=True)
    except TypeError:
        # Mixed types have no natural order: order by type, then by text, which is stable across runs.
        distinct = sorted(set(values.tolist()), key=lambda value: (type(value).__name__, str(value)))
        position = {value: i for i, value in enumerate(distinct)}
        codes = np.fromiter((position[value] for value in values), dtype=np.intp, count=values.size)
        return object_array(distinct), codes


def check_length(length: int, n_nodes: int | None) -> None:
    """Raise GroupsError unless there is one value for each node, if their number is known."""
    if n_nodes is not None and length != n_nodes:
        raise GroupsError(
            f"The sensitive features have {count(length, 'value')} and the graph has {count(n_nodes, 'node')}: "
            "give one value per node, in node order."
        )


def bin_groups(values: Any, n_bins: int, *, missing: str = "error", name: str | None = None) -> Groups:
    """Return bins of numbers as groups of about equal size; equal numbers share a bin."""
    if isinstance(n_bins, bool) or not isinstance(n_bins, (int, np.integer)) or n_bins < 2:
        raise ParameterError(f"bins must be whole numbers of at least 2; got {n_bins!r}.")
    column = as_column(values)
    numbers = as_numbers(column, name)
    known = np.isfinite(numbers)
    codes = np.full(numbers.size, np.nan)
    if known.any():
        codes[known] = np.searchsorted(_borders(numbers[known], n_bins), numbers[known])
    groups = encode_column(codes, missing)
    names = object_array(_range(numbers[groups.codes == code]) for code in range(groups.n_groups))
    return replace(groups, names=names, numbers=numbers)


def _borders(numbers: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Return the upper bounds of all bins but the last, where the cumulative count is nearest to its share."""
    values, counts = np.unique(numbers, return_counts=True)
    below = np.cumsum(counts)[:-1]
    if not below.size:
        return values[:0]
    wanted = np.arange(1, n_bins) * numbers.size / n_bins
    return values[np.unique(np.abs(below[:, None] - wanted).argmin(axis=0))]


def as_numbers(column: NDArray[Any], name: str | None = None) -> NDArray[np.float64]:
    """Return a column as floats, NaN where missing."""
    absent = is_missing(column)
    numbers = np.full(column.size, np.nan)
    try:
        numbers[~absent] = column[~absent].astype(np.float64)
    except (TypeError, ValueError):
        wrong = next(value for value in column[~absent].tolist() if _as_number(value) is None)
        what = f"The attribute {name!r}" if name else "The sensitive feature"
        raise GroupsError(
            f"{what} has the value {wrong!r}, which is no number: bins are for numbers."
        ) from None
    if not np.isfinite(numbers[~absent]).all():
        raise GroupsError("An infinite number belongs to no bin: expected finite numbers.")
    return numbers


def _range(numbers: NDArray[np.float64]) -> str:
    low, high = f"{numbers.min():.6g}", f"{numbers.max():.6g}"
    return low if low == high else f"{low} to {high}"


def mean_gap(numbers: NDArray[np.float64], labels: NDArray[np.intp], n_clusters: int) -> tuple[float, float]:
    """Return the range of the cluster means, in units of the numbers and in standard deviations of all numbers.

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


# More distinct numbers than this are probably measurements (ages, incomes, marks), not group codes.
_MOST_NUMBERS = 10
# Share of the nodes in groups of one member above which there is a warning.
_MOST_ALONE = 0.1


def warn_about_groups(name: str, groups: Groups, attribute: str | None, n_clusters: int | None) -> None:
    """Warn about unsuitable groups; of several reasons only the most important one is given."""
    what = f"the attribute {attribute!r}" if attribute else "the sensitive feature"
    alone = int(np.count_nonzero(groups.sizes == 1))
    if groups.n_groups > _MOST_NUMBERS and all(map(_is_measure, groups.names.tolist())):
        warn(
            f"{name}: {what} has {groups.n_groups:,} different numbers, each of them a group: if it measures "
            "something, put the numbers into a few bins, with bins where the groups are read.",
            NumericGroupsWarning,
        )
    elif alone > _MOST_ALONE * groups.n_nodes:
        warn(
            f"{name}: {alone:,} of {count(groups.n_nodes, 'node')} are groups of their own by {what}, which no "
            "clustering can spread: give an attribute that nodes share.",
            OwnGroupsWarning,
        )
    elif n_clusters is not None and groups.sizes.min() < n_clusters:
        warn(f"{name}: {_small_words(groups, n_clusters)}.", SmallGroupWarning)


def ungrouped_sentence(n_ungrouped: int) -> str:
    """Return a sentence on what nodes without a group count for."""
    they = "it counts" if n_ungrouped == 1 else "they count"
    return (
        f"{count(n_ungrouped, 'node')} without a group: {they} for cohesion and sizes, for no group's share."
    )


def _small_words(groups: Groups, n_clusters: int) -> str:
    small = int(np.count_nonzero(groups.sizes < n_clusters))
    least = int(np.argmin(groups.sizes))
    one = f"the group {groups.names.tolist()[least]!r} has {count(int(groups.sizes[least]), 'member')}"
    if small == 1:
        return f"{one} for {n_clusters} clusters, so it cannot be in all of them"
    return f"{small} groups have fewer members than there are clusters ({one}), so they cannot be in all {n_clusters}"


def _is_measure(value: Any) -> bool:
    number = None if isinstance(value, (bool, np.bool_)) else _as_number(value)
    return number is not None and bool(np.isfinite(number))


def _as_number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def indicator(codes: NDArray[np.intp], n_codes: int, dtype: type | np.dtype = np.float64) -> sparse.csr_array:
    """Return the one-hot matrix of shape (n_nodes, n_codes) of integer codes."""
    n = codes.size
    data = np.ones(n, dtype=dtype)
    return sparse.csr_array((data, codes, np.arange(n + 1)), shape=(n, n_codes))


def group_sums(values: NDArray, codes: NDArray[np.intp], n_groups: int) -> NDArray:
    """Sum the rows of each group, always in double precision: a group may have millions of rows."""
    values = np.asarray(values)
    return np.column_stack(
        [np.bincount(codes, weights=values[:, j], minlength=n_groups) for j in range(values.shape[1])]
    )


def group_means(values: NDArray, codes: NDArray[np.intp], n_groups: int) -> NDArray:
    """Average the rows of each group; every group must have a member."""
    sizes = np.bincount(codes, minlength=n_groups)
    return group_sums(values, codes, n_groups) / sizes[:, None]


def contingency_table(
    labels: NDArray[np.intp], codes: NDArray[np.intp], n_clusters: int, n_groups: int
) -> NDArray[np.int64]:
    """Count the nodes of every (cluster, group) pair; a node without a group (-1) is not counted."""
    if codes.size and codes.min() < 0:
        labels, codes = labels[codes >= 0], codes[codes >= 0]
    pairs = labels.astype(np.int64) * n_groups + codes
    return np.bincount(pairs, minlength=n_clusters * n_groups).reshape(n_clusters, n_groups).astype(np.int64)
