"""The processes that work for the server come and go while threads talk to them."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from equigraph.apps.explore.workers import Cancelled, Worker


def _tell(stage: str, step: int, total: int) -> None:
    """Notify nobody."""


def test_a_pipe_is_not_closed_under_the_thread_that_reads_it() -> None:
    worker = Worker()
    pipe = worker._started()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: worker.stop(), range(8)))  # two ends of one pipe were an error
    assert not worker.is_alive()
    assert pipe.poll(5)  # the other end is gone, and the number is still ours
    with pytest.raises(EOFError):
        pipe.recv()


def test_a_task_that_waits_ends_with_the_server() -> None:
    worker = Worker()
    cancelled = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(worker.run, "first", {}, seconds=60, cancelled=cancelled, notify=_tell)
        while not worker.is_alive():
            time.sleep(0.01)
        worker.close()
        assert isinstance(waiting.exception(60), Cancelled)
    with pytest.raises(Cancelled):
        worker.run("first", {}, seconds=60, cancelled=cancelled, notify=_tell)
    assert not worker.is_alive()
