"""Measure one method on one graph, in this process: ``python -m benchmarks.scale.child SPECIFICATION OUTPUT``.

The specification is a JSON object with ``method``, ``graph`` (a folder), ``n_clusters``, ``seed``, ``threads``,
``limit`` (seconds) and ``memory_gib``; the row is written to the output as JSON.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

# Runs are repeated, and the fastest counts, while all of them together took less than this.
REPEAT_FOR, MOST_RUNS = 30.0, 3
# Nodes of the graph on which every method runs once before it is timed: compiled loops, libraries, thread pools.
WARM_UP_NODES = 2000


def confine(memory_gib: float, threads: int, limit: float) -> None:
    """Limit the address space, the cores and, should nobody watch this process, its CPU time."""
    resource.setrlimit(resource.RLIMIT_AS, (int(memory_gib * 2**30),) * 2)
    most = int(threads * limit) + 60
    # A little room between the two: at the soft limit comes SIGXCPU, at the hard one a kill that says nothing.
    resource.setrlimit(resource.RLIMIT_CPU, (most, most + 10))
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def peak_gib() -> float:
    """Return the peak of resident memory."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) / 2**20
    except (OSError, StopIteration):
        # Elsewhere; on Linux this number would include the peak of the process that started this one.
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure(specification: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a method on a graph."""
    from benchmarks.scale.graphs import load, planted
    from benchmarks.scale.methods import METHODS, Task

    method = METHODS[specification["method"]]
    how = {name: specification[name] for name in ("n_clusters", "seed", "threads")}
    small = Task(*planted(WARM_UP_NODES, specification["n_clusters"], specification["seed"]), **how)
    method.run(method.build(small), small)
    task = Task(*load(Path(specification["graph"])), **how)
    row: dict[str, Any] = {"loaded_gib": peak_gib()}

    start = time.perf_counter()
    graph = method.build(task)
    row["build_seconds"] = time.perf_counter() - start

    seconds: list[float] = []
    cpu_seconds: list[float] = []
    spent = time.perf_counter()
    while True:
        start, cpu_start = time.perf_counter(), time.process_time()
        outcome = method.run(graph, task)
        cpu_seconds.append(time.process_time() - cpu_start)
        seconds.append(time.perf_counter() - start if outcome.seconds is None else outcome.seconds)
        so_far = time.perf_counter() - spent
        if len(seconds) == MOST_RUNS or so_far > min(REPEAT_FOR, specification["limit"] / 10):
            break
    best = seconds.index(min(seconds))
    row |= {"seconds": seconds[best], "slowest_seconds": max(seconds), "runs": len(seconds)}
    # Of a method with a clock of its own the CPU time of the whole call would say nothing.
    row["cpu_seconds"] = cpu_seconds[best] if outcome.seconds is None else None
    row |= {"peak_gib": peak_gib(), **outcome.extra}
    if outcome.labels is not None:
        row |= scores(task, outcome.labels)
    return row


def scores(task: Any, labels: Any) -> dict[str, Any]:
    """Return Q, NB and the number of clusters that have a node."""
    import numpy as np

    import equigraph as eg

    codes = np.unique(labels, return_inverse=True)[1]
    return {
        "Q": eg.metrics.modularity_score(task.adjacency, codes),
        "NB": eg.metrics.normalized_balance_score(codes, sensitive_features=task.groups),
        "n_clusters": int(codes.max()) + 1,
    }


def main() -> None:
    specification, output = json.loads(sys.argv[1]), sys.argv[2]
    confine(specification["memory_gib"], specification["threads"], specification["limit"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", category)
        row = measure(specification)
    told = dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)
    from equigraph._utils.records import write_json

    write_json(output, {**row, "warnings": list(told)})


if __name__ == "__main__":
    main()
