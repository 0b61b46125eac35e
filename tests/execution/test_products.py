"""Products with the adjacency, by one thread and by several."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.execution import SerialProduct, ThreadedProduct, gram, product_of


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_threads", [1, 2, 3, 7])
def test_threads_give_the_same_bits(dtype, n_threads):
    graph = eg.datasets.make_planted_graph(500, 4, random_state=0).adjacency.astype(dtype)
    panel = np.random.default_rng(0).random((500, 5)).astype(dtype)
    product = ThreadedProduct(graph, n_threads)
    np.testing.assert_array_equal(product(panel), SerialProduct(graph)(panel))
    assert product(panel).dtype == dtype
    assert product.squared_norm() == pytest.approx((graph.toarray() ** 2).sum())


def test_more_threads_than_rows_with_entries():
    star = sparse.lil_array((6, 6))
    star[0, 1:] = star[1:, 0] = 1
    graph = star.tocsr()
    panel = np.eye(6)
    np.testing.assert_array_equal(ThreadedProduct(graph, 5)(panel), graph.toarray())


def test_threads_are_used_where_they_pay(monkeypatch):
    monkeypatch.setattr("equigraph.execution.products._available_cores", lambda: 4)
    small = eg.datasets.make_planted_graph(200, 2, random_state=0).adjacency
    assert type(product_of(small)) is SerialProduct
    monkeypatch.setattr("equigraph.execution.products._THREADED_FROM", 100)
    assert type(product_of(small)) is ThreadedProduct
    monkeypatch.setattr("equigraph.execution.products._available_cores", lambda: 1)
    assert type(product_of(small)) is SerialProduct


def test_gram_sums_in_double_precision():
    rng = np.random.default_rng(1)
    left, right = rng.random((20_000, 3)), rng.random((20_000, 3))
    np.testing.assert_allclose(gram(left, right), left.T @ right)
    single = gram(left.astype(np.float32), right.astype(np.float32))
    assert single.dtype == np.float64
    expected = left.astype(np.float32).astype(float).T @ right.astype(np.float32).astype(float)
    np.testing.assert_allclose(single, expected, rtol=1e-13)
