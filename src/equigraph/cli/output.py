"""Folders of results that are written completely or not at all."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from equigraph.cli.sources import READING_NAMES, n_dropped
from equigraph.exceptions import ParameterError

# Whoever finds one of these finds the other files too: they come last, and go first.
_LAST = ("result.json", "curve.json")
# What the commands write into folders. A folder with a result may hold files of an older one.
OWN_FILES = (
    "labels.csv", "membership.npz", "interaction.csv", "result.json", "graph.png", "interaction.png",
    "composition.png", "methods.png", "tradeoff.png", "curve.csv", "curve.json", "twin.png", "front.png",
    "report.html", "dropped.csv",
)  # fmt: skip


def source_of(ctx: click.Context, edges: str, settings: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return where a command has its graph from, so that it can be read again.

    Parameters
    ----------
    ctx : click.Context
        Of the command.
    edges : str
        A file, or ``dataset:NAME``.
    settings : dict, optional
        Settings of the command; the reading options among them are recorded.

    Returns
    -------
    dict
        The command as it was typed, the folder it ran in, the file, and the options that say something.
    """
    typed = ctx.find_root().obj or [ctx.info_name]
    options = {name: (settings or {}).get(name) for name in READING_NAMES}
    return {
        "command": shlex.join(["equigraph", *map(str, typed)]),
        "folder": str(Path.cwd()),
        "edges": edges,
        "options": {name: value for name, value in options.items() if value is not None},
    }


def told_of(source: dict[str, Any], graph: Any) -> dict[str, Any]:
    """Return a source with how many nodes of it were dropped, where any was."""
    dropped = n_dropped(graph)
    return {**source, "n_dropped": dropped} if dropped else source


def write_dropped(graph: Any, folder: Path) -> None:
    """Name the nodes that were dropped in a file of their own; without any there is none."""
    from equigraph.records import write_csv

    if n_dropped(graph):
        write_csv(folder / "dropped.csv", {"node": graph.dropped})


def check_folder(folder: str) -> None:
    """Refuse a folder that cannot be written, before anything is computed."""
    path = Path(folder)
    if path.exists() and not path.is_dir():
        raise ParameterError(f"The output {folder} is a file: expected a folder, which may be new.")
    while not path.exists():
        path = path.parent
    if not path.is_dir() or not os.access(path, os.W_OK):
        raise ParameterError(
            f"The output {folder} cannot be written: {path} is not a folder that you may write to."
        )


def check_file(path: str, suffixes: tuple[str, ...]) -> None:
    """Refuse a file of an unknown kind, or one that cannot be written."""
    if Path(path).suffix.lower() not in suffixes:
        raise ParameterError(
            f"The output {path} is of no known kind: expected a name in {', '.join(suffixes)}."
        )
    if Path(path).is_dir():
        raise ParameterError(f"The output {path} is a folder: expected a file.")
    check_folder(str(Path(path).parent))


@contextmanager
def complete_folder(folder: str) -> Iterator[Path]:
    """Give a folder to write to, whose files are moved to the target only if the block succeeds.

    Files of an older result in the target are then removed, so that all files there are of one run.
    """
    target = Path(folder)
    is_new = not target.exists()
    place = target.parent if is_new else target
    place.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(dir=place, prefix=".equigraph-"))
    try:
        yield partial
        if is_new:
            target.mkdir()
        _remove_older(target, {file.name for file in partial.iterdir()})
        for file in sorted(partial.iterdir(), key=lambda file: (file.name in _LAST, file.name)):
            os.replace(file, target / file.name)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _remove_older(target: Path, written: set[str]) -> None:
    """Remove the files of an older result that this run does not write; without a result they are the user's."""
    marks = [target / name for name in _LAST if (target / name).exists()]
    if not marks:
        return
    for mark in marks:
        mark.unlink()
    for name in OWN_FILES:
        if name not in written:
            (target / name).unlink(missing_ok=True)
