"""Printing: notes on standard error; tables, and summaries of graphs and results, on standard output."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from equigraph._utils.text import count, one_line
from equigraph.exceptions import _CONTROLS, visible

_WORDS = 16  # letters that a column of words has at least
_WIDTH = 160  # of tables in files and pipes, where rich would assume 80
_WIDEST = 16  # letters of a group's name in a table header
_MOST_RULES = 12  # rules that are printed one by one


def note(text: str) -> None:
    """Print one line on standard error."""
    click.echo(f"Note: {visible(one_line(text))}", err=True)


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Collect user warnings, and print each once as a note at the end of the block."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        try:
            yield
        finally:
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                note(text)


@contextmanager
def progress_bar(*, quiet: bool) -> Iterator[list[Any]]:
    """Provide the callbacks of a progress bar; none if standard error is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield []
        return
    from equigraph._utils.callbacks import ProgressBar

    with ProgressBar() as bar:
        yield [bar]


def console() -> Any:
    """Return a rich console on the current standard output."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)


def line(text: str = "") -> None:
    """Print a line on standard output, with control characters escaped."""
    click.echo(visible(text))


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output, with the characters that `visible` escapes as JSON escapes them."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    click.echo(_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, left: Sequence[str] = (), bold: int = -1
) -> None:
    """Print a table on standard output.

    Floats have three digits. Columns named in `left` are left-aligned and may wrap. Columns that do not fit follow in a
    further table that repeats the first column.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    texts = [[cell(value) for value in row] for row in rows]
    heads = [cell(name) for name in columns]
    widths = [max(map(len, column)) for column in zip(heads, *texts, strict=True)]
    needed = [
        min(width, _WORDS) if name in left else width for name, width in zip(columns, widths, strict=True)
    ]
    parts: list[list[int]] = [[]]
    for place in range(len(heads)):
        if parts[-1] and sum(needed[one] + 2 for one in (*parts[-1], place)) > console().width:
            parts.append([0])
        parts[-1].append(place)
    for part in parts:
        grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
        for place in part:
            words = columns[place] in left
            grid.add_column(
                Text(heads[place]),
                justify="left" if words else "right",
                no_wrap=not words,
                overflow="fold",
                min_width=needed[place],
            )
        for i, row in enumerate(texts):
            grid.add_row(*(Text(row[place]) for place in part), style="bold" if i == bold else None)
        console().print(grid)


def cell(value: Any) -> str:
    """Return a value as a table shows it."""
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else visible(str(value).replace("\n", "\\n"))


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
        sizes = [f"{group} ({size:,})" for group, size in pairs[:6]] + ["..."] * (len(pairs) > 6)
        sizes += [f"no group ({groups.n_ungrouped:,})"] if groups.n_ungrouped else []
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
    # As many groups as fit beside the other columns; at least two.
    shown = what.capped(n_groups=max(2, (int(console().width) - 24) // (_WIDEST + 1)))
    heads = [name if len(name) <= _WIDEST else f"{name[: _WIDEST - 1]}…" for name in shown.groups]
    columns = [shown.clusters, shown.sizes.tolist(), *shown.counts.T.tolist()]
    whole = ["all", int(result.sizes.sum()), *shown.totals.tolist()]
    if shown.n_ungrouped:
        heads.append("no group")
        columns.append(shown.ungrouped.tolist())
        whole.append(shown.n_ungrouped)
    rows: list[Any] = list(zip(*columns, strict=True))
    if shown.n_hidden:
        rows.append([f"{shown.n_hidden:,} more", shown.hidden_nodes, *[""] * len(heads)])
    table(["cluster", "nodes", *heads], [*rows, whole], left=("cluster",), bold=len(rows))


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
