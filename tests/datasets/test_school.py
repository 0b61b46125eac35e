"""The class of students that the demo shows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from equigraph.datasets import make_classroom
from equigraph.exceptions import ParameterError
from equigraph.graph.groups import contingency_table, encode_groups


def modularity(adjacency, labels):
    degree = adjacency.sum(axis=1)
    onehot = np.eye(labels.max() + 1)[labels]
    inside = np.trace(onehot.T @ (adjacency @ onehot))
    return inside / degree.sum() - np.sum((onehot.T @ degree / degree.sum()) ** 2)


def normalized_balance(labels, features):
    groups = encode_groups(features)
    table = contingency_table(labels, groups.codes, labels.max() + 1, groups.n_groups)
    ratio = table / table.sum(axis=1, keepdims=True) / groups.shares
    worst = np.minimum(ratio, 1 / np.maximum(ratio, 1e-9)).min(axis=1)
    return float(worst @ table.sum(axis=1) / labels.size)


def test_default_class():
    data = make_classroom()
    assert data.adjacency.shape == (30, 30)
    assert np.bincount(data.target).tolist() == [10, 10, 10]
    assert np.count_nonzero(data.sensitive_features == "girl") == 15
    assert set(data.house) == {"Falcon", "Heron", "Otter", "Wolf"}
    assert data.attribute == "gender"
    assert "30 students" in data.DESCR


@settings(max_examples=40, deadline=None)
@given(n=st.integers(12, 80), k=st.integers(1, 6), seed=st.integers(0, 10_000))
def test_any_class_is_believable(n, k, seed):
    if n < 6 * k:
        with pytest.raises(ParameterError, match="at least 6 students per circle"):
            make_classroom(n, n_circles=k, random_state=seed)
        return
    data = make_classroom(n, n_circles=k, random_state=seed)
    adjacency = data.adjacency
    degree = adjacency.sum(axis=1)
    assert 3 <= degree.min() <= degree.max() <= 7
    assert connected_components(adjacency)[0] == 1
    assert (adjacency != adjacency.T).nnz == 0
    assert adjacency.diagonal().sum() == 0
    assert np.unique(data.node_names).size == n
    assert set(data.sensitive_features) == {"girl", "boy"}
    assert np.unique(data.target).tolist() == list(range(k))


def test_same_seed_same_class():
    one, two, other = (
        make_classroom(random_state=4),
        make_classroom(random_state=4),
        make_classroom(random_state=5),
    )
    for key in one:
        if key == "adjacency":
            assert (one.adjacency != two.adjacency).nnz == 0
        else:
            assert np.array_equal(one[key], two[key])
    assert one.node_names.tolist() != other.node_names.tolist()


@pytest.mark.parametrize("n", [5, 1001, 30.0])
def test_refuses(n):
    with pytest.raises(ParameterError, match="n_students"):
        make_classroom(n)


@pytest.mark.parametrize("seed", range(3))
def test_circles_are_cohesive_and_unfair(seed):
    data = make_classroom(random_state=seed)
    assert modularity(data.adjacency, data.target) > 0.4
    assert 0.3 <= normalized_balance(data.target, data.sensitive_features) <= 0.5
