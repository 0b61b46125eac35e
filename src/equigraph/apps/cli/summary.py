"""A result in words: scores with their meaning, and who is in which cluster."""

from __future__ import annotations

from typing import Any

from equigraph.apps.cli.console import clipped, fitting, line, table
from equigraph.apps.cli.rules import print_rules

_WIDEST = 16  # letters of a group's name at the head of a table


def print_result(result: Any) -> None:
    """Print scores and composition."""
    from equigraph.metrics.scores import COMPARED, SCORES

    status = "" if result.status is None else f", {result.status}"
    line(f"{result.method} ({result.seconds:.2f} s, seed {result.seed}{status})")
    rows = [(name, result.scores[name], SCORES[name].short) for name in COMPARED if name in result.scores]
    table(("score", "value", "meaning"), rows, left=("score", "meaning"))
    print_attributes(result.attributes, result.scores)
    line()
    print_composition(result)
    print_remarks(result.attributes, result.sizes, result.parameters)
    print_rules(result.rules)


def print_attributes(attributes: Any, scores: Any) -> None:
    """Print the fairness of each of several attributes, and how far the means of numbers lie apart."""
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
        table(
            ("attribute", "weight", *(SCORES[score].head for score in OF_GROUPS)), rows, left=("attribute",)
        )
    for name in attributes.names:
        gap, in_sd = (scores.get(score_name(score, name)) for score in ("mean_gap", "mean_gap_sd"))
        if gap is not None:
            line(
                f"The means of {name} differ by at most {gap:.3g} between clusters ({in_sd:.2f} standard deviations)."
            )


def print_composition(result: Any) -> None:
    """Print the nodes of each cluster, by group where there are groups; one table for each attribute."""
    if result.attributes is None:
        table(("cluster", "nodes"), enumerate(result.sizes.tolist()), left=("cluster",))
        return
    several = result.attributes.are_several
    for place, (attribute, groups) in enumerate(result.attributes.groups.items()):
        if several:
            if place:
                line()
            line(f"{attribute}:")
        _print_groups(result, groups)


def _print_groups(result: Any, groups: Any) -> None:
    from equigraph.metrics.summary import capped

    names, counts = group_counts(result, groups)
    rest = result.sizes - counts.sum(axis=1)
    shown = capped(list(range(result.n_clusters)), names, counts, rest, n_groups=fitting(_WIDEST))
    heads = [
        "cluster",
        "nodes",
        *(clipped(name, _WIDEST) for name in shown.groups),
        *(["no group"] if shown.n_ungrouped else []),
    ]
    parts = zip(
        shown.clusters, shown.sizes.tolist(), shown.counts.tolist(), shown.ungrouped.tolist(), strict=True
    )
    rows = [
        [cluster, size, *row, *([none] if shown.n_ungrouped else [])] for cluster, size, row, none in parts
    ]
    if shown.n_hidden:
        rows.append([f"{shown.n_hidden:,} more", shown.hidden_nodes, *[""] * (len(heads) - 2)])
    whole = ["all", int(result.sizes.sum()), *shown.totals.tolist()]
    rows.append([*whole, shown.n_ungrouped] if shown.n_ungrouped else whole)
    table(heads, rows, left=("cluster",), bold=len(rows) - 1)


def print_remarks(attributes: Any, sizes: Any, parameters: Any) -> None:
    """Print how many nodes have no group, and which clusters are smaller than anybody asked for."""
    from equigraph._utils.sizes import small_clusters, small_words
    from equigraph.graph.groups.remarks import ungrouped_sentence

    for name, groups in () if attributes is None else attributes.groups.items():
        if groups.n_ungrouped:
            head = f"{name}: " if attributes.are_several else ""
            line(f"{head}{ungrouped_sentence(groups.n_ungrouped)}")
    small = small_clusters(sizes, parameters)
    if small.size:
        words = small_words(sizes, small)
        line(f"{words[0].upper()}{words[1:]}, which nobody asked for.")


def group_counts(result: Any, groups: Any) -> tuple[list[str], Any]:
    """Return the names of groups, and their numbers in every cluster, empty clusters included."""
    from equigraph.graph.groups import contingency_table

    counts = contingency_table(result.labels, groups.codes, result.n_clusters, groups.n_groups)
    return [str(name) for name in groups.names.tolist()], counts


def sizes_by_group(result: Any, groups: Any) -> str:
    """Return the sizes of the clusters in one cell, such as ``4+6, 5+4``; without groups they are whole."""
    if groups is None:
        return ", ".join(map(str, result.sizes.tolist()))
    _, counts = group_counts(result, groups)
    return ", ".join("+".join(map(str, row)) for row in counts.tolist())
