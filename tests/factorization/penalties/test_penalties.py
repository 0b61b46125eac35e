"""Penalties against dense matrices, finite differences and their own contract."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from equigraph.exceptions import GraphError, GroupsError, ParameterError
from equigraph.factorization.penalties import (
    Contrastive,
    GraphPenalty,
    GroupParity,
    Penalty,
    Scatter,
    check_penalty,
    curvature_bound,
)
from tests.reference.dense import contrastive_laplacian

sizes = st.lists(st.integers(1, 9), min_size=2, max_size=5)
seeds = st.integers(0, 2**16)


class KeepApart(Penalty):
    """The penalty of one's own in the documentation: pairs that should not share a cluster."""

    def __init__(self, pairs):
        self.pairs = np.asarray(pairs)

    def positive(self, H):
        out = np.zeros_like(H)
        np.add.at(out, self.pairs[:, 0], H[self.pairs[:, 1]])
        np.add.at(out, self.pairs[:, 1], H[self.pairs[:, 0]])
        return out

    def negative(self, H):
        return np.zeros_like(H)


def dense_form(kind, codes, self_pairs=True):
    """Return the n x n matrix L of a group penalty."""
    n = codes.size
    onehot = np.eye(codes.max() + 1)[codes]
    if kind is Contrastive:
        return contrastive_laplacian(codes, self_pairs)
    if kind is Scatter:
        return onehot @ np.diag(1 / onehot.sum(axis=0)) @ onehot.T - 1 / n
    F = onehot - onehot.mean(axis=0)
    return F @ F.T


def draw(group_sizes, seed, k=3):
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(len(group_sizes)), group_sizes))
    return codes, rng.random((codes.size, k))


@given(sizes, seeds, st.booleans(), st.sampled_from([Contrastive, Scatter, GroupParity]))
def test_group_penalties_equal_their_dense_matrix(group_sizes, seed, self_pairs, kind):
    codes, H = draw(group_sizes, seed)
    penalty = kind(codes, self_pairs=self_pairs) if kind is Contrastive else kind(codes)
    L = dense_form(kind, codes, self_pairs)

    np.testing.assert_allclose(penalty.positive(H) - penalty.negative(H), L @ H, atol=1e-12)
    np.testing.assert_allclose(penalty.value(H), np.trace(H.T @ L @ H), atol=1e-11)
    np.testing.assert_allclose(penalty.gradient(H), (L + L.T) @ H, atol=1e-11)
    assert (penalty.positive(H) >= 0).all()
    assert (penalty.negative(H) >= 0).all()

    # The curvature is a bound, and for these penalties the exact largest eigenvalue (or 0).
    top = max(np.linalg.eigvalsh((L + L.T) / 2)[-1], 0)
    assert penalty.curvature() == pytest.approx(top, abs=1e-9)

    onehot = np.eye(codes.max() + 1)[codes]
    sums = onehot.T @ H
    for whole in (penalty, 3 * penalty + 0.5 * Scatter(codes)):
        form = whole.group_form()
        positive = (form.positive @ sums)[codes] + form.own[codes, None] * H
        np.testing.assert_allclose(positive, whole.positive(H), atol=1e-12)
        np.testing.assert_allclose((form.negative @ sums)[codes], whole.negative(H), atol=1e-12)
        costs = [whole.value(H[:, [column]]) for column in range(H.shape[1])]
        np.testing.assert_allclose(form.costs(sums, onehot.T @ H**2), costs, atol=1e-10)


class Quadratic(Penalty):
    """Any symmetric L, which says nothing of its curvature."""

    def __init__(self, L):
        self.L = L

    def positive(self, H):
        return np.maximum(self.L, 0) @ H

    def negative(self, H):
        return np.maximum(-self.L, 0) @ H


@given(st.integers(2, 12), seeds)
def test_a_curvature_that_is_not_told_is_bounded(n, seed):
    rng = np.random.default_rng(seed)
    L = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.4)
    penalty = Quadratic(L + L.T)
    bound = curvature_bound(penalty, n, 2)
    # For every E: R(E) <= c |E|^2, which is what a solver takes it for.
    assert bound >= np.linalg.eigvalsh(L + L.T)[-1] - 1e-9
    parts = [
        np.abs(np.linalg.eigvalsh(part)).max() for part in (np.maximum(L + L.T, 0), np.maximum(-L - L.T, 0))
    ]
    # An x that is not yet the eigenvector makes it larger than it need be.
    assert bound <= 2 * sum(parts) + 1e-9
    both = 2 * penalty + Scatter(np.arange(n) % 2)
    assert curvature_bound(both, n, 2) == pytest.approx(2 * bound + 1)


