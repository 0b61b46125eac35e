"""Values of JSON checked against types: one mechanism for everything that is read back from disk."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, NotRequired, Union, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from equigraph.exceptions import InputError


def decode(value: Any, schema: Any, path: Path, name: str = "") -> Any:
    """Return a value of JSON as a type says, or raise InputError with the path and the name of the entry.

    A type is one of those of JSON, ``Any``, ``Literal``, a union, a list, tuple or mapping, an array of numbers, a
    ``TypedDict`` (whose further entries are kept) or a dataclass. ``float`` is a finite number, or null for NaN.

    >>> decode({"a": [1, 2]}, dict[str, tuple[int, ...]], Path("x"))
    {'a': (1, 2)}
    """
    origin, args = get_origin(schema), get_args(schema)
    if schema is Any:
        return value
    if origin in (Union, types.UnionType):
        return _decode_union(value, args, path, name)
    if origin is NotRequired:
        return decode(value, args[0], path, name)
    if typing.is_typeddict(schema) or is_dataclass(schema):
        return _decode_object(value, schema, path, name)
    if schema is float:
        if value is None:
            return math.nan
        if _is_number(value):
            return value
    elif schema is int:
        if type(value) is int and abs(value) < 2**64:
            return value
    elif origin is Literal:
        if value in args:
            return value
    elif origin is np.ndarray:
        return _decode_array(value, get_args(args[1])[0], path, name)
    elif origin in (list, tuple):
        if isinstance(value, list):
            inner = args if origin is tuple and args[-1] is not Ellipsis else [args[0]] * len(value)
            if len(inner) == len(value):
                return origin(decode(one, kind, path, name) for one, kind in zip(value, inner, strict=True))
    elif origin is not None and issubclass(origin, Mapping):
        if isinstance(value, dict):
            return {key: decode(one, args[1], path, name or key) for key, one in value.items()}
    elif type(value) is (type(None) if schema is None else schema):
        return value
    raise _wrong(value, path, name)


def _decode_union(value: Any, options: tuple[Any, ...], path: Path, name: str) -> Any:
    if value is None and type(None) in options:
        return None
    *first, last = [option for option in options if option is not type(None)]
    for option in first:
        with suppress(InputError):
            return decode(value, option, path, name)
    return decode(value, last, path, name)


def _decode_object(value: Any, schema: Any, path: Path, name: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(value, path, name)
    hints = typing.get_type_hints(schema, include_extras=True)
    if typing.is_typeddict(schema):
        # Not __required_keys__: annotations are texts when the class is made.
        required = {key for key in hints if schema.__total__ and get_origin(hints[key]) is not NotRequired}
    else:
        hints = {field.name: hints[field.name] for field in fields(schema) if field.init}
        required = {field.name for field in fields(schema) if field.init and not _has_default(field)}
        stranger = next((key for key in value if key not in hints), None)
        if stranger is not None:
            raise InputError(
                f"{path} has an unknown entry {short(stranger)}: expected the file that equigraph wrote."
            )
    for key in required:
        if key not in value:
            raise InputError(f"{path} has no entry {key!r}: expected the file that equigraph wrote.")
    found = {key: decode(value[key], kind, path, key) for key, kind in hints.items() if key in value}
    return {**value, **found} if typing.is_typeddict(schema) else schema(**found)


def _has_default(field: Any) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _decode_array(value: Any, dtype: type, path: Path, name: str) -> NDArray:
    try:
        found = np.array(value if isinstance(value, list) else None)
    except (ValueError, OverflowError):
        raise _wrong(value, path, name) from None
    if found.size == 0 and isinstance(value, list):
        return found.astype(dtype)
    if (
        found.dtype.kind not in ("i" if issubclass(dtype, np.integer) else "if")
        or not np.isfinite(found).all()
    ):
        raise _wrong(value, path, name)
    return found.astype(dtype)


def _is_number(value: Any) -> bool:
    try:
        return type(value) in (int, float) and math.isfinite(value)
    except OverflowError:
        return False


def _wrong(value: Any, path: Path, name: str) -> InputError:
    if not name:
        return InputError(f"{path} is not what equigraph wrote: expected another kind of JSON.")
    return InputError(f"{path} has an entry {name!r} of the wrong kind ({short(value)}).")


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}..."
