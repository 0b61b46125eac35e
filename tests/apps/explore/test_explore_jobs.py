"""The processes that work for the server come and go while threads talk to them."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from equigraph._utils.files import private_folder
from equigraph.apps.explore import jobs
from equigraph.apps.explore.errors import Cancelled
from equigraph.apps.explore.jobs import Worker


def _tell(stage, step, total):
    """Notify nobody."""


def test_a_pipe_is_not_closed_under_the_thread_that_reads_it():
    worker = Worker()
    pipe = worker.start()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: worker.stop(), range(8)))  # two ends of one pipe were an error
    assert not worker.is_alive()
    assert pipe.poll(5)  # the other end is gone, and the number is still ours
    with pytest.raises(EOFError):
        list(iter(pipe.recv, None))  # it may have said before that it was ready


class _Slow:
    """What takes a minute to unpickle, in the process of the worker."""

    def __reduce__(self):
        return time.sleep, (60,)


def test_a_task_that_waits_ends_with_the_server():
    worker = Worker()
    cancelled = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        payload = {"people": _Slow()}
        waiting = pool.submit(worker.run, "first", payload, cancelled=cancelled, notify=_tell)
        while not worker.is_alive():
            time.sleep(0.01)
        worker.close()
        assert isinstance(waiting.exception(60), Cancelled)
    with pytest.raises(Cancelled):
        worker.run("first", {}, cancelled=cancelled, notify=_tell)
    assert not worker.is_alive()


def test_a_cancelled_task_leaves_its_process_for_the_next_one(labelled, monkeypatch):
    monkeypatch.setattr(jobs, "_GRACE", 120.0)  # as a busy machine may need
    worker, cancelled, payload = Worker(), threading.Event(), {"step": labelled}
    with pytest.raises(Cancelled):
        worker.run("alternatives", payload, cancelled=cancelled, notify=lambda *progress: cancelled.set())
    process = worker._process
    drawn = worker.run("layout", payload, cancelled=threading.Event(), notify=_tell)
    assert len(drawn["x"]) == 30
    assert worker._process is process
    worker.close()


def test_a_second_server_leaves_the_files_of_the_first_alone(room, labelled, monkeypatch):
    from equigraph.apps.explore import files, tasks

    def write(step, path, language):
        path.write_bytes(b"x")
        with private_folder(path.parent.parent, "equigraph-explore-"):  # as a server does when it starts
            assert path.exists()

    monkeypatch.setitem(files.WRITERS, "board.json", write)
    assert tasks.download(labelled, "board.json", lambda progress: None) == b"x"
