"""Match keys to names by sorting: no Python object and no dictionary entry per node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.graph.names import as_names, names_from_text


def places_of(keys: NDArray[Any], names: NDArray[Any]) -> NDArray[np.intp] | None:
    """Return the place of every key among the names, or None if that is not plain.

    It is plain where the keys are integers or text, and so are the names; none of the keys is empty, every key is a
    name and comes once. Integers and text are compared by the text.

    >>> places_of(np.array(["cem", "ann"]), np.array(["ann", "bob", "cem"])).tolist()
    [2, 0]
    >>> places_of(np.array(["cem", "zoe"]), np.array(["ann", "bob", "cem"])) is None
    True
    """
    if keys.dtype.kind == "O" and any(isinstance(key, str) and "\0" in key for key in keys):
        return None  # numpy drops a NUL at the end of a text, and would find another name
    keys = as_names(keys)
    if keys.dtype.kind == "U" and names.dtype.kind == "i":
        keys = names_from_text(keys)
    elif keys.dtype.kind == "i" and names.dtype.kind == "U":
        keys = keys.astype(str)
    if keys.dtype.kind != names.dtype.kind or keys.dtype.kind not in "iU" or not keys.size:
        return None
    if keys.dtype.kind == "U" and (keys == "").any():
        return None
    # Looking up sorted keys walks through the names once; keys in any order would miss the caches each time.
    by_key, by_name = np.argsort(keys, kind="stable"), np.argsort(names, kind="stable")
    ordered, sorted_names = keys[by_key], names[by_name]
    found = np.minimum(np.searchsorted(sorted_names, ordered), names.size - 1)
    if (sorted_names[found] != ordered).any() or (found[1:] == found[:-1]).any():
        return None
    places = np.empty(keys.size, dtype=np.intp)
    places[by_key] = by_name[found]
    return places
