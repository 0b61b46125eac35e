"""Compiled multiplicative updates, alone and many together, against the equations as printed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from equigraph._utils.callbacks import Notifier
from equigraph.factorization.multiplicative import Status, multiplicative_updates
from equigraph.factorization.penalties import Contrastive, GraphPenalty, GroupParity, Scatter
from equigraph.factorization.row_steps import run_fits
from equigraph.stores.products import SerialProduct, memory_product
from tests.reference.dense import contrastive_laplacian, ifair_nmtf


def random_graph(rng, n, weighted, density=0.3):
    upper = np.triu(rng.random((n, n)) < density, 1) * (rng.random((n, n)) + 0.1 if weighted else 1.0)
    upper[0] = 0
    upper[:, 0] = 0  # a node without edges
    return upper + upper.T


def start(rng, n, k):
    return rng.random((n, k)), rng.random((k, k)) + np.eye(k)


def small_blocks(monkeypatch):
    monkeypatch.setattr("equigraph.stores.products._BLOCK_WORK", 60)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 8, 17])
@pytest.mark.parametrize("self_pairs", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_fused_updates_follow_the_dense_equations(k, self_pairs, weighted, monkeypatch):
    small_blocks(monkeypatch)
    rng = np.random.default_rng(k)
    # One group has a single node.
    groups = rng.permutation(np.repeat(["a", "b", "c"], [25, 9, 1]))
    A = random_graph(rng, groups.size, weighted)
    H, W = start(rng, groups.size, k)
    L = contrastive_laplacian(groups, self_pairs)
    H_dense, W_dense, history = ifair_nmtf(A, H, W, 0.7, L, 60)
    factors = multiplicative_updates(
        memory_product(sparse.csr_array(A)),
        H,
        W,
        penalty=0.7 * Contrastive(groups, self_pairs=self_pairs),
        max_iter=60,
        tol=0,
    )
    np.testing.assert_allclose(factors.H, H_dense, rtol=0, atol=1e-10)
    np.testing.assert_allclose(factors.W, W_dense, rtol=0, atol=1e-9 * max(np.abs(W_dense).max(), 1))
    np.testing.assert_allclose(factors.history, history, rtol=1e-10)
    assert factors.status is Status.MAX_ITER
    assert factors.H.shape == (groups.size, k)
    assert factors.H.flags.c_contiguous


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 40), st.integers(1, 9), st.booleans(), st.booleans(), st.integers(0, 2**16))
def test_fused_and_plain_steps_agree(n, k, weighted, single, seed):
    rng = np.random.default_rng(seed)
    dtype = np.float32 if single else np.float64
    A = sparse.csr_array(random_graph(rng, n, weighted).astype(dtype))
    H, W = start(rng, n, k)
    groups = np.arange(n) % 3
    penalty = 0.3 * GroupParity(groups) + 0.2 * Scatter(groups)
    plain, fused = (
        multiplicative_updates(product(A), H.astype(dtype), W, penalty=penalty, max_iter=8, tol=0)
        for product in (SerialProduct, memory_product)
    )
    assert fused.H.dtype == dtype
    tolerance = 1e-3 if single else 1e-9
    np.testing.assert_allclose(fused.H, plain.H, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(fused.history, plain.history, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_give_the_same_bits(dtype, n_threads, monkeypatch):
    small_blocks(monkeypatch)
    rng = np.random.default_rng(0)
    groups = np.arange(90) % 4
    A = sparse.csr_array(random_graph(rng, 90, True).astype(dtype))
    H, W = start(rng, 90, 5)
    one, many = (
        multiplicative_updates(
            memory_product(A, count),
            H.astype(dtype),
            W,
            penalty=2 * Contrastive(groups),
            max_iter=40,
            tol=1e-9,
        )
        for count in (1, n_threads)
    )
    np.testing.assert_array_equal(one.H, many.H)
    np.testing.assert_array_equal(one.W, many.W)
    np.testing.assert_array_equal(one.history, many.history)
    assert one.change == many.change


@pytest.mark.parametrize("n_threads", [1, 2])
def test_listeners_hear_the_same_numbers(n_threads, monkeypatch):
    small_blocks(monkeypatch)
    rng = np.random.default_rng(1)
    product = memory_product(sparse.csr_array(random_graph(rng, 60, False)), n_threads)
    H, W = start(rng, 60, 3)
    seen = []
    silent = multiplicative_updates(product, H, W, max_iter=30, tol=0)
    heard = multiplicative_updates(product, H, W, max_iter=30, tol=0, notify=Notifier(seen.append))
    assert [progress.step for progress in seen] == list(range(1, 31))
    assert [progress.objective for progress in seen] == silent.history.tolist()
    np.testing.assert_array_equal(heard.H, silent.H)

    def stop(progress):
        return progress.step == 7

    stopped = multiplicative_updates(product, H, W, max_iter=30, tol=0, notify=Notifier(stop))
    assert stopped.status is Status.STOPPED
    np.testing.assert_array_equal(stopped.history, silent.history[:7])
    np.testing.assert_array_equal(stopped.H, multiplicative_updates(product, H, W, max_iter=7, tol=0).H)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_divergence_keeps_the_last_finite_factors(n_threads, monkeypatch):
    small_blocks(monkeypatch)
    rng = np.random.default_rng(4)
    groups = np.repeat([0, 1], [45, 5])
    product = memory_product(sparse.csr_array(random_graph(rng, 50, False)), n_threads)
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
    A = random_graph(rng, 40, True)
    H, W = start(rng, 40, 2)
    product, plain = memory_product(sparse.csr_array(A)), SerialProduct(sparse.csr_array(A))
    early, expected = (multiplicative_updates(p, H, W, max_iter=5000, tol=1e-3) for p in (product, plain))
    assert early.status is Status.CONVERGED
    assert early.n_iter == expected.n_iter
    assert early.change == pytest.approx(expected.change, rel=1e-6)
    fixed = multiplicative_updates(product, H, np.eye(2), fit_interaction=False, max_iter=30, tol=0)
    np.testing.assert_array_equal(fixed.W, np.eye(2))
    assert fixed.history[-1] == pytest.approx(np.linalg.norm(A - fixed.H @ fixed.H.T) ** 2)


def test_a_penalty_without_tables_takes_the_plain_steps():
    rng = np.random.default_rng(6)
    A = sparse.csr_array(random_graph(rng, 30, False))
    H, W = start(rng, 30, 3)
    penalty = 0.1 * GraphPenalty(A)
    fused, plain = (
        multiplicative_updates(product(A), H, W, penalty=penalty, max_iter=10, tol=0)
        for product in (memory_product, SerialProduct)
    )
    np.testing.assert_allclose(fused.H, plain.H, rtol=1e-10)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("n_fits", [1, 9])
def test_fits_together_are_the_fits_alone(dtype, k, n_fits, monkeypatch):
    small_blocks(monkeypatch)
    rng = np.random.default_rng(k)
    groups = np.arange(50) % 3
    product = memory_product(sparse.csr_array(random_graph(rng, 50, True).astype(dtype)))
    weights = np.linspace(0, 30, n_fits)
    starts = [start(np.random.default_rng(seed), 50, k) for seed in range(n_fits)]
    # Different ends: some converge, some run out of iterations; weight 0 has no penalty.
    limits = {"max_iter": 45, "tol": 5e-3}
    fits = [
        (H.astype(dtype), W, weight * Contrastive(groups, self_pairs=False))
        for (H, W), weight in zip(starts, weights, strict=True)
    ]
    found = dict(run_fits(product, fits, n_threads=2, **limits))
    assert sorted(found) == list(range(n_fits))
    for place, ((H, W), weight) in enumerate(zip(starts, weights, strict=True)):
        penalty = weight * Contrastive(groups, self_pairs=False)
        alone = multiplicative_updates(product, H.astype(dtype), W, penalty=penalty, **limits)
        together = found[place]
        assert together.status is alone.status
        assert together.change == alone.change
        np.testing.assert_array_equal(together.history, alone.history)
        np.testing.assert_array_equal(together.H, alone.H)
        np.testing.assert_array_equal(together.W, alone.W)


def test_a_fit_that_diverges_leaves_the_others_alone():
    rng = np.random.default_rng(8)
    groups = np.repeat([0, 1], [45, 5])
    product = memory_product(sparse.csr_array(random_graph(rng, 50, False)))
    H, W = start(rng, 50, 3)
    weights = [1e6, 0.1, 0.2, 1e6, 0.3, 0.4, 0.5, 0.6]
    penalties = [weight * Contrastive(groups, self_pairs=False) for weight in weights]
    fits = [(H, W, penalty) for penalty in penalties]
    limits = {"max_iter": 200, "tol": 0}
    found = dict(run_fits(product, fits, **limits))
    assert [found[place].status is Status.DIVERGED for place in range(4)] == [True, False, False, True]
    for place, penalty in enumerate(penalties):
        alone = multiplicative_updates(product, H, W, penalty=penalty, **limits)
        assert found[place].status is alone.status
        np.testing.assert_array_equal(found[place].history, alone.history)
        np.testing.assert_array_equal(found[place].H, alone.H)
        assert np.isfinite(found[place].W).all()
