"""A division of people into classes: who is where, what had to be kept, and how well it went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph.classes.lists import ClassLists, check_class_names
from equigraph.classes.sentences import rule_sentence
from equigraph.community import refine_labels
from equigraph.exceptions import ConflictError, NotFoundError, RosterError
from equigraph.graph import Graph
from equigraph.metrics import normalized_balance_score
from equigraph.randomness import RandomState
from equigraph.roster import Roster
from equigraph.rules import Rule, Rules, violations
from equigraph.rules.items import Fixed
from equigraph.words import count, listed

# Of an attribute with more values than this only the sizes would fill a page.
_MOST_VALUES = 6
# What is written where a column marks some people and leaves the others blank.
UNMARKED = "(blank)"


@dataclass(frozen=True, eq=False, repr=False)
class Division:
    """People in classes, with the rules and the attributes that were asked for.

    Everything it tells is computed from `labels` when it is asked, so that a division whose labels were changed tells
    how it is now.

    Parameters
    ----------
    roster : Roster
        The people.
    labels : array-like of int
        Class of each person, from 0, in the order of the roster.
    class_names : sequence of str
        Names of the classes.
    rules : Rules
        What has to be kept.
    attributes : dict of str to float
        The attributes that are to be spread evenly, and their weights.
    given_up : tuple of Rule
        Rules that were asked for and contradict others.
    others : tuple of Division
        Alternatives.
    notes : tuple of str
        What was decided on the way, in sentences.

    Examples
    --------
    >>> roster = Roster(("Ada", "Ben", "Cem"), friends=(("Ada", "Ben"), ("Cem", "Ada")))
    >>> division = Division(roster, [0, 0, 1], ["5a", "5b"], Rules(apart=[("Ada", "Ben")]))
    >>> division.friendless, division.broken
    (('Cem',), ('Ada and Ben are in different classes.',))
    """

    roster: Roster
    labels: Any
    class_names: Any
    rules: Rules = field(default_factory=Rules)
    attributes: Mapping[str, float] = field(default_factory=dict)
    given_up: tuple[Rule, ...] = ()
    others: tuple[Division, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        labels = np.asarray(self.labels)
        n, names = len(self.roster.people), check_class_names(self.class_names, None)
        if labels.shape != (n,) or labels.dtype.kind not in "iu" or labels.min() < 0:
            raise RosterError(
                f"labels has the shape {labels.shape}: expected a class from 0 for each of {n} people."
            )
        if labels.max() >= len(names):
            raise RosterError(f"labels has the class {labels.max()}: there are {len(names)}, counted from 0.")
        object.__setattr__(self, "labels", labels.astype(np.intp))
        object.__setattr__(self, "class_names", names)

    @cached_property
    def lists(self) -> ClassLists:
        """The class lists: what people print and edit."""
        rules = [
            (rule_sentence(rule, self.class_names), rule not in self._broken) for rule in self.rules.items
        ]
        rules += [(rule_sentence(rule, self.class_names), False) for rule in self.given_up]
        return ClassLists(
            self.roster, self.labels, self.class_names, rules=rules, scores=[*self.spread(), *self.notes]
        )

    @cached_property
    def _broken(self) -> tuple[Rule, ...]:
        found = violations(
            self.rules.items, self.roster.graph(), self.labels, columns(self.roster), len(self.class_names)
        )
        return tuple(dict.fromkeys(rule for rule, _ in found))

    @property
    def broken(self) -> tuple[str, ...]:
        """The rules that do not hold, in sentences."""
        return tuple(rule_sentence(rule, self.class_names) for rule in self._broken)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of people of each class."""
        return np.bincount(self.labels, minlength=len(self.class_names))

    @property
    def friendless(self) -> tuple[str, ...]:
        """People who wished for friends and have none of them in class."""
        return tuple(name for name in self.roster.people if self.lists.is_friendless(name))

    @property
    def wishes_kept(self) -> int:
        """Number of wishes that are kept."""
        return sum(len(self.lists.friends_here(name)) for name in self.roster.people)

    def evenness(self) -> dict[str, float]:
        """Return how evenly each attribute is spread: 1 where every class mirrors all, as far as people are whole."""
        return {
            name: float(normalized_balance_score(self.labels[known], sensitive_features=column[known]))
            for name in self.attributes
            for column in [columns(self.roster)[name]]
            for known in [np.array([value is not None for value in column])]
            if len(set(column[known])) > 1
        }

    def spread(self) -> list[str]:
        """Say how many people with each value of an attribute a class has."""
        sentences = []
        for attribute in self.attributes:
            column = columns(self.roster)[attribute]
            values = sorted(set(column) - {None, UNMARKED})
            if len(values) <= _MOST_VALUES:
                ranges = [f"{_range(self._counts(column, value))} {value}" for value in values]
                sentences.append(f"{attribute}: {listed(ranges)} in a class.")
        return sentences

    def _counts(self, column: NDArray, value: str) -> NDArray[np.intp]:
        return np.bincount(self.labels[column == value], minlength=len(self.class_names))

    def with_labels(self, labels: ArrayLike | Mapping[str, str]) -> Division:
        """Return the same people, rules and attributes in other classes.

        Parameters
        ----------
        labels : array-like of int, or dict of str to str
            Class of each person, as a number from 0 or, by the name of the person, as the name of a class, as
            `read_class_lists` returns it.
        """
        if isinstance(labels, Mapping):
            labels = ClassLists(self.roster, labels, self.class_names).labels
        return replace(self, labels=labels, others=())

    def repaired(
        self, before: Division | None = None, *, max_moves: int | None = None, random_state: RandomState = 0
    ) -> Division:
        """Return the same division with every rule kept, and few people moved.

        Parameters
        ----------
        before : Division, optional
            What this division was before somebody edited it. Who was moved by hand stays there if that is possible.
        max_moves : int, optional
            Most people that may be moved.
        random_state : int, Generator, RandomState or None
            Seed.

        Raises
        ------
        ConflictError
            If the rules contradict each other.
        NotFoundError
            If no such division with so few moves was found.
        """
        by_hand = () if before is None else before.moved(self)
        held = [Fixed(name, int(self.labels[self.roster.people.index(name)])) for name in by_hand]
        known = {rule.node for rule in self.rules.items if isinstance(rule, Fixed)}
        held = [rule for rule in held if rule.node not in known]
        for rules in dict.fromkeys((Rules.of([*self.rules.items, *held]), self.rules)):
            try:
                labels = refine_labels(
                    people_graph(self.roster, self.attributes),
                    self.labels,
                    n_clusters=len(self.class_names),
                    rules=rules,
                    max_moves=max_moves,
                    # More than any division is better than another: nobody moves but for a rule.
                    stay=1.0,
                    random_state=random_state,
                )
            except (ConflictError, NotFoundError):
                if rules is self.rules:
                    raise
                continue
            break
        return self.with_labels(labels)

    def moved(self, other: Division) -> tuple[str, ...]:
        """Return who is in another class in another division."""
        changed = np.flatnonzero(self.labels != other.labels)
        return tuple(self.roster.people[person] for person in changed)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {size}" for name, size in zip(self.class_names, self.sizes, strict=True))
        return f"Division({sizes}; {self.wishes_kept} of {count(len(self.roster.friends), 'wish', 'wishes')} kept)"


