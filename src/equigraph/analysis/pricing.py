"""Prices of rules: the gain in the objective without each rule, or if an attribute need not be spread.

A search is heuristic, and a price is a difference of two of its values. So every set of rules is searched more than
once, all labels found are evaluated under every set of rules that they keep, and the price is a range if the searches
differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from equigraph._utils.callbacks import Callbacks, Notifier
from equigraph._utils.notebook import page_of, text_table
from equigraph._utils.parameters import CALLBACKS, Boolean, Choice, Real, check_parameters
from equigraph._utils.records import Tabular
from equigraph.analysis.wording import in_words
from equigraph.exceptions import ParameterError
from equigraph.graph import Graph
from equigraph.metrics.quality import share_inside
from equigraph.results.cluster import score_labels
from equigraph.results.features import graph_of, notion_of
from equigraph.results.formats import decode
from equigraph.rules import Facts, Rule, Rules, Sizes, keeps
from equigraph.rules.base import in_words as rules_in_words
from equigraph.search.bounds import check_size_bounds
from equigraph.search.feasible import FeasibleSearch, make_feasible_search
from equigraph.search.pool import TOLERANCE, Target

# More rules than this are priced by kind, not one by one.
_MOST_SINGLE = 30
# Smaller gains are rounding errors; smaller differences are not mentioned in words.
_LEAST, _SAME = 1e-9, 5e-4
# Number of searches for each set of rules.
_SEARCHES = 2
# At a dial of 1 a search stops as soon as fairness is within .01 of the highest; prices need the highest.
_LARGEST_DIAL = 1 - 1e-6
ALL, UNRULED, NONE = "all rules kept", "as they are", "without any rule"


@dataclass(frozen=True)
class Price:
    """Scores of the best clusters without some rules, or if an attribute need not be spread.

    Attributes
    ----------
    rule : str
        The rules that are left out, in words, or the attribute.
    objective, Q, notion, links : float
        The objective, modularity, the fairness notion and the share of links kept inside clusters.
    cost : float
        Gain of the objective over the best found with all rules.
    low, high : float
        The least and the greatest difference between what single searches found without the rules and with all rules;
        the same if the searches agree.
    binds : bool
        Whether leaving the rules out improves fairness or the objective.
    """

    rule: str
    objective: float
    Q: float
    notion: float
    links: float
    cost: float
    low: float
    high: float
    binds: bool

    @property
    def cost_in_words(self) -> str:
        """The cost in words: a range if searches differ, "binds nobody" if it costs nothing."""
        if not self.binds:
            return "binds nobody"
        low, high = f"{self.low:.3f}", f"{self.high:.3f}"
        return f"{self.cost:.3f}" if low == high else f"{low} to {high}"


@dataclass(frozen=True, eq=False, repr=False)
class RulePrices(Tabular):
    """Prices of rules.

    Attributes
    ----------
    rows : tuple of Price
        The clusters as they are, without each rule, without spreading each attribute (if requested), and without any
        rule.
    measure : str
        Name of the score of the notion.
    missed : float
        Gain of the objective by the best clusters with all rules that the searches found.
    """

    rows: tuple[Price, ...]
    measure: str
    missed: float = 0.0

    @property
    def _single(self) -> list[Price]:
        # A callback may have stopped the searches before the last row.
        return [row for row in self.rows[1:] if row.rule != NONE]

    @property
    def idle(self) -> tuple[str, ...]:
        """The rules without effect: no better clusters were found without them."""
        return tuple(row.rule for row in self._single if not row.binds)

    def table(self) -> dict[str, NDArray]:
        """Return the columns rule, objective, Q, the measure of the notion, links, cost, low, high and binds."""
        names = {field.name: field.name for field in fields(Price)} | {"notion": self.measure}
        return {head: np.array([getattr(row, name) for row in self.rows]) for name, head in names.items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        """Return the prices from the content of `to_dict`."""
        found: Self = decode(content, cls, Path("The prices of rules"))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the rows and the measure, ready for JSON."""
        return {"measure": self.measure, "missed": self.missed, "rows": [vars(row) for row in self.rows]}

    def shown(self) -> tuple[list[str], list[list[Any]]]:
        """Return the heads and the rows of the displayed table; the first row is the result itself."""
        rows: list[list[Any]] = []
        for one in self.rows:
            cost = one.cost_in_words if rows else ""
            rows.append([one.rule, one.objective, one.Q, one.notion, f"{one.links:.0%}", cost])
        return ["left out", "objective", "Q", self.measure, "links", "cost"], rows

    def __repr__(self) -> str:
        return text_table(self.describe() or "Prices of rules", *self.shown())

    def _repr_html_(self) -> str:
        """Return the table, for a notebook."""
        return page_of(self.describe() or "Prices of rules", *self.shown())

    def describe(self) -> str:
        """Return sentences on the rule with the highest price, and on the rules without effect.

        Examples
        --------
        >>> row = Price("0 and 1 apart", 0.5, 0.5, 1.0, 0.8, 0.1, 0.08, 0.1, True)
        >>> RulePrices((row, row, row), "NB").describe()
        'Dearest: 0 and 1 apart, which costs 0.080 to 0.100 of the objective.'
        """
        dearest = max(self._single, key=lambda row: row.cost, default=None)
        return in_words("prices", dearest=dearest, idle=self.idle, missed=self.missed, same=_SAME)


