"""The pictures of the page: displays of `equigraph.plotting`, small enough to be read on a phone."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from equigraph.exceptions import require
from equigraph.groups import Groups
from equigraph.metrics._shown import MAX_CLUSTERS, MAX_GROUPS
from equigraph.plotting import ClusterGraphDisplay, GraphDisplay, InteractionDisplay, TradeoffDisplay
from equigraph.plotting.graph import MAX_NAMED_NODES
from equigraph.plotting.style import UNGROUPED_MARKER, cluster_colors, group_markers, look, shown
from equigraph.report.findings import Findings
from equigraph.report.markup import Html, element, joined
from equigraph.report.svg import as_text, inline_svg, marker_icon

MAX_DRAWN_NODES = 1000
MAX_NUMBERED_NODES = 200  # more are too small for the number of their cluster
_MAX_VALUES = 8  # clusters of a heat map with numbers that can be read on a phone


def hex_color(color: tuple[float, ...]) -> str:
    """Return a colour as the style sheet writes it.

    >>> hex_color((0, 0.5, 1))
    '#0080ff'
    """
    return "#" + "".join(f"{round(255 * part):02x}" for part in color[:3])


def figure(picture: Html, caption: Any, *, legend: Html | None = None, kind: str = "") -> Html:
    """Return a picture with its caption."""
    box = element("div", picture, class_=f"picture {kind}".strip())
    return element("figure", box, legend or "", element("figcaption", caption))


def _axes(width: float, height: float) -> Any:
    maker = require("matplotlib.figure", extra="plot", purpose="Drawing a picture").Figure
    with look():
        return maker(figsize=(width, height), layout="constrained").add_subplot()


def tradeoff_figure(findings: Findings, kind: str, *, caption: str) -> Html:
    """Return the curve with the chosen point."""
    assert findings.curve is not None
    point, compare = findings.point, None
    if findings.better is not None and point is not None:
        point, compare = findings.better, {"this clustering": _place(point, findings.curve.measure)}
    # Checked by the display itself.
    display = TradeoffDisplay(findings.curve, kind=kind, select=point, compare=compare)  # type: ignore[arg-type]
    display.plot(_axes(5.0, 4.2 if kind == "front" else 3.9))
    display.ax_.set_title("", loc="left")  # the page has headings and captions
    return figure(inline_svg(display.figure_, name=f"tradeoff-{kind}", label=caption), caption)


def _place(point: Any, measure: str) -> tuple[float, float]:
    return point.scores["Q"], point.scores[measure]


def interaction_figure(findings: Findings, *, caption: str) -> Html:
    """Return the heat map of the largest clusters."""
    assert findings.interaction is not None
    k = min(findings.n_clusters, MAX_CLUSTERS)
    # Numbered by size, so the first ones are the largest; on a curve they are not, and are sorted here.
    largest = np.sort(np.argsort(-findings.sizes, kind="stable")[:k])
    part = sparse.csr_array(findings.interaction)[largest][:, largest]
    side = float(np.clip(1.4 + 0.6 * k, 3.2, 6.4))
    display = InteractionDisplay(part, clusters=largest).plot(
        _axes(side + 0.9, side), values=k <= _MAX_VALUES
    )
    display.ax_.set_title("", loc="left")
    return figure(inline_svg(display.figure_, name="interaction", label=caption), caption)


def graph_figure(findings: Findings, *, caption: str) -> Html:
    """Return the drawing of all nodes, with a legend of clusters and groups."""
    graph = findings.graph
    assert graph is not None
    display = GraphDisplay(graph, findings.labels, sensitive_features=findings.groups)
    # Narrow enough for a phone: names that shrink with the picture could not be read.
    size = (5.0, 5.6) if graph.n_nodes <= MAX_NAMED_NODES else (7.2, 6.0)
    display.plot(_axes(*size), legend=False, title="", numbers=graph.n_nodes <= MAX_NUMBERED_NODES)
    as_text(display.ax_.texts)
    picture = inline_svg(display.figure_, name="graph", label=caption)
    return figure(picture, caption, legend=_graph_legend(findings), kind="large")


def cluster_graph_figure(findings: Findings, *, caption: str) -> Html:
    """Return the drawing of the clusters, for graphs with too many nodes."""
    display = ClusterGraphDisplay(findings.graph, findings.labels).plot(_axes(5.2, 5.0), title="")
    return figure(inline_svg(display.figure_, name="clusters", label=caption), caption, kind="large")


def _graph_legend(findings: Findings) -> Html:
    used = np.flatnonzero(findings.sizes)
    colors = cluster_colors(used.size)
    clusters = [
        (marker_icon("o", hex_color(color)), f"{cluster} ({findings.sizes[cluster]:,})")
        for cluster, color in zip(used.tolist(), colors, strict=True)
    ]
    parts = [_legend("Colour: cluster", clusters, MAX_CLUSTERS)]
    groups = findings.groups
    if groups is not None:
        parts.append(_legend(f"Shape: {findings.attribute or 'group'}", _shapes(groups), MAX_GROUPS))
    return joined(parts)


def _shapes(groups: Groups) -> list[tuple[Html, str]]:
    named = zip(group_markers(groups.n_groups), groups.names.tolist(), groups.sizes.tolist(), strict=True)
    shapes = [
        (marker_icon(marker, "#ffffff"), f"{shown(name, 24)} ({size:,})") for marker, name, size in named
    ]
    if groups.n_ungrouped:
        shapes.append((marker_icon(UNGROUPED_MARKER, "#ffffff"), f"no group ({groups.n_ungrouped:,})"))
    return shapes


def _legend(title: str, entries: list[tuple[Html, str]], most: int) -> Html:
    items = [element("li", icon, element("bdi", name)) for icon, name in entries[:most]]
    if len(entries) > most:
        items.append(element("li", f"and {len(entries) - most:,} more"))
    return element("div", element("strong", title), element("ul", *items), class_="legend")
