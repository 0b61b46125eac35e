"""A division of people into classes: labels, rules, scores and repair."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from equigraph._utils.text import count, listed
from equigraph.apps.classes.attributes import UNMARKED, group_columns, is_binned, roster_facts
from equigraph.apps.classes.lists import ClassLists, natural_order
from equigraph.apps.classes.measure import Measure, best_movers, measure_of
from equigraph.apps.classes.messages import is_translated, say
from equigraph.apps.classes.roster import Roster
from equigraph.exceptions import ConflictError, NotFoundError
from equigraph.metrics import normalized_balance_score
from equigraph.rules import (
    Fixed,
    Friends,
    Rule,
    Rules,
    Violation,
    Words,
    compile_rules,
    settle_rules,
    violations,
)

# Most values of an attribute that are listed one by one.
_MOST_VALUES = 6


@dataclass(frozen=True, eq=False, repr=False)
class Division:
    """People in classes, with the requested rules and attributes.

    Everything is computed from `labels` on demand, so it always describes the current labels.

    Parameters
    ----------
    roster : Roster
        The people.
    labels : array-like of int, or mapping of str to str
        Class of each person, from 0, in the order of the roster; or the name of the class by the name of the person.
    class_names : sequence of str
        Names of the classes.
    rules : Rules
        Rules to keep.
    attributes : dict of str to float
        The attributes that are to be spread evenly, and their weights.
    friends : int
        Number of wished-for friends that everybody was to have in class.
    proven : bool
        Whether it is proven that no division within the rules has fewer people without a friend.
    others : tuple of Division
        Alternatives.
    notes : tuple of str
        What was decided on the way, in sentences.
    evenness_weight : float
        How evenly people are to be spread, as `evenness` of `divide` says it.

    Examples
    --------
    >>> roster = Roster(("Ada", "Ben", "Cem"), friends=(("Ada", "Ben"), ("Cem", "Ada")))
    >>> division = Division(roster, [0, 0, 1], ["5a", "5b"], Rules(apart=[("Ada", "Ben")]))
    >>> division.friendless, division.broken
    (('Cem',), ('Ada and Ben are to be apart, and both are in 5a.',))
    """

    roster: Roster
    labels: Any
    class_names: Any
    rules: Rules = field(default_factory=Rules)
    attributes: Mapping[str, float] = field(default_factory=dict)
    friends: int = 0
    proven: bool = True
    others: tuple[Division, ...] = ()
    notes: tuple[str, ...] = ()
    evenness_weight: float = 0.98
    _placed: ClassLists = field(init=False)  # the lists without sentences

    def __post_init__(self) -> None:
        placed = ClassLists(self.roster, self.labels, self.class_names)
        values = {"labels": np.array(placed.labels, dtype=np.intp), "class_names": placed.class_names}
        for key, value in {**values, "_placed": placed}.items():
            object.__setattr__(self, key, value)

    @cached_property
    def lists(self) -> ClassLists:
        """The class lists: what people print and edit."""
        return self.lists_in("en")

    def lists_in(self, language: str) -> ClassLists:
        """Return the class lists in a language."""
        broken = {violation.rule for violation in self.violations}
        names, items = self.class_names, self.rules.items
        rules = [(rule_sentence(rule, names, language), rule not in broken) for rule in items]
        scores = [*self.friend_facts(language), *self.spread(language), *self.notes]
        return ClassLists(self.roster, self.labels, names, rules, scores, language=language)

    @cached_property
    def violations(self) -> tuple[Violation, ...]:
        """Violations of the rules."""
        facts, k = roster_facts(self.roster), len(self.class_names)
        return tuple(violations(self.rules.items, facts, self.labels, None, k))

    @property
    def broken(self) -> tuple[str, ...]:
        """Violations of the rules, as sentences that name people and classes."""
        words = school_words(self.class_names)
        return tuple(violation.describe(words) for violation in self.violations)

    @cached_property
    def measure(self) -> Measure:
        """What is counted to tell which of two divisions is better."""
        return measure_of(self.roster, self.attributes, len(self.class_names), self.evenness_weight)

    @cached_property
    def columns(self) -> dict[str, NDArray]:
        """The group of each person by attribute."""
        return group_columns(self.roster)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of people of each class."""
        return np.bincount(self.labels, minlength=len(self.class_names))

    @property
    def friendless(self) -> tuple[str, ...]:
        """People who wished for friends and have none of them in class."""
        return tuple(filter(self._placed.is_friendless, self.roster.people))

    def friend_facts(self, language: str = "en") -> list[str]:
        """Return sentences on people without a friend in class, and whether there could be fewer."""
        facts = self._several_friends(language) if self.friends > 1 else []
        if self.friends and self.friendless:
            facts.append(say(language, "friendless", names=self.friendless, proven=self.proven))
        return facts

    def _several_friends(self, language: str) -> list[str]:
        """Return a sentence on how many people have the requested number of friends, and how many have fewer."""
        wished, most = self.roster.wished, self.friends
        kept = [min(len(self._placed.friends_here(name)), most) for name in wished]
        asked = [min(len(others), most) for others in wished.values()]
        enough = sum(map(operator.ge, kept, asked))
        fewer = [(some, kept.count(some)) for some in range(most, -1, -1) if some in kept]
        return [say(language, "several_friends", enough=enough, n=len(wished), friends=most, kept=fewer)]

    @property
    def wishes_kept(self) -> int:
        """Number of wishes that are kept."""
        return sum(len(self._placed.friends_here(name)) for name in self.roster.wished)

    def evenness(self) -> dict[str, float]:
        """Return the evenness of each attribute: 1 if every class mirrors all people, up to rounding."""
        scores = {}
        for name in self.attributes:
            known = np.array([value is not None for value in self.columns[name]])
            values = self.columns[name][known]
            if len(set(values)) > 1:
                scores[name] = float(normalized_balance_score(self.labels[known], sensitive_features=values))
        return scores

    def spread(self, language: str = "en") -> list[str]:
        """Return sentences on the number of people with each value of an attribute in a class."""
        sentences = []
        for attribute in self.attributes:
            column = self.columns[attribute]
            values = sorted(set(column) - {None, UNMARKED}, key=natural_order)
            if len(values) <= _MOST_VALUES:
                counts = [(self._counts(column, value).tolist(), value) for value in values]
                ranges = [(min(found), max(found), value) for found, value in counts]
                binned = is_binned(self.roster, attribute)
                sentences.append(say(language, "spread", attribute=attribute, ranges=ranges, binned=binned))
        return sentences

    def _counts(self, column: NDArray, value: str) -> NDArray[np.intp]:
        return np.bincount(self.labels[column == value], minlength=len(self.class_names))

    def with_labels(self, labels: ArrayLike | Mapping[str, str]) -> Division:
        """Return a copy with other labels.

        Parameters
        ----------
        labels : array-like of int, or dict of str to str
            Class of each person, as a number from 0 or, by the name of the person, as the name of a class, as
            `read_class_lists` returns it.
        """
        return replace(self, labels=labels, others=())

    def repaired(self, before: Division | None = None, *, max_moves: int | None = None) -> Division:
        """Return a division that keeps every rule, with as few people moved as possible.

        Among the smallest sets of moves, evenness and wishes decide. If not everybody can have as many friends as
        before, people who have fewer now may keep fewer.

        Parameters
        ----------
        before : Division, optional
            The division before it was edited. People moved by hand stay there if possible.
        max_moves : int, optional
            Most people that may be moved.

        Raises
        ------
        ConflictError
            If the rules contradict each other.
        NotFoundError
            If more people than `max_moves` have to be moved.
        """
        known = {rule.node for rule in self.rules.items if isinstance(rule, Fixed)}
        by_hand = () if before is None else before.moved(self)
        held = [Fixed(name, self._placed.class_of(name)) for name in by_hand if name not in known]
        facts, eased, names = roster_facts(self.roster), self._with_friends_as_now(), self.class_names
        # Rules that come out the same are tried once.
        attempts = {
            Rules.of([*rules.items, *keeps]): rules for rules in (self.rules, eased) for keeps in (held, [])
        }
        for asked in attempts:
            try:
                settled = settle_rules(asked, facts, n_clusters=len(names), start=self.labels)
                break
            except (ConflictError, NotFoundError) as error:
                conflict = in_school_words(error, names) if isinstance(error, ConflictError) else error
        else:
            raise conflict from None
        compiled = compile_rules(asked, facts, None, len(self.class_names))
        given = self.roster, self.attributes, self.labels
        labels = best_movers(*given, settled.labels, compiled, self.evenness_weight)
        n_moves = int((labels != self.labels).sum())
        if max_moves is not None and n_moves > max_moves:
            raise NotFoundError(
                f"{count(n_moves, 'person has', 'people have')} to be moved to keep every rule, and max_moves is "
                f"{max_moves}."
            )
        return replace(self, rules=attempts[asked]).with_labels(labels)

    def _with_friends_as_now(self) -> Rules:
        """Return the rules, with friends required only as far as people have them now."""
        rules = list(self.rules.items)
        for place, rule in enumerate(rules):
            if isinstance(rule, Friends) and rule.of is not None:
                rules[place] = friends_as_kept(rule, self.roster.people, [self.labels])
        return Rules.of(rules)

    def moved(self, other: Division) -> tuple[str, ...]:
        """Return the people whose class differs in another division."""
        changed = np.flatnonzero(self.labels != other.labels)
        return tuple(self.roster.people[person] for person in changed)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {size}" for name, size in zip(self.class_names, self.sizes, strict=True))
        return f"Division({sizes}; {self.wishes_kept} of {count(len(self.roster.friends), 'wish', 'wishes')} kept)"


