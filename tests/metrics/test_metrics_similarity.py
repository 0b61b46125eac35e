"""Consistency and the Lipschitz condition against their definitions, also some rows at a time, and their arguments."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from equigraph import metrics as m
from equigraph.exceptions import GraphError, ParameterError
from equigraph.graph import Graph
from equigraph.metrics.similarity import as_outputs
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
    report = m.lipschitz_score(H, adjacency=sparse.csr_array(A), pairs=pairs, bound=bound)
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
    found = m.consistency_score(H, adjacency=A, weighted=weighted)
    assert found == pytest.approx(naive_consistency(A, H, weighted), abs=1e-12)
    scaled = H * rng.uniform(1, 5, (len(A), 1))
    assert m.consistency_score(scaled, adjacency=A, weighted=weighted) == pytest.approx(found)
    labels = rng.integers(0, 3, len(A))
    found = m.consistency_score(np.array(list("abc"))[labels], adjacency=A, weighted=weighted)
    assert found == pytest.approx(naive_consistency(A, np.eye(3)[labels], weighted), abs=1e-12)


@FAST
@given(st.integers(0, 10_000))
def test_labels_are_one_hot_rows_whatever_their_names(seed):
    A = random_graph(seed)
    labels = np.random.default_rng(seed).integers(0, 3, len(A))
    expected = m.lipschitz_score(np.eye(3)[labels], adjacency=A)
    for membership in (labels, labels.tolist(), np.array(["z", "y", "x"])[labels], pd.Series(labels * 1.5)):
        assert m.lipschitz_score(membership, adjacency=A) == expected
    assert m.lipschitz_score(sparse.csr_array(np.eye(3)[labels]), adjacency=A) == expected
    assert m.lipschitz_score(pd.DataFrame(np.eye(3)[labels]), adjacency=A) == expected


def test_jaccard_of_a_hub_needs_little_memory():
    n = 100_000  # A @ A would be dense, and the hub's row is never copied per edge
    hub, leaves = np.zeros(n - 1, dtype=int), np.arange(1, n)
    star = sparse.coo_array((np.ones(n - 1), (hub, leaves)), shape=(n, n))
    matrix = sparse.csr_array(star + star.T)
    tracemalloc.start()
    report = m.lipschitz_score(np.arange(n) == 0, adjacency=matrix)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert report.n_pairs == n - 1
    assert report.constant == pytest.approx(1 / (1 - 2 / n))
    assert peak < 200e6


def test_twins_at_distance_zero():
    triangle = np.ones((3, 3)) - np.eye(3)
    apart = m.lipschitz_score([0, 0, 1], adjacency=triangle)
    assert apart.constant == math.inf
    assert apart.violations == pytest.approx(2 / 3)
    assert apart.worst[0] == (0, 2, math.inf)
    together = m.lipschitz_score([4, 4, 4], adjacency=triangle)
    assert (together.constant, together.violations) == (0.0, 0.0)
    # Rounding in the rows of twins is not a difference.
    complete = np.ones((40, 40)) - np.eye(40)
    rng = np.random.default_rng(0)
    rows = rng.random(6) * rng.uniform(0.1, 9.0, (40, 1))
    assert len(np.unique(m.similarity.as_outputs(rows), axis=0)) > 1
    assert m.lipschitz_score(rows, adjacency=complete).constant == 0.0


def test_given_pairs_and_distances():
    report = m.lipschitz_score(
        [0, 1, 1], pairs=[(0, 1), (1, 2), (0, 2), (0, 0)], distances=[0.5, 0.0, np.inf, 0.0], bound=2.0
    )
    assert report.constant == 2.0
    assert report.violations == 0.0
    assert report.worst[0] == (0, 1, 2.0)
    assert report.n_pairs == 4
    strict = m.lipschitz_score([0, 1, 1], pairs=[(0, 1), (1, 2)], distances=[0.5, 1.0], bound=1.9, n_worst=1)
    assert strict.violations == 0.5
    assert len(strict.worst) == 1
    assert m.lipschitz_score([0, 1], pairs=[(0, 1)], distances=[1e-320]).constant == math.inf
    assert m.lipschitz_score([0, 1], pairs=[], distances=[]).n_pairs == 0
    met = m.lipschitz_score(
        [0, 0, 1], pairs=[(0, 2), (1, 2), (0, 1)], distances=[0.5, 0.25, 1], bound=2, n_worst=0
    )
    assert met == m.LipschitzReport(4, 1 / 3, (), 2, 3)
    ties = m.lipschitz_score([0, 0, 1], pairs=[(1, 2), (0, 2), (0, 1)], distances=[0.5, 0.5, 1], n_worst=2)
    assert ties.worst == ((1, 2, 2.0), (0, 2, 2.0))  # of equal ones the first


def test_memberships_are_scaled_rows():
    np.testing.assert_allclose(as_outputs(ROWS), [[1, 0], [0.25, 0.75], [0, 1], [0.5, 0.5]])
    assert as_outputs(sparse.csr_array(np.array([[1.0, 2.0], [0, 1.0]]))).ndim == 2
    np.testing.assert_allclose(as_outputs([[1e308, 1e308]]), [[0.5, 0.5]])


PATH = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
ROWS = np.array([[1, 0], [1, 3], [0, 2], [1, 1]], dtype=float)


@pytest.mark.parametrize("entries", [1, 5, 17])
def test_some_rows_at_a_time(monkeypatch, entries):
    A, labels, groups = random_graph(5, 11), np.arange(11) % 3, np.array(list("xyxxyyxyxxy"))
    A[4] = A[:, 4] = 0
    soft, pairs = np.random.default_rng(0).random((11, 3)), list(np.ndindex(11, 11))

    def scores():
        return [
            m.modularity_score(A, labels),
            *m.group_modularity_scores(A, labels, sensitive_features=groups).values(),
            m.consistency_score(labels, adjacency=A, weighted=True),
            m.consistency_score(soft, adjacency=A),
            m.lipschitz_score(soft, adjacency=A).constant,
            *m.similarity._jaccard(sparse.csr_array(A), *np.transpose(pairs)),
        ]

    whole = scores()
    assert whole[-len(pairs) :] == pytest.approx([1 - closed_distance(A, i, j) for i, j in pairs])
    for module in (m.quality, m.similarity):
        monkeypatch.setattr(module, "_BLOCK_ENTRIES", entries)
    np.testing.assert_allclose(scores(), whole, rtol=1e-13)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "Give the adjacency, or both pairs and distances"),
        ({"distances": [1.0], "adjacency": PATH}, "distances needs pairs"),
        ({"adjacency": PATH, "pairs": [(0, 4)]}, r"outside 0\.\.3"),
        ({"adjacency": PATH, "pairs": [(0, 1, 2)]}, r"pairs has shape \(1, 3\) and type int64"),
        ({"pairs": [(0, 1)], "distances": [[1.0]]}, r"distances has shape \(1, 1\)"),
        ({"pairs": [(0, 1)], "distances": [np.nan]}, "negative or missing"),
        ({"adjacency": PATH, "bound": -0.5}, "bound must be a number"),
        ({"adjacency": PATH, "n_worst": -1}, "n_worst must be a whole number"),
        ({"adjacency": PATH[:3, :3]}, "4 rows and the graph has 3 nodes"),
    ],
)
def test_arguments_that_do_not_fit(arguments, words):
    with pytest.raises(ParameterError, match=words):
        m.lipschitz_score(ROWS, **arguments)


@pytest.mark.parametrize(
    ("membership", "words"),
    [
        ([[1.0, 1], [0, -1]], "first in row 1"),
        ([[1.0, 1], [0, 0]], "Row 1 of membership is all zero"),
        ([["a", "b"]], "must hold numbers"),
        (["a", None], "1 of 2 membership are missing"),
        ([], "membership is empty"),
    ],
)
def test_invalid_memberships_raise(membership, words):
    with pytest.raises(ParameterError, match=words):
        as_outputs(membership)


def test_rows_with_names_are_matched():
    graph = Graph(PATH, np.array(["ann", "bob", "cem", "dea"]))
    expected = m.lipschitz_score(ROWS, adjacency=graph)
    table = pd.DataFrame(ROWS, index=["ann", "bob", "cem", "dea"])
    assert m.lipschitz_score(table.iloc[[2, 0, 3, 1]], adjacency=graph) == expected
    labels = {"dea": 1, "ann": 0, "bob": 0, "cem": 1}
    assert m.consistency_score(labels, adjacency=graph) == pytest.approx(0.75)
    with pytest.raises((ParameterError, GraphError), match="rows of the membership"):
        m.lipschitz_score(table.rename(index={"ann": "eve"}), adjacency=graph)
    with pytest.raises(GraphError, match="'bob' occurs twice in the rows of the membership"):
        m.lipschitz_score(table.rename(index={"ann": "bob"}), adjacency=graph)
