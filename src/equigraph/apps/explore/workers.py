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

Tell = Callable[[str, int, int], None]
_MEMORY = 6 << 30
_START = 180.0  # seconds that a process may take to load everything on a slow machine
_LOOK = 0.05  # seconds between looks at whether a task was cancelled
_TELL = 0.1  # seconds between two reports of progress


class Cancelled(Exception):
    """The task was cancelled."""


class TaskFailed(Exception):
    """The task ended with a sentence."""


class Worker:
    """A process that is started when it is first needed, and again after it was ended."""

    def __init__(self) -> None:
        self._context = multiprocessing.get_context("spawn")
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
        self, task: str, told: Mapping[str, Any], *, seconds: float, cancelled: threading.Event, tell: Tell
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
                self._wait(pipe, _START, cancelled, tell)
                self._ready = True
            pipe.send((task, dict(told)))
            return self._wait(pipe, seconds, cancelled, tell)
        except (EOFError, OSError):
            self.stop()
            if self._closed or cancelled.is_set():
                raise Cancelled from None
            raise TaskFailed("The work ended before it was done; there may not be enough memory.") from None
        finally:
            self._busy.release()

    def _wait(self, pipe: Connection, seconds: float, cancelled: threading.Event, tell: Tell) -> Any:
        end = time.monotonic() + seconds
        while True:
            if pipe.poll(_LOOK):
                kind, content = pipe.recv()
                if kind == "progress":
                    tell(*content)
                elif kind == "failed":
                    raise TaskFailed(content)
                else:
                    return content
            if cancelled.is_set():
                self.stop()
                raise Cancelled
            if time.monotonic() > end:
                self.stop()
                raise TaskFailed(f"This took longer than {seconds:g} seconds and was ended.")


def _serve(pipe: Connection) -> None:
    """Do tasks until the other end is gone."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends its workers
    limit_memory(_MEMORY)  # a file that asks for all of it ends the task alone
    from equigraph.apps.explore import tasks

    pipe.send(("done", None))
    while True:
        try:
            task, told = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = ("done", tasks.run(task, told, _teller(pipe)))
        except (EOFError, BrokenPipeError):
            return
        except BaseException as error:
            answer = ("failed", tasks.sentence(error))
        try:
            pipe.send(answer)
        except OSError:
            return


def _teller(pipe: Connection) -> Callable[[Progress], None]:
    told = 0.0

    def tell(progress: Progress) -> None:
        nonlocal told
        if time.monotonic() - told >= _TELL:
            told = time.monotonic()
            pipe.send(("progress", (progress.stage, int(progress.step), int(progress.total or 0))))

    return tell
