"""Graphs of nearest neighbours, and weights that are distances."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

import equigraph as eg
from equigraph.exceptions import DistanceWarning, GraphError, ParameterError
from equigraph.graph import as_graph, knn_graph
from tests.optional import optional

pd = optional("pandas")

POINTS = make_blobs(120, n_features=3, random_state=0)[0]


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_the_graph_is_that_of_the_formula(metric):
    k = 4
    distances = pairwise_distances(POINTS, metric=metric)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :k]
    reach = np.take_along_axis(distances, nearest, axis=1)[:, -1]
    expected = np.zeros_like(distances)
    for i in range(len(POINTS)):
        for j in nearest[i]:
            scale = (reach[i] + reach[j]) / 2
            expected[i, j] = expected[j, i] = np.exp(-((distances[i, j] / scale) ** 2))
    found = knn_graph(POINTS, k, metric=metric)
    np.testing.assert_allclose(found.adjacency.toarray(), expected, atol=1e-9)
    scaled = knn_graph(pd.DataFrame(1000 * POINTS).iloc[::-1], k, metric=metric)
    np.testing.assert_allclose(scaled.adjacency.toarray()[::-1, ::-1], expected, atol=1e-9)
    assert not scaled.named


def test_equal_points_have_the_similarity_one():
    graph = knn_graph([[0.0], [0.0], [0.0], [1.0], [9.0]], 2)
    assert graph.adjacency[0, 1] == 1
    assert np.exp(-4) <= graph.adjacency.data.min()


@pytest.mark.parametrize(
    ("points", "k", "error", "message"),
    [
        (POINTS, 120, ParameterError, "needs more than"),
        (POINTS, 0, ParameterError, "whole number"),
        ([[np.nan], [1.0]], 1, GraphError, "NaN"),
        ([["x"], ["y"]], 1, GraphError, "points cannot be used"),
        (eg.Graph([[0, 1], [1, 0]]), 1, GraphError, "expects points"),
    ],
)
def test_invalid_points_raise(points, k, error, message):
    with pytest.raises(error, match=message):
        knn_graph(points, k)


@pytest.mark.parametrize("symmetrize", ["max", "mean", "sum", "min"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_distances_of_scikit_learn_warn(symmetrize, metric):
    options = {"n_neighbors": 8, "mode": "distance", "metric": metric}
    for one in (kneighbors_graph(POINTS, **options), KNeighborsTransformer(**options).fit_transform(POINTS)):
        with pytest.warns(DistanceWarning, match="knn_graph"):
            as_graph(one, symmetrize=symmetrize)


def test_distances_are_detected_by_their_triangles():
    matrix = kneighbors_graph(POINTS, 8, mode="distance")
    large = pairwise_distances(POINTS) * (1.7e308 / pairwise_distances(POINTS).max())
    for one in (matrix.maximum(matrix.T), large, pairwise_distances(load_iris().data)):
        with pytest.warns(DistanceWarning, match="knn_graph"):
            eg.SpectralClustering(3, random_state=0).fit(one)


def similarities():
    rng = np.random.default_rng(0)
    yield from (rbf_kernel(POINTS, gamma=gamma) for gamma in (0.01, 0.1, 1.0))
    yield np.clip(cosine_similarity(POINTS), 0, None)
    yield from (knn_graph(POINTS, k).adjacency for k in (3, 10))
    matrix = kneighbors_graph(POINTS, 8, mode="distance")
    yield (matrix != 0).astype(float)
    matrix.data = 1 / (1 + matrix.data)
    yield matrix
    for weights in (rng.random((30, 30)), rng.integers(0, 4, (30, 30)), 1 + 1.5 * rng.random((30, 30))):
        yield weights + weights.T
    yield 1 / (0.1 + pairwise_distances(POINTS))


@pytest.mark.parametrize("matrix", list(similarities()))
def test_similarities_do_not_warn(matrix):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DistanceWarning)
        warnings.simplefilter("ignore", eg.exceptions.SelfLoopWarning)
        as_graph(matrix, symmetrize="max")
