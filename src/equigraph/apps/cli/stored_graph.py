"""The graph of a stored result, read again from where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from equigraph.apps.cli import shared
from equigraph.apps.cli.options import is_given
from equigraph.apps.cli.sources import PREFIX, READING_NAMES, READING_OPTIONS, read_source, reading_option
from equigraph.exceptions import DatasetError

# The graph is itself an option here.
stored_graph_options = shared.together(
    reading_option(
        "--graph",
        "edges",
        metavar="EDGES",
        help="The graph that was clustered: a file or dataset:NAME. By default, and with the options below, it is "
        "read as the folder tells.",
    ),
    READING_OPTIONS,
)


def read_again(ctx: click.Context, source: Any, settings: dict[str, Any]) -> tuple[Any, str | None]:
    """Return the graph as the folder and the options say, or None and why there is none."""
    recorded = source or {}
    given = {name for name in ("edges", *READING_NAMES) if is_given(ctx, name)}
    options = {name: settings.pop(name) for name in READING_NAMES}
    options |= {name: value for name, value in recorded.get("options", {}).items() if name not in given}
    edges = settings.pop("edges")
    if edges is None:
        edges = recorded.get("edges")
        if edges is None:
            return None, "The folder does not tell where the graph was read from: --graph EDGES does."
        edges = _found(edges, recorded)
    if options["groups"] is not None and "groups" not in given:
        options["groups"] = _found(options["groups"], recorded)
    if "edges" in given or edges.startswith(PREFIX):
        try:
            return read_source(edges, options), None
        except DatasetError as error:
            if "edges" in given:
                raise
            return None, str(error)
    if Path(edges).is_dir():
        return (
            None,
            f"{edges} is a folder of edges on disk: --graph EDGES tells of a file with the same graph.",
        )
    for file in filter(None, (edges, options["groups"])):
        if not Path(file).exists():
            return (
                None,
                f"{file}, which the graph was read from, is not there any more: --graph EDGES tells where it is.",
            )
    return read_source(edges, options), None


def _found(name: str, recorded: dict[str, Any]) -> str:
    """Return a file where the command that made the folder found it, or as seen from here."""
    if name.startswith(PREFIX):
        return name
    there = Path(recorded.get("folder", ".")) / name
    return str(there) if there.exists() or not Path(name).exists() else name
