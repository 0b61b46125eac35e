"""``equigraph explore``: open the board in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import equigraph as eg
from equigraph.apps.cli.classes import sheet_settings
from equigraph.apps.cli.console import line, note, warnings_as_notes
from equigraph.apps.cli.options import Command, Settings
from equigraph.apps.cli.sources import PREFIX, dataset_graph
from equigraph.exceptions import ParameterError, RosterError, require

_SHEETS = (".xlsx", ".xls", ".ods", ".csv", ".tsv", ".txt")


@click.command("explore", cls=Command)
def command(source: str | None, **settings: Any) -> None:
    """Open a board in the browser: people, a dial, and the graph.

    FILE is a sheet of people (.xlsx, .ods, .csv), a graph (with --groups), dataset:NAME, a folder that `equigraph
    classes` wrote, or a board that the page saved; without one it is the embedded classroom. Everything stays on this
    machine.
    """
    from equigraph.apps.explore.server import is_local, serve

    if settings["print_"]:
        _print_labels(source)
        return
    require("starlette", extra="explore", purpose="The explorer")
    from equigraph.apps.explore.jobs import start_loading

    start_loading()  # of the search, while the people are read here
    from equigraph.apps.explore.app import open_session

    opened = _opened(source, settings, open_session)
    if not is_local(settings["host"]):
        note(
            f"Listening on {settings['host']}: others on the network can reach this server, though not without "
            "the token in the link; names travel unencrypted."
        )
    if getattr(opened, "restored", False):
        note("This board is as it was left; --fresh starts over.")
    options = {name: settings[name] for name in ("host", "port", "browser")}
    serve(opened, ready=lambda running: line(f"The board is at {running.link}\nCtrl-C ends it."), **options)


def _opened(source: str | None, settings: Settings, open_session: Any) -> Any:
    """Return the board for the settings, or a sheet to confirm on the page first."""
    from equigraph.apps.explore.persistence import stored_step

    number, attribute, fresh = settings["n_clusters"], settings["attribute"], settings["fresh"]
    with warnings_as_notes():
        path = Path(source or "")
        if settings["groups"] is None and path.suffix.lower() in _SHEETS and not path.is_dir():
            sheet, people = _read_sheet(path, settings)
            anew = fresh or number is not None or attribute is not None
            if anew or people is None or stored_step(people) is None:
                return sheet
            return open_session(people)
        people, step = _read(source, settings)
        return open_session(people, step, number, attribute, fresh=fresh)


def _read_sheet(path: Path, settings: Settings) -> tuple[Any, Any]:
    """Return a sheet to confirm on the page, and its people if nothing has to be confirmed."""
    from equigraph.apps.classes.attributes import chosen_attributes, describe_roster
    from equigraph.apps.explore.people import BoardPeople
    from equigraph.apps.explore.uploads import OfferedSheet, Upload, inspect

    options = {**sheet_settings(settings), "bins": settings["bins"]}
    upload = Upload(str(path), path.name, options, attribute=settings["attribute"])
    sheet = OfferedSheet(upload, inspect(upload), settings["n_clusters"])
    try:
        people = BoardPeople.of_roster(eg.read_roster(path, **options), path.name)
    except RosterError:
        note(f"{path.name}: the page asks what has to be known of it.")
        return sheet, None
    attribute = settings["attribute"]
    n_classes = settings["n_clusters"] or people.usual_clusters()
    chosen = chosen_attributes(people.sheet, None if attribute is None else [attribute], n_classes)
    line(f"{path.name}: {describe_roster(people.sheet, chosen)}")
    return sheet, people


def _read(source: str | None, settings: Settings) -> tuple[Any, Any]:
    """Return the people, and the state if the file is a saved board or a folder of classes."""
    from equigraph.apps.classes.persistence import load_edited
    from equigraph.apps.explore.people import BoardPeople, classroom
    from equigraph.apps.explore.persistence import read_board
    from equigraph.apps.explore.steps import board_of_division

    groups, attribute = settings["groups"], settings["attribute"]
    if source is None or source == f"{PREFIX}classroom":
        return classroom(), None
    if source.startswith(PREFIX):
        graph = dataset_graph(source.removeprefix(PREFIX), attribute)
        return BoardPeople.of_graph(graph, source.removeprefix(PREFIX)), None
    path = Path(source)
    if path.suffix.lower() == ".json":
        return read_board(path)
    if path.is_dir():
        step = board_of_division(load_edited(path), path.name)
        return step.people, step
    return BoardPeople.of_graph(eg.read_graph(path, groups=groups, attribute=attribute), path.name), None


def _print_labels(source: str | None) -> None:
    from equigraph.apps.explore.persistence import read_board

    if source is None:
        raise ParameterError("--print needs a saved board: equigraph explore my.board.json --print.")
    people, step = read_board(source)
    for name, label in zip(people.names, step.labels.tolist(), strict=True):
        line(f"{name}\t{step.clusters[label]}")
