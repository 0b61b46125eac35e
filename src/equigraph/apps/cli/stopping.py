"""Stop a run early and keep what it has: at a time limit, at Ctrl-C, or at SIGTERM."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from equigraph._utils.callbacks import Progress, _Shared
from equigraph.apps.cli.console import note

TIME_LIMIT = click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop so long after the start of the command, and keep what there is.",
)
_SIGNALS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "the system (SIGTERM)"}


class Stop(_Shared):
    """A callback that ends a computation when its time is over, or when somebody asks for it.

    The time began when the command did; the exit code is 0 or, as shells have it, 128 and the number of the signal.
    """

    def __init__(self, ctx: click.Context, seconds: float | None = None):
        started = getattr(ctx.find_root().command, "started", None) or time.monotonic()
        self._limit, self._end = seconds, None if seconds is None else started + seconds
        self._asked: str | None = None
        self.reason: str | None = None
        self.exit_code = 0

    def __call__(self, progress: Progress) -> bool:
        """Return True from the moment that the computation should end."""
        late = self._end is not None and time.monotonic() >= self._end
        self.reason = self.reason or self._asked or (f"the time limit of {self._limit:g} s" if late else None)
        return self.reason is not None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Take the first Ctrl-C, and the first SIGTERM, as a request to end with what there is; the second ends all."""
        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread hears signals
            return
        before = {number: signal.signal(number, self._hear) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _hear(self, number: int, frame: Any) -> None:
        self._asked, self.exit_code = _SIGNALS[signal.Signals(number)], 128 + number
        click.echo("Note: stopping at the next step, to keep what there is; once more to give up.", err=True)
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

    def report(self, what: str) -> None:
        """Say that the run ended before its end, and what is kept."""
        if self.reason is not None:
            note(f"stopped by {self.reason}: {what}.")

    def leave(self) -> None:
        """End the command with the exit code of the signal, if there was one that counted."""
        if self.reason is not None and self.exit_code:
            raise click.exceptions.Exit(self.exit_code)
