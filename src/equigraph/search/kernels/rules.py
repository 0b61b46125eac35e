"""Violations of rules in compiled code, and their change by a move.

The violation of a rule is a count: pairs that share a cluster and must not, nodes of a group too many or too few in a
cluster, missing friends, nodes moved beyond the limit. Violations of size bounds are counted with the state.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from equigraph._utils.compilation import compiled
from equigraph.search.arrays import AWAY, BROKEN, LACKING, MOVED


@compiled(inner=True)
def cost_of(rules: Any, c: int, size: int, row: Any) -> int:
    """Return the violation of the bounds on counts by a cluster of a size."""
    cost = 0
    for v in range(row.size):
        number, floor, ceiling = row[v], rules.least[c, v], rules.most[c, v]
        if rules.low[v, 0] > 0:
            floor = max(floor, rules.low[v, 0] * size // rules.low[v, 1])
        if rules.high[v, 0] < rules.high[v, 1]:
            ceiling = min(ceiling, -(-rules.high[v, 0] * size // rules.high[v, 1]))
        cost += max(floor - number, 0) + max(number - ceiling, 0)
        if 0 < number < rules.alone[v]:
            cost += min(number, rules.alone[v] - number)
        # Never so, but loops that may end early are not compiled into vectors, which takes a second.
        if number < 0:
            break
    return cost


@compiled(inner=True)
def count_site(rules: Any, site: int, row: Any, sign: int) -> None:
    """Add a site (-1: none) to the counts of a cluster, or subtract it with sign -1."""
    if site >= 0:
        for e in range(rules.column_starts[site], rules.column_starts[site + 1]):
            row[rules.columns[e]] += sign * rules.numbers[e]


@compiled(inner=True)
def foes_change(rules: Any, labels: Any, site: int, a: int, b: int, besides: int) -> int:
    """Return the change of apart violations when a site moves from a to b, without one other site (-1: none)."""
    more = 0
    for e in range(rules.foe_starts[site], rules.foe_starts[site + 1]):
        if rules.foes[e] != besides:
            more += (labels[rules.foes[e]] == b) - (labels[rules.foes[e]] == a)
    return more


@compiled(inner=True)
def shift_links(rules: Any, labels: Any, site: int, a: int, b: int) -> int:
    """Update the friends kept when a site moves from cluster a to b; return the change of the missing ones.

    The label of the site itself is not read, so the opposite call restores the state.
    """
    change, n = 0, rules.site.size
    needed, kept = rules.needed, rules.kept
    for place in range(rules.first[site], rules.first[site + 1]):
        node = rules.nodes[place]
        for row in range(node, needed.size, n):
            before = max(needed[row] - kept[row], 0)
            for e in range(rules.link_starts[row], rules.link_starts[row + 1]):
                other = rules.site[rules.links[e]]
                if other != site:
                    kept[row] += (labels[other] == b) - (labels[other] == a)
            change += max(needed[row] - kept[row], 0) - before
        for e in range(rules.asker_starts[node], rules.asker_starts[node + 1]):
            row = rules.askers[e]
            other = rules.site[row % n]
            if other == site:
                continue
            before = max(needed[row] - kept[row], 0)
            kept[row] += (labels[other] == b) - (labels[other] == a)
            change += max(needed[row] - kept[row], 0) - before
    return change


@compiled(inner=True)
def moved_change(rules: Any, site: int, a: int, b: int) -> int:
    """Return how many more nodes of a site (-1: none) are outside their home cluster in b than in a."""
    more = 0
    if rules.home.size > 0 and site >= 0:
        for place in range(rules.first[site], rules.first[site + 1]):
            home = rules.home[rules.nodes[place]]
            more += (home == a) - (home == b)
    return more


@compiled(inner=True)
def rules_change(rules: Any, sizes: Any, state: Any, i: int, b: int, j: int) -> int:
    """Return the change of the violation when site i moves to cluster b and j (-1: none) to that of i."""
    labels, a = state.labels, np.int64(state.labels[i])
    by = sizes[i] - (sizes[j] if j >= 0 else 0)
    change, away = np.int64(0), np.int64(0)
    # Every call is a copy of what is called, so both sites, and what is undone, take turns.
    for turn in range(2):
        c, d, out, into = (a, b, i, j) if turn == 0 else (b, a, j, i)
        if out >= 0:
            change += foes_change(rules, labels, out, c, d, into)
            away += moved_change(rules, out, c, d)
        row = rules.counts[c]
        for undo in range(2 if rules.least.shape[1] > 0 else 0):
            sign = np.int64(2 * undo - 1)
            count_site(rules, out, row, sign)
            count_site(rules, into, row, -sign)
            if undo == 0:
                change += cost_of(rules, c, state.size[c] + (by if turn else -by), row) - rules.costs[c]
    moved = rules.sums[MOVED]
    rules.sums[AWAY] = away
    change += max(moved + away - rules.allowed, 0) - max(moved - rules.allowed, 0)
    for turn in range(4 if rules.needed.size > 0 else 0):
        # i goes, j goes, j comes back, i comes back.
        undo, second = turn >= 2, turn == 1 or turn == 2
        if second and j < 0:
            continue
        labels[i] = b if second else a
        source, target = (b, a) if undo != second else (a, b)
        lacking = shift_links(rules, labels, j if second else i, source, target)
        change += 0 if undo else lacking
    labels[i] = a
    return change


@compiled(inner=True)
def follow_rules(rules: Any, sizes: Any, state: Any, i: int, b: int, j: int, broken: int) -> None:
    """Update the counters before site i moves to cluster b and j (-1: none) to that of i.

    ``broken`` is the change returned by `rules_change`.
    """
    labels, a = state.labels, np.int64(state.labels[i])
    by = sizes[i] - (sizes[j] if j >= 0 else 0)
    state.tally[BROKEN] += broken
    for turn in range(2):
        c, d, out, into = (a, b, i, j) if turn == 0 else (b, a, j, i)
        if out >= 0:
            rules.sums[MOVED] += moved_change(rules, out, c, d)
            if rules.needed.size > 0:
                labels[i] = c
                rules.sums[LACKING] += shift_links(rules, labels, out, c, d)
                labels[i] = a
        if rules.least.shape[1] > 0:
            count_site(rules, out, rules.counts[c], np.int64(-1))
            count_site(rules, into, rules.counts[c], np.int64(1))
            rules.costs[c] = cost_of(rules, c, state.size[c] + (by if turn else -by), rules.counts[c])


@compiled(allocates=False)
def fill_rules(rules: Any, state: Any) -> None:
    """Compute the violations of labels; all counters are zero before, and sizes are those of the labels."""
    labels = state.labels
    broken = 0
    for i in range(labels.size):
        count_site(rules, np.int64(i), rules.counts[labels[i]], np.int64(1))
        for e in range(rules.foe_starts[i], rules.foe_starts[i + 1]):
            # Every pair is met twice.
            broken += 1 if rules.foes[e] > i and labels[rules.foes[e]] == labels[i] else 0
        for place in range(rules.first[i], rules.first[i + 1] if rules.home.size > 0 else 0):
            rules.sums[MOVED] += 0 <= rules.home[rules.nodes[place]] != labels[i]
    for c in range(rules.costs.size):
        rules.costs[c] = cost_of(rules, np.int64(c), state.size[c], rules.counts[c])
        broken += rules.costs[c]
    for row in range(rules.needed.size):
        own = labels[rules.site[row % rules.site.size]]
        for e in range(rules.link_starts[row], rules.link_starts[row + 1]):
            rules.kept[row] += labels[rules.site[rules.links[e]]] == own
        rules.sums[LACKING] += max(rules.needed[row] - rules.kept[row], 0)
    state.tally[BROKEN] += broken + rules.sums[LACKING] + max(rules.sums[MOVED] - rules.allowed, 0)
