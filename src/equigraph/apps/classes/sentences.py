"""Rules in the words of a school: people, classes and friends."""

from __future__ import annotations

from collections.abc import Sequence

from equigraph._utils.text import count, listed
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
