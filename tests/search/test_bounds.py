"""Bounds on the sizes of clusters: met whenever they can be, refused with a reason otherwise."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag

import equigraph as eg
from equigraph.exceptions import InfeasibleError, ParameterError
from equigraph.search.bounds import check_size_bounds, within_bounds
from equigraph.search.kernels.parts import own_weight
from equigraph.search.level import links_to
from tests.reference.label_fixtures import SETTINGS, prepare
from tests.reference.labels_objective import NOTIONS
from tests.reference.marks import TINY_GRAPHS

pytestmark = TINY_GRAPHS


@st.composite
def feasible(draw, most_nodes=40):
    """Return n, k, bounds that can be met, labels of any quality, and a seed."""
    n = draw(st.integers(4, most_nodes))
    k = draw(st.integers(2, min(n, 6)))
    least = draw(st.one_of(st.none(), st.integers(0, n // k)))
    most = draw(st.one_of(st.none(), st.integers(-(-n // k), n + 3)))
    labels = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    return n, k, (least, most), np.array(labels), draw(st.integers(0, 1000))


def met(labels, k, bounds):
    sizes = np.bincount(labels, minlength=k)
    least, most = bounds
    return sizes.size == k and sizes.min() >= max(least or 1, 1) and (most is None or sizes.max() <= most)


def moved_within_bounds(level, *arguments):
    own = partial(own_weight, level.indptr, level.indices, level.data, 0)
    return within_bounds(partial(links_to, level), own, level.sizes, *arguments)


@SETTINGS
@given(case=feasible())
def test_labels_are_moved_within_bounds(case, make_graph):
    n, k, bounds, labels, seed = case
    level, _ = prepare(make_graph(n, seed), None, 0.0)
    kept = labels.copy()
    least, most = check_size_bounds(bounds, n, k)
    found = moved_within_bounds(level, labels, least, most, k)
    np.testing.assert_array_equal(labels, kept)
    assert met(found, k, bounds)
    if met(labels, k, bounds):
        np.testing.assert_array_equal(found, labels)


def test_the_nodes_with_the_least_ties_are_moved():
    from equigraph.graph import check_adjacency

    # A clique of four with a tail: the tail leaves, and joins the cluster that it is tied to.
    dense = np.zeros((8, 8))
    for i, j in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6), (5, 7), (6, 7)]:
        dense[i, j] = dense[j, i] = 1
    level, _ = prepare(check_adjacency(dense), None, 0.0)
    start = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    found = moved_within_bounds(level, start, 1, 4, 2)
    assert found.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@settings(SETTINGS, max_examples=60)
@given(
    case=feasible(),
    fairness=st.sampled_from([0.0, 0.5, 1.0]),
    notion=st.sampled_from(NOTIONS),
)
def test_refine_labels_meets_every_feasible_pair(case, fairness, notion, make_graph):
    n, k, bounds, labels, seed = case
    found = eg.refine_labels(
        make_graph(n, seed),
        labels,
        sensitive_features=np.arange(n) % 2,
        n_clusters=k,
        fairness=fairness,
        notion=notion,
        size_bounds=bounds,
        random_state=seed,
    )
    assert met(found, k, bounds)


@settings(SETTINGS, max_examples=12)
@given(
    case=feasible(most_nodes=24),
    fairness=st.sampled_from([0.0, 0.5, 1.0]),
    at_least=st.sampled_from([None, 0.5]),
)
def test_fair_partition_meets_every_feasible_pair(case, fairness, at_least, make_graph):
    """By a whole search, whose annealings may miss bounds on the way."""
    n, k, bounds, _, seed = case
    model = eg.FairPartition(
        k, fairness, at_least=at_least, size_bounds=bounds, effort=0.1, random_state=seed
    )
    model.fit(make_graph(n, seed), sensitive_features=np.arange(n) % 2)
    assert met(model.labels_, k, bounds)


@pytest.mark.parametrize("sizes", [(8, 4), (9, 9, 3)])
@pytest.mark.parametrize("fairness", [0.0, 0.3])
def test_bounds_are_met_where_breaking_them_would_pay(sizes, fairness):
    """Cliques, one of them larger than a cluster may be: the best labels of all would break the bound."""
    blocks = [np.ones((size, size)) - np.eye(size) for size in sizes]
    adjacency, n = block_diag(*blocks), sum(sizes)
    bounds = (max(min(sizes) - 1, 1), max(sizes) - 1)
    for seed in range(2):
        model = eg.FairPartition(len(sizes), fairness, size_bounds=bounds, effort=0.2, random_state=seed)
        model.fit(adjacency, sensitive_features=np.arange(n) % 2)
        assert met(model.labels_, len(sizes), bounds)


@settings(SETTINGS, max_examples=40)
@given(case=feasible(most_nodes=14), fairness=st.sampled_from([0.0, 0.3, 0.9]))
def test_within_bounds_the_result_is_a_local_maximum(case, fairness, make_graph, naive):
    n, k, bounds, labels, seed = case
    adjacency, codes = make_graph(n, seed), np.arange(n) % 2
    found = eg.refine_labels(
        adjacency,
        labels,
        sensitive_features=codes,
        n_clusters=k,
        fairness=fairness,
        size_bounds=bounds,
        random_state=seed,
    )
    dense = adjacency.toarray()
    best = naive.naive_objective(dense, found, codes, fairness, "normalized")
    for node in range(n):
        for cluster in range(k):
            other = found.copy()
            other[node] = cluster
            if met(other, k, bounds):
                assert naive.naive_objective(dense, other, codes, fairness, "normalized") <= best + 1e-9


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        ((5, None), "need 20 nodes, and the graph has 18: lower the least size to 4"),
        ((None, 4), "4 clusters of at most 4 nodes hold 16 of 18 nodes: raise the most to 5"),
        ((4, 3), "the least size is above the most"),
        ((19, None), "4 clusters of at least 19 nodes need 76 nodes, and the graph has 18"),
        ((0, 0), "4 clusters of at most 0 nodes hold 0 of 18 nodes"),
    ],
)
def test_what_cannot_be_met_is_refused_with_the_reason(bounds, reason, make_graph):
    adjacency, codes = make_graph(18, 0), np.arange(18) % 2
    with pytest.raises(InfeasibleError, match=reason):
        eg.refine_labels(adjacency, np.arange(18) % 4, sensitive_features=codes, size_bounds=bounds)
    with pytest.raises(InfeasibleError, match=reason):
        eg.FairPartition(4, size_bounds=bounds).fit(adjacency, sensitive_features=codes)


def test_more_clusters_than_nodes_are_refused(make_graph):
    with pytest.raises(eg.exceptions.InputError, match="at least as many nodes"):
        eg.refine_labels(
            make_graph(10, 0), np.arange(10) % 2, sensitive_features=np.arange(10) % 2, n_clusters=11
        )


@pytest.mark.parametrize("bounds", [(1, 2, 3), (1,), (1.5, 9), (True, 9), (-1, 9), "19", [None], 5, 0.5])
def test_no_pair_of_counts_is_a_bad_parameter(bounds, make_graph):
    adjacency, codes = make_graph(18, 0), np.arange(18) % 2
    with pytest.raises(ParameterError, match="size_bounds"):
        eg.refine_labels(adjacency, np.arange(18) % 4, sensitive_features=codes, size_bounds=bounds)
    with pytest.raises(ParameterError, match="size_bounds"):
        eg.FairPartition(4, size_bounds=bounds).fit(adjacency, sensitive_features=codes)


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        (None, (1, 10)),
        ("auto", (2, 10)),
        ((None, None), (1, 10)),
        ((0, 99), (1, 10)),
        ([2, 5], (2, 5)),
        ((np.int64(3), None), (3, 10)),
    ],
)
def test_open_sides(bounds, expected):
    assert check_size_bounds(bounds, 10, 3) == expected
