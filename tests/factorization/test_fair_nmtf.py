"""FairNMTF: a factorisation that is its own local minimum, with a dial, from any start."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import equigraph as eg
from equigraph.exceptions import EmptyClusterWarning, ParameterError
from equigraph.factorization import starts
from equigraph.factorization.penalties import Scatter
from equigraph.graph.groups import encode_groups
from equigraph.search import plans
from tests.factorization.penalties.test_penalties import KeepApart as PairsApart
from tests.reference.dense import normalised_objective
from tests.reference.marks import TINY_GRAPHS

pytestmark = TINY_GRAPHS

INITS = ("fair-spectral", "spectral", "random", "partition")


class KeepApart(PairsApart):
    """The penalty of the documentation, with the bound on its curvature that coordinate descent needs."""

    def curvature(self):
        return 2.0 * np.bincount(self.pairs.ravel()).max()


@pytest.fixture(scope="module")
def planted():
    return eg.datasets.make_fair_sbm(2000, 5, 5, random_state=0)


def fit(graph, fairness=0.5, n_clusters=3, *, adjacency=None, **parameters):
    own, codes = graph
    parameters = {"random_state": 0, **parameters}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", EmptyClusterWarning)
        return eg.FairNMTF(n_clusters, fairness, **parameters).fit(
            own if adjacency is None else adjacency, sensitive_features=codes
        )


@pytest.mark.parametrize("solver", ["cd", "mu"])
@pytest.mark.parametrize("penalty", ["scatter", "contrastive"])
@pytest.mark.parametrize("fairness", [0, 0.3, 0.8, 1])
def test_the_objective_never_rises_and_ends_with_that_of_the_factors(blocks, solver, penalty, fairness):
    model = fit(blocks, fairness, solver=solver, penalty=penalty)
    history = model.objective_history_
    assert history.size >= 2
    assert np.isfinite(history).all()
    assert (np.diff(history) <= 1e-9 * np.abs(history[:-1])).all()
    assert model.n_iter_ <= model.max_iter
    if penalty == "scatter" and fairness < 1:
        factors = model.membership_, model.interaction_
        expected = normalised_objective(blocks[0], *factors, Scatter(blocks[1]), fairness / (1 - fairness))
        assert history[-1] == pytest.approx(expected, rel=1e-8)


def test_the_dial_lowers_the_scatter_of_the_groups(apart):
    penalty = Scatter(encode_groups(apart[1]))
    values = []
    for fairness in (0, 0.5, 0.95):
        H = fit(apart, fairness, 4).membership_
        values.append(penalty.value(H) / np.linalg.norm(H) ** 2)
    assert values[0] > values[1] > values[2]


def test_a_penalty_that_says_nothing_of_its_curvature_is_honoured(blocks):
    pairs = [(0, 1), (1, 2)]
    plain = fit(blocks, 0.5, penalty=KeepApart(pairs))
    silent = fit(blocks, 0.5, penalty=PairsApart(pairs))
    assert (np.diff(silent.objective_history_) <= 1e-9).all()
    for i, j in pairs:
        assert silent.labels_[i] != silent.labels_[j]
        assert plain.labels_[i] != plain.labels_[j]


def test_a_gradient_of_ones_own_needs_a_curvature_or_multiplicative_updates(blocks):
    class Unbounded(PairsApart):
        def gradient(self, H):
            return 2 * self.positive(H)

    penalty = Unbounded([(0, 1)])
    with pytest.raises(ParameterError, match="use solver='mu'"):
        fit(blocks, 0.5, penalty=penalty)
    assert fit(blocks, 0.5, penalty=penalty, solver="mu").n_nonempty_clusters_ == 3


def test_a_bad_penalty_is_named(blocks):
    with pytest.raises(ParameterError, match="graph of another size"):
        fit(blocks, penalty=KeepApart([(0, 999)]))
    with pytest.raises(ParameterError, match="penalty"):
        fit(blocks, penalty=object())


@pytest.mark.parametrize("init", INITS)
def test_every_start_leads_to_the_same_again(blocks, init):
    model = fit(blocks, 0.5, init=init)
    assert model.n_nonempty_clusters_ == 3
    np.testing.assert_array_equal(fit(blocks, 0.5, init=init).membership_, model.membership_)


def test_the_start_from_a_partition_is_that_of_fair_partition(blocks):
    """One step from its labels leaves them nearly as they are."""
    labels = eg.FairPartition(3, 0.2, random_state=0).fit(blocks[0], sensitive_features=blocks[1]).labels_
    model = fit(blocks, 0.2, init="partition", max_iter=1)
    assert eg.metrics.clustering_accuracy(labels, model.labels_) > 0.95


def test_several_runs_keep_the_one_with_the_smallest_objective(blocks):
    singles = [fit(blocks, 0.3, 4, init="random", random_state=seed) for seed in range(4)]
    best = fit(blocks, 0.3, 4, init="random", n_init=4)
    ends = [model.objective_history_[-1] for model in singles]
    assert best.objective_history_[-1] == min(ends) < max(ends)


@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_single_precision(blocks, solver):
    model = fit(blocks, 0.3, adjacency=blocks[0].astype(np.float32), solver=solver)
    assert model.membership_.dtype == np.float32
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.labels_)
    assert eg.metrics.clustering_accuracy(fit(blocks, 0.3, solver=solver).labels_, model.labels_) > 0.95


@pytest.mark.parametrize("init", ["fair-spectral", "partition"])
def test_planted_fair_clusters_are_found(planted, init):
    labels = fit((planted.adjacency, planted.sensitive_features), 0.5, 5, init=init).labels_
    assert eg.metrics.clustering_accuracy(planted.target, labels) >= 0.999


@pytest.fixture
def everything_is_large(monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("the exact start was asked for on a large graph")

    monkeypatch.setattr(plans, "_LARGE_NODES", 1)
    monkeypatch.setattr(starts, "soft_fair_labels", refuse)


@pytest.mark.usefixtures("everything_is_large")
def test_the_start_of_a_large_graph_takes_a_bounded_number_of_passes_and_is_as_good(monkeypatch):
    mix = np.array([np.roll([0.6, 0.2, 0.2], cluster % 3) for cluster in range(6)])
    data = eg.datasets.make_planted_graph(3000, 6, mean_degree=20, group_mix=mix, random_state=0)
    graph = data.adjacency, data.sensitive_features
    assert eg.metrics.clustering_accuracy(data.target, fit(graph, 0.0, 6, max_iter=15).labels_) > 0.99
    quick = fit(graph, 0.3, 6, max_iter=15)
    monkeypatch.undo()
    exact = fit(graph, 0.3, 6, max_iter=15)
    assert quick.objective_history_[-1] <= exact.objective_history_[-1] * 1.02
