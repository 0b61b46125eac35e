"""The processes that work for the server come and go."""

import asyncio
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from equigraph._utils.files import private_folder
from equigraph.apps.explore import jobs
from equigraph.apps.explore.errors import BoardError
from equigraph.apps.explore.jobs import Worker


def _run(main):
    """Run a coroutine in a thread, since the browser of other tests has a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, main).result()


def _tell(step, total):
    """Notify nobody."""


class _Slow:
    """What takes a minute to unpickle, in the process of the worker."""

    def __reduce__(self):
        return time.sleep, (60,)


def test_a_task_that_hangs_ends_with_the_server_or_after_its_time(monkeypatch):
    async def main():
        worker = Worker()
        waiting = asyncio.create_task(worker.run("first", {"people": _Slow()}, _tell))
        await asyncio.sleep(0.5)
        worker.stop()
        with pytest.raises(BoardError, match="ended before"):
            await waiting
        monkeypatch.setattr(jobs, "_START", 0.5)
        with pytest.raises(BoardError, match="longer than"):
            await worker.run("first", {"people": _Slow()}, _tell)

    _run(main())


def test_a_cancelled_task_leaves_its_process_for_the_next_one(labelled, monkeypatch):
    monkeypatch.setattr(jobs, "_GRACE", 120.0)  # as a busy machine may need

    async def main():
        worker, payload = Worker(), {"step": labelled}
        begun = asyncio.Event()
        task = asyncio.create_task(worker.run("alternatives", payload, lambda *progress: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        pool = worker._pool
        drawn = await worker.run("layout", payload, _tell)
        assert len(drawn["x"]) == 30
        assert worker._pool is pool
        worker.stop()

    _run(main())


def test_a_second_server_leaves_the_files_of_the_first_alone(room, labelled, monkeypatch):
    from equigraph.apps.explore import files, tasks

    def write(step, path, language):
        path.write_bytes(b"x")
        with private_folder(path.parent.parent, "equigraph-explore-"):  # as a server does when it starts
            assert path.exists()

    monkeypatch.setitem(files.WRITERS, "board.json", write)
    assert tasks.download(labelled, "board.json", lambda progress: None) == b"x"


def test_ctrl_c_while_the_modules_are_loaded_ends_in_silence():
    code = (
        "import os, signal, time; from equigraph.apps.explore.jobs import start_loading; start_loading();"
        "signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(0.5); os.killpg(0, signal.SIGINT)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, start_new_session=True, check=True
    )
    assert ended.stderr == b""
