"""Merging of clusters: greedy over all pairs, small ones into their neighbours; and their division."""

import numpy as np
import pytest

from equigraph.exceptions import InfeasibleError
from equigraph.graph import check_adjacency
from equigraph.search import merge as merging
from equigraph.search.large import make_search
from equigraph.search.level import compact
from equigraph.search.merge import merge, split
from tests.reference.label_fixtures import codes_for, prepare
from tests.reference.labels_objective import NOTIONS
from tests.reference.naive_steps import greedy_merges

# A mean over clusters, whose number changes, is merged as a sum: only one merge of it is exact.
SIZED = tuple(notion for notion in NOTIONS if notion != "balance")


def weighted_graph(n, seed, density=0.3):
    """Return a graph in which no two sums of weights are alike, so that nothing is tied."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), k=1)
    return check_adjacency(upper + upper.T)


def alike(one, other):
    """Whether two labellings are the same but for the numbers."""
    pairs = set(zip(one.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(one.tolist())) == len(set(other.tolist()))


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("fairness", [0.0, 0.4])
def test_one_merge_takes_the_best_pair(notion, fairness, make_graph, naive):
    for seed in range(5):
        adjacency, codes = make_graph(12, seed), codes_for(12, 3, seed)
        level, objective = prepare(adjacency, codes, fairness, notion)
        labels = compact(np.random.default_rng(seed).integers(0, 6, 12))
        count, dense = int(labels.max()) + 1, adjacency.toarray()

        def value(found, dense=dense, codes=codes):
            return naive.naive_objective(dense, found, codes, fairness, notion)

        merged = merge(level, labels, count - 1, count - 1, objective)
        assert np.unique(merged).size == count - 1
        expected = greedy_merges(value, labels, count - 1)[-1]
        assert value(merged) == pytest.approx(value(expected), abs=1e-9)


@pytest.mark.parametrize("fairness", [0.0, 0.3])
@pytest.mark.parametrize("n_hubs", [1, 2])
def test_merges_of_a_star_are_those_of_a_naive_greedy(fairness, n_hubs, naive):
    """Every merge is with the hub that all others prefer, so that all lose their partner each time."""
    dense, rng = np.zeros((11, 11)), np.random.default_rng(4)
    dense[:n_hubs, n_hubs:] = 1 + rng.random((n_hubs, 11 - n_hubs))
    dense += dense.T
    codes, first = codes_for(11, 2, 1), np.arange(11, dtype=np.int32)
    level, objective = prepare(check_adjacency(dense), codes, fairness, "evenness")

    def value(found):
        return naive.naive_objective(dense, found, codes, fairness, "evenness")

    for expected in greedy_merges(value, first, 2):
        k = np.unique(expected).size
        assert alike(merge(level, first, k, k, objective), expected)


@pytest.mark.parametrize("notion", SIZED)
@pytest.mark.parametrize("fairness", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("two_attributes", [False, True])
def test_all_merges_are_those_of_a_naive_greedy(notion, fairness, two_attributes, naive):
    adjacency = weighted_graph(11, 0)
    codes = codes_for(11, 3, 0, n_unknown=2)
    if two_attributes:
        codes = np.column_stack([codes, codes_for(11, 2, 1)])
    level, objective = prepare(adjacency, codes, fairness, notion)
    dense = adjacency.toarray()

    def value(found):
        return naive.naive_objective(dense, found, codes, fairness, notion)

    first = np.arange(11, dtype=np.int32)
    path = greedy_merges(value, first, 2)
    for expected in path:
        k = np.unique(expected).size
        merged = merge(level, first, k, k, objective)
        assert value(merged) == pytest.approx(value(expected), abs=1e-9)
        if fairness == 0:
            assert alike(merged, expected)
    # Within a range, the best moment on the way is kept.
    best = merge(level, first, 2, 7, objective)
    inside = [value(found) for found in path if np.unique(found).size <= 7]
    assert value(best) == pytest.approx(max(inside), abs=1e-9)


@pytest.mark.parametrize("density", [0.0, 0.05, 0.3])
def test_many_small_ones_are_absorbed_first(density, monkeypatch):
    monkeypatch.setattr(merging, "_MOST_PAIRED", 8)
    for seed in range(3):
        level, objective = prepare(weighted_graph(60, seed, density), codes_for(60, 2, seed), 0.2)
        alone = np.arange(60, dtype=np.int32)
        for k in (2, 8, 20):
            assert np.unique(merge(level, alone, k, k, objective)).size == k


def test_clusters_are_divided_within_themselves(make_graph):
    level, objective = prepare(make_graph(60, 0, 0.2), None, 0.0)
    halves = (np.arange(60) // 30).astype(np.int32)
    for k in (3, 20, 60):
        parts = split(level, halves, k, objective, np.random.default_rng(0))
        assert np.unique(parts).size >= k
        assert all(np.unique(halves[parts == part]).size == 1 for part in np.unique(parts))


@pytest.mark.parametrize("start", [np.zeros(12, dtype=int), np.arange(12), np.arange(12) // 3 * 7])
@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_exactly_k_from_any_labels(tiny, start, k):
    labels = make_search(tiny, None, k).exactly(start)
    assert sorted(set(labels.tolist())) == list(range(k))


def test_exactly_k_beyond_the_pairwise_limit(monkeypatch, make_graph):
    monkeypatch.setattr("equigraph.search.merge._MOST_PAIRED", 16)
    adjacency = make_graph(150, 0, density=0.01)
    assert (np.diff(adjacency.indptr) == 0).sum() > 5
    for k in (3, 16, 40):
        labels = make_search(adjacency, None, k).exactly(np.arange(150))
        assert np.bincount(labels).size == k
        assert np.bincount(labels).min() >= 1


def test_exactly_k_refuses_what_cannot_be(tiny):
    with pytest.raises(InfeasibleError, match="13 non-empty clusters"):
        make_search(tiny, None, 13)
