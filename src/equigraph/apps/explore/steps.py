"""One state of a board, and what people do to it: pure functions from a step to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from equigraph.apps.classes.attributes import default_attributes, group_columns
from equigraph.apps.classes.division import Division, own_friends
from equigraph.apps.classes.lists import check_class_names
from equigraph.apps.explore.matter import Matter
from equigraph.exceptions import InputError, ParameterError
from equigraph.rules import Apart, Fixed, Friends, Rule, Rules, Sizes, Together, compile_rules

MAX_CLUSTERS = 60
MAX_RULES = 500
MAX_RULED = 1000  # people up to whom a board begins with rules of its own


@dataclass(frozen=True, eq=False)
class Step:
    """Who is in which cluster, under which rules."""

    labels: NDArray[np.intp]  # cluster of each person; empty before the first labels are found
    clusters: tuple[str, ...]  # their names
    rules: tuple[Rule, ...] = ()  # what has to hold
    locked: frozenset[int] = frozenset()  # people who stay where they are
    attributes: tuple[str, ...] = ()  # those that are to be spread evenly
    what: str = "start"  # the action that led here

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.clusters)

    def all_rules(self, names: tuple[str, ...]) -> Rules:
        """Return the rules, and that those who are locked stay."""
        known = {rule.node for rule in self.rules if isinstance(rule, Fixed)}
        locks = [
            Fixed(names[who], int(self.labels[who]))
            for who in sorted(self.locked)
            if names[who] not in known and self.labels.size
        ]
        return Rules.of((*self.rules, *locks))

    def question(self) -> tuple[Any, ...]:
        """Return what a curve is an answer to: everything but who is where now."""
        at = tuple((who, int(self.labels[who])) for who in sorted(self.locked)) if self.labels.size else ()
        return (self.n_clusters, self.rules, at, self.attributes)


def first_step(matter: Matter, n_clusters: int | None = None, attribute: str | None = None) -> Step:
    """Return the state a board begins with: nobody is anywhere yet, and clusters are of nearly even size."""
    k = matter.usual_clusters() if n_clusters is None else n_clusters
    check_number(matter, k)
    if attribute is not None:
        matter.grouped(attribute)
    clusters = names_for(matter.clusters, k)
    rules = matter.rules
    if matter.n_people <= MAX_RULED:
        rules = (*rules, *default_rules(matter, k))
    return Step(
        np.empty(0, dtype=np.intp), clusters, rules, attributes=_first_attributes(matter, attribute, k)
    )


def board_of_division(division: Division, title: str) -> tuple[Matter, Step]:
    """Return the board of a division that `equigraph classes` made, as it is."""
    matter = Matter.of_roster(division.roster, title)
    step = Step(
        division.labels,
        division.class_names,
        tuple(division.rules.items),
        attributes=tuple(name for name in division.attributes if name in matter.attributes),
        what="open",
    )
    return matter, step


def division_of_board(matter: Matter, step: Step) -> Division:
    """Return the division that a board shows, to be kept as `equigraph classes` keeps it."""
    rules = step.all_rules(matter.names)
    least = max((rule.least for rule in rules.items if isinstance(rule, Friends)), default=0)
    weights = dict.fromkeys(step.attributes, 1.0)
    return Division(matter.roster, step.labels, step.clusters, rules, weights, least, proven=False)


def _first_attributes(matter: Matter, attribute: str | None, k: int) -> tuple[str, ...]:
    """Return what is spread evenly at first: what is asked for, of a roster what `divide` takes, else the first."""
    if attribute is not None:
        return (attribute,)
    if not matter.directed:
        return tuple(matter.attributes)[:1]
    return tuple(default_attributes(group_columns(matter.roster), matter.n_people, k))


def default_rules(matter: Matter, n_clusters: int) -> tuple[Rule, ...]:
    """Return the rules a board begins with: for a roster those of `divide`, for a graph that sizes are nearly even."""
    if not matter.directed:
        return (even_sizes(matter, n_clusters),)
    friends = own_friends(matter.roster, 1)
    return (even_sizes(matter, n_clusters), *([] if friends is None else [friends]))


def even_sizes(matter: Matter, n_clusters: int) -> Sizes:
    """Return the rule that clusters are as equal as can be; those of a graph may differ by one more."""
    least, most = matter.n_people // n_clusters, -(-matter.n_people // n_clusters)
    return Sizes(((least, most),)) if matter.directed else Sizes(((max(1, least - 1), most + 1),))


def names_for(known: tuple[str, ...], n_clusters: int) -> tuple[str, ...]:
    """Return names of so many clusters: those that are known, and Group 1, Group 2, ..."""
    names = list(known[:n_clusters])
    number = 1
    while len(names) < n_clusters:
        name = f"Group {number}"
        number += 1
        if name.casefold() not in {one.casefold() for one in names}:
            names.append(name)
    return tuple(names)


def check_number(matter: Matter, n_clusters: int) -> None:
    """Raise ParameterError if there cannot be so many clusters."""
    most = min(MAX_CLUSTERS, matter.n_people)
    if not 2 <= n_clusters <= most:
        raise ParameterError(f"There can be 2 to {most} groups of these people, not {n_clusters}.")


def is_place(value: Any, size: int) -> TypeGuard[int]:
    """Return whether a value is a whole number below a size."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < size


