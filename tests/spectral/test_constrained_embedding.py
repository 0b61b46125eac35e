"""The constrained embedding against a dense oracle that uses an explicit basis of the feasible subspace."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse

from equigraph.exceptions import InfeasibleError
from equigraph.spectral import embedding
from equigraph.spectral.embedding import constrained_embedding, group_constraint
from equigraph.spectral.individual import check_representation, low_rank_row_space


def random_graph(n, mean_degree, seed, *, weighted=False):
    """Return a connected random graph: a random tree plus random edges."""
    rng = np.random.default_rng(seed)
    tree = np.column_stack([np.arange(1, n), (rng.random(n - 1) * np.arange(1, n)).astype(int)])
    ends = np.vstack([tree, rng.integers(0, n, (n * mean_degree // 2, 2))])
    ends = ends[ends[:, 0] != ends[:, 1]]
    dense = np.zeros((n, n))
    dense[ends[:, 0], ends[:, 1]] = rng.uniform(0.1, 3.0, len(ends)) if weighted else 1.0
    return sparse.csr_array(np.maximum(dense, dense.T))


def oracle(adjacency, constraint, n_vectors, normalized):
    """Solve the problem as the original paper does: null-space basis Z, then a dense eigenproblem."""
    A = adjacency.toarray()
    d = A.sum(axis=1)
    Z = np.eye(len(A)) if constraint is None else linalg.null_space(constraint.T)
    B = Z.T @ np.diag(d) @ Z if normalized else Z.T @ Z
    values, Y = linalg.eigh(Z.T @ (np.diag(d) - A) @ Z, B)
    return values[: n_vectors + 1], Z @ Y[:, :n_vectors]


def largest_angle(one, two):
    return float(linalg.subspace_angles(one, two).max())


@pytest.mark.parametrize("method", ["dense", "iterate", "factor"])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("n_groups", [1, 2, 3, 4])
@pytest.mark.parametrize("weighted", [True, False])
def test_eigenvalues_and_subspace_match_dense_oracle(method, normalized, n_groups, weighted):
    n, k = 130, 4
    A = random_graph(n, 6, seed=n_groups, weighted=weighted)
    codes = np.random.default_rng(5).integers(0, n_groups, n)
    F = group_constraint(codes, n_groups)
    expected, vectors = oracle(A, F, k, normalized)
    values, H = constrained_embedding(A, F, k, normalized=normalized, method=method)
    np.testing.assert_allclose(values, expected[:k], atol=1e-10)
    assert expected[k] - expected[k - 1] > 1e-4  # otherwise the subspace is not determined
    assert largest_angle(H, vectors) < 1e-6
    metric = np.diag(A.sum(axis=1)) if normalized else np.eye(n)
    np.testing.assert_allclose(H.T @ metric @ H, np.eye(k), atol=1e-10)
    assert np.abs(F.T @ H).max(initial=0) < 1e-12


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(6, 40),
    n_groups=st.integers(1, 4),
    k=st.integers(2, 4),
    seed=st.integers(0, 1000),
    normalized=st.booleans(),
)
def test_tiny_graphs_match_oracle(n, n_groups, k, seed, normalized):
    A = random_graph(n, 2, seed, weighted=True)
    codes = np.random.default_rng(seed).integers(0, n_groups, n)
    F = group_constraint(codes, n_groups)
    assume(n - F.shape[1] >= k)
    expected, _ = oracle(A, F if F.shape[1] else None, k, normalized)
    values, H = constrained_embedding(A, F, k, normalized=normalized)
    np.testing.assert_allclose(values, expected[:k], atol=1e-9)
    assert np.abs(F.T @ H).max(initial=0) < 1e-10


def _cycle(n):
    return sparse.csr_array(np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0))


def _hypercube(bits):
    nodes = np.arange(2**bits)
    rows, flips = np.repeat(nodes, bits), np.tile(1 << np.arange(bits), nodes.size)
    return sparse.csr_array((np.ones(rows.size), (rows, rows ^ flips)), shape=(nodes.size, nodes.size))


@pytest.mark.parametrize("method", ["iterate", "factor"])
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize(
    "adjacency",
    [
        pytest.param(_cycle(200), id="cycle"),
        pytest.param(_hypercube(8), id="hypercube"),
        pytest.param(sparse.csr_array(np.ones((150, 150)) - np.eye(150)), id="complete"),
    ],
)
def test_multiple_eigenvalues_are_all_found(adjacency, normalized, method):
    expected, _ = oracle(adjacency, None, 8, normalized)
    values, _ = constrained_embedding(adjacency, None, 8, normalized=normalized, method=method)
    np.testing.assert_allclose(values, expected[:8], atol=1e-9)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("n_parts", [2, 3, 9])
def test_disconnected_graph(normalized, n_parts):
    A = sparse.csr_array(sparse.block_diag([random_graph(35, 4, seed) for seed in range(n_parts)]))
    codes = np.random.default_rng(0).integers(0, 3, A.shape[0])
    F = group_constraint(codes, 3)
    expected, _ = oracle(A, F, 5, normalized)
    values, H = constrained_embedding(A, F, 5, normalized=normalized)
    np.testing.assert_allclose(values, expected[:5], atol=1e-9)
    assert np.count_nonzero(values < 1e-9) == min(5, max(1, n_parts - 2))
    assert np.abs(F.T @ H).max() < 1e-10
    assert np.linalg.matrix_rank(H) == 5


def test_more_components_than_vectors_keeps_the_largest_apart():
    A = sparse.csr_array(sparse.block_diag([random_graph(m, 4, m) for m in (40, 30, 5, 4, 3)]))
    _, H = constrained_embedding(A, None, 3, normalized=True)
    points = np.unique(H.round(12), axis=0)
    assert len(points) == 3
    assert len({tuple(H[i].round(12)) for i in (0, 40, 70)}) == 3


def test_constraint_that_leaves_exactly_enough():
    A = random_graph(120, 4, 0)
    F = np.random.default_rng(0).standard_normal((120, 116))
    F -= F.mean(axis=0)
    expected, _ = oracle(A, F, 3, False)
    values, H = constrained_embedding(A, F, 4, normalized=False)
    np.testing.assert_allclose(values[:3], expected[:3], atol=1e-9)
    assert np.abs(F.T @ H).max() < 1e-10


def test_dependent_and_zero_columns_do_not_matter():
    A = random_graph(130, 4, 0)
    F = group_constraint(np.arange(130) % 3, 3)
    more = np.column_stack([F, F.sum(axis=1), np.zeros(130)])
    one = constrained_embedding(A, F, 4, normalized=True)[0]
    np.testing.assert_allclose(constrained_embedding(A, more, 4, normalized=True)[0], one, atol=1e-10)


def test_another_solver_is_tried_when_one_fails_and_none_left_is_an_error(monkeypatch):
    path = sparse.csr_array(np.eye(200, k=1) + np.eye(200, k=-1))
    monkeypatch.setattr(embedding, "_ATTEMPTS", ((1, 2),))  # two restarts: enough after a factorisation only
    values, _ = constrained_embedding(path, None, 3, normalized=True, method="iterate")
    np.testing.assert_allclose(values, oracle(path, None, 3, True)[0][:3], atol=1e-10)
    monkeypatch.setattr(embedding, "_methods", lambda laplacian, method: ("iterate",))
    with pytest.raises(InfeasibleError, match="did not converge"):
        constrained_embedding(path, None, 3, normalized=True)


def test_group_constraint_drops_absent_groups_and_one_column():
    codes = np.array([0, 0, 3, 3, 1])
    F = group_constraint(codes, 5)
    assert F.shape == (5, 2)
    np.testing.assert_allclose(F.sum(axis=0), 0, atol=1e-15)
    assert np.linalg.matrix_rank(F) == 2
    # A cluster that mirrors the population meets the constraint, another does not.
    F = group_constraint(np.array([0, 0, 1, 0, 0, 1]), 2)
    np.testing.assert_allclose(F.T @ [1, 1, 1, 0, 0, 0], 0, atol=1e-15)
    assert np.abs(F.T @ [1, 1, 0, 0, 0, 0]).max() > 0.5


@pytest.mark.parametrize("n", [60, 150])
def test_low_rank_takes_the_largest_absolute_eigenvalues(n):
    rng = np.random.default_rng(2)
    R = np.triu(rng.random((n, n)) < 0.2).astype(float)
    R = R + np.triu(R, 1).T
    values, vectors = np.linalg.eigh(R)
    top = vectors[:, np.argsort(-np.abs(values))[:5]]
    assert largest_angle(low_rank_row_space(sparse.csr_array(R), 5), top - top.mean(axis=0)) < 1e-7


def test_self_loops_are_added_where_missing():
    R = check_representation(sparse.csr_array([[0.0, 2.0], [2.0, 0.5]]), 2)
    assert R.toarray().tolist() == [[2.0, 2.0], [2.0, 0.5]]
    assert check_representation(np.zeros((2, 2)), 2).toarray().tolist() == [[1, 0], [0, 1]]
