"""Many groups as few columns: how many groups of p members have c of them in a cluster.

To a notion that treats groups alike, groups of equally many members differ in nothing but how many of them a cluster
has. So a cluster needs no count for each of a thousand groups of two: how many of them have none, one and two members
there says all. Groups with many members keep a column of their own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

# With so few groups each has its column: what a move changes is then looked up.
_MOST_OWN = 16
# Groups are folded where that leaves at most this share of the columns.
_MOST_LEFT = 0.5


class Folded(NamedTuple):
    """Groups in columns.

    Attributes
    ----------
    columns : ndarray of shape (n_nodes, n_attributes), int32
        Of each node by each attribute its column, from 0; -1 for no group, and -2 - g for folded group g.
    population : list of ndarray of int64
        Members of the group of each column, or which groups it counts; see `equigraph.metrics.notions.Notion.folds`.
    first : ndarray of int64
        For each folded group, of all attributes, the column that counts it where it has no member in a cluster; for
        every member there it is the next one.
    """

    columns: NDArray[np.int32]
    population: list[NDArray[np.int64]]
    first: NDArray[np.int64]


class Held(NamedTuple):
    """Folded groups of sets of nodes: of set i ``groups[starts[i] : starts[i + 1]]``, sorted, each with its members."""

    starts: NDArray[np.int64]
    groups: NDArray[np.int64]
    numbers: NDArray[np.int64]


NOTHING = np.zeros(0, dtype=np.int64)
NOTHING_HELD = Held(NOTHING, NOTHING, NOTHING)


def fold_groups(columns: NDArray[np.int32], sizes: list[NDArray[np.int64]]) -> Folded:
    """Fold the groups of every attribute that has many.

    Examples
    --------
    >>> one, many = np.arange(30) % 2, np.arange(30) % 15
    >>> fold_groups(
    ...     np.column_stack([one, many]).astype(np.int32), [np.bincount(one), np.bincount(many)]
    ... ).first
    array([], dtype=int64)
    >>> twenty = np.arange(40, dtype=np.int32).reshape(-1, 1) % 20
    >>> folded = fold_groups(twenty, [np.bincount(twenty[:, 0])])
    >>> folded.columns[:3, 0].tolist(), set(folded.first.tolist())
    ([-2, -3, -4], {0})
    >>> [(-int(code) % 2**32, -int(code) >> 32) for code in folded.population[0]]
    [(2, 0), (2, 1), (2, 2)]
    """
    columns = columns.copy()
    population, first, offset = [], [NOTHING], 0
    n_folded = 0
    for column, size in zip(columns.T, sizes, strict=True):
        largest = _largest_folded(size)
        own = size > largest
        kinds = np.unique(size[~own])
        begins = int(own.sum()) + np.concatenate([[0], np.cumsum(kinds + 1)]).astype(np.int64)
        place = np.where(own, np.cumsum(own) - 1, -2 - n_folded - (np.cumsum(~own) - 1)).astype(np.int32)
        known = column >= 0
        column[known] = place[column[known]]
        cells = [-(kind + (np.arange(kind + 1) << 32)) for kind in kinds]
        population.append(np.concatenate([size[own], *cells]).astype(np.int64))
        first.append(offset + begins[np.searchsorted(kinds, size[~own])])
        n_folded += int((~own).sum())
        offset += population[-1].size
    return Folded(columns, population, np.concatenate(first))


def _largest_folded(sizes: NDArray[np.int64]) -> int:
    """Return up to which number of members groups are folded, so that few columns are left; 0 for none."""
    if sizes.size <= _MOST_OWN:
        return 0
    kinds, n_groups = np.unique(sizes, return_counts=True)
    left = np.cumsum(kinds + 1) + sizes.size - np.cumsum(n_groups)
    best = int(np.argmin(left))
    return int(kinds[best]) if left[best] <= _MOST_LEFT * sizes.size else 0


def empty_row(population: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of a cluster without a member: all folded groups have none there."""
    return np.bincount(first, minlength=population.size)


def known_nodes(
    population: NDArray[np.int64], first: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many nodes have a group, by each attribute."""
    members = np.where(population < 0, (-population & 0xFFFFFFFF) * empty_row(population, first), population)
    return np.add.reduceat(members, offsets[:-1])


def rows_of(
    counts: NDArray[np.int64], held: Held, population: NDArray[np.int64], first: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the rows of clusters, from the counts of groups with a column of their own and the folded groups."""
    if not first.size:
        return counts
    rows = counts + empty_row(population, first)
    cluster = np.repeat(np.arange(len(rows)), np.diff(held.starts))
    column = first[held.groups]
    np.subtract.at(rows, (cluster, column), 1)
    np.add.at(rows, (cluster, column + held.numbers), 1)
    return rows
