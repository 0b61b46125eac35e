"""Divide people into classes: evenly, with friends, and within rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Callbacks
from equigraph._utils.parameters import Integer, Real, Seed, check_parameters
from equigraph._utils.randomness import RandomState, as_seed
from equigraph._utils.text import did_you_mean, listed
from equigraph.apps.classes.anneal import DivisionSearch, lacking_friends
from equigraph.apps.classes.attributes import chosen_attributes, roster_facts
from equigraph.apps.classes.division import (
    Division,
    friends_as_kept,
    in_school_words,
    own_friends,
    sheet_rules,
)
from equigraph.apps.classes.lists import check_class_names, names_from, natural_order
from equigraph.apps.classes.roster import Roster
from equigraph.exceptions import ConflictError, ParameterError, RosterError
from equigraph.rules import Friends, Rules, Sizes, most_friends, settle_rules
from equigraph.rules.solve import is_refuted

_FURTHER = (-1, -2)  # seeds of further searches where somebody lacks a friend and need not
# Nodes of the tree in which the solver looks for the fewest people without a friend, and the number of people times
# classes up to which it is asked: beyond, its first node alone takes most of a minute.
_NODE_LIMIT, _SOLVED = 200, 600
_PART = 12  # people whose friends are looked at together in a proof without the solver's tree
# Length of the search for an alternative, where that for the division is 1.
_SHORT = 0.1
# An alternative keeps nearly as many wishes as the best division.
_NEARLY = 0.9

_PARAMETERS = {
    "n_classes": Integer(low=2),
    "friends": Integer(low=0),
    "evenness": Real(low=0, high=1),
    "alternatives": Integer(low=1),
    "effort": Real(low=0),
    "random_state": Seed(),
}


def divide(
    roster: Roster,
    n_classes: int,
    *,
    names: Sequence[str] | None = None,
    sizes: tuple[int | None, int | None] | None = None,
    friends: int = 1,
    attributes: Iterable[str] | Mapping[str, float] | None = None,
    evenness: float = 0.98,
    rules: Rules | None = None,
    alternatives: int = 1,
    effort: float = 1.0,
    random_state: RandomState = 0,
    callbacks: Callbacks = None,
) -> Division:
    """Divide people into classes that are even, keep friends together and keep every rule.

    Whatever comes out keeps the rules of the sheet (not with, together with, fixed class), the sizes, and the rules
    given here; if they contradict each other, the error says which. Everybody who wished for somebody shares a class
    with one they wished for; where not all can, as many as possible do, found by a solver, and the others are named.
    Within that the attributes are spread evenly, and among divisions that are as even as many wishes as possible are
    kept. Even means that of every group a class has the whole number next to its exact share.

    Parameters
    ----------
    roster : Roster
        The people, as `read_roster` reads them.
    n_classes : int
        Number of classes.
    names : sequence of str, optional
        Names of the classes. By default those that the sheet fixes and others that go on as these do, such as 5b and
        5c where it fixes somebody in 5a; else Class 1, Class 2, ...
    sizes : (least, most), optional
        Number of people in a class; as equal as can be by default.
    friends : int, default=1
        With how many of those they wished for everybody shares a class; who cannot have so many has the most that can
        be had. 0 for no such rule.
    attributes : iterable of str, or dict of str to float, optional
        The attributes to spread evenly, perhaps with weights; by default all that can be.
    evenness : float, default=0.98
        How evenly, from 0 to 1: at the default no number of wishes buys a class with one too many of a group, at .5 six
        wishes for each group do, at 0 nothing is spread.
    rules : Rules, optional
        Further rules, about people by name and classes by number from 0.
    alternatives : int, default=1
        How many divisions to find; the others are in `Division.others`, and differ in who is with whom.
    effort : float, default=1
        Multiplies the length of the search.
    random_state : int, Generator, RandomState or None
        Seed.
    callbacks : callable or list of callables, optional
        Told about progress; may stop the search.

    Returns
    -------
    Division
        Who is in which class.

    Raises
    ------
    ConflictError
        If the rules contradict each other.
    RosterError
        If the sheet names a class that there is not.

    Examples
    --------
    >>> roster = Roster(
    ...     ("Ada", "Ben", "Cem", "Dora", "Eli", "Fay"),
    ...     attributes={"gender": ("f", "m", "m", "f", "m", "f")},
    ...     friends=(("Ada", "Dora"), ("Ben", "Cem"), ("Cem", "Fay"), ("Eli", "Fay")),
    ...     apart=(("Ben", "Eli"),),
    ... )
    >>> division = divide(roster, 2, names=["5a", "5b"], sizes=(3, 3))
    >>> division.broken, division.sizes.tolist()
    ((), [3, 3])
    """
    check_parameters("divide", _PARAMETERS, locals())
    k, friends, seed = int(n_classes), int(friends), as_seed(random_state)
    chosen = chosen_attributes(roster, attributes, k)
    class_names = _class_names(roster, names, k)
    rules = _rules(roster, class_names, sizes, rules)
    search = DivisionSearch(roster, rules, k, chosen, float(evenness), effort, seed, callbacks, friends)
    try:
        start = settle_rules(rules, roster_facts(roster), n_clusters=k).labels
        best, friendly, proven = find_friends(search, start)
    except ConflictError as error:
        raise in_school_words(error, class_names) from None
    if friendly is not None:
        search = search.with_rule(friendly)
    # Alternatives start from elsewhere, and are searched for less long: long searches end in the same division.
    short = replace(search, effort=_SHORT * search.effort)
    others = [short.run(start, turn) for turn in range(1, 2 * alternatives + 1)] if alternatives > 1 else []
    found = [best, *(labels for labels in others if not lacking_friends(search.compiled, labels))]
    found.sort(key=search.measure.value, reverse=True)
    division = Division(roster, best, class_names, search.rules, chosen, friends, proven)
    division = replace(division, evenness_weight=search.evenness)
    divisions = _different([division.with_labels(labels) for labels in found], int(alternatives))
    if friends > 1 and (asked := own_friends(roster, friends)) is not None:
        kept = friends_as_kept(asked, roster.people, [one.labels for one in divisions])
        divisions = [replace(one, rules=Rules.of([*rules.items, kept])) for one in divisions]
    return replace(divisions[0], others=tuple(divisions[1:]))


def find_friends(
    search: DivisionSearch, start: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Friends | None, bool]:
    """Return the best labels in which as many people as possible have a friend they wished for.

    With them come the rule about friends that they keep, None if nobody wished for anybody or no friends are asked for,
    and whether it is proven that no more people can have one. Annealing mostly finds one for everybody, or for all but
    those whose wishes contradict rules; else a solver goes on from there, unless there are too many people and classes
    for it.
    """
    roster = search.roster
    asked = own_friends(roster, min(search.friends, 1))
    if asked is None:
        return search.run(start), None, True
    with_rule = search.with_rule(asked)
    labels = with_rule.run(start)
    if not lacking_friends(with_rule.compiled, labels):
        return labels, asked, True
    proven = is_fewest(search, labels)
    for turn in () if proven else _FURTHER:
        friendly = with_rule.friends_first(start, turn)
        labels = max(labels, with_rule.run(friendly, turn), key=with_rule.rank)
        if not lacking_friends(with_rule.compiled, labels):
            return labels, asked, True
    rule, proven = friends_as_kept(asked, roster.people, [labels]), proven or is_fewest(search, labels)
    if not proven and labels.size * search.n_classes <= _SOLVED:
        k, facts = search.n_classes, roster_facts(roster)
        found = most_friends(search.rules, asked, facts, n_clusters=k, start=labels, node_limit=_NODE_LIMIT)
        labels, rule, proven = found.labels, found.rule, found.proven
    return search.with_rule(rule).run(labels), rule, proven


def is_fewest(search: DivisionSearch, labels: NDArray[np.intp]) -> bool:
    """Return whether a short proof shows that no labels leave fewer people without a friend.

    It looks at each of them with those they wished for, whom these wished for and so on. Where rules refute that all of
    such a set have a friend, and no two of the sets overlap, somebody lacks one in each of them.
    """
    wished = search.roster.wished
    place = dict(zip(search.roster.people, labels.tolist(), strict=True))
    alone = [one for one, others in wished.items() if all(place[one] != place[other] for other in others)]
    taken = set(alone)
    for one in alone:
        part = [one]
        for member in part:
            further = dict.fromkeys(
                other for other in wished[member] if other in wished and other not in taken
            )
            part += list(further)[: _PART - len(part)]
            taken |= set(part)
        asked = Friends(1, of=[(member, wished[member]) for member in part])
        if not is_refuted(search.with_rule(asked).compiled):
            return False
    return True


def _class_names(roster: Roster, names: Sequence[str] | None, n_classes: int) -> tuple[str, ...]:
    """Return the names of the classes, among them those in which the sheet fixes people."""
    fixed = sorted(set(roster.fixed.values()))
    if names is None:
        names = sorted(names_from(fixed, n_classes), key=natural_order)
        if len(names) > n_classes:
            raise RosterError(
                f"The sheet fixes people in {len(fixed)} classes ({listed(fixed)}), and {n_classes} are to be made."
            )
    checked = check_class_names(names, n_classes)
    if len(checked) != n_classes:
        raise ParameterError(
            f"divide: names has {len(checked)} names for {n_classes} classes: expected one each."
        )
    unknown = [name for name in fixed if name not in checked]
    if unknown:
        raise RosterError(
            f"The sheet fixes people in the class {unknown[0]!r}{did_you_mean(unknown[0], checked)}: expected one "
            f"of {listed(map(repr, checked))}."
        )
    return checked


def _rules(roster: Roster, class_names: tuple[str, ...], sizes: Any, further: Rules | None) -> Rules:
    """Return the rules of the sheet, the sizes and what else was asked for, in this order."""
    n, k = len(roster.people), len(class_names)
    further = Rules() if further is None else further
    told = any(isinstance(rule, Sizes) for rule in further.items)
    if told and sizes is not None:
        raise ParameterError("divide: sizes is given, and rules has sizes as well: expected one of them.")
    if sizes is None and not told:
        sizes = (n // k, -(-n // k))
    of_sheet = sheet_rules(roster, class_names, **({} if told else {"sizes": sizes}))
    return Rules.of([*of_sheet.items, *further.items])


def _different(ranked: Sequence[Division], number: int) -> list[Division]:
    """Return the best division, and others that are nearly as good and differ most from those before."""
    chosen = list(ranked[:1])
    good = [other for other in ranked[1:] if other.wishes_kept >= _NEARLY * ranked[0].wishes_kept]
    while len(chosen) < number and good:
        best = max(good, key=lambda other: min(company_changed(one, other) for one in chosen))
        if min(company_changed(one, best) for one in chosen) == 0:  # as one that is chosen already
            break
        chosen.append(best)
    return chosen


def company_changed(one: Division, other: Division) -> float:
    """Return the share of pairs in one class in one of two divisions that are apart in the other."""
    k = len(one.class_names)
    both = np.bincount(one.labels * k + other.labels, minlength=k * k)
    pairs = [int((counts * (counts - 1)).sum()) for counts in (one.sizes, other.sizes, both)]
    together = pairs[0] + pairs[1] - pairs[2]
    return 1 - pairs[2] / together if together else 0.0
