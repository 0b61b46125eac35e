"""The graphs of the benchmark, made once and kept on disk; run as a command it makes one."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import equigraph as eg
from equigraph._utils.files import atomic_path
from equigraph._utils.records import write_json

POKEC = "pokec-n"
SHARES = (0.6, 0.2, 0.2)
MEAN_DEGREE, MIXING = 20, 0.2
# Written last: a folder that has it is complete.
SIZES_FILE = "sizes.json"


def planted_name(n_nodes: int) -> str:
    """Return the name of a planted graph.

    Examples
    --------
    >>> planted_name(10_000), planted_name(2_500_000)
    ('planted-10K', 'planted-2500K')
    """
    for unit, letter in ((10**6, "M"), (10**3, "K")):
        if n_nodes % unit == 0:
            return f"planted-{n_nodes // unit}{letter}"
    return f"planted-{n_nodes}"


def planted(n_nodes: int, n_clusters: int, seed: int) -> tuple[sparse.csr_array, NDArray]:
    """Return the adjacency and the groups of a planted graph whose nodes are in no order."""
    mix = [np.roll(SHARES, cluster) for cluster in range(n_clusters)]
    data = eg.datasets.make_planted_graph(
        n_nodes, n_clusters, mean_degree=MEAN_DEGREE, mixing=MIXING, group_mix=mix, random_state=seed
    )
    # Another stream than that of the graph, which the seed itself gives.
    order = np.random.default_rng([seed, 1]).permutation(n_nodes)
    return reordered(data.adjacency, order), data.sensitive_features[order]


def reordered(adjacency: sparse.csr_array, order: NDArray) -> sparse.csr_array:
    """Return the adjacency with node ``order[i]`` at place i, with one copy of it and no more."""
    rows = adjacency[order]
    place = np.empty(order.size, dtype=rows.indices.dtype)
    place[order] = np.arange(order.size, dtype=place.dtype)
    rows.indices = place[rows.indices]
    rows.has_sorted_indices = False
    rows.sort_indices()
    return rows


def save(folder: Path, adjacency: sparse.csr_array, groups: NDArray) -> None:
    """Write a graph without weights; names are replaced by codes."""
    codes = np.unique(groups, return_inverse=True)[1].astype(np.int32)
    for name, array in (("indptr", adjacency.indptr), ("indices", adjacency.indices), ("groups", codes)):
        with atomic_path(folder / f"{name}.npy") as partial:
            np.save(partial, array)
    write_json(folder / SIZES_FILE, {"n_nodes": adjacency.shape[0], "n_stored": int(adjacency.nnz)})


def load(folder: Path) -> tuple[sparse.csr_array, NDArray]:
    """Read a graph: float64 ones, as readers give, and the groups."""
    indptr, indices, groups = (np.load(folder / f"{name}.npy") for name in ("indptr", "indices", "groups"))
    n = indptr.size - 1
    adjacency = sparse.csr_array((np.ones(indices.size), indices, indptr), shape=(n, n))
    adjacency.has_canonical_format = True
    return adjacency, groups


def sizes(folder: Path) -> dict[str, int] | None:
    """Return the numbers of nodes and stored entries of a graph on disk, or None where it is not complete."""
    path = folder / SIZES_FILE
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, help="nodes of a planted graph; Pokec-n by default")
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    try:
        if options.nodes is None:
            data = eg.datasets.load(POKEC)
            graph = data.adjacency, data.sensitive_features
        else:
            graph = planted(options.nodes, options.clusters, options.seed)
    except eg.exceptions.EquigraphError as error:
        parser.exit(2, f"{error}\n")
    save(options.folder, *graph)


if __name__ == "__main__":
    main()
