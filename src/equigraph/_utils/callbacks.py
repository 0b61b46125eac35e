"""Progress, early stop and time limits of long computations.

A callback is anything callable with a `Progress`. When it returns True the computation stops and keeps its current
state; any other value continues it.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

# Least number of seconds between two calls of the callback within a step.
_CALLBACK_INTERVAL = 0.5


@dataclass(frozen=True)
class Progress:
    """State of a running computation.

    Attributes
    ----------
    stage : str
        Name of the stage, such as ``"factorization"``.
    step, total : int
        Number of steps done and of all steps. A stage that converges early ends before ``total``.
    objective : float or None
        Current value of the objective that is minimised, if there is one.
    """

    stage: str
    step: int
    total: int
    objective: float | None = None


Callback: TypeAlias = Callable[[Progress], Any]
Callbacks: TypeAlias = Callback | Iterable[Callback] | None


class Notifier:
    """Call several callbacks, and return whether one of them asks to stop."""

    def __init__(self, callbacks: Callbacks = None):
        if callbacks is None:
            self.callbacks: tuple[Callback, ...] = ()
        elif callable(callbacks):
            self.callbacks = (callbacks,)
        else:
            self.callbacks = tuple(callbacks)

    def __call__(self, stage: str, step: int, total: int, objective: float | None = None) -> bool:
        """Return True when a callback asks to stop; every callback is called in any case."""
        if not self.callbacks:
            return False
        progress = Progress(stage, step, total, objective)
        answers = [callback(progress) for callback in self.callbacks]
        return any(answer is True for answer in answers)


class _Shared:
    """Base class of callbacks that clones of an estimator share instead of copying."""

    def __deepcopy__(self, memo: dict[int, Any]) -> _Shared:
        return self


class Watched(_Shared):
    """Combination of several callbacks that records whether any of them has asked to stop."""

    def __init__(self, callbacks: Callbacks):
        self._callbacks = Notifier(callbacks).callbacks
        self.stopped = False

    def __call__(self, progress: Progress) -> bool:
        """Call all of them; return True from the first request to stop on."""
        answers = [callback(progress) is True for callback in self._callbacks]
        self.stopped = self.stopped or any(answers)
        return self.stopped


class TimeLimit(_Shared):
    """Stop after a number of seconds, counted from its first call; the current state is kept.

    All stages of a fit count towards the same limit, so use a new object for every fit.

    Parameters
    ----------
    seconds : float
        The limit.

    Examples
    --------
    >>> limit = TimeLimit(60)
    >>> limit(Progress("factorization", 1, 500))
    False
    """

    def __init__(self, seconds: float):
        self.seconds = seconds
        self._start: float | None = None

    def __call__(self, progress: Progress) -> bool:
        """Return True once the limit is reached."""
        now = time.monotonic()
        if self._start is None:
            self._start = now
        return now - self._start >= self.seconds


class ProgressLog(_Shared):
    """Log progress at level INFO to the logger "equigraph", once per second at most.

    If the logger has no handler, one that writes to standard error is added.

    Examples
    --------
    >>> log = ProgressLog()
    >>> log(Progress("factorization", 1, 500, 12.5))
    """

    def __init__(self) -> None:
        self._logger = logging.getLogger("equigraph")
        if not self._logger.hasHandlers():
            self._logger.addHandler(logging.StreamHandler())
        if not self._logger.isEnabledFor(logging.INFO):
            self._logger.setLevel(logging.INFO)
        self._next = 0.0

    def __call__(self, progress: Progress) -> None:
        """Write one line, unless the last one is less than a second old."""
        now = time.monotonic()
        if now < self._next and progress.step < progress.total:
            return
        self._next = now + 1
        value = "" if progress.objective is None else f", objective {progress.objective:.6g}"
        self._logger.info("%s: step %d of %d%s", progress.stage, progress.step, progress.total, value)


@contextmanager
def interrupt_stops() -> Iterator[Callback]:
    """Yield a callback that asks to stop after Ctrl-C; a second Ctrl-C raises KeyboardInterrupt.

    Only the main thread receives signals; a handler that other code has set is kept.
    """
    asked, answered = threading.Event(), threading.Event()

    def receive(number: int, frame: Any) -> None:
        asked.set()
        signal.signal(number, signal.default_int_handler)

    def stop(progress: Progress) -> bool:
        if asked.is_set():
            answered.set()
        return answered.is_set()

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield lambda progress: False
        return
    signal.signal(signal.SIGINT, receive)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if asked.is_set() and not answered.is_set():
        raise KeyboardInterrupt  # it came after the last step


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


class ProgressBar(_Shared):
    """Progress bar in the terminal, by rich; use it as a context manager so that it is closed at the end.

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to draw; standard error by default, so that standard output stays clean.

    Examples
    --------
    >>> with ProgressBar() as bar:
    ...     _ = bar(Progress("factorization", 1, 2))
    """

    def __init__(self, console: Any = None):
        self.console = console
        self._bar: Any = None
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> ProgressBar:
        from equigraph._utils.randomness import random_state_kept

        with random_state_kept():
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=self.console or Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._bar.stop()
        self._bar = None
        self._tasks.clear()

    def __call__(self, progress: Progress) -> None:
        """Update the bar of this stage."""
        if self._bar is None:
            return
        if progress.stage not in self._tasks:
            self._tasks[progress.stage] = self._bar.add_task(progress.stage, total=progress.total, note="")
        note = "" if progress.objective is None else f"objective {progress.objective:.6g}"
        self._bar.update(
            self._tasks[progress.stage], completed=progress.step, total=progress.total, note=note
        )
