"""The sparse solver against the equations as printed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from equigraph._utils.callbacks import Notifier
from equigraph.factorization.dfnmf import OnRows, deep_updates, with_rows
from equigraph.factorization.multiplicative import Status, multiplicative_updates
from equigraph.factorization.penalties import Contrastive, GroupParity
from equigraph.stores.products import SerialProduct
from tests.reference.dense import contrastive_laplacian, ifair_nmtf, objective


def random_graph(rng, n, weighted):
    upper = np.triu(rng.random((n, n)) < 0.3, 1) * (rng.random((n, n)) + 0.1 if weighted else 1.0)
    return upper + upper.T


def start(rng, n, k, symmetric=True):
    W = rng.random((k, k)) + np.eye(k)
    return rng.random((n, k)), (W + W.T) / 2 if symmetric else W


@pytest.mark.parametrize("k", [2, 3, 5, 8, 12])
@pytest.mark.parametrize("self_pairs", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_sparse_model_follows_the_dense_equations(k, self_pairs, weighted):
    rng = np.random.default_rng(k)
    groups = rng.permutation(np.repeat(["a", "b", "c"], [25, 9, 6]))
    A = random_graph(rng, groups.size, weighted)
    # An asymmetric W exercises both terms of the equations.
    H, W = start(rng, groups.size, k, symmetric=False)
    L = contrastive_laplacian(groups, self_pairs)
    H_dense, W_dense, history = ifair_nmtf(A, H, W, 0.7, L, 100)

    penalty = 0.7 * Contrastive(groups, self_pairs=self_pairs)
    factors = multiplicative_updates(
        SerialProduct(sparse.csr_array(A)), H, W, penalty=penalty, max_iter=100, tol=0
    )

    np.testing.assert_allclose(factors.H, H_dense, rtol=0, atol=1e-10)
    np.testing.assert_allclose(factors.W, W_dense, rtol=0, atol=1e-10)
    np.testing.assert_allclose(factors.history, history, rtol=1e-10)
    assert factors.status is Status.MAX_ITER


@given(st.integers(2, 4), st.integers(2, 5), st.floats(0, 50), st.integers(0, 2**16))
def test_objective_never_rises_for_equal_groups(n_groups, k, lam, seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), 6)
    A = random_graph(rng, groups.size, weighted=True)
    H, W = start(rng, groups.size, k)
    product = SerialProduct(sparse.csr_array(A))
    penalty = lam * Contrastive(groups)
    factors = multiplicative_updates(product, H, W, penalty=penalty, max_iter=40, tol=0)
    first = objective(A, H, W, lam, contrastive_laplacian(groups, True))
    path = np.r_[first, factors.history]
    assert (np.diff(path) <= 1e-9 * np.abs(path[0])).all()


def dense_deep(A, H, W, F, lam, exponent, n_iter):
    """Run the deep updates with dense n x n matrices, left to right."""
    H = list(H)
    FF = F @ F.T
    up, down = np.maximum(FF, 0), np.maximum(-FF, 0)
    n = A.shape[0]
    for _ in range(n_iter):
        for i in range(len(H)):
            psi = np.linalg.multi_dot(H) if len(H) > 1 else H[0]
            before, after = np.eye(n), np.eye(psi.shape[1])
            for factor in H[:i]:
                before = before @ factor
            for factor in reversed(H[i + 1 :]):
                after = factor @ after if after.shape[0] == factor.shape[1] else factor
            num = before.T @ (A.T @ psi @ W + A @ psi @ W.T + lam * down @ psi) @ after.T
            den = (
                before.T
                @ (psi @ W.T @ psi.T @ psi @ W + psi @ W @ psi.T @ psi @ W.T + lam * up @ psi)
                @ after.T
            )
            H[i] = H[i] * (num / np.maximum(den, 1e-10)) ** exponent
        psi = np.linalg.multi_dot(H) if len(H) > 1 else H[0]
        W = W * (psi.T @ A @ psi) / np.maximum(psi.T @ psi @ W @ psi.T @ psi, 1e-10)
    value = np.linalg.norm(A - psi @ W @ psi.T) ** 2 + lam * np.linalg.norm(F.T @ psi) ** 2
    return psi, W, value


@pytest.mark.parametrize("layers", [(3,), (8, 3), (12, 6, 3)])
@pytest.mark.parametrize("exponent", [0.25, 0.5])
@pytest.mark.parametrize("all_columns", [True, False])
def test_deep_updates_follow_the_dense_equations(layers, exponent, all_columns):
    rng = np.random.default_rng(8)
    groups = rng.permutation(np.repeat([0, 1, 2], [14, 9, 7]))
    A = random_graph(rng, 30, weighted=True)
    shapes = zip((30, *layers[:-1]), layers, strict=True)
    H = [rng.random(shape) for shape in shapes]
    W = np.eye(3) + 1 / 3
    F = np.eye(3)[groups] - np.bincount(groups) / 30
    F = F if all_columns else F[:, :-1]
    psi, W_dense, value = dense_deep(A, H, W, F, 0.3, exponent, 15)
    factors = deep_updates(
        SerialProduct(sparse.csr_array(A)),
        H,
        W,
        penalty=0.3 * GroupParity(groups, all_columns=all_columns),
        exponent=exponent,
        max_iter=15,
        tol=0,
        notify=Notifier(),
    )
    np.testing.assert_allclose(factors.H, psi, rtol=1e-8)
    np.testing.assert_allclose(factors.W, W_dense, rtol=1e-8)
    assert factors.history[-1] == pytest.approx(value, rel=1e-9)


def test_a_step_without_their_rows_is_a_step_with_rows_of_zeros():
    rng = np.random.default_rng(0)
    dense = np.zeros((9, 9))
    linked = np.array([0, 2, 3, 5, 6, 8])
    block = rng.random((6, 6))
    dense[np.ix_(linked, linked)] = block + block.T
    np.fill_diagonal(dense, 0)
    penalty = 0.7 * GroupParity(np.array([0, 1, 0, 1, 1, 0, 1, 0, 1]))
    first, second, W = rng.random((6, 3)), rng.random((3, 2)), np.eye(2) + 0.5
    limits = {"exponent": 0.25, "max_iter": 5, "tol": 0.0, "notify": Notifier()}
    all_of_them = deep_updates(
        SerialProduct(sparse.csr_array(dense)), [with_rows(first, linked, 9), second], W, penalty=penalty, **limits
    )  # fmt: skip
    some = deep_updates(
        SerialProduct(sparse.csr_array(dense[np.ix_(linked, linked)])),
        [first, second],
        W,
        penalty=OnRows(penalty, linked, 9),
        **limits,
    )
    np.testing.assert_allclose(with_rows(some.H, linked, 9), all_of_them.H, rtol=1e-12)
    np.testing.assert_allclose(some.history, all_of_them.history, rtol=1e-12)
