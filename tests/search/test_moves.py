"""The compiled moves of single sites against the definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from equigraph.exceptions import GroupsError, ParameterError
from equigraph.search.kernels.climb import MOST_DENSE
from equigraph.search.kernels.climb import climb as climb_kernel
from equigraph.search.kernels.state import start
from equigraph.search.levels import aggregate, compact, compact_pairs, scores_of
from equigraph.search.multilevel import climb, local_moves
from equigraph.search.objective import make_objective
from tests.reference.label_fixtures import SETTINGS, codes_for, labels_for, prepare
from tests.reference.labels_objective import NOTIONS
from tests.reference.naive_steps import best_move

EVERYTHING = np.zeros(0, dtype=np.int32)


@st.composite
def cases(draw):
    """Return everything that a move depends on.

    A plain mean over clusters is drawn with a group for every node: a cluster without any would count in one place and
    not in the other.
    """
    n = draw(st.integers(6, 14))
    seed = draw(st.integers(0, 10**6))
    notion = draw(st.sampled_from(NOTIONS))
    n_unknown = 0 if notion == "balance" else draw(st.sampled_from([0, 0, 2]))
    n_attributes = draw(st.integers(1, 3))
    columns = [
        codes_for(n, draw(st.integers(2, 4)), seed + a, n_unknown if a == 0 else 0)
        for a in range(n_attributes)
    ]
    return {
        "n": n,
        "seed": seed,
        "notion": notion,
        "codes": np.column_stack(columns),
        "weights": np.array([1.0, 0.5, 3.0][:n_attributes]),
        "fairness": draw(st.sampled_from([0.0, 0.2, 0.5, 0.9])),
        "resolution": draw(st.sampled_from([0.5, 1.0, 2.0])),
        "cap": draw(st.sampled_from([np.inf, 0.5, 0.9])),
        "k": draw(st.integers(2, 5)),
    }


def problem_of(case, make_graph, **bounds):
    """Return the dense graph, the level, the objective and its naive value."""
    adjacency = make_graph(case["n"], case["seed"])
    names = ("fairness", "notion", "resolution", "weights", "cap")
    options = {name: case[name] for name in names}
    level, objective = prepare(adjacency, case["codes"], **options, **bounds)
    return adjacency.toarray(), level, objective


def parts_of_value(case, dense, labels, naive):
    """Return Q, and the notion up to the cap."""
    notion = naive.naive_notion(labels, case["codes"], case["notion"], case["weights"])
    return naive.naive_modularity(dense, labels, case["resolution"]), min(notion, case["cap"])


def value_of(case, dense, naive):
    def value(labels):
        q, fair = parts_of_value(case, dense, labels, naive)
        return (1 - case["fairness"]) * q + case["fairness"] * fair

    return value


def visit(level, labels, objective, site, n_slots, *, within=EVERYTHING, fixed):
    """Let the kernel visit one site once; return new labels, and what it says."""
    labels = labels.astype(np.int32)
    sites, terms = level.sites(), objective.terms()
    clusters = start(sites, labels, n_slots, objective.score, terms)
    told = climb_kernel(
        sites, labels, clusters, objective.score, terms, np.array([site]), within, fixed, 1, 0.0
    )
    return labels, told


def check_visit(case, dense, naive, labels, moved, told, expected):
    """The move is the best one if there is a gain, and nothing moves otherwise; what is told is what happened."""
    n_moves, gain_q, gain_n = told
    before, after = (parts_of_value(case, dense, one, naive) for one in (labels, moved))
    assert gain_q == pytest.approx(after[0] - before[0], abs=1e-9)
    if case["fairness"] > 0:
        assert gain_n == pytest.approx(after[1] - before[1], abs=1e-9)
    gain = (1 - case["fairness"]) * gain_q + case["fairness"] * gain_n
    if expected > 1e-9:
        assert n_moves == 1
        assert gain == pytest.approx(expected, abs=1e-9)
    elif expected < -1e-9:
        assert n_moves == 0
        np.testing.assert_array_equal(moved, labels)
    assert n_moves == np.count_nonzero(moved != labels)


@SETTINGS
@given(case=cases(), slack=st.sampled_from([None, 0, 1, 2]))
def test_with_k_fixed_the_best_of_all_clusters_is_taken(case, slack, make_graph, naive):
    n, k = case["n"], case["k"]
    least, most = (1, n) if slack is None else (max(n // k - slack, 1), -(-n // k) + slack)
    dense, level, objective = problem_of(case, make_graph, least=least, most=most)
    labels, value = labels_for(n, k, case["seed"]), value_of(case, dense, naive)
    sizes = np.bincount(labels)
    everywhere = case["fairness"] > 0 or least > 1 or most < n
    for site in range(n):
        near = range(k) if everywhere else {labels[j] for j in np.flatnonzero(dense[site])}
        candidates = [c for c in near if c != labels[site] and sizes[c] < most]
        if sizes[labels[site]] <= max(least, 1):
            candidates = []
        moved, told = visit(level, labels, objective, site, k, fixed=True)
        check_visit(case, dense, naive, labels, moved, told, best_move(value, labels, site, candidates))


@SETTINGS
@given(case=cases(), bounded=st.booleans())
def test_with_k_free_the_best_of_the_neighbours_or_a_new_cluster_is_taken(case, bounded, make_graph, naive):
    n = case["n"]
    dense, level, objective = problem_of(case, make_graph)
    labels, value = labels_for(n, case["k"], case["seed"]), value_of(case, dense, naive)
    cells = labels_for(n, 2, case["seed"] + 5) if bounded else np.zeros(n, dtype=np.int32)
    labels = compact_pairs(cells, labels)
    for site in range(n):
        near = {labels[j] for j in np.flatnonzero(dense[site]) if cells[j] == cells[site]}
        if np.count_nonzero(labels == labels[site]) > 1:
            near |= {labels.max() + 1}
        within = cells if bounded else EVERYTHING
        moved, told = visit(level, labels, objective, site, n, within=within, fixed=False)
        expected = best_move(value, labels, site, near - {labels[site]})
        check_visit(case, dense, naive, labels, moved, told, expected)


@SETTINGS
@given(case=cases(), fixed=st.booleans())
def test_after_many_moves_gains_and_clusters_are_those_of_the_labels(case, fixed, make_graph, naive):
    dense, level, objective = problem_of(case, make_graph)
    labels = labels_for(case["n"], case["k"], case["seed"])
    before = parts_of_value(case, dense, labels, naive)
    sites, terms = level.sites(), objective.terms()
    n_slots = case["k"] if fixed else case["n"]
    clusters = start(sites, labels, n_slots, objective.score, terms)
    _, gain_q, gain_n = climb_kernel(
        sites, labels, clusters, objective.score, terms, np.arange(case["n"]), EVERYTHING, fixed, 100, 0.0
    )
    after = parts_of_value(case, dense, labels, naive)
    assert gain_q == pytest.approx(after[0] - before[0], abs=1e-9)
    if case["fairness"] > 0:
        assert gain_n == pytest.approx(after[1] - before[1], abs=1e-9)
    fresh = start(sites, labels, n_slots, objective.score, terms)
    for name in ("members", "size", "table"):
        np.testing.assert_array_equal(getattr(clusters, name), getattr(fresh, name))
    for name in ("volume", "parts", "tally"):
        np.testing.assert_allclose(getattr(clusters, name), getattr(fresh, name), atol=1e-9)
    n_free = int(clusters.tally[2])
    assert sorted(clusters.free[:n_free]) == sorted(set(range(n_slots)) - set(labels.tolist()))
    if fixed:
        assert np.unique(labels).size == case["k"]


@SETTINGS
@given(case=cases())
def test_gains_are_exact_on_an_aggregated_graph_too(case, make_graph, naive):
    dense, level, objective = problem_of(case, make_graph)
    parts = compact(labels_for(case["n"], max(case["n"] // 2, 2), case["seed"]))
    coarse = aggregate(level, parts, objective)
    moved = local_moves(
        coarse, np.arange(coarse.n_nodes, dtype=np.int32), objective, np.random.default_rng(0)
    )
    before, after = (parts_of_value(case, dense, one, naive) for one in (parts, moved.labels[parts]))
    assert moved.modularity_change == pytest.approx(after[0] - before[0], abs=1e-9)
    if case["fairness"] > 0:
        assert moved.notion_change == pytest.approx(after[1] - before[1], abs=1e-9)


@SETTINGS
@given(case=cases(), fixed=st.booleans())
def test_no_single_move_improves_the_end(case, fixed, make_graph, naive):
    n, k = case["n"], case["k"]
    dense, level, objective = problem_of(case, make_graph)
    value, rng = value_of(case, dense, naive), np.random.default_rng(case["seed"])
    first = labels_for(n, k, case["seed"]) if fixed else np.arange(n, dtype=np.int32)
    labels, _ = climb(level, first, objective, rng, keep_clusters=fixed)
    for site in range(n):
        alone = np.count_nonzero(labels == labels[site]) == 1
        near = {labels[j] for j in np.flatnonzero(dense[site])}
        candidates = near | {labels.max() + 1}
        if fixed:
            candidates = set() if alone else set(range(k)) if case["fairness"] > 0 else near
        assert best_move(value, labels, site, candidates - {labels[site]}) <= 1e-9


@settings(SETTINGS, max_examples=100)
@given(case=cases())
def test_scores_from_scratch_are_the_definitions(case, make_graph, naive):
    dense, level, objective = problem_of(case, make_graph)
    labels = compact(np.random.default_rng(case["seed"]).integers(0, case["k"], case["n"]))
    q, fair = scores_of(level, labels, objective)
    assert q == pytest.approx(naive.naive_modularity(dense, labels, case["resolution"]), abs=1e-12)
    expected = naive.naive_notion(labels, case["codes"], case["notion"], case["weights"])
    assert fair == pytest.approx(expected, abs=1e-12)
    # On the clusters themselves, each a super-node, the same scores come out.
    coarse = aggregate(level, labels, objective)
    alone = np.arange(coarse.n_nodes, dtype=np.int32)
    assert scores_of(coarse, alone, objective) == pytest.approx((q, fair), abs=1e-12)


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("fairness", [0.0, 0.4])
def test_more_clusters_than_a_site_looks_at(notion, fairness, make_graph, naive):
    """Only neighbours and a few others are looked at: gains stay exact, k stays, and no neighbour is better."""
    n, k = 300, MOST_DENSE + 12
    adjacency, codes = make_graph(n, 1, 0.03), codes_for(n, 3, 1)
    level, objective = prepare(adjacency, codes, fairness, notion)
    labels = labels_for(n, k, 1)
    moved = local_moves(level, labels, objective, np.random.default_rng(0), keep_clusters=True)
    dense = adjacency.toarray()
    change = naive.naive_modularity(dense, moved.labels) - naive.naive_modularity(dense, labels)
    assert moved.modularity_change == pytest.approx(change, abs=1e-9)
    if fairness:
        change = naive.naive_notion(moved.labels, codes, notion) - naive.naive_notion(labels, codes, notion)
        assert moved.notion_change == pytest.approx(change, abs=1e-9)
    assert moved.n_moves > 50
    assert np.unique(moved.labels).size == k
    sizes = np.bincount(moved.labels)
    best = objective.value(*scores_of(level, moved.labels, objective))
    for site in range(0, n, 7):
        for cluster in {moved.labels[j] for j in np.flatnonzero(dense[site])} - {moved.labels[site]}:
            other = moved.labels.copy()
            other[site] = cluster
            if sizes[moved.labels[site]] > 1:
                assert objective.value(*scores_of(level, other, objective)) <= best + 1e-9


def test_passes_that_bring_little_are_the_last(make_graph):
    level, objective = prepare(make_graph(60, 2, 0.1), codes_for(60, 2, 2), 0.3)
    labels = labels_for(60, 4, 2)

    def moves(**options):
        return local_moves(level, labels, objective, None, keep_clusters=True, **options).n_moves

    assert 0 < moves(max_passes=1) < moves()
    assert moves(least_gain=10.0) < moves()
    assert moves(max_passes=0) == 0


def test_a_high_dial_prefers_the_notion_and_then_modularity():
    # Two cliques of four, each with one pair per group: any split is as fair as the cliques, no split as cohesive.
    from equigraph.graph import check_adjacency

    dense = np.kron(np.eye(2), np.ones((4, 4)) - np.eye(4))
    level, objective = prepare(check_adjacency(dense), np.tile([0, 1], 4), 1.0)
    scrambled = np.array([0, 0, 1, 1, 2, 2, 3, 3], dtype=np.int32)
    labels, _ = climb(level, scrambled, objective.at(1.0), np.random.default_rng(0))
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
    with pytest.raises(GroupsError, match="one code per node"):
        prepare(adjacency, np.arange(6) % 2 - 2, 0.5, "balance")


def test_numbers_of_the_objective_have_one_type():
    # Another type would compile every loop again: seconds for who says at_least=1 in place of 1.0.
    plain, _ = make_objective(np.array([0, 1, 0]), n_nodes=3, total=2.0)
    odd, _ = make_objective(
        np.array([0, 1, 0]), n_nodes=np.int64(3), total=2, fairness=np.float32(0.5), resolution=1
    )
    kinds = [
        [type(value) for value in one.terms()] for one in (plain, odd.at(1, cap=1), odd.at(np.float32(0.5)))
    ]
    assert kinds[0] == kinds[1] == kinds[2]
