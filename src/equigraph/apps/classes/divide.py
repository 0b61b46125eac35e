"""Divide people into classes: evenly, with friends, and within rules."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from equigraph._utils.callbacks import Callbacks
from equigraph._utils.parameters import Integer, Real, Seed, check_parameters
from equigraph._utils.randomness import RandomState, as_seed
from equigraph._utils.text import count, did_you_mean, listed
from equigraph.apps.classes.attributes import chosen_attributes, people_graph
from equigraph.apps.classes.division import Division
from equigraph.apps.classes.lists import check_class_names
from equigraph.apps.classes.roster import Roster
from equigraph.apps.classes.sentences import rule_sentence
from equigraph.community import FairPartition
from equigraph.exceptions import ConflictError, EquigraphWarning, ParameterError, RosterError
from equigraph.rules import Friends, Rule, Rules, Sizes

# On a few hundred people a search takes a second or so: the best of some is taken.
_SEARCHES, _FEW_PEOPLE = 3, 300
# An alternative keeps nearly as many wishes as the best division.
_NEARLY = 0.9
# So many people may be excepted from having a friend in class before the rule is given up for all.
_MOST_EXCEPTED = 20

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

    Among the divisions found in which the attributes are spread as evenly as was asked for, that with the fewest
    people without a friend is taken, then that with the most cohesive classes. Whatever comes out keeps the rules of
    the sheet (not with, together with, fixed class), the sizes, and the rules given here; if they contradict each
    other, the error says which. That everybody has a friend in class comes last: it
    holds but for those for whom it cannot.

    Parameters
    ----------
    roster : Roster
        The people, as `read_roster` reads them.
    n_classes : int
        Number of classes.
    names : sequence of str, optional
        Names of the classes. By default those that the sheet fixes, then Class 1, Class 2, ...
    sizes : (least, most), optional
        Number of people in a class; as equal as can be by default.
    friends : int, default=1
        With how many friends everybody shares a class; 0 for no such rule.
    attributes : iterable of str, or dict of str to float, optional
        The attributes to spread evenly, perhaps with weights; by default all that can be.
    evenness : float, default=0.98
        How evenly, from 0 to 1: at 1 every class mirrors all people, as far as people are whole.
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
    chosen = chosen_attributes(roster, attributes, int(n_classes))
    class_names = _class_names(roster, names, int(n_classes))
    rules = _rules(roster, class_names, sizes, rules)
    n_searches = 1 if alternatives == 1 else 3 * alternatives
    if len(roster.people) <= _FEW_PEOPLE:
        n_searches = max(n_searches, _SEARCHES)
    search = partial(
        _search,
        roster,
        FairPartition(
            n_classes, at_least=evenness, attribute_weights=chosen or None, effort=effort, callbacks=callbacks
        ),
        n_searches=n_searches,
        seed=as_seed(random_state),
    )
    least = int(friends) if roster.friends else 0
    kept, found = _kept(search, rules, least, roster, class_names)
    given_up = (Friends(least),) if least and kept is rules else ()
    divisions = [Division(roster, labels, class_names, kept, chosen, given_up) for labels in found]
    best, *others = _different(divisions, int(alternatives))
    return replace(best, others=tuple(others))


def _kept(
    search: Callable[[Rules], list[NDArray[np.intp]]],
    rules: Rules,
    least: int,
    roster: Roster,
    class_names: tuple[str, ...],
) -> tuple[Rules, list[NDArray[np.intp]]]:
    """Return the rules that are kept and labels: everybody has a friend, but for those for whom that cannot be."""
    but: tuple[str, ...] = ()
    while least:
        wanted = Rules.of([*rules.items, Friends(least, but)])
        try:
            return wanted, search(wanted)
        except ConflictError as error:
            lonely = _lonely(error.rules, roster, but)
            if lonely is None or len(but) == _MOST_EXCEPTED:
                break
            but = (*but, lonely)
    try:
        return rules, search(rules)
    except ConflictError as error:
        raise _in_school_words(error, class_names) from None


def _lonely(rules: Sequence[Rule], roster: Roster, but: tuple[str, ...]) -> str | None:
    """Return who of those that contradicting rules name has the fewest links: most likely the one without a friend.

    None if the contradiction is not about friends, or about nobody in particular.
    """
    if not any(isinstance(rule, Friends) for rule in rules):
        return None
    degrees = np.diff(roster.graph().adjacency.indptr)
    people = [name for rule in rules for name in rule.named_nodes if name not in but]
    linked = [(degrees[roster.people.index(str(name))], str(name)) for name in people]
    return min((pair for pair in linked if pair[0]), default=(0, None))[1]


def _search(
    roster: Roster, model: FairPartition, rules: Rules, n_searches: int, seed: int
) -> list[NDArray[np.intp]]:
    """Return the labels of some searches, all of which keep the rules."""
    weights = dict(model.attribute_weights or {})
    for rule in rules.items:
        if rule.named_attribute is not None:
            # What only rules speak of has to be known, and counts nothing.
            weights.setdefault(rule.named_attribute, 0.0)
    graph = people_graph(roster, weights)
    found = []
    for turn in range(n_searches):
        with warnings.catch_warnings():
            # What was reached is said in people, not in scores.
            warnings.simplefilter("ignore", EquigraphWarning)
            fitted = clone(model).set_params(
                rules=rules, attribute_weights=weights or None, random_state=seed + turn
            )
            found.append(fitted.fit(graph).labels_)
    return found


def _class_names(roster: Roster, names: Sequence[str] | None, n_classes: int) -> tuple[str, ...]:
    """Return the names of the classes, among them those in which the sheet fixes people."""
    fixed = sorted(set(roster.fixed.values()))
    if names is None:
        numbered = (f"Class {number}" for number in range(1, 2 * n_classes + 1))
        rest = [name for name in numbered if name not in fixed]
        names = [*fixed, *rest[: max(n_classes - len(fixed), 0)]]
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
    return Rules.of(
        [
            *Rules(
                fixed={name: class_names.index(place) for name, place in roster.fixed.items()},
                together=list(roster.together),
                apart=list(roster.apart),
                **({} if told else {"sizes": sizes}),
            ).items,
            *further.items,
        ]
    )


def _in_school_words(error: ConflictError, class_names: tuple[str, ...]) -> ConflictError:
    said = " ".join(rule_sentence(rule, class_names) for rule in error.rules)
    return ConflictError(
        f"These rules cannot all be kept in {count(len(class_names), 'class', 'classes')}: {said}",
        error.rules,
    )


def _different(found: Sequence[Division], number: int) -> list[Division]:
    """Return the best division, and others that are nearly as good and differ most from those before."""
    ranked = sorted(found, key=_rank)
    chosen = ranked[:1]
    good = [
        other
        for other in ranked[1:]
        if len(other.friendless) <= len(ranked[0].friendless) + 1
        and other.wishes_kept >= _NEARLY * ranked[0].wishes_kept
    ]
    while len(chosen) < number and good:
        best = max(good, key=lambda other: min(company_changed(one, other) for one in chosen))
        if min(company_changed(one, best) for one in chosen) == 0:
            break
        chosen.append(best)
        good = [other for other in good if other is not best]
    return chosen


def _rank(division: Division) -> tuple[float, ...]:
    """Return what makes a division better, smaller first: even enough, nobody alone, wishes."""
    even = min(division.evenness().values(), default=1.0)
    return -round(even, 2), len(division.friendless), -division.wishes_kept


def company_changed(one: Division, other: Division) -> float:
    """Return the share of pairs in one class in one of two divisions that are apart in the other."""
    k = len(one.class_names)
    both = np.bincount(one.labels * k + other.labels, minlength=k * k)
    pairs = [int((counts * (counts - 1)).sum()) for counts in (one.sizes, other.sizes, both)]
    together = pairs[0] + pairs[1] - pairs[2]
    return 1 - pairs[2] / together if together else 0.0
