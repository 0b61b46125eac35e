"""Simulated annealing of a division, counted in people: wishes kept, and distances from exact shares.

A few hundred people and their wishes need no compiled loop: plain lists do some two hundred thousand steps a second,
and the first run on a machine is as fast as any other.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.apps.classes.attributes import group_columns
from equigraph.apps.classes.roster import Roster
from equigraph.rules import CompiledRules

# What a squared distance of one person costs in wishes: four of a group in two classes and two in two others, in place
# of three in each, have to bring eight wishes.
_PAYS = 2.0
# A division into sizes that differ has to bring so many wishes for a squared distance of one person.
_PAYS_SIZE = 0.25
# What a friend costs that somebody has to have and lacks, on the way: no division that lacks one is returned.
_PAYS_FRIEND = 3.0
_HOT, _WARM, _COLD = 2.0, 0.9, 0.35  # temperatures in wishes
# Distances from exact shares count little at first, so that wishes find together, and in full from here on.
_EVEN_FROM, _EVEN_AT = 0.1, 0.5
_LOST = 12.0  # a loss of so many temperatures is not taken up, whatever friends it brings
_QUENCH = 100  # steps per unit of people that are left at the end where a run is cut short
_LOOKS = 200  # how often it gets colder, and is asked whether to stop


@dataclass(frozen=True, eq=False)
class Measure:
    """What is counted: the weight of the wishes kept, less the squared distance of every count from its exact share."""

    wishes: sparse.csr_array  # weight of the wish of each person (row) for each other
    groups: NDArray[np.float64]  # zeros and ones: who (row) is in which group of which attribute
    weights: NDArray[np.float64]  # weight of every group
    n_classes: int

    def value(self, labels: NDArray[np.intp]) -> float:
        """Return the value of a division."""
        rows = np.repeat(np.arange(labels.size), np.diff(self.wishes.indptr))
        kept = self.wishes.data[labels[rows] == labels[self.wishes.indices]].sum()
        counts = np.zeros((self.n_classes, self.weights.size))
        np.add.at(counts, labels, self.groups)
        sizes = np.bincount(labels, minlength=self.n_classes)
        gaps = counts - np.outer(sizes / labels.size, self.groups.sum(axis=0))
        unequal = _PAYS_SIZE * ((sizes - labels.size / self.n_classes) ** 2).sum()
        return float(kept - (self.weights * gaps**2).sum() - unequal)


def measure_of(
    roster: Roster, attributes: Mapping[str, float], n_classes: int, evenness: float = 1.0
) -> Measure:
    """Return what is counted for some people: their wishes, and how evenly some attributes are spread."""
    columns = group_columns(roster)
    found = [
        (columns[name] == value, _PAYS * evenness**2 * weight)
        for name, weight in attributes.items()
        for value in sorted(set(columns[name]) - {None})
    ]
    groups = np.array([row for row, _ in found], dtype=float).reshape(len(found), len(roster.people)).T
    return Measure(roster.wish_matrix(), groups, np.array([weight for _, weight in found]), n_classes)


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
    state = _AnnealState(measure, compiled, np.asarray(labels, dtype=np.intp))
    free = [unit for unit, fixed in enumerate(compiled.fixed.tolist()) if fixed < 0]
    rng = random.Random(seed)
    best = list(state.at)
    top = measure.value(state.labels(compiled))
    value, strict = top, False
    hot, even_from = (_WARM, 1.0) if again else (_HOT, _EVEN_FROM)
    step, end = 0, n_steps if len(free) > 1 else 0
    every = max(1, n_steps // _LOOKS)
    while step < end:
        if step % every == 0:
            if watch is not None and end == n_steps and watch(step):
                end = min(n_steps, step + _QUENCH * len(free))
            done = step / n_steps if end == n_steps else 1.0
            temperature = hot * (_COLD / hot) ** done
            state.pays = min(1.0, even_from + (1 - even_from) * done / _EVEN_AT)
            if state.pays == 1 and not strict:
                strict = True
                value = measure.value(state.labels(compiled)) - _PAYS_FRIEND * state.lacking
        value += state.step(rng, free, temperature)
        if strict and value > top + 1e-9 and not state.lacking:
            top, best = value, list(state.at)
        step += 1
    return np.array(best, dtype=np.intp)[compiled.unit]


class _AnnealState:
    """Units of people in classes, as plain lists."""

    def __init__(self, measure: Measure, compiled: CompiledRules, labels: NDArray[np.intp]) -> None:
        n_units, n, k = compiled.n_units, labels.size, measure.n_classes
        self.k, self.n, self.pays = k, n, 1.0
        member = sparse.csr_array((np.ones(n), (compiled.unit, np.arange(n))), shape=(n_units, n))
        at = np.empty(n_units, dtype=np.intp)
        at[compiled.unit] = labels
        self.at: list[int] = at.tolist()
        self.size: list[int] = compiled.unit_size.tolist()
        self.sizes: list[int] = np.bincount(labels, minlength=k).tolist()
        links = sparse.csr_array(member @ sparse.csr_array(measure.wishes + measure.wishes.T) @ member.T)
        links.setdiag(0)
        links.eliminate_zeros()
        self.links = _rows(links)
        near = links @ sparse.csr_array((np.ones(n_units), (np.arange(n_units), at)), shape=(n_units, k))
        self.near: list[list[float]] = near.toarray().tolist()
        self._set_groups(measure, member @ measure.groups, compiled)
        self.foes = [set(row) for row in _indices(compiled.apart)]
        self.least, self.most = compiled.least_size.tolist(), compiled.most_size.tolist()
        self.columns = _BoundCounts(compiled, self.at) if _counts_matter(compiled) else None
        self._set_friends(compiled)

    def _set_groups(self, measure: Measure, held: NDArray, compiled: CompiledRules) -> None:
        """Put units of the same groups and size into types: an exchange within a type changes no count."""
        looks = np.column_stack([held, compiled.unit_size])
        kinds, kind = np.unique(looks, axis=0, return_inverse=True)
        self.kind: list[int] = kind.ravel().tolist()
        total, weights = held.sum(axis=0), measure.weights
        steps = kinds[:, :-1] - np.outer(kinds[:, -1] / self.n, total)
        self.unit_steps: list[list[float]] = steps.tolist()
        sizes = np.array(self.sizes)
        counts = np.zeros((self.k, weights.size))
        np.add.at(counts, np.array(self.at), held)
        self.gap: list[list[float]] = (counts - np.outer(sizes / self.n, total)).tolist()
        # By two types: which gaps an exchange changes by how much, and the weight of that.
        others = [*steps, np.zeros(weights.size)]
        self.changes = [[_changes(one - other, weights) for other in others] for one in steps]

    def _set_friends(self, compiled: CompiledRules) -> None:
        """Note for each unit whose friends have to be counted again when it moves."""
        n, unit = self.n, compiled.unit
        needed = compiled.needed.tolist()
        friends_of = enumerate(_indices(compiled.links))
        rows = [(int(unit[row % n]), unit[friends].tolist()) for row, friends in friends_of]
        self.needs = [(own, friends, need) for (own, friends), need in zip(rows, needed, strict=True) if need]
        self.watched: list[list[int]] = [[] for _ in self.at]
        for place, (own, friends, _) in enumerate(self.needs):
            for one in {own, *friends}:
                self.watched[one].append(place)
        self.kept = [
            sum(self.at[friend] == self.at[own] for friend in friends) for own, friends, _ in self.needs
        ]
        self.lacking = sum(
            max(need - kept, 0) for (_, _, need), kept in zip(self.needs, self.kept, strict=True)
        )

    def labels(self, compiled: CompiledRules) -> NDArray[np.intp]:
        """Return the class of each person."""
        return np.array(self.at, dtype=np.intp)[compiled.unit]

    def step(self, rng: random.Random, free: list[int], temperature: float) -> float:
        """Try a move or an exchange; return by how much the value has changed."""
        one = free[int(rng.random() * len(free))]
        a = self.at[one]
        if rng.random() < 0.25:
            b, other = int(rng.random() * self.k), -1
            if b == a:
                return 0.0
        else:
            other = free[int(rng.random() * len(free))]
            b = self.at[other]
            if b == a:
                return 0.0
        gain = self._gain(one, other, a, b)
        if gain < -_LOST * temperature or not self._allowed(one, other, a, b):
            return 0.0
        lacking, kept = self._friends_after(one, other, a, b)
        gain -= _PAYS_FRIEND * (lacking - self.lacking)
        if gain < 0 and rng.random() >= math.exp(gain / temperature):
            return 0.0
        self.lacking = lacking
        for place, number in kept:
            self.kept[place] = number
        self._move(one, a, b)
        if other >= 0:
            self._move(other, b, a)
        return gain

    def _gain(self, one: int, other: int, a: int, b: int) -> float:
        gain = self.near[one][b] - self.near[one][a]
        shift = self.size[one]
        kind = self.kind[other] if other >= 0 else -1
        if other >= 0:
            gain += self.near[other][a] - self.near[other][b] - 2 * self.links[one].get(other, 0.0)
            shift -= self.size[other]
        if shift:
            gain -= _PAYS_SIZE * 2 * shift * (self.sizes[b] - self.sizes[a] + shift)
        here, there = self.gap[a], self.gap[b]
        for group, change, weight in self.changes[self.kind[one]][kind]:
            gain -= self.pays * weight * 2 * change * (there[group] - here[group] + change)
        return gain

    def _allowed(self, one: int, other: int, a: int, b: int) -> bool:
        """Return whether sizes, counts and people to be apart allow a change."""
        at = self.at
        if any(at[foe] == b and foe != other for foe in self.foes[one]):
            return False
        if other >= 0 and any(at[foe] == a and foe != one for foe in self.foes[other]):
            return False
        shift = self.size[one] - (self.size[other] if other >= 0 else 0)
        below, above = self.sizes[a] - shift, self.sizes[b] + shift
        if not (self.least[a] <= below <= self.most[a] and self.least[b] <= above <= self.most[b]):
            return False
        if below <= 0 or above <= 0:
            return False
        return self.columns is None or self.columns.allow(one, other, a, b, below, above)

    def _friends_after(self, one: int, other: int, a: int, b: int) -> tuple[int, list[tuple[int, int]]]:
        """Return how many friends people lack after a change, and what each of those concerned then has."""
        at, lacking = self.at, self.lacking
        kept: list[tuple[int, int]] = []
        at[one] = b
        places: Iterable[int] = self.watched[one]
        if other >= 0:
            at[other] = a
            places = {*places, *self.watched[other]}
        for place in places:
            own, friends, need = self.needs[place]
            here, number = at[own], 0
            for friend in friends:
                number += at[friend] == here
            before = self.kept[place]
            if number != before:
                lacking += max(need - number, 0) - max(need - before, 0)
                kept.append((place, number))
        at[one] = a
        if other >= 0:
            at[other] = b
        return lacking, kept

    def _move(self, unit: int, a: int, b: int) -> None:
        near = self.near
        for other, weight in self.links[unit].items():
            near[other][a] -= weight
            near[other][b] += weight
        self.at[unit] = b
        size = self.size[unit]
        self.sizes[a] -= size
        self.sizes[b] += size
        here, there = self.gap[a], self.gap[b]
        for group, change in enumerate(self.unit_steps[self.kind[unit]]):
            here[group] -= change
            there[group] += change
        if self.columns is not None:
            self.columns.move(unit, a, b)


class _BoundCounts:
    """Counts of the groups that rules bound."""

    def __init__(self, compiled: CompiledRules, at: list[int]) -> None:
        held = compiled.counts.toarray()
        counts = np.zeros((compiled.n_clusters, held.shape[1]), dtype=np.int64)
        np.add.at(counts, np.array(at), held)
        self.held: list[list[int]] = held.tolist()
        self.counts: list[list[int]] = counts.tolist()
        self.bounds = list(
            zip(
                _per_class(compiled.least_count, compiled).tolist(),
                _per_class(compiled.most_count, compiled).tolist(),
                strict=True,
            )
        )
        self.low, self.high = compiled.share_low.tolist(), compiled.share_high.tolist()
        self.alone: list[int] = compiled.not_alone.tolist()

    def allow(self, one: int, other: int, a: int, b: int, below: int, above: int) -> bool:
        """Return whether the counts of two classes stay within their bounds."""
        theirs = self.held[other] if other >= 0 else [0] * len(self.alone)
        for column, (mine, his) in enumerate(zip(self.held[one], theirs, strict=True)):
            change = mine - his
            after = (a, below, self.counts[a][column] - change), (b, above, self.counts[b][column] + change)
            for where, size, count in after:
                least, most = self.bounds[where][0][column], self.bounds[where][1][column]
                low, high = self.low[column], self.high[column]
                fewest, many = max(least, low[0] * size // low[1]), min(most, -(-high[0] * size // high[1]))
                if not fewest <= count <= many or 0 < count < self.alone[column]:
                    return False
        return True

    def move(self, unit: int, a: int, b: int) -> None:
        """Count a unit in another class."""
        here, there = self.counts[a], self.counts[b]
        for column, number in enumerate(self.held[unit]):
            here[column] -= number
            there[column] += number


def _changes(change: NDArray, weights: NDArray) -> list[tuple[int, float, float]]:
    return [(int(g), float(change[g]), float(weights[g])) for g in np.flatnonzero(np.abs(change) > 1e-12)]


def _per_class(bound: NDArray, compiled: CompiledRules) -> NDArray:
    return np.broadcast_to(bound, (compiled.n_clusters, len(compiled.columns)))


def _counts_matter(compiled: CompiledRules) -> bool:
    return len(compiled.columns) > 0


def _indices(matrix: sparse.csr_array) -> list[Any]:
    return [
        matrix.indices[start:end] for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]


def _rows(matrix: sparse.csr_array) -> list[dict[int, float]]:
    return [
        dict(zip(matrix.indices[start:end].tolist(), matrix.data[start:end].tolist(), strict=True))
        for start, end in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)
    ]
