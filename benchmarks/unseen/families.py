"""The families of generated graphs: each a function of a random generator and a number of nodes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from benchmarks.unseen.configuration import power_law, power_law_communities


@dataclass(frozen=True)
class Drawn:
    """Edges (each once), the number of nodes, weights (None: all 1) and communities (None: none were planted)."""

    edges: NDArray[np.int64]
    n_nodes: int
    weights: NDArray[np.float64] | None = None
    communities: NDArray[np.int64] | None = None


Family = Callable[[np.random.Generator, int], Drawn]


def simple(edges: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the edges without loops, each once, smaller end first."""
    edges = edges[edges[:, 0] != edges[:, 1]]
    keys = np.unique(edges.min(axis=1) * n + edges.max(axis=1))
    return np.column_stack([keys // n, keys % n])


def of_networkx(graph: nx.Graph) -> Drawn:
    """Return the edges of a graph whose nodes are 0 to n - 1."""
    n = graph.number_of_nodes()
    return Drawn(simple(np.array(graph.edges(), dtype=np.int64).reshape(-1, 2), n), n)


def draw_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**31))


def lfr(rng: np.random.Generator, n: int, mixing: float) -> Drawn:
    """Power laws of degrees and of community sizes, with a share of the ends that leads out."""
    edges, communities = power_law_communities(rng, n, mixing)
    return Drawn(simple(edges, n), n, communities=communities)


def geometric(rng: np.random.Generator, n: int) -> Drawn:
    """Points in the unit square, linked up to a distance that gives 8 to 16 neighbours away from the border."""
    points = rng.random((n, 2))
    radius = np.sqrt(rng.uniform(8, 16) / (np.pi * n))
    edges = cKDTree(points).query_pairs(radius, output_type="ndarray").astype(np.int64)
    return Drawn(simple(edges, n), n)


def holme_kim(rng: np.random.Generator, n: int) -> Drawn:
    """Growth by preferential attachment, with triangles: power-law degrees and no communities."""
    links, triangles = int(rng.integers(2, 7)), rng.uniform(0.1, 0.9)
    return of_networkx(nx.powerlaw_cluster_graph(n, links, triangles, seed=draw_seed(rng)))


def block_edges(
    rng: np.random.Generator, communities: NDArray[np.int64], propensity: NDArray[np.float64], inside: float
) -> NDArray[np.int64]:
    """Draw edges of a degree-corrected block model.

    As many as half the sum of the propensities; both ends are drawn by propensity, the second with probability
    ``inside`` from the community of the first, and otherwise from all nodes.
    """
    n = communities.size
    n_edges = int(propensity.sum() / 2)
    one = rng.choice(n, n_edges, p=propensity / propensity.sum())
    order = np.argsort(communities, kind="stable")
    reach = np.concatenate([[0.0], np.cumsum(propensity[order])])
    bounds = np.searchsorted(communities[order], np.arange(int(communities.max()) + 2))
    own = rng.random(n_edges) < inside
    low = np.where(own, reach[bounds[communities[one]]], 0.0)
    high = np.where(own, reach[bounds[communities[one] + 1]], reach[-1])
    at = np.searchsorted(reach, low + rng.random(n_edges) * (high - low), side="right") - 1
    return simple(np.column_stack([one, order[np.minimum(at, n - 1)]]), n)


