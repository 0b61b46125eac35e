"""Small cases whose times are kept and compared: ``make bench-regressions``.

pytest-benchmark stores every run below ``benchmarks/results/regressions`` and fails where the least CPU time of a case
is half as long again as in the first of them: CPU time, because others may use the machine too, and the first, or a
slow run would be the measure of the next. Remove the folder to begin anew. Each case also checks what it computed: a
fast wrong answer must not pass.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.factorization.coordinate import coordinate_descent
from equigraph.factorization.multiplicative import multiplicative_updates
from equigraph.factorization.penalties import Contrastive, Scatter
from equigraph.stores.products import product_of

# The size of LastFM: 7,624 nodes, 27,806 edges.
NODES, CLUSTERS, DEGREE = 7_624, 5, 7.3
STEPS = 10


def timed(benchmark, function, *arguments, **options):
    """Measure calls of a function after one that may compile it; pytest-benchmark plans its rounds by the first."""
    function(*arguments, **options)
    return benchmark(function, *arguments, **options)


@pytest.fixture(scope="module")
def data():
    return eg.datasets.make_planted_graph(NODES, CLUSTERS, mean_degree=DEGREE, random_state=0)


@pytest.fixture(scope="module")
def panel():
    return np.random.default_rng(0).random((NODES, CLUSTERS))


def test_product(benchmark, data, panel):
    product = product_of(data.adjacency)
    found = timed(benchmark, product, panel)
    rows = slice(0, 50)
    np.testing.assert_allclose(found[rows], data.adjacency[rows].toarray() @ panel)


def test_product_by_threads(benchmark):
    # 400,000 stored entries: enough for several threads.
    adjacency = eg.datasets.make_planted_graph(20_000, 10, mean_degree=20, random_state=0).adjacency
    panel = np.random.default_rng(0).random((20_000, 10))
    found = timed(benchmark, product_of(adjacency), panel)
    np.testing.assert_allclose(found, adjacency @ panel)


def test_multiplicative_updates(benchmark, data, panel):
    penalty = 1.0 * Contrastive(data.sensitive_features)
    product, W = product_of(data.adjacency), np.eye(CLUSTERS)
    factors = timed(
        benchmark, multiplicative_updates, product, panel, W, penalty=penalty, max_iter=STEPS, tol=0
    )
    assert factors.n_iter == STEPS
    assert factors.history[-1] < factors.history[0]


def test_coordinate_descent(benchmark, data, panel):
    penalty = Scatter(data.sensitive_features)
    product, W = product_of(data.adjacency), np.eye(CLUSTERS)
    factors = timed(
        benchmark, coordinate_descent, product, panel, W, penalty=penalty, weight=1.0, max_iter=STEPS, tol=0
    )
    assert factors.n_iter == STEPS
    assert np.all(np.diff(factors.history) <= 1e-12)


# A factorisation makes memberships fair, and labels, each the largest of a row, follow only so far: without fairness
# NB is .63 here, at half the dial .80 and at most .81.
@pytest.mark.parametrize(("method", "fair"), [(eg.FairPartition, 0.9), (eg.FairNMTF, 0.78)])
def test_fit(benchmark, data, method, fair):
    model = method(CLUSTERS, 0.5, random_state=0)
    graph = eg.as_graph(data.adjacency)
    # Compiled loops, outside the measurement.
    model.fit(graph, sensitive_features=data.sensitive_features)
    benchmark.pedantic(
        model.fit, (graph,), {"sensitive_features": data.sensitive_features}, rounds=5, iterations=1
    )
    labels = model.labels_
    assert eg.metrics.normalized_balance_score(labels, sensitive_features=data.sensitive_features) > fair
    assert eg.metrics.modularity_score(data.adjacency, labels) > 0.3


def test_reading_edges(benchmark, tmp_path):
    adjacency = eg.datasets.make_planted_graph(10_000, 5, mean_degree=20, random_state=0).adjacency
    upper = sparse.triu(adjacency, k=1, format="coo")
    path = tmp_path / "edges.csv"
    np.savetxt(
        path,
        np.column_stack((upper.row, upper.col)),
        fmt="person%06d",
        delimiter=",",
        header="source,target",
        comments="",
    )
    graph = benchmark.pedantic(eg.read_graph, (path,), rounds=5, iterations=1, warmup_rounds=1)
    assert graph.n_edges == upper.nnz
