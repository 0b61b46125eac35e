"""Bars of the groups in each cluster, drawn by the style sheet so that they fit every width."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from equigraph.metrics._shown import Shown
from equigraph.plotting.composition import MAX_LINED_GROUPS
from equigraph.plotting.style import group_colors, text_color
from equigraph.report.figures import hex_color
from equigraph.report.markup import Html, element, percent, table

_MIN_WRITTEN = 0.13  # narrower parts of a bar have no room for a number


def composition_bars(shown: Shown, *, caption: str) -> Html:
    """Return one bar for the population and one per cluster."""
    colors = [hex_color(color) for color in group_colors(len(shown.groups))]
    inks = [text_color(color) for color in group_colors(len(shown.groups))]
    rows = [_row("all", shown.totals, shown.n_ungrouped, shown, colors, inks, borders=())]
    borders = np.cumsum(shown.totals)[:-1] / shown.totals.sum()
    if len(shown.groups) > MAX_LINED_GROUPS:
        borders = borders[:0]
    rows += [
        _row(str(cluster), counts, int(rest), shown, colors, inks, borders=borders)
        for cluster, counts, rest in zip(shown.clusters, shown.counts, shown.ungrouped, strict=True)
    ]
    keys = [
        element(
            "li",
            element("span", class_=_texture(i), style=f"background-color: {color}"),
            element("bdi", name),
        )
        for i, (name, color) in enumerate(zip(shown.groups, colors, strict=True))
    ]
    return element(
        "figure",
        element("div", element("ul", *keys), class_="legend keys"),
        element("div", *rows, class_="bars"),
        element("figcaption", caption),
    )


def _texture(group: int) -> str:
    """Return the class of a group's texture: neighbours differ in more than their colour."""
    return f"part texture-{group % 3}"


def _row(
    name: str,
    counts: NDArray[np.int64],
    n_ungrouped: int,
    shown: Shown,
    colors: list[str],
    inks: list[str],
    *,
    borders: Any,
) -> Html:
    size = int(counts.sum())
    parts = []
    for i, part in enumerate(counts.tolist()):
        if part:
            share = part / size
            written = (
                element("span", percent(share), style=f"background-color: {colors[i]}")
                if share >= _MIN_WRITTEN
                else ""
            )
            style = f"width: {100 * share:.3f}%; background-color: {colors[i]}; color: {inks[i]}"
            title = f"{shown.groups[i]}: {part:,} of {size:,} ({percent(share)})"
            parts.append(element("span", written, class_=_texture(i), style=style, title=title))
    lines = [element("i", style=f"left: {100 * border:.3f}%") for border in borders]
    label = "All" if name == "all" else f"Cluster {name}"
    head = element(
        "span", element("strong", label), element("small", f"{size + n_ungrouped:,}"), class_="bar-name"
    )
    words = ", ".join(
        f"{group} {percent(part / max(size, 1))}"
        for group, part in zip(shown.groups, counts.tolist(), strict=True)
    )
    bar = element("span", *parts, *lines, class_="bar", role="img", aria_label=f"{label}: {words}")
    return element("div", head, bar, class_="bar-row whole" if name == "all" else "bar-row")


def composition_table(shown: Shown, *, attribute: str | None) -> Html:
    """Return the numbers behind the bars."""

    def cells(counts: NDArray[np.int64]) -> list[Html]:
        size = max(int(counts.sum()), 1)
        return [
            element("span", f"{part:,} ", element("small", percent(part / size)), class_="pair")
            for part in counts.tolist()
        ]

    def row(name: str, counts: NDArray[np.int64], rest: int) -> list[Any]:
        ungrouped = [f"{rest:,}"] if shown.n_ungrouped else []
        return [name, f"{counts.sum() + rest:,}", *cells(counts), *ungrouped]

    rows = [
        row(f"Cluster {cluster}", counts, int(rest))
        for cluster, counts, rest in zip(shown.clusters, shown.counts, shown.ungrouped, strict=True)
    ]
    rows.append(row("All", shown.totals, shown.n_ungrouped))
    heads = ["cluster", "nodes", *(element("bdi", name) for name in shown.groups)]
    heads += ["no group"] if shown.n_ungrouped else []
    caption = f"Nodes of each {attribute or 'group'} in each cluster"
    return table(heads, rows, caption=caption, words=(0,), mark=len(rows) - 1)
