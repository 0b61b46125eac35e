"""Small graphs with known clusters, drawn by a seed: one per figure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from equigraph.datasets.sbm import adjacency_from_edges
from equigraph.graph import Graph

ROMAN = ("I", "II", "III", "IV")
_SIZE = 10
# Edges inside each cluster, of 45 pairs: the first is the densest.
_INSIDE = (44, 40, 36, 40)
# Neighbours of every node of one cluster in another. I and II share no edge, IV and II most.
_ACROSS = {(0, 2): 1, (1, 2): 1, (2, 3): 1, (0, 3): 1, (1, 3): 3}
_FIRST_GROUP = (3, 4, 3, 4)

# Members of groups A and B in each circle.
_CIRCLES = ((14, 1), (10, 5), (3, 12))
# Nodes with friends in another circle: circle, group, other circle, number. If all of them moved, every circle would
# have nine of A and six of B.
_TORN = ((0, 0, 2, 5), (1, 0, 2, 1), (2, 1, 0, 5), (2, 1, 1, 1))
# Probabilities of an edge to the own and to the other circle, from the least to the most undecided node.
_TIES = ((0.42, 0.12), (0.36, 0.18), (0.30, 0.24))
_LOYAL, _ELSEWHERE = 0.5, 0.02


class Toy(NamedTuple):
    """A graph with groups A and B, and its planted clusters."""

    graph: Graph
    target: NDArray[np.intp]


def interaction_toy(seed: int) -> Toy:
    """Draw 40 nodes in four clusters of ten; 14 are of group A and 26 of group B, spread over the clusters.

    Clusters I and II share no edge, IV has three times as many edges to II as to I. Edges between two clusters are
    spread evenly over their nodes. This matters because W models only what all nodes of a cluster share; uneven edges
    would become memberships in two clusters.
    """
    rng = np.random.default_rng(seed)
    ends = [_inside(cluster, n_edges, rng) for cluster, n_edges in enumerate(_INSIDE)]
    ends += [_across(first, second, degree, rng) for (first, second), degree in _ACROSS.items()]
    rows, columns = np.concatenate(ends, axis=1)
    groups = np.concatenate([np.repeat(["A", "B"], [n_first, _SIZE - n_first]) for n_first in _FIRST_GROUP])
    return _toy(rows, columns, groups, np.repeat(np.arange(len(ROMAN)), _SIZE))


def _inside(cluster: int, n_edges: int, rng: np.random.Generator) -> NDArray[np.intp]:
    rows, columns = np.triu_indices(_SIZE, 1)
    chosen = rng.choice(rows.size, n_edges, replace=False)
    return np.stack((rows[chosen], columns[chosen])) + cluster * _SIZE


def _across(first: int, second: int, degree: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return edges between two clusters, the same number at every node."""
    one, two = rng.permutation(_SIZE), rng.permutation(_SIZE)
    return np.concatenate(
        [np.stack((one + first * _SIZE, np.roll(two, shift) + second * _SIZE)) for shift in range(degree)],
        axis=1,
    )


def tradeoff_toy(seed: int) -> Toy:
    """Draw 45 nodes in three circles of 15 with unequal shares of groups; 27 are of group A and 18 of group B.

    Twelve nodes have friends in a second circle as well, some hardly and some nearly as many. If all of them moved,
    every circle would mirror the population.
    """
    rng = np.random.default_rng(seed)
    sizes = np.array(_CIRCLES)
    circle = np.repeat(np.arange(len(sizes)), sizes.sum(axis=1))
    is_second = np.repeat(np.tile([False, True], len(sizes)), sizes.ravel())
    pull = _pulls(circle, is_second)
    rows, columns = np.triu_indices(circle.size, 1)
    # Inside a circle the smaller probability of the two counts, across circles the larger.
    inside = np.minimum(pull[rows, circle[rows]], pull[columns, circle[columns]])
    across = np.maximum(pull[rows, circle[columns]], pull[columns, circle[rows]])
    chance = np.where(circle[rows] == circle[columns], inside, across)
    while True:
        drawn = rng.random(rows.size) < chance
        toy = _toy(rows[drawn], columns[drawn], np.where(is_second, "B", "A"), circle)
        if connected_components(toy.graph.adjacency, directed=False)[0] == 1:
            return toy


def _pulls(circle: NDArray[np.intp], is_second: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the probability of an edge from each node to the members of each circle."""
    pull = np.full((circle.size, len(_CIRCLES)), _ELSEWHERE)
    pull[np.arange(circle.size), circle] = _LOYAL
    taken = np.zeros(circle.size, dtype=bool)
    for own, group, other, n_torn in _TORN:
        torn = np.flatnonzero((circle == own) & (is_second == bool(group)) & ~taken)[:n_torn]
        taken[torn] = True
        # A single node is among the most undecided.
        degrees = np.arange(n_torn) * len(_TIES) // n_torn if n_torn > 1 else np.array([len(_TIES) - 1])
        pull[torn, own], pull[torn, other] = np.array(_TIES)[degrees].T
    return pull


def _toy(rows: NDArray, columns: NDArray, groups: NDArray[np.str_], target: NDArray[np.intp]) -> Toy:
    adjacency = adjacency_from_edges(rows, columns, target.size)
    return Toy(Graph(adjacency, sensitive_features=groups, attribute="group"), target)
