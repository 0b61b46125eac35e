"""States of a board, and actions as pure functions from one state to the next."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.text import one_line
from equigraph.apps.classes.attributes import default_attributes, group_columns, is_binned
from equigraph.apps.classes.division import Division, own_friends, sheet_rules
from equigraph.apps.classes.lists import check_class_names, names_from
from equigraph.apps.classes.roster import Roster
from equigraph.apps.classes.roster.columns import number_of
from equigraph.apps.classes.update import with_people
from equigraph.apps.explore.errors import BoardError
from equigraph.apps.explore.people import BoardPeople
from equigraph.exceptions import EquigraphError, InputError, ParameterError
from equigraph.graph import Graph
from equigraph.rules import Apart, Fixed, Friends, Rule, Rules, Sizes, Together, Words, compile_rules

# Default names of clusters, before a number; a board has those in English.
GROUPS = {"en": "Group", "de": "Gruppe"}
_GROUP = re.compile(rf"^\s*(?:{'|'.join(GROUPS.values())}) (?=\d+\s*$)")
MAX_CLUSTERS = 60
MAX_RULES = 500
MAX_RULED = 1000  # most people for whom a board starts with default rules


@dataclass(frozen=True, eq=False)
class Step:
    """A state: people, labels, names of clusters and rules."""

    people: BoardPeople
    labels: NDArray[np.intp]  # cluster of each person; empty before the first labels are found
    clusters: tuple[str, ...]  # their names
    rules: tuple[Rule, ...] = ()  # rules besides locked people
    locked: frozenset[int] = frozenset()  # people who keep their cluster
    attributes: tuple[str, ...] = ()  # attributes to spread evenly
    evenness: float = 0.98  # how evenly, as `evenness` of `divide` says it
    what: str = "start"  # the last action
    changes: tuple[dict[str, Any], ...] = ()  # its side effects

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.clusters)

    @property
    def has_labels(self) -> bool:
        """Whether there are labels."""
        return bool(self.labels.size)

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the attributes to spread evenly, all equal."""
        return dict.fromkeys(self.attributes, 1.0)

    @property
    def graph(self) -> Graph:
        """The graph with the first attribute to spread evenly as groups."""
        return self.people.grouped(self.attributes[0] if self.attributes else None)

    @property
    def all_rules(self) -> Rules:
        """The rules, and one for each locked person."""
        locked = sorted(self.locked) if self.has_labels else []
        locks = (Fixed(self.people.names[who], int(self.labels[who])) for who in locked)
        return Rules.of(dict.fromkeys((*self.rules, *locks)))

    @property
    def search_key(self) -> tuple[Any, ...]:
        """Key of the results of a search: everything it depends on, without the current labels."""
        at = tuple((who, int(self.labels[who])) for who in sorted(self.locked)) if self.has_labels else ()
        return (self.people.mark, self.n_clusters, self.rules, at, self.attributes, self.evenness)

    @property
    def division(self) -> Division:
        """The state as a division of `equigraph classes`."""
        rules, roster = self.all_rules, self.people.roster
        least = max((rule.least for rule in rules.items if isinstance(rule, Friends)), default=0)
        # Without removed rules of the sheet, and with the current names of classes.
        roster = replace(
            roster,
            apart=tuple(pair for pair in roster.apart if Apart(tuple(pair)) in self.rules),
            together=tuple(pair for pair in roster.together if Together(tuple(pair)) in self.rules),
            fixed={
                str(rule.node): self.clusters[rule.cluster]
                for rule in self.rules
                if isinstance(rule, Fixed) and str(rule.node) in roster.fixed
            },
        )
        given = roster, self.labels, self.clusters, rules, self.weights, least
        return Division(*given, proven=False, evenness_weight=self.evenness)


def first_step(people: BoardPeople, n_clusters: int | None = None, attribute: str | None = None) -> Step:
    """Return the first state of a board: no labels yet, and clusters of nearly equal size.

    The columns to spread and the rules on friends are those of `divide`; for a graph the first attribute is spread.
    """
    k = people.usual_clusters() if n_clusters is None else n_clusters
    check_number(people, k)
    if attribute is not None:
        people.grouped(attribute)
        even = [attribute]
    elif people.directed:
        even = default_attributes(group_columns(people.roster), people.n_people, k)
    else:
        even = list(people.attributes)[:1]
    rules = people.rules
    if people.n_people <= MAX_RULED:
        friends = own_friends(people.roster, 1) if people.directed else None
        rules = (*rules, even_sizes(people, k), *([] if friends is None else [friends]))
    names = names_for(people.clusters, k)
    return Step(people, np.empty(0, dtype=np.intp), names, rules, attributes=tuple(even))


