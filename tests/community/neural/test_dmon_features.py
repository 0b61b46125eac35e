"""Node features made from groups and from the graph."""

import numpy as np
import pytest
from scipy import sparse

from equigraph.community.neural.features import sensitive_columns, structural_columns
from equigraph.exceptions import InfeasibleError
from equigraph.graph.groups import encode_groups


def random_graph(n, seed=0, share=0.1):
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    return sparse.csr_array(dense + dense.T)


def test_sensitive_columns_are_one_hot():
    X = sensitive_columns(encode_groups(["x", "y", "z", "x"]))
    assert X.tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize("n", [20, 150])
def test_structural_columns_span_the_leading_eigenspace(n):
    A = random_graph(n)
    X = structural_columns(A, 4, np.random.default_rng(0))
    scale = 1 / np.sqrt(np.maximum(A.toarray().sum(axis=1), 1e-300))
    scale[A.toarray().sum(axis=1) == 0] = 0
    vectors = np.linalg.eigh(scale[:, None] * A.toarray() * scale)[1][:, :-5:-1]
    angles = np.linalg.svd(vectors.T @ X[:, :4] / np.sqrt(n), compute_uv=False)
    np.testing.assert_allclose(angles, 1, atol=1e-5)
    np.testing.assert_allclose((X**2).mean(axis=0), 1, atol=1e-9)
    assert abs(X[:, 4].mean()) < 1e-12


def test_structural_columns_repeat_and_take_isolated_nodes_and_equal_degrees():
    A = sparse.block_diag([random_graph(90), sparse.csr_array((3, 3))], format="csr")
    A = sparse.csr_array(A)
    first, second = (structural_columns(A, 3, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(first, second)
    assert np.isfinite(first).all()
    ring = sparse.csr_array(np.roll(np.eye(10), 1, axis=0) + np.roll(np.eye(10), -1, axis=0))
    assert not structural_columns(ring, 2, np.random.default_rng(0))[:, 2].any()


def test_more_eigenvectors_than_nodes():
    with pytest.raises(InfeasibleError, match="n_structural=21"):
        structural_columns(random_graph(20), 21, np.random.default_rng(0))
