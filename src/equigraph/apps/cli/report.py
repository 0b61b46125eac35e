"""``equigraph report``: write one page about a clustering or a curve."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

import equigraph as eg
from equigraph.apps.cli.console import line, note, warnings_as_notes
from equigraph.apps.cli.options import Command
from equigraph.apps.cli.output import PAGE, check_file
from equigraph.apps.cli.sources import read_again


@click.command("report", cls=Command)
def command(folder: str, output: str | None, **settings: Any) -> None:
    """Explain a clustering or a curve in one page (HTML) that needs no network.

    OUT is a folder that `equigraph cluster`, `tradeoff`, `refine`, `demo` or `classes` wrote. The page draws the graph,
    which is read from its recorded path and must be unchanged; without it the page says what is left out. For classes
    it shows the current lists, every rule, and its cost in wishes.
    """
    from equigraph.apps.classes.persistence import is_division
    from equigraph.results.persistence import OutputFolder

    path = Path(folder) / PAGE if output is None else Path(output)
    if output is not None:
        check_file(output, (".html", ".htm"), force=settings["force"])
    with warnings_as_notes(), ExitStack() as stack:
        write = _write_classes if is_division(folder) else _write_clustering
        if output is None:
            out = stack.enter_context(OutputFolder(folder, patience=0))
            out.refuse_others([PAGE], force=settings["force"])
        left_out = write(Path(folder), path, settings)
        if output is None:
            out.add(PAGE)
    if not settings["quiet"]:
        for sentence in left_out:
            note(sentence)
        line(f"Wrote {path.resolve()}.")


def _write_clustering(folder: Path, path: Path, settings: dict[str, Any]) -> list[str]:
    """Write the page of a clustering or a curve; return what it leaves out, in sentences."""
    from equigraph.apps.report import write_report
    from equigraph.apps.report.findings import labels_before, read_folder

    subject, point, kept = read_folder(folder)
    graph, reason = read_again(subject.source, settings)
    if settings["interactive"]:
        from equigraph.apps.explore.offline import write_interactive

        left_out = write_interactive(subject, path, graph=graph, select=point or "product")
    elif isinstance(subject, eg.TradeoffCurve):
        if not settings["baseline"]:
            raise click.UsageError("--no-baseline has no meaning for a curve, which begins at fairness 0.")
        left_out = write_report(subject, path, graph=graph, select=point or "product")
    else:
        before = labels_before(kept, subject)
        baseline = settings["baseline"] if before is None else before
        left_out = write_report(subject, path, graph=graph, baseline=baseline)
    return [reason, *left_out] if reason else left_out


def _write_classes(folder: Path, path: Path, settings: dict[str, Any]) -> list[str]:
    """Write the page of classes: the current lists, and the cost of each rule."""
    from equigraph.apps.classes.costs import with_costs
    from equigraph.apps.classes.persistence import load_edited

    if settings["interactive"]:
        raise click.UsageError("--interactive is for clusterings; `equigraph explore` opens classes.")
    with_costs(load_edited(folder)).lists.to_html(path)
    return []
