"""One pool of threads for all compiled loops of this process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_MOST_THREADS = 8

_pools: dict[int, ThreadPoolExecutor] = {}
_here = threading.local()


def available_cores() -> int:
    """Return the number of cores this process may use; a container may give fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def most_threads() -> int:
    """Return the number of threads that loops use where it pays."""
    return min(available_cores(), _MOST_THREADS)


def _pool(n_threads: int) -> ThreadPoolExecutor:
    if n_threads not in _pools:
        _pools[n_threads] = ThreadPoolExecutor(n_threads, thread_name_prefix="equigraph")
    return _pools[n_threads]


if hasattr(os, "register_at_fork"):
    # The threads of a pool do not follow into a forked process.
    os.register_at_fork(after_in_child=_pools.clear)


def run_all(tasks: Sequence[Callable[[], Any]], n_threads: int) -> list[Any]:
    """Call functions that take no argument by several threads, this one among them; return what they return.

    All are done, or have failed, when it returns; the first failure is raised. Within a task there are no further
    threads, which could wait for each other.
    """
    if n_threads < 2 or len(tasks) < 2 or getattr(_here, "is_task", False):
        return [task() for task in tasks]
    results: list[Any] = [None] * len(tasks)
    failures: list[BaseException] = []
    waiting: Iterator[tuple[int, Callable[[], Any] | None]] = iter(enumerate(tasks))
    turn = threading.Lock()

    def work() -> None:
        _here.is_task = True
        try:
            while not failures:
                with turn:
                    place, task = next(waiting, (-1, None))
                if task is None:
                    break
                results[place] = task()
        except BaseException as failure:  # raised below, in the thread of the caller
            failures.append(failure)
        finally:
            _here.is_task = False

    others = [_pool(n_threads - 1).submit(work) for _ in range(min(n_threads, len(tasks)) - 1)]
    work()
    for other in others:
        other.result()
    if failures:
        raise failures[0]
    return results
