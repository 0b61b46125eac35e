"""The small graphs of the figures are what their descriptions say, for every seed."""

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from equigraph.apps.reproduction.toys import interaction_toy, tradeoff_toy

SEEDS = range(3)


def _links(toy):
    """Count the edges between and inside clusters, one pair of nodes at a time."""
    dense, k = toy.graph.adjacency.toarray(), int(toy.target.max()) + 1
    counts = np.zeros((k, k), dtype=int)
    for i in range(len(dense)):
        for j in range(i + 1, len(dense)):
            if dense[i, j]:
                a, b = sorted((toy.target[i], toy.target[j]))
                counts[a, b] += 1
    return counts


@pytest.mark.parametrize("seed", SEEDS)
def test_interaction_toy(seed):
    toy = interaction_toy(seed)
    assert np.bincount(toy.target).tolist() == [10, 10, 10, 10]
    assert np.unique(toy.graph.sensitive_features, return_counts=True)[1].tolist() == [14, 26]
    assert _links(toy).tolist() == [[44, 0, 10, 10], [0, 40, 10, 30], [0, 0, 36, 10], [0, 0, 0, 40]]
    assert not toy.graph.is_weighted
    # Every node of IV has as many neighbours in II.
    across = toy.graph.adjacency[toy.target == 3][:, toy.target == 1]
    assert across.sum(axis=1).tolist() == [3] * 10
    assert across.sum(axis=0).tolist() == [3] * 10


@pytest.mark.parametrize("seed", SEEDS)
def test_tradeoff_toy(seed):
    toy = tradeoff_toy(seed)
    groups = toy.graph.sensitive_features
    counts = [
        [np.count_nonzero(groups[toy.target == circle] == group) for group in "AB"] for circle in range(3)
    ]
    assert counts == [[14, 1], [10, 5], [3, 12]]
    assert np.sum(counts, axis=0).tolist() == [27, 18]
    assert connected_components(toy.graph.adjacency)[0] == 1
    links = _links(toy)
    assert np.trace(links) > 2 * (links.sum() - np.trace(links))
