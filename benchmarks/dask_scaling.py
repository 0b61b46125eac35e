"""Iterations on 1, 2 and 4 Dask workers: bytes, seconds and memory, measured and by the cost model of docs/scale.md.

Seconds are CPU seconds of all processes together, so that a busy machine changes little. What a second worker adds over
one is the price of sending rows, from which the third line predicts four workers. The time in this process, by two
threads on the graph in memory, is the yardstick.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from equigraph.datasets import make_planted_graph
from equigraph.factorization.multiplicative import RowSteps, multiplicative_updates, update_interaction
from equigraph.factorization.penalties import Contrastive
from equigraph.stores.block_files import temporary_blocks
from equigraph.stores.blocks import BlockGraph, write_blocks
from equigraph.stores.dask_rows import DaskRows, dask_client
from equigraph.stores.products import StoreProduct, single_blas_thread
from equigraph.stores.rows import StreamedRows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", type=Path, help="npz of a scipy CSR; by default a planted graph is made")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--iterations", type=int, default=5)
    parser.add_argument("--float32", action="store_true")
    options = parser.parse_args()
    if options.graph is None:
        adjacency = make_planted_graph(options.nodes, options.clusters, random_state=0).adjacency
        # Neighbours that are close in memory would flatter the product.
        order = np.random.default_rng(0).permutation(options.nodes)
        adjacency = sparse.csr_array(adjacency[order][:, order])
        adjacency.sort_indices()
    else:
        adjacency = sparse.csr_array(sparse.load_npz(options.graph))
    run(adjacency, options.clusters, options.iterations, np.float32 if options.float32 else np.float64)


def run(adjacency: sparse.csr_array, k: int, iterations: int, dtype: Any) -> None:
    n, entries, item = adjacency.shape[0], adjacency.nnz, np.dtype(dtype).itemsize
    penalty = 3 * Contrastive(np.arange(n) % 3)
    H = np.random.default_rng(0).random((n, k)).astype(dtype)
    print(f"{n:,} nodes, {entries:,} stored entries, k = {k}, {np.dtype(dtype).name}\n")
    here = in_process(adjacency.astype(dtype), H, penalty, iterations)
    print(f"in this process: {here[0]:.3f} s, {here[1]:.3f} CPU s per iteration")
    with temporary_blocks() as folder:
        blocks = write_blocks(adjacency, folder, block_bytes=max(entries * 4 // 16, 2**16))
        del adjacency
        with single_blas_thread():
            store = StreamedRows(blocks)
            streamed = per_iteration(steps_of(store, blocks, H, penalty), iterations, [os.getpid()])
            store.close()
        print(f"streamed from disk: {streamed[0]:.3f} s, {streamed[1]:.3f} CPU s per iteration\n")
        print(
            "workers   MB moved (model)    CPU s (model)   wall s   payload MB (model)   RSS MB of a worker"
        )
        cpu: dict[int, float] = {}
        for n_workers in (1, 2, 4):
            cpu[n_workers] = on_workers(n_workers, blocks, H, penalty, iterations, cpu, item)
    print(f"\n2 workers over this process, CPU s: {cpu[2] / here[1]:.2f}")
    extrapolate(n, entries, k, cpu)


def on_workers(
    n_workers: int,
    blocks: BlockGraph,
    H: Any,
    penalty: Any,
    iterations: int,
    cpu: dict[int, float],
    item: int,
) -> float:
    """Print one line, and return CPU seconds per iteration."""
    import psutil

    n, k = H.shape
    with dask_client("dask", n_workers=n_workers) as client:
        store = DaskRows(client, blocks)
        pids = [fact["pid"] for fact in store.facts()]
        steps = steps_of(store, blocks, H, penalty)
        # The first step sends and compiles what later ones do not.
        steps.advance(np.eye(k) + 0.1, steps.start().HH, np.ones(k))
        before = sum(fact["sent"] for fact in store.facts())
        wall, seconds = per_iteration(steps, iterations, [*pids, os.getpid()], started=True)
        facts = store.facts()
        # One product more than iterations: the start has one too.
        moved = (sum(fact["sent"] for fact in facts) - before) / (iterations + 1) / 1e6
        payload = max(fact["blocks"] + fact["panels"] for fact in facts) / 1e6
        memory = max(psutil.Process(pid).memory_info().rss for pid in pids) / 1e6
        store.close()
    width = -(-k * item // 32) * 32
    model_payload = (4 * blocks.n_entries + 4 * n + 3 * n * width) / n_workers / 1e6
    model_cpu = cpu[1] + (n_workers - 1) * (cpu[2] - cpu[1]) if 2 in cpu else float("nan")
    model_moved = (n_workers - 1) * n * k * item / 1e6
    print(
        f"{n_workers:7d} {moved:10.1f} ({model_moved:7.1f}) {seconds:8.3f} ({model_cpu:6.3f}) {wall:8.3f}"
        f" {payload:12.1f} ({model_payload:7.1f}) {memory:12.0f}"
    )
    return seconds


def steps_of(store: Any, blocks: BlockGraph, H: Any, penalty: Any) -> RowSteps:
    return RowSteps(StoreProduct(store, blocks.squared_norm), H, penalty)


def in_process(adjacency: Any, H: Any, penalty: Any, iterations: int) -> tuple[float, float]:
    """Return wall and CPU seconds of an iteration of the usual solver: a long run less a short one."""
    from equigraph.stores.products import product_of

    k = H.shape[1]
    product = product_of(adjacency)

    def go(count: int) -> None:
        multiplicative_updates(product, H, np.eye(k) + 0.1, penalty=penalty, max_iter=count, tol=0)

    with single_blas_thread():
        go(1)
        short, long = _timed(lambda: go(1)), _timed(lambda: go(1 + iterations))
    return (long[0] - short[0]) / iterations, (long[1] - short[1]) / iterations


def _timed(action: Callable[[], None]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return time.perf_counter() - wall, time.process_time() - cpu


def per_iteration(
    steps: RowSteps, iterations: int, pids: list[int], *, started: bool = False
) -> tuple[float, float]:
    """Return wall and CPU seconds of an iteration; the CPU seconds are those of all processes."""
    import psutil

    def cpu() -> float:
        return float(sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids))

    sums = steps.start()
    W, weights = np.eye(sums.HH.shape[0]) + 0.1, np.ones(sums.HH.shape[0])
    if not started:
        sums = steps.advance(W, sums.HH, weights)
    wall, used = time.perf_counter(), cpu()
    for _ in range(iterations):
        sums = steps.advance(W, sums.HH, weights)
        W, weights = update_interaction(W, sums, 0)
    return (time.perf_counter() - wall) / iterations, (cpu() - used) / iterations


def extrapolate(n: int, entries: int, k: int, cpu: dict[int, float]) -> None:
    """Say what the model gives for a billion edges."""
    per_entry = cpu[1] / (entries * k)
    per_byte = max(cpu[2] - cpu[1], 0.0) / (n * k * 8)
    nodes, stored = 50_000_000, 2_000_000_000
    print(
        f"per stored entry and column {per_entry * 1e9:.2f} ns, per byte sent {per_byte * 1e9:.2f} ns (CPU)"
    )
    print(f"{nodes:,} nodes, 1,000,000,000 edges, k = {k}, float32:")
    for n_workers in (8, 32, 64):
        received = nodes * k * 4 * (1 - 1 / n_workers)
        compute = per_entry * stored * k / n_workers
        memory = (4 * stored + 4 * nodes * 9 + 3 * nodes * k * 4.8) / n_workers + 2 * nodes * k * 4 / 8
        print(
            f"  {n_workers:2d} workers: {compute + per_byte * received:6.1f} s per iteration on one core each, "
            f"{received / 1e9:.1f} GB received and {memory / 1e9:.1f} GB held by each"
        )


if __name__ == "__main__":
    main()
