"""Whether `equigraph.stability` recommends the number of clusters that a graph was made with.

Run ``python -m benchmarks choosing``. Every node's group is the toss of a coin, so that no planted cluster has exact
shares: planted graphs of several sizes and degrees of mixing, block models whose groups bind more than the clusters do,
and random graphs, for which nothing should be recommended. ``--halves`` gives every planted cluster exact halves.
``--seeds`` sets how many graphs there are of each kind, ``--first`` the first seed. The rule was tuned on seeds 1, 2,
1001 and 1002.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from scipy import sparse

import equigraph as eg

PLANTED = ((60, 3, 8, 0.15), (100, 5, 9, 0.25), (160, 4, 7, 0.3), (180, 7, 12, 0.2))
# Nodes, clusters, and the probability of a link by same cluster and same group: both, cluster, group, neither.
BOUND = ((150, 4, (0.3, 0.12, 0.09, 0.01)), (200, 3, (0.2, 0.1, 0.07, 0.01)))
RANDOM = ((90, 7), (200, 10))
FIRST = 2001


def with_groups(adjacency: sparse.csr_array, seed: int) -> eg.Graph:
    """Return a graph whose groups are tosses of a coin."""
    groups = np.random.default_rng(seed).integers(0, 2, adjacency.shape[0])
    return eg.Graph(adjacency, sensitive_features=groups)


def sampled(probabilities: np.ndarray, rng: np.random.Generator) -> sparse.csr_array:
    """Return the adjacency of independent links."""
    half = np.triu(rng.random(probabilities.shape) < probabilities, 1).astype(float)
    return sparse.csr_array(half + half.T)


def graphs(first: int, n_seeds: int, halves: bool) -> Iterator[tuple[str, int | None, eg.Graph]]:
    for seed in range(first, first + n_seeds):
        for n, k, degree, mixing in PLANTED:
            data = eg.datasets.make_planted_graph(
                n, k, mean_degree=degree, mixing=mixing, group_mix=np.full((k, 2), 0.5), random_state=seed
            )
            exact = eg.Graph(data.adjacency, sensitive_features=data.sensitive_features)
            name = f"planted, {n} nodes, degree {degree}, mixing {mixing}"
            yield name, k, exact if halves else with_groups(data.adjacency, seed)
        rng = np.random.default_rng(seed)
        for n, k, (both, same_cluster, same_group, neither) in BOUND:
            clusters = rng.permutation(np.arange(n) % k)
            groups = rng.permutation(np.arange(n) % 2) if halves else rng.integers(0, 2, n)
            together, alike = clusters[:, None] == clusters, groups[:, None] == groups
            chances = np.where(
                together, np.where(alike, both, same_cluster), np.where(alike, same_group, neither)
            )
            yield f"groups bind, {n} nodes", k, eg.Graph(sampled(chances, rng), sensitive_features=groups)
        for n, degree in RANDOM:
            adjacency = sampled(np.full((n, n), degree / n), rng)
            yield f"random, {n} nodes, degree {degree}", None, with_groups(adjacency, seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=2, help="graphs of each kind")
    parser.add_argument("--first", type=int, default=FIRST, help="first seed")
    parser.add_argument(
        "--halves", action="store_true", help="exact halves of both groups in every planted cluster"
    )
    arguments = parser.parse_args()
    right = plausible = total = 0
    spent = 0.0
    for name, planted, graph in graphs(arguments.first, arguments.seeds, arguments.halves):
        start = time.process_time()
        found = eg.stability(graph, range(2, (planted or 5) + 4), random_state=0)
        seconds = time.process_time() - start
        total, right, spent = total + 1, right + (found.recommended == planted), spent + seconds
        plausible += found.recommended == planted or planted in found.plausible
        rows = " ".join(f"{row.k}:{row.stability:.2f}/{row.objective:.3f}" for row in found.rows)
        print(
            f"{name}: made with {planted}, recommended {found.recommended}, plausible {found.plausible} "
            f"({seconds:.1f} CPU s)  {rows}",
            flush=True,
        )
    print(
        f"{right} of {total} as made, {plausible} of {total} among the plausible, {spent / total:.1f} CPU s each"
    )


if __name__ == "__main__":
    main()
