"""Shared thread pool for all compiled loops of this process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any

_MOST_THREADS = 8

_here = threading.local()


def available_cores() -> int:
    """Return the number of cores available to this process, which a container may limit."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def most_threads() -> int:
    """Return the number of threads for large loops."""
    return min(available_cores(), _MOST_THREADS)


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(
        n_threads, thread_name_prefix="equigraph", initializer=setattr, initargs=(_here, "is_task", True)
    )


if hasattr(os, "register_at_fork"):
    # A forked process has no threads of the pool, so it makes a new one.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def run_all(tasks: Sequence[Callable[[], Any]], n_threads: int) -> list[Any]:
    """Call functions without arguments in several threads, and return their results.

    All calls have ended on return; the first exception is raised. Nested calls run in the same thread, to avoid a
    deadlock.
    """
    if n_threads < 2 or len(tasks) < 2 or getattr(_here, "is_task", False):
        return [task() for task in tasks]
    futures = [_pool(n_threads).submit(task) for task in tasks]
    wait(futures)
    return [future.result() for future in futures]
