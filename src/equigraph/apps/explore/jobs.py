"""Jobs that the page starts, follows and cancels; the server itself never computes for long."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from equigraph.apps.explore.workers import Cancelled, TaskFailed, Worker

# Which process does what: a repair does not wait for a curve, nor a file for either.
LANES = {"curve": "curve", "price": "curve", "inspect": "reading", "read": "reading", "preview": "reading"}
HAND = "hand"
# The very first searches on a machine compile themselves, which takes minutes on a slow one.
SECONDS = {"first": 900.0, "curve": 900.0, "price": 900.0, "inspect": 20.0, "read": 60.0, "preview": 60.0}
USUAL_SECONDS = 300.0
_MOST_KEPT = 50
_BEAT = 15.0  # seconds after which an idle stream says that it is alive


@dataclass
class Job:
    """One job: what it is, how far it is, how it ended."""

    number: int
    kind: str
    status: str = "running"
    stage: str = ""
    step: int = 0
    total: int = 0
    error: str = ""
    rules: list[dict[str, Any]] = field(default_factory=list)  # those that contradict each other
    cancelled: threading.Event = field(default_factory=threading.Event, repr=False)

    def facts(self) -> dict[str, Any]:
        """Return it as the page sees it."""
        names = ("number", "kind", "status", "stage", "step", "total", "error", "rules")
        return {name: getattr(self, name) for name in names}


class Jobs:
    """All jobs of a server, and everybody who follows them."""

    def __init__(self, worker: Worker | None = None) -> None:
        self._numbers = itertools.count(1)
        self._jobs: dict[int, Job] = {}
        self._lanes: dict[str, Worker] = {HAND: worker or Worker()}
        self._followers: set[asyncio.Queue[tuple[str, Any]]] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def worker(self, lane: str) -> Worker:
        """Return the process of a lane."""
        return self._lanes.setdefault(lane, Worker())

    async def run(self, kind: str, payload: Mapping[str, Any], job: Job | None = None) -> Any:
        """Have a task done and return what it found.

        Raises
        ------
        Cancelled, TaskFailed
            If it was cancelled, or failed.
        """
        loop = asyncio.get_running_loop()
        job = job or Job(0, kind)

        def notify(stage: str, step: int, total: int) -> None:
            job.stage, job.step, job.total = stage, step, total
            loop.call_soon_threadsafe(self._publish_job, job)

        worker = self.worker(LANES.get(kind, HAND))
        seconds = SECONDS.get(kind, USUAL_SECONDS)
        return await asyncio.to_thread(
            worker.run, kind, payload, seconds=seconds, cancelled=job.cancelled, notify=notify
        )

    def start(self, kind: str, payload: Mapping[str, Any], done: Callable[[Any], None]) -> Job:
        """Start a job; one of the same kind that still runs is cancelled. `done` takes what it finds."""
        for other in self._jobs.values():
            if other.kind == kind and other.status == "running":
                other.cancelled.set()
        job = Job(next(self._numbers), kind)
        self._jobs[job.number] = job
        while len(self._jobs) > _MOST_KEPT:
            del self._jobs[next(iter(self._jobs))]
        task = asyncio.get_running_loop().create_task(self._follow(job, payload, done))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._publish_job(job)
        return job

    async def _follow(self, job: Job, payload: Mapping[str, Any], done: Callable[[Any], None]) -> None:
        try:
            found = await self.run(job.kind, payload, job)
            if job.cancelled.is_set():
                raise Cancelled
            await asyncio.to_thread(done, found)
            job.status = "done"
        except Cancelled:
            job.status = "cancelled"
        except TaskFailed as error:
            job.status, job.error, job.rules = "failed", str(error), error.rules
        except Exception as error:
            from equigraph.apps.explore.tasks import sentence

            job.status, job.error = "failed", sentence(error)
        self._publish_job(job)

    def cancel(self, number: int) -> bool:
        """Cancel a job; return whether there was one to cancel."""
        job = self._jobs.get(number)
        if job is None or job.status != "running":
            return False
        job.cancelled.set()
        return True

    def cancel_all(self) -> None:
        """Cancel all jobs, when another board is opened."""
        for job in self._jobs.values():
            job.cancelled.set()

    def running(self) -> list[dict[str, Any]]:
        """Return the jobs that run."""
        return [job.facts() for job in self._jobs.values() if job.status == "running"]

    def _publish_job(self, job: Job) -> None:
        self.publish("job", job.facts())

    def publish(self, event: str, content: Any) -> None:
        """Notify everybody who follows."""
        for queue in self._followers:
            queue.put_nowait((event, content))

    async def events(self) -> AsyncIterator[str]:
        """Yield events as server-sent events are written, for one follower."""
        queue: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()
        self._followers.add(queue)
        try:
            yield "retry: 1000\n\n"
            for job in self.running():
                yield _event("job", job)
            while True:
                try:
                    event, content = await asyncio.wait_for(queue.get(), _BEAT)
                except TimeoutError:
                    yield ": alive\n\n"
                    continue
                if event == "end":
                    return
                yield _event(event, content)
        finally:
            self._followers.discard(queue)

    def close(self) -> None:
        """End every process and every stream."""
        self.cancel_all()
        self.publish("end", None)
        for worker in self._lanes.values():
            worker.close()


def _event(name: str, content: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(content)}\n\n"
