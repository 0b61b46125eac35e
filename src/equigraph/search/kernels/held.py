"""How many members of folded groups a cluster has: a hash table of the few (cluster, group) pairs with any.

Open addressing with linear probing, at most half full; an entry that falls to 0 is taken out, and those behind it move
up, so that the table never fills with what was.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled

_FREE = -1


@compiled
def make_held(n_entries: int) -> tuple[Any, Any]:
    """Return an empty table, keys and numbers, for so many pairs."""
    size = 1
    while size < 2 * n_entries:
        size *= 2
    return np.full(size, _FREE), np.zeros(size, dtype=np.int64)


@compiled(inline="always")
def _home(key: int, mask: int) -> Any:
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & mask


@compiled
def number_of(keys: Any, numbers: Any, key: int) -> Any:
    """Return the number of a pair; 0 where there is no entry."""
    mask = keys.size - 1
    slot = _home(key, mask)
    while keys[slot] != key:
        if keys[slot] == _FREE:
            return np.int64(0)
        slot = (slot + 1) & mask
    return numbers[slot]


@compiled
def add_number(keys: Any, numbers: Any, key: int, by: int) -> Any:
    """Add to the number of a pair, and return what it was."""
    mask = keys.size - 1
    slot = _home(key, mask)
    while keys[slot] != key and keys[slot] != _FREE:
        slot = (slot + 1) & mask
    before = np.int64(0) if keys[slot] == _FREE else numbers[slot]
    if before + by == 0:
        _take_out(keys, numbers, slot)
    else:
        keys[slot], numbers[slot] = key, before + by
    return before


@compiled
def _take_out(keys: Any, numbers: Any, hole: int) -> None:
    mask = keys.size - 1
    slot = hole
    while True:
        slot = (slot + 1) & mask
        if keys[slot] == _FREE:
            break
        # An entry whose search begins at the hole or before it would not be found behind it.
        if (slot - _home(keys[slot], mask)) & mask >= (slot - hole) & mask:
            keys[hole], numbers[hole] = keys[slot], numbers[slot]
            hole = slot
    keys[hole] = _FREE
