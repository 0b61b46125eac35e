"""Placing nodes without an edge."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from equigraph.graph.groups import placement
from equigraph.graph.groups.placement import place_isolated


def normalized_balance(labels, codes, h):
    shares = np.bincount(codes, minlength=h) / codes.size
    total = 0.0
    for cluster in set(labels.tolist()):
        inside = codes[labels == cluster]
        ratios = np.bincount(inside, minlength=h) / inside.size / shares
        total += inside.size * min(min(x, 1 / x) if x else 0.0 for x in ratios.tolist())
    return total / codes.size


def test_nodes_go_to_clusters_that_lack_their_group():
    labels = np.array([0, 0, 1, 1, 0, 0, 0, 0])
    codes = np.array([0, 0, 1, 1, 0, 0, 1, 1])
    isolated = np.arange(8) >= 4
    placed = place_isolated(labels, isolated, codes, 2, 2)
    assert placed.tolist() == [0, 0, 1, 1, 1, 1, 0, 0]
    assert normalized_balance(placed, codes, 2) == 1


def test_without_groups_clusters_are_filled_up():
    labels = np.array([0, 0, 0, 1, 9, 9, 9])
    isolated = np.array([False] * 4 + [True] * 3)
    placed = place_isolated(labels, isolated, None, 3, 1)
    assert np.bincount(placed).tolist() == [3, 2, 2]


def test_without_isolated_nodes_labels_are_copied():
    labels = np.array([0, 1])
    placed = place_isolated(labels, np.zeros(2, dtype=bool), np.array([0, 1]), 2, 2)
    assert placed.tolist() == [0, 1]
    assert placed is not labels


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(2, 3), st.integers(1, 8))
def test_one_node_is_placed_at_least_as_well_as_anywhere_else(seed, k, h, n_rest):
    rng = np.random.default_rng(seed)
    n = k * h + n_rest
    labels, codes = rng.integers(0, k, n), np.concatenate([np.arange(h), rng.integers(0, h, n - h)])
    isolated = np.zeros(n, dtype=bool)
    isolated[rng.integers(n)] = True
    placed = place_isolated(labels, isolated, codes, k, h)
    assert (placed[~isolated] == labels[~isolated]).all()
    scores = []
    for cluster in range(k):
        other = labels.copy()
        other[isolated] = cluster
        scores.append(normalized_balance(other, codes, h))
    assert normalized_balance(placed, codes, h) >= max(scores) - 1e-9


def test_many_nodes_are_placed_in_batches(monkeypatch):
    monkeypatch.setattr(placement, "_STEPS", 10)
    codes = np.concatenate([np.zeros(4, dtype=int), np.ones(500, dtype=int), np.zeros(500, dtype=int)])
    labels = np.zeros(codes.size, dtype=int)
    labels[2:4] = 1
    isolated = np.arange(codes.size) >= 4
    placed = place_isolated(labels, isolated, codes, 2, 2)
    assert normalized_balance(placed, codes, 2) > 0.6
