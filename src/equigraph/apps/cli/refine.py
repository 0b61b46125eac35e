"""``equigraph refine``: better labels from those that any tool made."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from equigraph._utils.text import count
from equigraph.apps.cli import options
from equigraph.apps.cli.console import line, note, table
from equigraph.apps.cli.options import Command, Settings, option, whole
from equigraph.apps.cli.output import Run, output_options
from equigraph.apps.cli.rules import rule_option, rule_options, rule_parameters
from equigraph.apps.cli.sources import LEFT_OUT, read_source, reading_options, write_left_out
from equigraph.apps.cli.summary import describe_graph, group_counts, print_clusters, sizes_by_group
from equigraph.exceptions import InputError

_METHOD = "refine_labels"
_NOTIONS = ("normalized", "balance", "mouflon", "evenness")
# Names of columns, by which they are found whatever their order.
_NODE, _CLUSTER, BEFORE = "node", "cluster", "before"


@click.command("refine", cls=Command)
@reading_options
@click.argument("labels", metavar="LABELS")
@option("-k --n-clusters", "Number of clusters.  [default: as many as the labels have]", type=whole(2))
@option(
    "--fairness",
    "The dial, from cohesion (0) to fairness (1).",
    type=click.FloatRange(0, 1),
    default=0.5,
)
@option(
    "--at-least",
    "The fairness asked for, in place of the dial: the most cohesive labels at least so fair.",
    type=click.FloatRange(0, 1),
)
@option("--notion", "Which fairness the dial moves.", type=click.Choice(_NOTIONS), default=_NOTIONS[0])
@option("--size-min", "Least nodes of a cluster.", type=whole(1))
@option("--size-max", "Most nodes of a cluster.", type=whole(1))
@option(
    "--effort",
    "0 moves single nodes from the labels given; 1 and more search further, and may end far from them.",
    type=click.FloatRange(min=0),
    default=0.0,
)
@options.seed()
@options.folder("Folder for labels.csv, membership.npz, interaction.csv, result.json and manifest.json.")
@output_options
@rule_options
@rule_option("--max-moves", "How many nodes may change their cluster.", type=whole(0))
@rule_option(
    "--stay",
    "What each of these costs, in units of the objective, such as 0.001.",
    type=click.FloatRange(min=0),
    default=0.0,
)
@options.TIME_LIMIT
@options.PRINTING
@click.pass_context
def command(ctx: click.Context, /, edges: str, labels: str, **settings: Any) -> None:
    """Improve labels: move nodes while that raises (1 - fairness) Q + fairness N.

    EDGES is a file (csv, tsv, txt, parquet, graphml, gml, mtx, npz, mat) or dataset:NAME, such as
    dataset:classroom. LABELS is a table with the columns node and cluster (or else the first two), such as
    the labels.csv that `equigraph cluster` writes; for a graph with an order of its own, such as a matrix, a
    single column also does. With --max-moves or --stay nodes that LABELS lacks are new, and those that the graph lacks
    have left.
    """
    from dataclasses import replace

    from equigraph.results.contents import KIND, POSSIBLE_FILES, contents_of

    typed = [name for name in ("fairness", "at_least") if options.is_given(ctx, name)]
    options.check_one_dial(ctx, typed)
    least, most = settings["size_min"], settings["size_max"]
    if least is not None and most is not None and least > most:
        raise click.UsageError(f"--size-min {least} is above --size-max {most}.", ctx)
    run = Run(ctx, settings)
    with run.output((*POSSIBLE_FILES, *LEFT_OUT)):
        graph = read_source(edges, settings)
        few = settings["max_moves"] is not None or settings["stay"] > 0
        given = read_labels(Path(labels), graph, edited=few)
        before, after = _refine(graph, given, run)
        status = None if run.stop.reason is None else "stopped"
        after = replace(after, source=run.source(edges, graph), status=status)
        summary = _summary(before, after)
        run.write(
            KIND,
            lambda: contents_of(after, columns={BEFORE: given}, entries=summary),
            lambda folder: write_left_out(folder, graph, settings),
        )

    def show() -> None:
        line(describe_graph(graph, edges))
        _print(before, after, summary)

    run.finish("these are the best clusters until then", "labels", lambda: summary, show)


def read_labels(path: Path, graph: Any, *, edited: bool = False) -> Any:
    """Read the label of every node, in node order, as text.

    The file is a text table keyed by node, or one column in node order. Where it was `edited`, nodes may be new,
    without a label (None), or have left.
    """
    from equigraph.graph.delimited import open_text_file

    if not path.is_file():
        raise InputError(f"{path} does not exist or is not a file: expected a table of nodes and clusters.")
    file = open_text_file(path, "\t" if ".tsv" in path.suffixes else None)
    records = list(file.records())
    width = len(records[0].fields) if records else 0
    for record in records:
        if len(record.fields) != width:
            raise InputError(
                f"{file.where(record.line)}: expected {width} fields as before, got {len(record.fields)}."
            )
    if width == 0:
        raise InputError(f"{path.name} is empty: expected a table of nodes and clusters.")
    return _in_order(path, records, graph) if width == 1 else _by_name(path, records, graph, edited)


def _in_order(path: Path, records: list[Any], graph: Any) -> Any:
    """Return the labels of a file with one column."""
    import numpy as np

    if not graph.positional:
        raise InputError(
            f"{path.name} has one column, and the nodes of an edge list are in no order of yours: expected two "
            "columns, node and cluster."
        )
    has_header = len(records) == graph.n_nodes + 1 or records[0].fields[0].casefold() == _CLUSTER
    values = [record.fields[0] for record in records[has_header:]]
    if len(values) != graph.n_nodes:
        raise InputError(
            f"{path.name} has {count(len(values), 'label')} for {count(graph.n_nodes, 'node')}: expected one per "
            "node, or a table that names the node of each label."
        )
    return np.asarray(values, dtype=str)


def _by_name(path: Path, records: list[Any], graph: Any, edited: bool) -> Any:
    """Return the labels of a table, matched to the nodes by name."""
    import numpy as np

    from equigraph._utils.records import as_given
    from equigraph.graph.labels import node_places
    from equigraph.graph.names import canonical, texts

    nodes = texts(graph.node_names)
    place = node_places(graph)
    key, value, has_header = _columns(records, place)
    found: dict[int, str] = {}
    unknown: dict[str, int] = {}
    for record in records[has_header:]:
        name, label = record.fields[key], record.fields[value]
        # A file of ours may have an apostrophe before what a spreadsheet would run.
        forms = (name, canonical(name), as_given(name))
        node = next((place[form] for form in forms if form in place), None)
        if node is None:
            unknown.setdefault(name, record.line)
        elif label and found.setdefault(node, label) != label:
            raise InputError(
                f"{path.name}, line {record.line}: the node {name!r} has two clusters, {found[node]!r} and "
                f"{label!r}: expected one."
            )
    if unknown and edited:
        note(f"{count(len(unknown), 'node')} of {path.name} left the graph, first {next(iter(unknown))!r}.")
    elif unknown:
        first = next(iter(unknown))
        raise InputError(
            f"{path.name} names {count(len(unknown), 'node')} that the graph lacks, first {first!r} in line "
            f"{unknown[first]}: expected the nodes of the graph, and no other."
        )
    missing = [name for k, name in enumerate(nodes) if k not in found]
    if missing and edited and found:
        note(
            f"New: {count(len(missing), 'node')}, first {missing[0]!r}, for which {path.name} has no cluster."
        )
        return np.array([found.get(k) for k in range(len(nodes))], dtype=object)
    if missing:
        raise InputError(
            f"{path.name} has no cluster for {len(missing):,} of {count(len(nodes), 'node')}, first "
            f"{missing[0]!r}: expected a cluster for every node."
        )
    return np.asarray([found[k] for k in range(len(nodes))], dtype=str)


def _columns(records: list[Any], place: dict[str, int]) -> tuple[int, int, bool]:
    """Return the columns of nodes and of clusters, and whether the first record is a header."""
    first = [field.casefold() for field in records[0].fields]
    named = _CLUSTER in first or first[0] == _NODE
    key = first.index(_NODE) if named and _NODE in first else 0
    others = [k for k in range(len(first)) if k != key]
    value = first.index(_CLUSTER) if named and _CLUSTER in first[:key] + first[key + 1 :] else others[0]
    if named:
        return key, value, True
    # Names of other columns: no node, and no cluster that occurs again.
    below = {record.fields[value] for record in records[1:]}
    return key, value, records[0].fields[key] not in place and records[0].fields[value] not in below


def _refine(graph: Any, given: Any, run: Run) -> tuple[Any, Any]:
    """Return what was given and what came of it, both as results."""
    from dataclasses import replace

    import numpy as np

    from equigraph._utils.sizes import number_by_size
    from equigraph.community import FairPartition
    from equigraph.community.start import placed_nodes
    from equigraph.graph.groups.encode import unique_values
    from equigraph.results.cluster import result_of_labels
    from equigraph.rules.rules import told_rules

    settings, seed = run.settings, run.settings["seed"]
    given = _numbers(given)
    known = np.array([label is not None for label in given.tolist()])
    names, codes = unique_values(given[known])
    bounds = (settings["size_min"], settings["size_max"])
    parameters = {
        **{name: settings[name] for name in ("n_clusters", "fairness", "at_least", "notion", "effort")},
        "size_bounds": "auto" if bounds == (None, None) else bounds,
        **rule_parameters(settings),
    }
    few = {"max_moves": settings["max_moves"], "stay": settings["stay"]}
    start = time.perf_counter()
    with run.callbacks() as callbacks:
        # The number of clusters is left to the library, which has a sentence for labels that are all the same.
        model = FairPartition(**parameters, random_state=seed, callbacks=callbacks)
        refined = model.refine(graph, given, **few)
    seconds = time.perf_counter() - start
    start_codes = np.full(graph.n_nodes, -1, dtype=np.int64)
    start_codes[known] = codes
    # Who is new stands where most of the links are, so that there is something to compare with.
    first = number_by_size(placed_nodes(graph.adjacency, start_codes, names.size), names.size)
    before = result_of_labels(graph, first, _METHOD, seed=seed, seconds=0.0)
    parameters |= {"n_clusters": settings["n_clusters"] or int(names.size), **few}
    after = result_of_labels(graph, refined.labels_, _METHOD, parameters, seed=seed, seconds=seconds)
    if refined.rules_ is None:
        return before, after
    return before, replace(after, rules=told_rules(refined.rules_, refined.relaxed_))


def _numbers(given: Any) -> Any:
    """Return labels as whole numbers where all of them are, so that rules can speak of them."""
    import numpy as np

    labels = given.tolist()
    if not all(label is None or label.isdecimal() for label in labels):
        return given
    return np.array([None if label is None else int(label) for label in labels], dtype=object)


def _summary(before: Any, after: Any) -> Settings:
    """Return the summary of the result, with what it started from and how many nodes changed their cluster."""
    from equigraph.metrics import clustering_accuracy

    # Clusters have no numbers that last: those with the largest overlap are taken for the same.
    kept = round(clustering_accuracy(before.labels, after.labels) * after.labels.size)
    started = {name: before.summary()[name] for name in ("n_clusters", "sizes", "scores")}
    return {**after.summary(), "n_moved": int(after.labels.size - kept), "before": started}


def _print(before: Any, after: Any, summary: Settings) -> None:
    from equigraph.metrics.scores import COMPARED, SCORES

    rows: list[tuple[Any, ...]] = [
        (SCORES[name].head, before.scores[name], after.scores[name])
        for name in COMPARED
        if name in after.scores
    ]
    rows += [
        (name.replace("mean_gap", "gap of means"), before.scores[name], value)
        for name, value in after.scores.items()
        if name.startswith(("NB[", "mean_gap["))
    ]
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
