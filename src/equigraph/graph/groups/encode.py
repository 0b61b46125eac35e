"""Turn sensitive features into integer group codes."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph._utils.text import count
from equigraph.exceptions import GroupsError


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
        What groups that are bins of numbers were made of; NaN for a node without a group.
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
        pandas or polars columns; of several `Attributes` the joint groups. What names its nodes, such as a mapping,
        is refused: there is no graph to find them in.
    n_nodes : int, optional
        Number of nodes that the attribute must cover.
    missing : {"error", "ignore"}, default="error"
        What to do with None, NaN and the like: refuse, or take the node for one without a group.

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
        _check_length(groups.n_nodes, n_nodes)
        return groups
    values = as_column(sensitive_features)
    _check_length(values.size, n_nodes)
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
    # Integers and texts that a None made objects of are what they were, so that their groups sort as ever.
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
    """Return the names that a mapping or a pandas object gives to its values; None where they only have an order."""
    if isinstance(values, Mapping):
        return _object_array(list(values))
    index: Any = getattr(values, "index", None)
    if not hasattr(index, "to_numpy"):
        return None
    names = index.to_numpy()
    counts = names.dtype.kind in "iu" and np.array_equal(names, np.arange(names.size))
    return None if counts else np.asarray(names)


def column_of(values: Any) -> NDArray[Any]:
    """Return what `as_column` does of the values alone; names are left to the caller."""
    if isinstance(values, Mapping):
        values = list(values.values())
    if hasattr(values, "to_pylist"):  # pyarrow, whose to_numpy refuses to copy text
        array = _object_array(values.to_pylist())
    elif hasattr(values, "to_numpy"):  # pandas, polars and narwhals columns and frames
        array = values.to_numpy()
    elif isinstance(values, np.ma.MaskedArray):
        array = _unmasked(values)
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
        array = np.asarray(values) if len(kinds) == 1 else _object_array(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise GroupsError(
            f"The sensitive features have shape {array.shape}; expected one value per node, "
            "(n_nodes,) or (n_nodes, 1)."
        )
    return array


def _unmasked(values: np.ma.MaskedArray) -> NDArray[Any]:
    """Return a plain array; what is masked is missing, whatever lies below the mask."""
    if not np.ma.is_masked(values):
        return values.data
    array = values.data.astype(object)
    array[np.ma.getmaskarray(values)] = None
    return array


def _object_array(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are None, NaN, NaT or pandas' NA."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    return np.fromiter((_is_missing_value(value) for value in values), dtype=bool, count=values.size)


def _is_missing_value(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def unique_values(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the sorted distinct values and the index of each value among them."""
    if values.dtype.kind != "O":
        return np.unique(values, return_inverse=True)
    try:
        return np.unique(values, return_inverse=True)
    except TypeError:
        # Mixed types have no natural order: order by type, then by text, which is stable across runs.
        distinct = sorted(set(values.tolist()), key=lambda value: (type(value).__name__, str(value)))
        position = {value: i for i, value in enumerate(distinct)}
        codes = np.fromiter((position[value] for value in values), dtype=np.intp, count=values.size)
        return _object_array(distinct), codes


def _check_length(length: int, n_nodes: int | None) -> None:
    if n_nodes is not None and length != n_nodes:
        raise GroupsError(
            f"The sensitive features have {count(length, 'value')} and the graph has {count(n_nodes, 'node')}: "
            "give one value per node, in node order."
        )
