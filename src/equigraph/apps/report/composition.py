"""Groups in clusters: the bars, their table, and the members."""

from __future__ import annotations

from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from equigraph._utils.text import count
from equigraph.apps.report.figures import hex_color
from equigraph.apps.report.findings import Findings
from equigraph.apps.report.table import PageTable
from equigraph.apps.report.wording import percent
from equigraph.metrics.summary import MAX_CLUSTERS, Composition, Shown
from equigraph.plotting.composition import MAX_LINED_GROUPS
from equigraph.plotting.style import cluster_colors, group_colors, text_color

# Members are listed all, unless there are too many for anybody to read.
_MANY_NODES, _MAX_OF_MANY = 2000, 20
_MIN_WRITTEN = 0.13  # narrower parts of a bar have no room for a number


def compositions(findings: Findings) -> list[dict[str, Any]]:
    """Return the bars and the table of each attribute."""
    return [_composition(what, attribute) for attribute, _, what in findings.compositions()]


def _composition(what: Composition, attribute: str | None) -> dict[str, Any]:
    shown = what.capped()
    lined = len(shown.groups) <= MAX_LINED_GROUPS
    borders = np.cumsum(shown.totals)[:-1] / shown.totals.sum() if lined else []
    bars = [
        _bar(f"Cluster {cluster}", counts, int(rest), shown, borders)
        for cluster, counts, rest in zip(shown.clusters, shown.counts, shown.ungrouped, strict=True)
    ]
    caption = (
        "Share of each group in each cluster, and at the top in the whole population"
        f"{', whose borders are the dashed lines' * lined}."
        f"{' Nodes without a group are in no share.' * bool(what.ungrouped.any())} Parts below 13 % have no number; "
        "the table has all of them."
    )
    if shown.n_hidden:
        caption += (
            f" Shown are the {len(shown.clusters)} largest clusters; {count(shown.n_hidden, 'other')} with "
            f"{count(shown.hidden_nodes, 'node')} are not."
        )
    colors = map(hex_color, group_colors(len(shown.groups)))
    return {
        "attribute": attribute,
        "groups": [
            {"texture": _texture(i), "color": color, "name": name}
            for i, (name, color) in enumerate(zip(shown.groups, colors, strict=True))
        ],
        "bars": [{**_bar("All", shown.totals, shown.n_ungrouped, shown, ()), "whole": True}, *bars],
        "caption": caption,
        "table": _table(shown, attribute),
    }


def _texture(group: int) -> str:
    """Return the class of a group's texture: neighbours differ in more than their colour."""
    return f"part texture-{group % 3}"


def _bar(
    label: str, counts: NDArray[np.int64], n_ungrouped: int, shown: Shown, borders: Any
) -> dict[str, Any]:
    size = int(counts.sum())
    shares = [percent(part / max(size, 1)) for part in counts.tolist()]
    parts = [
        {
            "texture": _texture(i),
            "width": f"{100 * part / size:.3f}",
            "color": hex_color(color),
            "ink": text_color(color),
            "title": f"{shown.groups[i]}: {part:,} of {size:,} ({shares[i]})",
            "written": shares[i] if part / size >= _MIN_WRITTEN else "",
        }
        for i, (part, color) in enumerate(zip(counts.tolist(), group_colors(counts.size), strict=True))
        if part
    ]
    return {
        "label": label,
        "size": f"{size + n_ungrouped:,}",
        "words": ", ".join(f"{group} {share}" for group, share in zip(shown.groups, shares, strict=True)),
        "parts": parts,
        "borders": [f"{100 * border:.3f}" for border in borders],
        "whole": False,
    }


def _table(shown: Shown, attribute: str | None) -> PageTable:
    """Return the numbers behind the bars."""
    pair = Markup('<span class="pair">{:,} <small>{}</small></span>')

    def row(name: str, counts: NDArray[np.int64], rest: int) -> list[Any]:
        size = max(int(counts.sum()), 1)
        cells = [pair.format(part, percent(part / size)) for part in counts.tolist()]
        return [name, f"{counts.sum() + rest:,}", *cells, *([f"{rest:,}"] if shown.n_ungrouped else [])]

    rows = [
        row(f"Cluster {cluster}", counts, int(rest))
        for cluster, counts, rest in zip(shown.clusters, shown.counts, shown.ungrouped, strict=True)
    ]
    rows.append(row("All", shown.totals, shown.n_ungrouped))
    heads = ["cluster", "nodes", *shown.groups, *(["no group"] if shown.n_ungrouped else [])]
    caption = f"Nodes of each {attribute or 'group'} in each cluster"
    return PageTable(caption, heads, rows, words=(0,), mark=len(rows) - 1)


def members(findings: Findings) -> dict[str, Any]:
    """Return who is in each cluster."""
    used = np.flatnonzero(findings.sizes)
    colors = dict(zip(used.tolist(), map(hex_color, cluster_colors(used.size)), strict=True))
    order = used[np.argsort(-findings.sizes[used], kind="stable")][:MAX_CLUSTERS]
    clusters = []
    for cluster in sorted(order.tolist()):
        nodes = np.flatnonzero(findings.labels == cluster)
        clusters.append(
            {
                "number": cluster,
                "color": colors[cluster],
                "size": count(nodes.size, "node"),
                "people": people(findings, nodes, nodes.size),
            }
        )
    rest = used.size - order.size
    return {"clusters": clusters, "rest": count(rest, "smaller cluster") if rest else ""}


def people(findings: Findings, nodes: NDArray[np.intp], most: int) -> dict[str, Any]:
    """Return the names of nodes, and how many more there are."""
    names = findings.subject.node_names
    most = _MAX_OF_MANY if names.size > _MANY_NODES else most
    return {"names": [names[i] for i in nodes[:most].tolist()], "n_more": max(nodes.size - most, 0)}
