"""Many groups in few columns: the same values as with a column for each, in every loop of the search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from equigraph.metrics.notions import NOTIONS
from equigraph.search.exact_k import merge_clusters
from equigraph.search.folding import rows_of
from equigraph.search.kernels.anneal import anneal
from equigraph.search.kernels.climb import climb
from equigraph.search.kernels.held import add_number, make_held, number_of
from equigraph.search.kernels.state import caches_pairs, start
from equigraph.search.levels import aggregate, compact, count_groups, hold_groups, scores_of
from equigraph.search.multilevel import local_moves
from tests.reference.label_fixtures import labels_for, prepare, random_graph
from tests.reference.naive_steps import greedy_merges

# Twelve groups of one, ten of two, four of three, one of seven and one of nine, and two nodes without a group.
SIZES = [1] * 12 + [2] * 10 + [3] * 4 + [7, 9]
CODES = np.random.default_rng(0).permutation(np.concatenate([np.repeat(np.arange(28), SIZES), [-1, -1]]))
N = CODES.size
GRAPH = random_graph(N, 3, density=0.12)
DENSE = GRAPH.toarray()
TWO = np.column_stack([CODES, np.arange(N) % 2])


def value_of(naive, labels, codes, fairness, notion):
    return naive.naive_objective(DENSE, labels, codes, fairness, notion)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("codes", [CODES, TWO], ids=["one", "two"])
def test_scores_of_folded_groups_are_those_of_the_groups(notion, codes, naive):
    level, objective = prepare(GRAPH, codes, 0.5, notion)
    assert objective.first.size > 20
    assert objective.population.size < 20
    labels = labels_for(N, 5, 1)
    counts, held = count_groups(level, labels, 5, objective), hold_groups(level, labels, 5, objective)
    clusters = start(level.sites(), labels, 6, objective.score, objective.terms())
    rows = rows_of(counts, held, objective.population, objective.first)
    np.testing.assert_array_equal(clusters.table[:5], rows)
    modularity, value = scores_of(level, labels, objective)
    assert (modularity + value) / 2 == pytest.approx(value_of(naive, labels, codes, 0.5, notion), abs=1e-12)


@pytest.mark.parametrize("folds", [True, False], ids=["folded", "each"])
@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("codes", [CODES, TWO], ids=["one", "two"])
def test_every_loop_gains_what_it_says(notion, codes, folds, naive):
    """Moves of nodes and of sets of them, annealing with swaps on both: the gains add up to the naive difference.

    With a column for each of 28 groups, changes are kept for one node more and one less, not for every pair.
    """
    level, objective = prepare(GRAPH, codes, 0.6, replace(NOTIONS[notion], folds=folds))
    labels, parts = labels_for(N, 4, 2), labels_for(N, 20, 5)
    coarse, coarse_labels = aggregate(level, parts, objective), labels_for(20, 4, 3)
    for where, begin, onto in ((level, labels, np.arange(N)), (coarse, coarse_labels, parts)):

        def value(found, onto=onto):
            return value_of(naive, found[onto], codes, 0.6, notion)

        for keep in (True, False):
            moved = local_moves(where, begin, objective, None, keep_clusters=keep)
            gain = 0.4 * moved.modularity_change + 0.6 * moved.notion_change
            assert moved.n_moves > 0
            assert gain == pytest.approx(value(moved.labels) - value(begin), abs=1e-9)
        score, terms = objective.score, objective.terms()
        walked = begin.copy()
        clusters = start(where.sites(), walked, 4, score, terms)
        assert where is coarse or caches_pairs(terms.offsets, clusters.cached) == folds
        best, gain = anneal(
            where.sites(), walked, clusters, score, terms, 0.05, 0.001, 3000, 0.5, np.uint64(1)
        )
        assert gain == pytest.approx(value(best) - value(begin), abs=1e-9)
        again = start(where.sites(), walked, 4, score, terms)
        np.testing.assert_array_equal(clusters.table, again.table)
        np.testing.assert_allclose(clusters.parts, again.parts, atol=1e-12)


@pytest.mark.parametrize("notion", NOTIONS)
def test_what_is_kept_of_changes_is_what_they_are(notion, naive):
    """Of every group one node more and one less, in each cluster, after moves that made all of it out of date once."""
    level, objective = prepare(GRAPH, CODES, 0.6, replace(NOTIONS[notion], folds=False))
    score, terms = objective.score, objective.terms()
    labels = labels_for(N, 4, 2)
    clusters = start(level.sites(), labels, 4, score, terms)
    nothing = np.zeros(0, dtype=np.int32)
    climb(level.sites(), labels, clusters, score, terms, np.arange(N), nothing, True, 100, 0.0)
    width, population = objective.population.size + 1, objective.population
    known = clusters.stamps == clusters.version[:, None]
    assert known.sum() > 50

    def adds(row):
        if not row.any():
            return 0.0
        score = naive.cluster_score(row.tolist(), population.tolist(), notion)
        return terms.weights[0] * score * (row.sum() if terms.sized else 1)

    for c, place in zip(*np.nonzero(known), strict=True):
        row = clusters.table[c].copy()
        before = adds(row)
        if place > 0:  # a node without a group changes nothing
            row[(place - 1) % (width - 1)] += 1 if place < width else -1
        assert clusters.cached[c, place] == pytest.approx(adds(row) - before, abs=1e-12)


def test_of_too_many_changes_none_are_kept():
    level, objective = prepare(GRAPH, CODES, 0.5, replace(NOTIONS["balance"], folds=False))
    sites, score, terms = level.sites(), objective.score, objective.terms()
    sizes = [start(sites, labels_for(N, 4, 2), k, score, terms).cached.shape[1] for k in (4, 80_000)]
    assert sizes == [2 * 29 - 1, 0]
    assert start(sites, labels_for(N, 4, 2), 4, score, terms._replace(fairness=0.0)).cached.size == 0


@pytest.mark.parametrize("notion", [notion for notion in NOTIONS if notion != "balance"])
def test_merges_are_those_of_a_naive_greedy(notion, naive):
    level, objective = prepare(GRAPH, CODES, 0.5, notion)
    labels = labels_for(N, 9, 4)

    def value(found):
        return value_of(naive, found, CODES, 0.5, notion)

    for expected in greedy_merges(value, labels, 5):
        k = np.unique(expected).size
        merged = compact(merge_clusters(level, labels, k, k, objective))
        assert value(merged) == pytest.approx(value(expected), abs=1e-9)


def test_table_of_pairs_is_a_dictionary():
    """Few keys that collide, added and taken out thousands of times, never more than the table was made for."""
    rng = np.random.default_rng(0)
    keys, numbers = make_held(40)
    kept: dict[int, int] = {}
    for _ in range(4000):
        key = int(rng.integers(64))
        by = -kept[key] if key in kept else int(rng.integers(1, 4))
        if by > 0 and len(kept) == 40:
            continue
        assert add_number(keys, numbers, key, by) == kept.get(key, 0)
        kept[key] = kept.get(key, 0) + by
        if not kept[key]:
            del kept[key]
        assert all(number_of(keys, numbers, one) == kept.get(one, 0) for one in range(0, 64, 5))
    assert int((keys >= 0).sum()) == len(kept)
