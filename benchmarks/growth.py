"""What many clusters and many groups cost: seconds of a processor per unit of work, against few of both.

The unit is a node or edge for what clusters cost, and a cell of a cluster's counts, of which a look at a move reads
one per group, for what groups cost. ``--hub`` measures spectral clustering on sparse graphs with and without a hub.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
from scipy import sparse

import equigraph as eg

# The efforts are those of a quick look: what is compared is the same effort at other sizes.
METHODS: dict[str, dict[str, Any]] = {"fair-louvain": {}, "fair-partition": {"effort": 0.1}}


def seconds(graph: eg.Graph, method: str, k: int, n_groups: int) -> float:
    groups = np.random.default_rng(0).permutation(np.arange(graph.n_nodes) % n_groups)
    began = time.process_time()
    eg.cluster(
        graph, sensitive_features=groups, method=method, n_clusters=k, random_state=0, **METHODS[method]
    )
    return time.process_time() - began


def sparse_graph(n: int, hub: bool) -> eg.Graph:
    rng = np.random.default_rng(0)
    ends = rng.integers(n, size=(2, 3 * n))
    if hub:
        ends = np.hstack([ends, [np.zeros(n - 1, dtype=int), np.arange(1, n)]])
    ends = ends[:, ends[0] != ends[1]]
    half = sparse.coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n, n)).tocsr()
    return eg.as_graph(((half + half.T) > 0).astype(float))


def growth(n: int, many_groups: int, methods: list[str]) -> None:
    adjacency = eg.datasets.make_planted_graph(n, 10, mean_degree=20, random_state=0).adjacency
    graph = eg.as_graph(adjacency)
    print(f"n = {n:,}, {graph.n_edges:,} edges; a ratio is to k = 10 and 2 groups")
    for method in methods:
        seconds(graph, method, 10, 2)  # loads the compiled code
        base = seconds(graph, method, 10, 2)
        print(f"{method:15} k =   10, groups =    2: {base:8.2f} s")
        for k, n_groups in ((n // 50, 2), (n // 5, 2), (10, many_groups), (n // 5, many_groups)):
            taken = seconds(graph, method, k, n_groups)
            print(
                f"{method:15} k = {k:4}, groups = {n_groups:4}: {taken:8.2f} s, {taken / base:6.1f} per node and "
                f"edge, {taken / base * 2 / n_groups:6.2f} per cell",
                flush=True,
            )


def hubs() -> None:
    eg.SpectralClustering(5, random_state=0).fit(sparse_graph(1000, hub=False))  # loads the compiled code
    for hub in (False, True):
        taken = []
        for n in (10_000, 20_000, 40_000, 80_000):
            graph = sparse_graph(n, hub)
            began = time.process_time()
            eg.SpectralClustering(5, random_state=0).fit(graph)
            taken.append(time.process_time() - began)
        exponent = np.polyfit(np.log([1, 2, 4, 8]), np.log(taken), 1)[0]
        shown = ", ".join(f"{value:.2f}" for value in taken)
        print(
            f"sc {'with' if hub else 'without'} a hub, n = 10,000 to 80,000: {shown} s, exponent {exponent:.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks growth", description=__doc__)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--methods", nargs="*", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--hub", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.hub:
        hubs()
    else:
        growth(options.nodes, options.groups, options.methods)


if __name__ == "__main__":
    main()
