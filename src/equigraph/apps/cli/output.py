"""A run of a command: stopping, output folder, summary and exit code."""

from __future__ import annotations

import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from equigraph._utils.callbacks import Progress, _Shared
from equigraph._utils.text import count
from equigraph.apps.cli.console import describe_graph, line, note, print_json, progress_bar, warnings_as_notes
from equigraph.apps.cli.options import Settings
from equigraph.apps.cli.sources import READING_NAMES, read_source
from equigraph.exceptions import MissingDependencyError, ParameterError, require

if TYPE_CHECKING:
    from equigraph.results.persistence import Contents, OutputFolder

# Names left out by the reading options: those found only in the groups, and nodes without a group.
_LEFT_OUT = ("unmatched.csv", "dropped.csv")
PAGE = "report.html"
# Flags that do not affect the result.
_SAME_RUN = ("--force", "--raw", "--plot", "--report", "--parquet", "--json", "-q", "--quiet", "--debug")
_SIGNALS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "the system (SIGTERM)"}


class Stop(_Shared):
    """A callback that stops a computation at the time limit or on a signal.

    The time counts from the start of the command. The exit code is 0 or, as in shells, 128 plus the number of the
    signal.
    """

    def __init__(self, started: float, seconds: float | None = None):
        self._limit, self._end = seconds, None if seconds is None else started + seconds
        self._asked: str | None = None
        self.reason: str | None = None
        self.exit_code = 0

    def __call__(self, progress: Progress) -> bool:
        """Return whether the computation should stop."""
        late = self._end is not None and time.monotonic() >= self._end
        self.reason = self.reason or self._asked or (f"the time limit of {self._limit:g} s" if late else None)
        return self.reason is not None

    @contextmanager
    def catch_signals(self) -> Iterator[None]:
        """Handle the first Ctrl-C or SIGTERM as a request to stop with partial results; the second ends the process."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread receives signals
            return
        before = {number: signal.signal(number, self._on_signal) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, frame: Any) -> None:
        self._asked, self.exit_code = _SIGNALS[signal.Signals(number)], 128 + number
        click.echo("Note: stopping at the next step, to keep what there is; once more to give up.", err=True)
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


class Run:
    """A command that computes a result: progress, stopping, the folder of ``-o`` and the summary.

    The settings are the option values by name.
    """

    def __init__(self, settings: Settings):
        self.settings = settings
        typed, started = click.get_current_context().find_root().obj
        self.stop = Stop(started, settings.get("time_limit"))
        self.files: list[str] = []
        self.command = shlex.join(["equigraph", *typed])
        # Identity of a run: the command without options that only affect output.
        kept = [word for word in typed if word not in _SAME_RUN]
        self.identity = {"command": shlex.join(["equigraph", *kept]), "folder": str(Path.cwd())}

    def read(self, edges: str) -> Any:
        """Read the graph of the command."""
        self.edges, self.graph = edges, read_source(edges, self.settings)
        return self.graph

    @property
    def dropped(self) -> list[Any]:
        """Nodes without a group that reading left out; a graph on disk has all of its nodes."""
        found = getattr(self.graph, "dropped", None)
        return [] if found is None else found.tolist()

    def source(self) -> dict[str, Any]:
        """Return the source of the graph, from which it can be read again, and the number of dropped nodes.

        It has the command line, the working directory, the file, and the reading options that differ from their
        defaults.
        """
        options = {name: click.get_current_context().params.get(name) for name in READING_NAMES}
        return {
            "command": self.command,
            "folder": str(Path.cwd()),
            "edges": self.edges,
            "options": {name: value for name, value in options.items() if value not in (None, (), {})},
            **({"n_dropped": len(self.dropped)} if self.dropped else {}),
        }

    @contextmanager
    def output(self, names: Iterable[str]) -> Iterator[OutputFolder | None]:
        """Lock the folder of ``-o``, if given, and print warnings as notes.

        The folder is checked and locked before anything is computed.
        """
        from equigraph.results.persistence import MANIFEST, OutputFolder

        for flag in ("plot", "report", "parquet"):
            if self.settings.get(flag) and self.settings["output"] is None:
                raise click.UsageError(f"--{flag} needs a folder to write into: give -o DIR.")
        if self.settings.get("plot"):
            require("matplotlib", extra="plot", purpose="Drawing a picture")
        if self.settings.get("parquet") or self.settings.get("labels_format") == "parquet":
            require("pyarrow", extra="io", purpose="Writing parquet")
        self._out: OutputFolder | None = None
        with warnings_as_notes():
            if self.settings["output"] is None:
                yield None
                return
            with OutputFolder(self.settings["output"], patience=0) as self._out:
                page = (PAGE,) if self.settings.get("report") else ()
                written = (*names, *_LEFT_OUT, *page, MANIFEST)
                self._out.refuse_others(written, run=self.identity, force=self.settings["force"])
                yield self._out

    @contextmanager
    def callbacks(self) -> Iterator[list[Any]]:
        """Provide the callbacks of a computation: progress bar and stopping."""
        with progress_bar(quiet=self.settings["quiet"]) as bar, self.stop.catch_signals():
            yield [*bar, self.stop]

    def write(
        self, kind: str, contents: Callable[[], Contents], draw: Callable[[Path], Any] = lambda folder: None
    ) -> None:
        """Write contents, the files of `draw` and the names left out into the folder of ``-o``, if given."""
        if self._out is None:
            return

        def further(folder: Path) -> None:
            try:
                draw(folder)
            except MissingDependencyError as error:
                note(str(error))

        raw, force = self.settings.get("raw", False), self.settings["force"]
        files = {**contents(), **self._left_out()}
        self.files = self._out.write(kind, files, further=further, raw=raw, force=force, run=self.identity)

    def _left_out(self) -> dict[str, Any]:
        """Return files of the names that were left out, and print a note on each; no file without any."""
        from equigraph.graph.names import object_array

        files = {}
        for file, column, what, names in (
            (_LEFT_OUT[0], "name", "a match", self.settings.get("unmatched", [])),
            (_LEFT_OUT[1], "node", "a group", self.dropped),
        ):
            if names:
                files[file] = {column: object_array(names)}
                note(f"{count(len(names), column)} without {what} left out: see {file}.")
        return files

    def finish_graph(
        self, kept: str, what: str, summary: Callable[[], Any], show: Callable[[], None]
    ) -> None:
        """Finish with a summary that names graph and files; `what` describes what ``-o`` would have kept."""

        def show_all() -> None:
            line(describe_graph(self.graph, self.edges))
            show()
            if self.files:
                line(f"Wrote {', '.join(self.files)} to {self.settings['output']}.")
            else:
                note(f"nothing was written; -o DIR keeps the {what}.")

        self.finish(kept, summary, show_all)

    def finish(self, kept: str, summary: Callable[[], Any], show: Callable[[], None]) -> None:
        """Print the summary, as JSON or as tables, and exit with the code of a signal if there was one.

        `kept` describes the partial results of a stopped run.
        """
        if self.stop.reason is not None:
            note(f"stopped by {self.stop.reason}: {kept}.")
        if self.settings["as_json"]:
            print_json(summary())
        elif not self.settings["quiet"]:
            show()
        if self.stop.reason is not None and self.stop.exit_code:
            raise click.exceptions.Exit(self.stop.exit_code)


def check_file(path: str, suffixes: tuple[str, ...], *, force: bool) -> None:
    """Raise an error for a file of an unknown kind, one that exists, or one that cannot be written."""
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
