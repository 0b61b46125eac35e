"""Scores that are computed some rows at a time are the same; arguments that do not fit, in whole sentences."""

# ruff: noqa: E501 - a sentence stands on its line
import numpy as np
import pytest
from scipy import sparse

from equigraph.exceptions import GraphError, ParameterError
from equigraph.graph import Graph
from equigraph.metrics import (
    consistency_score,
    group_modularity_scores,
    lipschitz_score,
    modularity_score,
    quality,
    similarity,
)
from equigraph.metrics.similarity import as_outputs, total_variation
from tests.optional import optional

pd = optional("pandas")

PATH = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)
ROWS = np.array([[1, 0], [1, 3], [0, 2], [1, 1]], dtype=float)


def weighted_graph(n=11):
    rng = np.random.default_rng(5)
    upper = np.triu(rng.integers(0, 3, (n, n)), 1).astype(float)
    upper[:, 4] = upper[4] = 0
    return upper + upper.T


@pytest.mark.parametrize("entries", [1, 5, 17])
def test_some_rows_at_a_time(monkeypatch, entries):
    A, labels, groups = weighted_graph(), np.arange(11) % 3, np.array(list("xyxxyyxyxxy"))
    soft = np.random.default_rng(0).random((11, 3))

    def scores():
        return [
            modularity_score(A, labels),
            *group_modularity_scores(A, labels, sensitive_features=groups).values(),
            consistency_score(labels, adjacency=A, weighted=True),
            consistency_score(soft, adjacency=A),
            lipschitz_score(soft, adjacency=A).constant,
        ]

    whole = scores()
    for module in (quality, similarity):
        monkeypatch.setattr(module, "_BLOCK_ENTRIES", entries)
    np.testing.assert_allclose(scores(), whole, rtol=1e-13)


def test_pairs_of_outputs_are_half_their_distance():
    soft = as_outputs(ROWS)
    np.testing.assert_allclose(soft, [[1, 0], [0.25, 0.75], [0, 1], [0.5, 0.5]])
    found = total_variation(soft, np.array([0, 1, 3]), np.array([1, 2, 3]))
    np.testing.assert_allclose(found, [0.75, 0.25, 0])
    assert as_outputs(list("aab")).tolist() == [0, 0, 1]
    assert as_outputs(sparse.csr_array(np.array([[0, 2.0], [3.0, 0], [0, 1.0]]))).tolist() == [1, 0, 1]
    assert as_outputs(sparse.csr_array(np.array([[1.0, 2.0], [0, 1.0]]))).ndim == 2
    np.testing.assert_allclose(as_outputs([[1e308, 1e308]]), [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "Give the adjacency, or both pairs and distances."),
        ({"distances": [1.0], "adjacency": PATH}, "distances needs pairs: give the pair that each distance belongs to."),
        ({"adjacency": PATH, "pairs": [(0, 4)]}, "pairs names nodes outside 0..3: give positions of nodes."),
        ({"adjacency": PATH, "pairs": [(0, 1, 2)]}, "pairs has shape (1, 3) and type int64; expected integers, (n_pairs, 2)."),
        ({"pairs": [(0, 1)], "distances": [[1.0]]}, "distances has shape (1, 1); expected one per pair, (1,)."),
        ({"pairs": [(0, 1)], "distances": [np.nan]}, "distances has negative or missing values: expected numbers >= 0."),
        ({"adjacency": PATH, "bound": -0.5}, "bound must be a number >= 0, not -0.5."),
        ({"adjacency": PATH, "n_worst": -1}, "lipschitz_score: n_worst must be a whole number of at least 0; got -1."),
        ({"adjacency": PATH[:3, :3]}, "membership has 4 rows and the graph has 3 nodes: give one row per node."),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(arguments, sentence):
    with pytest.raises(ParameterError) as caught:
        lipschitz_score(ROWS, **arguments)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("membership", "sentence"),
    [
        ([[1.0, 1], [0, -1]], "membership has negative or non-finite entries (first in row 1): expected values >= 0."),
        ([[1.0, 1], [0, 0]], "Row 1 of membership is all zero and cannot be scaled to sum to 1: give every node a membership, or pass labels."),
        ([["a", "b"]], "membership of shape (n_nodes, n_clusters) must hold numbers."),
        (["a", None], "1 of 2 membership are missing (first at position 1): give every node a label."),
        ([], "membership is empty: give at least one node."),
    ],
)  # fmt: skip
def test_memberships_that_are_none(membership, sentence):
    with pytest.raises(ParameterError) as caught:
        as_outputs(membership)
    assert str(caught.value) == sentence


def test_bounds_that_are_met_and_pairs_that_are_listed():
    report = lipschitz_score(
        list("aab"), pairs=[(0, 2), (1, 2), (0, 1)], distances=[0.5, 0.25, 1], bound=2, n_worst=0
    )
    assert (report.constant, report.violations, report.worst, report.bound, report.n_pairs) == (
        4,
        1 / 3,
        (),
        2,
        3,
    )
    assert lipschitz_score(list("ab"), pairs=[(0, 1)], distances=[0.5], bound=0).violations == 1
    three = lipschitz_score(list("aab"), pairs=[(1, 2), (0, 2), (0, 1)], distances=[0.5, 0.5, 1], n_worst=2)
    assert three.worst == ((1, 2, 2.0), (0, 2, 2.0))  # of equal ones the first
    edges = lipschitz_score([0, 0, 1, 1], adjacency=PATH, n_worst=3)
    assert edges.n_pairs == 3
    assert edges.worst[0][:2] == (1, 2)


def test_rows_with_names_are_matched():
    graph = Graph(PATH, np.array(["ann", "bob", "cem", "dea"]))
    expected = lipschitz_score(ROWS, adjacency=graph)
    table = pd.DataFrame(ROWS, index=["ann", "bob", "cem", "dea"])
    assert lipschitz_score(table.iloc[[2, 0, 3, 1]], adjacency=graph) == expected
    assert consistency_score({"dea": 1, "ann": 0, "bob": 0, "cem": 1}, adjacency=graph) == pytest.approx(0.75)
    with pytest.raises((ParameterError, GraphError), match="rows of the membership"):
        lipschitz_score(table.rename(index={"ann": "eve"}), adjacency=graph)
