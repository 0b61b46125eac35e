"""``equigraph report`` and ``explain``: what is said of a stored clustering, curve or division into classes."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

import equigraph as eg
from equigraph.apps.cli.console import line, note, print_json, warnings_as_notes
from equigraph.apps.cli.options import Command
from equigraph.apps.cli.output import PAGE, check_file
from equigraph.apps.cli.sources import read_again
from equigraph.exceptions import InputError


@click.command("report", cls=Command)
def report(folder: str, output: str | None, **settings: Any) -> None:
    """Explain a clustering, a curve or classes on one HTML page.

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


@click.command("explain", cls=Command)
def explain(folder: str, what: tuple[str, ...], **settings: Any) -> None:
    """Explain why a node is in its cluster.

    Every cluster is listed with what a move there would change.

    OUT is a folder that `equigraph classes`, `cluster` or `refine` wrote, NODE the name of a person or a node. With two
    numbers in place of NODE, such as `equigraph explain out 0 1`, it explains why these two clusters are separate. The
    graph is read from its recorded path; classes are read from the lists in the folder.
    """
    from equigraph.apps.classes.persistence import is_division

    if len(what) > 2:
        raise click.UsageError(
            f"{len(what)} names are given: expected one node, in quotes if it has blanks, or two clusters."
        )
    with warnings_as_notes():
        explained = _explain_person if is_division(folder) else _explain_node
        explanation = explained(folder, what, settings)
    if settings["as_json"]:
        print_json(explanation.to_dict())
    else:
        line(str(explanation))


def _explain_node(folder: str, what: tuple[str, ...], settings: dict[str, Any]) -> Any:
    """Explain why a node is in its cluster, or why two clusters are separate."""
    from equigraph.apps.report.findings import read_folder

    result, _, _ = read_folder(Path(folder))
    if not isinstance(result, eg.ClusteringResult):
        raise InputError(f"{folder} holds a curve of many clusterings: expected a folder with one.")
    graph, reason = read_again(result.source, settings)
    if graph is None:
        raise InputError(str(reason))
    rules = settings["rules"]
    return result.explain(*what, graph=graph, rules=None if rules is None else eg.Rules.read(rules))


def _explain_person(folder: str, what: tuple[str, ...], settings: dict[str, Any]) -> Any:
    """Explain why a person is in a class."""
    from equigraph.apps.classes.explanation import explain_person
    from equigraph.apps.classes.persistence import load_edited

    if len(what) != 1:
        raise click.UsageError(
            "Two names are given: of classes one person is explained, in quotes if the name has blanks."
        )
    if settings["rules"] is not None:
        raise click.UsageError("--rules has no meaning for classes, which have rules of their own.")
    return explain_person(load_edited(folder), what[0])
