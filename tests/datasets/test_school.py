"""The class of students that the demo shows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from equigraph.datasets import make_classroom
from equigraph.exceptions import ParameterError
from equigraph.metrics import modularity_score, normalized_balance_score


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
    one, two, other = (make_classroom(random_state=seed) for seed in (4, 4, 5))
    assert (one.pop("adjacency") != two.pop("adjacency")).nnz == 0
    assert all(np.array_equal(one[key], two[key]) for key in one)
    assert one.node_names.tolist() != other.node_names.tolist()


@pytest.mark.parametrize("n", [5, 1001, 30.0])
def test_refuses(n):
    with pytest.raises(ParameterError, match="n_students"):
        make_classroom(n)


@pytest.mark.parametrize("seed", range(3))
def test_circles_are_cohesive_and_unfair(seed):
    data = make_classroom(random_state=seed)
    assert modularity_score(data.adjacency, data.target) > 0.4
    features = data.sensitive_features
    assert 0.3 <= normalized_balance_score(data.target, sensitive_features=features) <= 0.5
