"""``equigraph compare``: compare methods on one graph or several in one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import equigraph as eg
from equigraph._utils.text import count
from equigraph.apps.cli.app import BAD_INPUT, FAILED
from equigraph.apps.cli.console import describe_graph, line, note, table, warnings_as_notes
from equigraph.apps.cli.options import Command, constraints_of
from equigraph.apps.cli.output import Run, check_file
from equigraph.apps.cli.sources import PREFIX, read_source
from equigraph.methods import METHODS, get_method

_WRITERS = {".csv": "to_csv", ".json": "to_json", ".md": "to_markdown", ".tex": "to_latex"}
# With fewer pairs p cannot reach 0.05.
_ENOUGH_PAIRS = 6
_TESTED = {
    "method": "method", "n": "pairs", "difference": "difference", "wins": "wins", "ties": "ties", "losses": "losses",
    "p": "p", "p_holm": "p (Holm)",
}  # fmt: skip


@click.command("compare", cls=Command)
def command(edges: tuple[str, ...], **settings: Any) -> None:
    """Run every method on one graph or several; one row each.

    The scores are means over the seeds, with the standard deviation. k counts the nonempty clusters, and sizes are
    theirs, with the first seed; ARI is the mean adjusted Rand index between the seeds (1: all give the same clusters),
    seconds the median time of a fit, dial the fairness that was set.

    --baseline prints Wilcoxon's signed-rank test for every score, over the graphs, or over the seeds if there is one
    graph; p has the Holm correction for the number of methods. Reading options apply to all graphs; a graph has the
    name of its file or data set.
    """
    output, per_seed = settings["output"], settings["per_seed"]
    for path, endings in ((output, tuple(_WRITERS)), (per_seed, (".csv",))):
        if path is not None:
            check_file(path, endings, force=settings["force"])
    names = settings["methods"] or list(METHODS)
    for name in names:
        get_method(name)
    baseline = settings["baseline"]
    if baseline not in (None, *names):
        raise click.UsageError(f"--baseline {baseline} is not compared; the methods are {', '.join(names)}.")
    called = _graph_names(edges)
    n_clusters = _numbers(settings["n_clusters"], list(called))
    run = Run(settings)
    with warnings_as_notes():
        graphs = {name: read_source(one, dict(settings)) for name, one in called.items()}
        several = len(graphs) > 1
        with run.callbacks() as callbacks:
            comparison = eg.compare(
                graphs if several else next(iter(graphs.values())),
                methods=names,
                n_clusters=n_clusters if several else next(iter(n_clusters.values())),
                metrics=settings["metrics"] or None,
                fairness=_dials(settings["fairness"], names),
                tune=settings["tune"],
                n_seeds=settings["seeds"],
                random_state=settings["seed"],
                callbacks=callbacks,
            )
    if output is not None:
        getattr(comparison, _WRITERS[Path(output).suffix.lower()])(output)
    if per_seed is not None:
        comparison.to_csv(per_seed, per_seed=True)

    def show() -> None:
        for name, one in called.items():
            line(describe_graph(graphs[name], one))
        print_comparison(comparison, "interval" if settings["intervals"] else "sd")
        if baseline is not None:
            print_tests(comparison, baseline)
        for path in filter(None, (output, per_seed)):
            line(f"Wrote {path}.")

    kept = f"the table has {len(comparison.rows)} of {len(names) * len(graphs)} rows"
    run.finish(kept, comparison.summary, show)
    if all(row.error for row in comparison.rows):
        bad_input = all(row.bad_input for row in comparison.rows)
        raise click.exceptions.Exit(BAD_INPUT if bad_input else FAILED)


def _graph_names(edges: tuple[str, ...]) -> dict[str, str]:
    """Return the sources by the name of the data set, or of the file without its suffix."""
    found: dict[str, str] = {}
    for one in edges:
        name = one.removeprefix(PREFIX) if one.startswith(PREFIX) else Path(one).stem
        if name in found:
            raise click.UsageError(f"{found[name]} and {one} have the same name, {name}: rename one.")
        found[name] = one
    return found


def _numbers(given: dict[str, int], graphs: list[str]) -> dict[str, int]:
    """Return the number of clusters by graph; a value without a name is for all others."""
    for name in given:
        if name and name not in graphs:
            raise click.UsageError(f"-k {name} names no graph; the graphs are {', '.join(graphs)}.")
    for name in graphs:
        if name not in given and "" not in given:
            raise click.UsageError(f"-k says nothing of {name}: give -k {name}=NUMBER, or -k NUMBER.")
    return {name: given.get(name, given.get("", 0)) for name in graphs}


def _dials(given: dict[str, float], names: list[str]) -> dict[str, float] | None:
    """Return the fairness weight by method; a value without a method is for all others that have one."""
    if "" in given:
        dial = given.pop("")
        given = {**{name: dial for name in names if "fairness" in constraints_of(name)}, **given}
    return given or None


def print_comparison(comparison: Any, spread: Any) -> None:
    """Print the table; notes and failures below it."""
    from equigraph.metrics.scores import SCORES

    rows = comparison.rows
    several = len(comparison.graphs) > 1
    dial = ["fairness"] if any(row.fairness is not None for row in rows) else []
    each = [name for name in comparison.attribute_scores() if name.startswith(("NB[", "mean_gap["))]
    names = [*comparison.metrics, "n_nonempty", *each, "sizes", "stability", "seconds", *dial, "status"]

    def shown(row: Any, name: str) -> str | None:
        return "failed" if row.error and name == "sizes" else row.shown(name, spread) or None

    cells = [[row.graph, row.method, *(shown(row, name) for name in names)] for row in rows]
    heads = {**{name: score.head for name, score in SCORES.items()}, "stability": "ARI", "fairness": "dial"}
    columns = ["graph", "method", *(heads.get(name, name) for name in names)]
    first = 0 if several else 1  # a single graph has no name
    table(columns[first:], [row[first:] for row in cells], left=("graph", "method", "sizes", "status"))
    for row in rows:
        if row.error:
            line(f"{_called(row)} failed: {row.error}")
    for row in rows:
        for text in row.notes:
            note(f"{_called(row)}: {text}")


def print_tests(comparison: Any, baseline: str) -> None:
    """Print the paired tests of every score against a method, and a note if there are too few pairs."""
    n_pairs = 0
    cells = []
    for metric in comparison.metrics:
        columns = comparison.paired(metric, baseline)
        n_pairs = max([n_pairs, *columns["n"]])
        rows = zip(*(columns[name] for name in _TESTED), strict=True)
        cells += [(metric, *(None if cell != cell else cell for cell in row)) for row in rows]
    unit = "graphs" if len(comparison.graphs) > 1 else "seeds"
    if not n_pairs:
        note(f"Nothing is compared with {baseline}: no other method has scores of the same {unit}.")
        return
    line()
    line(f"Against {baseline}, in pairs over the {unit}:")
    table(("score", *_TESTED.values()), cells, left=("score", "method"))
    if n_pairs < _ENOUGH_PAIRS:
        note(
            f"With {count(n_pairs, 'pair')} no p below {2.0 ** (1 - n_pairs):.2g} is possible: use more {unit}."
        )


def _called(row: Any) -> str:
    return f"{row.graph}, {row.method}" if row.graph else str(row.method)
