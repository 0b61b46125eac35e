import numpy as np
import pytest

from equigraph.community import FairLouvain
from equigraph.community.louvain import fair_louvain
from equigraph.search.merge import merge
from equigraph.search.partition import scores_of
from tests.reference.label_fixtures import prepare
from tests.reference.labels_objective import NOTIONS
from tests.reference.marks import TINY_GRAPHS

pytestmark = TINY_GRAPHS


@pytest.mark.parametrize("k", [2, 5, 10])
@pytest.mark.parametrize("fairness", [0.0, 0.7])
def test_exactly_k_clusters_on_tiny_graphs(tiny, k, fairness):
    codes = np.arange(12) % 3
    for notion in NOTIONS:
        found = fair_louvain(tiny, codes, n_clusters=k, fairness=fairness, notion=notion)
        assert np.bincount(found.labels, minlength=k).min() >= 1
        assert found.labels.max() + 1 == k


def test_cliques_are_found_at_f_zero_for_every_k_that_fits():
    dense = np.kron(np.eye(5), np.ones((6, 6)) - np.eye(6))
    dense[np.arange(0, 24, 6), np.arange(6, 30, 6)] = 1
    dense = np.maximum(dense, dense.T)
    model = FairLouvain(5, fairness=0, random_state=0).fit(dense)
    assert model.labels_.tolist() == np.repeat(np.arange(5), 6).tolist()
    assert FairLouvain(fairness=0, random_state=0).fit(dense).n_clusters_ == 5


@pytest.mark.parametrize("notion", NOTIONS)
def test_raising_the_dial_does_not_lower_the_notion(notion, make_skewed):
    dial = (0.0, 0.2, 0.5, 0.8)
    means = []
    for fairness in dial:
        scores = []
        for seed in range(2):
            adjacency, codes = make_skewed(seed, paired=2)
            found = fair_louvain(adjacency, codes, n_clusters=6, fairness=fairness, notion=notion, seed=seed)
            scores.append(found.notion)
        means.append(np.mean(scores))
    assert means[0] < 0.4
    assert means[-1] > 0.9
    assert np.all(np.diff(means) > -0.01)


def test_a_large_dial_does_not_freeze_at_pairs(make_skewed):
    adjacency, codes = make_skewed(0)
    found = fair_louvain(adjacency, codes, fairness=0.9)
    # A node alone is as fair as whole nodes allow; pairs that no third one joins would be many.
    sizes = np.sort(np.bincount(found.labels))
    assert sizes.size <= 5
    assert sizes[-3:].min() > 5
    assert found.notion > 0.95
    assert found.modularity > 0.3


def test_the_free_search_is_no_worse_than_its_own_clusters_merged(make_skewed):
    adjacency, codes = make_skewed(1)
    found = fair_louvain(adjacency, codes, fairness=0.5)
    level, objective = prepare(adjacency, codes, 0.5)
    merged = merge(level, found.labels, 2, found.labels.max() + 1, objective)
    assert objective.value(*scores_of(level, merged, objective)) <= found.objective + 2e-3


@pytest.mark.parametrize("n_clusters", [None, 4])
@pytest.mark.parametrize("notion", NOTIONS)
def test_the_objective_is_the_definition(n_clusters, notion, make_skewed, naive):
    adjacency, codes = make_skewed(2)
    model = FairLouvain(n_clusters, fairness=0.4, notion=notion, resolution=1.2, random_state=1)
    model.fit(adjacency, sensitive_features=codes)
    expected = naive.naive_objective(adjacency.toarray(), model.labels_, codes, 0.4, notion, resolution=1.2)
    assert model.objective_ == pytest.approx(expected, abs=1e-9)
    assert model.n_clusters_ == np.unique(model.labels_).size


def test_a_node_without_edges_joins_for_fairness_when_k_is_fixed():
    dense = np.zeros((17, 17))
    dense[:8, :8] = np.ones((8, 8)) - np.eye(8)
    dense[8:16, 8:16] = np.ones((8, 8)) - np.eye(8)
    codes = [0] * 4 + [1] * 4 + [0] * 6 + [1] * 2 + [1]

    labels = FairLouvain(2, fairness=0.3, random_state=0).fit_predict(dense, sensitive_features=codes)
    assert labels[16] == labels[8]


def test_weights_in_single_precision_are_added_in_double_precision(make_skewed):
    adjacency, codes = make_skewed(1)
    weights = np.random.default_rng(1).choice([0.1, 0.2, 0.3, 0.7, 1], adjacency.shape)
    single = adjacency.multiply(np.maximum(weights, weights.T)).tocsr().astype(np.float32)
    fits = [fair_louvain(one, codes, fairness=0.5) for one in (single, single.astype(np.float64))]
    assert fits[0].labels.tolist() == fits[1].labels.tolist()
    assert fits[0].objective == fits[1].objective
