"""Rule on the number of nodes of a cluster."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from equigraph._utils.parameters import Integer
from equigraph._utils.text import count, listed
from equigraph.exceptions import ParameterError
from equigraph.rules.base import Rule, is_list
from equigraph.rules.check import NODES, Pair, Placement, Violation, Words
from equigraph.rules.compile import Arrays


@dataclass(frozen=True)
class Sizes(Rule):
    """The size of every cluster is within one pair of bounds, or within a pair of its own."""

    keyword: ClassVar[str] = "sizes"
    single: ClassVar[bool] = True
    bounds: tuple[Pair, ...]
    per_cluster: bool = False

    @property
    def named_clusters(self) -> tuple[int, ...]:
        """All clusters, if each has a pair of its own."""
        return tuple(range(len(self.bounds))) if self.per_cluster else ()

    @classmethod
    def parse(cls, value: Any) -> Iterator[Rule]:
        """Parse a pair, or a list of pairs."""
        if is_list(value) and len(value) and all(is_list(pair) for pair in value):
            yield cls(tuple(_pair(pair) for pair in value), per_cluster=True)
        else:
            yield cls((_pair(value),))

    @classmethod
    def argument(cls, rules: Sequence[Any]) -> Any:
        """Return a pair, or a list of pairs."""
        rule = rules[-1]
        return list(rule.bounds) if rule.per_cluster else rule.bounds[0]

    def describe(self) -> str:
        """Return the rule in words."""
        start = "clusters" if self.per_cluster else "every cluster"
        return f"{start} of {', '.join(map(NODES.range, self.bounds))}"

    def sentence(self, words: Words) -> str:
        """Return the rule as a sentence."""
        if not self.per_cluster:
            return f"Every {words.cluster} has {words.range(self.bounds[0])}."
        each = [f"{words.place(number)} has {words.range(pair)}" for number, pair in enumerate(self.bounds)]
        text = listed(each)
        return f"{text if words.names else text[:1].upper() + text[1:]}."

    def violations(self, placement: Placement) -> Iterator[Violation]:
        """Return every cluster that is too small or too large, or that has no pair of bounds."""
        pairs = dict.fromkeys(placement.clusters, self.bounds[0])
        if self.per_cluster:
            pairs = {str(cluster): pair for cluster, pair in enumerate(self.bounds)}
        sizes = placement.sizes()
        for cluster, (least, most) in pairs.items():
            size = sizes[cluster]
            if (least is not None and size < least) or (most is not None and size > most):
                yield Violation(self, (cluster,), number=size, least=least, most=most)
        for cluster in placement.clusters:
            if cluster not in pairs:
                yield Violation(self, (cluster,))

    def describe_violation(self, violation: Violation, words: Words) -> str:
        """Return the size of a cluster, and the expected one, as a sentence."""
        (cluster,) = map(words.subject, violation.clusters)
        if violation.number is None:
            return f"{cluster} is none of the {len(self.bounds)} {words.clusters} whose sizes are given."
        expected = words.range((violation.least, violation.most))
        return f"{cluster} has {words.count(violation.number)}: expected {expected}."

    def compile(self, arrays: Arrays) -> None:
        """Tighten the bounds on sizes."""
        k = arrays.n_clusters
        if self.per_cluster and len(self.bounds) != k:
            raise ParameterError(
                f"Rules: sizes lists {count(len(self.bounds), 'pair')}, and there are {count(k, 'cluster')}: expected "
                "one pair per cluster, or a single pair."
            )
        pairs = self.bounds if self.per_cluster else self.bounds * k
        arrays.least_size = np.maximum(arrays.least_size, [low or 0 for low, _ in pairs])
        most = [arrays.n if high is None else high for _, high in pairs]
        arrays.most_size = np.minimum(arrays.most_size, most)


def _pair(value: Any) -> Pair:
    sides = list(value) if is_list(value) else []
    if len(sides) == 2 and isinstance(sides[1], float) and sides[1] == math.inf:
        sides[1] = None  # TOML has no null
    if len(sides) != 2 or not all(Integer(optional=True).accepts(side) for side in sides):
        raise ParameterError(
            "Rules: sizes must be a pair (least, most) of whole numbers or None, or a list with one pair per "
            f"cluster; got {value!r}."
        )
    least, most = (None if side is None else int(side) for side in sides)
    if least is not None and most is not None and least > most:
        raise ParameterError(f"Rules: sizes={value!r}: the least size is above the most.")
    return least, most
