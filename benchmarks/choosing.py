"""Whether `equigraph.stability` recommends the number of clusters that a graph was made with.

Run ``python -m benchmarks.choosing``. Planted graphs of several sizes and degrees of mixing, block models whose groups
bind more than the clusters do, and random graphs, for which nothing should be recommended. Seeds, sizes and numbers are
none that the rule was made on. ``--seeds`` sets how many graphs there are of each kind.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np
from scipy import sparse

import equigraph as eg

PLANTED = ((60, 3, 8, 0.15), (100, 5, 9, 0.25), (160, 4, 7, 0.35), (180, 7, 12, 0.2))
FAIR = ((210, 3, 2), (260, 4, 3))
RANDOM = ((90, 7), (200, 10))
FIRST = 1001


def graphs(n_seeds: int) -> Iterator[tuple[str, int | None, eg.Graph]]:
    for seed in range(FIRST, FIRST + n_seeds):
        for n, k, degree, mixing in PLANTED:
            mix = np.full((k, 2), 0.5)
            data = eg.datasets.make_planted_graph(
                n, k, mean_degree=degree, mixing=mixing, group_mix=mix, random_state=seed
            )
            name = f"planted, {n} nodes, degree {degree}, mixing {mixing}"
            yield name, k, eg.Graph(data.adjacency, sensitive_features=data.sensitive_features)
        for n, k, h in FAIR:
            data = eg.datasets.make_fair_sbm(n, k, h, random_state=seed)
            name = f"fair block model, {n} nodes, {h} groups"
            yield name, k, eg.Graph(data.adjacency, sensitive_features=data.sensitive_features)
        for n, degree in RANDOM:
            rng = np.random.default_rng(seed)
            half = np.triu(rng.random((n, n)) < degree / n, 1).astype(float)
            groups = rng.integers(0, 2, n)
            yield (
                f"random, {n} nodes, degree {degree}",
                None,
                eg.Graph(sparse.csr_array(half + half.T), sensitive_features=groups),
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="graphs of each kind")
    arguments = parser.parse_args()
    right = total = 0
    for name, planted, graph in graphs(arguments.seeds):
        start = time.process_time()
        found = eg.stability(graph, range(2, (planted or 5) + 4), random_state=0)
        total, right = total + 1, right + (found.recommended == planted)
        rows = " ".join(f"{row.k}:{row.stability:.2f}/{row.objective:.3f}" for row in found.rows)
        seconds = time.process_time() - start
        print(
            f"{name}: made with {planted}, recommended {found.recommended} ({seconds:.0f} s)  {rows}",
            flush=True,
        )
    print(f"{right} of {total} as made")


if __name__ == "__main__":
    main()
