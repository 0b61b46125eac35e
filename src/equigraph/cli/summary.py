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


def print_result(result: Any) -> None:
    """Print scores and composition."""
    status = "" if result.status is None else f", {result.status}"
    line(f"{result.method} ({result.seconds:.2f} s, seed {result.seed}{status})")
    rows = [
        (name, result.scores[name], meaning) for name, meaning in MEANINGS.items() if name in result.scores
    ]
    table(("score", "value", "meaning"), rows, left=("score", "meaning"))
    line()
    print_composition(result)
    print_remarks(result.groups, result.sizes, result.parameters)


def print_composition(result: Any) -> None:
    """Print the nodes of each cluster, by group where there are groups."""
    if result.sensitive_features is None:
        table(("cluster", "nodes"), enumerate(result.sizes.tolist()), left=("cluster",))
        return
    names, counts = group_counts(result)
    sizes = result.sizes.tolist()
    if result.groups.n_ungrouped:
        names = [*names, "no group"]
        counts = [[*row, size - sum(row)] for row, size in zip(counts, sizes, strict=True)]
    rows = [(cluster, size, *row) for cluster, (row, size) in enumerate(zip(counts, sizes, strict=True))]
    total = [sum(column) for column in zip(*counts, strict=True)]
    table(
        ("cluster", "nodes", *names), [*rows, ("all", sum(sizes), *total)], left=("cluster",), bold=len(rows)
    )


def print_remarks(groups: Any, sizes: Any, parameters: Any) -> None:
    """Print how many nodes have no group, and which clusters are smaller than anybody asked for."""
    from equigraph.groups.remarks import ungrouped_sentence
    from equigraph.sizes import small_clusters, small_words

    if groups is not None and groups.n_ungrouped:
        line(ungrouped_sentence(groups.n_ungrouped))
    small = small_clusters(sizes, parameters)
    if small.size:
        words = small_words(sizes, small)
        line(f"{words[0].upper()}{words[1:]}, which nobody asked for.")


def group_counts(result: Any) -> tuple[list[str], list[list[int]]]:
    """Return the names of the groups, and their numbers in every cluster, empty clusters included."""
    from equigraph.groups import contingency_table

    groups = result.groups
    counts = contingency_table(result.labels, groups.codes, result.n_clusters, groups.n_groups)
    return [str(name) for name in groups.names.tolist()], counts.tolist()


def sizes_by_group(result: Any) -> str:
    """Return the sizes of the clusters in one cell, such as ``10 = 4 + 6, 9 = 5 + 4``."""
    if result.sensitive_features is None:
        return ", ".join(map(str, result.sizes.tolist()))
    _, counts = group_counts(result)
    return ", ".join("+".join(map(str, row)) for row in counts)