def sheet_rules(roster: Roster, class_names: Sequence[str], **further: Any) -> Rules:
    """Return the rules of a sheet, with classes by number, and further ones."""
    number = {name: place for place, name in enumerate(class_names)}
    fixed = {person: number[name] for person, name in roster.fixed.items() if name in number}
    return Rules(fixed=fixed, together=list(roster.together), apart=list(roster.apart), **further)


def own_friends(roster: Roster, least: int) -> Friends | None:
    """Return the rule that everybody shares a class with so many of the people they wished for, or None."""
    return Friends(least, of=roster.wished.items()) if roster.wished and least else None


def friends_as_kept(rule: Friends, people: Sequence[str], labels: Iterable[NDArray[np.intp]]) -> Friends:
    """Return a rule on friends relaxed until all given labels keep it: lower numbers for people with fewer friends."""
    places = [dict(zip(people, one.tolist(), strict=True)) for one in labels]
    fewer = {}
    for who, wished in rule.of or ():
        kept = min(sum(place[str(one)] == place[str(who)] for one in wished) for place in places)
        if kept < min(rule.least, len(wished)):
            fewer[who] = kept
    return Friends(rule.least, fewer, rule.of)


def rule_sentence(rule: Rule, class_names: Sequence[str], language: str = "en") -> str:
    """Return a rule as a sentence about people and classes, in English if the language has none for its kind.

    >>> from equigraph.rules import Apart, Fixed, Sizes
    >>> rule_sentence(Apart(("Cem", "Dora")), ["5a", "5b"])
    'Cem and Dora are in different classes.'
    >>> rule_sentence(Sizes(((25, 27),)), ["5a", "5b"])
    'Every class has 25 to 27 people.'
    >>> rule_sentence(Fixed("Finn", 1), ["5a", "5b"])
    'Finn is in 5b.'
    >>> rule_sentence(Sizes(((25, 27),)), ["5a", "5b"], "de")
    'Jede Klasse hat 25 bis 27 Personen.'
    """
    kind = f"rule_{rule.keyword}"
    if not is_translated(language, kind):
        return rule.sentence(school_words(class_names))
    return say(language, kind, rule=rule, classes=class_names)