def test_very_many_groups_have_no_tables(monkeypatch):
    codes = np.arange(12) % 4
    assert Contrastive(codes).group_form() is not None
    monkeypatch.setattr("equigraph.factorization.penalties.group.MOST_GROUPS", 3)
    for penalty in (Contrastive(codes), GroupParity(codes), 2 * Scatter(codes), KeepApart([(0, 1)])):
        assert penalty.group_form() is None


@given(st.integers(2, 12), seeds)
def test_graph_penalty_is_the_laplacian_form(n, seed):
    rng = np.random.default_rng(seed)
    S = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.5)
    S = S + S.T
    H = rng.random((n, 3))
    penalty = GraphPenalty(sparse.coo_array(S))
    expected = 0.5 * sum(S[i, j] * np.sum((H[i] - H[j]) ** 2) for i in range(n) for j in range(n))
    assert penalty.value(H) == pytest.approx(expected, abs=1e-10)
    assert (penalty.positive(H) >= 0).all()
    assert (penalty.negative(H) >= 0).all()
    L = np.diag((S - np.diag(np.diag(S))).sum(axis=1)) - (S - np.diag(np.diag(S)))
    assert penalty.curvature() >= np.linalg.eigvalsh(L)[-1] - 1e-10


def test_sums_are_linear_and_flatten():
    codes, H = draw([5, 3], 4)
    one, two = Contrastive(codes), Scatter(codes)
    total = 2 * (3 * one + two) + 0 * one
    assert len(total.weighted) == 2
    assert total.value(H) == pytest.approx(6 * one.value(H) + 2 * two.value(H))
    np.testing.assert_allclose(total.positive(H), 6 * one.positive(H) + 2 * two.positive(H))
    np.testing.assert_allclose(total.terms(H).negative, 6 * one.negative(H) + 2 * two.negative(H))
    assert total.curvature() == pytest.approx(6 * one.curvature() + 2 * two.curvature())


def test_single_precision_stays_single_and_close():
    codes, H = draw([30, 20, 10], 5)
    for penalty in (Contrastive(codes, self_pairs=False), 3 * Scatter(codes)):
        single = penalty.terms(H.astype(np.float32))
        assert single.positive.dtype == np.float32
        assert single.negative.dtype == np.float32
        np.testing.assert_allclose(single.positive, penalty.positive(H), rtol=1e-5)


def test_whole_numbers_are_not_rounded():
    codes, H = draw([3, 2], 0)
    H = H.round().astype(int)
    for penalty in (Scatter(codes), 0.5 * Scatter(codes), GraphPenalty(np.full((5, 5), 0.3))):
        np.testing.assert_array_equal(penalty.gradient(H), penalty.gradient(H.astype(float)))


def test_constant_groups_and_negative_weights_are_refused():
    with pytest.raises(GroupsError, match="at least two groups"):
        Contrastive(["a"] * 5)
    with pytest.raises(ParameterError, match="at least 0"):
        -1 * Scatter([0, 1])


def test_bad_similarities_are_refused():
    for similarity, word in ([[1, 1]], "square"), ([[0, 1], [0, 0]], "symmetric"), ([[np.nan]], "NaN"):
        with pytest.raises(GraphError, match=word):
            GraphPenalty(np.array(similarity))


def test_contract_names_what_is_missing():
    H = np.ones((4, 2))

    class Half:
        def positive(self, H):
            return H

    class Negative(KeepApart):
        def negative(self, H):
            return -H

    with pytest.raises(ParameterError, match=r"Half has no method negative\(\)"):
        check_penalty(Half(), H)
    with pytest.raises(ParameterError, match=r"Negative.negative\(H\) must be finite and nonnegative"):
        check_penalty(Negative([(0, 1)]), H)
    with pytest.raises(ParameterError, match="another size"):
        check_penalty(Scatter([0, 1]), H)
