"""The rules of a page: which are kept, and what each costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equigraph._utils.text import count
from equigraph.apps.report.findings import Findings
from equigraph.apps.report.markup import Html, element, number, percent, table
from equigraph.apps.report.sections import section

_MOST_LISTED = 30


def rules(findings: Findings) -> Html:
    """List the rules that the clusters keep, those that were given up, and their prices; nothing without rules."""
    told: Mapping[str, Any] | None = getattr(findings.subject, "rules", None)
    if told is None:
        return Html("")
    kept, given_up = told["kept"], told["given_up"]
    parts = [element("p", f"These clusters keep {count(len(kept), 'rule')}, every one of them:"), _list(kept)]
    if given_up:
        parts += [element("p", "Not all rules can be kept at once. Given up:"), _list(given_up)]
    if "prices" in told:
        parts += _prices(told["prices"])
    return section("Rules", *parts)


def _list(sentences: list[str]) -> Html:
    items = [element("li", element("bdi", sentence)) for sentence in sentences[:_MOST_LISTED]]
    if len(sentences) > _MOST_LISTED:
        items.append(element("li", f"and {len(sentences) - _MOST_LISTED:,} more"))
    return element("ul", *items)


def _prices(prices: Mapping[str, Any]) -> list[Html]:
    """Return a bar for each rule, as long as what it costs, and the table."""
    first, *others = prices["rows"]
    most = max((row["cost"] for row in others), default=0.0)
    bars = [_bar(row, most) for row in others]
    rows = [
        [
            element("bdi", row["rule"]),
            number(row["objective"]),
            number(row["Q"]),
            number(row["notion"]),
            percent(row["links"]),
            _cost(row) if row is not first else "",
        ]
        for row in prices["rows"]
    ]
    caption = (
        "What the clusters would be without each rule in turn. Cost: how much higher the objective would be."
    )
    heads = ["left out", "objective", "cohesion (Q)", prices["measure"], "links within", "cost"]
    return [
        element("h3", "What each rule costs"),
        element(
            "figure",
            element("div", *bars, class_="bars"),
            element(
                "figcaption",
                "How much higher the objective would be without a rule; no bar: it binds nobody.",
            ),
        ),
        table(heads, rows, caption=caption, words=(0,), stacked=True),
    ]


def _cost(row: Mapping[str, Any]) -> str:
    if not row["binds"]:
        return "binds nobody"
    low, high = f"{row['low']:.3f}", f"{row['high']:.3f}"
    return f"{row['cost']:.3f}" if low == high else f"{low} to {high}"


def _bar(row: Mapping[str, Any], most: float) -> Html:
    width = 100 * row["cost"] / most if most > 0 else 0.0
    part = element("span", class_="part texture-0", style=f"width: {width:.3f}%; background-color: #4477aa")
    told = _cost(row)
    head = element("span", element("bdi", row["rule"]), element("small", told), class_="bar-name")
    bar = element("span", part, class_="bar", role="img", aria_label=f"{row['rule']}: {told}")
    return element("div", head, bar, class_="bar-row")
