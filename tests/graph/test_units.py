"""Results do not depend on the unit of the weights."""

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.graph.validate import LEAST_SHARE, unit_weights


def weighted(seed=0, n=30):
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.4), 1)
    return sparse.csr_array(upper + upper.T)


def test_a_graph_in_its_unit_is_returned_as_it_is():
    for graph in (sparse.csr_array([[0.0, 1], [1, 0]]), unit_weights(weighted())):
        assert unit_weights(graph) is graph
    assert unit_weights(sparse.csr_array((3, 3))).nnz == 0


@pytest.mark.parametrize("unit", [1e-300, 1e-9, 3.0, 7e5, 1e300])
def test_shares_are_those_of_exact_arithmetic_to_twelve_digits(unit):
    graph = weighted()
    shares = unit_weights(graph * unit)
    np.testing.assert_allclose(shares.data, graph.data / graph.data.max(), rtol=2e-12)
    mantissa, _ = np.frexp(shares.data)
    np.testing.assert_array_equal(mantissa * 2.0**40, np.round(mantissa * 2.0**40))
    np.testing.assert_array_equal(shares.indices, graph.indices)


def test_tiny_weights_stay_positive():
    graph = sparse.csr_array([[0, 1e300, 0], [1e300, 0, 1e-300], [0, 1e-300, 0]])
    assert unit_weights(graph).data.tolist() == [1.0, 1.0, LEAST_SHARE, LEAST_SHARE]
    narrow = sparse.csr_array(np.array([[0, 1e38, 0], [1e38, 0, 1e-38], [0, 1e-38, 0]], dtype=np.float32))
    assert unit_weights(narrow).dtype == np.float32
    assert (unit_weights(narrow).data > 0).all()


def test_weights_in_several_chunks(monkeypatch):
    expected = unit_weights(weighted() * 3)
    monkeypatch.setattr("equigraph.graph.validate._CHUNK", 7)
    np.testing.assert_array_equal(unit_weights(weighted() * 3).data, expected.data)


def test_the_graph_keeps_its_own_weights():
    graph = eg.Graph(weighted() * 4)
    assert graph.unit == graph.adjacency.data.max()
    assert graph.unit_adjacency is graph.unit_adjacency
    assert graph.unit_adjacency.data.max() == 1
    np.testing.assert_array_equal(graph.adjacency.data, weighted().data * 4)


@pytest.mark.parametrize("method", ["nmtf", "ifair-nmtf", "dfnmf", "sym-nmf", "fair-nmtf"])
def test_factors_multiply_to_the_graph_in_its_own_unit(method):
    graph = weighted()
    options = {"method": method, "n_clusters": 3, "random_state": 0, "sensitive_features": np.arange(30) % 2}
    if method != "fair-nmtf":
        options |= {"max_iter": 60, "tol": 0}
    one = eg.cluster(graph, **options)
    product = one.membership @ one.interaction @ one.membership.T
    assert 0.3 < product.sum() / graph.sum() < 3
    for unit in (1e6, 1.7e308):
        other = eg.cluster(graph * unit, **options)
        np.testing.assert_array_equal(one.labels, other.labels)
        found = other.membership @ (other.interaction / unit) @ other.membership.T
        np.testing.assert_allclose(found, product, rtol=1e-9)


def test_given_start_is_in_the_users_unit():
    graph, rng = weighted(), np.random.default_rng(1)
    H, W = rng.random((30, 3)), np.diag(rng.random(3))
    one = eg.NMTF(3, init="custom", tol=0, max_iter=5).fit(graph, H=H, W=W)
    other = eg.NMTF(3, init="custom", tol=0, max_iter=5).fit(graph * 1e6, H=H, W=W * 1e6)
    np.testing.assert_allclose(other.interaction_, one.interaction_ * 1e6, rtol=1e-9)
    np.testing.assert_allclose(other.membership_, one.membership_, rtol=1e-9)
