"""``equigraph explore``: the board in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from equigraph.apps.cli import shared
from equigraph.apps.cli.classes import BINS, COLUMNS, MEANT, attribute_bins, column_roles, meant_names
from equigraph.apps.cli.console import line, note, warnings_as_notes
from equigraph.apps.cli.options import Command
from equigraph.apps.cli.sources import PREFIX, dataset_graph
from equigraph.exceptions import ParameterError, require

_SHEETS = (".xlsx", ".xls", ".ods", ".csv", ".tsv", ".txt")


@click.command("explore", cls=Command)
@click.argument("source", metavar="[FILE]", required=False)
@click.option("--groups", metavar="FILE", help="FILE holds links, and this table the groups of its people.")
@click.option(
    "--attribute", metavar="NAME", help="What to spread evenly.  [default: what `equigraph classes` spreads]"
)
@COLUMNS
@BINS
@MEANT
@shared.flag("--accept-near", "Take a misspelt name if only one person can be meant.")
@click.option("-k", "--n-clusters", type=click.IntRange(min=2), help="Number of groups to make.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port.  [default: a free one]")
@shared.valued("--host", default="127.0.0.1", help="The address to listen on.")
@click.option("--browser/--no-browser", default=True, help="Whether to open the page.  [default: yes]")
@shared.flag("--fresh", "Begin anew, and not where this board was left.")
@click.option(
    "--print", "print_", is_flag=True, help="Print who is in which group of a saved board, and end."
)
@shared.DEBUG
def command(source: str | None, **settings: Any) -> None:
    """Open a board of people, a dial and the graph behind it in the browser.

    FILE is a sheet of people (.xlsx, .ods, .csv), a graph (with --groups), dataset:NAME, a folder that `equigraph
    classes` wrote, or a board that the page saved; without one it is the embedded classroom. Everything stays on this
    machine.
    """
    from equigraph.apps.explore.server import serve

    if settings["print_"]:
        _print_labels(source)
        return
    require("starlette", extra="explore", purpose="The explorer")
    from equigraph.apps.explore.workers import Worker

    worker = Worker()
    worker.start()  # it loads what a search needs while the people are read here
    from equigraph.apps.explore.app import open_session

    try:
        session = _session(source, settings, open_session)
        _say_where(session, settings["host"])
        options = {name: settings[name] for name in ("host", "port", "browser")}
        serve(session, worker=worker, tell=_tell, **options)
    finally:
        worker.stop()


def _session(source: str | None, settings: dict[str, Any], open_session: Any) -> Any:
    """Return the board that the settings ask for."""
    with warnings_as_notes():
        matter, step = _read(source, settings)
        return open_session(
            matter, step, settings["n_clusters"], settings["attribute"], fresh=settings["fresh"]
        )


def _say_where(session: Any, host: str) -> None:
    """Say what is to be known before the link is: who can reach it, and that the board is not new."""
    from equigraph.apps.explore.server import is_local

    if not is_local(host):
        note(
            f"Listening on {host}: others on the network can reach this server, though not without the token in the "
            "link; names travel unencrypted."
        )
    if session.restored:
        note("This board is as it was left; --fresh begins anew.")


def _tell(running: Any) -> None:
    line(f"The board is at {running.link}")
    line("Ctrl-C ends it.")


def _read(source: str | None, settings: dict[str, Any]) -> tuple[Any, Any]:
    """Return what the board is about, and its state if the file is a saved board or a folder of classes."""
    from equigraph.apps.classes import load_division
    from equigraph.apps.classes.attributes import chosen_attributes, describe_roster
    from equigraph.apps.classes.roster import read_roster
    from equigraph.apps.explore.examples import classroom
    from equigraph.apps.explore.matter import Matter
    from equigraph.apps.explore.persistence import read_board
    from equigraph.apps.explore.steps import board_of_division
    from equigraph.graph import read_graph

    groups, attribute = settings["groups"], settings["attribute"]
    if source is None or source == f"{PREFIX}classroom":
        return classroom(), None
    if source.startswith(PREFIX):
        graph = dataset_graph(source.removeprefix(PREFIX), attribute)
        return Matter.of_graph(graph, source.removeprefix(PREFIX), {"read": "dataset", "file": source}), None
    path = Path(source)
    if path.suffix.lower() == ".json":
        return read_board(path)
    if path.is_dir():
        return board_of_division(load_division(path), path.name)
    if groups is None and path.suffix.lower() in _SHEETS:
        roster = read_roster(
            path,
            columns=column_roles(settings["columns"]),
            bins=attribute_bins(settings["bins"]),
            names=meant_names(settings["meant"]),
            accept_near=settings["accept_near"],
        )
        matter = Matter.of_roster(roster, path.name)
        n_classes = settings["n_clusters"] or matter.usual_clusters()
        line(f"{path.name}: {describe_roster(roster, chosen_attributes(roster, None, n_classes))}")
        return matter, None
    origin = {"read": "graph", "file": path.name, "groups": groups, "attribute": attribute}
    return Matter.of_graph(read_graph(path, groups=groups, attribute=attribute), path.name, origin), None


def _print_labels(source: str | None) -> None:
    from equigraph.apps.explore.persistence import read_board

    if source is None:
        raise ParameterError("--print needs a saved board: equigraph explore my.board.json --print.")
    matter, step = read_board(source)
    for name, label in zip(matter.names, step.labels.tolist(), strict=True):
        line(f"{name}\t{step.clusters[label]}")
