"""The compiled annealing against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from equigraph.search.kernels.anneal import anneal, by_cluster, kick, shift, typical_change, weight_between
from equigraph.search.kernels.state import start as make_clusters
from equigraph.search.levels import aggregate, compact
from tests.reference.label_fixtures import SETTINGS, codes_for, labels_for, prepare
from tests.reference.labels_objective import NOTIONS


def run(level, labels, n_clusters, objective, *, hot=0.1, cold=1e-4, n_steps=400, swaps=0.3, seed=0):
    """Anneal a copy, and return the best labels, their gain and where the walk ended."""
    walk, sites, terms = labels.copy(), level.sites(), objective.terms()
    clusters = make_clusters(sites, walk, n_clusters, objective.score, terms)
    best, gain = anneal(
        sites, walk, clusters, objective.score, terms, hot, cold, n_steps, swaps, np.uint64(seed)
    )
    return best, gain, walk


def scale(level, labels, n_clusters, objective, n_trials, seed):
    sites, terms = level.sites(), objective.terms()
    clusters = make_clusters(sites, labels, n_clusters, objective.score, terms)
    return typical_change(sites, labels, clusters, objective.score, terms, n_trials, np.uint64(seed))


cases = st.fixed_dictionaries(
    {
        "n": st.integers(8, 18),
        "seed": st.integers(0, 10**6),
        "n_groups": st.integers(2, 4),
        "n_clusters": st.integers(2, 5),
        "fairness": st.floats(0, 0.97),
        "notion": st.sampled_from(NOTIONS),
        "hot": st.sampled_from([0.0, 1e-3, 0.1]),
        "swaps": st.sampled_from([0.0, 0.3, 1.0]),
        "n_steps": st.sampled_from([1, 20, 500]),
    }
)


@SETTINGS
@given(case=cases)
def test_the_gain_is_the_change_of_the_objective(case, make_graph, naive):
    n, seed, k, fairness, notion = (case[name] for name in ("n", "seed", "n_clusters", "fairness", "notion"))
    adjacency, codes = make_graph(n, seed), codes_for(n, case["n_groups"], seed)
    level, objective = prepare(adjacency, codes, fairness, notion)
    start = labels_for(n, k, seed)
    best, gain, walk = run(
        level, start, k, objective, hot=case["hot"], n_steps=case["n_steps"], swaps=case["swaps"], seed=seed
    )
    dense = adjacency.toarray()
    before, after, end = (
        naive.naive_objective(dense, found, codes, fairness, notion) for found in (start, best, walk)
    )
    assert gain == pytest.approx(after - before, abs=1e-9)
    assert gain >= 0
    assert end <= after + 1e-9
    if case["hot"] == 0:
        assert end >= before - 1e-9
    for found in (best, walk):
        assert (np.bincount(found, minlength=k) > 0).all()
        assert found.max() < k
    if case["swaps"] == 1:
        np.testing.assert_array_equal(np.bincount(walk, minlength=k), np.bincount(start, minlength=k))


@SETTINGS
@given(case=cases)
def test_the_gain_is_exact_on_super_nodes(case, make_graph, naive):
    n, seed, fairness, notion = (case[name] for name in ("n", "seed", "fairness", "notion"))
    adjacency, codes = make_graph(n, seed), codes_for(n, case["n_groups"], seed)
    level, objective = prepare(adjacency, codes, fairness, notion)
    parts = compact(np.random.default_rng(seed).integers(0, n // 2, n))
    coarse = aggregate(level, parts, objective)
    k = min(case["n_clusters"], coarse.n_nodes)
    start = labels_for(coarse.n_nodes, k, seed)
    best, gain, _ = run(
        coarse, start, k, objective, hot=case["hot"], n_steps=case["n_steps"], swaps=case["swaps"], seed=seed
    )
    dense = adjacency.toarray()
    before, after = (
        naive.naive_objective(dense, found[parts], codes, fairness, notion) for found in (start, best)
    )
    assert gain == pytest.approx(after - before, abs=1e-9)
    assert np.unique(best).size == k


@SETTINGS
@given(case=cases, slack=st.integers(0, 3))
def test_sizes_stay_within_bounds(case, slack, make_graph):
    n, seed, k = case["n"], case["seed"], case["n_clusters"]
    adjacency, codes = make_graph(n, seed), codes_for(n, case["n_groups"], seed)
    least, most = max(n // k - slack, 1), -(-n // k) + slack
    level, objective = prepare(adjacency, codes, case["fairness"], case["notion"], least=least, most=most)
    for found in run(level, labels_for(n, k, seed), k, objective, hot=0.5, n_steps=800, seed=seed)[::2]:
        sizes = np.bincount(found, minlength=k)
        assert sizes.min() >= least
        assert sizes.max() <= most


@pytest.mark.parametrize("notion", NOTIONS)
def test_a_long_hot_run_does_not_drift(notion, make_graph, naive):
    """Volumes, counts and scores are updated in place by 100,000 proposals, most of them taken back."""
    adjacency, codes = make_graph(16, 4), codes_for(16, 3, 4)
    level, objective = prepare(adjacency, codes, 0.5, notion)
    start, dense = labels_for(16, 3, 4), adjacency.toarray()
    best, gain, _ = run(level, start, 3, objective, hot=1.0, cold=1e-3, n_steps=100_000)
    before, after = (naive.naive_objective(dense, found, codes, 0.5, notion) for found in (start, best))
    assert gain == pytest.approx(after - before, abs=1e-9)
    assert gain > 0.1


def test_a_swap_of_two_neighbours_counts_their_edge(naive):
    """Two nodes on a heavy edge: swapping them must not count the edge as won by both."""
    from equigraph.graph import check_adjacency

    dense = np.zeros((6, 6))
    for i, j, w in [(0, 1, 1), (0, 2, 1), (3, 4, 1), (3, 5, 1), (0, 3, 50)]:
        dense[i, j] = dense[j, i] = w
    codes = np.tile([0, 1], 3)
    level, objective = prepare(check_adjacency(dense), codes, 0.0, "normalized")
    start = np.array([0, 0, 0, 1, 1, 1], dtype=np.int32)
    for seed in range(30):
        best, gain, _ = run(level, start, 2, objective, hot=1.0, cold=1.0, n_steps=5, swaps=1.0, seed=seed)
        change = naive.naive_modularity(dense, best) - naive.naive_modularity(dense, start)
        assert gain == pytest.approx(change, abs=1e-12)


def test_same_seed_same_labels_and_no_global_state(make_graph):
    adjacency, codes = make_graph(60, 1), codes_for(60, 3, 1)
    level, objective = prepare(adjacency, codes, 0.4, "normalized")
    start = labels_for(60, 4, 1)
    np.random.seed(5)  # noqa: NPY002
    before = np.random.get_state()  # noqa: NPY002
    runs = [run(level, start, 4, objective, n_steps=300, hot=1.0, cold=0.5, seed=s)[2] for s in (7, 7, 8, 9)]
    after = np.random.get_state()  # noqa: NPY002
    np.testing.assert_array_equal(runs[0], runs[1])
    assert len({one.tobytes() for one in runs}) == 3
    assert before[2] == after[2]
    np.testing.assert_array_equal(before[1], after[1])


def test_annealing_finds_more_than_climbing(make_skewed):
    adjacency, codes = make_skewed(0)
    level, objective = prepare(adjacency, codes, 0.3, "normalized")
    start = labels_for(codes.size, 3, 0)
    climbs = [run(level, start, 3, objective, hot=0.0, cold=0.0, n_steps=20_000, seed=s)[1] for s in range(3)]
    anneals = [
        run(level, start, 3, objective, hot=0.02, cold=1e-5, n_steps=60_000, seed=s)[1] for s in range(3)
    ]
    assert np.mean(anneals) > np.mean(climbs)


def test_no_steps_change_nothing(make_graph):
    level, objective = prepare(make_graph(10, 0), codes_for(10, 2, 0), 0.5, "balance")
    start = labels_for(10, 3, 0)
    best, gain, walk = run(level, start, 3, objective, n_steps=0)
    assert gain == 0
    np.testing.assert_array_equal(best, start)
    np.testing.assert_array_equal(walk, start)


def test_tiny_graphs_of_all_shapes(tiny, naive):
    codes = np.tile([0, 1], 6)
    start = labels_for(12, 3, 0)
    for notion in NOTIONS:
        level, objective = prepare(tiny, codes, 0.5, notion)
        best, gain, _ = run(level, start, 3, objective, n_steps=500)
        before, after = (
            naive.naive_objective(tiny.toarray(), found, codes, 0.5, notion) for found in (start, best)
        )
        assert gain == pytest.approx(after - before, abs=1e-9)
        assert np.unique(best).size == 3


@settings(SETTINGS, max_examples=80)
@given(
    n=st.integers(4, 40),
    k=st.integers(2, 8),
    seed=st.integers(0, 10**6),
    data=st.data(),
    density=st.floats(0, 0.5),
)
def test_a_kick_keeps_all_clusters(n, k, seed, data, density, make_graph):
    k = min(k, n)
    least = data.draw(st.integers(1, n // k))
    level, _ = prepare(make_graph(n, seed, density), codes_for(n, 2, seed), 0.5, "normalized")
    labels = labels_for(n, k, seed)
    kept = labels.copy()
    kicked = kick(level.sites(), labels, k, least, np.uint64(seed))
    np.testing.assert_array_equal(labels, kept)
    sizes = np.bincount(kicked, minlength=k)
    assert sizes.size == k
    assert sizes.min() >= least
    np.testing.assert_array_equal(kick(level.sites(), labels, k, least, np.uint64(seed)), kicked)


def test_kicks_differ_and_stay_near(make_graph):
    level, _ = prepare(make_graph(200, 0, 0.05), codes_for(200, 2, 0), 0.5, "normalized")
    labels = labels_for(200, 5, 0)
    kicked = [kick(level.sites(), labels, 5, 1, np.uint64(seed)) for seed in range(20)]
    moved = [int(np.count_nonzero(one != labels)) for one in kicked]
    assert len({one.tobytes() for one in kicked}) >= 18
    assert min(moved) > 0
    assert max(moved) <= 2 * 200 // 5 + 5


@SETTINGS
@given(case=cases)
def test_the_scale_of_temperatures(case, make_graph, naive):
    n, seed, k, fairness, notion = (case[name] for name in ("n", "seed", "n_clusters", "fairness", "notion"))
    adjacency, codes = make_graph(n, seed), codes_for(n, case["n_groups"], seed)
    level, objective = prepare(adjacency, codes, fairness, notion)
    labels = labels_for(n, k, seed)
    unit = scale(level, labels, k, objective, 3000, seed)
    dense = adjacency.toarray()
    here = naive.naive_objective(dense, labels, codes, fairness, notion)
    changes = []
    # A move that empties a cluster is weighed with it; balance then averages over k clusters, the empty one as 0.
    assume((np.bincount(labels, minlength=k) > 1).all())
    for node in range(n):
        for cluster in range(k):
            if cluster != labels[node]:
                other = labels.copy()
                other[node] = cluster
                changes.append(abs(naive.naive_objective(dense, other, codes, fairness, notion) - here))
    mean = float(np.mean(changes))
    assert unit == pytest.approx(mean, rel=0.25, abs=1e-12)
    if mean > 1e-9:
        assert unit > 0


def test_the_scale_is_zero_where_nothing_changes():
    from equigraph.graph import check_adjacency

    level, objective = prepare(check_adjacency(np.zeros((8, 8))), np.tile([0, 1], 4), 0.0, "normalized")
    assert scale(level, labels_for(8, 2, 0), 2, objective, 100, 0) == 0


@SETTINGS
@given(
    case=cases,
    cap=st.sampled_from([0.4, 0.7, 0.95]),
    n_unknown=st.sampled_from([0, 3]),
    n_attributes=st.integers(1, 3),
)
def test_gains_with_a_cap_several_attributes_and_nodes_without_a_group(
    case, cap, n_unknown, n_attributes, make_graph, naive
):
    n, seed, k, fairness, notion = (case[name] for name in ("n", "seed", "n_clusters", "fairness", "notion"))
    if notion == "balance":
        n_unknown = 0
    weights = np.array([2.0, 1.0, 0.5][:n_attributes])
    codes = np.column_stack(
        [codes_for(n, case["n_groups"], seed + a, n_unknown * (a == 0)) for a in range(n_attributes)]
    )
    adjacency = make_graph(n, seed)
    level, objective = prepare(adjacency, codes, fairness, notion, weights=weights, cap=cap)
    start = labels_for(n, k, seed)
    options = {"hot": case["hot"], "n_steps": case["n_steps"], "swaps": case["swaps"], "seed": seed}
    best, gain, walk = run(level, start, k, objective, **options)
    before, after, end = (
        naive.naive_objective(adjacency.toarray(), found, codes, fairness, notion, weights=weights, cap=cap)
        for found in (start, best, walk)
    )
    assert gain == pytest.approx(after - before, abs=1e-9)
    assert end <= after + 1e-9


@settings(SETTINGS, max_examples=40)
@given(n=st.integers(3, 30), k=st.integers(2, 6), seed=st.integers(0, 10**6))
def test_the_members_of_each_cluster_stay_listed(n, k, seed):
    """Sites sorted by cluster, with the place of each, while single ones are shifted about."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n).astype(np.int32)
    members, place, ends = by_cluster(labels, k)
    for _ in range(30):
        starts = np.concatenate([[0], ends[:-1]])
        for cluster in range(k):
            listed = members[starts[cluster] : ends[cluster]]
            assert sorted(listed) == np.flatnonzero(labels == cluster).tolist()
        np.testing.assert_array_equal(members[place], np.arange(n))
        site, target = int(rng.integers(n)), int(rng.integers(k))
        shift(members, place, ends, site, int(labels[site]), target)
        labels[site] = target


def test_the_weight_between_two_nodes(make_graph):
    adjacency = make_graph(15, 3)
    dense = adjacency.toarray()
    found = [
        [weight_between(adjacency.indptr, adjacency.indices, adjacency.data, i, j) for j in range(15)]
        for i in range(15)
    ]
    np.testing.assert_array_equal(found, dense)
