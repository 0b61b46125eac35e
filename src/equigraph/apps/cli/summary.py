"""Printed summaries of graphs and results: scores with their meaning, compositions, rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from equigraph._utils.text import count
from equigraph.apps.cli.console import clipped, fitting, line, table

_WIDEST = 16  # letters of a group's name in a table header
_MOST_RULES = 12  # rules that are printed one by one


def describe_graph(graph: Any, edges: str) -> str:
    """Return a description of a graph in one line."""
    kind = "weighted edge" if graph.is_weighted else "edge"
    text = f"{edges}: {count(graph.n_nodes, 'node')}, {count(graph.n_edges, kind)}"
    dropped = getattr(graph, "dropped", None)  # a graph on disk has all of its nodes
    if dropped is not None and dropped.size:
        text += f" ({count(dropped.size, 'node')} without a group left out)"
    if graph.attributes is None:
        return f"{text}, no groups"
    for name, groups in graph.attributes.groups.items():
        called = name if graph.attributes.are_several else graph.attribute or "groups"
        pairs = list(zip(groups.names.tolist(), groups.sizes.tolist(), strict=True))
        sizes = [f"{size:,} {group}" for group, size in pairs[:6]] + ["..."] * (len(pairs) > 6)
        sizes += [f"{groups.n_ungrouped:,} without"] if groups.n_ungrouped else []
        text += f"; {called}: {', '.join(sizes)}"
    return text


def print_result(result: Any) -> None:
    """Print scores and composition."""
    from equigraph.metrics.scores import COMPARED, SCORES

    status = "" if result.status is None else f", {result.status}"
    line(f"{result.method} ({result.seconds:.2f} s, seed {result.seed}{status})")
    rows = [(name, result.scores[name], SCORES[name].short) for name in COMPARED if name in result.scores]
    table(("score", "value", "meaning"), rows, left=("score", "meaning"))
    print_attributes(result.attributes, result.scores)
    line()
    print_clusters(result)


def print_attributes(attributes: Any, scores: Any) -> None:
    """Print the fairness of each of several attributes, and the largest gap between the means of numbers."""
    from equigraph.metrics.scores import OF_GROUPS, SCORES
    from equigraph.metrics.summary import score_name

    if attributes is None:
        return
    if attributes.are_several:
        line()
        rows = [
            (name, f"{weight:.3g}", *(scores.get(score_name(score, name)) for score in OF_GROUPS))
            for name, weight in zip(attributes.names, attributes.weights.tolist(), strict=True)
        ]
        heads = ("attribute", "weight", *(SCORES[score].head for score in OF_GROUPS))
        table(heads, rows, left=("attribute",))
    for name in attributes.names:
        gap, in_sd = (scores.get(score_name(score, name)) for score in ("mean_gap", "mean_gap_sd"))
        if gap is not None:
            line(
                f"The means of {name} differ by at most {gap:.3g} between clusters ({in_sd:.2f} standard deviations)."
            )


def print_clusters(result: Any) -> None:
    """Print the composition of the clusters, remarks and rules."""
    print_composition(result)
    print_remarks(result.attributes, result.sizes, result.parameters)
    _print_rules(result.rules)


def print_composition(result: Any) -> None:
    """Print the number of nodes of each cluster, by group if there are groups; one table per attribute."""
    attributes = result.attributes
    if attributes is None:
        table(("cluster", "nodes"), enumerate(result.sizes.tolist()), left=("cluster",))
        return
    for place, (attribute, groups) in enumerate(attributes.groups.items()):
        if attributes.are_several:
            if place:
                line()
            line(f"{attribute}:")
        _print_groups(result, groups)


def _print_groups(result: Any, groups: Any) -> None:
    from equigraph.metrics import Composition

    names, counts = group_counts(result, groups)
    rest, clusters = result.sizes - counts.sum(axis=1), range(result.n_clusters)
    what = Composition(clusters, names, counts, rest, counts.sum(axis=0), int(rest.sum()))
    shown = what.capped(n_groups=fitting(_WIDEST))
    heads = ["cluster", "nodes", *(clipped(name, _WIDEST) for name in shown.groups)]
    columns = [shown.clusters, shown.sizes.tolist(), *shown.counts.T.tolist()]
    whole = ["all", int(result.sizes.sum()), *shown.totals.tolist()]
    if shown.n_ungrouped:
        heads.append("no group")
        columns.append(shown.ungrouped.tolist())
        whole.append(shown.n_ungrouped)
    rows: list[Any] = list(zip(*columns, strict=True))
    if shown.n_hidden:
        rows.append([f"{shown.n_hidden:,} more", shown.hidden_nodes, *[""] * (len(heads) - 2)])
    table(heads, [*rows, whole], left=("cluster",), bold=len(rows))


def print_remarks(attributes: Any, sizes: Any, parameters: Any) -> None:
    """Print the number of nodes without a group, and clusters smaller than requested."""
    from equigraph._utils.sizes import small_clusters, small_words
    from equigraph.graph.groups.encode import ungrouped_sentence

    for name, groups in () if attributes is None else attributes.groups.items():
        if groups.n_ungrouped:
            head = f"{name}: " if attributes.are_several else ""
            line(f"{head}{ungrouped_sentence(groups.n_ungrouped)}")
    small = small_clusters(sizes, parameters)
    if small.size:
        words = small_words(sizes, small)
        line(f"{words[0].upper()}{words[1:]}, which nobody asked for.")


def _print_rules(rules: Mapping[str, Any] | None) -> None:
    """Print the rules that are kept, those given up, and their prices."""
    if rules is None:
        return
    from equigraph.analysis.pricing import RulePrices

    kept = rules["kept"]
    line()
    line(f"Rules kept ({len(kept)}):" if kept else "No rule is kept.")
    for sentence in kept[:_MOST_RULES]:
        line(f"  {sentence}")
    if len(kept) > _MOST_RULES:
        line(f"  and {len(kept) - _MOST_RULES:,} more")
    for sentence in rules["given_up"]:
        line(f"Given up: {sentence}")
    if "prices" in rules:
        line()
        heads, rows = RulePrices.from_dict(rules["prices"]).shown()
        table(heads, rows, left=heads[:1])


def group_counts(result: Any, groups: Any) -> tuple[list[str], Any]:
    """Return the names of groups, and their counts in every cluster, empty ones included."""
    from equigraph.graph.groups import contingency_table

    counts = contingency_table(result.labels, groups.codes, result.n_clusters, groups.n_groups)
    return [str(name) for name in groups.names.tolist()], counts


def sizes_by_group(result: Any, groups: Any) -> str:
    """Return the sizes of the clusters in one cell, such as ``4+6, 5+4``; plain sizes without groups."""
    if groups is None:
        return ", ".join(map(str, result.sizes.tolist()))
    _, counts = group_counts(result, groups)
    return ", ".join("+".join(map(str, row)) for row in counts.tolist())
