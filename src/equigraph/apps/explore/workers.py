"""Processes that work for the server, one task at a time each: watched, and ended when they are not wanted any more."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import Any

from equigraph._utils.callbacks import Progress
from equigraph.apps.classes.roster.reader_process import limit_memory

Notify = Callable[[str, int, int], None]
_MEMORY = 6 << 30
_START = 180.0  # seconds that a process may take to load everything on a slow machine
_GRACE = 3.0  # seconds that a task may take to stop by itself
_STOP = ("stop", None)
_LOOK = 0.05  # seconds between looks at whether a task was cancelled
_TELL = 0.1  # seconds between two reports of progress


class Cancelled(Exception):
    """The task was cancelled."""


class TaskFailed(Exception):
    """The task ended with a sentence; ``rules`` are those that contradict each other, as the page needs them."""

    def __init__(self, error: str, rules: list[dict[str, Any]] | None = None) -> None:
        super().__init__(error)
        self.rules = rules or []


class Worker:
    """A process that is started when it is first needed, and again after it was ended."""

    def __init__(self) -> None:
        self._context = _context()
        self._process: Any = None
        self._pipe: Connection | None = None
        self._ready = False  # whether the process has said that it has loaded everything
        self._closed = False
        self._busy = threading.Lock()  # held while a task is done
        self._changing = threading.Lock()  # held while a process comes or goes: any thread may end one

    def is_alive(self) -> bool:
        """Return whether there is a process now."""
        process = self._process
        return process is not None and bool(process.is_alive())

    def start(self) -> None:
        """Start the process, if there is none."""
        self._started()

    def _started(self) -> Connection:
        with self._changing:
            if self._closed:
                raise Cancelled
            if self._pipe is None or not self.is_alive():
                self._ready = False
                self._pipe, theirs = self._context.Pipe()
                self._process = self._context.Process(target=_serve, args=(theirs,), daemon=True)
                self._process.start()
                theirs.close()
            return self._pipe

    def stop(self) -> None:
        """End the process, whatever it is doing.

        The pipe is not closed here but when nobody holds it any more: another thread may be reading it, and the number
        of a closed file is given to the next file that is opened.
        """
        with self._changing:
            process, self._process, self._pipe = self._process, None, None
        if process is not None:
            process.kill()
            process.join(5)

    def close(self) -> None:
        """End the process, and start none again."""
        with self._changing:
            self._closed = True
        self.stop()

    def run(
        self,
        task: str,
        payload: Mapping[str, Any],
        *,
        seconds: float,
        cancelled: threading.Event,
        notify: Notify,
    ) -> Any:
        """Have a task done, in a thread of its own; the process is ended if it is cancelled or takes too long.

        Raises Cancelled if it was cancelled, and TaskFailed with a sentence if it failed or took too long.
        """
        while not self._busy.acquire(timeout=_LOOK):
            if cancelled.is_set():
                raise Cancelled
        try:
            pipe = self._started()
            if not self._ready:
                self._wait(pipe, _START, cancelled, notify)
                self._ready = True
            pipe.send((task, dict(payload)))
            return self._wait(pipe, seconds, cancelled, notify)
        except (EOFError, OSError):
            self.stop()
            if self._closed or cancelled.is_set():
                raise Cancelled from None
            raise TaskFailed("The work ended before it was done; there may not be enough memory.") from None
        finally:
            self._busy.release()

    def _wait(self, pipe: Connection, seconds: float, cancelled: threading.Event, notify: Notify) -> Any:
        end = time.monotonic() + seconds
        while True:
            if pipe.poll(_LOOK):
                kind, content = pipe.recv()
                if kind == "progress":
                    notify(*content)
                elif kind == "failed":
                    raise TaskFailed(**content)
                else:
                    return content
            if cancelled.is_set():
                if not self._stopped_itself(pipe):
                    self.stop()
                raise Cancelled
            if time.monotonic() > end:
                self.stop()
                raise TaskFailed(f"This took longer than {seconds:g} seconds and was ended.")

    def _stopped_itself(self, pipe: Connection) -> bool:
        """Ask the task to stop, and return whether it has: a process that lives on need not load everything again."""
        if not self._ready:
            return False
        pipe.send(_STOP)
        end = time.monotonic() + _GRACE
        while (left := end - time.monotonic()) > 0:
            if pipe.poll(left) and pipe.recv()[0] != "progress":
                return True
        return False


def _context() -> Any:
    """Return how processes are started: by a server that has loaded everything once, where the system has that."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["equigraph.apps.explore.tasks"])
    return context


class _TaskStopped(BaseException):
    """The task is not wanted any more; derived so that nothing on the way takes it for an error."""


def _serve(pipe: Connection) -> None:
    """Do tasks until the other end is gone."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its workers
    limit_memory(_MEMORY)  # a file that asks for all of it ends the task alone
    from equigraph.apps.explore import tasks

    pipe.send(("done", None))
    while True:
        try:
            task, payload = pipe.recv()
        except (EOFError, OSError):
            return
        if (task, payload) == _STOP:  # it came after the task had ended
            continue
        try:
            answer = ("done", tasks.run(task, payload, _notifier(pipe)))
        except (EOFError, BrokenPipeError):
            return
        except _TaskStopped:
            answer = ("stopped", None)
        except BaseException as error:
            answer = ("failed", tasks.failure(error, payload))
        try:
            pipe.send(answer)
        except OSError:
            return


def _notifier(pipe: Connection) -> Callable[[Progress], None]:
    latest = 0.0

    def notify(progress: Progress) -> None:
        nonlocal latest
        if pipe.poll():
            pipe.recv()  # nothing but _STOP comes while a task runs
            raise _TaskStopped
        if time.monotonic() - latest >= _TELL:
            latest = time.monotonic()
            pipe.send(("progress", (progress.stage, int(progress.step), int(progress.total or 0))))

    return notify
