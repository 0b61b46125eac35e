"""What memory alone costs a pass over a graph: stored indices streamed once, one cache line gathered per entry.

A product of the adjacency with a panel must at least read every stored column index, and for every one of them fetch
a row of the panel from wherever it lies. Both rates are measured here, with arrays of the sizes of the graph and with
the same number of threads, and the floor is the sum of the two times. It is no law: where the order of the nodes
keeps neighbours together, rows come from the cache and a product may be faster than this.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes of a cache line
WORDS = LINE // 8  # words of 64 bits, because numba would widen shorter ones to these
# A measurement repeats short passes for about this long, and is the best of several.
SECONDS, BEST_OF = 0.05, 5


@dataclass(frozen=True)
class Floor:
    """The two rates, and what they make of one pass.

    Attributes
    ----------
    stream : float
        Bytes per second of an array that is read from its start to its end.
    gather : float
        Cache lines per second, each fetched from a random place of the panel.
    n_stored : int
        Stored entries of the graph.
    """

    stream: float
    gather: float
    n_stored: int

    @property
    def seconds(self) -> float:
        """Least time of one pass: 4 bytes per stored index, and one line per stored entry."""
        return 4 * self.n_stored / self.stream + self.n_stored / self.gather


@cache
def kernels() -> tuple[Any, Any]:
    """Return the compiled loops: one that streams, one that gathers.

    Both return a sum of what they read, so that no read can be left out; of integers, so that the compiler may read in
    any order. The places come out of a hash of a counter: an array of them would be streamed too.
    """
    import numba

    @numba.njit(nogil=True)
    def stream(words):
        total = np.int64(0)
        # By index, from 0: iterating over the words took three times as long where they fit into the cache.
        for i in range(words.size):
            total += words[i]
        return total

    @numba.njit(nogil=True)
    def gather(panel, low, high):
        total = np.int64(0)
        n_lines = np.uint64(panel.size // WORDS)
        for i in range(np.uint64(low), np.uint64(high)):
            mixed = (i + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
            line = ((mixed >> np.uint64(32)) * n_lines) >> np.uint64(32)
            total += panel[line * np.uint64(WORDS)]
        return total

    return stream, gather


def measure(n_stored: int, n_nodes: int, n_columns: int, *, itemsize: int = 4, threads: int = 2) -> Floor:
    """Measure the floor of a product of a graph with a panel.

    Parameters
    ----------
    n_stored : int
        Stored entries of the graph; at least 1.
    n_nodes, n_columns : int
        Shape of the panel.
    itemsize : int
        Bytes of an entry of the panel.
    threads : int
        Threads that share the work.

    Returns
    -------
    Floor
        The rates of arrays of these very sizes: what fits into a cache is measured there.
    """
    stream, gather = kernels()
    words = np.arange(-(-n_stored // 2))  # as many bytes as the int32 indices
    panel = aligned_lines(max(n_nodes * n_columns * itemsize // LINE, 1))
    streams = [partial(stream, words[low:high]) for low, high in shares(words.size, threads)]
    gathers = [partial(gather, panel, low, high) for low, high in shares(n_stored, threads)]
    return Floor(words.nbytes / best_seconds(streams), n_stored / best_seconds(gathers), n_stored)


def shares(n_items: int, threads: int) -> list[tuple[int, int]]:
    """Cut a range into equal parts, one per thread."""
    return list(itertools.pairwise(np.linspace(0, n_items, threads + 1).astype(int).tolist()))


def aligned_lines(n_lines: int) -> NDArray[np.int64]:
    """Return words that start at a cache line, so that no line of ours is two of the machine's."""
    words = np.arange(n_lines * WORDS + WORDS)
    skip = -words.ctypes.data % LINE // words.itemsize
    return words[skip : skip + n_lines * WORDS]


def best_seconds(jobs: list[Callable[[], Any]]) -> float:
    """Return the least seconds of one pass, in which every job is done once, by a thread of its own."""

    def repeat(job: Callable[[], Any], passes: int) -> None:
        for _ in range(passes):
            job()

    with ThreadPoolExecutor(len(jobs)) as pool:

        def seconds(passes: int) -> float:
            start = time.perf_counter()
            for done in [pool.submit(repeat, job, passes) for job in jobs]:
                done.result()
            return (time.perf_counter() - start) / passes

        seconds(1)  # compiles
        passes = max(1, int(SECONDS / max(seconds(1), 1e-7)))
        return min(seconds(passes) for _ in range(BEST_OF))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--degree", type=int, default=20, help="stored entries per node")
    parser.add_argument("--columns", type=int, default=10, help="columns of the panel")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if min(*options.nodes, options.degree, options.columns, options.threads) < 1:
        parser.error("nodes, degree, columns and threads must be at least 1.")
    for n in options.nodes:
        for itemsize in (4, 8):
            floor = measure(
                n * options.degree, n, options.columns, itemsize=itemsize, threads=options.threads
            )
            print(
                f"{n:9d} nodes, panel of {n * options.columns * itemsize / 2**20:8.1f} MiB: "
                f"stream {floor.stream / 2**30:6.1f} GiB/s, gather {floor.gather / 1e6:7.1f} M lines/s, "
                f"floor {1e3 * floor.seconds:9.3f} ms a pass"
            )


if __name__ == "__main__":
    main()