def unequal_communities(rng: np.random.Generator, n: int) -> NDArray[np.int64]:
    """Draw 3 to 20 communities of very unequal size, all of at least four nodes."""
    n_communities = int(rng.integers(3, min(20, n // 12) + 1))
    shares = rng.dirichlet(np.full(n_communities, 1.5))
    communities = rng.choice(n_communities, n, p=shares)
    communities[: 4 * n_communities] = np.arange(4 * n_communities) % n_communities
    return communities


def blocks(rng: np.random.Generator, n: int) -> Drawn:
    """Unequal blocks with Poisson degrees of mean 6 to 20."""
    communities = unequal_communities(rng, n)
    propensity = np.full(n, rng.uniform(6, min(20, n / 6)))
    edges = block_edges(rng, communities, propensity, rng.uniform(0.4, 0.8))
    return Drawn(edges, n, communities=communities)


def corrected_blocks(rng: np.random.Generator, n: int) -> Drawn:
    """Unequal blocks with power-law degrees."""
    communities = unequal_communities(rng, n)
    propensity = power_law(rng, n, rng.uniform(2.1, 2.9), int(rng.integers(3, 7)), min(200, n // 4)).astype(
        float
    )
    edges = block_edges(rng, communities, propensity, rng.uniform(0.4, 0.8))
    return Drawn(edges, n, communities=communities)


def caveman(rng: np.random.Generator, n: int) -> Drawn:
    """Cliques of 5 to 14 nodes of which a tenth to a third of the edges are led elsewhere."""
    size = int(rng.integers(5, 15))
    n_caves = max(3, round(n / size))
    graph = nx.relaxed_caveman_graph(n_caves, size, rng.uniform(0.1, 0.35), seed=draw_seed(rng))
    drawn = of_networkx(graph)
    return Drawn(drawn.edges, drawn.n_nodes, communities=np.arange(drawn.n_nodes) // size)


def small_world(rng: np.random.Generator, n: int) -> Drawn:
    """A ring of neighbours with some shortcuts, by Watts and Strogatz."""
    degree, rewired = 2 * int(rng.integers(3, 7)), rng.uniform(0.02, 0.3)
    return of_networkx(nx.watts_strogatz_graph(n, degree, rewired, seed=draw_seed(rng)))


def blobs(rng: np.random.Generator, n: int) -> Drawn:
    """Nearest neighbours of points that lie in Gaussian blobs which overlap."""
    n_blobs, n_dimensions = int(rng.integers(4, 20)), int(rng.integers(2, 7))
    n_neighbours = int(rng.integers(5, 11))
    communities = rng.choice(n_blobs, n, p=rng.dirichlet(np.full(n_blobs, 3.0)))
    centres = rng.uniform(0, 6, (n_blobs, n_dimensions))
    points = centres[communities] + rng.normal(size=(n, n_dimensions))
    near = cKDTree(points).query(points, k=n_neighbours + 1)[1][:, 1:]
    edges = np.column_stack([np.repeat(np.arange(n), n_neighbours), near.ravel()])
    return Drawn(simple(edges, n), n, communities=communities)


def scattered(rng: np.random.Generator, n: int) -> Drawn:
    """Many components, from single nodes to a fourth of the graph: trees with a few more edges and many leaves."""
    sizes = power_law(rng, n, 1.8, 1, n // 4)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), n)) + 1]
    component = np.repeat(np.arange(sizes.size), sizes)[:n]
    start = np.searchsorted(component, component)
    place = np.arange(n) - start
    # A node attaches to an earlier one of its component: squaring favours the first, which become hubs with leaves.
    parent = start + np.floor(rng.random(n) ** 2 * place).astype(np.int64)
    trees = np.column_stack([np.arange(n), parent])
    closing = rng.choice(n, int(rng.uniform(0.1, 0.4) * n))
    more = np.column_stack(
        [parent[closing], start[closing] + np.floor(rng.random(closing.size) * place[closing])]
    )
    return Drawn(simple(np.vstack([trees, more.astype(np.int64)]), n), n)


def lognormal(rng: np.random.Generator, n: int) -> Drawn:
    """Lognormal weights on a graph of another family."""
    base = (partial(lfr, mixing=0.3), geometric, corrected_blocks)[rng.integers(3)](rng, n)
    weights = rng.lognormal(0.0, rng.uniform(0.5, 1.5), base.edges.shape[0])
    return Drawn(base.edges, n, weights, base.communities)


def miserables(rng: np.random.Generator, n: int) -> Drawn:
    """The characters of Les Miserables, by D. E. Knuth: always the same 77 nodes."""
    graph = nx.convert_node_labels_to_integers(nx.les_miserables_graph(), ordering="sorted")
    triples = np.array([(u, v, weight) for u, v, weight in graph.edges(data="weight")], dtype=float)
    return Drawn(triples[:, :2].astype(np.int64), graph.number_of_nodes(), triples[:, 2])


MISERABLES = "miserables"
FAMILIES: dict[str, Family] = {
    "lfr-0.3": partial(lfr, mixing=0.3),
    "lfr-0.4": partial(lfr, mixing=0.4),
    "geometric": geometric,
    "holme-kim": holme_kim,
    "blocks": blocks,
    "corrected-blocks": corrected_blocks,
    "caveman": caveman,
    "small-world": small_world,
    "blobs": blobs,
    "scattered": scattered,
    "lognormal": lognormal,
    MISERABLES: miserables,
}


def shuffled(drawn: Drawn, rng: np.random.Generator) -> tuple[sparse.csr_array, NDArray[np.int64] | None]:
    """Return the adjacency and the communities with the nodes in no order."""
    n, place = drawn.n_nodes, rng.permutation(drawn.n_nodes)
    rows, columns = place[drawn.edges].T
    weights = np.ones(rows.size) if drawn.weights is None else drawn.weights
    half = sparse.coo_array((weights, (rows, columns)), shape=(n, n)).tocsr()
    communities = None
    if drawn.communities is not None:
        communities = np.empty(n, dtype=np.int64)
        communities[place] = drawn.communities
    adjacency = sparse.csr_array(half + half.T)
    adjacency.sort_indices()
    return adjacency, communities