def _person(matter: Matter, value: Any) -> int:
    if not is_place(value, matter.n_people):
        raise ParameterError(f"There is no person number {str(value)[:40]!r} on this board.")
    return value


def _cluster(step: Step, value: Any) -> int:
    if not is_place(value, step.n_clusters):
        raise ParameterError(f"There is no group number {str(value)[:40]!r} on this board.")
    return value


def _move(matter: Matter, step: Step, told: Mapping[str, Any]) -> Step:
    """Move a person into a cluster; or trade places with somebody who is there."""
    who, to = _person(matter, told.get("who")), _cluster(step, told.get("to"))
    moves = {who: to}
    if told.get("swap") is not None:
        other = _person(matter, told["swap"])
        moves = {who: int(step.labels[other]), other: int(step.labels[who])}
    for one in moves:
        if one in step.locked:
            raise ParameterError(f"{matter.names[one]} is locked: unlock the card first.")
    labels = step.labels.copy()
    labels[list(moves)] = list(moves.values())
    return replace(step, labels=labels, what="move")


def _lock(matter: Matter, step: Step, told: Mapping[str, Any]) -> Step:
    who = _person(matter, told.get("who"))
    return replace(step, locked=step.locked ^ {who}, what="unlock" if who in step.locked else "lock")


def _pair(kind: type[Together] | type[Apart]) -> Callable[[Matter, Step, Mapping[str, Any]], Step]:
    def add(matter: Matter, step: Step, told: Mapping[str, Any]) -> Step:
        people = [_person(matter, one) for one in (told.get("who"), told.get("other"))]
        if people[0] == people[1]:
            raise ParameterError("A rule about two people needs two different people.")
        nodes = tuple(matter.names[one] for one in people)
        return _with_rule(step, kind(nodes))

    return add


def _with_rule(step: Step, rule: Rule) -> Step:
    if any(_same(rule, one) for one in step.rules):
        raise ParameterError("This rule is there already.")
    if len(step.rules) >= MAX_RULES:
        raise ParameterError(f"There are {MAX_RULES} rules already: remove one first.")
    kept = [one for one in step.rules if not _replaces(rule, one)]
    return replace(step, rules=(*kept, rule), what="rule")


def _replaces(rule: Rule, other: Rule) -> bool:
    return rule.single and type(rule) is type(other) and rule.named_attribute == other.named_attribute


def _same(one: Rule, other: Rule) -> bool:
    if isinstance(one, (Together, Apart)) and type(one) is type(other):
        return set(one.nodes) == set(other.nodes)
    return one == other


def _add_rule(matter: Matter, step: Step, told: Mapping[str, Any]) -> Step:
    """Add a rule as `Rules` is given it, such as ``{"sizes": [9, 11]}``."""
    given = told.get("rule")
    if not isinstance(given, Mapping) or len(given) != 1:
        raise ParameterError("A rule is given as one entry, such as sizes: [9, 11].")
    for rule in Rules.from_dict(given).items:
        compile_rules([rule], matter.facts, None, step.n_clusters)  # raises if it names what is not there
        step = _with_rule(step, rule)
    return step


