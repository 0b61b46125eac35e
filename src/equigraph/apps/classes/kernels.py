"""Compiled steps of the annealing of a division: units of people move, or change places with others."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.compilation import compiled
from equigraph.search.kernels.anneal import draw, uniform

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
# Shares of steps that go to a class with a friend, that look there for units of the same groups only, and that take
# several units which are linked with each other: friends who hold on to each other find no way one by one. Of those,
# some move without anybody in exchange.
_LINKED, _ALIKE, _GROUPS, _MOVES = 0.9, 0.5, 0.4, 0.15
MOST_UNITS = 8  # units on each side of an exchange
_TRIES = 30  # how often a unit of a class is looked for
_MOST_EXPONENT = 50.0
# Places of `UnitPlaces.tally`.
VALUE, UNEVEN, LACKING, TOP, FEWEST = range(5)


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
    kind: Integers  # the same for units of one size and the same groups
    kind_start: Integers  # where the units of each kind begin in `free`
    held: Floats  # by unit and group: number of people
    share: Floats  # of each group among all people
    weight: Floats  # of each group
    size_price: float  # of a squared distance of a class from its exact size
    price: float  # of unevenness
    foe_start: Integers
    foe: Integers  # units to be apart from
    least: Integers  # sizes of each class
    most: Integers
    asking: Integers  # the unit of each person who has to have friends, or is to have them
    friend_start: Integers
    friend: Integers  # the units of their friends
    asked: Integers  # how many friends each has to have, or is to have
    n_must: int  # how many of them, the first, have to have friends
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
    tally: Floats  # value without unevenness, unevenness and number of lacking friends, and the best of each
    stamp: Integers  # of each asking person the last change that counted it; at the end the number of changes
    random: NDArray[np.uint64]
    group: Integers  # units of the two sides of an exchange
    side: Integers  # of each unit in the exchange 1 or 2, of the others 0
    tie: Floats  # by unit: weight of its link with the one that moves
    worse: (
        Floats  # by group: how much more uneven it is with one more in the second class, and with one fewer
    )
    change: Floats  # by group: what the exchange adds to the distance of the second class
    bound_change: Integers  # by bounded group: what it adds to the number of people


@compiled(inner=True)
def _linked(units: Any, placed: Any, unit: Any) -> Any:
    """Return a unit that is linked with another one, itself where there is none."""
    start, end = units.link_start[unit], units.link_start[unit + 1]
    return units.link[start + draw(placed.random, end - start)] if start < end else unit


@compiled(inner=True)
def _grow(units: Any, placed: Any, first: Any, side: Any, most_units: Any, most_people: Any) -> Any:
    """Choose units that are linked with each other in the class of the first one; return how many units and people."""
    start = (side - 1) * MOST_UNITS
    group, number, people = placed.group, 1, units.size[first]
    group[start] = first
    placed.side[first] = side
    for _ in range(3 * most_units):
        if number == most_units or people >= most_people:
            break
        next_one = _linked(units, placed, group[start + draw(placed.random, number)])
        if units.is_free[next_one] and placed.at[next_one] == placed.at[first] and placed.side[next_one] == 0:
            group[start + number] = next_one
            placed.side[next_one] = side
            number += 1
            people += units.size[next_one]
    return number, people


@compiled(inner=True)
def _beyond(gap: Any) -> Any:
    """Return how uneven a distance from an exact share is: nothing for the nearest whole number."""
    return max(abs(gap) - 0.5, 0.0) ** 2


@compiled(inner=True)
def _worse(units: Any, placed: Any, shift: Any, a: Any, b: Any) -> Any:
    """Return how much more uneven two classes are after a change, of which `shift` is the number of people."""
    more, gap = 0.0, placed.gap
    for group in range(units.weight.size):
        by = placed.change[group] - shift * units.share[group]
        if by != 0.0:
            after = _beyond(gap[b, group] + by) + _beyond(gap[a, group] - by)
            more += units.weight[group] * (after - _beyond(gap[b, group]) - _beyond(gap[a, group]))
    return more


@compiled(inner=True)
def _change(units: Any, placed: Any, numbers: Any, a: Any, b: Any) -> Any:
    """Return what an exchange adds to the value, and how much more uneven it is."""
    gain, shift = 0.0, 0
    placed.change[:] = 0.0
    for side in (1, 2):
        sign = 3 - 2 * side
        here, there = (a, b) if side == 1 else (b, a)
        for place in range(numbers[side - 1]):
            unit = placed.group[(side - 1) * MOST_UNITS + place]
            gain += placed.near[unit, there] - placed.near[unit, here]
            for at in range(units.link_start[unit], units.link_start[unit + 1]):
                other_side = placed.side[units.link[at]]
                if other_side > 0:
                    gain += units.link_weight[at] if other_side == side else -units.link_weight[at]
            shift += sign * units.size[unit]
            for group in range(units.weight.size):
                placed.change[group] += sign * units.held[unit, group]
    gain -= units.size_price * 2 * shift * (placed.sizes[b] - placed.sizes[a] + shift)
    return gain, _worse(units, placed, shift, a, b)


@compiled(inner=True)
def _counts_fit(units: Any, placed: Any, where: Any, shift: Any, sign: Any) -> Any:
    """Return whether a class may have the size and the counts that an exchange gives it."""
    size = placed.sizes[where] + sign * shift
    if size < max(units.least[where], 1) or size > units.most[where]:
        return False
    for group in range(units.bound_alone.size):
        number = placed.counts[where, group] + sign * placed.bound_change[group]
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
def _allowed(units: Any, placed: Any, numbers: Any, a: Any, b: Any) -> Any:
    """Return whether sizes, counts and people to be apart allow an exchange."""
    shift = 0
    placed.bound_change[:] = 0
    for side in (1, 2):
        sign, there = (1, b) if side == 1 else (-1, a)
        for place in range(numbers[side - 1]):
            unit = placed.group[(side - 1) * MOST_UNITS + place]
            for at in range(units.foe_start[unit], units.foe_start[unit + 1]):
                foe = units.foe[at]
                if placed.at[foe] == there and placed.side[foe] == 0:
                    return False
            shift += sign * units.size[unit]
            for group in range(units.bound_alone.size):
                placed.bound_change[group] += sign * units.bound_held[unit, group]
    return _counts_fit(units, placed, a, shift, -1) and _counts_fit(units, placed, b, shift, 1)


@compiled(inner=True)
def _move(units: Any, placed: Any, unit: Any, a: Any, b: Any) -> None:
    """Put a unit of one class into another one."""
    placed.at[unit] = b
    for place in range(units.link_start[unit], units.link_start[unit + 1]):
        placed.near[units.link[place], a] -= units.link_weight[place]
        placed.near[units.link[place], b] += units.link_weight[place]
    placed.sizes[a] -= units.size[unit]
    placed.sizes[b] += units.size[unit]
    for group in range(units.weight.size):
        by = units.held[unit, group] - units.size[unit] * units.share[group]
        placed.gap[a, group] -= by
        placed.gap[b, group] += by
    for group in range(units.bound_alone.size):
        placed.counts[a, group] -= units.bound_held[unit, group]
        placed.counts[b, group] += units.bound_held[unit, group]


@compiled(inner=True)
def _carry_out(units: Any, placed: Any, numbers: Any, a: Any, b: Any) -> Any:
    """Make an exchange; return how many more friends are lacking that have to be there, and what the others cost."""
    lacking, cost = 0, 0.0
    for side in (1, 2):
        here, there = (a, b) if side == 1 else (b, a)
        for place in range(numbers[side - 1]):
            _move(units, placed, placed.group[(side - 1) * MOST_UNITS + place], here, there)
    placed.stamp[-1] += 1
    for side in (1, 2):
        for place in range(numbers[side - 1]):
            unit = placed.group[(side - 1) * MOST_UNITS + place]
            for at in range(units.watch_start[unit], units.watch_start[unit + 1]):
                row = units.watch[at]
                if placed.stamp[row] == placed.stamp[-1]:
                    continue
                placed.stamp[row] = placed.stamp[-1]
                class_of_row, number = placed.at[units.asking[row]], 0
                for friend in range(units.friend_start[row], units.friend_start[row + 1]):
                    if placed.at[units.friend[friend]] == class_of_row:
                        number += 1
                after, before = max(units.asked[row] - number, 0), max(units.asked[row] - placed.kept[row], 0)
                placed.kept[row] = number
                if row < units.n_must:
                    lacking += after - before
                else:
                    cost += after**2 - before**2
    return lacking, cost


@compiled(inner=True)
def _partner(units: Any, placed: Any, one: Any, b: Any, among: Any, costs: Any) -> Any:
    """Draw a person of a class to change places with another one: the more that gains, the likelier; -1 for nobody."""
    temperature, _, price = costs
    at, near, a, gap = placed.at, placed.near, placed.at[one], placed.gap
    start, stop = units.link_start[one], units.link_start[one + 1]
    for place in range(start, stop):
        placed.tie[units.link[place]] = units.link_weight[place]
    for group in range(units.weight.size):
        before = _beyond(gap[a, group]) + _beyond(gap[b, group])
        for way in (0, 1):
            by = 1.0 - 2.0 * way
            after = _beyond(gap[a, group] - by) + _beyond(gap[b, group] + by)
            placed.worse[way, group] = price * units.weight[group] * (after - before)
    own, total, chosen = near[one, b] - near[one, a], 1.0, -1
    for place in range(among[0], among[1]):
        other = units.free[place]
        if at[other] != b or units.size[other] > 1:
            continue
        gain = own + near[other, a] - near[other, b] - 2.0 * placed.tie[other]
        if units.kind[other] != units.kind[one]:
            for group in range(units.weight.size):
                more = units.held[one, group] - units.held[other, group]
                if more != 0.0:
                    gain -= placed.worse[0 if more > 0.0 else 1, group]
        chance = math.exp(min(gain / temperature, _MOST_EXPONENT))
        total += chance
        if uniform(placed.random) * total < chance:
            chosen = other
    for place in range(start, stop):
        placed.tie[units.link[place]] = 0.0
    return chosen


@compiled(inner=True)
def _step(units: Any, placed: Any, costs: Any) -> None:
    """Choose units that move, and perhaps others that come in exchange, and try it."""
    n_free, random, at = units.free.size, placed.random, placed.at
    one = units.free[draw(random, n_free)]
    a, b = at[one], at[_linked(units, placed, one)]
    if uniform(random) >= _LINKED:
        b = draw(random, placed.sizes.size)
    if a == b:
        return
    grouped, limit = (
        units.size[one] > 1 or uniform(random) < _GROUPS,
        costs[0] * math.log(1.0 - uniform(random)),
    )
    n_one, n_other = 1, 0
    first, end = units.kind_start[units.kind[one]], units.kind_start[units.kind[one] + 1]
    if end - first == 1 or uniform(random) >= _ALIKE:
        first, end = 0, n_free
    if grouped:
        other = one
        for _ in range(_TRIES):
            other = units.free[first + draw(random, end - first)]
            if at[other] == b:
                break
        if at[other] != b:
            return
        n_one, people = _grow(units, placed, one, 1, 1 + draw(random, MOST_UNITS), placed.sizes[a])
        if uniform(random) >= _MOVES:
            n_other, others = _grow(units, placed, other, 2, MOST_UNITS, people)
            while people > others and n_one > 1:
                n_one -= 1
                people -= units.size[placed.group[n_one]]
                placed.side[placed.group[n_one]] = 0
    else:
        other = _partner(units, placed, one, b, (first, end), costs)
        if other < 0:
            return
        n_other = 1
        placed.group[0], placed.group[MOST_UNITS] = one, other
        placed.side[one], placed.side[other] = 1, 2
    numbers = (n_one, n_other)
    change = _change(units, placed, numbers, a, b)
    # Partners are drawn by what they gain.
    gain = change[0] - costs[2] * change[1] if grouped else 0.0
    # Friends bring at most what is lacking.
    possible = units.n_must < units.asking.size or gain + costs[1] * placed.tally[LACKING] >= limit
    if possible and _allowed(units, placed, numbers, a, b):
        lacking, cost = _carry_out(units, placed, numbers, a, b)
        if gain - cost - costs[1] * lacking >= limit:
            placed.tally[VALUE] += change[0] - cost
            placed.tally[UNEVEN] += change[1]
            placed.tally[LACKING] += lacking
        else:
            _carry_out(units, placed, numbers, b, a)
    for place in range(n_one):
        placed.side[placed.group[place]] = 0
    for place in range(n_other):
        placed.side[placed.group[MOST_UNITS + place]] = 0


@compiled
def anneal_steps(units: Any, placed: Any, n_steps: Any, costs: Any) -> None:
    """Try exchanges at one temperature, one price of a lacking friend and one of unevenness; note the best division."""
    tally = placed.tally
    for _ in range(n_steps):
        _step(units, placed, costs)
        value = tally[VALUE] - units.price * tally[UNEVEN]
        better = tally[LACKING] < tally[FEWEST] or value > tally[TOP] + 1e-9
        if tally[LACKING] <= tally[FEWEST] and better:
            tally[FEWEST], tally[TOP] = tally[LACKING], value
            placed.best[:] = placed.at
