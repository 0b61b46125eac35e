"""Explanations: why a person is in a class, and what each other class would change."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from equigraph._utils.text import count, did_you_mean, listed
from equigraph.apps.classes.division import Division, what_got_worse
from equigraph.apps.classes.roster.people import same
from equigraph.exceptions import ParameterError


@dataclass(frozen=True)
class OtherClass:
    """Effects of moving a person to another class.

    Attributes
    ----------
    class_name : str
        The class.
    wished : tuple of str
        Those the person wished for who are there.
    exchanged_with : str or None
        The person to swap with, chosen by fewest broken rules, then least cost; None for a plain move.
    wishes : int
        Change in the number of wishes kept, over all people.
    worse : tuple of str
        What would be worse, in sentences: rules, friends, evenness.
    better : bool
        Whether every rule that is kept stays kept, and wishes and evenness together are better.
    """

    class_name: str
    wished: tuple[str, ...]
    exchanged_with: str | None
    wishes: int
    worse: tuple[str, ...]
    better: bool

    def __str__(self) -> str:
        how = f", in exchange for {self.exchanged_with}" if self.exchanged_with else ""
        company = f"with {listed(self.wished)}" if self.wished else "with nobody they wished for"
        more = "as many wishes kept in all"
        if self.wishes:
            kind = "more" if self.wishes > 0 else "fewer"
            more = f"{count(abs(self.wishes), f'{kind} wish', f'{kind} wishes')} kept in all"
        return " ".join([f"In {self.class_name} instead{how}: {company}, {more}.", *self.worse])


@dataclass(frozen=True, repr=False)
class PersonExplanation:
    """Explanation of the class of a person; ``print`` shows it as text.

    Attributes
    ----------
    name, class_name : str
        The person and the class.
    values : dict of str to str
        Values of the person in the sheet.
    wished, elsewhere, wished_by : tuple of str
        People the person wished for, in class and elsewhere, and people in class who wished for the person.
    rules : tuple of str
        The rules that name the person.
    others : tuple of OtherClass
        Effects of moving to each other class.
    """

    name: str
    class_name: str
    values: dict[str, str]
    wished: tuple[str, ...]
    elsewhere: tuple[str, ...]
    wished_by: tuple[str, ...]
    rules: tuple[str, ...]
    others: tuple[OtherClass, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        values = ", ".join(f"{name} {value}" for name, value in self.values.items())
        lines = [f"{self.name}{f' ({values})' if values else ''} is in {self.class_name}.", self._wishes()]
        if self.wished_by:
            lines.append(f"Wished for by {listed(self.wished_by)}, in class.")
        lines += [*self.rules, *map(str, self.others)]
        better = [one.class_name for one in self.others if one.better]
        if better:
            lines.append(f"{' or '.join(better)} would be better, all in all.")
        else:
            lines.append(f"No other class would be better for {self.name} and everybody else, all in all.")
        return "\n".join(lines)

    __repr__ = __str__

    def _wishes(self) -> str:
        total = len(self.wished) + len(self.elsewhere)
        if not total:
            return "Wished for nobody."
        here = listed(self.wished) if self.wished else "nobody"
        there = f"; elsewhere {listed(self.elsewhere)}" if self.elsewhere else ""
        return f"{len(self.wished)} of {count(total, 'wish', 'wishes')} kept: {here} in class{there}."


def explain_person(division: Division, name: str) -> PersonExplanation:
    """Explain why a person is in their class.

    For each other class, the best of a move and all swaps is reported.

    Examples
    --------
    >>> from equigraph.apps.classes.roster import Roster
    >>> from equigraph.rules import Rules
    >>> roster = Roster(("Ada", "Bea", "Cem", "Dan"), friends=(("Ada", "Bea"), ("Cem", "Dan")))
    >>> print(explain_person(Division(roster, [0, 0, 1, 1], ["5a", "5b"], Rules(sizes=(2, 2))), "Ada"))
    Ada is in 5a.
    1 of 1 wish kept: Bea in class.
    In 5b instead, in exchange for Cem: with nobody they wished for, 2 fewer wishes kept in all. Ada has no friend in \
class any more. Cem has no friend in class any more.
    No other class would be better for Ada and everybody else, all in all.
    """
    person = _find(division, name)
    lists, name = division.lists, division.roster.people[person]
    number = lists.class_of(name)
    rules = [
        sentence
        for rule, (sentence, _) in zip(division.rules.items, lists.rules, strict=True)
        if name in map(str, rule.named_nodes)
    ]
    return PersonExplanation(
        name,
        division.class_names[number],
        {one: value for one in division.roster.attributes if (value := lists.value(name, one))},
        lists.friends_here(name),
        tuple(lists.elsewhere(name)),
        tuple(other for other in lists.members(number) if name in division.roster.friends_of(other)),
        tuple(rules),
        tuple(_other(division, person, k) for k in range(len(division.class_names)) if k != number),
    )


def _find(division: Division, name: str) -> int:
    people = division.roster.people
    known = {same(one): place for place, one in enumerate(people)}
    if same(name) not in known:
        called = [one for one in people if same(name) in map(same, one.split())]
        meant = f" (perhaps {' or '.join(map(repr, called))})" if called else did_you_mean(name, people)
        raise ParameterError(f"{name!r} is not one of the people{meant}.")
    return known[same(name)]


def _other(division: Division, person: int, there: int) -> OtherClass:
    """Return the effects of another class: of a move and all swaps, the one with the least cost."""
    measure = division.measure
    before = (-len(division.violations), measure.value(division.labels))
    tried = []
    for partner in [-1, *np.flatnonzero(division.labels == there).tolist()]:
        labels = division.labels.copy()
        if partner >= 0:
            labels[partner] = labels[person]
        labels[person] = there
        after = division.with_labels(labels)
        tried.append((after, partner, (-len(after.violations), measure.value(labels))))
    after, partner, rank = max(tried, key=lambda one: one[2])
    return OtherClass(
        division.class_names[there],
        after.lists.friends_here(division.roster.people[person]),
        division.roster.people[partner] if partner >= 0 else None,
        after.wishes_kept - division.wishes_kept,
        tuple(one for one in what_got_worse(division, after) if " fewer kept: " not in one),
        rank[0] >= before[0] and rank[1] > before[1] + 1e-9,
    )
