"""How a search is watched and stopped."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from types import TracebackType

from equigraph._utils.callbacks import Notifier

# Seconds between two questions whether somebody wants to stop, within a step.
_PATIENCE = 0.5


class Stopped(Exception):
    """Somebody wants the search to stop."""


class Stopwatch:
    """Tells about progress, and ends a block of code when somebody wants to stop and there is something to keep.

    Parameters
    ----------
    notify : Notifier, optional
        Called after each step; may ask to stop.
    total : int
        Number of steps, about.
    may_stop : callable
        Whether there is something to keep: a wish to stop waits until there is.

    Attributes
    ----------
    stopped : bool
        Whether the block ended early, also by Ctrl-C.
    """

    def __init__(
        self, notify: Notifier | None = None, total: int = 1, may_stop: Callable[[], bool] = lambda: False
    ):
        self._notify, self._may_stop = notify or Notifier(), may_stop
        self._step, self._total, self._stage = 0, total, "search"
        self._wanted = self.stopped = False
        self._last = time.monotonic()
        # Climbs from several starts look at the same time.
        self._lock = threading.Lock()

    def step(self, stage: str = "search") -> None:
        """Say that a step is done."""
        self._step, self._stage = self._step + 1, stage
        self._ask()

    def look(self) -> None:
        """Ask, within a step, whether somebody wants to stop; called often, it asks now and then."""
        if time.monotonic() - self._last > _PATIENCE:
            self._ask()

    def _ask(self) -> None:
        with self._lock:
            self._last = time.monotonic()
            self._wanted |= self._notify(self._stage, min(self._step, self._total), self._total)
        if self._wanted and self._may_stop():
            raise Stopped

    def __enter__(self) -> Stopwatch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.stopped = (
            kind is not None and issubclass(kind, (Stopped, KeyboardInterrupt)) and self._may_stop()
        )
        return self.stopped
