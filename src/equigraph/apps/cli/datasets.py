"""``equigraph datasets``: what there is, what it is, and fetching it."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from equigraph._utils.text import count
from equigraph.apps.cli import shared
from equigraph.apps.cli.app import Commands
from equigraph.apps.cli.console import line, table
from equigraph.apps.cli.options import Command
from equigraph.apps.cli.sources import EMBEDDED, PREFIX, check_dataset
from equigraph.exceptions import DatasetError


class _Group(Commands):
    command_class = Command


@click.group("datasets", cls=_Group)
@shared.DEBUG
def command() -> None:
    """List, describe and fetch the data sets."""


@command.command("list")
@shared.as_json("Print JSON and nothing else.")
def list_command(as_json: bool) -> None:
    """List the data sets with their sizes."""
    rows = _rows()
    if as_json:
        line(json.dumps(rows, indent=2))
        return
    columns = ("name", "nodes", "edges", "attribute", "groups", "MB", "title")
    table(
        columns,
        [[row[column] for column in columns] for row in rows],
        left=("name", "attribute", "groups", "title"),
    )
    line(f"Use one in place of a file: equigraph cluster {PREFIX}{EMBEDDED}")


def _rows() -> list[dict[str, Any]]:
    from equigraph.datasets import list_datasets, make_classroom
    from equigraph.graph.groups import encode_groups

    room = make_classroom()
    groups = encode_groups(room.sensitive_features)
    title = "A class of students, generated (always here)"
    sizes = zip(groups.names.tolist(), groups.sizes.tolist(), strict=True)
    rows: list[tuple[Any, ...]] = [
        (EMBEDDED, title, groups.n_nodes, room.adjacency.nnz // 2, room.attribute, sizes, 0)
    ]
    rows += [
        (info.name, info.title, info.n_nodes, info.n_edges, info.attribute, info.groups, info.n_bytes)
        for info in list_datasets()
    ]
    return [
        {
            "name": name,
            "title": title,
            "nodes": n_nodes,
            "edges": n_edges,
            "attribute": attribute,
            "groups": ", ".join(f"{size} {group}" for group, size in sizes),
            "MB": f"{n_bytes / 1e6:.2f}",
        }
        for name, title, n_nodes, n_edges, attribute, sizes, n_bytes in rows
    ]


@command.command("info")
@click.argument("name")
def info_command(name: str) -> None:
    """Show where a data set comes from, its licence, and how it is cleaned."""
    from equigraph.datasets import describe, make_classroom

    check_dataset(name)
    line((make_classroom().DESCR if name == EMBEDDED else describe(name)).rstrip())


@command.command("fetch")
@click.argument("names", nargs=-1, required=True)
@shared.flag("--raw", "The raw files instead, and clean them.")
@click.option("--data-home", metavar="DIR", help="Folder to look in first, and to download into.")
@shared.quiet("No progress bar.")
def fetch_command(names: tuple[str, ...], raw: bool, data_home: str | None, quiet: bool) -> None:
    """Fetch data sets, check them, and say what is in them."""
    from equigraph.datasets import load

    for name in names:
        check_dataset(name)
    wanted = [name for name in names if name != EMBEDDED]
    failed = []
    for name in wanted:
        try:
            data = load(name, raw=raw, data_home=data_home, progress=not quiet and sys.stderr.isatty())
        except DatasetError as error:
            click.echo(f"Error: {error}", err=True)
            failed.append(name)
            continue
        n_nodes, n_edges = data.adjacency.shape[0], data.adjacency.nnz // 2
        line(f"{name}: {count(n_nodes, 'node')}, {count(n_edges, 'edge')}; use {PREFIX}{name}")
    if EMBEDDED in names:
        line(f"{EMBEDDED}: part of equigraph, nothing to fetch; use {PREFIX}{EMBEDDED}")
    if failed:
        raise click.exceptions.Exit(1)