def school_words(class_names: Sequence[str]) -> Words:
    """Return the words of a school: people and classes."""
    return Words("person", "people", "class", "classes", tuple(class_names))


def in_school_words(error: ConflictError, class_names: Sequence[str]) -> ConflictError:
    """Return a conflict error in the words of a school."""
    sentences = " ".join(rule_sentence(rule, class_names) for rule in error.rules)
    classes = count(len(class_names), "class", "classes")
    return ConflictError(f"These rules cannot all be kept in {classes}: {sentences}", error.rules)


def what_got_worse(before: Division, after: Division) -> list[str]:
    """Return sentences on what is worse in one division than in another: rules, friends, evenness.

    Examples
    --------
    >>> roster = Roster(("Ada", "Ben", "Cem", "Dora"), friends=(("Ada", "Ben"), ("Cem", "Dora")))
    >>> before = Division(roster, [0, 0, 1, 1], ["5a", "5b"], Rules(together=[("Ada", "Ben")]))
    >>> for sentence in what_got_worse(before, before.with_labels([0, 1, 1, 1])):
    ...     print(sentence)
    No longer kept: Ada and Ben are to be together, and Ada is in 5a, Ben in 5b.
    Ada has no friend in class any more.
    """
    known = {violation.about for violation in before.violations}
    words = school_words(after.class_names)
    new = [violation for violation in after.violations if violation.about not in known]
    sentences = [f"No longer kept: {violation.describe(words)}" for violation in new]
    named = {str(node) for one in new if isinstance(one.rule, Friends) for node in one.nodes}
    alone = [name for name in after.friendless if name not in before.friendless]
    sentences += [f"{name} has no friend in class any more." for name in alone if name not in named]
    if after.wishes_kept < before.wishes_kept and not alone:
        lost = count(before.wishes_kept - after.wishes_kept, "wish", "wishes")
        sentences.append(f"{lost} fewer kept: {after.wishes_kept} instead of {before.wishes_kept}.")
    even = before.evenness()
    for name, value in after.evenness().items():
        if value < even[name] - 1e-12:
            sentences.append(f"{name} is spread less evenly: {_changed_counts(before, after, name)}.")
    return sentences


def _changed_counts(before: Division, after: Division, attribute: str) -> str:
    """Return a text on the counts of the values that changed."""
    column = after.columns[attribute]
    changed = []
    for value in sorted(set(column) - {None, UNMARKED}):
        was, now = (one._counts(column, value).tolist() for one in (before, after))
        if was != now:
            changed.append(f"{value} {listed(now)} (before: {listed(was)})")
    more = f" and {count(len(changed) - _MOST_VALUES, 'more value')}" if len(changed) > _MOST_VALUES else ""
    return ", ".join(changed[:_MOST_VALUES]) + more
