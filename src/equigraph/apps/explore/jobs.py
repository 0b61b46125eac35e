"""Jobs started, followed and cancelled by the page, run in worker processes to keep the server responsive."""

from __future__ import annotations

import asyncio
import ctypes
import itertools
import json
import multiprocessing
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from equigraph._utils.callbacks import Progress
from equigraph.apps.classes.roster.reader_process import limit_memory
from equigraph.apps.explore.errors import BoardError, refusal, refusal_facts

# Worker of each kind of job: a repair does not wait for a curve, nor a file for either.
LANES = {"curve": "curve", "price": "curve", "inspect": "reading", "read": "reading", "preview": "reading"}
# The first search on a machine compiles, which takes minutes on a slow one.
SECONDS = {"first": 900.0, "curve": 900.0, "price": 900.0, "inspect": 20.0, "read": 60.0, "preview": 60.0}
USUAL_SECONDS = 300.0
_BEAT = 15.0  # seconds between keep-alive messages of an idle stream
_MEMORY = 6 << 30
_START = 180.0  # seconds that a process may take to load, on a slow machine
_GRACE = 3.0  # seconds that a cancelled task may take to stop
_LOOK = 0.05  # seconds between checks of progress


@dataclass
class Job:
    """A job: kind, progress and outcome."""

    number: int
    kind: str
    status: str = "running"
    step: int = 0
    total: int = 0
    error: str = ""
    code: str = ""  # of the error that ended it, with its values
    values: dict[str, Any] = field(default_factory=dict)
    task: asyncio.Task[None] | None = field(default=None, repr=False)  # what follows it

    def facts(self) -> dict[str, Any]:
        """Return the job as JSON for the page."""
        return {name: value for name, value in vars(self).items() if name != "task"}


class Jobs:
    """The running jobs of a server, and their followers."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._jobs: dict[int, Job] = {}
        self._lanes: defaultdict[str, Worker] = defaultdict(Worker)
        self._followers: set[asyncio.Queue[tuple[str, Any]]] = set()

    async def run(self, kind: str, /, _job: Job | None = None, **payload: Any) -> Any:
        """Run a task and return its result, or raise its error."""
        job = _job or Job(0, kind)

        def notify(step: int, total: int) -> None:
            if (job.step, job.total) != (step, total):
                job.step, job.total = step, total
                self.publish("job", job.facts())

        return await self._lanes[LANES.get(kind, "hand")].run(kind, payload, notify)

    def start(self, kind: str, done: Callable[[Any], None], /, **payload: Any) -> Job:
        """Start a job and cancel a running one of the same kind; `done` is called with the result."""
        self.cancel(self.running(kind))
        job = Job(next(self._numbers), kind)
        self._jobs[job.number] = job
        job.task = asyncio.create_task(self._follow(job, payload, done))
        job.task.add_done_callback(partial(self._ended, job))
        self.publish("job", job.facts())
        return job

    async def _follow(self, job: Job, payload: Mapping[str, Any], done: Callable[[Any], None]) -> None:
        done(await self.run(job.kind, job, **payload))

    def _ended(self, job: Job, task: asyncio.Task[None]) -> None:
        job.status = "cancelled" if task.cancelled() else "done"
        if not task.cancelled() and (error := task.exception()) is not None:
            job.status = "failed"
            vars(job).update(refusal_facts(error))
        del self._jobs[job.number]
        self.publish("job", job.facts())

    def cancel(self, jobs: list[Job]) -> bool:
        """Cancel running jobs; return whether there are any."""
        for job in jobs:
            if job.task is not None and not job.task.cancelling():
                job.task.cancel()
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
            worker.stop()


class Worker:
    """A process that runs one task at a time; started when needed, and again after it was ended."""

    def __init__(self) -> None:
        self._context = start_loading()
        self._turn = asyncio.Lock()
        self._pool: ProcessPoolExecutor | None = None
        self._shared = self._context.RawValue(_TaskState)

    def stop(self) -> None:
        """End the process, even during a task."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list(pool._processes.values()):
                process.kill()
            pool.shutdown(wait=False, cancel_futures=True)

    async def run(self, task: str, payload: Mapping[str, Any], notify: Callable[[int, int], None]) -> Any:
        """Run a task and return its result; the process is ended if the task takes too long to end or to stop."""
        async with self._turn:
            if self._pool is None:
                self._pool = ProcessPoolExecutor(1, self._context, _begin, (self._shared,))
            self._shared.begun = self._shared.stop = False
            future = asyncio.wrap_future(self._pool.submit(_run, task, payload))
            future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())  # never unheard
            try:
                return await self._wait(future, SECONDS.get(task, USUAL_SECONDS), notify)
            except asyncio.CancelledError:
                self._shared.stop = True
                await asyncio.wait([future], timeout=_GRACE)
                raise
            except BrokenProcessPool:
                self.stop()
                raise BoardError("ended") from None
            finally:
                if not future.done():
                    self.stop()

    async def _wait(
        self, future: asyncio.Future[Any], seconds: float, notify: Callable[[int, int], None]
    ) -> Any:
        shared, begun, end = self._shared, False, time.monotonic() + _START
        while not future.done():
            if time.monotonic() > end:
                raise BoardError("too-long", seconds=seconds)
            await asyncio.wait([future], timeout=_LOOK)
            if shared.begun and not begun:
                begun, end = True, time.monotonic() + seconds
            if begun:
                notify(shared.step, shared.total)
        return future.result()


def start_loading() -> Any:
    """Return the start method of processes: a fork server, which begins to load the modules now, if available."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    from multiprocessing import resource_tracker
    from multiprocessing.forkserver import ensure_running

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["equigraph.apps.explore.tasks"])
    # A terminal sends Ctrl-C to every process, and the fork server ends with this one. It inherits the mask, which the
    # resource tracker would lift if it were started with it.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    ensure_running()
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return context


class _TaskState(ctypes.Structure):
    """What a process and the server say to each other during a task, in shared memory."""

    _fields_ = (
        ("begun", ctypes.c_bool),
        ("stop", ctypes.c_bool),
        ("step", ctypes.c_long),
        ("total", ctypes.c_long),
    )


class _TaskStopped(BaseException):
    """The task was cancelled; a BaseException, so that no handler of errors catches it."""


_shared: Any = None  # in a worker process


def _begin(shared: Any) -> None:
    global _shared
    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C and ends its workers
    threading.Thread(target=_end_with_server, daemon=True).start()
    limit_memory(_MEMORY)  # a file that needs all of it ends only the task


def _end_with_server() -> None:
    """Wait until the server has ended, perhaps because it was killed, and end this process."""
    server = multiprocessing.parent_process()
    if server is not None:
        server.join()
        os._exit(1)


def _run(task: str, payload: Mapping[str, Any]) -> Any:
    from equigraph.apps.explore import tasks

    _shared.step, _shared.total, _shared.begun = 0, 0, True
    try:
        return tasks.run(task, payload, _notify)
    except BaseException as error:
        raise refusal(error) from None


def _notify(progress: Progress) -> None:
    if _shared.stop:
        raise _TaskStopped
    _shared.step, _shared.total = int(progress.step), int(progress.total or 0)
