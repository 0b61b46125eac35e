"""Progress reports of a search, and early stopping."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from equigraph._utils.callbacks import Notifier

# Least number of seconds between two calls of the callback within a step.
_CALLBACK_INTERVAL = 0.5


class StopRequested(Exception):
    """Raised when a callback asks to stop."""


class Stopwatch:
    """Report progress to a callback, and leave a block early when the callback asks to stop.

    Parameters
    ----------
    notify : Notifier, optional
        Called after each step; may ask to stop.
    total : int
        Estimated number of steps.
    has_result : callable
        Whether the search has a result to return. A request to stop is deferred until it has one.

    Attributes
    ----------
    stopped : bool
        Whether a block ended early, by a callback or by Ctrl-C.
    """

    def __init__(
        self,
        notify: Notifier | None = None,
        total: int = 1,
        has_result: Callable[[], bool] = lambda: False,
    ):
        self._notify, self._has_result = notify or Notifier(), has_result
        self._step, self._total, self._stage = 0, total, "search"
        self._stop_requested = self.stopped = False
        self._last_call = time.monotonic()
        # Climbs from several starts run in threads that share the stopwatch.
        self._lock = threading.Lock()

    def step(self, stage: str = "search", completed: int = 1) -> None:
        """Count completed steps and call the callback."""
        with self._lock:
            self._step, self._stage, self._last_call = self._step + completed, stage, time.monotonic()
            self._stop_requested |= self._notify(stage, min(self._step, self._total), self._total)
        # Once stopped, what is still done to keep the labels found must not be stopped again.
        if self._stop_requested and not self.stopped and self._has_result():
            raise StopRequested

    def look(self) -> None:
        """Call the callback within a step, unless the last call was less than half a second ago."""
        if time.monotonic() - self._last_call > _CALLBACK_INTERVAL:
            self.step(self._stage, 0)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Leave the block early if the callback or Ctrl-C asks to stop and there is a result."""
        try:
            yield
        except (StopRequested, KeyboardInterrupt):
            if not self._has_result():
                raise
            self.stopped = True
