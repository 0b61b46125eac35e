"""The loss against dense numpy formulas, and hand-written gradients against autograd."""

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip("torch", reason="needs the extra 'neural'")

from equigraph.community.neural.loss import (  # noqa: E402
    QuadraticForm,
    SymmetricProduct,
    collapse_term,
    dmon_loss,
    soft_modularity,
    torch_graph,
)

DOUBLE = {"dtype": torch.float64, "device": torch.device("cpu")}


def weighted_graph(n=14, seed=0):
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    dense[:, -1] = 0  # the last node is isolated
    return sparse.csr_array(dense + dense.T)


def soft(n, k, seed=1):
    C = np.random.default_rng(seed).random((n, k))
    return C / C.sum(axis=1, keepdims=True)


def dense_loss(A, C, *, null_model, collapse):
    """Return the loss with every matrix written out; "google" divides by 2 once more in both places."""
    A = A.toarray()
    d = A.sum(axis=1)
    edges = A.sum() if null_model == "google" else A.sum() / 2
    B = A - np.outer(d, d) / (2 * edges)
    n, k = C.shape
    return -np.trace(C.T @ B @ C) / (2 * edges) + collapse * (
        np.sqrt(k) / n * np.linalg.norm(C.sum(axis=0)) - 1
    )


@pytest.mark.parametrize("null_model", ["paper", "google"])
@pytest.mark.parametrize("collapse", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e9])
def test_loss_is_the_dense_formula(null_model, collapse, scale):
    A = weighted_graph() * scale
    C = soft(14, 3)
    got = dmon_loss(torch_graph(A, **DOUBLE), torch.from_numpy(C), null_model=null_model, collapse=collapse)
    assert float(got) == pytest.approx(dense_loss(A, C, null_model=null_model, collapse=collapse), abs=1e-12)


def test_one_hot_rows_give_the_modularity_of_two_cliques():
    block = np.ones((4, 4)) - np.eye(4)
    graph = torch_graph(sparse.csr_array(np.kron(np.eye(2), block)), **DOUBLE)
    C = torch.from_numpy(np.kron(np.eye(2), np.ones((4, 1))))
    assert float(soft_modularity(graph, C)) == pytest.approx(0.5)


@pytest.mark.parametrize("k", [2, 5])
def test_collapse_term_at_both_ends(k):
    equal = torch.eye(k, dtype=torch.float64).repeat(3, 1)
    one = torch.zeros(3 * k, k, dtype=torch.float64)
    one[:, 0] = 1
    assert float(collapse_term(equal)) == pytest.approx(0, abs=1e-15)
    assert float(collapse_term(torch.full((7, k), 1 / k, dtype=torch.float64))) == pytest.approx(0, abs=1e-14)
    assert float(collapse_term(one)) == pytest.approx(np.sqrt(k) - 1)


@pytest.mark.parametrize("function", [SymmetricProduct, QuadraticForm])
def test_gradients_by_finite_differences(function):
    weights = torch_graph(weighted_graph(), **DOUBLE).weights
    C = torch.from_numpy(soft(14, 3)).requires_grad_()
    assert torch.autograd.gradcheck(lambda columns: function.apply(weights, columns), (C,))
