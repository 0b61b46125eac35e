"""What evenness and rules cost: how many more wishes, at least, would be kept without them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from equigraph.apps.classes.anneal import DivisionSearch
from equigraph.apps.classes.division import Division, rule_sentence
from equigraph.apps.classes.messages import say
from equigraph.rules import Rule, Rules

# Length of the search without a column or a rule, where that for a division is 1.
_EFFORT = 0.2
# Rules of one kind are left out together where there are more of them than these.
_SINGLE = 4
_KINDS = ("apart", "together", "fixed")


@dataclass(frozen=True)
class Cost:
    """What leaving something out would bring.

    Attributes
    ----------
    what : str
        The column, or the rule in a sentence.
    attribute : bool
        Whether it is a column that is spread evenly.
    wishes : int
        How many more wishes would be kept, at least: a division that keeps so many was found. 0 says only that none
        was found that keeps more.
    rules : tuple of Rule
        The rules that were left out.
    """

    what: str
    attribute: bool
    wishes: int
    rules: tuple[Rule, ...] = ()

    def __str__(self) -> str:
        return say("en", "cost", cost=self)


def find_costs(
    division: Division, *, evenness: float | None = None, seed: int = 0, language: str = "en"
) -> list[Cost]:
    """Return what each column that is spread evenly and each rule costs in wishes.

    Each is left out in turn, and people are divided again. Every number is one that can be had, because such a division
    was found; a longer search may find more, so sentences say "at least".

    Examples
    --------
    >>> from equigraph.apps.classes.roster import Roster
    >>> people, friends = ("Ada", "Bea", "Cem", "Dan"), (("Ada", "Bea"), ("Cem", "Dan"))
    >>> roster = Roster(people, {"gender": ("f", "f", "m", "m")}, friends=friends)
    >>> division = Division(roster, [0, 1, 0, 1], ["5a", "5b"], Rules(sizes=(2, 2)), {"gender": 1.0})
    >>> [str(cost) for cost in find_costs(division)]
    ['without spreading gender: at least 2 more wishes', 'without the rule "Every class has 2 people": at least 1 more \
wish']
    """
    rules, attributes, k = division.rules, division.attributes, len(division.class_names)
    evenness = division.evenness_weight if evenness is None else evenness
    search = DivisionSearch(
        division.roster, rules, k, attributes, evenness, _EFFORT, seed, friends=division.friends
    )
    # What a further search finds anyway is nobody's cost.
    kept = max(division.wishes_kept, _kept(division, search))
    costs = []
    for name in attributes:
        others = {one: weight for one, weight in attributes.items() if one != name}
        more = _kept(division, replace(search, attributes=others)) - kept
        costs.append(Cost(name, True, max(0, more)))
    for what, left_out in _parts(division, language):
        fewer = Rules.of(rule for rule in rules.items if rule not in left_out)
        more = _kept(division, replace(search, rules=fewer)) - kept
        costs.append(Cost(what, False, max(0, more), tuple(left_out)))
    return costs


def costs_sentence(costs: Sequence[Cost], language: str = "en") -> list[str]:
    """Return what columns and rules cost as a sentence, the dearest first; none where nothing was asked."""
    dear = sorted((cost for cost in costs if cost.wishes), key=lambda cost: -cost.wishes)
    return [say(language, "costs", dear=dear, others=len(dear) < len(costs))] if costs else []


def with_costs(division: Division, language: str = "en") -> Division:
    """Return a division whose lists also have what evenness and rules cost, unless a rule is broken."""
    costs = [] if division.broken else costs_sentence(find_costs(division, language=language), language)
    return replace(division, notes=(*division.notes, *costs))


def _kept(division: Division, search: DivisionSearch) -> int:
    """Return how many wishes are kept where people are divided again, from their classes and from afar."""
    found = [search.again(division.labels), search.run(division.labels)]
    return max(division.with_labels(labels).wishes_kept for labels in found)


def _parts(division: Division, language: str) -> Iterable[tuple[str, list[Rule]]]:
    """Yield the rules one by one, or by kind where there are many of one."""
    kinds: dict[str, list[Rule]] = {}
    for rule in division.rules.items:
        kinds.setdefault(rule.keyword, []).append(rule)
    for kind, rules in kinds.items():
        if len(rules) > _SINGLE and kind in _KINDS:
            yield say(language, "rules_of", keyword=kind, n=len(rules)), rules
        else:
            for rule in rules:
                yield rule_sentence(rule, division.class_names, language), [rule]
