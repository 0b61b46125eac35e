"""Merging of clusters: greedy over all pairs, and small ones into their neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from equigraph.graph import check_adjacency
from equigraph.search.exact_k import merge_clusters
from equigraph.search.kernels.climb import absorb
from equigraph.search.kernels.merge import merge_pairs
from equigraph.search.kernels.state import start
from equigraph.search.levels import aggregate, compact
from tests.reference.label_fixtures import codes_for, labels_for, prepare
from tests.reference.labels_objective import NOTIONS
from tests.reference.naive_steps import absorb_small, greedy_merges

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

        merged = merge_clusters(level, labels, count - 1, count - 1, objective)
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
        assert alike(merge_clusters(level, first, k, k, objective), expected)


@pytest.mark.parametrize("notion", SIZED)
@pytest.mark.parametrize("fairness", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("two_attributes", [False, True])
def test_all_merges_are_those_of_a_naive_greedy(notion, fairness, two_attributes, naive):
    for seed in range(3):
        adjacency = weighted_graph(11, seed)
        codes = codes_for(11, 3, seed, n_unknown=2)
        if two_attributes:
            codes = np.column_stack([codes, codes_for(11, 2, seed + 1)])
        level, objective = prepare(adjacency, codes, fairness, notion)
        dense = adjacency.toarray()

        def value(found, dense=dense, codes=codes):
            return naive.naive_objective(dense, found, codes, fairness, notion)

        first = np.arange(11, dtype=np.int32)
        path = greedy_merges(value, first, 2)
        for expected in path:
            k = np.unique(expected).size
            merged = merge_clusters(level, first, k, k, objective)
            assert value(merged) == pytest.approx(value(expected), abs=1e-9)
            if fairness == 0:
                assert alike(merged, expected)
        # Within a range, the best moment on the way is kept.
        best = merge_clusters(level, first, 2, 7, objective)
        inside = [value(found) for found in path if np.unique(found).size <= 7]
        assert value(best) == pytest.approx(max(inside), abs=1e-9)


def test_labels_of_merged_pairs_name_their_clusters(naive):
    """The kernel itself: new labels of the clusters, at the last moment of the range if that is the best."""
    adjacency = weighted_graph(8, 1, density=0.6)
    level, objective = prepare(adjacency, codes_for(8, 2, 1), 0.0)
    coarse = aggregate(level, np.arange(8, dtype=np.int32), objective)
    merged = merge_pairs(
        coarse.graph.toarray(),
        coarse.strength.copy(),
        coarse.counts.copy(),
        *coarse.held,
        3,
        3,
        objective.score,
        objective.terms(),
    )
    assert np.unique(merged).size == 3
    assert all(merged[label] == label for label in np.unique(merged))


@pytest.mark.parametrize("notion", SIZED)
@pytest.mark.parametrize("fairness", [0.0, 0.4])
@pytest.mark.parametrize("density", [0.0, 0.05, 0.3])
def test_small_ones_are_absorbed_by_the_best_neighbour(notion, fairness, density, naive):
    for seed in range(3):
        adjacency = weighted_graph(16, seed, density)
        codes = codes_for(16, 2, seed)
        level, objective = prepare(adjacency, codes, fairness, notion)
        parts = labels_for(16, 9, seed)
        coarse, terms = aggregate(level, parts, objective), objective.terms()
        order = np.argsort(coarse.sizes, kind="stable")
        dense = adjacency.toarray()

        def value(found, dense=dense, codes=codes):
            return naive.naive_objective(dense, found, codes, fairness, notion)

        for n_wanted in (8, 5, 2):
            labels = np.arange(9, dtype=np.int32)
            clusters = start(coarse.sites(), labels, 9, objective.score, terms)
            absorb(coarse.sites(), labels, clusters, objective.score, terms, order, n_wanted)
            expected = absorb_small(value, dense, parts, order, n_wanted)
            assert alike(labels, expected)
            assert np.unique(labels).size >= n_wanted
            assert clusters.tally[1] == np.unique(labels).size
