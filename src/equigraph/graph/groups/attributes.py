"""Encode one or several sensitive features, with weights and joint groups."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.text import did_you_mean
from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph.groups.encode import (
    Groups,
    as_column,
    bin_groups,
    check_length,
    encode_column,
    make_groups,
    names_of_rows,
    object_array,
)

# Name of a single attribute that was given without one.
UNNAMED = "group"
_BETWEEN = ", "

Features = NDArray[Any] | dict[str, NDArray[Any]]


@dataclass(frozen=True)
class AttributeOptions:
    """Weight of each attribute (1 by default), and number of bins of numeric ones."""

    weights: Mapping[str, float] = field(default_factory=dict)
    bins: Mapping[str, int] = field(default_factory=dict)

    def weight(self, name: str) -> float:
        """Return the weight of an attribute."""
        return float(self.weights.get(name, 1.0))


def checked_weights(weights: Any) -> dict[str, float]:
    """Check weights and return them by name."""
    if not isinstance(weights, Mapping):
        raise ParameterError(
            f"attribute_weights must be a mapping from attributes to weights, such as {{'needs': 2}}; got {weights!r}."
        )
    for name, weight in weights.items():
        number = isinstance(weight, (int, float, np.number)) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight) or weight < 0:
            raise ParameterError(
                f"attribute_weights gives {name!r} the weight {weight!r}: expected a finite number of at least 0."
            )
    return {str(name): float(weight) for name, weight in weights.items()}


@dataclass(frozen=True, eq=False)
class Attributes:
    """The groups of the nodes by one or more attributes, and the weights of these, which sum to 1."""

    groups: Mapping[str, Groups]
    weights: NDArray[np.float64]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return tuple(self.groups)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return next(iter(self.groups.values())).n_nodes

    @property
    def are_several(self) -> bool:
        """Whether there are two attributes or more."""
        return len(self.groups) > 1

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[str]:
        return iter(self.groups)

    def __getitem__(self, name: str) -> Groups:
        return self.groups[name]

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """Group of each node by each attribute, of shape (n_nodes, n_attributes); -1 for none."""
        return np.column_stack([groups.codes for groups in self.groups.values()]).astype(np.int32)

    @cached_property
    def joint(self) -> Groups:
        """The groups of the only attribute, or the joint groups of several: all combinations of values that occur."""
        return joint_groups(list(self.groups.values()))

    def mean(self, values: Sequence[float]) -> float:
        """Return the weighted mean of one number per attribute."""
        # The number itself for one attribute, not its product with a rounded weight.
        return float(values[0]) if len(values) == 1 else float(self.weights @ np.asarray(values))

    def weighted(self, weights: Mapping[Any, float] | None) -> Attributes:
        """Return the attributes with other weights; with None, unchanged."""
        if weights is None:
            return self
        return replace(self, weights=weights_of(self.names, checked_weights(weights)))


def weights_of(names: Sequence[str], given: Mapping[str, float]) -> NDArray[np.float64]:
    """Return the weights of attributes in order, scaled to sum to 1; those not given are 1 before."""
    for name in given:
        if name not in names:
            raise ParameterError(
                f"attribute_weights names {name!r}{did_you_mean(name, names)}, and the attributes are "
                f"{', '.join(map(repr, names))}."
            )
    weights = np.array([given.get(name, 1.0) for name in names])
    if weights.sum() <= 0:
        raise ParameterError("attribute_weights are 0 for all attributes: give at least one a weight.")
    return weights / weights.sum()


def encode_attributes(
    sensitive_features: Any,
    *,
    n_nodes: int | None = None,
    missing: str = "error",
    options: AttributeOptions | None = None,
    attribute: str | None = None,
) -> Attributes:
    """Encode one attribute or several, all of them in node order; nodes may lack one and have another.

    Several are a mapping from names to columns, a frame, or an array of shape (n_nodes, n_attributes), with columns
    called "0", "1", ... A single column without a name of its own gets the name ``attribute``.
    """
    if isinstance(sensitive_features, Attributes):
        check_length(sensitive_features.n_nodes, n_nodes)
        return sensitive_features
    if isinstance(sensitive_features, Groups):
        check_length(sensitive_features.n_nodes, n_nodes)
        return Attributes({attribute or UNNAMED: sensitive_features}, np.ones(1))
    columns = plain_columns(sensitive_features)
    named = {attribute or UNNAMED if name is None else name: column for name, column in columns.items()}
    return encode_columns(named, n_nodes=n_nodes, missing=missing, options=options)


def encode_columns(
    columns: Mapping[str, NDArray[Any]],
    *,
    n_nodes: int | None = None,
    missing: str = "error",
    options: AttributeOptions | None = None,
) -> Attributes:
    """Implement `encode_attributes` for arrays in node order, by name."""
    options, encoded = options or AttributeOptions(), {}
    for name, column in columns.items():
        try:
            if n_nodes is not None:
                check_length(column.size, n_nodes)
            if name in options.bins:
                shown = name if len(columns) == 1 else None
                encoded[name] = bin_groups(column, options.bins[name], missing=missing, name=shown)
            else:
                encoded[name] = encode_column(column, missing)
        except GroupsError as error:
            if len(columns) == 1:  # it needs no name
                raise
            raise GroupsError(f"The attribute {name!r}: {error}") from None
    return Attributes(encoded, weights_of(list(encoded), options.weights if len(encoded) > 1 else {}))


def columns_of(features: Any) -> dict[str | None, Any]:
    """Return the columns of one attribute or several by name, as given; the name of an unnamed one is None."""
    if isinstance(features, Mapping) and features and all(map(is_column, features.values())):
        return {str(name): column for name, column in features.items()}
    shape: tuple[int, ...] = getattr(features, "shape", ())
    lazy = hasattr(features, "collect_schema") and not shape  # a frame of polars
    if lazy or (hasattr(features, "columns") and len(shape) == 2 and shape[1] > 1):
        import narwhals.stable.v2 as nw

        frame = nw.from_native(features)
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return {name: frame.get_column(name).to_native() for name in frame.columns}
    matrix = as_matrix(features)
    if matrix is None:
        return {None: features}
    return {str(place): column.tolist() for place, column in enumerate(matrix.T)}


def plain_columns(features: Any) -> dict[str | None, NDArray[Any]]:
    """Return columns in node order by name; the name of an unnamed one is None."""
    return {name: as_column(column) for name, column in columns_of(features).items()}


def name_nodes(features: Any) -> bool:
    """Return whether features, or some of several, name their nodes."""
    return any(names_of_rows(column) is not None for column in columns_of(features).values())


def is_column(value: Any) -> bool:
    """Return whether a value is a column rather than a single value or a mapping."""
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes, Mapping))


def as_matrix(features: Any) -> NDArray[Any] | None:
    """Return an array of two columns or more, or None for other objects."""
    if isinstance(features, (list, tuple)) and features and isinstance(features[0], (list, tuple)):
        widths = {len(row) if isinstance(row, (list, tuple)) else 0 for row in features}
        if len(widths) != 1:
            raise GroupsError(
                "The sensitive features have rows of different lengths: expected one value of each attribute."
            )
        matrix = np.empty((len(features), widths.pop()), dtype=object)
        matrix[:] = features
        features = matrix
    if isinstance(features, np.ndarray) and features.ndim == 2 and features.shape[1] > 1:
        return features
    return None


def joint_groups(groups: Sequence[Groups]) -> Groups:
    """Return the groups of all combinations of values that nodes have; a node that lacks one value has no group.

    Combinations are ordered by the first attribute, then by the second, and so on, and named by their values.
    """
    if len(groups) == 1:
        return groups[0]
    columns = np.column_stack([one.codes for one in groups])
    known = (columns >= 0).all(axis=1)
    if not known.any():
        raise GroupsError("No node has a value of each attribute, so there are no joint groups.")
    rows, members = np.unique(columns[known], axis=0, return_inverse=True)
    codes = np.full(known.size, -1, dtype=np.intp)
    codes[known] = members.ravel()
    names = [one.names.tolist() for one in groups]
    values = ([name[code] for name, code in zip(names, row, strict=True)] for row in rows.tolist())
    return make_groups(object_array(_BETWEEN.join(map(str, joint)) for joint in values), codes)


def joined_name(names: Sequence[str]) -> str:
    """Return the name of the joint groups of attributes."""
    return _BETWEEN.join(names)
