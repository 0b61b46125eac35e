"""Coordinate descent: its parts; it never rises, it arrives, and it costs one pass over the graph per step."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import approx_fprime

from equigraph._utils.callbacks import Notifier
from equigraph.factorization.coordinate import coordinate_descent, group_table
from equigraph.factorization.factors import Status
from equigraph.factorization.normalized import fit_interaction
from equigraph.factorization.penalties import Contrastive, GraphPenalty, GroupParity, Scatter
from equigraph.factorization.starts import random_start, spectral_start, svd_start
from equigraph.stores.products import SerialProduct
from tests.reference.dense import normalised_objective


def random_graph(rng, n, kind="random"):
    if kind == "star":
        A = np.zeros((n, n))
        A[0, 1:] = A[1:, 0] = 1
        return sparse.csr_array(A)
    weights = rng.random((n, n)) + 0.1
    upper = np.triu((rng.random((n, n)) < 0.3) * weights, 1)
    if kind == "bipartite":
        side = np.arange(n) % 2
        upper = upper * (side[:, None] != side)
    if kind == "planted":
        cluster = np.arange(n) % 3
        upper = 1.0 * np.triu(rng.random((n, n)) < np.where(cluster[:, None] == cluster, 0.6, 0.05), 1)
    upper[0, 1] = 1.0
    return sparse.csr_array(upper + upper.T)


def penalties(rng, n):
    groups = np.r_[0, 1, 2, rng.integers(0, 3, n - 3)]
    similarity = random_graph(rng, n)
    return {
        "none": None,
        "scatter": Scatter(groups),
        "parity": GroupParity(groups),
        "contrastive": Contrastive(groups, self_pairs=False),
        "graph": GraphPenalty(similarity),
        "sum": Scatter(groups) + 0.5 * GraphPenalty(similarity),
    }


class CountingProduct(SerialProduct):
    passes = 0

    def __call__(self, panel):
        CountingProduct.passes += 1
        return super().__call__(panel)


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(["random", "star", "bipartite", "planted"]),
    name=st.sampled_from(["none", "scatter", "parity", "contrastive", "graph", "sum"]),
    n=st.integers(4, 30),
    k=st.integers(1, 4),
    weight=st.sampled_from([0.0, 1e-3, 0.3, 3.0, 100.0, 1e5]),
    start=st.sampled_from([random_start, svd_start, spectral_start]),
    seed=st.integers(0, 2**16),
)
def test_objective_never_rises_and_is_the_one_of_the_factors(kind, name, n, k, weight, start, seed):
    rng = np.random.default_rng(seed)
    product = SerialProduct(random_graph(rng, n, kind))
    penalty = penalties(rng, n)[name]
    H, W = start(product, k, rng)
    factors = coordinate_descent(product, H, W, penalty=penalty, weight=weight, max_iter=30, tol=0)
    assert np.isfinite(factors.history).all()
    assert (np.diff(factors.history) <= 1e-12 * np.abs(factors.history[:-1])).all()
    assert (factors.H >= 0).all()
    assert (factors.W >= 0).all()
    np.testing.assert_array_equal(factors.W, factors.W.T)
    last = normalised_objective(product.adjacency, factors.H, factors.W, penalty, weight)
    assert last == pytest.approx(factors.history[-1], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["none", "scatter", "graph"])
def test_one_pass_over_the_graph_per_step(name):
    rng = np.random.default_rng(0)
    product = CountingProduct(random_graph(rng, 40))
    H, W = svd_start(product, 3, rng)
    CountingProduct.passes = 0
    factors = coordinate_descent(
        product, H, W, penalty=penalties(rng, 40)[name], weight=1, max_iter=60, tol=0
    )
    assert factors.n_iter == 60
    # At the start also A H, and the degrees for a penalty.
    assert CountingProduct.passes == (61 if name == "none" else 62)


@pytest.mark.parametrize("factor", [1e-12, 1e-3, 1e12])
@pytest.mark.parametrize("start", [svd_start, spectral_start])
def test_scale_of_the_graph_plays_no_part(factor, start):
    rng = np.random.default_rng(2)
    adjacency = random_graph(rng, 45, "planted")
    penalty = penalties(rng, 45)["scatter"]
    H, W = start(SerialProduct(adjacency), 3, np.random.default_rng(0))
    one, other = (
        coordinate_descent(SerialProduct(A), H, W, penalty=penalty, weight=0.3, max_iter=40, tol=0)
        for A in (adjacency, adjacency * factor)
    )
    np.testing.assert_allclose(other.history, one.history, rtol=1e-9)
    np.testing.assert_array_equal(other.H.argmax(axis=1), one.H.argmax(axis=1))
    np.testing.assert_allclose(other.H, one.H * np.sqrt(factor), atol=1e-6 * other.H.max())
    np.testing.assert_allclose(other.W, one.W, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "weight"), [("none", 0.0), ("scatter", 0.3), ("scatter", 3.0), ("graph", 0.003)]
)
def test_stationary_at_convergence(name, weight):
    rng = np.random.default_rng(3)
    adjacency = random_graph(rng, 60, "planted")
    product = SerialProduct(adjacency / np.sqrt((adjacency.data**2).sum()))
    options = {"penalty": penalties(rng, 60)[name], "weight": weight}
    H, W = spectral_start(product, 3, rng)
    factors = coordinate_descent(product, H, W, max_iter=3000, tol=1e-12, **options)
    assert factors.status is Status.CONVERGED

    def value(both):
        H_now, W_now = both[: H.size].reshape(H.shape), both[H.size :].reshape(W.shape)
        return normalised_objective(product.adjacency, H_now, W_now, **options)

    both = np.concatenate([factors.H.ravel(), factors.W.ravel()])
    assert np.abs(both - np.maximum(both - approx_fprime(both, value), 0)).max() < 2e-6
    assert np.abs(approx_fprime(np.concatenate([H.ravel(), W.ravel()]), value)).max() > 1e-2


def test_only_convex_penalties_on_groups_have_a_table():
    groups = np.arange(23) % 3
    assert group_table(2 * Scatter(groups) + GroupParity(groups)) is not None
    for other in (
        Contrastive(groups),
        Contrastive(groups, self_pairs=False),
        GraphPenalty(np.ones((23, 23))),
    ):
        assert group_table(other) is None


def test_graph_without_edges():
    empty = SerialProduct(sparse.csr_array((5, 5)))
    factors = coordinate_descent(empty, np.ones((5, 2)), np.eye(2))
    assert factors.status is Status.CONVERGED
    assert not factors.H.any()


def test_start_that_explains_nothing():
    # One cluster per side of a single edge, with a W that only has links within clusters.
    product = SerialProduct(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]]))
    factors = coordinate_descent(product, np.eye(2), np.eye(2), max_iter=20)
    assert factors.history[-1] == pytest.approx(0, abs=1e-12)


def test_tolerance_and_callback_stop():
    rng = np.random.default_rng(9)
    product = SerialProduct(random_graph(rng, 30, "planted"))
    H, W = svd_start(product, 3, rng)
    early = coordinate_descent(product, H, W, max_iter=2000, tol=1e-4)
    assert early.status is Status.CONVERGED
    assert early.change < 1e-4
    assert early.n_iter < 500
    stopped = coordinate_descent(product, H, W, notify=Notifier(lambda progress: progress.step == 7))
    assert stopped.status is Status.STOPPED
    assert stopped.n_iter == 7


@pytest.mark.parametrize("weight", [0, 0.1, 1.0, 10.0])
@pytest.mark.parametrize("seed", range(4))
def test_every_entry_of_the_interaction_is_best_given_the_others(weight, seed):
    rng = np.random.default_rng(seed)
    A, H, penalty = random_graph(rng, 20).toarray(), rng.random((20, 3)), Scatter(np.arange(20) % 3)
    norm = np.linalg.norm(A)
    factor = weight * norm / (3 * A.sum() / 20)
    cost = np.array([factor * penalty.value(H[:, [j]]) for j in range(3)])
    start, sums = np.full((3, 3), 0.3 / norm), (H.T @ A @ H / norm, H.T @ H, cost)
    W = fit_interaction(start, *sums, capped=False, n_sweeps=200) * norm
    least = normalised_objective(A, H, W, penalty, weight)
    for i, j in zip(*np.triu_indices(3), strict=True):
        for step in (-1e-3, -1e-5, 1e-5, 1e-3):
            other = W.copy()
            other[i, j] = other[j, i] = max(W[i, j] + step * norm, 0)
            assert normalised_objective(A, H, other, penalty, weight) >= least - 1e-13
    low = start / 100
    capped = fit_interaction(low, *sums, capped=True, n_sweeps=20)
    assert (capped <= np.where(np.eye(3), np.inf, low)).all()
    assert (capped != low).any()
