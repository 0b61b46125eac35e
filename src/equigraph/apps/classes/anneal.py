"""Simulated annealing of a division, counted in people: wishes kept, and distances from exact shares."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.apps.classes.attributes import group_columns
from equigraph.apps.classes.kernels import LACKING, MOST_UNITS, TOP, VALUE, UnitPlaces, Units, anneal_steps
from equigraph.apps.classes.roster import Roster
from equigraph.rules import CompiledRules

# What a squared distance of one person costs in wishes: four of a group in two classes and two in two others, in place
# of three in each, have to bring twelve wishes.
_PAYS = 3.0
# A division into sizes that differ has to bring so many wishes for a squared distance of one person.
_PAYS_SIZE = 0.25
# Where several friends are asked for, a person who lacks some of them costs the square of their number, and the last
# friend that somebody lacks is worth two wishes: evenness counts double, to stay what it is with one friend.
_SEVERAL = 2.0
# What a friend costs that somebody has to have and lacks, on the way: more while there is somebody, less while there is
# nobody, so that the search comes back to divisions in which nobody lacks one.
_PAYS_FRIEND, _CHEAPEST, _DEAREST = 3.0, 1.0, 40.0
_DEARER, _CHEAPER = 1.1, 0.93
_SETTLED = 0.6  # from here on it gets no cheaper
_HOT, _WARM, _COLD = 3.0, 1.0, 0.4  # temperatures in wishes
# Distances from exact shares count little at first, so that wishes find together, and in full from here on.
_EVEN_FROM, _EVEN_AT = 0.4, 0.4
_QUENCH = 100  # steps per unit of people that are left at the end where a run is cut short
_LOOKS = 200  # how often it gets colder, and is asked whether to stop


@dataclass(frozen=True, eq=False)
class Measure:
    """What is counted: the weight of the wishes kept, less the squared distance of every count from its exact share."""

    wishes: sparse.csr_array  # weight of the wish of each person (row) for each other
    groups: NDArray[np.float64]  # zeros and ones: who (row) is in which group of which attribute
    weights: NDArray[np.float64]  # weight of every group
    n_classes: int
    wanted: NDArray[np.int64]  # how many friends each person is to have if possible; 0 if only wishes count

    def value(self, labels: NDArray[np.intp]) -> float:
        """Return the value of a division."""
        rows = np.repeat(np.arange(labels.size), np.diff(self.wishes.indptr))
        together = labels[rows] == labels[self.wishes.indices]
        kept = self.wishes.data[together].sum()
        lacking = np.maximum(self.wanted - np.bincount(rows[together], minlength=labels.size), 0)
        counts = np.zeros((self.n_classes, self.weights.size))
        np.add.at(counts, labels, self.groups)
        sizes = np.bincount(labels, minlength=self.n_classes)
        gaps = counts - np.outer(sizes / labels.size, self.groups.sum(axis=0))
        unequal = _PAYS_SIZE * ((sizes - labels.size / self.n_classes) ** 2).sum()
        return float(kept - (lacking**2).sum() - (self.weights * gaps**2).sum() - unequal)


def measure_of(
    roster: Roster, attributes: Mapping[str, float], n_classes: int, evenness: float = 1.0, friends: int = 1
) -> Measure:
    """Return what is counted for some people: their wishes, and how evenly some attributes are spread.

    Where several friends are asked for, it also counts how many everybody lacks.
    """
    columns = group_columns(roster)
    pays = _PAYS * evenness**2 * (_SEVERAL if friends > 1 else 1.0)
    found = [
        (columns[name] == value, pays * weight)
        for name, weight in attributes.items()
        for value in sorted(set(columns[name]) - {None})
    ]
    groups = np.array([row for row, _ in found], dtype=float).reshape(len(found), len(roster.people)).T
    wishes = roster.wish_matrix()
    wanted = np.minimum(np.diff(wishes.indptr), friends if friends > 1 else 0).astype(np.int64)
    return Measure(wishes, groups, np.array([weight for _, weight in found]), n_classes, wanted)


def anneal(
    measure: Measure,
    compiled: CompiledRules,
    labels: NDArray[Any],
    n_steps: int,
    seed: Any,
    watch: Callable[[int], bool] | None = None,
    *,
    again: bool = False,
) -> NDArray[np.intp]:
    """Simulated annealing from labels that keep the rules; return the best labels visited.

    Parameters
    ----------
    measure : Measure
        What is to be large.
    compiled : CompiledRules
        What has to be kept, and is by `labels`.
    labels : array of shape (n_people,)
        Where to start.
    n_steps : int
        Number of moves and exchanges that are tried.
    seed : int or str
        Seed.
    watch : callable, optional
        Called with the number of steps done, now and then; where it returns True the rest is cut short.
    again : bool
        Whether to start less hot, to improve on labels that were annealed before.
    """
    labels = np.asarray(labels, dtype=np.intp)
    units = _units(measure, compiled)
    placed = _placement(units, measure, compiled, labels, seed)
    tally, hot, easing = placed.tally, _WARM if again else _HOT, not again
    step, end = 0, n_steps if units.free.size > 1 else 0
    every, pays_friend = max(1, n_steps // _LOOKS), _PAYS_FRIEND
    while step < end:
        if watch is not None and end == n_steps and watch(step):
            end = min(n_steps, step + _QUENCH * units.free.size)
        done = step / n_steps if end == n_steps else 1.0
        temperature = hot * (_COLD / hot) ** done
        if easing:
            easing = done < _EVEN_AT
            units.weight[:] = measure.weights * min(1.0, _EVEN_FROM + (1 - _EVEN_FROM) * done / _EVEN_AT)
            if not easing:  # what was counted so far was less than the distances cost
                tally[VALUE] = measure.value(placed.at[compiled.unit])
                tally[TOP] = measure.value(placed.best[compiled.unit])
        change = _DEARER if tally[LACKING] else _CHEAPER if done < _SETTLED else 1.0
        pays_friend = min(max(pays_friend * change, _CHEAPEST), _DEAREST)
        number = min(every, end - step)
        anneal_steps(units, placed, number, (temperature, pays_friend))
        step += number
    return placed.best[compiled.unit].astype(np.intp)


def lacking_friends(compiled: CompiledRules, labels: NDArray[np.intp]) -> int:
    """Return how many friends that they have to have people lack, in all."""
    links = compiled.links
    rows = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    together = labels[rows % labels.size] == labels[links.indices]
    kept = np.bincount(rows[together], minlength=links.shape[0])
    return int(np.maximum(compiled.needed - kept, 0).sum())


def _units(measure: Measure, compiled: CompiledRules) -> Units:
    """Return the units that rules make of people, as arrays."""
    n, k, unit = compiled.unit.size, measure.n_classes, compiled.unit
    member = sparse.csr_array((np.ones(n), (unit, np.arange(n))), shape=(compiled.n_units, n))
    links = sparse.csr_array(member @ sparse.csr_array(measure.wishes + measure.wishes.T) @ member.T)
    links.setdiag(0)
    links.eliminate_zeros()
    held = member @ measure.groups
    kind = np.unique(np.column_stack([compiled.unit_size, held]), axis=0, return_inverse=True)[1].ravel()
    free = np.flatnonzero(compiled.fixed < 0)
    free = free[np.argsort(kind[free], kind="stable")]
    rows, must, want = _asking(measure, compiled)
    friends = [unit[friends] for _, friends in rows]
    asking = unit[[person for person, _ in rows]] if rows else np.empty(0)
    watched: list[set[int]] = [set() for _ in range(compiled.n_units)]
    for row, (own, theirs) in enumerate(zip(asking.tolist(), friends, strict=True)):
        for one in {own, *theirs.tolist()}:
            watched[int(one)].add(row)
    shape = (k, len(compiled.columns))
    return Units(
        size=_whole(compiled.unit_size),
        free=_whole(free),
        is_free=np.ascontiguousarray(compiled.fixed < 0),
        link_start=_whole(links.indptr),
        link=_whole(links.indices),
        link_weight=links.data.astype(float),
        kind=_whole(kind),
        kind_start=np.searchsorted(kind[free], np.arange(kind.max() + 2)),
        change=held - np.outer(compiled.unit_size / n, held.sum(axis=0)),
        weight=measure.weights.copy(),
        size_weight=_PAYS_SIZE,
        foe_start=_whole(compiled.apart.indptr),
        foe=_whole(compiled.apart.indices),
        least=_whole(np.broadcast_to(compiled.least_size, k)),
        most=_whole(np.broadcast_to(compiled.most_size, k)),
        asking=_whole(asking),
        friend_start=_starts(friends),
        friend=_joined(friends),
        must=_whole(must),
        want=_whole(want),
        most_bonus=np.inf if any(want) else 0.0,
        watch_start=_starts(watched),
        watch=_joined([sorted(one) for one in watched]),
        bound_held=_whole(compiled.counts.toarray()),
        bound_least=_whole(np.broadcast_to(compiled.least_count, shape)),
        bound_most=_whole(np.broadcast_to(compiled.most_count, shape)),
        bound_low=_whole(compiled.share_low).reshape(-1, 2),
        bound_high=_whole(compiled.share_high).reshape(-1, 2),
        bound_alone=_whole(compiled.not_alone),
    )


def _asking(
    measure: Measure, compiled: CompiledRules
) -> tuple[list[tuple[int, NDArray]], list[int], list[int]]:
    """Return who has to have friends, or is to have them: the person and the friends, and how many of both kinds."""
    n = compiled.unit.size
    must = compiled.needed.tolist()
    found = [
        (row % n, friends, number, 0)
        for row, (friends, number) in enumerate(zip(_indices(compiled.links), must, strict=True))
        if number
    ]
    found += [
        (row, friends, 0, number)
        for row, (friends, number) in enumerate(
            zip(_indices(measure.wishes), measure.wanted.tolist(), strict=True)
        )
        if number
    ]
    return [one[:2] for one in found], [one[2] for one in found], [one[3] for one in found]


def _placement(
    units: Units, measure: Measure, compiled: CompiledRules, labels: NDArray[np.intp], seed: Any
) -> UnitPlaces:
    """Return where units are by some labels, which are the best so far."""
    k, n_units = measure.n_classes, compiled.n_units
    at = np.empty(n_units, dtype=np.int64)
    at[compiled.unit] = labels
    near = np.zeros((n_units, k))
    rows = np.repeat(np.arange(n_units), np.diff(units.link_start))
    np.add.at(near, (rows, at[units.link]), units.link_weight)
    gap, counts = np.zeros((k, units.weight.size)), np.zeros((k, units.bound_alone.size), dtype=np.int64)
    np.add.at(gap, at, units.change)
    np.add.at(counts, at, units.bound_held)
    asking = np.repeat(np.arange(units.asking.size), np.diff(units.friend_start))
    together = at[units.asking[asking]] == at[units.friend]
    kept = np.bincount(asking[together], minlength=units.asking.size).astype(np.int64)
    lacking = np.maximum(units.must - kept, 0).sum()
    value = measure.value(labels)
    return UnitPlaces(
        at=at,
        sizes=np.bincount(labels, minlength=k).astype(np.int64),
        near=near,
        gap=gap,
        kept=kept,
        counts=counts,
        best=at.copy(),
        tally=np.array([value, lacking, value, lacking], dtype=float),
        stamp=np.zeros(units.asking.size + 1, dtype=np.int64),
        random=np.array([random.Random(seed).getrandbits(64)], dtype=np.uint64),
        group=np.zeros(2 * MOST_UNITS, dtype=np.int64),
        side=np.zeros(n_units, dtype=np.int64),
        change=np.zeros(units.weight.size),
        bound_change=np.zeros(units.bound_alone.size, dtype=np.int64),
    )


def _whole(values: Any) -> NDArray[np.int64]:
    return np.ascontiguousarray(values, dtype=np.int64)


def _starts(rows: Sequence[Sized]) -> NDArray[np.int64]:
    return np.cumsum([0, *map(len, rows)], dtype=np.int64)


def _joined(rows: Sequence[Any]) -> NDArray[np.int64]:
    return _whole(np.concatenate([*map(np.asarray, rows), np.empty(0)]))


def _indices(matrix: sparse.csr_array) -> list[NDArray]:
    return [
        matrix.indices[start:end] for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]