def columns(roster: Roster) -> dict[str, NDArray]:
    """Return the attributes of the people, None where a cell is blank.

    A column with one value marks people, so that the others are a group as well.
    """
    found = {}
    for name, values in roster.attributes.items():
        marks = len(set(values) - {None}) == 1
        column = np.empty(len(values), dtype=object)
        column[:] = [UNMARKED if value is None and marks else value for value in values]
        found[name] = column
    return found


def people_graph(roster: Roster, names: Iterable[str]) -> Graph:
    """Return the graph of the wishes with some attributes, in which a blank cell is a person without a group."""
    plain, values = roster.graph(), columns(roster)
    return Graph(
        plain.adjacency, plain.node_names, {name: values[name] for name in names} or None, missing="ignore"
    )


def what_got_worse(before: Division, after: Division) -> list[str]:
    """Say what is worse in one division than in another: rules, friends, and how evenly people are spread.

    Examples
    --------
    >>> roster = Roster(("Ada", "Ben", "Cem", "Dora"), friends=(("Ada", "Ben"), ("Cem", "Dora")))
    >>> before = Division(roster, [0, 0, 1, 1], ["5a", "5b"], Rules(together=[("Ada", "Ben")]))
    >>> what_got_worse(before, before.with_labels([0, 1, 1, 1]))
    ['No longer kept: Ada and Ben are in one class.', 'Ada has no friend in class any more.']
    """
    sentences = [f"No longer kept: {rule}" for rule in after.broken if rule not in before.broken]
    alone = [name for name in after.friendless if name not in before.friendless]
    sentences += [f"{name} has no friend in class any more." for name in alone]
    if after.wishes_kept < before.wishes_kept and not alone:
        lost = count(before.wishes_kept - after.wishes_kept, "wish", "wishes")
        sentences.append(f"{lost} fewer kept: {after.wishes_kept} instead of {before.wishes_kept}.")
    even = before.evenness()
    for name, value in after.evenness().items():
        if value < even[name] - 1e-12:
            sentences.append(f"{name} is spread less evenly: {_changed_counts(before, after, name)}.")
    return sentences


def _changed_counts(before: Division, after: Division, attribute: str) -> str:
    """Say how many people each class has of the values whose numbers changed."""
    column = columns(after.roster)[attribute]
    changed = []
    for value in sorted(set(column) - {None, UNMARKED}):
        was, now = (one._counts(column, value).tolist() for one in (before, after))
        if was != now:
            changed.append(f"{value} {listed(now)} (before: {listed(was)})")
    more = f" and {count(len(changed) - _MOST_VALUES, 'more value')}" if len(changed) > _MOST_VALUES else ""
    return ", ".join(changed[:_MOST_VALUES]) + more


def _range(counts: NDArray) -> str:
    return f"{counts.min()}" if counts.min() == counts.max() else f"{counts.min()} to {counts.max()}"
