"""Search on large graphs: its compiled passes against the definitions, and its results on graphs made small for it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

import equigraph as eg
from equigraph.callbacks import Notifier
from equigraph.refinement import LabelProblem, Refiner, large
from equigraph.refinement.aggregate import aggregate, compact, first_level
from equigraph.refinement.coarsen import coarsen
from equigraph.refinement.large import LargeSearch, cluster_weights, is_large, make_search
from equigraph.refinement.large_kernels import climb_few, spread
from equigraph.refinement.multilevel import sites_of, terms_of
from equigraph.refinement.search import Search

NOTIONS = ("normalized", "balance", "mouflon")
SETTINGS = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

cases = st.fixed_dictionaries(
    {
        "n": st.integers(8, 18),
        "seed": st.integers(0, 10**6),
        "n_groups": st.integers(2, 4),
        "fairness": st.sampled_from([0.0, 0.2, 0.5, 0.9]),
        "notion": st.sampled_from(NOTIONS),
        "k": st.integers(2, 5),
    }
)


def setting_of(case, make_graph, size_bounds=None):
    """Return a graph, groups, labels with k clusters and the search of a case."""
    rng = np.random.default_rng(case["seed"])
    n, k = case["n"], case["k"]
    codes = rng.permutation(np.arange(n) % case["n_groups"])
    labels = rng.permutation(np.arange(n) % k)
    adjacency = make_graph(n, case["seed"])
    search = LargeSearch(adjacency, codes, k, notion=case["notion"], size_bounds=size_bounds)
    return adjacency, codes, labels, search


def run_climb(search, labels, fairness, *, max_passes=200, least_gain=0.0):
    labels = labels.astype(np.uint8)
    terms = terms_of(search.at(fairness))
    told = climb_few(
        sites_of(search.ground), search._codes, labels, search.n_clusters, terms, max_passes, least_gain
    )
    return labels, told


@SETTINGS
@given(case=cases)
def test_the_gain_of_a_climb_is_the_change_of_the_objective(case, make_graph, naive):
    adjacency, codes, labels, search = setting_of(case, make_graph)
    fairness = case["fairness"]

    def value(labels):
        return naive.naive_objective(adjacency.toarray(), labels, codes, fairness, case["notion"])

    for max_passes in (1, 2, 200):
        climbed, (n_moves, n_visits, gain) = run_climb(search, labels, fairness, max_passes=max_passes)
        assert gain == pytest.approx(value(climbed) - value(labels), abs=1e-9)
        assert (n_moves > 0) == (gain > 0)
        assert n_visits <= max_passes * case["n"]
        assert np.unique(climbed).size == case["k"]


@SETTINGS
@given(case=cases)
def test_no_single_move_raises_the_objective_after_a_climb(case, make_graph, naive):
    adjacency, codes, labels, search = setting_of(case, make_graph)
    fairness = case["fairness"]
    climbed, _ = run_climb(search, labels, fairness)
    dense = adjacency.toarray()
    best = naive.naive_objective(dense, climbed, codes, fairness, case["notion"])
    for node in range(case["n"]):
        for cluster in range(case["k"]):
            other = climbed.copy()
            other[node] = cluster
            if np.unique(other).size == case["k"]:
                value = naive.naive_objective(dense, other, codes, fairness, case["notion"])
                assert value <= best + 1e-9


@SETTINGS
@given(case=cases)
def test_a_climb_keeps_sizes_within_bounds(case, make_graph):
    n, k = case["n"], case["k"]
    bounds = n // k, -(-n // k) + 1
    _, _, labels, search = setting_of(case, make_graph, size_bounds=bounds)
    sizes = np.bincount(run_climb(search, labels, case["fairness"])[0], minlength=k)
    assert sizes.min() >= bounds[0]
    assert sizes.max() <= bounds[1]


@SETTINGS
@given(case=cases)
def test_weights_and_scores_are_those_of_the_definitions(case, make_graph, naive):
    adjacency, codes, labels, search = setting_of(case, make_graph)
    onehot = np.eye(case["k"])[labels]
    dense = adjacency.toarray()
    np.testing.assert_allclose(cluster_weights(adjacency, labels, case["k"]), onehot.T @ dense @ onehot)
    told = search.score(labels)
    assert told[0] == pytest.approx(naive.naive_modularity(dense, labels), abs=1e-12)
    assert told[1] == pytest.approx(naive.naive_notion(labels, codes, case["notion"]), abs=1e-12)


@SETTINGS
@given(case=cases)
def test_aggregation_is_a_product_with_the_indicators(case, make_graph):
    adjacency, codes, labels, search = setting_of(case, make_graph)
    coarse = aggregate(search.ground, labels)
    onehot = np.eye(case["k"])[labels]
    # In units of the largest weight, as the search has them.
    expected = onehot.T @ (adjacency.toarray() / adjacency.data.max()) @ onehot
    np.testing.assert_allclose(coarse.graph.toarray(), expected - np.diag(np.diag(expected)), atol=1e-11)
    np.testing.assert_allclose(coarse.strength, expected.sum(axis=1), rtol=1e-11)
    np.testing.assert_array_equal(coarse.counts, (onehot.T @ np.eye(case["n_groups"])[codes]).astype(int))
    assert coarse.graph.has_sorted_indices
    assert coarse.graph.indices.dtype == search.ground.graph.indices.dtype


@pytest.mark.parametrize("seed", range(5))
def test_parts_stay_within_cells_and_below_the_bound(seed, make_graph):
    adjacency = make_graph(80, seed, 0.05)
    level = first_level(adjacency, np.zeros(80, dtype=int), 1)
    cells = (np.arange(80) % 2).astype(np.int32)
    most = 0.2 * level.strength.sum()
    parts = spread(sites_of(level, cells), most, 3)
    strengths = np.bincount(parts, weights=level.strength)
    assert strengths.max() <= max(most, level.strength.max())
    assert all(np.unique(cells[parts == part]).size == 1 for part in np.unique(parts))
    assert np.unique(parts).size < 60


def test_without_cells_the_whole_graph_is_one_cell(make_graph):
    level = first_level(make_graph(60, 0, 0.05), np.zeros(60, dtype=int), 1)
    one_cell = coarsen(level, np.zeros(60, dtype=np.int32), 6)[0]
    np.testing.assert_array_equal(coarsen(level, None, 6)[0], one_cell)


def scattered(n_pairs, n_leaves, n_alone):
    """Return many components of two nodes, a star, and nodes without edges."""
    pairs = np.kron(np.eye(n_pairs), [[0.0, 1.0], [1.0, 0.0]])
    star = np.zeros((n_leaves + 1, n_leaves + 1))
    star[0, 1:] = star[1:, 0] = 1
    return sparse.csr_array(sparse.block_diag([pairs, star, sparse.csr_array((n_alone, n_alone))]))


def test_what_is_left_over_is_packed_within_cells():
    adjacency = scattered(200, 300, 300)
    n = adjacency.shape[0]
    rng = np.random.default_rng(0)
    codes, cells = rng.integers(0, 3, n), rng.integers(0, 2, n).astype(np.int32)
    level = first_level(adjacency, codes, 3)
    parts, coarse = coarsen(level, cells, 20)
    assert 20 <= coarse.n_nodes <= 200
    assert all(np.unique(cells[parts == part]).size == 1 for part in range(coarse.n_nodes))
    np.testing.assert_array_equal(coarse.counts.sum(axis=0), np.bincount(codes))
    # Nodes without edges serve fairness best in parts of one group.
    alone = np.unique(parts[-300:])
    purity = coarse.counts[alone].max(axis=1).sum() / coarse.counts[alone].sum()
    assert purity > 0.9


def planted(n=3000, k=5, seed=0):
    mix = np.array([np.roll([0.6, 0.2, 0.2], cluster % 3) for cluster in range(k)])
    data = eg.datasets.make_planted_graph(n, k, mean_degree=20, group_mix=mix, random_state=seed)
    return data.adjacency, np.unique(data.sensitive_features, return_inverse=True)[1], data.target


@pytest.fixture
def everything_is_large(monkeypatch):
    monkeypatch.setattr(large, "LARGE_NODES", 1)


def test_where_a_graph_begins_to_be_large():
    many = sparse.csr_array((large.LARGE_NODES, large.LARGE_NODES))
    few = sparse.csr_array((large.LARGE_NODES - 1, large.LARGE_NODES - 1))
    assert is_large(many)
    assert not is_large(few)
    assert type(make_search(few, None, 2)) is Search
    assert type(make_search(many, None, 2)) is LargeSearch


@pytest.mark.parametrize("starts", [0, 1])
def test_planted_clusters_are_found_from_below_alone_and_with_a_random_start(starts):
    adjacency, codes, target = planted()
    random = [np.random.default_rng(0).integers(0, 5, target.size)] * starts
    labels = LargeSearch(adjacency, codes, 5).solve([0.0], random)[0]
    assert eg.metrics.clustering_accuracy(target, labels) > 0.99


@pytest.mark.parametrize("notion", NOTIONS)
def test_along_the_dial_fairness_rises(notion):
    adjacency, codes, target = planted()
    search = LargeSearch(adjacency, codes, 5, notion=notion)
    values = [0.0, 0.3, 0.6, 1.0]
    found = [search.score(labels) for labels in search.solve(values, [target])]
    fair = [one[1] for one in found]
    # At 1 the notion may fall by the tolerance of its order.
    assert all(high >= low - 1e-12 for low, high in itertools.pairwise(fair[:-1]))
    assert fair[-1] > fair[0] + 0.1
    assert found[0][0] == pytest.approx(eg.metrics.modularity_score(adjacency, target), abs=0.002)


def test_the_result_is_at_least_that_of_the_long_search_where_clusters_must_be_merged():
    adjacency, codes, target = planted(k=6)
    quick, long = (
        kind(adjacency, codes, 6, seed=0).solve([0.5], [target])[0] for kind in (LargeSearch, Search)
    )
    judge = Search(adjacency, codes, 6)
    values = [judge.at(0.5).value(*judge.score(labels)) for labels in (quick, long)]
    assert values[0] > values[1] - 0.02


@pytest.mark.parametrize("n_found", [2, 3, 9])
@pytest.mark.parametrize("effort", [0, 1])
@pytest.mark.parametrize("most_few", [256, 2])
def test_exactly_k_clusters_from_any_start(n_found, effort, most_few, monkeypatch):
    monkeypatch.setattr(large, "MOST_FEW", most_few)
    adjacency, codes, _ = planted(n=1000)
    start = np.arange(1000) % n_found
    labels = LargeSearch(adjacency, codes, 5, effort=effort).solve([0.4], [start])[0]
    assert np.unique(labels).tolist() == list(range(5))


@pytest.mark.parametrize("k", [30, 300, 999])
def test_more_clusters_than_parts_would_give(k):
    adjacency, codes, _ = planted(n=1000)
    labels = LargeSearch(adjacency, codes, k, seed=0).solve([0.0])[0]
    assert np.unique(labels).size == k
    assert np.unique(LargeSearch(adjacency, codes, k)._from_parts(np.random.default_rng(0))).size == k


def test_without_effort_the_result_is_never_worse_than_the_start(everything_is_large):
    adjacency, codes, target = planted(n=1000)
    problem = LabelProblem(adjacency, codes, 5)
    judge = LargeSearch(adjacency, codes, 5)
    for fairness in (0.0, 0.5, 1.0):
        found = Refiner(0).refine(problem, [fairness], [target], Notifier())[0]
        before, after = (judge.at(fairness).value(*judge.score(labels)) for labels in (target, found))
        assert after >= before - (0.01 if fairness == 1 else 1e-12)


@pytest.mark.parametrize("bounds", [(150, 250), (200, 200)])
def test_size_bounds_are_met(bounds, everything_is_large):
    adjacency, codes, _ = planted(n=1000)
    start = np.random.default_rng(0).integers(0, 5, 1000)
    labels = eg.refine_labels(
        adjacency,
        start,
        sensitive_features=codes,
        size_bounds=bounds,
        effort=1,
        random_state=0,
        fairness=0.3,
    )
    sizes = np.bincount(labels, minlength=5)
    assert sizes.min() >= bounds[0]
    assert sizes.max() <= bounds[1]
    assert eg.metrics.modularity_score(adjacency, labels) > 0.2


@pytest.mark.parametrize("k", [2, 7])
@pytest.mark.parametrize("fairness", [0.0, 0.6])
def test_graphs_of_odd_shapes(k, fairness):
    adjacency = scattered(200, 300, 300)
    codes = np.random.default_rng(0).integers(0, 3, adjacency.shape[0])
    search = LargeSearch(adjacency, codes, k)
    labels = search.solve([fairness])[0]
    assert np.unique(labels).tolist() == list(range(k))
    assert search.score(labels)[0] > (0.1 if k == 2 else 0.3)
    assert search.score(labels)[1] > 0.9 * (fairness > 0)


def test_graphs_without_edges():
    labels = LargeSearch(sparse.csr_array((500, 500)), np.arange(500) % 2, 4).solve([0.5])[0]
    assert np.unique(labels).size == 4


def test_same_seed_same_labels():
    adjacency, codes, _ = planted()
    first, again = (LargeSearch(adjacency, codes, 4, seed=3).solve([0.5])[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_the_unit_of_weights_does_not_matter():
    adjacency, codes, _ = planted(n=1000)
    weighted = adjacency.copy()
    rows, columns = weighted.nonzero()
    weighted.data = 1.0 + (rows * columns % 7)
    first, other = (LargeSearch(weighted * unit, codes, 4).solve([0.3])[0] for unit in (1.0, 1e-3))
    np.testing.assert_array_equal(first, other)


def test_a_callback_stops_and_the_labels_are_whole():
    adjacency, codes, _ = planted(n=1000)
    told = []

    def stop(progress):
        told.append(progress)
        return True

    labels = LargeSearch(adjacency, codes, 4).solve([0.5], notify=Notifier(stop))[0]
    assert told
    assert np.unique(compact(labels)).size == 4
