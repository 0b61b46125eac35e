"""What rules cost: the clusters there would be without each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Callbacks, Notifier
from equigraph._utils.parameters import CALLBACKS, Choice, Real, check_parameters
from equigraph._utils.records import Tabular
from equigraph.exceptions import ParameterError
from equigraph.graph import Graph
from equigraph.metrics import evaluate
from equigraph.metrics.links import share_inside
from equigraph.metrics.notions import NOTIONS, Notion
from equigraph.results.features import graph_of
from equigraph.results.scoring import score_labels
from equigraph.rules import Facts, Rule, Rules
from equigraph.rules.base import in_words
from equigraph.search.agree import search_under
from equigraph.search.targets import Target

# More rules than this are left out by kind, not one by one.
_MOST_SINGLE = 30
# What is less is rounding.
_LEAST = 1e-9
ALL, NONE = "all rules kept", "without any rule"


@dataclass(frozen=True)
class Price:
    """What the clusters would be without some rules.

    Attributes
    ----------
    rule : str
        The rules that are left out, in words.
    objective, Q, notion, links : float
        The objective, modularity, the fairness notion and the share of links kept inside clusters.
    cost : float
        How much higher the objective is than with all rules.
    binds : bool
        Whether leaving the rules out changes anything for the better.
    """

    rule: str
    objective: float
    Q: float
    notion: float
    links: float
    cost: float
    binds: bool


@dataclass(frozen=True, eq=False)
class RulePrices(Tabular):
    """What each rule costs.

    Attributes
    ----------
    rows : tuple of Price
        With all rules, without each in turn, and without any.
    measure : str
        What the notion is called.
    """

    rows: tuple[Price, ...]
    measure: str

    @property
    def idle(self) -> tuple[str, ...]:
        """The rules that bind nobody: without them nothing better was found."""
        return tuple(row.rule for row in self.rows[1:-1] if not row.binds)

    def table(self) -> dict[str, NDArray]:
        """Return the columns rule, objective, Q, the measure of the notion, links, cost and binds."""
        names = ("rule", "objective", "Q", "notion", "links", "cost", "binds")
        heads = {"notion": self.measure}
        return {heads.get(name, name): np.array([getattr(row, name) for row in self.rows]) for name in names}

    def to_dict(self) -> dict[str, Any]:
        """Return the rows and the measure, ready for JSON."""
        return {"measure": self.measure, "rows": [vars(row) for row in self.rows]}

    def describe(self) -> str:
        """Say in words what is dearest, and which rules bind nobody.

        Examples
        --------
        >>> row = Price("0 and 1 apart", 0.5, 0.5, 1.0, 0.8, 0.1, True)
        >>> RulePrices((row, row, row), "NB").describe()
        'Dearest: 0 and 1 apart, which costs 0.100 of the objective.'
        """
        single = self.rows[1:-1]
        words = []
        if any(row.binds for row in single):
            dearest = max(single, key=lambda row: row.cost)
            words.append(f"Dearest: {dearest.rule}, which costs {dearest.cost:.3f} of the objective.")
        if self.idle:
            words.append(f"Without any effect here: {'; '.join(self.idle)}.")
        return " ".join(words)


def _name(part: tuple[Rule, ...]) -> str:
    return in_words(part) if len(part) == 1 else f"all {len(part)} rules of the kind {part[0].keyword}"


def price(result: Any, graph: Any, by: str | None, effort: float | None, callbacks: Callbacks) -> RulePrices:
    """Price the rules of a result; see `equigraph.ClusteringResult.price`."""
    check_parameters(
        "price",
        {
            "by": Choice(values=("rule", "kind"), optional=True),
            "effort": Real(low=0, optional=True),
            "callbacks": CALLBACKS,
        },
        locals(),
    )
    if result.rules is None or result.method != "FairPartition":
        raise ParameterError(
            "There are no rules to price: expected clusters that FairPartition made under rules."
        )
    return _Pricing(result, graph_of(result, graph), effort).prices(by, Notifier(callbacks))


class _Pricing:
    """Searches with fewer rules, from the same clusters."""

    def __init__(self, result: Any, graph: Graph, effort: float | None) -> None:
        told = result.parameters
        if told["notion"] not in NOTIONS:
            raise ParameterError("Rules under a notion of one's own cannot be priced from a stored result.")
        self.result, self.graph, self.facts = result, graph, Facts(graph)
        self.notion: Notion = NOTIONS[told["notion"]]
        self.target = Target(float(told["fairness"]), told["at_least"])
        given_up = set(result.rules["given_up"])
        items = Rules.from_dict(told["rules"]).items
        self.rules = tuple(rule for rule in items if rule.describe() not in given_up)
        attributes = graph.attributes
        bounds = told["size_bounds"]
        self.codes = None if attributes is None else attributes.codes
        self.options: dict[str, Any] = {
            "notion": self.notion,
            "weights": None if attributes is None else attributes.weights,
            "size_bounds": tuple(bounds) if isinstance(bounds, list) else bounds,
            "effort": told["effort"] / 5 if effort is None else effort,
            "seed": result.seed,
        }

    def prices(self, by: str | None, notify: Notifier) -> RulePrices:
        """Return all prices; fewer where somebody wants to stop."""
        labels = self._found(self.rules, [self.result.labels])
        first = self._row(ALL, labels, None)
        parts = self._parts(by)
        rows = [first]
        for step, part in enumerate([*parts, self.rules], start=1):
            rest = tuple(rule for rule in self.rules if rule not in part)
            name = NONE if step > len(parts) else _name(part)
            rows.append(self._row(name, self._found(rest, [labels]), first))
            if notify("price", step, len(parts) + 1):
                break
        return RulePrices(tuple(rows), self.notion.measure)

    def _parts(self, by: str | None) -> list[tuple[Rule, ...]]:
        if by == "rule" or (by is None and len(self.rules) <= _MOST_SINGLE):
            return [(rule,) for rule in self.rules]
        kinds: dict[str, list[Rule]] = {}
        for rule in self.rules:
            kinds.setdefault(rule.keyword, []).append(rule)
        return [tuple(kind) for kind in kinds.values()]

    def _found(self, rules: tuple[Rule, ...], starts: list[NDArray]) -> NDArray:
        agreement = search_under(
            Rules.of(rules), self.facts, self.codes, self._n_clusters, starts=starts, **self.options
        )
        search = agreement.search
        for labels in starts:
            search.keep(labels)
        return agreement.checked(search.solve([self.target], starts)[0])

    @property
    def _n_clusters(self) -> int:
        return int(self.result.n_clusters)

    def _row(self, name: str, labels: NDArray, first: Price | None) -> Price:
        grouped = self.graph.attributes is not None
        scores = score_labels(self.graph, labels, self.notion) if grouped else evaluate(self.graph, labels)
        q, notion = float(scores["Q"]), float(scores.get(self.notion.measure, 0.0))
        fairness = self.target.fairness if grouped else 0.0
        value = q if self.target.at_least is not None else (1 - fairness) * q + fairness * notion
        cost = 0.0 if first is None else max(value - first.objective, 0.0)
        links = float(share_inside(self.graph.adjacency, labels)) if self.graph.n_edges else 0.0
        return Price(name, value, q, notion, links, cost, cost > _LEAST)
