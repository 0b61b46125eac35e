"""What the sections of the page show: data for the template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from markupsafe import Markup
from scipy import sparse

from equigraph._utils.text import count
from equigraph.analysis.tradeoff import TradeoffCurve
from equigraph.apps.report import figures, wording
from equigraph.apps.report.baseline import method_of
from equigraph.apps.report.composition import people
from equigraph.apps.report.findings import Findings
from equigraph.apps.report.table import PageTable
from equigraph.apps.report.wording import NO_BREAK, number, percent
from equigraph.graph.groups import Groups
from equigraph.metrics.summary import MAX_CLUSTERS, MAX_GROUPS, score_name

_MAX_MOVED, _MAX_MOVES = 30, 12  # names of a row, and rows, of the table of moves
_HEADS = {"min_balance": "min. B", "n_nonempty": "clusters"}


def tiles(findings: Findings) -> list[tuple[str, str, str]]:
    """Return the key figures with those of the baseline."""
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
    return entries


def _was(value: float | None, written: Callable[[float], str], findings: Findings) -> str:
    """Say what a key figure is in the baseline."""
    return (
        "" if value is None or findings.baseline is None else f"{written(value)} {findings.baseline.phrase}"
    )


def asked(findings: Findings) -> list[tuple[str, Any]]:
    """Return what was asked for."""
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
    entries.append(("Method", Markup("<strong>{}</strong>{}").format(subject.method, summary)))
    found = int((findings.sizes > 0).sum())
    empty = f", of which {found:,} have a node" if found < findings.n_clusters else ""
    entries.append(("Clusters", f"{findings.n_clusters:,}{empty}"))
    if findings.dial is not None:
        entries.append(("Fairness dial", _dial_words(findings)))
    asked = findings.subject.parameters.get("at_least")
    if asked is not None:
        entries.append(("Fairness asked for", f"at least {asked:g}, and as cohesive as that allows"))
    return entries


def _groups_words(findings: Findings, attribute: str | None, groups: Groups) -> str:
    """Return the groups of an attribute with their sizes, and how much it counts where there are several."""
    pairs = list(zip(groups.names.tolist(), groups.sizes.tolist(), strict=True))
    parts = [f"{name} ({size:,})" for name, size in pairs[:MAX_GROUPS]]
    rest = len(pairs) - len(parts)
    parts += [f"and {rest:,} more"] if rest else []
    if groups.n_ungrouped:
        parts.append(f"no group ({groups.n_ungrouped:,})")
    head = f"{attribute}: " if attribute else ""
    attributes, share = findings.attributes, ""
    if attributes is not None and attributes.are_several and attribute is not None:
        share = f"; counts for {percent(float(attributes.weights[attributes.names.index(attribute)]))}"
    return f"{head}{', '.join(parts)}{share}"


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


def rules(findings: Findings) -> dict[str, Any] | None:
    """Return the rules that the clusters keep, those that were given up, and their prices; None without rules."""
    entries = getattr(findings.subject, "rules", None)
    if entries is None:
        return None
    prices = _prices(entries["prices"]) if "prices" in entries else None
    return {**entries, "n_kept": count(len(entries["kept"]), "rule"), "prices": prices}


def _prices(content: Any) -> dict[str, Any]:
    """Return a bar for each rule, as long as what it costs, and the table."""
    from equigraph.analysis.pricing import RulePrices

    prices = RulePrices.from_dict(content)
    first, *others = prices.rows
    most = max((row.cost for row in others), default=0.0)
    bars = [
        {
            "rule": row.rule,
            "cost": row.cost_in_words,
            "width": f"{100 * row.cost / most if most > 0 else 0.0:.3f}",
        }
        for row in others
    ]
    rows = [
        [
            row.rule,
            *map(number, (row.objective, row.Q, row.notion)),
            percent(row.links),
            row.cost_in_words if row is not first else "",
        ]
        for row in prices.rows
    ]
    heads = ["left out", "objective", "cohesion (Q)", prices.measure, "links within", "cost"]
    caption = (
        "What the clusters would be without each rule in turn. Cost: how much higher the objective would be."
    )
    return {"bars": bars, "table": PageTable(caption, heads, rows, words=(0,), stacked=True)}


def tradeoff(findings: Findings) -> dict[str, Any] | None:
    """Return the curve, None where there is none."""
    curve = findings.curve
    if curve is None or findings.point is None:
        return None
    measure = wording.NAMES.get(curve.measure, curve.measure)
    captions = {
        "front": f"Cohesion (modularity Q, to the right) against fairness ({measure}, upwards); up and to the right "
        f"is better. {_ring_words(findings)}"
    }
    if findings.is_curve:
        captions["twin"] = (
            f"Cohesion (circles, left axis) and {measure} (squares, right axis) along the dial, both from 0, and below "
            "them the number of clusters that have a node."
        )
    return {
        "sentence": wording.tradeoff_sentence(findings),
        "pictures": [
            figures.tradeoff_figure(findings, kind, caption=caption) for kind, caption in captions.items()
        ],
        "table": _points_table(findings) if findings.is_curve else None,
    }


def _ring_words(findings: Findings) -> str:
    """Say what the ring of the front is."""
    if findings.better is not None:
        return "The ring is what was found along the dial and is better than this clustering, which has its own mark."
    ring = "The ring is the chosen point" if findings.is_curve else "The ring is this clustering"
    return f"{ring}." if findings.dial is None else f"{ring}, at dial {findings.dial:.3g}."


def _points_table(findings: Findings) -> PageTable:
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
    return PageTable(
        "All points of the curve; the chosen one is emphasised",
        ["dial", *(_HEADS.get(name, name) for name in names), "sizes"],
        rows,
        words=(len(names) + 1,),
        mark=next(i for i, one in enumerate(shown) if one is point),
    )


def _sizes(sizes: Any, most: int = 12) -> str:
    parts = " ".join(map(str, sizes[:most].tolist()))
    return parts if sizes.size <= most else f"{parts} and {sizes.size - most:,} more"


def moved(findings: Findings) -> dict[str, Any] | None:
    """Return the nodes that are in another cluster than in the baseline, None without a baseline."""
    compared = findings.baseline
    if compared is None:
        return None
    nodes = compared.moved(findings.labels)
    before, after = compared.labels[nodes], findings.labels[nodes]
    pairs = Counter(zip(before.tolist(), after.tolist(), strict=True))
    common = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    rows = []
    for (old, new), size in common[:_MAX_MOVES]:
        who = people(findings, nodes[(before == old) & (after == new)], _MAX_MOVED)
        rows.append([f"{old} → {new}", f"{size:,}", who])
    rest = common[_MAX_MOVES:]
    others = count(sum(size for _, size in rest), "node")
    heads = [f"from{NO_BREAK}→{NO_BREAK}to", "nodes", "who"]
    table = PageTable("Moves between clusters, the largest first", heads, rows, words=(0, 2))
    return {
        "title": "Whom fairness moved" if "fairness" in compared.phrase else "Who moved",
        "sentence": wording.moved_sentence(findings),
        "table": table if rows else None,
        "rest": f"{count(len(rest), 'other move')} with {others}" if rest else "",
    }


def drawing(findings: Findings) -> dict[str, Any] | None:
    """Return the drawing of the graph, or of its clusters where it is too large; None without a graph."""
    graph = findings.graph
    if graph is None:
        return None
    if graph.n_nodes <= figures.MAX_DRAWN_NODES:
        numbered = " and its number" if graph.n_nodes <= figures.MAX_NUMBERED_NODES else ""
        shape = "" if findings.groups is None else "; its shape is the group"
        caption = f"Each node has the colour of its cluster{numbered}{shape}."
        return {"sentence": "", "picture": figures.graph_figure(findings, caption=caption)}
    sentence = (
        f"The graph has {count(graph.n_nodes, 'node')}. More than {figures.MAX_DRAWN_NODES:,} would cover each other, "
        "so the clusters are drawn instead."
    )
    found = int((findings.sizes > 0).sum())
    some = "" if found <= MAX_CLUSTERS else f" The {MAX_CLUSTERS} largest are drawn."
    caption = (
        "Each disc is a cluster, its area the number of nodes; the width of a line is the number of links between two "
        f"clusters.{some}"
    )
    return {"sentence": sentence, "picture": figures.cluster_graph_figure(findings, caption=caption)}


def interaction(findings: Findings) -> dict[str, Any] | None:
    """Return the heat map, None where the interaction is not known."""
    if findings.interaction is None:
        return None
    some = _interaction_words(findings)
    if findings.n_clusters > MAX_CLUSTERS:
        some += f" Shown are the {MAX_CLUSTERS} largest clusters of {findings.n_clusters:,}."
    caption = (
        "How strongly each two clusters are linked (W): the darker, the stronger. A dark diagonal means that links "
        f"stay inside clusters.{some}"
    )
    return figures.interaction_figure(findings, caption=caption)


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


def scores(findings: Findings) -> PageTable:
    """Return all scores with what they mean."""
    compared = findings.baseline
    values: dict[str, Any] = {"within": findings.within(findings.labels), **findings.scores}
    before: dict[str, Any] = {}
    if compared is not None:
        before = {"within": findings.within(compared.labels), **compared.scores}
    rows = [
        [
            wording.NAMES[name],
            number(values[name]),
            *([number(before.get(name))] if before else []),
            meaning,
        ]
        for name, meaning in wording.MEANINGS.items()
        if values.get(name) is not None
    ]
    heads = ["score", "value", *([compared.phrase] if compared is not None else []), "what it means"]
    return PageTable("Scores of these clusters", heads, rows, words=(0, len(heads) - 1), stacked=True)