def _remove_rule(matter: Matter, step: Step, told: Mapping[str, Any]) -> Step:
    number = told.get("number")
    if not is_place(number, len(step.rules)):
        raise ParameterError(f"There is no rule number {str(number)[:40]!r}.")
    kept = [rule for place, rule in enumerate(step.rules) if place != number]
    return replace(step, rules=tuple(kept), what="unrule")


def _rename(matter: Matter, step: Step, told: Mapping[str, Any]) -> Step:
    number = _cluster(step, told.get("cluster"))
    name = told.get("name")
    if not isinstance(name, str):
        raise ParameterError("The name of a group is a text.")
    clusters = list(step.clusters)
    clusters[number] = name
    return replace(step, clusters=check_class_names(clusters, step.n_clusters), what="rename")


def _attributes(matter: Matter, step: Step, told: Mapping[str, Any]) -> Step:
    """Say which attributes are to be spread evenly."""
    wanted = told.get("names")
    if not isinstance(wanted, list) or not all(isinstance(name, str) for name in wanted):
        raise ParameterError("Say the attributes by their names.")
    for name in wanted:
        matter.grouped(name)
    return replace(step, attributes=tuple(dict.fromkeys(wanted)), what="attributes")


ACTIONS: dict[str, Callable[[Matter, Step, Mapping[str, Any]], Step]] = {
    "move": _move,
    "lock": _lock,
    "together": _pair(Together),
    "apart": _pair(Apart),
    "add-rule": _add_rule,
    "remove-rule": _remove_rule,
    "rename": _rename,
    "attributes": _attributes,
}


def act(matter: Matter, step: Step, told: Mapping[str, Any]) -> Step:
    """Return the step after an action.

    The action stands under ``do``, with what it needs beside it.
    """
    action = ACTIONS.get(str(told.get("do")))
    if action is None:
        raise ParameterError(
            f"There is no action {str(told.get('do'))[:40]!r}: expected {', '.join(ACTIONS)}."
        )
    try:
        return action(matter, step, told)
    except (TypeError, OverflowError) as error:
        raise InputError(f"The action {told.get('do')!r} has a part that cannot be: {error}.") from error


def with_labels(step: Step, labels: NDArray[np.intp], what: str) -> Step:
    """Return a step with other labels; those who are locked stay where they are."""
    labels = np.array(labels, dtype=np.intp)
    if step.labels.size:
        locked = sorted(step.locked)
        labels[locked] = step.labels[locked]
    return replace(step, labels=labels, what=what)


def with_number(matter: Matter, step: Step, n_clusters: int) -> tuple[Step, list[str]]:
    """Return a step with another number of clusters, before labels are found for it, and what else has to change."""
    check_number(matter, n_clusters)
    said, kept = [], []
    for rule in step.rules:
        if isinstance(rule, Sizes):
            if rule == even_sizes(matter, step.n_clusters):
                rule = even_sizes(matter, n_clusters)
            elif not _sizes_fit(rule, matter.n_people, n_clusters):
                said.append(f"The rule on sizes ends: it does not fit {n_clusters} groups.")
                continue
        elif any(cluster >= n_clusters for cluster in rule.named_clusters):
            said.append(f"A rule ends, because its group does: {rule.describe()}.")
            continue
        elif isinstance(rule, Friends) and rule.of is not None:
            rule = Friends(rule.least, of=rule.of)  # who has to do with fewer depends on the number
        kept.append(rule)
    lost = [who for who in step.locked if step.labels[who] >= n_clusters]
    said += [f"{matter.names[who]} is not locked any more: the group is gone." for who in sorted(lost)]
    found = replace(
        step,
        clusters=names_for(step.clusters, n_clusters),
        rules=tuple(kept),
        locked=step.locked - set(lost),
        what="number",
    )
    return found, said


def _sizes_fit(rule: Sizes, n_people: int, n_clusters: int) -> bool:
    if rule.per_cluster:
        return False
    ((least, most),) = rule.bounds
    return n_clusters * (least or 0) <= n_people and (most is None or n_people <= n_clusters * most)
