"""Compiled steps of the annealing of a division: chains of units of people that change places between two classes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.compilation import compiled
from equigraph.search.arrays import Constraints
from equigraph.search.kernels.anneal import draw, uniform
from equigraph.search.kernels.rules import cost_of, count_site

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
# Shares of steps that go to a class with a friend, and that go on to several units: friends who hold on to each other
# find no way one by one.
_LINKED, _CHAINS = 0.9, 0.4
MOST_UNITS = 8  # units on each side of a chain
_TRIES = 3  # how often a friend of those who moved is looked for
_MOST_EXPONENT = 8.0  # what is less likely by more than its exponential is not drawn
# Places of `UnitPlaces.tally`.
VALUE, UNEVEN, LACKING, SHORT, TOP, FEWEST = range(6)


class Units(NamedTuple):
    """People who move together, and what is known of them.

    Rows of lists, such as the friends of a person, lie one after another; ``..._start`` tells where each begins.
    """

    size: Integers
    link_start: Integers
    # Units linked by wishes, or by a weight that nothing outweighs where they have to be apart.
    link: Integers
    link_weight: Floats
    held: Floats  # by unit and group: number of people
    groups: Integers  # of each person who is a unit, and then a number that is no group
    share: Floats  # of each group among all people
    weight: Floats  # of each group
    size_price: float  # of a squared distance of a class from its exact size
    price: float  # of unevenness
    least: Integers  # sizes of each class
    most: Integers
    asking: Integers  # the unit of each person who has to have friends, or is to have them
    friend_start: Integers
    friend: Integers  # the units of their friends
    asked: Integers  # how many friends each has to have, or is to have
    n_must: int  # how many of them, the first, have to have friends
    watch_start: Integers
    watch: Integers  # by unit: the people whose friends have to be counted again when it moves
    rules: Constraints  # the units that may move, and the bounds on counts of groups


class UnitPlaces(NamedTuple):
    """Where units are, with everything that follows from it."""

    at: Integers
    members: Integers  # by class: the free units in it, in any order
    place: Integers  # of each free unit among those of its class
    n_members: Integers  # of each class
    sizes: Integers  # of classes
    near: Floats  # by unit and class: weight of its links
    gap: Floats  # by class and group: distance from the exact share
    kept: Integers  # how many friends each asking person has in class
    counts: Integers  # by class and bounded group
    best: Integers  # `at` of the best division so far
    tally: Floats  # value without unevenness, unevenness, friends that have to be and are lacking, what others cost
    random: NDArray[np.uint64]
    uneven: Floats  # of each class
    chain: Integers  # units that have moved in this step
    moved: NDArray[np.bool_]  # the same by unit, and those that must not move
    # By group: how much more uneven it is where one of it moves, and not one of no group; then 0.
    worse: Floats


@compiled(inner=True)
def _linked(units: Any, placed: Any, unit: Any) -> Any:
    """Return a unit that is linked with another one, itself where there is none."""
    start, end = units.link_start[unit], units.link_start[unit + 1]
    return units.link[start + draw(placed.random, end - start)] if start < end else unit


@compiled(inner=True)
def _beyond(gap: Any) -> Any:
    """Return how uneven a distance from an exact share is: nothing for the nearest whole number."""
    return max(abs(gap) - 0.5, 0.0) ** 2


@compiled(inner=True)
def _uneven(units: Any, placed: Any, where: Any) -> Any:
    """Return how uneven a class is."""
    total = 0.0
    for group in range(units.weight.size):
        total += units.weight[group] * _beyond(placed.gap[where, group])
    return total


@compiled(inner=True)
def _move(units: Any, placed: Any, unit: Any, b: Any) -> None:
    """Put a unit into another class, and count what changes there, but for friends that people lack."""
    a, size, near, sizes = placed.at[unit], units.size[unit], placed.near, placed.sizes
    unequal = 2 * size * (sizes[b] - sizes[a] + size)
    placed.tally[VALUE] += near[unit, b] - near[unit, a] - units.size_price * unequal
    placed.at[unit] = b
    placed.n_members[a] -= 1
    last, place = placed.members[a, placed.n_members[a]], placed.place[unit]
    placed.members[a, place], placed.place[last] = last, place
    placed.members[b, placed.n_members[b]], placed.place[unit] = unit, placed.n_members[b]
    placed.n_members[b] += 1
    for at in range(units.link_start[unit], units.link_start[unit + 1]):
        near[units.link[at], a] -= units.link_weight[at]
        near[units.link[at], b] += units.link_weight[at]
    for sign, where in ((-1, a), (1, b)):
        sizes[where] += sign * size
        for group in range(units.weight.size):
            placed.gap[where, group] += sign * (units.held[unit, group] - size * units.share[group])
        count_site(units.rules, unit, placed.counts[where], sign)


@compiled(inner=True)
def _count_friends(units: Any, placed: Any, unit: Any) -> None:
    """Count again the friends of all who may have more or fewer after a unit has moved."""
    for at in range(units.watch_start[unit], units.watch_start[unit + 1]):
        row = units.watch[at]
        where, number = placed.at[units.asking[row]], 0
        for friend in range(units.friend_start[row], units.friend_start[row + 1]):
            if placed.at[units.friend[friend]] == where:
                number += 1
        after, before = max(units.asked[row] - number, 0), max(units.asked[row] - placed.kept[row], 0)
        placed.kept[row] = number
        if row < units.n_must:
            placed.tally[LACKING] += after - before
        else:
            placed.tally[SHORT] += after**2 - before**2


@compiled(inner=True)
def _fits(units: Any, placed: Any, where: Any) -> Any:
    """Return whether a class may have its size and its counts."""
    size = placed.sizes[where]
    fits = units.least[where] <= size <= units.most[where]
    return fits and cost_of(units.rules, where, size, placed.counts[where]) == 0


@compiled(inner=True)
def _draw_mover(units: Any, placed: Any, a: Any, b: Any, costs: Any) -> Any:
    """Draw a single person of class a who moves to b, the likelier the more that gains.

    Also return what it adds to the value, and how uneven both classes are then.
    """
    temperature, _, price = costs
    near, gap, worse, uneven = placed.near, placed.gap, placed.worse, 0.0
    for group in range(units.weight.size):
        share, weight = units.share[group], units.weight[group]
        other = weight * (_beyond(gap[a, group] + share) + _beyond(gap[b, group] - share))
        one = weight * (_beyond(gap[a, group] + share - 1.0) + _beyond(gap[b, group] - share + 1.0))
        worse[group] = one - other
        uneven += other
    chosen, gained, added, top, total = -1, 0.0, 0.0, -np.inf, 0.0
    for place in range(placed.n_members[a]):
        unit = placed.members[a, place]
        if units.size[unit] > 1 or placed.moved[unit]:
            continue
        more = 0.0
        for at in range(units.groups.shape[1]):
            more += worse[units.groups[unit, at]]
        gain = near[unit, b] - near[unit, a] - price * more
        if gain < top - _MOST_EXPONENT * temperature:
            continue
        if gain > top:
            total *= math.exp(max(top - gain, -50.0 * temperature) / temperature)
            top = gain
        chance = math.exp((gain - top) / temperature)
        total += chance
        if uniform(placed.random) * total < chance:
            chosen, gained, added = unit, gain, more
    unequal = 2 * (placed.sizes[b] - placed.sizes[a] + 1)
    return chosen, gained + price * added - units.size_price * unequal, uneven + added


@compiled(inner=True)
def _follower(units: Any, placed: Any, length: Any, a: Any, b: Any) -> Any:
    """Return a unit of class a that is linked with one that has moved to b; -1 where none is found soon."""
    for _ in range(_TRIES):
        moved = placed.chain[draw(placed.random, length)]
        unit = _linked(units, placed, moved)
        if not placed.moved[unit] and placed.at[moved] == b and placed.at[unit] == a:
            return unit
    return np.int64(-1)


@compiled(inner=True)
def _step(units: Any, placed: Any, costs: Any) -> None:
    """Let a unit move to another class, somebody there move back, friends follow, and so on, until that is accepted."""
    random, at, chain, tally = placed.random, placed.at, placed.chain, placed.tally
    temperature, pays_friend, pays_even = costs
    mover = units.rules.free[draw(random, units.rules.free.size)]
    a, b = at[mover], at[_linked(units, placed, mover)]
    if uniform(random) >= _LINKED:
        b = draw(random, placed.sizes.size)
    if a == b:
        return
    value, uneven = tally[VALUE], tally[UNEVEN]
    elsewhere = uneven - placed.uneven[a] - placed.uneven[b]
    limit = value - tally[SHORT] - pays_friend * tally[LACKING] - pays_even * uneven
    limit += temperature * math.log(1.0 - uniform(random))
    longest = 2 if units.size[mover] == 1 and uniform(random) >= _CHAINS else 2 + 2 * draw(random, MOST_UNITS)
    balance, length, counted, accepted = 0, 0, False, False
    while True:
        here = at[mover]
        balance += units.size[mover] if here == a else -units.size[mover]
        chain[length] = mover
        placed.moved[mover] = True
        length += 1
        _move(units, placed, mover, b if here == a else a)
        if _fits(units, placed, a) and _fits(units, placed, b):
            in_a, in_b = _uneven(units, placed, a), _uneven(units, placed, b)
            worth = tally[VALUE] - pays_even * (elsewhere + in_a + in_b)
            if worth >= limit:  # as if nobody lacked a friend
                counted = True
                for earlier in range(length):
                    _count_friends(units, placed, chain[earlier])
                if worth - tally[SHORT] - pays_friend * tally[LACKING] >= limit:
                    placed.uneven[a], placed.uneven[b] = in_a, in_b
                    tally[UNEVEN] = elsewhere + in_a + in_b
                    accepted = True
                    break
        if length >= longest:
            break
        mover = _follower(units, placed, length, a, b) if balance <= 0 else np.int64(-1)
        if mover < 0:
            here, there = (b, a) if balance > 0 else (a, b)
            mover, gain, both = _draw_mover(units, placed, here, there, costs)
            hopeless = tally[VALUE] + gain - pays_even * (elsewhere + both) < limit
            if mover < 0 or (length + 1 >= longest and hopeless):
                break
    for last in range(length - 1, -1, -1):
        placed.moved[chain[last]] = False
        if not accepted:
            _move(units, placed, chain[last], b if at[chain[last]] == a else a)
    if not accepted:
        tally[VALUE] = value
        for earlier in range(length if counted else 0):
            _count_friends(units, placed, chain[earlier])


@compiled
def anneal_steps(units: Any, placed: Any, n_steps: Any, costs: Any) -> None:
    """Try chains at one temperature, one price of a lacking friend and one of unevenness; note the best division."""
    tally = placed.tally
    for _ in range(n_steps):
        _step(units, placed, costs)
        value = tally[VALUE] - tally[SHORT] - units.price * tally[UNEVEN]
        better = tally[LACKING] < tally[FEWEST] or value > tally[TOP] + 1e-9
        if tally[LACKING] <= tally[FEWEST] and better:
            tally[FEWEST], tally[TOP] = tally[LACKING], value
            placed.best[:] = placed.at
