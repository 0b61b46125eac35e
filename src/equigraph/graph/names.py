"""Node names as arrays of integers, text or objects: encoding, comparison and hints."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.text import did_you_mean
from equigraph.exceptions import GraphError, ParameterError, reason
from equigraph.graph.groups.encode import object_array as object_array

# Written in the one canonical way, and small enough for int64.
_CANONICAL_INTEGER = re.compile(r"(?:0|-?[1-9][0-9]{0,17})\Z")
# Texts up to this width, or arrays of up to this many characters, are kept in numpy's fixed width.
_WIDE, _SMALL = 64, 1 << 18
# Looking for a similar name among more than these would take longer than reading the message.
_SIMILAR = 20_000


def as_names(values: Any) -> NDArray[Any]:
    """Return node names as int64, as floats, as text, or as objects when they are of another type or mixed.

    Whole floats become integers: a missing value turns a column of integers into floats.
    """
    array = values if isinstance(values, np.ndarray) else object_array(values)
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and array.size and array.max() > np.iinfo(np.int64).max:
            return array.astype(object)
        return array.astype(np.int64, copy=False)
    if array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.trunc(array)).all():
        return array.astype(np.int64) if (np.abs(array) < 2**53).all() else array
    if array.dtype.kind == "O":
        kinds = {type(value) for value in array}
        if kinds and all(issubclass(kind, str) for kind in kinds):
            return text_array(array.tolist())
        if kinds and all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds):
            try:
                return array.astype(np.int64)
            except OverflowError:
                return array
        if kinds and all(issubclass(kind, (float, np.floating)) for kind in kinds):
            return as_names(array.astype(np.float64))
    elif array.dtype.kind not in "Uf":
        return array.astype(object)
    return array


def text_array(texts: Iterable[str]) -> NDArray[Any]:
    """Return texts as an array: of numpy's fixed width, or of objects if a long text would make that too large."""
    listed = list(texts)
    width = max(map(len, listed), default=1)
    narrow = width <= _WIDE or width * len(listed) <= _SMALL
    # numpy drops a NUL at the end of a text, which would make two names equal.
    if narrow and not any(text.endswith("\0") for text in listed):
        return np.asarray(listed, dtype=str)
    return object_array(listed)


def names_from_text(texts: Any) -> NDArray[Any]:
    """Return text ids as int64 if every one is a canonical integer ("007" is none), otherwise as they are."""
    listed = texts.tolist() if isinstance(texts, np.ndarray) else list(texts)
    if listed and all(_CANONICAL_INTEGER.match(text) for text in listed):
        return np.asarray(listed, dtype=str).astype(np.int64)
    return text_array(listed)


def with_gaps(present: NDArray[Any], absent: NDArray[np.bool_]) -> NDArray[Any]:
    """Return an array with the present values in order, and None where absent."""
    filled = np.full(absent.size, None, dtype=object)
    filled[~absent] = object_array(present.tolist())
    return filled


def name_text(value: Any) -> str:
    """Return the text by which a name, or a group, is compared across types: 7, 7.0 and "7" agree."""
    if isinstance(value, (float, np.floating)) and value.is_integer():
        return str(int(value))
    try:
        return str(value)
    except ValueError as error:  # Python limits the number of digits of an integer as text
        raise GraphError(
            f"A name or group of type {type(value).__name__} has no text: {reason(error)}."
        ) from error


def canonical(text: str) -> str:
    """Return a text with its letters composed (Unicode NFC)."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def texts(values: NDArray[Any]) -> list[str]:
    """Return the text of every value."""
    if values.dtype.kind in "iuU":
        return values.astype(str).tolist()
    return [name_text(value) for value in values.tolist()]


def node_places(names: NDArray[Any]) -> dict[str, int]:
    """Return the position of every node by its name and, if that is unique, by the NFC of its name."""
    exact = {text: k for k, text in enumerate(texts(names))}
    composed: dict[str, list[int]] = {}
    for text, k in exact.items():
        if not text.isascii():
            composed.setdefault(canonical(text), []).append(k)
    return {**{text: places[0] for text, places in composed.items() if len(places) == 1}, **exact}


class NodePlaces:
    """Positions of nodes by name; names are compared as text, so that names in a file match integers."""

    def __init__(self, names: NDArray[Any]) -> None:
        self._first = names[:1].tolist()
        self._places = node_places(names)

    def of(self, name: Any, sentence: str, otherwise: str = "") -> int:
        """Return the position of a node, or raise ParameterError with a sentence in which {} is the name."""
        text = name_text(name)
        place = self._places.get(text, self._places.get(canonical(text)))
        if place is None:
            hint = did_you_mean(name, self._places) if len(self._places) <= _SIMILAR else ""
            raise ParameterError(
                f"{sentence.format(repr(name))}{hint}: expected a name such as {self._first[0]!r}{otherwise}."
            )
        return place


def check_unique(names: NDArray[Any], where: str) -> None:
    """Raise GraphError if a name occurs twice."""
    # Names that compare as their texts do are not copied into Python objects first.
    ordered = np.sort(names if names.dtype.kind in "iU" else text_array(texts(names)))
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if repeated.size:
        twice = min(texts(ordered[repeated]))
        raise GraphError(f"The node name {twice!r} occurs twice in {where}: expected unique names.")


def sort_names(names: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.integer]]:
    """Return the names in the order of nodes of an edge table, and the new position of each old one.

    Integers are sorted by value, everything else by text.
    """
    if names.dtype.kind in "iufU":
        order = np.argsort(names, kind="stable")
    else:
        order = np.argsort(text_array(texts(names)), kind="stable")
    small = order.size <= np.iinfo(np.int32).max  # one place per row of an edge list is made of these
    place: NDArray[np.integer] = np.empty(order.size, dtype=np.int32 if small else np.intp)
    place[order] = np.arange(order.size)
    return names[order], place


def first_nested(values: NDArray[Any], *kinds: type) -> int | None:
    """Return the index of the first nested value, such as a list in a cell of Parquet, or value of the kinds."""
    if values.dtype.kind != "O":
        return None
    nested = (list, dict, set, np.ndarray, *kinds)
    if not any(issubclass(kind, nested) for kind in set(map(type, values))):
        return None
    return next(place for place, value in enumerate(values) if isinstance(value, nested))


_FRACTION = re.compile(r"(?<=[0-9])\.0+\Z")


def look_alike(text: str, nodes: Sequence[str]) -> str:
    """Return a hint at the node that a name resembles, in ASCII to show the difference, or an empty text.

    >>> look_alike("Jose", ["Ann", "José"]), look_alike("x", ["Ann"])
    (" (did you mean 'José'?)", '')
    >>> look_alike("7.0", ["007", "008"])  # as numbers get in a column with gaps
    " (here '7.0', in the graph '007')"
    """
    wanted = _skeleton(text)
    for name in nodes:
        if _skeleton(name) == wanted:
            return f" (here {text!a}, in the graph {name!a})"
    return did_you_mean(text, nodes) if len(nodes) <= _SIMILAR else ""


def _skeleton(name: str) -> str:
    """Return a name without capitals, blanks, invisible characters, zeros in front and a fraction of zero."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    visible = "".join(c for c in folded if not c.isspace() and unicodedata.category(c) != "Cf")
    return _FRACTION.sub("", visible).lstrip("0")