def board_of_division(division: Division, title: str) -> Step:
    """Return the board of a division from `equigraph classes` or a saved board, unchanged."""
    people = BoardPeople.of_roster(division.roster, title)
    of_sheet = sheet_rules(division.roster, division.class_names).items
    place = {name: who for who, name in enumerate(people.names)}
    # People fixed by a rule beyond the sheet, and in that class, are locked.
    locks = {
        rule: place[str(rule.node)]
        for rule in division.rules.items
        if isinstance(rule, Fixed)
        and rule not in of_sheet
        and division.labels[place[str(rule.node)]] == rule.cluster
    }
    rules = tuple(rule for rule in division.rules.items if rule not in locks)
    attributes = tuple(name for name in division.attributes if name in people.attributes)
    locked = frozenset(locks.values())
    weight = division.evenness_weight
    return Step(people, division.labels, division.class_names, rules, locked, attributes, weight, what="open")


def _add_person(step: Step, payload: Mapping[str, Any]) -> Step:
    """Add a person in the best cluster; all others stay.

    The payload has the ``name``, perhaps ``values`` of attributes, and ``friends``, the numbers of those the person
    wishes for.
    """
    people, roster = step.people, step.division.roster
    name, values, friends = payload.get("name"), payload.get("values", {}), payload.get("friends", [])
    name = " ".join(name.split())[:100] if isinstance(name, str) else ""
    if not name or name.casefold() in {one.casefold() for one in people.names}:
        raise BoardError("name-taken", name=name)
    if not isinstance(values, Mapping) or not isinstance(friends, list):
        raise ParameterError("A person has a name, values by attribute, and a list of friends.")
    unknown = [key for key in values if key not in roster.attributes]
    if unknown:
        raise ParameterError(f"There is no attribute {str(unknown[0])[:40]!r} on this board.")
    texts = {str(key): str(value).strip()[:100] for key, value in values.items()}
    for key, text in texts.items():
        if text and is_binned(roster, key) and number_of(text) is None:
            raise BoardError("no-number", name=key, text=text)
    wanted = dict.fromkeys(people.names[_person(step, other)] for other in friends)
    newer = replace(
        roster,
        people=(*roster.people, name),
        attributes={key: (*column, texts.get(key) or None) for key, column in roster.attributes.items()},
        friends=(*roster.friends, *((name, other) for other in wanted)),
    )
    return _with_roster(step, newer, "arrival")


def _remove_person(step: Step, payload: Mapping[str, Any]) -> Step:
    """Remove a person, with all rules about them; all others stay."""
    who, roster = _person(step, payload.get("who")), step.division.roster
    if step.people.n_people <= max(2, step.n_clusters):
        raise BoardError("too-few")
    gone = step.people.names[who]
    shorter = replace(
        roster,
        people=tuple(name for name in roster.people if name != gone),
        attributes={key: (*column[:who], *column[who + 1 :]) for key, column in roster.attributes.items()},
        fixed={name: where for name, where in roster.fixed.items() if name != gone},
        friends=tuple(pair for pair in roster.friends if gone not in pair),
        apart=tuple(pair for pair in roster.apart if gone not in pair),
        together=tuple(pair for pair in roster.together if gone not in pair),
    )
    locked = frozenset(one - (one > who) for one in step.locked if one != who)
    return replace(_with_roster(step, shorter, "leaver"), locked=locked)


def _with_roster(step: Step, roster: Roster, what: str) -> Step:
    """Return a board for a changed roster: people who stay keep their clusters, a newcomer gets the best one.

    Rules about people who leave end, and those about a value or a range that nobody has any more.
    """
    people = step.people.with_roster(roster)
    kept = Rules.of(rule for rule in step.rules if isinstance(rule, Friends) or _can_be(step, rule, people))
    newer = with_people(replace(step.division, rules=kept), people.roster)
    rules = newer.rules.items
    ended = [rule for rule in step.rules if rule not in rules and not isinstance(rule, (Sizes, Friends))]
    changes = tuple(change(step, "rule", rule) for rule in ended)
    attributes = tuple(name for name in step.attributes if name in people.attributes)
    step = replace(step, people=people, labels=newer.labels, rules=rules, attributes=attributes)
    return replace(step, what=what, changes=changes)