def price(
    result: Any,
    graph: Any,
    by: str | None,
    effort: float | None,
    callbacks: Callbacks,
    attributes: bool = False,
) -> RulePrices:
    """Price the rules of a result; see `equigraph.ClusteringResult.price`."""
    check_parameters(
        "price",
        {
            "by": Choice(values=("rule", "kind"), optional=True),
            "effort": Real(low=0, optional=True),
            "callbacks": CALLBACKS,
            "attributes": Boolean(),
        },
        locals(),
    )
    if result.method != "FairPartition" or (result.rules is None and not attributes):
        raise ParameterError(
            "There are no rules to price: expected clusters that FairPartition made under rules."
        )
    return _Pricing(result, graph_of(result, graph), effort).prices(by, attributes, Notifier(callbacks))


class _Pricing:
    """Searches with subsets of the rules, from the same clusters."""

    def __init__(self, result: Any, graph: Graph, effort: float | None) -> None:
        parameters = result.parameters
        self.result, self.graph, self.facts = result, graph, Facts(graph)
        self.notion = notion_of(result)
        self.rules: tuple[Rule, ...] = ()
        if result.rules is not None:
            given_up = set(result.rules["given_up"])
            items = Rules.from_dict(parameters["rules"]).items
            self.rules = tuple(rule for rule in items if rule.describe() not in given_up)
        self.target = Target()
        if graph.attributes is not None:
            self.target = Target(min(parameters["fairness"], _LARGEST_DIAL), parameters["at_least"])
        bounds = parameters["size_bounds"]
        if bounds == "auto":
            # The same for all variants: as far as the clusters keep them, and none beside rules on sizes.
            usual = check_size_bounds("auto", graph.n_nodes, result.n_clusters)[0]
            least = min(usual, int(np.bincount(result.labels).min()))
            bounds = None if any(isinstance(rule, Sizes) for rule in self.rules) else (least, None)
        self.options: dict[str, Any] = {
            "notion": self.notion,
            "size_bounds": tuple(bounds) if isinstance(bounds, list) else bounds,
            "effort": parameters["effort"] / 5 if effort is None else effort,
        }
        # Labels found by each search, with its variant; all of them are evaluated under every variant.
        self.found: list[tuple[_Variant | None, NDArray]] = [(None, np.asarray(result.labels))]

    def prices(self, by: str | None, attributes: bool, notify: Notifier) -> RulePrices:
        """Return all prices; fewer if a callback asks to stop."""
        whole = _Variant(self, ALL if self.rules else UNRULED, self.rules)
        variants = []
        for part in self._parts(by):
            name = (
                f"all {len(part)} rules of the kind {part[0].keyword}"
                if len(part) > 1
                else rules_in_words(part)
            )
            variants.append(_Variant(self, name, tuple(rule for rule in self.rules if rule not in part)))
        known = self.graph.attributes
        if attributes and known is not None:
            for name, weight in zip(known.names, known.weights.tolist(), strict=True):
                if weight:
                    variants.append(_Variant(self, f"{name} not spread evenly", self.rules, name))
        variants.append(_Variant(self, NONE, ()))
        runs = [(one, turn) for turn in range(_SEARCHES) for one in variants]
        runs.append((whole, 0))
        for step, (variant, turn) in enumerate(runs, start=1):
            variant.search(turn)
            if notify("price", step, len(runs)):
                break
        best = whole.best()
        own = replace(whole.price(self.found[0][1], best), cost=0.0, low=0.0, high=0.0, binds=False)
        seen = [variant for variant, _ in self.found]
        rows = [one.price(one.best(), best) for one in variants if one in seen]
        missed = whole.value(best)[1] - own.objective
        if missed < (TOLERANCE if self.target.fairness == _LARGEST_DIAL else 0):
            missed = 0.0
        return RulePrices((own, *rows), self.notion.measure, missed)

    def _parts(self, by: str | None) -> list[list[Rule]]:
        """Return the rules that are left out together: each alone, or all of a kind."""
        single = by == "rule" or (by is None and len(self.rules) <= _MOST_SINGLE)
        parts: dict[Any, list[Rule]] = {}
        for place, rule in enumerate(self.rules):
            parts.setdefault(place if single else rule.keyword, []).append(rule)
        return list(parts.values())


