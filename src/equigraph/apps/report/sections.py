"""The sections of the page: each is a heading with what belongs under it, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from equigraph._utils.text import count
from equigraph.analysis.tradeoff import TradeoffCurve
from equigraph.apps.report import figures, wording
from equigraph.apps.report.baseline import method_of
from equigraph.apps.report.findings import Findings
from equigraph.apps.report.markup import NO_BREAK, Html, element, joined, number, percent, table
from equigraph.graph.groups import Groups
from equigraph.metrics._shown import MAX_CLUSTERS, MAX_GROUPS
from equigraph.metrics.summary import Composition, score_name
from equigraph.plotting.composition import MAX_LINED_GROUPS
from equigraph.plotting.style import cluster_colors

# Names of one row of the table of moves; members are listed all, unless there are too many for anybody to read.
_MAX_MOVED = 30
_MANY_NODES, _MAX_OF_MANY = 2000, 20
_MAX_MOVES = 12  # rows of that table


_HEADS = {"min_balance": "min. B", "n_nonempty": "clusters"}
_MIRROR_NOTE = (
    " A cluster is said to mirror the population if each group is off by less than one node, or by at most "
    f"{100 * wording.TOLERANCE:.0f} % of its due number."
)
_ALIGNMENT_NOTE = (
    " Clusters with the most nodes in common are taken for the same, whatever their numbers were."
)


def section(title: str, *parts: Any, class_: str | None = None) -> Html:
    """Return a section with its heading."""
    return element("section", element("h2", title), *parts, class_=class_)


def tiles(findings: Findings) -> Html:
    """Return the key figures."""
    entries: list[tuple[str, str, str]] = []
    compared = findings.baseline
    share = findings.within(findings.labels)
    if share is not None:
        before = None if compared is None else findings.within(compared.labels)
        entries.append(("links inside clusters", percent(share), _was(before, percent, findings)))
    measure = "NB" if findings.curve is None else findings.curve.measure
    shown = {"Q": wording.NAMES.get("Q", "Q"), measure: wording.NAMES.get(measure, measure)}
    if findings.n_attributes > 1:
        shown[measure] = f"mean of {shown[measure]}"
        shown |= {score_name(measure, name): f"{measure} of {name}" for name in findings.attributes or ()}
    for name, words in shown.items():
        if name in findings.scores:
            old = None if compared is None else compared.scores.get(name)
            entries.append((words, number(findings.scores[name]), _was(old, number, findings)))
    if compared is not None:
        moved = compared.moved(findings.labels).size
        entries.append(("nodes that move", f"{moved:,}", f"of {findings.labels.size:,}"))
    items = [
        element("div", element("dt", name), element("dd", element("strong", value), element("small", old)))
        for name, value, old in entries
    ]
    return element("dl", *items, class_="tiles")


def _was(value: float | None, written: Callable[[float], str], findings: Findings) -> str:
    """Say what a key figure is in the baseline."""
    return (
        "" if value is None or findings.baseline is None else f"{written(value)} {findings.baseline.phrase}"
    )


def asked(findings: Findings) -> Html:
    """Say what was asked for."""
    subject = findings.subject
    graph = f"{count(findings.labels.size, 'node')}"
    if findings.graph is not None:
        graph += (
            f", {count(findings.graph.n_edges, 'weighted link' if findings.graph.is_weighted else 'link')}"
        )
    dropped = (subject.source or {}).get("n_dropped")
    if dropped:
        graph += (
            f"; {count(dropped, 'node')} without a group {'was' if dropped == 1 else 'were'} left out before"
        )
    source = (subject.source or {}).get("edges")
    entries: list[tuple[str, Any]] = [("Graph", graph if source is None else f"{source}: {graph}")]
    for attribute, groups, _ in findings.compositions():
        entries.append(("Groups", _groups_words(findings, attribute, groups)))
    method = method_of(subject.method)
    summary = "" if method is None else f": {method.summary}"
    entries.append(("Method", joined((element("strong", subject.method), summary))))
    found = int((findings.sizes > 0).sum())
    empty = f", of which {found:,} have a node" if found < findings.n_clusters else ""
    entries.append(("Clusters", f"{findings.n_clusters:,}{empty}"))
    if findings.dial is not None:
        entries.append(("Fairness dial", _dial_words(findings)))
    asked = findings.subject.parameters.get("at_least")
    if asked is not None:
        entries.append(("Fairness asked for", f"at least {asked:g}, and as cohesive as that allows"))
    items = [joined((element("dt", name), element("dd", what))) for name, what in entries]
    return section("What was asked", element("dl", *items, class_="facts"))


def _groups_words(findings: Findings, attribute: str | None, groups: Groups) -> str:
    """Return the groups of an attribute with their sizes, and how much it counts where there are several."""
    pairs = list(zip(groups.names.tolist(), groups.sizes.tolist(), strict=True))
    told = [f"{name} ({size:,})" for name, size in pairs[:MAX_GROUPS]]
    rest = len(pairs) - len(told)
    told += [f"and {rest:,} more"] if rest else []
    if groups.n_ungrouped:
        told.append(f"no group ({groups.n_ungrouped:,})")
    head = f"{attribute}: " if attribute else ""
    attributes, share = findings.attributes, ""
    if attributes is not None and attributes.are_several and attribute is not None:
        share = f"; counts for {percent(float(attributes.weights[attributes.names.index(attribute)]))}"
    return f"{head}{', '.join(told)}{share}"


def _dial_words(findings: Findings) -> str:
    from equigraph._utils.parameters import Real

    dial = f"{findings.dial:.3g}"
    method = method_of(findings.subject.method)
    constraint = None if method is None else method.load()._parameters["fairness"]
    if isinstance(constraint, Real) and constraint.high == 1:
        dial += ", on a scale from 0 (cohesion only) to 1 (fairness only)"
    elif constraint is not None:
        dial += ", a weight on the method's own scale; 0 is no fairness"
    if findings.curve is not None and isinstance(findings.subject, TradeoffCurve):
        dial += (
            f"; picked among {count(len(findings.curve.front), 'clustering')} that no other found dominates"
        )
    return dial


def composition(findings: Findings) -> Html:
    """Show who is in which cluster."""
    parts: list[Any] = [element("p", sentence) for sentence in wording.remarks(findings)]
    compositions = findings.compositions()
    if compositions:
        parts.insert(0, element("p", wording.fairness_sentence(findings), _MIRROR_NOTE))
    for attribute, _, what in compositions:
        if len(compositions) > 1:
            parts.append(element("h3", element("bdi", attribute)))
        parts += _bars_of(what, attribute)
    parts.append(element("h3", "Members"))
    parts.append(_members(findings))
    return section("Who is in which cluster", *parts)


def _bars_of(what: Composition, attribute: str | None) -> list[Html]:
    """Return bars and table of the groups of one attribute."""
    shown = what.capped()
    lines = ", whose borders are the dashed lines" if len(shown.groups) <= MAX_LINED_GROUPS else ""
    hidden = ""
    if shown.n_hidden:
        hidden = (
            f" Shown are the {len(shown.clusters)} largest clusters; {count(shown.n_hidden, 'other')} with "
            f"{count(shown.hidden_nodes, 'node')} are not."
        )
    return [
        figures.composition_bars(
            shown,
            caption=f"Share of each group in each cluster, and at the top in the whole population{lines}."
            f"{' Nodes without a group are in no share.' if what.ungrouped.any() else ''} Parts "
            f"below 13 % have no number; the table has all of them.{hidden}",
        ),
        figures.composition_table(shown, attribute=attribute),
    ]


def _members(findings: Findings) -> Html:
    used = np.flatnonzero(findings.sizes)
    colors = dict(zip(used.tolist(), map(figures.hex_color, cluster_colors(used.size)), strict=True))
    order = used[np.argsort(-findings.sizes[used], kind="stable")][:MAX_CLUSTERS]
    items = []
    for cluster in sorted(order.tolist()):
        members = np.flatnonzero(findings.labels == cluster)
        chip = element("span", class_="chip", style=f"background-color: {colors[cluster]}")
        head = element("h4", chip, f"Cluster {cluster} ", element("small", count(members.size, "node")))
        items.append(
            element("div", head, element("p", _names(findings, members, members.size)), class_="cluster")
        )
    if used.size > order.size:
        items.append(element("p", f"and {count(used.size - order.size, 'smaller cluster')}."))
    return element("div", *items, class_="members")


def _names(findings: Findings, nodes: Any, most: int) -> Html:
    names = findings.subject.node_names
    if names.size > _MANY_NODES:
        most = _MAX_OF_MANY
    told = joined((element("bdi", names[i]) for i in nodes[:most].tolist()), ", ")
    return told if nodes.size <= most else joined((told, f" and {nodes.size - most:,} more"))


def tradeoff(findings: Findings) -> Html:
    """Show the curve."""
    curve, point = findings.curve, findings.point
    if curve is None or point is None:
        return Html("")
    measure = wording.NAMES.get(curve.measure, curve.measure)
    parts = [
        element("p", wording.tradeoff_sentence(findings)),
        figures.tradeoff_figure(
            findings,
            "front",
            caption=f"Cohesion (modularity Q, to the right) against fairness ({measure}, upwards); up and to the right "
            f"is better. {_ring_words(findings)}",
        ),
    ]
    if findings.is_curve:
        parts.append(
            figures.tradeoff_figure(
                findings,
                "twin",
                caption=f"Cohesion (circles, left axis) and {measure} (squares, right axis) along the dial, both from "
                "0, and below them the number of clusters that have a node.",
            )
        )
        parts.append(_points_table(findings))
    return section("What fairness costs", *parts)


def _ring_words(findings: Findings) -> str:
    """Say what the ring of the front is."""
    if findings.better is not None:
        return "The ring is what was found along the dial and is better than this clustering, which has its own mark."
    ring = "The ring is the chosen point" if findings.is_curve else "The ring is this clustering"
    return f"{ring}." if findings.dial is None else f"{ring}, at dial {findings.dial:.3g}."


def _points_table(findings: Findings) -> Html:
    curve, point = findings.curve, findings.point
    assert curve is not None
    assert point is not None
    shown = curve.points_with(point)
    # Of each attribute what the curve is about; all else is in curve.csv.
    each = list(curve.attribute_measures().values())
    rest = [name for name in curve.points[0].scores if name != curve.measure and "[" not in name]
    names = [curve.measure, *each, *rest]
    rows = [
        [f"{one.fairness:.3g}", *(number(one.scores[name]) for name in names), _sizes(one.sizes)]
        for one in shown
    ]
    return table(
        ["dial", *(_HEADS.get(name, name) for name in names), "sizes"],
        rows,
        caption="All points of the curve; the chosen one is emphasised",
        words=(len(names) + 1,),
        mark=next(i for i, one in enumerate(shown) if one is point),
    )


def _sizes(sizes: Any, most: int = 12) -> str:
    told = " ".join(map(str, sizes[:most].tolist()))
    return told if sizes.size <= most else f"{told} and {sizes.size - most:,} more"


def moved(findings: Findings) -> Html:
    """List the nodes that are in another cluster than in the baseline."""
    compared = findings.baseline
    if compared is None:
        return Html("")
    title = "Whom fairness moved" if "fairness" in compared.phrase else "Who moved"
    nodes = compared.moved(findings.labels)
    parts: list[Any] = [element("p", wording.moved_sentence(findings), _ALIGNMENT_NOTE if nodes.size else "")]
    if nodes.size:
        pairs = Counter(zip(compared.labels[nodes].tolist(), findings.labels[nodes].tolist(), strict=True))
        common = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
        rows = []
        for (old, new), size in common[:_MAX_MOVES]:
            these = nodes[(compared.labels[nodes] == old) & (findings.labels[nodes] == new)]
            rows.append([f"{old} → {new}", f"{size:,}", _names(findings, these, _MAX_MOVED)])
        parts.append(
            table(
                [f"from{NO_BREAK}→{NO_BREAK}to", "nodes", "who"],
                rows,
                caption="Moves between clusters, the largest first",
                words=(0, 2),
            )
        )
        rest = common[_MAX_MOVES:]
        if rest:
            others = count(sum(size for _, size in rest), "node")
            parts.append(element("p", f"and {count(len(rest), 'other move')} with {others}."))
    return section(title, *parts)


def drawing(findings: Findings) -> Html:
    """Draw the graph, or its clusters where it is too large."""
    graph = findings.graph
    if graph is None:
        return Html("")
    if graph.n_nodes <= figures.MAX_DRAWN_NODES:
        numbered = " and its number" if graph.n_nodes <= figures.MAX_NUMBERED_NODES else ""
        shape = "" if findings.groups is None else "; its shape is the group"
        caption = f"Each node has the colour of its cluster{numbered}{shape}."
        return section("The graph", figures.graph_figure(findings, caption=caption))
    words = (
        f"The graph has {count(graph.n_nodes, 'node')}. More than {figures.MAX_DRAWN_NODES:,} would cover each other, "
        "so the clusters are drawn instead."
    )
    found = int((findings.sizes > 0).sum())
    some = "" if found <= MAX_CLUSTERS else f" The {MAX_CLUSTERS} largest are drawn."
    caption = (
        "Each disc is a cluster, its area the number of nodes; the width of a line is the number of links between two "
        f"clusters.{some}"
    )
    return section("The graph", element("p", words), figures.cluster_graph_figure(findings, caption=caption))


def interaction(findings: Findings) -> Html:
    """Show the heat map."""
    if findings.interaction is None:
        return Html("")
    some = _interaction_words(findings)
    if findings.n_clusters > MAX_CLUSTERS:
        some += f" Shown are the {MAX_CLUSTERS} largest clusters of {findings.n_clusters:,}."
    caption = (
        "How strongly each two clusters are linked (W): the darker, the stronger. A dark diagonal means that links "
        f"stay inside clusters.{some}"
    )
    return section("How the clusters are linked", figures.interaction_figure(findings, caption=caption))


def _interaction_words(findings: Findings) -> str:
    """Say what the numbers are, where they are not factors of the method."""
    from equigraph.base import interaction_of

    if findings.graph is None or findings.interaction is None:
        return ""
    means = interaction_of(findings.graph, findings.labels, findings.n_clusters)
    gap = sparse.csr_array(findings.interaction) - means
    if abs(gap).max() > 1e-6 * abs(findings.interaction).max():
        return ""
    if findings.graph.is_weighted:
        return " Each value is the mean weight of a link from a node of one to a node of the other."
    return " Each value is the share of the possible links between the two that there are."


def scores(findings: Findings) -> Html:
    """List all scores with what they mean."""
    compared = findings.baseline
    values: dict[str, Any] = {"within": findings.within(findings.labels), **findings.scores}
    before: dict[str, Any] = {}
    if compared is not None:
        before = {"within": findings.within(compared.labels), **compared.scores}
    rows = []
    for name, meaning in wording.MEANINGS.items():
        if values.get(name) is not None:
            old = [number(before.get(name))] if before else []
            rows.append([wording.NAMES[name], number(values[name]), *old, meaning])
    heads = ["score", "value", *([compared.phrase] if compared is not None else []), "what it means"]
    return section(
        "Scores",
        element(
            "p",
            "No fairness score means anything without a score of cohesion beside it: random clusters are nearly fair.",
        ),
        table(heads, rows, caption="Scores of these clusters", words=(0, len(heads) - 1), stacked=True),
    )
