"""The page: values for the template, and writing of the file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from equigraph._utils.files import write_text
from equigraph._utils.records import parameters_of
from equigraph._utils.sizes import small_clusters, small_words
from equigraph._utils.templates import render
from equigraph._utils.text import count, listed
from equigraph.analysis.pricing import RulePrices
from equigraph.analysis.tradeoff import TradeoffCurve
from equigraph.apps.report import figures
from equigraph.apps.report.figures import hex_color
from equigraph.apps.report.findings import Findings, dial_ends, findings_of, method_of
from equigraph.base import interaction_of
from equigraph.exceptions import MissingDependencyError
from equigraph.graph.groups import Groups
from equigraph.graph.groups.encode import ungrouped_sentence
from equigraph.metrics import composition
from equigraph.metrics.notions import NORMALIZED
from equigraph.metrics.scores import COMPARED, OF_NOTIONS, SCORES
from equigraph.metrics.summary import MAX_CLUSTERS, MAX_GROUPS, Composition, score_name
from equigraph.plotting.clusters import MAX_LINED_GROUPS
from equigraph.plotting.style import cluster_colors, group_colors, text_color
from equigraph.results.result import ClusteringResult

# A cluster mirrors the whole if each group is off by less than one member, or by at most this share of what whole nodes
# allow. A bound in percentage points would not work: a cluster without a group of 3 % is off by only three.
TOLERANCE = 0.1
_MAX_MOVED, _MAX_MOVES = 30, 12  # most names of a row, and rows, in the table of moves
# Most members that are listed completely.
_MANY_NODES, _MAX_OF_MANY = 2000, 20
_MAX_SIZES = 12  # most cluster sizes listed in a row of the curve
_MAX_FEW = 3  # most groups named as too small for all clusters
_HEADS = {"min_balance": "min. B", "n_nonempty": "clusters"}
# The number of clusters comes last.
_LISTED = (*(SCORES[name] for name in COMPARED), *OF_NOTIONS.values(), SCORES["n_nonempty"])
_WITHIN = "Share of the links (by weight) whose two ends are in the same cluster; more is more cohesive."
MEANINGS = {"within": _WITHIN, **{score.name: score.meaning for score in _LISTED}}
NAMES = {"within": "links inside clusters", **{score.name: score.words for score in _LISTED}}


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def number(value: Any) -> str:
    """Return a score with three digits, a count unchanged, or a dash if missing."""
    if value is None or value != value:
        return "\N{EN DASH}"
    return f"{value:,}" if isinstance(value, int) else f"{value:.3f}".replace("-", "\N{MINUS SIGN}")


def write_report(
    subject: ClusteringResult | TradeoffCurve,
    path: str | os.PathLike[str],
    *,
    graph: Any = None,
    baseline: Any = True,
    select: Any = "product",
) -> list[str]:
    """Write one self-contained page about a clustering or a curve.

    A clustering is compared with a baseline, as in `ClusteringResult.report`; of a curve, one point is explained, given
    or selected by a rule. Returns sentences on omitted content and the reasons.
    """
    found = findings_of(subject, graph, baseline=baseline, select=select)
    write_text(path, make_page(found))
    return found.left_out


def make_page(findings: Findings) -> str:
    """Return the page."""
    subject, curve = findings.subject, findings.curve
    status = getattr(subject, "status", "stopped" if getattr(subject, "stopped", False) else None)
    rules, method = getattr(subject, "rules", None), method_of(subject.method)
    measure = "NB" if curve is None else curve.measure
    attributes = subject.attributes.groups if subject.attributes else {}
    small = small_clusters(findings.sizes, subject.parameters)
    return render(
        "equigraph.apps.report",
        f=findings,
        subject=subject,
        source={"edges": None, "command": None, "n_dropped": None, **(subject.source or {})},
        status=status,
        measure=measure,
        names_of_scores=NAMES,
        percent=percent,
        number=number,
        count=count,
        repr=repr,
        tolerance=TOLERANCE,
        tiles=_tiles(findings, measure),
        method=method,
        dial_ends=dial_ends(method.load()) if method and findings.dial is not None else None,
        max_groups=MAX_GROUPS,
        max_clusters=MAX_CLUSTERS,
        figures=figures,
        compositions=[_composition(findings, name, groups) for name, groups in attributes.items()],
        gaps=_gaps_of_means(findings),
        small=small_words(findings.sizes, small) if small.size else "",
        members=_members(findings),
        rules=rules,
        prices=RulePrices.from_dict(rules["prices"]) if rules and "prices" in rules else None,
        tradeoff=_drawn(_tradeoff, findings),
        points=_points(findings) if findings.is_curve else None,
        moved=_moved(findings),
        drawing=_drawn(_drawing, findings),
        interaction=_drawn(figures.interaction_figure, findings),
        has_mean_interaction=_has_mean_interaction(findings),
        scores=_scores(findings),
        given=_given(findings),
        seeds=subject.seeds if isinstance(subject, TradeoffCurve) else (subject.seed,),
    )


def _drawn(make: Callable[[Findings], Any], findings: Findings) -> Any:
    """Return the content of a section with figures; None without matplotlib, with one sentence in `left_out`."""
    try:
        return make(findings)
    except MissingDependencyError as error:
        if str(error) not in findings.left_out:
            findings.left_out.append(str(error))
        return None


def _tiles(findings: Findings, measure: str) -> dict[str, str]:
    """Return the headline scores with their descriptions."""
    tiles = {name: NAMES.get(name, name) for name in ("Q", measure)}
    attributes = findings.subject.attributes or ()
    if len(attributes) > 1:
        tiles[measure] = f"mean of {tiles[measure]}"
        tiles |= {score_name(measure, name): f"{measure} of {name}" for name in attributes}
    return {name: words for name, words in tiles.items() if name in findings.scores}


def mirroring(what: Composition) -> dict[str, Any]:
    """Count the clusters that mirror the population, and find the widest gap between a share in one and in all.

    Clusters without a member of any group count as mirroring.
    """
    grouped = what.counts.sum(axis=1) > 0
    scores = np.where(grouped, NORMALIZED.cluster_scores(what.counts), 1.0)
    gaps = np.where(grouped[:, None], np.abs(what.shares - what.population), 0.0)
    cluster, group = np.unravel_index(int(np.argmax(np.round(gaps, 12))), gaps.shape)
    return {
        "n": scores.size,
        "n_close": int((scores >= 1 - TOLERANCE - 1e-12).sum()),
        "closest": bool((scores == 1).all()),  # whether all are as close as whole nodes allow
        "cluster": what.clusters.tolist()[cluster],
        "group": what.groups.tolist()[group],
        "share": float(what.shares[cluster, group]),
        "population": float(what.population[group]),
    }


def _composition(findings: Findings, name: str, groups: Groups) -> dict[str, Any]:
    """Return the groups of an attribute in each nonempty cluster and, last, in all nodes."""
    several = len(findings.subject.attributes or ()) > 1
    what = composition(findings.labels, sensitive_features=groups)
    shown = what.capped()
    clusters = zip(shown.clusters, shown.counts.tolist(), shown.ungrouped.tolist(), strict=True)
    sizes = zip(groups.names.tolist(), groups.sizes.tolist(), strict=True)
    few = [f"{name} ({size:,})" for name, size in sizes if size < what.clusters.size]
    named = few if len(few) <= _MAX_FEW else [*few[:_MAX_FEW], f"{len(few) - _MAX_FEW:,} more"]
    return {
        "attribute": name if several else findings.attribute,
        "groups": groups,
        "shown": shown,
        "mirror": mirroring(what),
        "ungrouped": ungrouped_sentence(groups.n_ungrouped) if groups.n_ungrouped else None,
        "n_few": len(few),
        "few": listed(named) if few else None,
        "colors": [(hex_color(color), text_color(color)) for color in group_colors(len(shown.groups))],
        "borders": (np.cumsum(shown.totals)[:-1] / shown.totals.sum()).tolist(),
        "lined": len(shown.groups) <= MAX_LINED_GROUPS,
        "rows": [
            *((f"Cluster {cluster}", counts, rest) for cluster, counts, rest in clusters),
            ("All", shown.totals.tolist(), shown.n_ungrouped),
        ],
    }


def _gaps_of_means(findings: Findings) -> list[tuple[Any, ...]]:
    """Return the attributes of numbers with the largest gap between the means of clusters, also in deviations."""
    found = [
        (name, *(findings.scores.get(score_name(one, name)) for one in ("mean_gap", "mean_gap_sd")))
        for name in findings.subject.attributes or ()
    ]
    return [one for one in found if one[1] is not None]


def _members(findings: Findings) -> dict[str, Any]:
    """Return the members of each cluster."""
    used = np.flatnonzero(findings.sizes)
    colors = dict(zip(used.tolist(), map(hex_color, cluster_colors(used.size)), strict=True))
    order = used[np.argsort(-findings.sizes[used], kind="stable")][:MAX_CLUSTERS]
    clusters = []
    for cluster in sorted(order.tolist()):
        nodes = np.flatnonzero(findings.labels == cluster)
        clusters.append((cluster, colors[cluster], nodes.size, _people(findings, nodes, nodes.size)))
    return {"clusters": clusters, "n_rest": int(used.size - order.size)}


def _people(findings: Findings, nodes: NDArray[np.intp], most: int) -> dict[str, Any]:
    """Return names of nodes, and the number of further ones."""
    names = findings.subject.node_names
    most = _MAX_OF_MANY if names.size > _MANY_NODES else most
    return {"names": [names[i] for i in nodes[:most].tolist()], "n_more": max(nodes.size - most, 0)}


def _tradeoff(findings: Findings) -> dict[str, Any] | None:
    """Return the figures of the curve, None without one."""
    if findings.curve is None:
        return None
    kinds = ("front", "twin") if findings.is_curve else ("front",)
    return {kind: figures.tradeoff_figure(findings, kind) for kind in kinds}


def _points(findings: Findings) -> dict[str, Any]:
    """Return the table of the points of a curve."""
    curve: Any = findings.curve
    shown = curve.points_with(findings.point)
    # For each attribute the measure of the curve; other scores are in curve.csv.
    rest = [name for name in curve.points[0].scores if name != curve.measure and "[" not in name]
    names = [curve.measure, *curve.attribute_measures().values(), *rest]
    rows = []
    for one in shown:
        sizes = " ".join(map(str, one.sizes[:_MAX_SIZES].tolist()))
        if one.sizes.size > _MAX_SIZES:
            sizes += f" and {one.sizes.size - _MAX_SIZES:,} more"
        rows.append([f"{one.fairness:.3g}", *(one.scores[name] for name in names), sizes])
    heads = ["dial", *(_HEADS.get(name, name) for name in names), "sizes"]
    mark = next(i for i, one in enumerate(shown) if one is findings.point)
    return {"heads": heads, "rows": rows, "mark": mark}


def _moved(findings: Findings) -> dict[str, Any] | None:
    """Return the nodes whose cluster differs from the baseline, None without one."""
    if findings.baseline is None:
        return None
    nodes = np.flatnonzero(findings.baseline.labels != findings.labels)
    before, after = findings.baseline.labels[nodes], findings.labels[nodes]
    pairs = Counter(zip(before.tolist(), after.tolist(), strict=True))
    common = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    rows = []
    for (old, new), size in common[:_MAX_MOVES]:
        who = _people(findings, nodes[(before == old) & (after == new)], _MAX_MOVED)
        rows.append([f"{old} → {new}", f"{size:,}", who])
    rest = [size for _, size in common[_MAX_MOVES:]]
    return {"n": int(nodes.size), "rows": rows, "n_rest": len(rest), "rest_nodes": sum(rest)}


def _drawing(findings: Findings) -> dict[str, Any] | None:
    """Return the drawing of the graph, or of its clusters if it is too large; None without a graph."""
    if findings.graph is None:
        return None
    if findings.graph.n_nodes <= figures.MAX_DRAWN_NODES:
        return figures.graph_figure(findings)
    return figures.cluster_graph_figure(findings)


def _has_mean_interaction(findings: Findings) -> bool:
    """Return whether the interaction is the mean link weight between clusters, not a factor of the method."""
    if findings.graph is None or findings.interaction is None:
        return False
    means = interaction_of(findings.graph, findings.labels, findings.n_clusters)
    gap = sparse.csr_array(findings.interaction) - means
    return bool(abs(gap).max() <= 1e-6 * abs(findings.interaction).max())


def _scores(findings: Findings) -> list[list[Any]]:
    """Return all scores with their meaning, beside those of the baseline."""
    compared = (findings, findings.baseline) if findings.baseline else (findings,)
    columns = [{"within": findings.within(one.labels), **one.scores} for one in compared]
    return [
        [NAMES[name], *(values.get(name) for values in columns), meaning]
        for name, meaning in MEANINGS.items()
        if columns[0].get(name) is not None
    ]


def _given(findings: Findings) -> str:
    """Return the parameters of the method that are not the default, as they are written in Python."""
    subject = findings.subject
    method = method_of(subject.method)
    default = {} if method is None else parameters_of(method.load()())
    return ", ".join(
        f"{name}={value!r}"
        for name, value in subject.parameters.items()
        if name != "random_state" and (name not in default or default[name] != value)
    )
