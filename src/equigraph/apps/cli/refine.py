"""``equigraph refine``: improve given labels."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

import equigraph as eg
from equigraph._utils.text import count
from equigraph.apps.cli import options
from equigraph.apps.cli.console import group_counts, line, note, print_clusters, sizes_by_group, table
from equigraph.apps.cli.options import Command, Settings
from equigraph.apps.cli.output import Run
from equigraph.exceptions import InputError

_METHOD = "refine_labels"


@click.command("refine", cls=Command)
def command(edges: str, labels: str, **settings: Any) -> None:
    """Improve labels by moving nodes.

    Nodes move while that raises (1 - fairness) Q + fairness N.

    EDGES is a file (csv, tsv, txt, parquet, graphml, gml, mtx, npz, mat) or dataset:NAME, such as dataset:classroom.
    LABELS is a table with the columns node and cluster (or else the first two), such as the labels.csv that `equigraph
    cluster` writes; for a graph with a node order, such as a matrix, a single column is enough. With --max-moves or
    --stay nodes that LABELS lacks are new, and those that the graph lacks have left.
    """
    from equigraph.results.contents import KIND, POSSIBLE_FILES, contents_of

    typed = [name for name in ("fairness", "at_least") if options.is_given(name)]
    options.check_one_dial(typed)
    least, most = settings["size_min"], settings["size_max"]
    if least is not None and most is not None and least > most:
        raise click.UsageError(f"--size-min {least} is above --size-max {most}.")
    run = Run(settings)
    with run.output(POSSIBLE_FILES):
        graph = run.read(edges)
        few = settings["max_moves"] is not None or settings["stay"] > 0
        given = read_labels(Path(labels), graph, edited=few)
        before, after = _refine(graph, given, run)
        summary = _summary(before, after)
        run.write(KIND, lambda: contents_of(after, columns={"before": given}, entries=summary))
    kept = "these are the best clusters until then"
    run.finish_graph(kept, "labels", lambda: summary, lambda: _print(before, after, summary))


def read_labels(path: Path, graph: Any, *, edited: bool = False) -> Any:
    """Read the label of every node, in node order, from a table keyed by node or a column in node order.

    If the file was `edited`, nodes may be new (label None) or have left.
    """
    from equigraph._utils.records import as_given
    from equigraph.graph.attributes import take_groups
    from equigraph.graph.delimited import open_text_file
    from equigraph.graph.labels import by_name, labels_in_order
    from equigraph.graph.names import canonical, object_array, texts

    if not path.is_file():
        raise InputError(f"{path} does not exist or is not a file: expected a table of nodes and clusters.")
    fields = open_text_file(path, "\t" if ".tsv" in path.suffixes else None).sample(1)[0].fields
    named = {field.casefold(): field for field in fields}
    other = 0 if fields[0] != named.get("node", fields[0]) or len(fields) == 1 else 1
    (given,) = take_groups(path, [named.get("cluster", other)], named.get("node"), graph)
    what, labels = f"labels of {path.name}", given.values
    if given.keys is None:
        if not graph.positional:
            raise InputError(
                f"{path.name} has one column, and the nodes of an edge list are in no order of yours: expected two "
                "columns, node and cluster."
            )
        return labels_in_order(labels, graph, what, gaps=edited)
    nodes = set(map(canonical, texts(graph.node_names)))
    # Our files have an apostrophe before texts that a spreadsheet would execute.
    keys = [name if canonical(name) in nodes else as_given(name) for name in texts(given.keys)]
    found = by_name(graph, object_array(keys), labels, "ignore" if edited else "error", what)[1]
    found = labels_in_order(found, graph, what, gaps=edited)
    if edited:
        pairs = zip(keys, labels.tolist(), strict=True)
        left = dict.fromkeys(
            name for name, label in pairs if label is not None and canonical(name) not in nodes
        )
        new = [
            name for name, label in zip(texts(graph.node_names), found.tolist(), strict=True) if label is None
        ]
        if left:
            note(f"{count(len(left), 'node')} of {path.name} left the graph, first {next(iter(left))!r}.")
        if new:
            note(f"New: {count(len(new), 'node')}, first {new[0]!r}, not in {path.name}.")
    return found


def _refine(graph: Any, given: Any, run: Run) -> tuple[Any, Any]:
    """Return the given and the refined labels as results."""
    from dataclasses import replace

    from equigraph._utils.sizes import number_by_size
    from equigraph.community.start import placed_nodes, read_start
    from equigraph.results.cluster import result_of_labels
    from equigraph.rules.rules import told_rules

    settings, seed = run.settings, run.settings["seed"]
    bounds = (settings["size_min"], settings["size_max"])
    parameters = {
        **{name: settings[name] for name in ("n_clusters", "fairness", "at_least", "notion", "effort")},
        "size_bounds": "auto" if bounds == (None, None) else bounds,
        **options.rule_parameters(settings),
    }
    few = {"max_moves": settings["max_moves"], "stay": settings["stay"]}
    start = time.perf_counter()
    with run.callbacks() as callbacks:
        # No number of clusters: the library has its own error for labels that are all the same.
        model = eg.FairPartition(**parameters, random_state=seed, callbacks=callbacks)
        refined = model.refine(graph, given, **few)
    seconds = time.perf_counter() - start
    first = read_start(given, graph, settings["n_clusters"], gaps=True)
    # New nodes start in the cluster with most of their links, so that there are labels to compare with.
    k = int(first.labels.max()) + 1
    placed = number_by_size(placed_nodes(graph.adjacency, first.labels, k), k)
    before = result_of_labels(graph, placed, _METHOD, seed=seed, seconds=0.0)
    parameters |= {"n_clusters": first.n_clusters, **few}
    after = result_of_labels(graph, refined.labels_, _METHOD, parameters, seed=seed, seconds=seconds)
    status = None if run.stop.reason is None else "stopped"
    # With max_moves or stay there are rules even if none was asked for.
    rules = told_rules(refined.rules_, refined.relaxed_) if "rules" in parameters else None
    return before, replace(after, source=run.source(), status=status, rules=rules)


def _summary(before: Any, after: Any) -> Settings:
    """Return the summary of the result, with its start and the number of nodes that changed their cluster."""
    # Cluster numbers are arbitrary: clusters are matched by largest overlap.
    kept = round(eg.metrics.clustering_accuracy(before.labels, after.labels) * after.labels.size)
    started = {name: before.summary()[name] for name in ("n_clusters", "sizes", "scores")}
    return {**after.summary(), "n_moved": int(after.labels.size - kept), "before": started}


def _print(before: Any, after: Any, summary: Settings) -> None:
    from equigraph.metrics.scores import COMPARED, SCORES

    each = [name for name in after.scores if name.startswith(("NB[", "mean_gap["))]
    heads = {name: SCORES[name].head for name in COMPARED if name in after.scores}
    heads |= {name: name.replace("mean_gap", "gap of means") for name in each}
    rows: list[Any] = [(head, before.scores[name], after.scores[name]) for name, head in heads.items()]
    rows.append(("clusters", before.n_clusters, after.n_clusters))
    for groups in [None] if after.attributes is None else after.attributes.groups.values():
        names = "" if groups is None else f" ({' + '.join(group_counts(after, groups)[0])})"
        rows.append((f"sizes{names}", sizes_by_group(before, groups), sizes_by_group(after, groups)))
    table(("", "before", "after"), rows, left=("", "before", "after"))
    line()
    print_clusters(after)
    if after.rules is not None:
        line(f"Q changes by {float(after.scores['Q']) - float(before.scores['Q']):+.3f}.")
    line()
    verb = "changes its" if summary["n_moved"] == 1 else "change their"
    line(
        f"{summary['n_moved']:,} of {count(after.labels.size, 'node')} {verb} cluster ({after.seconds:.2f} s)."
    )
