"""The kinds of rules: a new one is a file with its class, its argument here and its line in `KINDS`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypedDict

from equigraph._utils.text import did_you_mean
from equigraph.exceptions import ParameterError
from equigraph.rules.apart import Apart
from equigraph.rules.base import Rule
from equigraph.rules.counts import AtLeast, AtMost
from equigraph.rules.fixed import Allowed, Fixed
from equigraph.rules.friends import Friends
from equigraph.rules.not_alone import NotAlone
from equigraph.rules.shares import Shares
from equigraph.rules.sizes import Sizes
from equigraph.rules.together import Together
from equigraph.rules.words import Pair

Listed = Sequence[tuple[Sequence[Hashable], int]]


class RuleArguments(TypedDict, total=False):
    """The keyword arguments of `equigraph.rules.Rules`."""

    together: Sequence[Sequence[Hashable]] | None
    apart: Sequence[Sequence[Hashable]] | None
    fixed: Mapping[Any, int] | None
    allowed: Mapping[Any, Sequence[int]] | None
    sizes: Pair | Sequence[Pair] | None
    friends: int | Mapping[str, Any] | None
    at_least: Mapping[str, Mapping[Any, int]] | Listed | None
    at_most: Mapping[str, Mapping[Any, int]] | Listed | None
    not_alone: Mapping[str, int] | None
    shares: Mapping[str, float] | None


_ALL: tuple[type[Rule], ...] = (
    Together,
    Apart,
    Fixed,
    Allowed,
    Sizes,
    Friends,
    AtLeast,
    AtMost,
    NotAlone,
    Shares,
)
KINDS: dict[str, type[Rule]] = {kind.keyword: kind for kind in _ALL}


def parse_rules(arguments: Mapping[str, Any]) -> tuple[Rule, ...]:
    """Return the single rules of keyword arguments, in their order; None stands for no rule."""
    items: list[Rule] = []
    for keyword, value in arguments.items():
        if keyword not in KINDS:
            raise ParameterError(
                f"Rules: there is no rule {keyword!r}{did_you_mean(keyword, KINDS)}: "
                f"expected {', '.join(KINDS)}."
            )
        if value is not None:
            items.extend(KINDS[keyword].parse(value))
    return tuple(items)


def arguments_of(rules: Sequence[Rule]) -> dict[str, Any]:
    """Return keyword arguments that make these rules, in the order in which the kinds first occur."""
    kinds: dict[str, list[Rule]] = {}
    for rule in rules:
        kinds.setdefault(rule.keyword, []).append(rule)
    content = {keyword: KINDS[keyword].argument(own) for keyword, own in kinds.items()}
    for keyword, own in kinds.items():
        if len(list(KINDS[keyword].parse(content[keyword]))) < len(set(own)):
            raise ParameterError(
                f"Rules: two of the kind {keyword} speak of the same, and cannot be given as one argument: "
                "expected one of them."
            )
    return content