def _can_be(step: Step, rule: Rule, people: BoardPeople) -> bool:
    with suppress(EquigraphError):
        compile_rules([rule], people.facts, None, step.n_clusters)
        return True
    return False


def even_sizes(people: BoardPeople, n_clusters: int) -> Sizes:
    """Return the rule of equal sizes, as far as possible; those of a graph may differ by one more."""
    slack = 0 if people.directed else 1
    least, most = people.n_people // n_clusters - slack, -(-people.n_people // n_clusters) + slack
    return Sizes(((max(1, least), most),))


def names_for(known: tuple[str, ...], n_clusters: int) -> tuple[str, ...]:
    """Return names for a number of clusters: the known ones, and continuations of them."""
    return tuple(names_from(known[:n_clusters], n_clusters, GROUPS["en"]))


def in_language(step: Step, language: str) -> Step:
    """Return a step whose default names of clusters are in a language.

    >>> from equigraph.apps.explore.people import classroom
    >>> in_language(first_step(classroom(), 2), "de").clusters
    ('Gruppe 1', 'Gruppe 2')
    """
    return replace(step, clusters=tuple(_GROUP.sub(f"{GROUPS[language]} ", name) for name in step.clusters))


def check_number(people: BoardPeople, n_clusters: Any) -> None:
    """Raise ParameterError if the number of clusters is impossible."""
    most = min(MAX_CLUSTERS, people.n_people)
    if type(n_clusters) is not int or not 2 <= n_clusters <= most:
        raise BoardError("number", most=most, number=str(n_clusters)[:40])


def place(value: Any, size: int, what: str) -> int:
    """Return a value if it is an index below a size, or raise ParameterError."""
    if type(value) is not int or not 0 <= value < size:
        raise ParameterError(f"There is no {what} number {str(value)[:40]!r} on this board.")
    return value


def _person(step: Step, value: Any) -> int:
    return place(value, step.people.n_people, "person")


def _move(step: Step, payload: Mapping[str, Any]) -> Step:
    """Move a person into a cluster."""
    who, to = _person(step, payload.get("who")), place(payload.get("to"), step.n_clusters, "group")
    if who in step.locked:
        raise BoardError("locked", name=step.people.names[who])
    labels = step.labels.copy()
    labels[who] = to
    return replace(step, labels=labels, what="move")


def _lock(step: Step, payload: Mapping[str, Any]) -> Step:
    who = _person(step, payload.get("who"))
    return replace(step, locked=step.locked ^ {who}, what="unlock" if who in step.locked else "lock")


def _add_pair(step: Step, payload: Mapping[str, Any]) -> Step:
    """Add the rule of the action: two people together, or apart."""
    names = [step.people.names[_person(step, payload.get(key))] for key in ("who", "other")]
    return _add_rule(step, {"rule": {str(payload["do"]): [names]}})


def _with_rule(step: Step, rule: Rule) -> Step:
    if any(_same(rule, one) for one in step.rules):
        raise BoardError("same-rule")
    if len(step.rules) >= MAX_RULES:
        raise BoardError("rules-full", most=MAX_RULES)
    about = (type(rule), rule.named_attribute)
    kept = [one for one in step.rules if not (rule.single and (type(one), one.named_attribute) == about)]
    return replace(step, rules=(*kept, rule), what="rule")


def _same(one: Rule, other: Rule) -> bool:
    if isinstance(one, (Together, Apart)) and type(one) is type(other):
        return set(one.nodes) == set(other.nodes)
    return one == other


def _add_rule(step: Step, payload: Mapping[str, Any]) -> Step:
    """Add a rule in the format of `Rules`, such as ``{"sizes": [9, 11]}``."""
    given = payload.get("rule")
    if not isinstance(given, Mapping) or len(given) != 1:
        raise ParameterError("A rule is given as one entry, such as sizes: [9, 11].")
    try:
        rules = Rules.from_dict(given).items
        # Raises if it names an unknown person or value.
        compile_rules(rules, step.people.facts, None, step.n_clusters)
    except EquigraphError as error:
        raise BoardError("bad-rule", reason=one_line(error)) from error
    for rule in rules:
        step = _with_rule(step, rule)
    return step


def _remove_rule(step: Step, payload: Mapping[str, Any]) -> Step:
    number = place(payload.get("number"), len(step.rules), "rule")
    return replace(step, rules=step.rules[:number] + step.rules[number + 1 :], what="unrule")


