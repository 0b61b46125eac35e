import random

import numpy as np
import pytest
from scipy import sparse

from equigraph.community import FairLouvain, Leiden, Louvain, RandomClustering
from equigraph.exceptions import MissingDependencyError, ParameterError
from tests.reference.marks import TINY_GRAPHS

pytestmark = TINY_GRAPHS

METHODS = [
    Leiden(backend="igraph"),
    Leiden(backend="leidenalg"),
    Leiden(backend="networkit"),
    Louvain(backend="networkit"),
    Louvain(backend="igraph"),
    FairLouvain(fairness=0),
]


@pytest.fixture(params=METHODS, ids=str)
def model(request):
    pytest.importorskip(getattr(request.param, "backend", "equigraph"))
    return request.param.set_params(random_state=0, n_clusters=None)


def test_modularity_is_that_of_a_direct_call(model, make_skewed, naive):
    igraph = pytest.importorskip("igraph")
    adjacency, _ = make_skewed(0, n_blocks=4, size=15, inside=0.5)
    dense = adjacency.toarray()
    graph = igraph.Graph.Adjacency((dense > 0).tolist(), mode="undirected")
    direct = graph.community_leiden(objective_function="modularity", n_iterations=-1)
    ours = naive.naive_modularity(dense, model.fit_predict(adjacency))
    assert ours == pytest.approx(direct.modularity, abs=0.005)


def test_same_seed_same_labels_and_the_generator_is_left_alone(model, make_skewed):
    adjacency, _ = make_skewed(1, inside=0.15)
    random.seed(3)
    state = random.getstate()
    first = model.fit_predict(adjacency)
    assert random.getstate() == state
    random.seed(4)
    assert np.array_equal(first, model.fit_predict(adjacency))


def test_weights_and_node_order_are_kept(model):
    ring = np.zeros((6, 6))
    for i in range(6):
        ring[i, (i + 1) % 6] = ring[(i + 1) % 6, i] = 9.0 if i % 2 else 1.0
    labels = model.fit_predict(ring)
    assert labels[1] == labels[2]
    assert labels[3] == labels[4]
    assert labels[5] == labels[0]
    assert np.unique(labels).size == 3


def test_isolated_nodes_are_clusters_of_their_own(model):
    dense = np.zeros((7, 7))
    dense[:3, :3] = np.ones((3, 3)) - np.eye(3)
    dense[4:6, 4:6] = np.ones((2, 2)) - np.eye(2)
    fitted = model.fit(dense)
    assert fitted.labels_.tolist() == [0, 0, 0, 2, 1, 1, 3]
    assert fitted.n_clusters_ == 4
    assert model.fit(np.zeros((3, 3))).n_clusters_ == 3


def test_higher_resolution_gives_more_clusters(model, make_skewed):
    adjacency, _ = make_skewed(0)
    few = model.set_params(resolution=0.3).fit(adjacency).n_clusters_
    many = model.set_params(resolution=4.0).fit(adjacency).n_clusters_
    model.set_params(resolution=1.0)
    assert few < many


@pytest.mark.parametrize("k", [2, 5, 9])
def test_exactly_k_on_request(model, tiny, k):
    fitted = model.set_params(n_clusters=k).fit(tiny)
    assert np.unique(fitted.labels_).size == k
    assert fitted.membership_.shape == (12, k)
    assert isinstance(fitted.interaction_, np.ndarray)


def test_networkit_gets_its_threads_back(make_skewed):
    networkit = pytest.importorskip("networkit")
    before = networkit.getMaxNumberOfThreads()
    networkit.setNumberOfThreads(2)
    try:
        adjacency, _ = make_skewed(0)
        Louvain(random_state=0).fit(adjacency)
        assert networkit.getMaxNumberOfThreads() == 2
    finally:
        networkit.setNumberOfThreads(before)


def test_a_missing_library_is_named(monkeypatch, make_graph):
    monkeypatch.setitem(__import__("sys").modules, "igraph", None)
    with pytest.raises(MissingDependencyError, match=r"igraph.*equigraph\[peers\]"):
        Leiden().fit(make_graph(8, 0))


def test_random_labels_have_the_sizes_asked_for(make_graph):
    adjacency = make_graph(20, 0)
    equal = RandomClustering(3, random_state=0).fit_predict(adjacency)
    assert np.bincount(equal).tolist() == [7, 7, 6]
    given = RandomClustering(3, cluster_sizes=[2, 15, 3], random_state=0).fit_predict(adjacency)
    assert np.bincount(given).tolist() == [15, 3, 2]
    assert np.array_equal(
        given, RandomClustering(3, cluster_sizes=(2, 15, 3), random_state=0).fit_predict(adjacency)
    )
    assert not np.array_equal(equal, RandomClustering(3, random_state=1).fit_predict(adjacency))


@pytest.mark.parametrize("sizes", [[10, 10], [5, 5, 11], [20, 0, 0], [6.5, 6.5, 7]])
def test_sizes_that_do_not_fit_are_refused(sizes):
    with pytest.raises(ParameterError, match="sizes"):
        RandomClustering(3, cluster_sizes=sizes).fit(np.ones((20, 20)))


def test_rounds_are_at_least_one_or_until_nothing_improves():
    for rounds in (0, -2, 1.5):
        with pytest.raises(ParameterError, match="n_iterations"):
            Leiden(n_iterations=rounds).fit([[0, 1], [1, 0]])
    pytest.importorskip("igraph")
    assert Leiden(n_iterations=-1, random_state=0).fit_predict([[0, 1], [1, 0]]).tolist() == [0, 0]


def test_as_many_clusters_as_come_out_are_sparse(model):
    n = 10_000  # a dense membership would take 400 MB, a dense interaction 200 MB
    first = np.arange(0, n, 2)
    upper = sparse.coo_array((np.ones(n // 2), (first, first + 1)), shape=(n, n))
    fitted = model.fit((upper + upper.T).tocsr())
    assert fitted.membership_.shape == (n, n // 2)
    assert fitted.interaction_.shape == (n // 2, n // 2)
    for matrix in (fitted.membership_, fitted.interaction_):
        assert isinstance(matrix, sparse.csr_array)
        assert matrix.nnz <= n
    np.testing.assert_array_equal(np.asarray(fitted.membership_.argmax(axis=1)).ravel(), fitted.labels_)
    assert fitted.labels_[:4].tolist() == [0, 0, 1, 1]  # ties of size go by the first node
    np.testing.assert_array_equal(fitted.interaction_.diagonal(), 0.5)
