"""Search on parts of large graphs, on graphs made small for it."""

import itertools

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph._utils import callbacks
from equigraph.search import plans
from equigraph.search.large import LargeSearch, make_search
from equigraph.search.pool import Target
from tests.reference.labels_objective import NOTIONS
from tests.search.test_rows import scattered


def planted(n=3000, k=5, seed=0):
    mix = np.array([np.roll([0.6, 0.2, 0.2], cluster % 3) for cluster in range(k)])
    data = eg.datasets.make_planted_graph(n, k, mean_degree=20, group_mix=mix, random_state=seed)
    return data.adjacency, np.unique(data.sensitive_features, return_inverse=True)[1], data.target


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    monkeypatch.setattr(plans, "_LARGE_NODES", 1)
    monkeypatch.setattr(plans, "_LEAST_PARTS", 200)


def solve(adjacency, codes, k, fairness, starts=(), **options):
    search = make_search(adjacency, codes, k, **options)
    assert isinstance(search, LargeSearch)
    return search, search.solve([Target(fairness)], starts)[0]


def test_where_a_graph_begins_to_be_large(monkeypatch):
    monkeypatch.undo()

    def is_large(n):
        return isinstance(make_search(sparse.csr_array((n, n)), None, 2), LargeSearch)

    assert not is_large(plans._LARGE_NODES - 1)
    assert is_large(plans._LARGE_NODES)


def test_parts_of_huge_graphs_are_fewer_so_that_their_graph_fits(monkeypatch):
    monkeypatch.undo()
    large, huge = (plans.n_parts_for(10**7, entries, 10) for entries in (10**7, 10**8))
    assert huge**2 <= plans._MOST_PAIRS < large**2
    assert plans.n_parts_for(10**7, 10**8, 1_000) == 20_000  # clusters come first


@pytest.mark.parametrize("starts", [0, 1])
def test_planted_clusters_are_found_from_below_alone_and_with_a_random_start(starts):
    adjacency, codes, target = planted()
    random = [np.random.default_rng(0).integers(0, 5, target.size)] * starts
    _, labels = solve(adjacency, codes, 5, 0.0, random, effort=0.2)
    assert eg.metrics.clustering_accuracy(target, labels) > 0.99


@pytest.mark.parametrize("notion", NOTIONS)
def test_along_the_dial_fairness_rises(notion):
    adjacency, codes, target = planted(n=1000)
    search = make_search(adjacency, codes, 5, notion=notion, effort=0.1)
    values = [0.0, 0.4, 1.0]
    found = [search.score(labels) for labels in search.solve([Target(f) for f in values], [target])]
    fair = [one[1] for one in found]
    # At 1 the notion may fall by the tolerance of its order.
    assert all(high >= low - 1e-12 for low, high in itertools.pairwise(fair[:-1]))
    assert fair[-1] > fair[0] + 0.1
    assert found[0][0] == pytest.approx(eg.metrics.modularity_score(adjacency, target), abs=0.005)


def test_the_result_is_near_that_of_the_search_on_nodes(monkeypatch):
    adjacency, codes, _ = planted(n=1500, k=6)
    search, labels = solve(adjacency, codes, 6, 0.5, effort=0.3)
    monkeypatch.undo()
    fine = make_search(adjacency, codes, 6, effort=0.3)
    assert not isinstance(fine, LargeSearch)
    values = [
        search.objective.at(0.5).value(*search.score(one)) for one in (labels, fine.solve([Target(0.5)])[0])
    ]
    assert values[0] > values[1] - 0.02


@pytest.mark.parametrize("n_found", [2, 3, 9])
@pytest.mark.parametrize("effort", [0, 0.1])
def test_exactly_k_clusters_from_any_start(n_found, effort):
    adjacency, codes, _ = planted(n=1000)
    _, labels = solve(adjacency, codes, 5, 0.4, [np.arange(1000) % n_found], effort=effort)
    assert np.unique(labels).tolist() == list(range(5))


@pytest.mark.parametrize("k", [30, 300, 999])
def test_more_clusters_than_parts_would_give(k):
    adjacency, codes, _ = planted(n=1000)
    search, labels = solve(adjacency, codes, k, 0.0, effort=0.1)
    assert np.unique(labels).size == k
    assert np.unique(search.exactly(np.zeros(1000, dtype=np.int32))).size == k


def test_without_effort_the_result_is_never_worse_than_the_start():
    adjacency, codes, target = planted(n=1000)
    for fairness in (0.0, 0.5, 1.0):
        search, found = solve(adjacency, codes, 5, fairness, [target], effort=0)
        before, after = (search.objective.at(fairness).value(*search.score(one)) for one in (target, found))
        assert after >= before - (0.01 if fairness == 1 else 1e-12)


@pytest.mark.parametrize("bounds", [(150, 250), (200, 200)])
def test_size_bounds_are_met(bounds):
    adjacency, codes, _ = planted(n=1000)
    labels = eg.refine_labels(
        adjacency,
        np.random.default_rng(0).integers(0, 5, 1000),
        sensitive_features=codes,
        size_bounds=bounds,
        effort=0.2,
        random_state=0,
        fairness=0.3,
    )
    sizes = np.bincount(labels, minlength=5)
    assert sizes.min() >= bounds[0]
    assert sizes.max() <= bounds[1]
    assert eg.metrics.modularity_score(adjacency, labels) > 0.2


def test_a_bound_on_fairness_is_met():
    adjacency, codes, _ = planted(n=1000)
    free = eg.FairPartition(5, 0.0, effort=0.1, random_state=0).fit(adjacency, sensitive_features=codes)
    fair = eg.FairPartition(5, at_least=0.9, effort=0.1, random_state=0).fit(
        adjacency, sensitive_features=codes
    )
    assert free.notion_ < 0.8
    assert fair.notion_ >= 0.9 - 1e-12


@pytest.mark.parametrize("k", [2, 7])
@pytest.mark.parametrize("fairness", [0.0, 0.6])
def test_graphs_of_odd_shapes(k, fairness):
    adjacency = scattered(200, 300, 300)
    codes = np.random.default_rng(0).integers(0, 3, adjacency.shape[0])
    search, labels = solve(adjacency, codes, k, fairness, effort=0.1)
    assert np.unique(labels).tolist() == list(range(k))
    assert search.score(labels)[0] > (0.1 if k == 2 else 0.3)
    assert search.score(labels)[1] > 0.9 * (fairness > 0)


def test_a_wish_to_stop_keeps_labels_that_are_found_on_parts(monkeypatch):
    monkeypatch.setattr(callbacks, "_CALLBACK_INTERVAL", -1.0)
    adjacency, codes, _ = planted()
    model = eg.FairPartition(5, callbacks=lambda progress: True, random_state=0)
    model.fit(adjacency, sensitive_features=codes)
    assert model.status_ == "stopped"
    assert np.unique(model.labels_).size == 5
