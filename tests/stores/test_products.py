"""Products with the adjacency: scipy's, and compiled ones by any number of threads."""

import multiprocessing
import os
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import equigraph as eg
from equigraph.stores.block_files import RowBlock
from equigraph.stores.products import SerialProduct, StoreProduct, gram, memory_product, product_of
from equigraph.stores.rows import add_tile
from equigraph.stores.threads import run_all
from tests.reference.stored import random_graph

TOLERANCE = {np.float64: 1e-13, np.float32: 2e-6}


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 50), st.integers(1, 70), st.booleans(), st.booleans(), st.integers(0, 2**16))
def test_fused_product_of_any_shape(n, k, weighted, single, seed):
    rng = np.random.default_rng(seed)
    dtype = np.float32 if single else np.float64
    graph = random_graph(n, weighted, seed, dtype)
    panel = rng.standard_normal((n, k)).astype(dtype)
    expected = graph.toarray() @ panel
    np.testing.assert_allclose(memory_product(graph)(panel), expected, rtol=0, atol=n * 10 * TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_threads", [1, 2, 3, 4])
def test_threads_give_the_same_bits(dtype, n_threads, monkeypatch):
    # Small blocks, so that there is something to share.
    monkeypatch.setattr("equigraph.stores.products._BLOCK_WORK", 500)
    graph = eg.datasets.make_planted_graph(500, 4, random_state=0).adjacency.astype(dtype)
    panel = np.random.default_rng(0).random((500, 5)).astype(dtype)
    product = memory_product(graph, n_threads)
    assert len(product.store.graph.cuts) > 4
    np.testing.assert_array_equal(product(panel), memory_product(graph, 1)(panel))
    assert product.squared_norm() == pytest.approx((graph.toarray() ** 2).sum())


def test_long_indices_give_the_same_bits():
    rng = np.random.default_rng(0)
    graph = random_graph(60, True)
    panel = rng.random((60, 6))
    short = memory_product(graph)(panel)
    wide = sparse.csr_array(graph)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_array_equal(memory_product(wide)(panel), short)


def test_compiled_loops_are_used_where_they_pay(monkeypatch):
    small = eg.datasets.make_planted_graph(200, 2, random_state=0).adjacency
    assert type(product_of(small)) is SerialProduct
    monkeypatch.setattr("equigraph.stores.products.COMPILE_FROM", 100)
    monkeypatch.setattr("equigraph.stores.threads.available_cores", lambda: 4)
    chosen = product_of(small)
    assert isinstance(chosen, StoreProduct)
    assert chosen.store._n_threads == 1
    monkeypatch.setattr("equigraph.stores.products._THREADED_FROM", 100)
    assert product_of(small).store._n_threads == 4


def test_a_failing_task_is_heard():
    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run_all([fail, lambda: 1, lambda: 2], n_threads=2)
    assert run_all([lambda i=i: i for i in range(20)], n_threads=3) == list(range(20))


def test_tasks_within_tasks_do_not_wait_for_each_other():
    def task():
        return sum(run_all([lambda i=i: i for i in range(4)], n_threads=2))

    assert run_all([task] * 6, n_threads=2) == [6] * 6


def test_tasks_run_in_other_threads_too():
    seen, both = set(), threading.Barrier(2, timeout=30)

    def task():
        # The first task of each of two threads waits for the other.
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            both.wait()

    run_all([task] * 8, n_threads=2)
    assert len(seen) == 2


def _product_in_child(queue):
    graph = eg.datasets.make_planted_graph(300, 3, random_state=0).adjacency
    queue.put(float(memory_product(graph, 2)(np.ones((300, 4))).sum()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_threads_work_after_a_fork(monkeypatch):
    monkeypatch.setattr("equigraph.stores.products._BLOCK_WORK", 100)
    graph = eg.datasets.make_planted_graph(300, 3, random_state=0).adjacency
    here = float(memory_product(graph, 2)(np.ones((300, 4))).sum())
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_product_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == here
    child.join(timeout=60)
    assert child.exitcode == 0


def test_gram_sums_in_double_precision():
    rng = np.random.default_rng(1)
    left, right = rng.random((2, 20_000, 3)).astype(np.float32)
    np.testing.assert_allclose(gram(left, right), left.astype(float).T @ right.astype(float), rtol=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("k", [1, 2, 5, 8, 17])
def test_tiles_of_any_cut_give_the_same_bits_and_the_dense_product(weighted, dtype, k):
    A = random_graph(weighted=weighted)
    panel = np.random.default_rng(k).random((90, k)).astype(dtype)
    block = RowBlock(0, 90, A.indptr, A.indices, A.data if weighted else None, 1.0)
    whole, parts = np.zeros((90, k), dtype), np.zeros((90, k), dtype)
    add_tile(A.indptr[:-1], A.indptr[1:], block, 0, panel, whole)
    cuts = [0, 31, 32, 90]
    points = block.split_points(cuts)
    for i in range(3):
        add_tile(points[i], points[i + 1], block, cuts[i], panel[cuts[i] : cuts[i + 1]], parts)
    np.testing.assert_array_equal(parts, whole)
    dense = A.toarray() @ panel.astype(float)
    np.testing.assert_allclose(whole, dense, rtol=1e-5 if dtype == np.float32 else 1e-13)
