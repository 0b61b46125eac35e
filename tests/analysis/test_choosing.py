"""Stability: votes against loops, the recommendation against known answers, and planted numbers of clusters."""

import itertools
import json

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster
from sklearn.base import BaseEstimator
from sklearn.metrics import adjusted_rand_score

import equigraph as eg
from equigraph.analysis.choosing import StabilityRow, consensus, mean_agreement, recommend, without_edges
from equigraph.exceptions import GraphError, InfeasibleError, ParameterError


def random_labels(seed, number=5, n=40, k=4):
    """Noisy copies of one clustering, with their clusters numbered anew."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    found = []
    for _ in range(number):
        labels = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), truth)
        found.append(rng.permutation(k)[labels])
    return truth, found


def test_agreement_is_the_mean_over_pairs():
    _, found = random_labels(0)
    pairs = [adjusted_rand_score(a, b) for a, b in itertools.combinations(found, 2)]
    assert mean_agreement(itertools.combinations(found, 2))[0] == pytest.approx(np.mean(pairs))
    across = [adjusted_rand_score(a, b) for a in found[:2] for b in found[2:]]
    assert mean_agreement(itertools.product(found[:2], found[2:]))[0] == pytest.approx(np.mean(across))
    assert np.isnan(mean_agreement([])).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_consensus_is_the_vote_under_the_best_numbering(seed):
    truth, found = random_labels(seed, number=7)
    voted = consensus(found, 4)
    # Every clustering numbered by trying all numberings, as the consensus has it.
    aligned = []
    for labels in found:
        numberings = [np.array(order)[labels] for order in itertools.permutations(range(4))]
        aligned.append(max(numberings, key=lambda one: (one == voted["consensus"]).sum()))
    for node in range(40):
        votes = np.bincount([labels[node] for labels in aligned], minlength=4)
        assert votes[voted["consensus"][node]] == votes.max()
        assert voted["sure"][node] == pytest.approx(votes.max() / 7)
        rest = np.delete(votes, voted["consensus"][node])
        assert votes[voted["second"][node]] == (rest.max() if rest.max() else 7)
    # The consensus of seven recovers what noise of a fifth hides from each.
    each = np.mean([adjusted_rand_score(truth, labels) for labels in found])
    assert adjusted_rand_score(truth, voted["consensus"]) > each


def test_a_consensus_does_not_empty_a_cluster():
    found = [np.array([0, 0, 0, 0, 1]), np.array([0, 0, 0, 1, 0]), np.array([0, 1, 0, 0, 0])]
    assert np.unique(consensus(found, 2)["consensus"]).size == 2


@pytest.mark.parametrize(
    ("rows", "number", "plausible", "said"),
    [
        (
            [(2, 1.0, 0.5, 0.3), (3, 1.0, 0.95, 0.4), (4, 0.97, 0.93, 0.6), (5, 0.95, 0.92, 0.5995)],
            4,
            (4, 5),
            ["3, 4 and 5 are about as stable", "cannot be told from 5"],
        ),
        (
            [(2, 0.9, 0.9, 0.3), (3, 0.6, 0.4, 0.5)],
            2,
            (2,),
            ["Q alone would take 3 (0.500 instead of 0.300), on which fits agree by 0.40"],
        ),
        ([(2, 0.3, 0.2, 0.3), (3, 0.4, 0.3, 0.4)], None, (), ["does not say how many"]),
        ([(2, 0.3, 0.2, 0.3), (3, 0.6, 0.6, 0.4)], 3, (3,), ["no clear answer", "largest number tried"]),
    ],
)
def test_recommendation(rows, number, plausible, said):
    rows = [StabilityRow(k, seeds_ari=a, removals_ari=b, objective=value) for k, a, b, value in rows]
    found, reason, good = recommend(rows, "Q")
    assert (found, good) == (number, plausible)
    assert all(words in reason for words in said)


def test_copies_without_edges():
    data = eg.datasets.make_planted_graph(60, 3, random_state=0)
    graph = eg.Graph(data.adjacency, sensitive_features=data.sensitive_features, attribute="g")
    copy = without_edges(graph, 0.1, np.random.default_rng(1))
    assert copy.n_edges == graph.n_edges - round(0.1 * graph.n_edges)
    gone = graph.adjacency - copy.adjacency
    assert (gone.data >= 0).all()
    assert (abs(copy.adjacency - copy.adjacency.T)).nnz == 0
    assert copy.attribute == "g"
    assert without_edges(graph, 1e-9, np.random.default_rng(1)).n_edges == graph.n_edges - 1


LIGHT = {"n_seeds": 3, "n_removals": 3}


@pytest.fixture(scope="module")
def planted():
    options = {"mean_degree": 10, "mixing": 0.15, "group_mix": np.full((4, 2), 0.5)}
    return eg.datasets.make_planted_graph(80, 4, **options, random_state=11)


@pytest.fixture(scope="module")
def found(planted):
    graph = eg.Graph(planted.adjacency, [f"p{i}" for i in range(80)], planted.sensitive_features, "team")
    return eg.stability(graph, range(2, 7), estimator=eg.FairPartition(effort=0.05), random_state=3, **LIGHT)


def test_the_planted_number_is_recommended(found, planted):
    assert found.recommended == 4
    assert adjusted_rand_score(found.consensus(), planted.target) > 0.85
    assert found.aim == "0.5 Q + 0.5 NB"


def test_objective_and_scores_are_those_of_the_best_fit(found, planted):
    graph = eg.Graph(planted.adjacency, sensitive_features=planted.sensitive_features)
    for one in found.rows:
        scores = eg.metrics.evaluate(graph, one.best)
        assert pytest.approx(scores["Q"]) == one.Q
        assert one.fairness == pytest.approx(scores["NB"])
        assert one.objective == pytest.approx((scores["Q"] + scores["NB"]) / 2)


def test_tables_pages_and_json(found):
    table = found.table()
    assert table["k"].tolist() == [2, 3, 4, 5, 6]
    assert table["recommended"].tolist() == [False, False, True, False, False]
    assert json.loads(json.dumps(found.summary()))["recommended"] == 4
    assert "recommended" in found._repr_html_()
    assert repr(found) == "Stability(5 numbers of clusters on 80 nodes, FairPartition, recommended: 4)"


def test_unsure_nodes(found):
    pytest.importorskip("pandas")
    table = found.unsure(100, k=2)  # any two of the four may be taken for one
    assert 0 < len(table) < 80
    assert table["sure"].is_monotonic_increasing
    assert (table["second"] != table["cluster"]).all()
    assert table.index[0] in found.node_names.tolist()


def test_plot(found, tmp_path):
    pytest.importorskip("matplotlib")
    display = found.plot()
    assert len(display.ax_.get_legend().get_texts()) == 4
    assert display.ax_.get_lines()[4].get_xdata()[0] == 4
    display.save(tmp_path / "stability.png")


def test_estimators_of_other_libraries(planted):
    model = cluster.SpectralClustering(affinity="precomputed", assign_labels="cluster_qr")
    one = eg.stability(planted.adjacency, [3, 4], estimator=model, random_state=0, **LIGHT)
    assert one.recommended == 4
    assert adjusted_rand_score(one.consensus(), planted.target) > 0.85


def test_estimator_with_too_many_clusters_raises(planted):
    class TooMany(BaseEstimator):
        def __init__(self, n_clusters=2):
            self.n_clusters = n_clusters

        def fit(self, X):
            self.labels_ = np.arange(X.shape[0]) % (self.n_clusters + 1)
            return self

    with pytest.raises(ParameterError, match="TooMany found 3 clusters where 2 were asked for"):
        eg.stability(planted.adjacency, [2], estimator=TooMany())


def test_without_groups_there_is_no_fairness(planted):
    one = eg.stability(planted.adjacency, [4], n_seeds=2, n_removals=0, random_state=0)
    assert one.row(4).fairness is None
    assert np.isnan(one.row(4).removals_ari)
    assert one.row(4).stability == one.row(4).seeds_ari


def test_no_recommendation_for_a_random_graph():
    rng = np.random.default_rng(5)
    A = np.triu(rng.random((150, 150)) < 0.05, 1)
    model = eg.FairLouvain(fairness=0)
    one = eg.stability((A + A.T).astype(float), [3, 5, 7], estimator=model, random_state=0, **LIGHT)
    assert one.recommended is None
    with pytest.raises(ParameterError, match="say which one with k="):
        one.consensus()
    assert one.consensus(3).size == 150


def test_callbacks_are_called_and_can_stop(planted):
    steps = []

    def watch(progress):
        steps.append((progress.step, progress.total))
        return progress.step >= 7

    options = {"estimator": eg.RandomClustering(), "random_state": 0, **LIGHT}
    one = eg.stability(planted.adjacency, [2, 3, 4], callbacks=watch, **options)
    assert steps == [(i, 18) for i in range(1, 13)]
    assert one.stopped
    assert [each.k for each in one.rows] == [2, 3]


def test_infeasible_number_has_a_row_with_its_error(planted):
    model = eg.FairPartition(fairness=0, size_bounds=(25, None), effort=0.1)
    one = eg.stability(planted.adjacency, [3, 4], estimator=model, random_state=0, **LIGHT)
    assert one.rows[0].error is None
    assert "25" in one.rows[1].error
    with pytest.raises(ParameterError, match="no clusters for k=4"):
        one.consensus(4)
    with pytest.raises((ParameterError, InfeasibleError), match="No number"):
        eg.stability(planted.adjacency, [4], estimator=model, random_state=0, **LIGHT)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"k_range": []}, "k_range is empty"),
        ({"k_range": [1, 2]}, "k_range has 1: expected numbers of clusters from 2 to 80"),
        ({"k_range": [81]}, "k_range has 81"),
        ({"k_range": 5}, "whole numbers"),
        ({"k_range": [2.5]}, "whole numbers"),
        ({"n_seeds": 1}, "n_seeds"),
        ({"removed": 0}, "removed"),
    ],
)
def test_invalid_arguments_raise(planted, arguments, words):
    with pytest.raises(ParameterError, match=words):
        eg.stability(planted.adjacency, **{"k_range": [2], **arguments})


def test_a_graph_without_edges_is_refused():
    with pytest.raises(GraphError, match="no edges"):
        eg.stability(sparse.csr_array((5, 5)), [2])
