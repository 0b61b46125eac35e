"""Jobs started, followed and cancelled by the page, run in worker processes to keep the server responsive."""

from __future__ import annotations

import asyncio
import itertools
import json
import multiprocessing
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from equigraph._utils.callbacks import Progress
from equigraph.apps.classes.roster.reader_process import limit_memory
from equigraph.apps.explore.errors import BoardError, Cancelled, refusal, refusal_facts

Notify = Callable[[str, int, int], None]
Payload = Mapping[str, Any]
# Worker of each kind of job: a repair does not wait for a curve, nor a file for either.
LANES = {"curve": "curve", "price": "curve", "inspect": "reading", "read": "reading", "preview": "reading"}
HAND = "hand"
# The first search on a machine compiles, which takes minutes on a slow one.
SECONDS = {"first": 900.0, "curve": 900.0, "price": 900.0, "inspect": 20.0, "read": 60.0, "preview": 60.0}
USUAL_SECONDS = 300.0
_BEAT = 15.0  # seconds between keep-alive messages of an idle stream
_MEMORY = 6 << 30
_START = 180.0  # seconds that a process may take to load, on a slow machine
_GRACE = 3.0  # seconds that a task may take to stop
_STOP = ("stop", None)
_LOOK = 0.05  # seconds between checks for cancellation
_TELL = 0.1  # seconds between two reports of progress


@dataclass
class Job:
    """A job: kind, progress and outcome."""

    number: int
    kind: str
    status: str = "running"
    stage: str = ""
    step: int = 0
    total: int = 0
    error: str = ""
    code: str = ""  # of the error that ended it, with its values
    values: dict[str, Any] = field(default_factory=dict)
    cancelled: threading.Event = field(default_factory=threading.Event, repr=False)
    task: asyncio.Task[None] | None = field(default=None, repr=False)  # what follows it

    def facts(self) -> dict[str, Any]:
        """Return the job as JSON for the page."""
        return {name: value for name, value in vars(self).items() if name not in ("cancelled", "task")}


class Jobs:
    """The running jobs of a server, and their followers."""

    def __init__(self, worker: Worker | None = None) -> None:
        self._numbers = itertools.count(1)
        self._jobs: dict[int, Job] = {}
        self._lanes: dict[str, Worker] = {HAND: worker or Worker()}
        self._followers: set[asyncio.Queue[tuple[str, Any]]] = set()

    async def run(self, kind: str, payload: Payload, job: Job | None = None) -> Any:
        """Run a task and return its result; raise Cancelled, or the error of the task."""
        loop = asyncio.get_running_loop()
        job = job or Job(0, kind)

        def notify(stage: str, step: int, total: int) -> None:
            job.stage, job.step, job.total = stage, step, total
            loop.call_soon_threadsafe(self.publish, "job", job.facts())

        worker = self._lanes.setdefault(LANES.get(kind, HAND), Worker())
        seconds = SECONDS.get(kind, USUAL_SECONDS)
        return await asyncio.to_thread(
            worker.run, kind, payload, seconds=seconds, cancelled=job.cancelled, notify=notify
        )

    def start(self, kind: str, payload: Payload, done: Callable[[Any], Awaitable[None]]) -> Job:
        """Start a job and cancel a running one of the same kind; `done` is called with the result."""
        for other in self.running(kind):
            other.cancelled.set()
        job = Job(next(self._numbers), kind)
        self._jobs[job.number] = job
        job.task = asyncio.create_task(self._follow(job, payload, done))
        self.publish("job", job.facts())
        return job

    async def _follow(self, job: Job, payload: Payload, done: Callable[[Any], Awaitable[None]]) -> None:
        try:
            found = await self.run(job.kind, payload, job)
            if job.cancelled.is_set():
                raise Cancelled
            await done(found)
            job.status = "done"
        except Cancelled:
            job.status = "cancelled"
        except Exception as error:
            job.status = "failed"
            vars(job).update(refusal_facts(error))
        del self._jobs[job.number]
        self.publish("job", job.facts())

    def cancel(self, number: int) -> bool:
        """Cancel a job; return whether it was running."""
        if number in self._jobs:
            self._jobs[number].cancelled.set()
        return number in self._jobs

    def cancel_all(self) -> None:
        """Cancel all jobs, when another board is opened."""
        for job in self.running():
            job.cancelled.set()

    def running(self, kind: str | None = None) -> list[Job]:
        """Return the running jobs, or those of a kind."""
        return [job for job in self._jobs.values() if kind in (None, job.kind)]

    def publish(self, event: str, content: Any) -> None:
        """Notify all followers."""
        for queue in self._followers:
            queue.put_nowait((event, content))

    async def events(self) -> AsyncIterator[str]:
        """Yield server-sent events for a follower."""
        queue: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        for job in self.running():
            queue.put_nowait(("job", job.facts()))
        self._followers.add(queue)
        try:
            yield "retry: 1000\n\n"
            while True:
                try:
                    event, content = await asyncio.wait_for(queue.get(), _BEAT)
                except TimeoutError:
                    yield ": alive\n\n"
                    continue
                if event == "end":
                    return
                yield f"event: {event}\ndata: {json.dumps(content)}\n\n"
        finally:
            self._followers.discard(queue)

    def close(self) -> None:
        """End every process and every stream."""
        self.cancel_all()
        self.publish("end", None)
        for worker in self._lanes.values():
            worker.close()


