"""The soft-fair spectral start."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from equigraph.datasets import make_fair_sbm
from equigraph.graph import check_adjacency
from equigraph.metrics import clustering_accuracy
from equigraph.spectral.embedding import group_constraint
from equigraph.spectral.labels import spectral_labels
from equigraph.spectral.soft import (
    _leading_vectors,
    labels_by_products,
    soft_fair_labels,
)
from equigraph.stores.products import product_of


@pytest.fixture(scope="module")
def planted():
    """Return a graph whose groups bind more than its planted fair clusters."""
    return make_fair_sbm(2000, 5, 5, random_state=0)


def codes_of(data):
    return np.unique(data.sensitive_features, return_inverse=True)[1]


def blocks(sizes, inside, outside, seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    probability = np.where(labels[:, None] == labels, inside, outside)
    upper = np.triu(rng.random(probability.shape) < probability, 1)
    return check_adjacency((upper + upper.T).astype(float)), labels


@pytest.mark.parametrize("strength", [0.3, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_planted_fair_clusters_are_found(strength, seed, planted):
    labels = soft_fair_labels(planted.adjacency, codes_of(planted), 5, strength=strength, seed=seed)
    assert clustering_accuracy(planted.target, labels) == 1.0


@pytest.mark.parametrize("codes", [None, np.tile([0, 1], 60)])
def test_strength_zero_is_plain_spectral_clustering(codes):
    adjacency, truth = blocks([30, 40, 50], 0.5, 0.02, seed=1)
    labels = soft_fair_labels(adjacency, codes, 3, strength=0.0, seed=0)
    assert clustering_accuracy(truth, labels) == 1.0
    assert clustering_accuracy(spectral_labels(adjacency, 3, seed=0), labels) == 1.0


def exact_vectors(adjacency, codes, count, strength):
    """Return the leading eigenvectors by ARPACK."""
    half = 1 / np.sqrt(adjacency.sum(axis=1))
    walk = sparse.diags_array(half) @ adjacency @ sparse.diags_array(half)
    basis = np.linalg.qr(half[:, None] * group_constraint(codes, codes.max() + 1))[0]
    operator = LinearOperator(
        adjacency.shape,
        matvec=lambda x: walk @ x.ravel() - strength * (basis @ (basis.T @ x.ravel())),
        dtype=float,
    )
    start = np.random.default_rng(0).standard_normal(adjacency.shape[0])
    return eigsh(operator, k=count, which="LA", v0=start)


def leading(adjacency, codes, count, strength, **options):
    product, degrees = product_of(adjacency), adjacency.sum(axis=1)
    return _leading_vectors(product, degrees, codes, count, strength, 0, **options)


@pytest.mark.parametrize("strength", [0.0, 0.5, 3.0])
@pytest.mark.parametrize(
    ("sizes", "dtype", "quick", "tolerance"),
    [
        ([8, 9, 10], np.float64, False, 1e-6),
        ([30, 40, 50], np.float64, False, 1e-6),
        ([130, 140, 150], np.float32, True, 1e-4),
    ],
)
def test_vectors_are_close_to_those_of_arpack(strength, sizes, dtype, quick, tolerance):
    adjacency, _ = blocks(sizes, 0.7, 0.05, seed=2)
    codes = np.arange(adjacency.shape[0]) % 3
    vectors = leading(adjacency.astype(dtype), codes, 3, strength, n_steps=10, quick=quick)
    _, expected = exact_vectors(adjacency, codes, 3, strength)
    assert vectors.dtype == dtype
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=tolerance)
    assert np.linalg.svd(vectors.T @ expected, compute_uv=False).min() > 1 - tolerance


@pytest.mark.parametrize("n", [9, 11, 14, 20])
def test_vectors_of_a_small_graph_are_exact(n):
    """Where a block would overfill the space it is cut, not left out."""
    rng = np.random.default_rng(n)
    upper = np.triu(rng.random((n, n)), 1)
    adjacency = check_adjacency(upper + upper.T)
    codes = np.arange(n) % 2
    vectors = leading(adjacency, codes, 4, 0.7, n_steps=10)
    _, expected = exact_vectors(adjacency, codes, 4, 0.7)
    assert np.linalg.svd(vectors.T @ expected, compute_uv=False).min() > 1 - 1e-9


@pytest.mark.parametrize("unit", [1.0, 1e-14, 1e14])
@pytest.mark.parametrize("strength", [0.0, 0.5])
@pytest.mark.parametrize("groups", [np.repeat([0, 1], 6), None])
def test_every_cluster_has_a_node(tiny, unit, strength, groups):
    for k in (2, 5, 11, 12):
        labels = soft_fair_labels(tiny * unit, groups, k, strength=strength, seed=0)
        assert np.unique(labels).tolist() == list(range(k))


def quick(adjacency, codes, n_clusters):
    degrees = adjacency.sum(axis=1)
    return labels_by_products(product_of(adjacency), degrees, codes, n_clusters, strength=1.0, seed=0)


def test_quick_labels_find_planted_clusters_use_all_and_place_nodes_without_edges(planted):
    assert clustering_accuracy(planted.target, quick(planted.adjacency, codes_of(planted), 5)) > 0.99
    alone = sparse.csr_array((300, 300))
    adjacency = sparse.csr_array(sparse.block_diag([planted.adjacency, alone]))
    codes = np.concatenate([codes_of(planted), np.arange(300) % 5])
    assert np.unique(quick(adjacency, codes, 40)).tolist() == list(range(40))
    assert clustering_accuracy(planted.target, quick(adjacency, codes, 5)[:-300]) > 0.99
