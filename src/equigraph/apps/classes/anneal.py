"""Search for a division by simulated annealing: wishes that are kept, and counts near their exact shares."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.callbacks import Callbacks, Notifier
from equigraph.apps.classes.attributes import roster_facts
from equigraph.apps.classes.kernels import LACKING, MOST_UNITS, UnitPlaces, Units, anneal_steps
from equigraph.apps.classes.measure import Measure, measure_of
from equigraph.apps.classes.roster import Roster
from equigraph.rules import CompiledRules, Rule, Rules, compile_rules
from equigraph.rules.compile import kept_links
from equigraph.search.level_rules import LevelRules

# Penalty of a missing friend that somebody has to have, in wishes: raised while one is missing and lowered while none
# is, so that the search returns to divisions in which nobody lacks one.
_PENALTY, _MAX_PENALTY = 10.0, 100.0
_RAISE, _LOWER = 1.1, 0.93
_SETTLED = 0.6  # share of the steps after which it is not lowered
_STRICT = 30.0  # highest price of unevenness during an annealing
_NEVER = 1e6  # negative weight between people who have to be apart
_QUENCH = 100  # steps for each unit of people that are left where a run is cut short
_LOOKS = 200  # number of temperatures, and of calls of `watch`


# Steps of annealing for each person: in the run that brings friends together, in each of the runs that spread people
# evenly, and in the last one, which keeps friends.
_FRIENDS, _EVEN, _RUNS, _LAST = 7_000, 5_500, 3, 3_000
_TOTAL = _FRIENDS + _RUNS * _EVEN + _LAST
_FEWEST = 4  # people whose number of steps is the least


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


@dataclass(frozen=True, eq=False)
class DivisionSearch:
    """Search for divisions of people that keep rules."""

    roster: Roster
    rules: Rules
    n_classes: int
    attributes: Mapping[str, float]
    evenness: float = 0.98
    effort: float = 1.0
    seed: int = 0
    callbacks: Callbacks = None
    friends: int = 1

    @cached_property
    def measure(self) -> Measure:
        """What annealing counts."""
        return measure_of(self.roster, self.attributes, self.n_classes, self.evenness, self.friends)

    @cached_property
    def compiled(self) -> CompiledRules:
        """The rules as arrays."""
        return compile_rules(self.rules, roster_facts(self.roster), None, self.n_classes)

    def with_rule(self, rule: Rule) -> DivisionSearch:
        """Return the search with one more rule."""
        return replace(self, rules=Rules.of([*self.rules.items, rule]))

    def run(self, start: NDArray[np.intp], turn: int = 0) -> NDArray[np.intp]:
        """Return labels that keep the rules, as those of the start do, and are at least as good."""
        seed = f"{self.seed} {turn}"
        labels = self._anneal(self.measure.eased, start, _FRIENDS, 0, seed, FROM_ANYWHERE)
        for run in range(_RUNS):
            done = _FRIENDS + run * _EVEN
            labels = self._anneal(self.measure, labels, _EVEN, done, f"{seed} {run}", FROM_FRIENDS)
        labels = max(start, labels, key=self.rank)
        return self._anneal(self.measure, labels, _LAST, _TOTAL - _LAST, f"{seed} last", KEEPING_FRIENDS)

    def friends_first(self, start: NDArray[np.intp], turn: int) -> NDArray[np.intp]:
        """Return labels that keep the rules, in which few people lack a friend, however uneven that is."""
        uneven = replace(self.measure, price=0.0)
        return self._anneal(uneven, start, _FRIENDS, 0, f"{self.seed} {turn} friends", FROM_ANYWHERE)

    def again(self, labels: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return labels at least as good as some that keep the rules, after a run from there."""
        return self._anneal(self.measure, labels, _EVEN, _TOTAL - _EVEN, str(self.seed), FROM_FRIENDS)

    def _anneal(
        self, measure: Measure, labels: NDArray[np.intp], steps: int, done: int, seed: str, schedule: Schedule
    ) -> NDArray[np.intp]:
        """Anneal with so many steps for each person, after some that were done."""
        people, notify = max(_FEWEST, self.effort * labels.size), Notifier(self.callbacks)

        def watch(step: int) -> bool:
            return notify("annealing", int(done * people) + step, int(_TOTAL * people))

        return anneal(measure, self.compiled, labels, int(steps * people), seed, watch, schedule)

    def rank(self, labels: NDArray[np.intp]) -> tuple[int, float]:
        """What makes labels better: fewer friends that are lacking, then the measure."""
        return -lacking_friends(self.compiled, labels), self.measure.value(labels)


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
    step, end, every = 0, n_steps if units.rules.free.size > 1 else 0, max(1, n_steps // _LOOKS)
    while step < end:
        if watch is not None and end == n_steps and watch(step):
            end = min(n_steps, step + _QUENCH * units.rules.free.size)
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
    n, unit = compiled.unit.size, compiled.unit
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
    return Units(
        size=_whole(compiled.unit_size),
        link_start=_whole(links.indptr),
        link=_whole(links.indices),
        link_weight=links.data.astype(float),
        held=held,
        groups=_whole(groups),
        share=held.sum(axis=0) / n,
        weight=measure.weights,
        size_price=measure.size_price,
        price=measure.price,
        least=compiled.least_size,
        most=compiled.most_size,
        asking=_whole(asking),
        friend_start=_whole(friends.indptr),
        friend=_whole(friend),
        asked=_whole(np.concatenate([compiled.needed[must], measure.wanted[want]])),
        n_must=must.size,
        watch_start=_whole(watch.indptr),
        watch=_whole(watch.indices),
        rules=LevelRules.of(compiled).constraints(),
    )


def _placement(
    units: Units, measure: Measure, compiled: CompiledRules, labels: NDArray[np.intp], seed: Any
) -> UnitPlaces:
    """Return where units are by some labels, which are the best so far."""
    k, n_units = measure.n_classes, compiled.n_units
    at = np.empty(n_units, dtype=np.int64)
    at[compiled.unit] = labels
    links = sparse.csr_array((units.link_weight, units.link, units.link_start), shape=(n_units, n_units))
    near = links @ np.eye(k)[at]
    gap, counts = np.zeros((k, units.weight.size)), np.zeros_like(compiled.least_count)
    np.add.at(gap, at, units.held - np.outer(units.size, units.share))
    np.add.at(counts, at, compiled.counts.toarray())
    row = np.repeat(np.arange(units.asking.size), np.diff(units.friend_start))
    together = at[units.asking[row]] == at[units.friend]
    kept = np.bincount(row[together], minlength=units.asking.size).astype(np.int64)
    missing = np.maximum(units.asked - kept, 0)
    lacking, short = missing[: units.n_must].sum(), (missing[units.n_must :] ** 2).sum()
    value, uneven = measure.parts(labels)
    best = value - measure.price * uneven
    members, place = np.zeros((k, n_units), dtype=np.int64), np.zeros(n_units, dtype=np.int64)
    for where in range(k):
        found = units.rules.free[at[units.rules.free] == where]
        members[where, : found.size], place[found] = found, np.arange(found.size)
    return UnitPlaces(
        at=at,
        members=members,
        place=place,
        n_members=np.bincount(at[units.rules.free], minlength=k).astype(np.int64),
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
