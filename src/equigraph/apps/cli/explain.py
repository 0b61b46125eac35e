"""``equigraph explain``: explain why a node is in its cluster, or why two clusters are separate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import equigraph as eg
from equigraph.apps.cli.console import line, print_json, warnings_as_notes
from equigraph.apps.cli.options import Command
from equigraph.apps.cli.sources import read_again
from equigraph.exceptions import InputError


@click.command("explain", cls=Command)
def command(folder: str, what: tuple[str, ...], **settings: Any) -> None:
    """Explain why a node is in its cluster, and what each move would change.

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
        explain = _explain_person if is_division(folder) else _explain_node
        explanation = explain(folder, what, settings)
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
