"""Multiplicative updates by numpy and by compiled loops, alone and many together, against the equations as printed."""

from functools import reduce

import numpy as np
import pytest
from scipy import sparse

from equigraph._utils.callbacks import Notifier
from equigraph.factorization.dfnmf import LayerSteps
from equigraph.factorization.factors import Status
from equigraph.factorization.multiplicative import iterate, keep_interaction, multiplicative_updates
from equigraph.factorization.penalties import Contrastive, GraphPenalty, GroupParity
from equigraph.stores.products import SerialProduct, memory_product
from tests.reference.dense import contrastive_laplacian, ifair_nmtf
from tests.reference.stored import random_graph

PRODUCTS = (SerialProduct, memory_product)


def start(rng, n, k):
    """Return factors; an asymmetric W exercises both terms of the equations."""
    return rng.random((n, k)), rng.random((k, k)) + np.eye(k)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("equigraph.stores.products._BLOCK_WORK", 60)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 12, 17])
@pytest.mark.parametrize("self_pairs", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_updates_follow_the_dense_equations(product, k, self_pairs, weighted):
    rng = np.random.default_rng(k)
    # One group has a single node.
    groups = rng.permutation(np.repeat(["a", "b", "c"], [25, 9, 1]))
    A = random_graph(groups.size, weighted, seed=k, density=0.3)
    H, W = start(rng, groups.size, k)
    L = contrastive_laplacian(groups, self_pairs)
    H_dense, W_dense, history = ifair_nmtf(A.toarray(), H, W, 0.7, L, 60)
    penalty = 0.7 * Contrastive(groups, self_pairs=self_pairs)
    factors = multiplicative_updates(product(A), H, W, penalty=penalty, max_iter=60, tol=0)
    np.testing.assert_allclose(factors.H, H_dense, rtol=0, atol=1e-10)
    np.testing.assert_allclose(factors.W, W_dense, rtol=0, atol=1e-9 * max(np.abs(W_dense).max(), 1))
    np.testing.assert_allclose(factors.history, history, rtol=1e-10)
    assert factors.status is Status.MAX_ITER
    assert factors.H.shape == (groups.size, k)
    assert factors.H.flags.c_contiguous


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_threads_give_the_same_bits(dtype):
    A = random_graph(90, True, dtype=dtype)
    H, W = start(np.random.default_rng(0), 90, 5)
    options = {"penalty": 2 * Contrastive(np.arange(90) % 4), "max_iter": 40, "tol": 1e-9}
    products = (memory_product(A, count) for count in (1, 2, 3))
    one, *others = (multiplicative_updates(product, H.astype(dtype), W, **options) for product in products)
    for other in others:
        for name in ("H", "W", "history"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_divergence_keeps_the_last_finite_factors(n_threads):
    rng = np.random.default_rng(4)
    groups = np.repeat([0, 1], [45, 5])
    product = memory_product(random_graph(50), n_threads)
    H, W = start(rng, 50, 3)
    penalty = 1e6 * Contrastive(groups, self_pairs=False)
    factors = multiplicative_updates(product, H, W, penalty=penalty, max_iter=20000, tol=0)
    assert factors.status is Status.DIVERGED
    assert np.isfinite(factors.H).all()
    assert np.isfinite(factors.W).all()
    assert 0 < factors.n_iter < 20000
    again = multiplicative_updates(product, H, W, penalty=penalty, max_iter=factors.n_iter, tol=0)
    np.testing.assert_array_equal(factors.H, again.H)
    np.testing.assert_array_equal(factors.W, again.W)


def test_tolerance_and_fixed_interaction():
    rng = np.random.default_rng(5)
    A = random_graph(40, True)
    H, W = start(rng, 40, 2)
    expected, early = (multiplicative_updates(make(A), H, W, max_iter=5000, tol=1e-3) for make in PRODUCTS)
    assert early.status is Status.CONVERGED
    assert early.n_iter == expected.n_iter
    assert early.change == pytest.approx(expected.change, rel=1e-6)
    fixed = multiplicative_updates(memory_product(A), H, np.eye(2), fit=keep_interaction, max_iter=30, tol=0)
    np.testing.assert_array_equal(fixed.W, np.eye(2))
    assert fixed.history[-1] == pytest.approx(np.linalg.norm(A.toarray() - fixed.H @ fixed.H.T) ** 2)


def test_a_penalty_without_tables_takes_the_plain_steps():
    A = random_graph(30)
    factors = start(np.random.default_rng(6), 30, 3)
    options = {"penalty": 0.1 * GraphPenalty(A), "max_iter": 10, "tol": 0}
    fused, plain = (multiplicative_updates(product(A), *factors, **options) for product in PRODUCTS)
    np.testing.assert_allclose(fused.H, plain.H, rtol=1e-10)


def dense_deep(A, H, W, F, lam, exponent, n_iter):
    """Run the deep updates with dense n x n matrices, left to right."""
    H = list(H)
    FF = F @ F.T
    up, down = np.maximum(FF, 0), np.maximum(-FF, 0)
    n = A.shape[0]
    for _ in range(n_iter):
        for i in range(len(H)):
            psi = reduce(np.dot, H)
            before, after = (
                reduce(np.dot, H[:i], np.eye(n)),
                reduce(np.dot, H[i + 1 :], np.eye(H[i].shape[1])),
            )
            num = A.T @ psi @ W + A @ psi @ W.T + lam * down @ psi
            den = psi @ W.T @ psi.T @ psi @ W + psi @ W @ psi.T @ psi @ W.T + lam * up @ psi
            ratio = (before.T @ num @ after.T) / np.maximum(before.T @ den @ after.T, 1e-10)
            H[i] = H[i] * ratio**exponent
        psi = reduce(np.dot, H)
        W = W * (psi.T @ A @ psi) / np.maximum(psi.T @ psi @ W @ psi.T @ psi, 1e-10)
    value = np.linalg.norm(A - psi @ W @ psi.T) ** 2 + lam * np.linalg.norm(F.T @ psi) ** 2
    return psi, W, value


def deep_updates(A, H, W, penalty, exponent, max_iter):
    steps = LayerSteps(SerialProduct(sparse.csr_array(A)), H, penalty, exponent)
    return iterate(steps, W, max_iter=max_iter, tol=0, notify=Notifier())


@pytest.mark.parametrize("layers", [(3,), (8, 3), (12, 6, 3)])
@pytest.mark.parametrize("exponent", [0.25, 0.5])
@pytest.mark.parametrize("all_columns", [True, False])
def test_deep_updates_follow_the_dense_equations(layers, exponent, all_columns):
    rng = np.random.default_rng(8)
    groups = rng.permutation(np.repeat([0, 1, 2], [14, 9, 7]))
    A = random_graph(30, weighted=True).toarray()
    shapes = zip((30, *layers[:-1]), layers, strict=True)
    H = [rng.random(shape) for shape in shapes]
    W = np.eye(3) + 1 / 3
    F = np.eye(3)[groups] - np.bincount(groups) / 30
    F = F if all_columns else F[:, :-1]
    psi, W_dense, value = dense_deep(A, H, W, F, 0.3, exponent, 15)
    factors = deep_updates(A, H, W, 0.3 * GroupParity(groups, all_columns=all_columns), exponent, max_iter=15)
    np.testing.assert_allclose(factors.H, psi, rtol=1e-8)
    np.testing.assert_allclose(factors.W, W_dense, rtol=1e-8)
    assert factors.history[-1] == pytest.approx(value, rel=1e-9)
