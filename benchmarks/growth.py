"""What many clusters, many groups and hubs cost: seconds of a processor, against few of them.

Groups are as good as even, or their sizes fall as 1/rank. ``--hub`` measures stars and sparse graphs with hubs, at
growing size.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import equigraph as eg

# The efforts are those of a quick look: what is compared is the same effort at other sizes.
METHODS: dict[str, dict[str, Any]] = {"fair-louvain": {}, "fair-partition": {"effort": 0.1}}
# Hubs that everybody knows, and whether there are other edges.
SHAPES = {"sparse": (0, True), "star": (1, False), "a hub": (1, True), "five hubs": (5, True)}


def even_groups(n: int, n_groups: int) -> NDArray[np.int64]:
    return np.random.default_rng(0).permutation(np.arange(n) % n_groups)


def uneven_groups(n: int, n_groups: int) -> NDArray[np.int64]:
    """Return groups whose sizes fall as 1/rank, none of them with a single member, which would count as none."""
    shares = 1 / np.arange(1, n_groups + 1)
    sizes = 2 + np.floor((n - 2 * n_groups) * shares / shares.sum()).astype(np.int64)
    sizes[0] += n - sizes.sum()
    return np.random.default_rng(0).permutation(np.repeat(np.arange(n_groups), sizes))


def seconds(work: Callable[..., Any], *arguments: Any, **options: Any) -> float:
    began = time.process_time()
    work(*arguments, **options)
    return time.process_time() - began


def fit_seconds(
    graph: eg.Graph, method: str, k: int, groups: NDArray[np.int64], options: dict[str, Any]
) -> float:
    options = options | {"n_clusters": k, "random_state": 0}
    return seconds(eg.cluster, graph, sensitive_features=groups, method=method, **options)


def shaped_graph(n: int, n_hubs: int, edges: bool) -> eg.Graph:
    rng = np.random.default_rng(0)
    ends = rng.integers(n, size=(2, 3 * n if edges else 0))
    for hub in range(n_hubs):
        ends = np.hstack([ends, [np.full(n, hub), np.arange(n)]])
    ends = ends[:, ends[0] != ends[1]]
    half = sparse.coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(n, n)).tocsr()
    return eg.as_graph(((half + half.T) > 0).astype(float))


def growth(n: int, many: int, methods: list[str]) -> None:
    graph = eg.as_graph(eg.datasets.make_planted_graph(n, 10, mean_degree=20, random_state=0).adjacency)
    print(
        f"n = {n:,}, {graph.n_edges:,} edges; ratios are to 2 groups at the same k, and to 2 groups at k = 10"
    )
    kinds = {"2": even_groups(n, 2), f"{many} even": even_groups(n, many), "uneven": uneven_groups(n, many)}
    for method in methods:
        options = METHODS[method]
        few: dict[int, float] = {}
        fit_seconds(graph, method, 10, kinds["uneven"], options)  # loads the compiled code
        for k in (10, n // 50, n // 5):
            for name, groups in kinds.items():
                taken = fit_seconds(graph, method, k, groups, options)
                if name == "2":
                    taken = few[k] = min(taken, fit_seconds(graph, method, k, groups, options))
                print(
                    f"{method:15} k = {k:4}, groups {name:10}: {taken:7.2f} s, {taken / few[k]:6.1f} times at this k, "
                    f"{taken / few[10]:6.1f} at k = 10",
                    flush=True,
                )


def hubs() -> None:
    sizes = np.array([10_000, 20_000, 40_000, 80_000])

    def partition(graph: eg.Graph) -> None:
        groups = even_groups(graph.n_nodes, 2)
        eg.FairPartition(5, effort=0.1, random_state=0).fit(graph, sensitive_features=groups)

    def spectral(graph: eg.Graph) -> None:
        eg.SpectralClustering(5, random_state=0).fit(graph)

    for name, fit in (("fair-partition", partition), ("sc", spectral)):
        fit(shaped_graph(2000, 1, True))  # loads the compiled code
        for shape, (n_hubs, edges) in SHAPES.items():
            graphs = (shaped_graph(int(n), n_hubs, edges) for n in sizes)
            taken = [seconds(fit, graph) for graph in graphs]
            exponent = np.polyfit(np.log(sizes), np.log(taken), 1)[0]
            shown = ", ".join(f"{value:.2f}" for value in taken)
            print(
                f"{name:15} {shape:10} n = 10,000 to 80,000: {shown} s, exponent {exponent:.2f}", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks growth", description=__doc__)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--groups", type=int, default=250)
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
