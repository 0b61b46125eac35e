"""A result in words: scores with their meaning, and who is in which cluster."""

from __future__ import annotations

from typing import Any

from equigraph.cli.console import line, table

MEANINGS = {
    "Q": "modularity: edges within clusters beyond what chance gives; higher is more cohesive",
    "B": "balance: smallest group over largest, averaged over clusters; 1 is equal numbers",
    "NB": "normalised balance: 1 when every cluster mirrors the population, as far as whole nodes allow",
    "min_balance": "balance of the worst cluster",
    "rho": "individual balance: 1 when everyone's group is spread evenly over the clusters",
}


_OF_EACH = {"NB": "NB", "B": "B", "min_balance": "min B", "rho": "rho"}


def print_result(result: Any) -> None:
    """Print scores and composition."""
    status = "" if result.status is None else f", {result.status}"
    line(f"{result.method} ({result.seconds:.2f} s, seed {result.seed}{status})")
    rows = [
        (name, result.scores[name], meaning) for name, meaning in MEANINGS.items() if name in result.scores
    ]
    table(("score", "value", "meaning"), rows, left=("score", "meaning"))
    print_attributes(result.attributes, result.scores)
    line()
    print_composition(result)
    print_remarks(result.attributes, result.sizes, result.parameters)


def print_attributes(attributes: Any, scores: Any) -> None:
    """Print the fairness of each of several attributes, and how far the means of numbers lie apart."""
    from equigraph.metrics.summary import score_name

    if attributes is None:
        return
    if attributes.are_several:
        line()
        rows = [
            (name, f"{weight:.3g}", *(scores.get(score_name(score, name)) for score in _OF_EACH))
            for name, weight in zip(attributes.names, attributes.weights.tolist(), strict=True)
        ]
        table(("attribute", "weight", *_OF_EACH.values()), rows, left=("attribute",))
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
    names, counts = group_counts(result, groups)
    sizes = result.sizes.tolist()
    if groups.n_ungrouped:
        names = [*names, "no group"]
        counts = [[*row, size - sum(row)] for row, size in zip(counts, sizes, strict=True)]
    rows = [(cluster, size, *row) for cluster, (row, size) in enumerate(zip(counts, sizes, strict=True))]
    total = [sum(column) for column in zip(*counts, strict=True)]
    table(
        ("cluster", "nodes", *names), [*rows, ("all", sum(sizes), *total)], left=("cluster",), bold=len(rows)
    )


def print_remarks(attributes: Any, sizes: Any, parameters: Any) -> None:
    """Print how many nodes have no group, and which clusters are smaller than anybody asked for."""
    from equigraph.groups.remarks import ungrouped_sentence
    from equigraph.sizes import small_clusters, small_words

    for name, groups in () if attributes is None else attributes.groups.items():
        if groups.n_ungrouped:
            head = f"{name}: " if attributes.are_several else ""
            line(f"{head}{ungrouped_sentence(groups.n_ungrouped)}")
    small = small_clusters(sizes, parameters)
    if small.size:
        words = small_words(sizes, small)
        line(f"{words[0].upper()}{words[1:]}, which nobody asked for.")


def group_counts(result: Any, groups: Any) -> tuple[list[str], list[list[int]]]:
    """Return the names of groups, and their numbers in every cluster, empty clusters included."""
    from equigraph.groups import contingency_table

    counts = contingency_table(result.labels, groups.codes, result.n_clusters, groups.n_groups)
    return [str(name) for name in groups.names.tolist()], counts.tolist()


def sizes_by_group(result: Any, groups: Any) -> str:
    """Return the sizes of the clusters in one cell, such as ``4+6, 5+4``; without groups they are whole."""
    if groups is None:
        return ", ".join(map(str, result.sizes.tolist()))
    _, counts = group_counts(result, groups)
    return ", ".join("+".join(map(str, row)) for row in counts)
