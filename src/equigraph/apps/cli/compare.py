"""``equigraph compare``: every method on one graph, one table."""

from __future__ import annotations

import json
from typing import Any

import click

from equigraph.apps.cli import shared
from equigraph.apps.cli.app import BAD_INPUT, FAILED
from equigraph.apps.cli.console import line, note, table, warnings_as_notes
from equigraph.apps.cli.options import SectionCommand, constraints_of
from equigraph.apps.cli.output import Run, check_file
from equigraph.apps.cli.sources import describe_graph, read_source, reading_options
from equigraph.apps.cli.stopping import TIME_LIMIT
from equigraph.methods import METHODS, get_method

_WRITERS = {".csv": "to_csv", ".json": "to_json", ".md": "to_markdown", ".tex": "to_latex"}


@click.command("compare", cls=SectionCommand)
@reading_options
@click.option("-k", "--n-clusters", type=click.IntRange(min=2), required=True, help="Number of clusters.")
@click.option("--methods", metavar="A,B,C", help="Names of methods; by default all.")
@click.option(
    "--fairness",
    multiple=True,
    metavar="[METHOD=]VALUE",
    help="The dial of the methods that have one, or of one method; may be repeated.",
)
@shared.flag("--tune", "First choose every dial that --fairness does not set, by Q times NB.")
@shared.whole("--seeds", least=1, default=3, help="Number of seeds for each method.")
@shared.seed("The first seed.")
@click.option("-o", "--output", metavar="FILE", help="Write the table as .csv, .json, .md or .tex.")
@shared.flag("--force", "Replace a file of that name.")
@TIME_LIMIT
@shared.as_json("Print JSON and nothing else.")
@shared.quiet("No progress bar and no table.")
@shared.DEBUG
@click.pass_context
def command(ctx: click.Context, /, edges: str, **settings: Any) -> None:
    """Run every method on one graph; one row each.

    The scores are means over the seeds, with the standard deviation. k counts the clusters that have a node and sizes
    are theirs, with the first seed; ARI is the mean adjusted Rand index between the seeds (1: all give the same
    clusters), seconds the median time of a fit, dial the fairness that was set.
    """
    from pathlib import Path

    from equigraph.analysis.comparison import compare

    output, methods = settings["output"], settings["methods"]
    if output is not None:
        check_file(output, tuple(_WRITERS), force=settings["force"])
    names = [name.strip() for name in methods.split(",") if name.strip()] if methods else list(METHODS)
    for name in names:
        get_method(name)
    fairness = _dials(settings["fairness"], names, ctx)
    run = Run(ctx, settings)
    with warnings_as_notes():
        graph = read_source(edges, settings)
        with run.callbacks() as callbacks:
            comparison = compare(
                graph,
                methods=names,
                n_clusters=settings["n_clusters"],
                fairness=fairness,
                tune=settings["tune"],
                n_seeds=settings["seeds"],
                random_state=settings["seed"],
                callbacks=callbacks,
            )
    run.stop.tell(f"the table has {len(comparison.rows)} of {len(names)} methods")
    if output is not None:
        getattr(comparison, _WRITERS[Path(output).suffix.lower()])(output)
    if settings["as_json"]:
        line(json.dumps(comparison.summary(), indent=2))
    elif not settings["quiet"]:
        line(describe_graph(graph, edges))
        print_comparison(comparison)
        if output is not None:
            line(f"Wrote {output}.")
    if all(row.error for row in comparison.rows):
        bad_input = all(row.bad_input for row in comparison.rows)
        raise click.exceptions.Exit(BAD_INPUT if bad_input else FAILED)
    run.stop.leave()


def _dials(values: tuple[str, ...], names: list[str], ctx: click.Context) -> dict[str, float] | None:
    """Return the dial by method; a value without a method is for all others that have a dial."""
    dials: dict[str, float] = {}
    own: dict[str, float] = {}
    for value in values:
        name, _, number = value.rpartition("=")
        try:
            dial = float(number)
        except ValueError:
            raise click.UsageError(
                f"--fairness {value} is no number: expected VALUE or METHOD=VALUE.", ctx
            ) from None
        if name in own or (not name and dials):
            raise click.UsageError(
                f"--fairness is given twice for {name or 'all methods'}: give it once.", ctx
            )
        if name:
            own[name] = dial
        else:
            dials = {known: dial for known in names if "fairness" in constraints_of(known)}
    return {**dials, **own} or None


def print_comparison(comparison: Any) -> None:
    """Print the table; notes and failures below it."""
    from equigraph.metrics.scores import SCORES

    dials = any(row.fairness is not None for row in comparison.rows)
    each = [name for name in comparison.attribute_scores() if name.startswith(("NB[", "mean_gap["))]
    rows = [
        (
            row.method,
            *(row.shown(name) or None for name in SCORES),
            *(row.by_attribute.get(name) for name in each),
            " ".join(map(str, row.sizes)) or ("failed" if row.error else None),
            row.stability,
            row.seconds,
            *([row.shown("fairness") or None] if dials else []),
            row.status,
        )
        for row in comparison.rows
    ]
    dial = ["dial"] if dials else []
    columns = (
        "method", *(score.head for score in SCORES.values()), *each, "sizes", "ARI", "seconds", *dial, "status",
    )  # fmt: skip
    table(columns, rows, left=("method", "sizes", "status"))
    for row in comparison.rows:
        if row.error:
            line(f"{row.method} failed: {row.error}")
    for row in comparison.rows:
        for text in row.notes:
            note(f"{row.method}: {text}")
