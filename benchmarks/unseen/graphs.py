"""The cases of the benchmark: graphs, groups and numbers of clusters, all from a seed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from benchmarks.unseen.families import FAMILIES, MISERABLES, shuffled

SIZES = {"small": (50, 200), "medium": (500, 2_000), "large": (5_000, 20_000)}
# Families that a suite has a second time, at another size.
N_TWICE = 2
LEAST_SHARE = 0.01
MOST_CLUSTERS = 60
# A cluster has at least this many nodes on average.
NODES_PER_CLUSTER = 8


@dataclass(frozen=True)
class Case:
    """A graph, the group of each node as a code, and how many clusters are asked for."""

    name: str
    adjacency: sparse.csr_array
    groups: NDArray[np.int64]
    k: int

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.adjacency.shape[0])


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw a number between low and high, every order of magnitude as likely as the next."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def draw_shares(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the shares of 2 to 6 groups: one as rare as 1 %, the others as it comes."""
    n_groups = int(rng.integers(2, 7))
    rare = log_uniform(rng, LEAST_SHARE, 1 / n_groups)
    rest = rng.dirichlet(np.full(n_groups - 1, 3.0)) * (1 - rare - LEAST_SHARE * (n_groups - 1)) + LEAST_SHARE
    return np.append(rest, rare)


def counts_of(shares: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return whole numbers in proportion to the shares that sum to n, rounded up at the cost of the largest.

    Examples
    --------
    >>> counts_of(np.array([0.735, 0.25, 0.015]), 50).tolist()
    [36, 13, 1]
    """
    counts = np.ceil(shares * n).astype(np.int64)
    counts[np.argmax(counts)] += n - int(counts.sum())
    return counts


def regions(rng: np.random.Generator, adjacency: sparse.csr_array) -> NDArray[np.int64]:
    """Divide a graph among random nodes, each node to the nearest; what none reaches is a region of its own."""
    n = adjacency.shape[0]
    centres = rng.choice(n, max(6, n // 100), replace=False)
    nearest = dijkstra(adjacency, unweighted=True, indices=centres, min_only=True, return_predecessors=True)[
        2
    ]
    return np.where(nearest < 0, n + np.arange(n), nearest)


def draw_groups(
    rng: np.random.Generator, communities: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Give groups of these sizes to the nodes, with or without regard to the communities.

    In two of three draws whole communities, in random order, are filled with one group after the other, and the
    groups of a share of the nodes are then shuffled: the lower that share, the more the groups keep to themselves.
    """
    n = communities.size
    shuffle = 1.0 if rng.random() < 1 / 3 else rng.uniform(0.1, 0.8)
    numbers = np.unique(communities, return_inverse=True)[1]
    order = np.lexsort([rng.random(n), rng.permutation(numbers.max() + 1)[numbers]])
    groups = np.empty(n, dtype=np.int64)
    groups[order] = np.repeat(rng.permutation(counts.size), counts)
    loose = np.flatnonzero(rng.random(n) < shuffle)
    groups[loose] = rng.permutation(groups[loose])
    return groups


def make_case(name: str, family: str, size: int, rng: np.random.Generator) -> Case:
    """Draw a graph of a family and about a size, its groups and a number of clusters."""
    adjacency, communities = shuffled(FAMILIES[family](rng, size), rng)
    n = adjacency.shape[0]
    if communities is None:
        communities = regions(rng, adjacency)
    groups = draw_groups(rng, communities, counts_of(draw_shares(rng), n))
    k = round(log_uniform(rng, 2, min(MOST_CLUSTERS, n // NODES_PER_CLUSTER)))
    return Case(f"{name}-{n}", adjacency, groups, k)


def draw_sizes(rng: np.random.Generator, n_cases: int) -> list[int]:
    """Draw three or four large sizes, five medium ones, and small ones, in random order."""
    n_large = int(rng.integers(3, 5))
    kinds = ["large"] * n_large + ["medium"] * 5 + ["small"] * (n_cases - n_large - 5)
    return [round(log_uniform(rng, *SIZES[kinds[i]])) for i in rng.permutation(n_cases)]


def suite(seed: int) -> list[Case]:
    """Return 14 cases: every family once, two of them twice; another seed gives other graphs, sizes, groups and k.

    Examples
    --------
    >>> cases = suite(3)
    >>> len(cases), len({case.name for case in cases})
    (14, 14)
    """
    rng = np.random.default_rng(seed)
    generated = [family for family in FAMILIES if family != MISERABLES]
    families = [*generated, *rng.choice(generated, N_TWICE, replace=False).tolist()]
    sizes = [*draw_sizes(rng, len(families)), 77]
    families.append(MISERABLES)
    return [
        make_case(f"{number:02d}-{family}", family, size, stream)
        for number, (family, size, stream) in enumerate(
            zip(families, sizes, rng.spawn(len(families)), strict=True), start=1
        )
    ]
