"""What makes a division good, counted in people and wishes, and who moves in a repair by that."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.apps.classes.attributes import group_columns
from equigraph.apps.classes.roster import Roster
from equigraph.rules import CompiledRules, keeps
from equigraph.rules.compile import kept_links

# What unevenness costs in wishes at an evenness of one half, so that a person too many in one class and too few in
# another costs six for each group; towards an evenness of 1 there is no bound.
_PAYS, _MOST_EVEN = 12.0, 0.999
# A division into sizes that differ has to bring so many wishes for a squared distance of one person.
_PAYS_SIZE = 0.25
# What unevenness costs at most in wishes before the last annealing.
_EASED = 6.0
# Divisions that are looked at in a round of a repair, about: two people at a time only where these are few.
_MOST_TRIED = 20_000
_LEAST_GAIN = 1e-9


@dataclass(frozen=True, eq=False)
class Measure:
    """What is counted: the weight of the wishes kept, less the price of how uneven people are spread."""

    wishes: sparse.csr_array  # weight of the wish of each person (row) for each other
    groups: NDArray[np.float64]  # zeros and ones: who (row) is in which group of which attribute
    weights: NDArray[np.float64]  # weight of every group
    n_classes: int
    wanted: NDArray[np.int64]  # how many friends each person is to have if possible; 0 if only wishes count
    price: float  # of unevenness

    @property
    def wish(self) -> float:
        """Weight of a wish, on average."""
        return float(self.wishes.data.mean()) if self.wishes.nnz else 1.0

    @property
    def size_price(self) -> float:
        """Price of a squared distance of one person from the exact size of a class."""
        return _PAYS_SIZE * self.wish

    def parts(self, labels: NDArray[np.intp]) -> tuple[float, float]:
        """Return the value of a division without unevenness, and its unevenness.

        A count is even if it is the whole number next to its exact share.
        """
        rows = np.repeat(np.arange(labels.size), np.diff(self.wishes.indptr))
        kept = self.wishes.data[labels[rows] == labels[self.wishes.indices]].sum()
        lacking = np.maximum(self.wanted - kept_links(self.wishes, labels), 0)
        counts = np.zeros((self.n_classes, self.weights.size))
        np.add.at(counts, labels, self.groups)
        sizes = np.bincount(labels, minlength=self.n_classes)
        gaps = counts - np.outer(sizes / labels.size, self.groups.sum(axis=0))
        unequal = self.size_price * ((sizes - labels.size / self.n_classes) ** 2).sum()
        uneven = (self.weights * np.maximum(np.abs(gaps) - 0.5, 0) ** 2).sum()
        return float(kept - (lacking**2).sum() - unequal), float(uneven)

    @property
    def eased(self) -> Measure:
        """The same where unevenness costs less than it is to cost."""
        return replace(self, price=min(self.price, _EASED * self.wish))

    def value(self, labels: NDArray[np.intp]) -> float:
        """Return the value of a division."""
        value, uneven = self.parts(labels)
        return value - self.price * uneven


def measure_of(
    roster: Roster, attributes: Mapping[str, float], n_classes: int, evenness: float = 0.98, friends: int = 1
) -> Measure:
    """Return what is counted for some people: their wishes, and how evenly some attributes are spread.

    Where several friends are asked for, it also counts how many everybody lacks.
    """
    columns = group_columns(roster)
    found = []
    for name, weight in attributes.items():
        values = set(columns[name])
        # Where everybody is in one of two groups, one is as uneven as the other.
        two = len(values) == 2 and None not in values
        found += [
            (columns[name] == value, 2 * weight if two else weight)
            for value in sorted(values - {None})[: 1 if two else None]
        ]
    groups = np.array([row for row, _ in found], dtype=float).reshape(len(found), len(roster.people)).T
    wishes = roster.wish_matrix()
    wanted = np.minimum(np.diff(wishes.indptr), friends if friends > 1 else 0).astype(np.int64)
    evenness = min(evenness, _MOST_EVEN)
    measure = Measure(wishes, groups, np.array([weight for _, weight in found]), n_classes, wanted, 0.0)
    return replace(measure, price=_PAYS * measure.wish * evenness / (1 - evenness))


def best_movers(
    roster: Roster,
    attributes: Mapping[str, float],
    start: NDArray[np.intp],
    labels: NDArray[np.intp],
    compiled: CompiledRules,
    evenness: float = 0.98,
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
    evenness : float
        How evenly people are to be spread.
    """
    measure = measure_of(roster, attributes, compiled.n_clusters, evenness)
    while True:
        least = measure.value(labels) + _LEAST_GAIN
        others = enumerate(_others(start, labels))
        tried = sorted(((measure.value(other), number, other) for number, other in others), reverse=True)
        better = (other for value, _, other in tried if value > least and keeps(compiled, other))
        best = next(better, None)
        if best is None:
            return labels
        labels = best


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
