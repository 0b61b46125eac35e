"""Constraints from groups and from representation graphs."""

import numpy as np
import pytest
from scipy import linalg, sparse

from equigraph.exceptions import ParameterError
from equigraph.spectral.embedding import group_constraint, group_indicators
from equigraph.spectral.individual import check_representation, exact_row_space, low_rank_row_space


def _group_graph(codes):
    return sparse.csr_array((codes[:, None] == codes[None]).astype(float))


def _same_space(one, two):
    return one.shape[1] == two.shape[1] and float(linalg.subspace_angles(one, two).max()) < 1e-7


def test_group_constraint_drops_absent_groups_and_one_column():
    codes = np.array([0, 0, 3, 3, 1])
    F = group_constraint(codes, 5)
    assert F.shape == (5, 2)
    np.testing.assert_allclose(F.sum(axis=0), 0, atol=1e-15)
    assert np.linalg.matrix_rank(F) == 2


def test_proportional_clusters_meet_the_constraint_and_others_do_not():
    codes = np.array([0, 0, 1, 0, 0, 1])
    F = group_constraint(codes, 2)
    np.testing.assert_allclose(F.T @ np.array([1, 1, 1, 0, 0, 0]), 0, atol=1e-15)
    assert np.abs(F.T @ np.array([1, 1, 0, 0, 0, 0])).max() > 0.5


def test_group_indicators_exclude_the_constant_vector():
    G = group_indicators(np.array([0, 2, 2]), 3)
    assert G.tolist() == [[1, 0], [0, 1], [0, 1]]


def test_groups_as_representation_graph_give_the_group_constraint():
    codes = np.random.default_rng(0).integers(0, 4, 50)
    assert _same_space(exact_row_space(_group_graph(codes)), group_constraint(codes, 4))


def test_row_space_matches_svd_for_a_weighted_graph_of_low_rank():
    rng = np.random.default_rng(1)
    half = rng.integers(0, 3, (40, 5)).astype(float)
    R = sparse.csr_array(half @ half.T)
    centred = R.toarray() - R.toarray().mean(axis=1, keepdims=True)
    basis = exact_row_space(R)
    np.testing.assert_allclose(basis.T @ basis, np.eye(basis.shape[1]), atol=1e-12)
    assert _same_space(basis, linalg.orth(centred.T, rcond=1e-10))


def test_low_rank_of_full_rank_of_groups_is_exact():
    codes = np.random.default_rng(0).integers(0, 4, 150)
    low = low_rank_row_space(_group_graph(codes), 4)
    assert _same_space(linalg.orth(low, rcond=1e-8), group_constraint(codes, 4))


@pytest.mark.parametrize("n", [60, 150])
def test_low_rank_takes_the_largest_absolute_eigenvalues(n):
    rng = np.random.default_rng(2)
    R = np.triu(rng.random((n, n)) < 0.2).astype(float)
    R = R + np.triu(R, 1).T
    values, vectors = np.linalg.eigh(R)
    top = vectors[:, np.argsort(-np.abs(values))[:5]]
    assert _same_space(low_rank_row_space(sparse.csr_array(R), 5), top - top.mean(axis=0))


def test_self_loops_are_added_where_missing():
    R = check_representation(sparse.csr_array([[0.0, 2.0], [2.0, 0.5]]), 2)
    assert R.toarray().tolist() == [[2.0, 2.0], [2.0, 0.5]]
    assert check_representation(np.zeros((2, 2)), 2).toarray().tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "shape"),
        (np.array([[1.0, 1.0], [0.0, 1.0]]), "symmetric"),
        (-np.ones((2, 2)), "nonnegative"),
        (np.full((2, 2), np.nan), "finite"),
        (np.array([["a", "b"], ["b", "a"]]), "numbers"),
    ],
)
def test_bad_representation_graphs_are_refused(matrix, message):
    with pytest.raises(ParameterError, match=message):
        check_representation(matrix, 2)
