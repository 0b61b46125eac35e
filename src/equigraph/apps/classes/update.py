"""Update of a division for a newer sheet: people who stay keep their classes, newcomers get the best place."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from equigraph.apps.classes.division import Division, own_friends, sheet_rules
from equigraph.apps.classes.measure import measure_of
from equigraph.apps.classes.roster import Roster
from equigraph.exceptions import RosterError
from equigraph.rules import Apart, Fixed, Friends, Rule, Rules, Sizes, Together


def with_people(division: Division, roster: Roster) -> Division:
    """Return a division of the people of a newer sheet.

    People who were there keep their classes. Newcomers are placed one by one, in the class that breaks the fewest rules
    and, among these, keeps most wishes and spreads people most evenly. Rules about pairs and fixed classes are those of
    the new sheet; equal sizes stay equal.

    Parameters
    ----------
    division : Division
        The division so far.
    roster : Roster
        The people now.

    Returns
    -------
    Division
        Their division; its `broken` says what has to be repaired.

    Examples
    --------
    >>> old = Roster(("Ada", "Ben", "Cem", "Dora"))
    >>> division = Division(old, [0, 0, 1, 1], ["5a", "5b"], Rules(sizes=(2, 2)))
    >>> newer = with_people(division, Roster(("Ada", "Cem", "Dora", "Eli"), friends=(("Eli", "Ada"),)))
    >>> newer.lists.members(0), newer.broken
    (('Ada', 'Eli'), ())
    """
    place = dict(zip(division.roster.people, division.labels.tolist(), strict=True))
    stay = [name for name in roster.people if name in place]
    if not stay:
        raise RosterError(f"{roster.source or 'The new sheet'} has nobody of those who were divided.")
    rules = _rules(division, roster)
    attributes = {name: weight for name, weight in division.attributes.items() if name in roster.attributes}
    k, names = len(division.class_names), division.class_names
    labels = np.array([place.get(name, -1) for name in roster.people])
    number_of = {name: number for number, name in enumerate(roster.people)}
    measure = measure_of(roster, attributes, k, division.evenness_weight)
    for person in np.flatnonzero(labels < 0):
        # Newcomers without a class yet are left out, with their wishes and rules.
        tried = []
        for number in range(k):
            labels[person] = number
            placed = np.where(labels < 0, number, labels)
            broken = [
                all(labels[number_of[str(node)]] >= 0 for node in violation.nodes)
                for violation in Division(roster, placed, names, rules, attributes).violations
            ]
            size = int((labels == number).sum())
            tried.append((sum(broken), -round(measure.value(placed), 6), size, number))
        labels[person] = min(tried)[-1]
    division = replace(division, roster=roster, labels=labels, rules=rules, attributes=attributes)
    return replace(division, others=(), proven=False)


def _rules(division: Division, roster: Roster) -> Rules:
    """Return the pairs and fixed classes of the new sheet, and all other rules restricted to its people."""
    old, names = division.roster, division.class_names
    unknown = [name for name in roster.fixed.values() if name not in names]
    if unknown:
        raise RosterError(
            f"The sheet fixes people in the class {unknown[0]!r}: expected one of {', '.join(names)}."
        )
    kept: list[Rule] = list(sheet_rules(roster, names).items)
    of_sheet = {*sheet_rules(old, names).items, *kept}
    here = set(roster.people)
    for rule in division.rules.items:
        if rule in of_sheet:
            continue
        if isinstance(rule, Sizes):
            kept.append(_sizes(rule, len(old.people), len(roster.people), len(names)))
        elif isinstance(rule, Friends) and rule.of is not None:
            friends = own_friends(roster, rule.least)
            if friends is not None:
                fewer = {name: number for name, number in rule.but if name in here}
                kept.append(Friends(rule.least, fewer, friends.of))
        elif isinstance(rule, (Apart, Together, Fixed)) and not set(map(str, rule.named_nodes)) <= here:
            continue
        else:
            kept.append(rule)
    return Rules.of(kept)


def _sizes(rule: Sizes, before: int, now: int, k: int) -> Sizes:
    """Return the bounds on sizes: equal ones for the new number of people, or the given ones."""
    return Sizes(((now // k, -(-now // k)),)) if rule == Sizes(((before // k, -(-before // k)),)) else rule
