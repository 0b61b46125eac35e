"""Who moves in a repair: of all divisions that move as few people, one that is even and keeps wishes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.classes.anneal import measure_of
from equigraph.apps.classes.roster import Roster
from equigraph.rules import CompiledRules, keeps

# Divisions that are looked at in a round, about: two people are replaced at a time only where these are few.
_MOST_TRIED = 20_000
_LEAST_GAIN = 1e-9


def best_movers(
    roster: Roster,
    attributes: Mapping[str, float],
    start: NDArray[np.intp],
    labels: NDArray[np.intp],
    compiled: CompiledRules,
) -> NDArray[np.intp]:
    """Return labels with as few people moved that are more even and keep more wishes, and the rules as before.

    Others of the same class take the place of one or two who moved, and whoever moves may go to another class, as long
    as that makes the division better.

    Parameters
    ----------
    roster : Roster
        The people.
    attributes : mapping of str to float
        The attributes that are spread evenly, with their weights.
    start : array of shape (n_people,)
        Classes before the repair.
    labels : array of shape (n_people,)
        Classes after it, which keep the rules.
    compiled : CompiledRules
        The rules.
    """
    measure = measure_of(roster, attributes, compiled.n_clusters)
    value, better = measure.value(labels), True
    while better:
        better = False
        candidates = (
            (measure.value(other), number, other) for number, other in enumerate(_others(start, labels))
        )
        for found, _, other in sorted(
            (one for one in candidates if one[0] > value + _LEAST_GAIN), reverse=True
        ):
            if keeps(compiled, other):
                labels, value, better = other, found, True
                break
    return labels


def _others(start: NDArray[np.intp], labels: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
    """Yield labels in which one or two of those who moved stay, and others move in their place."""
    moved, stays = np.flatnonzero(start != labels), np.flatnonzero(start == labels)
    largest = int(np.bincount(start).max())
    if moved.size * largest > _MOST_TRIED:
        return
    few = moved.size * (moved.size - 1) // 2 * largest**2 <= _MOST_TRIED
    for leaving in itertools.chain(
        ((one,) for one in moved), itertools.combinations(moved, 2) if few else ()
    ):
        instead = [[one, *stays[start[stays] == start[one]]] for one in leaving]
        for chosen in itertools.product(*instead):
            if len(set(chosen)) < len(chosen):
                continue
            other = labels.copy()
            other[list(leaving)] = start[list(leaving)]
            other[list(chosen)] = labels[list(leaving)]
            if (other != labels).any():
                yield other
    for one in moved:
        for where in set(labels.tolist()) - {int(start[one]), int(labels[one])}:
            other = labels.copy()
            other[one] = where
            yield other
