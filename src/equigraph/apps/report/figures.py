"""Figures of the page: displays of `equigraph.plotting` at the size of a phone."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from markupsafe import Markup
from scipy import sparse

from equigraph._utils.text import shown
from equigraph.apps.report.findings import Findings
from equigraph.exceptions import require
from equigraph.metrics.summary import MAX_CLUSTERS, MAX_GROUPS
from equigraph.plotting import ClusterGraphDisplay, GraphDisplay, InteractionDisplay, TradeoffDisplay
from equigraph.plotting.graph import MAX_NAMED_NODES
from equigraph.plotting.style import UNGROUPED_MARKER, cluster_colors, group_markers, look

# Small figures have legible text on a phone.
_ENLARGED = 1.25
_HALO = "halo"
# The page has rules for the style; the head of the file is not part of a page.
_DROPPED = re.compile(
    r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>|<style.*?</style>", re.DOTALL
)
_TAG = re.compile(r"<[^>]*>")
_REFERENCES = re.compile(r'url\(#([^)]+)\)|href="#([^"]+)"')


def as_text(texts: Iterable[Any]) -> None:
    """Leave the halo of texts to the style sheet, since matplotlib writes texts with a halo as paths."""
    for text in texts:
        if text.get_path_effects():
            text.set_path_effects([])
            text.set_gid(_HALO)


def inline_svg(figure: Any, name: str, label: str) -> Markup:
    """Return a figure as an svg element.

    Its ids start with the name, which is unique on a page; the label is for screen readers.
    """
    buffer = io.StringIO()
    with look(), warnings.catch_warnings():
        # The browser has fonts for all characters.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure.savefig(buffer, format="svg", bbox_inches="tight", pad_inches=0.05, metadata={"Date": None})
    text = _DROPPED.sub("", buffer.getvalue())
    used = {one or other for one, other in _REFERENCES.findall(text)}

    def named(found: re.Match[str]) -> str:
        return f' id="{name}-{found[1]}"' if found[1] in used else ""

    def tag(found: re.Match[str]) -> str:
        one = " ".join(found[0].split()).replace("base64, ", "base64,")
        one = one.replace("xlink:href=", "href=").replace(f'id="{_HALO}"', f'class="{_HALO}"')
        return re.sub(r'(url\(#|href="#)', rf"\1{name}-", re.sub(r' id="([^"]*)"', named, one))

    outer, _, drawing = re.sub(r">\s+<", "><", _TAG.sub(tag, text)).strip().partition(">")
    size = dict(re.findall(r'(width|viewBox)="([^"]*)"', outer))
    # The view box sets the proportions; the width is that of the page, up to slightly above the drawn one.
    width = float(size["width"].removesuffix("pt")) * 4 / 3 * _ENLARGED
    head = Markup('<svg viewBox="{}" role="img" aria-label="{}" style="max-width: {:.0f}px">')
    return head.format(size["viewBox"], shown(label), width) + Markup(drawing)


def marker_icon(marker: str, color: str) -> Markup:
    """Return a plot marker as a small svg element, for legends."""
    from matplotlib.markers import MarkerStyle

    style = MarkerStyle(marker)
    path = style.get_path().transformed(style.get_transform())
    polygons = [np.asarray(polygon) for polygon in path.to_polygons(closed_only=False)]
    outline = " ".join("M" + "L".join(f"{x:.2f} {-y:.2f}" for x, y in polygon) + "Z" for polygon in polygons)
    box = 'viewBox="-0.62 -0.62 1.24 1.24" class="icon" aria-hidden="true"'
    return Markup(
        f'<svg {box}><path d="{outline}" fill="{color}" stroke="#222222" stroke-width="0.06"/></svg>'
    )


MAX_DRAWN_NODES = 1000
MAX_NUMBERED_NODES = 200  # with more, clusters are too small for their number
_MAX_VALUES = 8  # most clusters of a heat map with numbers legible on a phone


def hex_color(color: tuple[float, ...]) -> str:
    """Return a colour in hexadecimal notation."""
    return "#" + "".join(f"{round(255 * part):02x}" for part in color[:3])


def _picture(figure: Any, name: str, **more: Any) -> dict[str, Any]:
    """Return a figure for the page: a function that renders it with a caption, and its legends."""
    return {"svg": partial(inline_svg, figure, name), "legends": (), "large": False, **more}


def _axes(width: float, height: float) -> Any:
    maker = require("matplotlib.figure", extra="plot", purpose="Drawing a picture").Figure
    with look():
        return maker(figsize=(width, height), layout="constrained").add_subplot()


def tradeoff_figure(findings: Findings, kind: str) -> dict[str, Any]:
    """Return the curve with the chosen point."""
    assert findings.curve is not None
    point, compare = findings.point, None
    if findings.better is not None:
        here = (findings.scores["Q"], findings.scores[findings.curve.measure])
        point, compare = findings.better, {"this clustering": here}
    # Checked by the display.
    display = TradeoffDisplay(findings.curve, kind=kind, select=point, compare=compare)  # type: ignore[arg-type]
    display.plot(_axes(5.0, 4.2 if kind == "front" else 3.9))
    display.ax_.set_title("", loc="left")  # the page has headings and captions
    return _picture(display.figure_, f"tradeoff-{kind}")


def interaction_figure(findings: Findings) -> dict[str, Any] | None:
    """Return the heat map of the largest clusters, None if the interaction is unknown."""
    if findings.interaction is None:
        return None
    k = min(findings.n_clusters, MAX_CLUSTERS)
    # Clusters of a result are numbered by size; those of a curve are sorted here.
    largest = np.sort(np.argsort(-findings.sizes, kind="stable")[:k])
    part = sparse.csr_array(findings.interaction)[largest][:, largest]
    side = float(np.clip(1.4 + 0.6 * k, 3.2, 6.4))
    display = InteractionDisplay(part, clusters=largest).plot(
        _axes(side + 0.9, side), values=k <= _MAX_VALUES
    )
    display.ax_.set_title("", loc="left")
    return _picture(display.figure_, "interaction")


def graph_figure(findings: Findings) -> dict[str, Any]:
    """Return the drawing of the graph, with a legend of clusters and groups."""
    graph = findings.graph
    assert graph is not None
    display = GraphDisplay(graph, findings.labels, sensitive_features=findings.groups)
    # Narrow enough for a phone, where names in a scaled figure would be illegible.
    size = (5.0, 5.6) if graph.n_nodes <= MAX_NAMED_NODES else (7.2, 6.0)
    display.plot(_axes(*size), legend=False, title="", numbers=graph.n_nodes <= MAX_NUMBERED_NODES)
    as_text(display.ax_.texts)
    return _picture(display.figure_, "graph", legends=_graph_legends(findings), large=True)


def cluster_graph_figure(findings: Findings) -> dict[str, Any]:
    """Return the drawing of the clusters, for graphs with too many nodes."""
    display = ClusterGraphDisplay(findings.graph, findings.labels).plot(_axes(5.2, 5.0), title="")
    return _picture(display.figure_, "clusters", large=True)


def _graph_legends(findings: Findings) -> list[dict[str, Any]]:
    used = np.flatnonzero(findings.sizes)
    entries = [
        (marker_icon("o", hex_color(color)), f"{cluster} ({findings.sizes[cluster]:,})")
        for cluster, color in zip(used.tolist(), cluster_colors(used.size), strict=True)
    ]
    legends = [{"title": "Colour: cluster", "entries": entries, "most": MAX_CLUSTERS}]
    groups = findings.groups
    if groups is None:
        return legends
    named = [f"{shown(name, 24)} ({size:,})" for name, size in zip(groups.names, groups.sizes, strict=True)]
    shapes = [*group_markers(groups.n_groups)]
    if groups.n_ungrouped:
        shapes, named = [*shapes, UNGROUPED_MARKER], [*named, f"no group ({groups.n_ungrouped:,})"]
    entries = [(marker_icon(one, "#ffffff"), name) for one, name in zip(shapes, named, strict=True)]
    return [
        *legends,
        {"title": f"Shape: {findings.attribute or 'group'}", "entries": entries, "most": MAX_GROUPS},
    ]