def _rename(step: Step, payload: Mapping[str, Any]) -> Step:
    name: Any = payload.get("name")
    number = place(payload.get("cluster"), step.n_clusters, "group")
    clusters = list(step.clusters)
    clusters[number] = _GROUP.sub(f"{GROUPS['en']} ", name)  # names must differ in every language
    try:
        names = check_class_names(clusters, step.n_clusters)
    except InputError:
        raise BoardError("group-name", name=name.strip()[:60]) from None
    return replace(step, clusters=names, what="rename")


def _attributes(step: Step, payload: Mapping[str, Any]) -> Step:
    """Set the attributes to spread evenly."""
    wanted = payload.get("names")
    if not isinstance(wanted, list) or not all(isinstance(name, str) for name in wanted):
        raise ParameterError("The attributes are given by their names.")
    for name in wanted:
        step.people.grouped(name)
    return replace(step, attributes=tuple(dict.fromkeys(wanted)), what="attributes")


ACTIONS: dict[str, Callable[[Step, Mapping[str, Any]], Step]] = {
    "move": _move,
    "lock": _lock,
    "together": _add_pair,
    "apart": _add_pair,
    "add-rule": _add_rule,
    "remove-rule": _remove_rule,
    "rename": _rename,
    "attributes": _attributes,
    "arrival": _add_person,
    "leaver": _remove_person,
}


def act(step: Step, payload: Mapping[str, Any]) -> Step:
    """Return the step after an action.

    The payload has the action under ``do``, with its arguments.
    """
    name = str(payload.get("do"))[:40]
    if name not in ACTIONS:
        raise ParameterError(f"There is no action {name!r}: expected {', '.join(ACTIONS)}.")
    try:
        return ACTIONS[name](step, payload)
    except (TypeError, OverflowError) as error:
        raise InputError(f"The action {name!r} has a part that cannot be: {error}.") from error


def with_labels(step: Step, labels: NDArray[np.intp], what: str) -> Step:
    """Return a step with other labels; locked people keep their cluster."""
    labels = np.array(labels, dtype=np.intp)
    if step.has_labels:
        locked = sorted(step.locked)
        labels[locked] = step.labels[locked]
    return replace(step, labels=labels, what=what)


def with_number(step: Step, n_clusters: Any) -> Step:
    """Return a step with another number of clusters, whose labels are still to be found.

    Its changes are those of the sizes, rules that end, and people who are unlocked.
    """
    people = step.people
    check_number(people, n_clusters)
    changes, rules = [], []
    for rule in step.rules:
        if isinstance(rule, Sizes):
            if rule == even_sizes(people, step.n_clusters):
                rule = even_sizes(people, n_clusters)
            elif not _sizes_fit(rule, people.n_people, n_clusters):
                changes.append(change(step, "sizes"))
                rule = even_sizes(people, n_clusters)
        elif any(cluster >= n_clusters for cluster in rule.named_clusters):
            changes.append(change(step, "rule", rule))
            continue
        elif isinstance(rule, Friends) and rule.of is not None:
            rule = Friends(rule.least, of=rule.of)  # exceptions depend on the number of clusters
        rules.append(rule)
    lost = sorted(who for who in step.locked if step.labels[who] >= n_clusters)
    changes += [change(step, "unlocked", people.names[who]) for who in lost]
    names, locked = names_for(step.clusters, n_clusters), step.locked - set(lost)
    step = replace(step, clusters=names, rules=tuple(rules), locked=locked)
    return replace(step, what="number", changes=tuple(changes))


def _sizes_fit(rule: Sizes, n_people: int, n_clusters: int) -> bool:
    if rule.per_cluster:
        return False
    ((least, most),) = rule.bounds
    return n_clusters * (least or 0) <= n_people and (most is None or n_people <= n_clusters * most)


def group_words(step: Step) -> Words:
    """Return the words of a board: people and groups."""
    return Words("person", "people", "group", "groups", step.clusters)


def rule_facts(step: Step, rule: Rule) -> dict[str, Any]:
    """Return a rule as numbers and names, for a page that describes it in its own language."""
    nodes = [step.people.facts.node(name) for name in rule.named_nodes]
    says = rule.sentence(group_words(step))
    return {"kind": rule.keyword, "people": nodes, "says": says, **rule.fields()}


def change(step: Step, kind: str, what: Rule | str | None = None) -> dict[str, Any]:
    """Return a side effect of a step; people by name, because they may have left."""
    if not isinstance(what, Rule):
        return {"kind": kind, "name": what}
    facts = rule_facts(step, what)
    return {"kind": kind, "rule": {**facts, "names": [step.people.names[who] for who in facts["people"]]}}
