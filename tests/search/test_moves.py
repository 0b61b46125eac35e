"""The compiled moves against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from equigraph.exceptions import GroupsError, ParameterError
from equigraph.refinement.aggregate import aggregate, compact, first_level, scores_of
from equigraph.refinement.exact_k import merge_clusters
from equigraph.refinement.multilevel import climb, local_moves
from equigraph.refinement.objective import make_objective

NOTIONS = ("normalized", "balance", "mouflon")
SETTINGS = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def prepare(adjacency, codes, fairness, notion, resolution=1.0):
    objective, codes, n_groups = make_objective(
        codes,
        None,
        n_nodes=adjacency.shape[0],
        total=float(adjacency.sum()),
        fairness=fairness,
        notion=notion,
        resolution=resolution,
    )
    return first_level(adjacency, codes, n_groups), objective


def codes_for(n, n_groups, seed):
    rng = np.random.default_rng(seed)
    return rng.permutation(np.concatenate([np.arange(n_groups), rng.integers(0, n_groups, n - n_groups)]))


cases = st.fixed_dictionaries(
    {
        "n": st.integers(6, 16),
        "seed": st.integers(0, 10**6),
        "n_groups": st.integers(2, 4),
        "fairness": st.sampled_from([0.0, 0.2, 0.5, 0.9]),
        "notion": st.sampled_from(NOTIONS),
        "resolution": st.sampled_from([0.5, 1.0, 2.0]),
        "n_clusters": st.integers(2, 5),
        "keep_clusters": st.booleans(),
    }
)


@SETTINGS
@given(case=cases)
def test_every_accepted_move_changes_the_objective_as_claimed(case, make_graph, naive):
    n, seed, notion, resolution = case["n"], case["seed"], case["notion"], case["resolution"]
    adjacency, codes = make_graph(n, seed), codes_for(n, case["n_groups"], seed)
    level, objective = prepare(adjacency, codes, case["fairness"], notion, resolution)
    dense = adjacency.toarray()
    labels = compact(np.random.default_rng(seed).integers(0, case["n_clusters"], n))
    before = naive.naive_modularity(dense, labels, resolution), naive.naive_notion(labels, codes, notion)
    value = objective.value(*before)
    for n_moves in range(1, 200):
        moved = local_moves(
            level,
            labels,
            objective,
            np.random.default_rng(1),
            keep_clusters=case["keep_clusters"],
            max_moves=n_moves,
        )
        if moved.n_moves < n_moves:
            break
        q = naive.naive_modularity(dense, moved.labels, resolution)
        fair = naive.naive_notion(moved.labels, codes, notion)
        assert moved.modularity_change == pytest.approx(q - before[0], abs=1e-9)
        if case["fairness"] > 0:
            assert moved.notion_change == pytest.approx(fair - before[1], abs=1e-9)
        assert objective.value(q, fair) > value
        value = objective.value(q, fair)
        if case["keep_clusters"]:
            assert np.unique(moved.labels).size == np.unique(labels).size
    else:
        pytest.fail("no end of moves")


@SETTINGS
@given(case=cases)
def test_gains_are_exact_on_an_aggregated_graph_too(case, make_graph, naive):
    n, seed, notion = case["n"], case["seed"], case["notion"]
    adjacency, codes = make_graph(n, seed), codes_for(n, case["n_groups"], seed)
    level, objective = prepare(adjacency, codes, case["fairness"], notion)
    parts = compact(np.random.default_rng(seed).integers(0, max(n // 2, 2), n))
    coarse = aggregate(level, parts)
    alone = np.arange(coarse.n_nodes)
    moved = local_moves(coarse, alone, objective, np.random.default_rng(0))
    dense = adjacency.toarray()
    start = naive.naive_modularity(dense, parts), naive.naive_notion(parts, codes, notion)
    end = moved.labels[parts]
    assert moved.modularity_change == pytest.approx(naive.naive_modularity(dense, end) - start[0], abs=1e-9)
    if case["fairness"] > 0:
        change = naive.naive_notion(end, codes, notion) - start[1]
        assert moved.notion_change == pytest.approx(change, abs=1e-9)


@SETTINGS
@given(case=cases)
def test_no_single_move_to_a_neighbour_improves_the_end(case, make_graph, naive):
    n, seed, notion, fairness = case["n"], case["seed"], case["notion"], case["fairness"]
    adjacency, codes = make_graph(n, seed), codes_for(n, case["n_groups"], seed)
    level, objective = prepare(adjacency, codes, fairness, notion)
    labels, _ = climb(level, np.arange(n), objective, np.random.default_rng(seed))
    dense = adjacency.toarray()
    best = naive.naive_objective(dense, labels, codes, fairness, notion)
    assert best == pytest.approx(objective.value(*scores_of(level, labels, objective)), abs=1e-9)
    for node in range(n):
        for cluster in {labels[j] for j in np.flatnonzero(dense[node])} | {labels.max() + 1}:
            other = labels.copy()
            other[node] = cluster
            assert naive.naive_objective(dense, other, codes, fairness, notion) <= best + 1e-9


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("fairness", [0.0, 0.4])
def test_merging_takes_the_best_pair_each_time(notion, fairness, make_graph, naive):
    for seed in range(5):
        adjacency, codes = make_graph(12, seed), codes_for(12, 3, seed)
        level, objective = prepare(adjacency, codes, fairness, notion)
        labels = compact(np.random.default_rng(seed).integers(0, 6, 12))
        count = labels.max() + 1
        dense = adjacency.toarray()
        values = []
        for a in range(count):
            for b in range(a):
                pair = np.where(labels == a, b, labels)
                values.append(naive.naive_objective(dense, pair, codes, fairness, notion))
        merged = merge_clusters(level, labels, count - 1, count - 1, objective)
        assert np.unique(merged).size == count - 1
        value = naive.naive_objective(dense, merged, codes, fairness, notion)
        assert value == pytest.approx(max(values), abs=1e-9)


def test_merging_within_a_range_keeps_the_best_moment(make_graph, naive):
    adjacency, codes = make_graph(20, 3), codes_for(20, 2, 3)
    level, objective = prepare(adjacency, codes, 0.3, "normalized")
    labels = np.arange(20)
    dense = adjacency.toarray()

    def value(found):
        return naive.naive_objective(dense, found, codes, 0.3, "normalized")

    path = [value(merge_clusters(level, labels, k, k, objective)) for k in range(2, 20)]
    best = merge_clusters(level, labels, 2, 20, objective)
    assert value(best) == pytest.approx(max(path), abs=1e-9)


def test_lexicographic_dial_prefers_the_notion_and_breaks_ties_by_modularity():
    # Two cliques of four, each with one pair per group: any split is as fair as the cliques, no split as cohesive.
    from equigraph.graph import check_adjacency

    dense = np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))
    codes = np.tile([0, 1], 4)
    level, objective = prepare(check_adjacency(dense), codes, 1.0, "normalized")
    scrambled = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    labels, _ = climb(level, scrambled, objective, np.random.default_rng(0))
    assert labels.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_bad_codes_and_parameters_are_named(make_graph):
    adjacency = make_graph(6, 0)
    with pytest.raises(ParameterError, match="notion='parity'"):
        prepare(adjacency, np.arange(6) % 2, 0.5, "parity")
    with pytest.raises(ParameterError, match="fairness"):
        prepare(adjacency, np.arange(6) % 2, 1.5, "balance")
    with pytest.raises(GroupsError, match="Group 1 has no node"):
        prepare(adjacency, np.arange(6) % 2 * 2, 0.5, "balance")
    with pytest.raises(GroupsError, match="shape"):
        prepare(adjacency, np.arange(5) % 2, 0.5, "balance")
