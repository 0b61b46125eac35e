"""Nodes without a group: they count for cohesion and sizes, and for no group's share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equigraph import metrics as m
from equigraph.graph.groups import encode_groups

SCORES = (m.balance_score, m.normalized_balance_score, m.mouflon_balance_score, m.evenness_score)
NODES = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["x", "y", "z", None])), min_size=2, max_size=30
).filter(lambda nodes: any(group for _, group in nodes))


def columns(nodes):
    labels = np.array([label for label, _ in nodes])
    values = np.array([group for _, group in nodes], dtype=object)
    return labels, values, encode_groups(values, missing="ignore")


@given(NODES)
def test_shares_are_among_grouped_nodes(nodes):
    labels, values, groups = columns(nodes)
    known = np.array([value is not None for value in values])
    for score in SCORES:
        expected = score(labels[known], sensitive_features=values[known].tolist())
        assert score(labels, sensitive_features=groups) == pytest.approx(expected)
    assert m.population_balance(groups) == m.population_balance(values[known].tolist())


@given(NODES, st.booleans(), st.booleans())
def test_individual_scores_are_those_of_the_graph_of_representatives(nodes, self_pairs, normalize):
    labels, values, groups = columns(nodes)
    known = groups.codes >= 0
    R = ((values[:, None] == values) & known[:, None] & known).astype(float)
    options = {"self_pairs": self_pairs, "normalize": normalize}
    per_node = m.individual_balance_score(labels, sensitive_features=groups, per_node=True, **options)
    expected = m.individual_balance_score(labels, representation=R, per_node=True, **options)
    assert np.isnan(per_node[~known]).all()
    np.testing.assert_allclose(per_node[known], expected[known])
    mean = m.individual_balance_score(labels, sensitive_features=groups, **options)
    assert mean == pytest.approx(expected[known].mean())
    found = m.representation_violation(None, labels, sensitive_features=groups, self_pairs=self_pairs)
    violations = m.representation_violation(R, labels, self_pairs=self_pairs)
    np.testing.assert_allclose(found[known], violations[known], atol=1e-12)
    assert not found[~known].any()


def test_sizes_count_nodes_without_a_group():
    what = m.composition(
        [0, 0, 0, 1, 2], sensitive_features=encode_groups(["x", "y", None, "x", None], missing="ignore")
    )
    assert what.sizes.tolist() == [3, 1, 1]
    assert what.ungrouped.tolist() == [1, 0, 1]
    np.testing.assert_allclose(what.shares, [[0.5, 0.5], [1, 0], [0, 0]])
    np.testing.assert_allclose(what.population, [2 / 3, 1 / 3])
    assert str(what).splitlines() == [
        "cluster  size         x         y  no group",
        "0           3  1 ( 50%)  1 ( 50%)         1",
        "1           1  1 (100%)  0 (  0%)         0",
        "2           1  0 (  0%)  0 (  0%)         1",
        "all         5  2 ( 67%)  1 ( 33%)         2",
    ]


def test_group_modularity_leaves_out_nodes_without_a_group():
    A = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    labels = [0, 0, 1, 1]
    groups = encode_groups(["x", "x", "y", None], missing="ignore")
    parts = m.group_modularity_scores(A, labels, sensitive_features=groups)
    whole = m.group_modularity_scores(A, labels, sensitive_features=["x", "x", "y", "w"])
    assert parts == {"x": whole["x"], "y": whole["y"]}
    assert sum(whole.values()) == pytest.approx(m.modularity_score(A, labels))
