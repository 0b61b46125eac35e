"""Output of a command, checked before anything is computed."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equigraph.apps.cli import shared
from equigraph.apps.cli.console import line, note, progress_bar, warnings_as_notes
from equigraph.apps.cli.shared import Settings
from equigraph.apps.cli.sources import READING_NAMES, n_dropped
from equigraph.apps.cli.stopping import Stop
from equigraph.exceptions import ParameterError, require

if TYPE_CHECKING:
    from equigraph.results.persistence import Contents, OutputFolder

# Flags that make no other result.
_SAME_RUN = ("--force", "--raw", "--plot", "--report", "--parquet", "--json", "-q", "--quiet", "--debug")


def source_of(ctx: click.Context, edges: str) -> dict[str, Any]:
    """Return where a command reads its graph, so that it can be read again.

    That is the command as it was typed, the folder it ran in, the file, and the reading options that say something.
    """
    typed = ctx.find_root().obj or [ctx.info_name]
    options = {name: _plain(ctx.params.get(name)) for name in READING_NAMES}
    return {
        "command": shlex.join(["equigraph", *map(str, typed)]),
        "folder": str(Path.cwd()),
        "edges": edges,
        "options": {name: value for name, value in options.items() if value is not None},
    }


def _plain(value: Any) -> Any:
    """Return an option that may be repeated as it would be without: nothing, the only value, or a list."""
    if not isinstance(value, tuple):
        return value
    return None if not value else value[0] if len(value) == 1 else list(value)


def source_with_dropped(source: dict[str, Any], graph: Any) -> dict[str, Any]:
    """Return a source with how many nodes of it were dropped, where any was."""
    dropped = n_dropped(graph)
    return {**source, "n_dropped": dropped} if dropped else source


def check_file(path: str, suffixes: tuple[str, ...], *, force: bool) -> None:
    """Refuse a file of an unknown kind, one that is there already, or one that cannot be written."""
    from equigraph.results.persistence import OutputFolder

    target = Path(path)
    if target.suffix.lower() not in suffixes:
        raise ParameterError(
            f"The output {path} is of no known kind: expected a name in {', '.join(suffixes)}."
        )
    if target.is_dir():
        raise ParameterError(f"The output {path} is a folder: expected a file.")
    with OutputFolder(target.parent, patience=0):
        if os.path.lexists(target) and not force:
            raise ParameterError(
                f"The output {path} is there already: give another name, or --force to replace it."
            )


output_options = shared.together(
    shared.flag(
        "--force", "Replace what other runs, or other programs, wrote under the names of the output."
    ),
    shared.flag(
        "--raw", "Names as they are in csv files, even those that a spreadsheet would run as formulas."
    ),
)


@contextmanager
def output_folder(
    ctx: click.Context, settings: Settings, names: Iterable[str]
) -> Iterator[OutputFolder | None]:
    """Give the folder of ``-o``, tried and locked before anything is computed; None if none was given."""
    if settings.get("plot"):
        require("matplotlib", extra="plot", purpose="Drawing a picture")
    if settings["output"] is None:
        yield None
        return
    from equigraph.results.persistence import MANIFEST, OutputFolder

    with OutputFolder(settings["output"], patience=0) as out:
        out.refuse_others((*names, MANIFEST), run=run_of(ctx), force=settings["force"])
        yield out


class Run:
    """A command that computes something from a graph: progress, stopping, the folder of ``-o`` and the summary.

    The settings are what was typed, by the names of the options.
    """

    def __init__(self, ctx: click.Context, settings: Settings):
        self.ctx, self.settings = ctx, settings
        self.stop = Stop(ctx, settings.get("time_limit"))
        self.files: list[str] = []

    @contextmanager
    def output(self, names: Iterable[str]) -> Iterator[None]:
        """Hold the folder of ``-o`` while computing, and print warnings as notes."""
        with warnings_as_notes(), output_folder(self.ctx, self.settings, names) as self._out:
            yield

    @contextmanager
    def callbacks(self) -> Iterator[list[Any]]:
        """Give the callbacks of a computation: the progress bar, and what stops it."""
        with progress_bar(quiet=self.settings["quiet"]) as bar, self.stop.listening():
            yield [*bar, self.stop]

    def write(self, kind: str, contents: Callable[[], Contents], further: Callable[[Path], Any]) -> None:
        """Write contents, and what `further` adds to them, into the folder of ``-o`` if there is one."""
        if self._out is not None:
            raw, force = self.settings.get("raw", False), self.settings["force"]
            self.files = self._out.write(
                kind, contents(), further=further, raw=raw, force=force, run=run_of(self.ctx)
            )

    def finish(self, kept: str, what: str, summary: Callable[[], Any], show: Callable[[], None]) -> None:
        """Print the summary, as JSON or as tables, and end with the exit code of a signal if there was one.

        `kept` says what a run that was stopped has, `what` names what a folder would have kept.
        """
        self.stop.report(kept)
        if self.settings["as_json"]:
            line(json.dumps(summary(), indent=2))
        elif not self.settings["quiet"]:
            show()
            if self.files:
                line(f"Wrote {', '.join(self.files)} to {self.settings['output']}.")
            else:
                note(f"nothing was written; -o DIR keeps the {what}.")
        self.stop.leave()


def run_of(ctx: click.Context) -> dict[str, str]:
    """Return what identifies a run: the command, but for options that only change what is written or printed."""
    typed = [str(word) for word in ctx.find_root().obj or [ctx.info_name] if word not in _SAME_RUN]
    return {"command": shlex.join(["equigraph", *typed]), "folder": str(Path.cwd())}
