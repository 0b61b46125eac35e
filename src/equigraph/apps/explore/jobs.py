"""Jobs started, followed and cancelled by the page, run in worker processes to keep the server responsive."""

from __future__ import annotations

import asyncio
import itertools
import json
import multiprocessing
import signal
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

from equigraph._utils.callbacks import Progress
from equigraph.apps.classes.roster.reader_process import limit_memory
from equigraph.apps.explore.errors import BoardError, Cancelled, refusal, refusal_facts

Notify = Callable[[str, int, int], None]
# Worker of each kind of job: a repair does not wait for a curve, nor a file for either.
LANES = {"curve": "curve", "price": "curve", "inspect": "reading", "read": "reading", "preview": "reading"}
# The first search on a machine compiles, which takes minutes on a slow one.
SECONDS = {"first": 900.0, "curve": 900.0, "price": 900.0, "inspect": 20.0, "read": 60.0, "preview": 60.0}
USUAL_SECONDS = 300.0
_BEAT = 15.0  # seconds between keep-alive messages of an idle stream
_MEMORY = 6 << 30
_START = 180.0  # seconds that a process may take to load, on a slow machine
_GRACE = 3.0  # seconds that a task may take to stop
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

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._jobs: dict[int, Job] = {}
        self._lanes: defaultdict[str, Worker] = defaultdict(Worker)
        self._followers: set[asyncio.Queue[tuple[str, Any]]] = set()

    async def run(self, kind: str, /, _job: Job | None = None, **payload: Any) -> Any:
        """Run a task and return its result; raise Cancelled, or the error of the task."""
        loop = asyncio.get_running_loop()
        job = _job or Job(0, kind)

        def notify(stage: str, step: int, total: int) -> None:
            job.stage, job.step, job.total = stage, step, total
            loop.call_soon_threadsafe(self.publish, "job", job.facts())

        worker = self._lanes[LANES.get(kind, "hand")]
        return await asyncio.to_thread(worker.run, kind, payload, cancelled=job.cancelled, notify=notify)

    def start(self, kind: str, done: Callable[[Any], Awaitable[None]], /, **payload: Any) -> Job:
        """Start a job and cancel a running one of the same kind; `done` is called with the result."""
        self.cancel(self.running(kind))
        job = Job(next(self._numbers), kind)
        self._jobs[job.number] = job
        job.task = asyncio.create_task(self._follow(job, payload, done))
        self.publish("job", job.facts())
        return job

    async def _follow(
        self, job: Job, payload: Mapping[str, Any], done: Callable[[Any], Awaitable[None]]
    ) -> None:
        try:
            found = await self.run(job.kind, job, **payload)
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

    def cancel(self, jobs: list[Job]) -> bool:
        """Cancel running jobs; return whether there are any."""
        for job in jobs:
            job.cancelled.set()
        return bool(jobs)

    def running(self, wanted: str | int | None = None) -> list[Job]:
        """Return the running jobs: all, those of a kind, or that of a number."""
        return [job for job in self._jobs.values() if wanted in (None, job.kind, job.number)]

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
        self.cancel(self.running())
        self.publish("end", None)
        for worker in self._lanes.values():
            worker.close()


class Worker:
    """A process that runs one task at a time; started when needed, and restarted after it was ended."""

    def __init__(self) -> None:
        self._context = start_loading()
        self._process: Any = None
        self._pipe: Connection
        self._stopping: Any  # a number in shared memory: whether the task is to stop
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
            if not self.is_alive():
                self._pipe, theirs = self._context.Pipe()
                self._stopping = self._context.RawValue("b")
                arguments = (theirs, self._stopping)
                self._process = self._context.Process(target=_serve, args=arguments, daemon=True)
                self._process.start()
                theirs.close()
            return self._pipe

    def stop(self) -> None:
        """End the process, even during a task.

        The pipe is closed by garbage collection, not here: another thread may be reading it, and the descriptor of a
        closed file is reused.
        """
        with self._changing:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.join(5)

    def close(self) -> None:
        """End the process for good."""
        with self._changing:
            self._closed = True
        self.stop()

    def run(
        self, task: str, payload: Mapping[str, Any], *, cancelled: threading.Event, notify: Notify
    ) -> Any:
        """Run a task and wait for it in this thread; the process is ended if the task takes too long to end or to stop.

        Raises Cancelled if it was cancelled, and InputError if it failed or took too long.
        """
        while not self._busy.acquire(timeout=_LOOK):
            if cancelled.is_set():
                raise Cancelled
        try:
            pipe = self.start()
            self._stopping.value = False
            pipe.send((task, dict(payload)))
            return self._wait(pipe, SECONDS.get(task, USUAL_SECONDS), cancelled, notify)
        except (EOFError, OSError):
            self.stop()
            if self._closed or cancelled.is_set():
                raise Cancelled from None
            raise BoardError("ended") from None
        finally:
            self._busy.release()

    def _wait(self, pipe: Connection, seconds: float, cancelled: threading.Event, notify: Notify) -> Any:
        end = time.monotonic() + _START
        while time.monotonic() < end:
            if pipe.poll(_LOOK):
                kind, content = pipe.recv()
                if kind == "done":
                    return content
                if kind == "cancelled":
                    raise Cancelled
                if kind == "failed":
                    raise content
                if kind == "progress":
                    notify(*content)
                elif not self._stopping.value:  # it has begun
                    end = time.monotonic() + seconds
            if cancelled.is_set() and not self._stopping.value:
                self._stopping.value = True
                end = time.monotonic() + _GRACE
        self.stop()
        if cancelled.is_set():
            raise Cancelled
        raise BoardError("too-long", seconds=seconds)


def start_loading() -> Any:
    """Return the start method of processes: a fork server, which begins to load the modules now, if available."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing.forkserver import ensure_running

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["equigraph.apps.explore.tasks"])
    ensure_running()
    return context


class _TaskStopped(BaseException):
    """The task was cancelled; a BaseException, so that no handler of errors catches it."""


def _serve(pipe: Connection, stopping: Any) -> None:
    """Run tasks until the other end of the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C and ends its workers
    limit_memory(_MEMORY)  # a file that needs all of it ends only the task
    from equigraph.apps.explore import tasks

    latest = 0.0

    def notify(progress: Progress) -> None:
        nonlocal latest
        if stopping.value:
            raise _TaskStopped
        if time.monotonic() - latest >= _TELL:
            latest = time.monotonic()
            pipe.send(("progress", (progress.stage, int(progress.step), int(progress.total or 0))))

    with suppress(EOFError, OSError):
        while True:
            task, payload = pipe.recv()
            pipe.send(("begun", None))
            try:
                answer = ("done", tasks.run(task, payload, notify))
            except _TaskStopped:
                answer = ("cancelled", None)
            except BaseException as error:
                answer = ("failed", refusal(error))
            pipe.send(answer)
