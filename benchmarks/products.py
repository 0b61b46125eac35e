"""Products with the adjacency, and one iteration of IFairNMTF, against scipy's and torch's sparse products.

Run ``python -m benchmarks.products``; ``--graph FILE`` takes another large graph (scipy's npz) than a generated one of
a million nodes and ten million edges. Every row is measured in one run, the rivals in turn, and the smallest time
counts. Times are of the processor, so that other work on the machine counts little, except in the column "wall".
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy import sparse

import equigraph as eg
from equigraph.factorization.multiplicative import RowSteps
from equigraph.factorization.penalties import Contrastive
from equigraph.stores.products import memory_product

CLUSTERS = (5, 10, 64)


def smallest(functions, repeats):
    """Return the smallest processor and wall times of functions that take turns."""
    best = [[np.inf, np.inf] for _ in functions]
    for _ in range(repeats):
        for times, function in zip(best, functions, strict=True):
            cpu, wall = time.process_time(), time.perf_counter()
            function()
            times[0] = min(times[0], time.process_time() - cpu)
            times[1] = min(times[1], time.perf_counter() - wall)
    return best


def torch_product(adjacency, panel):
    import torch

    torch.set_num_threads(2)
    with warnings.catch_warnings():
        # Its sparse tensors are announced as a beta state.
        warnings.simplefilter("ignore")
        matrix = torch.sparse_csr_tensor(
            torch.from_numpy(adjacency.indptr),
            torch.from_numpy(adjacency.indices),
            torch.from_numpy(adjacency.data),
            size=adjacency.shape,
        )
    right = torch.from_numpy(panel)
    return lambda: matrix @ right


def compare(name, adjacency, k, repeats):
    product = memory_product(adjacency)
    panel = np.random.default_rng(0).random((adjacency.shape[0], k))
    rival = torch_product(adjacency, panel)
    np.testing.assert_allclose(product(panel), adjacency @ panel)
    names = ("scipy", "torch", "ours")
    functions = (lambda: adjacency @ panel, rival, lambda: product(panel))
    times = smallest(functions, repeats)
    cells = "".join(
        f"{label:>14s} {1e3 * cpu:8.2f} ({1e3 * wall:7.2f})"
        for label, (cpu, wall) in zip(names, times, strict=True)
    )
    ratio = min(times[0][0], times[1][0]) / times[2][0]
    verdict = "reached" if ratio >= 1 else "NOT reached"
    print(f"{name:8s} k = {k:<3d}{cells}   {ratio:.2f} times the faster (1: {verdict})", flush=True)


def iteration(adjacency, groups, repeats, k=10):
    rng = np.random.default_rng(0)
    H, W = rng.random((adjacency.shape[0], k)), np.diag(np.arange(k, 0, -1.0))
    product = memory_product(adjacency)
    steps = RowSteps(memory_product(adjacency), H, 1.0 * Contrastive(groups))
    HH = steps.start().HH
    (bare, _), (whole, _) = smallest((lambda: product(H), lambda: steps.advance(W, HH, np.ones(k))), repeats)
    verdict = "reached" if whole <= 1.5 * bare else "NOT reached"
    print(
        f"iteration k = {k}: {1e3 * whole:.1f} ms, {whole / bare:.2f} times a bare product (1.5: {verdict})",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", help="A large graph, as scipy saves it.")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    print(
        "Milliseconds of the processor, and of the wall in brackets; both rivals and ours may use 2 threads"
    )
    sbm = eg.datasets.make_fair_sbm(10_000, 5, 5, random_state=0).adjacency
    for k in CLUSTERS:
        compare("SBM 10K", sbm, k, options.repeats)
    if options.graph:
        large = sparse.csr_array(sparse.load_npz(options.graph))
    else:
        planted = eg.datasets.make_planted_graph(options.nodes, 10, mean_degree=20, random_state=0).adjacency
        order = np.random.default_rng(1).permutation(planted.shape[0])
        large = planted[order][:, order].tocsr()
        large.sort_indices()
    for k in CLUSTERS:
        compare("large", large, k, options.repeats)
    iteration(large, np.arange(large.shape[0]) % 3, options.repeats)


if __name__ == "__main__":
    main()
