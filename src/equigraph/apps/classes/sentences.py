"""Rules in the words of a school: people, classes and friends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.text import count, listed
from equigraph.apps.classes.lists import ClassLists
from equigraph.rules.items import (
    Apart,
    AtLeast,
    AtMost,
    Fixed,
    Friends,
    NotAlone,
    Pair,
    Rule,
    Shares,
    Sizes,
    Together,
)


def rule_sentence(rule: Rule, class_names: Sequence[str]) -> str:
    """Say a rule in a sentence about people and classes.

    >>> rule_sentence(Apart(("Cem", "Dora")), ["5a", "5b"])
    'Cem and Dora are in different classes.'
    >>> rule_sentence(Sizes(((25, 27),)), ["5a", "5b"])
    'Every class has 25 to 27 people.'
    >>> rule_sentence(Fixed("Finn", 1), ["5a", "5b"])
    'Finn is in 5b.'
    """
    match rule:
        case Together(nodes):
            return f"{listed(nodes)} are in one class."
        case Apart(nodes):
            return f"{listed(nodes)} are in different classes."
        case Fixed(node, cluster):
            return f"{node} is in {class_names[cluster]}."
        case Sizes(bounds, per_cluster):
            return _sizes(bounds, class_names if per_cluster else None)
        case Friends():
            return _friends(rule)
        case AtLeast(attribute, value, least):
            return f"Every class has at least {count(least, 'person', 'people')} with {attribute} {value}."
        case AtMost(attribute, value, most):
            return f"Every class has at most {count(most, 'person', 'people')} with {attribute} {value}."
        case NotAlone(attribute, least):
            return f"Of each {attribute} a class has nobody, or at least {least}."
        case Shares(attribute, within):
            return f"The share of each {attribute} in a class is within {100 * within:g} points of that among all."
    raise AssertionError(rule)


def _friends(rule: Friends) -> str:
    friends = "a friend" if rule.least == 1 else f"{rule.least} friends, or all they have,"
    excepted = [name for name, least in rule.but if least == 0]
    fewer = [f"{name} at least {least}" for name, least in rule.but if least > 0]
    who = f"Everybody but {listed(excepted)}" if excepted else "Everybody"
    whom = "somebody they wished for" + (", or who wished for them" if rule.of is None else "")
    return f"{who} has {friends} in class: {whom}{f' ({listed(fewer)})' if fewer else ''}."


def _sizes(bounds: Sequence[Pair], class_names: Sequence[str] | None) -> str:
    if class_names is None:
        return f"Every class has {_people(bounds[0])}."
    each = [f"{name} has {_people(pair)}" for name, pair in zip(class_names, bounds, strict=True)]
    return f"{listed(each)}."


def _people(pair: Pair) -> str:
    least, most = pair
    if most is None:
        return "any number of people" if least is None else f"at least {count(least, 'person', 'people')}"
    if least is None:
        return f"at most {count(most, 'person', 'people')}"
    return (
        count(most, "person", "people") if least == most else f"{least} to {count(most, 'person', 'people')}"
    )


def broken_by(rule: Rule, lists: ClassLists, columns: Mapping[str, NDArray]) -> str:
    """Say who breaks a rule, and in which class.

    Examples
    --------
    >>> from equigraph.apps.classes import ClassLists
    >>> from equigraph.apps.classes.roster import Roster
    >>> lists = ClassLists(Roster(("Ada", "Ben", "Cem")), [0, 0, 1], ["5a", "5b"])
    >>> broken_by(Apart(("Ada", "Ben", "Cem")), lists, {}), broken_by(Sizes(((1, 1),)), lists, {})
    ('Ada and Ben are in 5a', '5a has 2')
    """
    names = lists.class_names
    match rule:
        case Together(nodes) | Apart(nodes):
            return _places(rule, [str(node) for node in nodes], lists)
        case Fixed(node, _):
            return f"{node} is in {names[lists.class_of(str(node))]}"
        case Sizes(bounds, per_cluster):
            pairs = bounds if per_cluster else [bounds[0]] * len(names)
            sizes = [len(lists.members(number)) for number in range(len(names))]
            return listed(
                f"{name} has {size}"
                for name, size, (least, most) in zip(names, sizes, pairs, strict=True)
                if size < (least or 0) or (most is not None and size > most)
            )
        case Friends(least, but, of):
            asked = dict(of) if of is not None else {}
            fewer = dict(but)
            here = {name: len(lists.friends_here(name)) for name in lists.roster.people}
            lacking = [
                f"{name} in {names[lists.class_of(name)]}"
                for name in lists.roster.people
                if here[name] < min(fewer.get(name, least), len(asked.get(name, ())))
            ]
            return f"not so: {listed(lacking)}" if lacking else "not so for all"
        case AtLeast(attribute, value, _) | AtMost(attribute, value, _):
            counts = _counts(lists, columns[attribute] == value)
            return listed(f"{name} has {number}" for name, number in zip(names, counts, strict=True))
        case NotAlone(attribute, _) | Shares(attribute, _):
            values = sorted(set(columns[attribute]) - {None})
            each = [
                f"{value}: {', '.join(map(str, _counts(lists, columns[attribute] == value)))}"
                for value in values
            ]
            return "; ".join(each)
    raise AssertionError(rule)


def _places(rule: Together | Apart, people: list[str], lists: ClassLists) -> str:
    classes: dict[str, list[str]] = {}
    for name in people:
        classes.setdefault(lists.class_names[lists.class_of(name)], []).append(name)
    if isinstance(rule, Apart):
        return listed(f"{listed(who)} are in {where}" for where, who in classes.items() if len(who) > 1)
    (first, where), *rest = [(listed(who), where) for where, who in classes.items()]
    verb = "is" if len(classes[where]) == 1 else "are"
    return ", ".join([f"{first} {verb} in {where}", *(f"{who} in {place}" for who, place in rest)])


def _counts(lists: ClassLists, marked: NDArray) -> list[int]:
    return np.bincount(np.asarray(lists.labels)[marked], minlength=lists.n_classes).tolist()
