"""Modularity against networkx and the definition; cuts, further scores and shares of links against loops."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

import equigraph as eg
from equigraph import metrics as m
from equigraph.exceptions import ParameterError
from equigraph.metrics.quality import share_inside
from tests.optional import optional
from tests.reference.labels_objective import naive_modularity

nx = optional("networkx")

FAST = settings(max_examples=40, deadline=None)


def random_graph(seed, *, n=15, density=0.3, weighted=False):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, 1).astype(float)
    if weighted:
        upper *= rng.uniform(0.1, 5.0, (n, n))
    return upper + upper.T


def naive_group_modularity(A, labels, groups, group):
    """The definition of 6.8, edge by edge and cluster by cluster."""
    two_m, n, score = A.sum(), len(A), 0.0
    for cluster in set(labels.tolist()):
        inside = 0.0
        for i in range(n):
            for j in range(i + 1, n):
                if labels[i] == labels[j] == cluster:
                    inside += A[i, j] * ((groups[i] == group) + (groups[j] == group))
        members = labels == cluster
        volume, part = A[members].sum(), A[members & (groups == group)].sum()
        score += inside / two_m - volume * part / two_m**2
    return score


@FAST
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 6), st.floats(0, 3))
def test_modularity_is_the_definition_and_that_of_networkx(seed, weighted, k, resolution):
    A = random_graph(seed, weighted=weighted, density=0.15)
    labels = np.random.default_rng(seed).integers(0, k, len(A))
    found = m.modularity_score(sparse.csr_array(A), labels, resolution=resolution)
    assert found == pytest.approx(naive_modularity(A, labels, resolution), abs=1e-12)
    clusters = [np.flatnonzero(labels == c).tolist() for c in set(labels)]
    theirs = nx.community.modularity(nx.from_numpy_array(A), clusters, resolution=resolution)
    assert found == pytest.approx(theirs, abs=1e-12)


def test_one_cluster_scores_zero_and_no_edges_score_zero():
    A = random_graph(1)
    assert m.modularity_score(A, np.zeros(len(A))) == pytest.approx(0.0, abs=1e-15)
    empty = sparse.csr_array((4, 4))
    assert m.modularity_score(empty, [0, 1, 2, 3]) == 0.0
    assert m.group_modularity_scores(empty, [0, 1, 2, 3], sensitive_features=[0, 0, 1, 1]) == {0: 0.0, 1: 0.0}


def test_extreme_weights_do_not_overflow():
    A = random_graph(2, weighted=True)
    labels = np.arange(len(A)) % 3
    expected = m.modularity_score(A, labels)
    assert m.modularity_score(A * 1e200, labels) == pytest.approx(expected)
    assert m.modularity_score(A * 1e-200, labels) == pytest.approx(expected)


@FAST
@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 4), st.integers(1, 4))
def test_group_modularity_is_the_definition_and_sums_to_modularity(seed, weighted, k, h):
    A = random_graph(seed, n=10, density=0.5, weighted=weighted)
    rng = np.random.default_rng(seed)
    labels, groups = rng.integers(0, k, len(A)), rng.integers(0, h, len(A)).astype(str)
    assume(A.sum() > 0)
    parts = m.group_modularity_scores(A, labels, sensitive_features=groups)
    assert list(parts) == sorted(set(groups.tolist()))
    for group, part in parts.items():
        assert part == pytest.approx(naive_group_modularity(A, labels, groups, group), abs=1e-12)
    assert sum(parts.values()) == pytest.approx(m.modularity_score(A, labels), abs=1e-12)


@FAST
@given(st.integers(0, 10_000), st.booleans(), st.integers(2, 5))
def test_cuts_are_the_definition(seed, weighted, k):
    A = random_graph(seed, weighted=weighted)
    labels = np.random.default_rng(seed).permutation(np.arange(len(A)) % k)
    cuts = [A[labels == c][:, labels != c].sum() for c in range(k)]
    volumes = [A[labels == c].sum() for c in range(k)]
    ncut = sum(cut / volume for cut, volume in zip(cuts, volumes, strict=True) if volume)
    each = [
        cut / min(volume, A.sum() - volume) if min(volume, A.sum() - volume) else 0.0
        for cut, volume in zip(cuts, volumes, strict=True)
    ]
    graph = sparse.csr_array(A)
    assert m.normalized_cut_score(graph, labels) == pytest.approx(ncut)
    assert m.conductance_score(graph, labels) == pytest.approx(np.mean(each))
    assert m.conductance_score(graph, labels, average="max") == pytest.approx(max(each))


def test_evaluate_computes_further_scores_by_name():
    graph = nx.barbell_graph(4, 0)
    labels, groups = [0] * 4 + [1] * 4, list("xyxyxyxy")
    found = m.evaluate(
        graph, labels, sensitive_features=groups, further=iter(["ncut", "conductance", "PB", "min_PB"])
    )
    assert found["ncut"] == pytest.approx(2 / 13)
    assert found["conductance"] == pytest.approx(1 / 13)
    assert found["PB"] == found["min_PB"] == 1.0
    assert "ncut" not in m.evaluate(graph, labels)
    with pytest.raises(ParameterError, match="further='cut'"):
        m.evaluate(graph, labels, further=["cut"])


def test_link_shares_agree_with_a_loop():
    A = random_graph(0, n=12, weighted=True)
    A[:, 3] = A[3] = 0
    labels = np.random.default_rng(0).choice(list("abc"), 12)
    found = eg.metrics.link_shares(A, labels)
    for i, place in np.ndindex(*found.shape):
        inside = A[i][labels == sorted(set(labels))[place]].sum()
        assert found[i, place] == pytest.approx(inside / A[i].sum() if A[i].any() else 0)
    assert found[3].sum() == 0


def test_share_inside():
    weights = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 2], [0, 0, 2, 0]])
    for dtype in (np.int8, np.float32):
        assert share_inside(sparse.csr_array(weights.astype(dtype)), np.array([0, 0, 1, 1])) == 0.75
    assert np.isnan(share_inside(sparse.csr_array((2, 2)), np.array([0, 0])))
    complete = np.full((20, 20), 100, dtype=np.int8)  # whose sums are no int8
    assert share_inside(sparse.csr_array(complete), np.arange(20) % 2) == 0.5
