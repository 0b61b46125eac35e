"""Lipschitz report and consistency, against sets and loops."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from equigraph.metrics import consistency_score, lipschitz_score, similarity
from tests.optional import optional

pd = optional("pandas")

FAST = settings(max_examples=40, deadline=None)


def random_graph(seed, n=12, density=0.3):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) < density, 1) * rng.uniform(0.5, 2.0, (n, n))
    return upper + upper.T


def closed_distance(A, i, j):
    a, b = ({v, *np.flatnonzero(A[v]).tolist()} for v in (i, j))
    return 1 - len(a & b) / len(a | b)


def variation(H, i, j):
    a, b = H[i] / H[i].sum(), H[j] / H[j].sum()
    return float(np.abs(a - b).sum() / 2)


def naive_consistency(A, H, weighted):
    rows = H / H.sum(axis=1, keepdims=True)
    total = 0.0
    for i in range(len(A)):
        neighbours = np.flatnonzero(A[i])
        if neighbours.size:
            weights = A[i, neighbours] if weighted else None
            total += np.abs(rows[i] - np.average(rows[neighbours], axis=0, weights=weights)).sum()
    return 1 - total / (2 * len(A))


@FAST
@given(st.integers(0, 10_000), st.floats(0, 1), st.booleans(), st.floats(0.1, 3))
def test_report_is_the_definition(seed, density, all_pairs, bound):
    A = random_graph(seed, density=density)
    n = len(A)
    H = np.random.default_rng(seed).random((n, 3)) + 0.01
    looked_at = [(i, j) for i in range(n) for j in range(i + 1, n) if all_pairs or A[i, j]]
    ratios = {}
    for i, j in looked_at:
        D, d = variation(H, i, j), closed_distance(A, i, j)
        ratios[i, j] = D / d if d > 0 else math.inf
    pairs = np.array(looked_at, dtype=int).reshape(-1, 2) if all_pairs else None
    report = lipschitz_score(H, adjacency=sparse.csr_array(A), pairs=pairs, bound=bound)
    assert report.n_pairs == len(looked_at)
    assert report.constant == pytest.approx(max(ratios.values(), default=0.0))
    violated = sum(ratio > bound for ratio in ratios.values())
    assert report.violations == pytest.approx(violated / max(len(looked_at), 1))
    assert [r for _, _, r in report.worst] == pytest.approx(sorted(ratios.values(), reverse=True)[:10])
    for i, j, ratio in report.worst:
        assert ratios[i, j] == pytest.approx(ratio)


@FAST
@given(st.integers(0, 10_000), st.floats(0, 1), st.booleans())
def test_consistency_is_the_definition(seed, density, weighted):
    A = random_graph(seed, density=density)
    rng = np.random.default_rng(seed)
    H = rng.random((len(A), 3)) + 0.01
    found = consistency_score(H, adjacency=A, weighted=weighted)
    assert found == pytest.approx(naive_consistency(A, H, weighted), abs=1e-12)
    assert consistency_score(
        H * rng.uniform(1, 5, (len(A), 1)), adjacency=A, weighted=weighted
    ) == pytest.approx(found)
    labels = rng.integers(0, 3, len(A))
    one_hot = np.eye(3)[labels]
    names = np.array(["a", "b", "c"])[labels]
    assert consistency_score(names, adjacency=A, weighted=weighted) == pytest.approx(
        naive_consistency(A, one_hot, weighted), abs=1e-12
    )


@FAST
@given(st.integers(0, 10_000))
def test_labels_are_one_hot_rows_whatever_their_names(seed):
    A = random_graph(seed)
    labels = np.random.default_rng(seed).integers(0, 3, len(A))
    expected = lipschitz_score(np.eye(3)[labels], adjacency=A)
    for membership in (labels, labels.tolist(), np.array(["z", "y", "x"])[labels], pd.Series(labels * 1.5)):
        assert lipschitz_score(membership, adjacency=A) == expected
    assert lipschitz_score(sparse.csr_array(np.eye(3)[labels]), adjacency=A) == expected
    assert lipschitz_score(pd.DataFrame(np.eye(3)[labels]), adjacency=A) == expected


def test_jaccard_in_small_blocks(monkeypatch):
    A = random_graph(8, n=25)
    pairs = np.random.default_rng(0).integers(0, 25, (60, 2))
    matrix = sparse.csr_array(A)
    expected = [1 - closed_distance(A, i, j) for i, j in pairs]
    np.testing.assert_allclose(similarity._jaccard(matrix, pairs[:, 0], pairs[:, 1]), expected)
    monkeypatch.setattr(similarity, "_BLOCK_ENTRIES", 5)
    np.testing.assert_allclose(similarity._jaccard(matrix, pairs[:, 0], pairs[:, 1]), expected)


def test_a_hub_is_cheap():
    n = 100_000  # A @ A would be dense, and the hub's row is never copied per edge
    hub, leaves = np.zeros(n - 1, dtype=int), np.arange(1, n)
    star = sparse.coo_array((np.ones(n - 1), (hub, leaves)), shape=(n, n))
    matrix = sparse.csr_array(star + star.T)
    tracemalloc.start()
    report = lipschitz_score(np.arange(n) == 0, adjacency=matrix)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.n_pairs == n - 1
    assert report.constant == pytest.approx(1 / (1 - 2 / n))
    assert peak < 200e6


def test_twins_at_distance_zero():
    triangle = np.ones((3, 3)) - np.eye(3)
    apart = lipschitz_score([0, 0, 1], adjacency=triangle)
    assert apart.constant == math.inf
    assert apart.violations == pytest.approx(2 / 3)
    assert apart.worst[0] == (0, 2, math.inf)
    together = lipschitz_score([4, 4, 4], adjacency=triangle)
    assert (together.constant, together.violations) == (0.0, 0.0)
    # Rounding in the rows of twins is not a difference.
    complete = np.ones((40, 40)) - np.eye(40)
    rng = np.random.default_rng(0)
    rows = rng.random(6) * rng.uniform(0.1, 9.0, (40, 1))
    assert len(np.unique(similarity.as_outputs(rows), axis=0)) > 1
    assert lipschitz_score(rows, adjacency=complete).constant == 0.0


def test_given_pairs_and_distances():
    report = lipschitz_score(
        [0, 1, 1], pairs=[(0, 1), (1, 2), (0, 2), (0, 0)], distances=[0.5, 0.0, np.inf, 0.0], bound=2.0
    )
    assert report.constant == 2.0
    assert report.violations == 0.0
    assert report.worst[0] == (0, 1, 2.0)
    assert report.n_pairs == 4
    strict = lipschitz_score([0, 1, 1], pairs=[(0, 1), (1, 2)], distances=[0.5, 1.0], bound=1.9, n_worst=1)
    assert strict.violations == 0.5
    assert len(strict.worst) == 1
    assert lipschitz_score([0, 1], pairs=[(0, 1)], distances=[1e-320]).constant == math.inf
    assert lipschitz_score([0, 1], pairs=[], distances=[]).n_pairs == 0


def test_isolated_nodes_and_constant_outputs():
    empty = sparse.csr_array((4, 4))
    assert consistency_score([0, 1, 2, 3], adjacency=empty) == 1.0
    assert consistency_score(np.eye(4), adjacency=empty) == 1.0
    assert lipschitz_score([0, 1, 2, 3], adjacency=empty).worst == ()
    assert lipschitz_score([0, 1, 2, 3], adjacency=empty, pairs=[(0, 1)]).constant == 1.0
    A = random_graph(1)
    assert consistency_score(np.ones((len(A), 5)), adjacency=A) == pytest.approx(1.0)
    bipartite = np.array([[0, 1.0], [1.0, 0]])
    assert consistency_score(["left", "right"], adjacency=bipartite) == 0.0
