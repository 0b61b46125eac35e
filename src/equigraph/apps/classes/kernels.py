"""Compiled steps of the annealing of a division: moves of units of people, and exchanges of two."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.compilation import compiled

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
# Shares of steps that move a unit alone, and that exchange units which are linked with each other: friends who hold on
# to each other find no way one by one.
_MOVES, _GROUPS = 0.2, 0.2
MOST_UNITS = 8  # units on each side of an exchange
# Places of `UnitPlaces.tally`.
VALUE, LACKING, TOP, FEWEST = range(4)


class Units(NamedTuple):
    """People who move together, and what is known of them.

    Rows of lists, such as the friends of a person, lie one after another; ``..._start`` tells where each begins.
    """

    size: Integers
    free: Integers  # the units that may move
    is_free: NDArray[np.bool_]
    link_start: Integers
    link: Integers  # units linked by wishes
    link_weight: Floats
    change: Floats  # by unit and group: what the unit adds to the distance of a class from exact shares
    weight: Floats  # of each group
    size_weight: float
    foe_start: Integers
    foe: Integers  # units to be apart from
    least: Integers  # sizes of each class
    most: Integers
    asking: Integers  # the unit of each person who has to have friends, or is to have them
    friend_start: Integers
    friend: Integers  # the units of their friends
    must: Integers  # how many friends each has to have, and is to have
    want: Integers
    most_bonus: float  # bound of what friends who do not have to be there bring in one change
    watch_start: Integers
    watch: Integers  # by unit: the people whose friends have to be counted again when it moves
    bound_held: Integers  # by unit and bounded group: number of people
    bound_least: Integers  # by class and bounded group
    bound_most: Integers
    bound_low: Integers  # shares as fractions, by bounded group
    bound_high: Integers
    bound_alone: Integers  # least number, if any


class UnitPlaces(NamedTuple):
    """Where units are, with everything that follows from it."""

    at: Integers
    sizes: Integers  # of classes
    near: Floats  # by unit and class: weight of its links
    gap: Floats  # by class and group: distance from the exact share
    kept: Integers  # how many friends each asking person has in class
    counts: Integers  # by class and bounded group
    best: Integers  # `at` of the best division so far
    tally: Floats  # value and number of lacking friends, now and of the best division
    stamp: Integers  # of each asking person the last change that counted it; at the end the number of changes
    random: NDArray[np.uint64]
    group: Integers  # units of the two sides of an exchange


@compiled(inner=True)
def _uniform(random: Any) -> Any:
    """Return a random number in [0, 1), by splitmix64."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    word = random[0]
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    word ^= word >> np.uint64(31)
    return (word >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@compiled(inner=True)
def _gain(units: Any, placed: Any, one: Any, other: Any, b: Any, pays: Any) -> Any:
    """Return what a change adds to wishes and takes from distances; without another unit it is a move."""
    a = placed.at[one]
    gain = placed.near[one, b] - placed.near[one, a]
    shift = units.size[one]
    if other >= 0:
        gain += placed.near[other, a] - placed.near[other, b]
        shift -= units.size[other]
        for place in range(units.link_start[one], units.link_start[one + 1]):
            if units.link[place] == other:
                gain -= 2 * units.link_weight[place]
    gain -= units.size_weight * 2 * shift * (placed.sizes[b] - placed.sizes[a] + shift)
    for group in range(units.weight.size):
        change = units.change[one, group]
        if other >= 0:
            change -= units.change[other, group]
        gain -= (
            pays * units.weight[group] * 2 * change * (placed.gap[b, group] - placed.gap[a, group] + change)
        )
    return gain


@compiled(inner=True)
def _meets(units: Any, placed: Any, unit: Any, b: Any, leaving: Any) -> Any:
    """Return whether a unit would meet one to be apart from, but for one that leaves."""
    for place in range(units.foe_start[unit], units.foe_start[unit + 1]):
        foe = units.foe[place]
        if foe != leaving and placed.at[foe] == b:
            return True
    return False


@compiled(inner=True)
def _counts_fit(units: Any, placed: Any, where: Any, size: Any, one: Any, other: Any, sign: Any) -> Any:
    """Return whether a class may have a size, and its counts after units came (sign 1) or left (-1)."""
    if size < max(units.least[where], 1) or size > units.most[where]:
        return False
    for group in range(units.bound_alone.size):
        number = placed.counts[where, group]
        if one >= 0:
            number += sign * units.bound_held[one, group]
        if other >= 0:
            number -= sign * units.bound_held[other, group]
        low = units.bound_low[group, 0] * size // units.bound_low[group, 1]
        high = -(-units.bound_high[group, 0] * size // units.bound_high[group, 1])
        if number < max(low, units.bound_least[where, group]) or number > min(
            high, units.bound_most[where, group]
        ):
            return False
        if 0 < number < units.bound_alone[group]:
            return False
    return True


@compiled(inner=True)
def _allowed(units: Any, placed: Any, one: Any, other: Any, b: Any) -> Any:
    """Return whether sizes, counts and people to be apart allow a change."""
    a = placed.at[one]
    if _meets(units, placed, one, b, other) or (other >= 0 and _meets(units, placed, other, a, one)):
        return False
    shift = units.size[one] - (units.size[other] if other >= 0 else 0)
    if not _counts_fit(units, placed, a, placed.sizes[a] - shift, one, other, -1):
        return False
    return _counts_fit(units, placed, b, placed.sizes[b] + shift, one, other, 1)


@compiled(inner=True)
def _recount(units: Any, placed: Any, one: Any, other: Any, apply: Any) -> Any:
    """Return how many more friends are lacking that have to be there, and what the others cost, as units are now."""
    lacking, cost = 0, 0.0
    placed.stamp[-1] += 1
    for unit in (one, other):
        if unit < 0:
            continue
        for place in range(units.watch_start[unit], units.watch_start[unit + 1]):
            row = units.watch[place]
            if placed.stamp[row] == placed.stamp[-1]:
                continue
            placed.stamp[row] = placed.stamp[-1]
            here, number = placed.at[units.asking[row]], 0
            for friend in range(units.friend_start[row], units.friend_start[row + 1]):
                if placed.at[units.friend[friend]] == here:
                    number += 1
            before = placed.kept[row]
            if number != before:
                lacking += max(units.must[row] - number, 0) - max(units.must[row] - before, 0)
                cost += max(units.want[row] - number, 0) ** 2 - max(units.want[row] - before, 0) ** 2
                if apply:
                    placed.kept[row] = number
    return lacking, cost


@compiled(inner=True)
def _move(units: Any, placed: Any, unit: Any, a: Any, b: Any) -> None:
    """Count a unit that has moved in its new class."""
    for place in range(units.link_start[unit], units.link_start[unit + 1]):
        placed.near[units.link[place], a] -= units.link_weight[place]
        placed.near[units.link[place], b] += units.link_weight[place]
    placed.sizes[a] -= units.size[unit]
    placed.sizes[b] += units.size[unit]
    for group in range(units.weight.size):
        placed.gap[a, group] -= units.change[unit, group]
        placed.gap[b, group] += units.change[unit, group]
    for group in range(units.bound_alone.size):
        placed.counts[a, group] -= units.bound_held[unit, group]
        placed.counts[b, group] += units.bound_held[unit, group]


@compiled(inner=True)
def _try(units: Any, placed: Any, one: Any, other: Any, b: Any, costs: Any) -> None:
    """Make a change if the rule of Metropolis and all that has to be kept allow it."""
    temperature, pays, pays_friend = costs
    a = placed.at[one]
    gain = _gain(units, placed, one, other, b, pays)
    least = temperature * math.log(1.0 - _uniform(placed.random))
    # Friends bring at most what is lacking.
    if gain + pays_friend * placed.tally[LACKING] + units.most_bonus < least:
        return
    if not _allowed(units, placed, one, other, b):
        return
    placed.at[one] = b
    if other >= 0:
        placed.at[other] = a
    lacking, cost = _recount(units, placed, one, other, False)
    gain -= cost
    if gain - pays_friend * lacking < least:
        placed.at[one] = a
        if other >= 0:
            placed.at[other] = b
        return
    _recount(units, placed, one, other, True)
    _move(units, placed, one, a, b)
    if other >= 0:
        _move(units, placed, other, b, a)
    placed.tally[VALUE] += gain
    placed.tally[LACKING] += lacking


@compiled(inner=True)
def _grow(units: Any, placed: Any, first: Any, most: Any, start: Any) -> Any:
    """Note units that are linked with each other in the class of the first one; return how many there are."""
    group, number = placed.group, 1
    group[start] = first
    for _ in range(3 * most):
        if number == most:
            break
        one = group[start + int(_uniform(placed.random) * number)]
        n_links = units.link_start[one + 1] - units.link_start[one]
        if n_links == 0:
            continue
        next_one = units.link[units.link_start[one] + int(_uniform(placed.random) * n_links)]
        known = not units.is_free[next_one] or placed.at[next_one] != placed.at[first]
        for place in range(start, start + number):
            known = known or group[place] == next_one
        if not known:
            group[start + number] = next_one
            number += 1
    return number


@compiled(inner=True)
def _exchange(units: Any, placed: Any, one: Any, other: Any, pays: Any) -> Any:
    """Exchange two units, whatever rules say; return the gain, without friends that have to be there."""
    a, b = placed.at[one], placed.at[other]
    gain = _gain(units, placed, one, other, b, pays)
    placed.at[one], placed.at[other] = b, a
    lacking, cost = _recount(units, placed, one, other, True)
    _move(units, placed, one, a, b)
    _move(units, placed, other, b, a)
    placed.tally[VALUE] += gain - cost
    placed.tally[LACKING] += lacking
    return gain - cost


@compiled(inner=True)
def _try_groups(units: Any, placed: Any, one: Any, other: Any, costs: Any) -> None:
    """Exchange linked units of two classes, and take it back unless the rule of Metropolis and all rules allow it."""
    temperature, pays, pays_friend = costs
    a, b = placed.at[one], placed.at[other]
    value, lacking = placed.tally[VALUE], placed.tally[LACKING]
    most = 2 + int(_uniform(placed.random) * (MOST_UNITS - 1))
    number = _grow(units, placed, one, most, 0)
    number = min(number, _grow(units, placed, other, most, MOST_UNITS))
    gain = 0.0
    for place in range(number):
        gain += _exchange(units, placed, placed.group[place], placed.group[MOST_UNITS + place], pays)
    gain -= pays_friend * (placed.tally[LACKING] - lacking)
    kept = gain >= temperature * math.log(1.0 - _uniform(placed.random))
    kept = kept and _counts_fit(units, placed, a, placed.sizes[a], -1, -1, 0)
    kept = kept and _counts_fit(units, placed, b, placed.sizes[b], -1, -1, 0)
    for place in range(number):
        kept = kept and not _meets(units, placed, placed.group[place], b, -1)
        kept = kept and not _meets(units, placed, placed.group[MOST_UNITS + place], a, -1)
    if not kept:
        for place in range(number):
            _exchange(units, placed, placed.group[place], placed.group[MOST_UNITS + place], pays)
        placed.tally[VALUE], placed.tally[LACKING] = value, lacking


@compiled
def anneal_steps(units: Any, placed: Any, n_steps: Any, costs: Any, note_best: Any) -> None:
    """Try moves and exchanges at one temperature, and note the best division where that is asked for."""
    tally, n_free = placed.tally, units.free.size
    for _ in range(n_steps):
        one = units.free[int(_uniform(placed.random) * n_free)]
        other = -1
        kind = _uniform(placed.random)
        if kind < _MOVES:
            b = int(_uniform(placed.random) * placed.sizes.size)
        else:
            other = units.free[int(_uniform(placed.random) * n_free)]
            b = placed.at[other]
        if b == placed.at[one]:
            continue
        if kind > 1.0 - _GROUPS:
            _try_groups(units, placed, one, other, costs)
        else:
            _try(units, placed, one, other, b, costs)
        better = tally[LACKING] < tally[FEWEST] or tally[VALUE] > tally[TOP] + 1e-9
        if note_best and tally[LACKING] <= tally[FEWEST] and better:
            tally[FEWEST], tally[TOP] = tally[LACKING], tally[VALUE]
            placed.best[:] = placed.at
