"""One pool of threads for all compiled loops of this process."""

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
    """Return the number of cores this process may use; a container may give fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def most_threads() -> int:
    """Return the number of threads that loops use where it pays."""
    return min(available_cores(), _MOST_THREADS)


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(
        n_threads, thread_name_prefix="equigraph", initializer=setattr, initargs=(_here, "is_task", True)
    )


if hasattr(os, "register_at_fork"):
    # The threads of a pool do not follow into a forked process.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def run_all(tasks: Sequence[Callable[[], Any]], n_threads: int) -> list[Any]:
    """Call functions that take no argument by several threads; return what they return.

    All are done, or have failed, when it returns; the first failure is raised. Within a task there are no further
    threads, which could wait for each other.
    """
    if n_threads < 2 or len(tasks) < 2 or getattr(_here, "is_task", False):
        return [task() for task in tasks]
    futures = [_pool(n_threads).submit(task) for task in tasks]
    wait(futures)
    return [future.result() for future in futures]