class Worker:
    """A process that runs one task at a time; started when needed, and restarted after it was ended."""

    def __init__(self) -> None:
        self._context = _context()
        self._process: Any = None
        self._pipe: Connection | None = None
        self._ready = False  # whether the process has reported that it is loaded
        self._closed = False
        self._busy = threading.Lock()  # held while a task runs
        self._changing = threading.Lock()  # held while a process starts or ends; any thread may end one

    def is_alive(self) -> bool:
        """Return whether the process is running."""
        process = self._process
        return process is not None and bool(process.is_alive())

    def start(self) -> Connection:
        """Start the process, if there is none, and return the pipe to it."""
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
        """End the process, even during a task.

        The pipe is closed by garbage collection, not here: another thread may be reading it, and the descriptor of a
        closed file is reused.
        """
        with self._changing:
            process, self._process, self._pipe = self._process, None, None
        if process is not None:
            process.kill()
            process.join(5)

    def close(self) -> None:
        """End the process for good."""
        with self._changing:
            self._closed = True
        self.stop()

    def run(
        self, task: str, payload: Payload, *, seconds: float, cancelled: threading.Event, notify: Notify
    ) -> Any:
        """Run a task and wait for it in this thread; the process is ended on cancellation or timeout.

        Raises Cancelled if it was cancelled, and InputError if it failed or took too long.
        """
        while not self._busy.acquire(timeout=_LOOK):
            if cancelled.is_set():
                raise Cancelled
        try:
            pipe = self.start()
            if not self._ready:
                self._wait(pipe, _START, cancelled, notify)
                self._ready = True
            pipe.send((task, dict(payload)))
            return self._wait(pipe, seconds, cancelled, notify)
        except (EOFError, OSError):
            self.stop()
            if self._closed or cancelled.is_set():
                raise Cancelled from None
            raise BoardError("ended") from None
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
                    raise content
                else:
                    return content
            if cancelled.is_set():
                if not self._stopped_itself(pipe):
                    self.stop()
                raise Cancelled
            if time.monotonic() > end:
                self.stop()
                raise BoardError("too-long", seconds=seconds)

    def _stopped_itself(self, pipe: Connection) -> bool:
        """Ask the task to stop, and return whether it has; the process then need not load again."""
        if not self._ready:
            return False
        pipe.send(_STOP)
        end = time.monotonic() + _GRACE
        while (left := end - time.monotonic()) > 0:
            if pipe.poll(left) and pipe.recv()[0] != "progress":
                return True
        return False


def _context() -> Any:
    """Return the start method of processes: a fork server with loaded modules, if available."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["equigraph.apps.explore.tasks"])
    return context


class _TaskStopped(BaseException):
    """The task was cancelled; a BaseException, so that no handler of errors catches it."""


def _serve(pipe: Connection) -> None:
    """Run tasks until the other end of the pipe is closed."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C and ends its workers
    limit_memory(_MEMORY)  # a file that needs all of it ends only the task
    from equigraph.apps.explore import tasks

    with suppress(EOFError, OSError):
        pipe.send(("done", None))
        while True:
            task, payload = pipe.recv()
            if (task, payload) == _STOP:  # it arrived after the task had ended
                continue
            try:
                answer = ("done", tasks.run(task, payload, _notifier(pipe)))
            except _TaskStopped:
                answer = ("stopped", None)
            except BaseException as error:
                answer = ("failed", refusal(error))
            pipe.send(answer)


def _notifier(pipe: Connection) -> Callable[[Progress], None]:
    latest = 0.0

    def notify(progress: Progress) -> None:
        nonlocal latest
        if pipe.poll():
            pipe.recv()  # only _STOP is sent while a task runs
            raise _TaskStopped
        if time.monotonic() - latest >= _TELL:
            latest = time.monotonic()
            pipe.send(("progress", (progress.stage, int(progress.step), int(progress.total or 0))))

    return notify