class _Variant:
    """A variant of the problem: some of the rules, perhaps without one of the attributes."""

    def __init__(
        self, pricing: _Pricing, name: str, rules: tuple[Rule, ...], without: str | None = None
    ) -> None:
        self.pricing, self.name, self.rules, self.target = pricing, name, rules, pricing.target
        self.codes = self.weights = None
        attributes = pricing.graph.attributes
        if attributes is not None:
            counts = [one != without for one in attributes.names]
            weights = attributes.weights[counts]
            if weights.sum() > 0:
                self.codes, self.weights = attributes.codes[:, counts], weights / weights.sum()
            else:
                self.target = Target()
        self.first = self._feasible_search(0)

    def _feasible_search(self, turn: int) -> FeasibleSearch:
        pricing = self.pricing
        return make_feasible_search(
            Rules.of(self.rules),
            pricing.facts,
            self.codes,
            pricing.result.n_clusters,
            starts=[labels for _, labels in pricing.found],
            weights=self.weights,
            seed=pricing.result.seed + turn,
            **pricing.options,
        )

    def search(self, turn: int) -> None:
        """Search for labels, starting from all those found before."""
        feasible = self._feasible_search(turn) if turn else self.first
        near = [one for _, one in self.pricing.found]
        for labels in near:
            feasible.keep(labels)
        labels = feasible.solve([self.target], near[:1])[0]
        self.pricing.found.append((self, labels))

    def value(self, labels: NDArray) -> tuple[float, float]:
        """Return the fairness of labels, up to the bound (0 without one), and their objective."""
        modularity, notion = self.first.score(labels)
        if self.target.at_least is not None:
            return min(notion, self.target.at_least), modularity
        f = self.target.fairness
        return 0.0, (1 - f) * modularity + f * notion

    def best(self) -> NDArray:
        """Return the best of all labels found that keep the rules."""
        kept = [labels for _, labels in self.pricing.found if keeps(self.first.rules, labels)]
        return max(kept, key=self.value)

    def price(self, labels: NDArray, base: NDArray) -> Price:
        """Return the price by labels, from their difference to the best labels that keep all rules."""
        graph, notion, found = self.pricing.graph, self.pricing.notion, self.pricing.found
        scores = score_labels(graph, labels, notion)
        (fair, value), (fair_base, value_base) = self.value(labels), self.value(base)
        own = self.value(found[0][1])[1]
        alone = [self.value(one)[1] for searched, one in found if searched is self] or [own]
        return Price(
            self.name,
            value,
            float(scores["Q"]),
            float(scores.get(notion.measure, 0.0)),
            float(share_inside(graph.adjacency, labels)) if graph.n_edges else 0.0,
            cost=max(value - value_base, 0.0),
            low=max(min(alone) - value_base, 0.0),
            high=max(value - own, 0.0),
            binds=fair > fair_base + _LEAST or value > value_base + _LEAST,
        )
