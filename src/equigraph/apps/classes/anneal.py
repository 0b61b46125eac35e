"""Simulated annealing of a division: wishes that are kept, and counts near their exact shares."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph.apps.classes.kernels import LACKING, MOST_UNITS, UnitPlaces, Units, anneal_steps
from equigraph.apps.classes.measure import Measure
from equigraph.rules import CompiledRules
from equigraph.rules.compile import kept_links

# Penalty of a missing friend that somebody has to have, in wishes: raised while one is missing and lowered while none
# is, so that the search returns to divisions in which nobody lacks one.
_PENALTY, _MAX_PENALTY = 10.0, 100.0
_RAISE, _LOWER = 1.1, 0.93
_SETTLED = 0.6  # share of the steps after which it is not lowered
_STRICT = 30.0  # highest price of unevenness during an annealing
_NEVER = 1e6  # negative weight between people who have to be apart
_QUENCH = 100  # steps for each unit of people that are left where a run is cut short
_LOOKS = 200  # number of temperatures, and of calls of `watch`


class Schedule(NamedTuple):
    """Temperatures and prices of an annealing, in wishes."""

    hot: float  # temperature at the start
    cold: float  # and at the end
    easy: float  # price of unevenness at the start
    risen: float  # share of the steps after which that price is highest
    least: float = 5.0  # least penalty of a missing friend


# Unevenness is cheap at the start, so that friends find together.
FROM_ANYWHERE = Schedule(2.0, 0.4, 0.5, 0.8)
FROM_FRIENDS = Schedule(2.5, 0.3, 8.0, 0.6)
# The penalty outweighs any unevenness: nobody loses the last friend.
KEEPING_FRIENDS = Schedule(2.0, 0.2, 30.0, 0.1, least=1e5)


def anneal(
    measure: Measure,
    compiled: CompiledRules,
    labels: NDArray[Any],
    n_steps: int,
    seed: Any,
    watch: Callable[[int], bool] | None = None,
    schedule: Schedule = FROM_ANYWHERE,
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
        Number of chains of moves that are tried.
    seed : int or str
        Seed.
    watch : callable, optional
        Called with the number of steps done, now and then; where it returns True the rest is cut short.
    schedule : Schedule
        How hot it is, and what unevenness costs meanwhile.
    """
    labels = np.asarray(labels, dtype=np.intp)
    units = _units(measure, compiled)
    placed = _placement(units, measure, compiled, labels, seed)
    wish, penalty = measure.wish, _PENALTY
    strict = min(_STRICT, measure.price / wish)
    easy = min(schedule.easy, strict)
    step, end, every = 0, n_steps if units.free.size > 1 else 0, max(1, n_steps // _LOOKS)
    while step < end:
        if watch is not None and end == n_steps and watch(step):
            end = min(n_steps, step + _QUENCH * units.free.size)
        done = step / n_steps if end == n_steps else 1.0
        change = _RAISE if placed.tally[LACKING] else _LOWER if done < _SETTLED else 1.0
        penalty = max(min(penalty * change, _MAX_PENALTY), schedule.least)
        pays_even = easy * (strict / easy) ** min(done / schedule.risen, 1.0) if easy else 0.0
        number = min(every, end - step)
        temperature = schedule.hot * (schedule.cold / schedule.hot) ** done
        anneal_steps(units, placed, number, (temperature * wish, penalty * wish, pays_even * wish))
        step += number
    return placed.best[compiled.unit].astype(np.intp)


def lacking_friends(compiled: CompiledRules, labels: NDArray[np.intp]) -> int:
    """Return how many friends that they have to have people lack, in all."""
    kept = kept_links(compiled.links, labels)
    return int(np.maximum(compiled.needed - kept, 0).sum())


def _units(measure: Measure, compiled: CompiledRules) -> Units:
    """Return the units that rules make of people, as arrays."""
    n, k, unit = compiled.unit.size, measure.n_classes, compiled.unit
    member = sparse.csr_array((np.ones(n), (unit, np.arange(n))), shape=(compiled.n_units, n))
    wishes = measure.wishes + measure.wishes.T
    apart = compiled.apart.astype(float)
    apart.data[:] = _NEVER
    links = sparse.csr_array(member @ wishes @ member.T - apart)
    links.setdiag(0)
    links.eliminate_zeros()
    held = member @ measure.groups
    alone = [np.flatnonzero(row) for row in held * (compiled.unit_size == 1)[:, None]]
    groups = np.full((compiled.n_units, max(map(len, alone))), held.shape[1])
    for row, found in zip(groups, alone, strict=True):
        row[: found.size] = found
    must, want = np.flatnonzero(compiled.needed), np.flatnonzero(measure.wanted)
    friends = sparse.csr_array(sparse.vstack([compiled.links[must], measure.wishes[want]]))
    asking, friend = unit[np.concatenate([must % n, want])], unit[friends.indices]
    row = np.arange(asking.size)
    either = np.concatenate([asking, friend]), np.concatenate([row, np.repeat(row, np.diff(friends.indptr))])
    watch = sparse.csr_array((np.ones(either[0].size), either), shape=(compiled.n_units, asking.size))
    shape = (k, len(compiled.columns))
    return Units(
        size=_whole(compiled.unit_size),
        free=_whole(np.flatnonzero(compiled.fixed < 0)),
        link_start=_whole(links.indptr),
        link=_whole(links.indices),
        link_weight=links.data.astype(float),
        held=held,
        groups=_whole(groups),
        share=held.sum(axis=0) / n,
        weight=measure.weights,
        size_price=measure.size_price,
        price=measure.price,
        least=_whole(np.broadcast_to(compiled.least_size, k)),
        most=_whole(np.broadcast_to(compiled.most_size, k)),
        asking=_whole(asking),
        friend_start=_whole(friends.indptr),
        friend=_whole(friend),
        asked=_whole(np.concatenate([compiled.needed[must], measure.wanted[want]])),
        n_must=must.size,
        watch_start=_whole(watch.indptr),
        watch=_whole(watch.indices),
        bound_held=_whole(compiled.counts.toarray()),
        bound_least=_whole(np.broadcast_to(compiled.least_count, shape)),
        bound_most=_whole(np.broadcast_to(compiled.most_count, shape)),
        bound_low=_whole(compiled.share_low).reshape(-1, 2),
        bound_high=_whole(compiled.share_high).reshape(-1, 2),
        bound_alone=_whole(compiled.not_alone),
    )


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
    np.add.at(gap, at, units.held - np.outer(units.size, units.share))
    np.add.at(counts, at, units.bound_held)
    row = np.repeat(np.arange(units.asking.size), np.diff(units.friend_start))
    together = at[units.asking[row]] == at[units.friend]
    kept = np.bincount(row[together], minlength=units.asking.size).astype(np.int64)
    missing = np.maximum(units.asked - kept, 0)
    lacking, short = missing[: units.n_must].sum(), (missing[units.n_must :] ** 2).sum()
    value, uneven = measure.parts(labels)
    best = value - measure.price * uneven
    members, place = np.zeros((k, n_units), dtype=np.int64), np.zeros(n_units, dtype=np.int64)
    for where in range(k):
        found = units.free[at[units.free] == where]
        members[where, : found.size], place[found] = found, np.arange(found.size)
    return UnitPlaces(
        at=at,
        members=members,
        place=place,
        n_members=np.bincount(at[units.free], minlength=k).astype(np.int64),
        sizes=np.bincount(labels, minlength=k).astype(np.int64),
        near=near,
        gap=gap,
        kept=kept,
        counts=counts,
        best=at.copy(),
        tally=np.array([value + short, uneven, lacking, short, best, lacking], dtype=float),
        random=np.array([random.Random(seed).getrandbits(64)], dtype=np.uint64),
        uneven=(units.weight * np.maximum(np.abs(gap) - 0.5, 0) ** 2).sum(axis=1),
        chain=np.zeros(2 * MOST_UNITS, dtype=np.int64),
        moved=compiled.fixed >= 0,  # fixed units are never moved
        worse=np.zeros(units.weight.size + 1),
    )


def _whole(values: Any) -> NDArray[np.int64]:
    return np.ascontiguousarray(values, dtype=np.int64)
