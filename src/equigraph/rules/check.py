"""The oracle: every violation of every rule, found by looking."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from equigraph.graph.labels import labels_in_order
from equigraph.graph.names import texts
from equigraph.rules.base import Rule
from equigraph.rules.facts import Facts
from equigraph.rules.violation import Placement, Violation


def violations(
    rules: Iterable[Rule],
    graph: Any,
    labels: Any,
    sensitive_features: Any = None,
    n_clusters: int | None = None,
) -> list[Violation]:
    """List every violation, in the order of the rules.

    Parameters are those of `equigraph.rules.Rules.check`; `graph` may also be `Facts`.
    """
    facts = Facts.of(graph, sensitive_features)
    column = texts(labels_in_order(labels, facts.graph))
    asked = set() if n_clusters is None else set(map(str, range(n_clusters)))
    placement = Placement(facts, column, sorted({*column, *asked}, key=_by_number))
    return [violation for rule in rules for violation in rule.violations(placement)]


def _by_number(text: str) -> tuple[int, str]:
    return (int(text) if text.isdecimal() else -1, text)
