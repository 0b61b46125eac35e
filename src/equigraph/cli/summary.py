"""A result in words: scores with their meaning, and who is in which cluster."""

from __future__ import annotations

from typing import Any

from equigraph.cli.console import clipped, fitting, line, table

MEANINGS = {
    "Q": "modularity: edges within clusters beyond what chance gives; higher is more cohesive",
    "B": "balance: smallest group over largest, averaged over clusters; 1 is equal numbers",
    "NB": "normalised balance: 1 when every cluster mirrors the population, as far as whole nodes allow",
    "min_balance": "balance of the worst cluster",
    "rho": "individual balance: fewest over most of one's own group, oneself left out, in any two clusters; below 1",
}
_WIDEST = 16  # letters of a group's name at the head of a table


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
    from equigraph.metrics._shown import capped

    names, counts = group_counts(result)
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


def group_counts(result: Any) -> tuple[list[str], Any]:
    """Return the names of the groups, and their numbers in every cluster, empty clusters included."""
    from equigraph.groups import contingency_table

    groups = result.groups
    counts = contingency_table(result.labels, groups.codes, result.n_clusters, groups.n_groups)
    return [str(name) for name in groups.names.tolist()], counts


def sizes_by_group(result: Any) -> str:
    """Return the sizes of the clusters in one cell, such as ``10 = 4 + 6, 9 = 5 + 4``."""
    if result.sensitive_features is None:
        return ", ".join(map(str, result.sizes.tolist()))
    _, counts = group_counts(result)
    return ", ".join("+".join(map(str, row)) for row in counts.tolist())
