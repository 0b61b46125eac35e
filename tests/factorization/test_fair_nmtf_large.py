"""FairNMTF on large graphs, made small here: what it finds, and factors that describe it."""

from __future__ import annotations

import numpy as np
import pytest

import equigraph as eg
from equigraph.base import mean_interaction
from equigraph.callbacks import Notifier
from equigraph.refinement import large


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    monkeypatch.setattr(large, "LARGE_NODES", 1)


@pytest.fixture(scope="module")
def planted():
    mix = np.array([np.roll([0.6, 0.2, 0.2], cluster % 3) for cluster in range(6)])
    return eg.datasets.make_planted_graph(3000, 6, mean_degree=20, group_mix=mix, random_state=0)


def fit(data, fairness=0.5, **parameters):
    model = eg.FairNMTF(6, fairness, random_state=0, **parameters)
    return model.fit(data.adjacency, sensitive_features=data.sensitive_features)


def test_cohesion_alone_finds_the_planted_clusters(planted):
    assert eg.metrics.clustering_accuracy(planted.target, fit(planted, 0.0).labels_) > 0.99


@pytest.mark.parametrize("fairness", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("solver", ["cd", "mu"])
def test_the_factors_describe_the_labels(planted, fairness, solver):
    model = fit(planted, fairness, solver=solver)
    adjacency, labels = planted.adjacency, model.labels_
    assert np.bincount(labels).size == 6
    assert (np.diff(np.bincount(labels)) <= 0).all()
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), labels)
    assert model.membership_.dtype == adjacency.dtype
    np.testing.assert_allclose(model.interaction_, mean_interaction(adjacency, labels, 6), rtol=1e-10)
    scores = eg.metrics.evaluate(adjacency, labels, sensitive_features=planted.sensitive_features)
    assert model.objective_ == pytest.approx((1 - fairness) * scores["Q"] + fairness * scores["NB"])
    assert model.n_iter_ <= 3
    assert (np.diff(model.objective_history_) <= 1e-6).all()


def test_the_scale_of_the_membership_is_that_of_the_graph(planted):
    model = fit(planted, 0.0)
    scaled = eg.FairNMTF(6, 0.0, random_state=0).fit(
        planted.adjacency * 16.0, sensitive_features=planted.sensitive_features
    )
    np.testing.assert_array_equal(scaled.labels_, model.labels_)
    np.testing.assert_allclose(scaled.membership_, 4 * model.membership_, rtol=1e-4, atol=1e-5)


def test_the_dial_makes_clusters_fairer(planted):
    fair = [
        eg.metrics.normalized_balance_score(
            fit(planted, value).labels_, sensitive_features=planted.sensitive_features
        )
        for value in (0.0, 0.5)
    ]
    assert fair[1] > fair[0] + 0.2


@pytest.mark.parametrize("init", ["fair-spectral", "spectral", "random"])
def test_every_start_works_and_the_same_seed_gives_the_same(planted, init):
    first, again = (fit(planted, 0.2, init=init) for _ in range(2))
    np.testing.assert_array_equal(first.labels_, again.labels_)
    np.testing.assert_array_equal(first.membership_, again.membership_)


def test_a_curve_needs_two_starts(planted):
    model = eg.FairNMTF(6, 0.5, random_state=0)
    problem = model._prepare(planted.adjacency, planted.sensitive_features)
    assert len(list(model._starts(problem, [0.0, 0.5, 1.0], 0, Notifier()))) == 2
    curve = model._fit_dial(problem, [0.0, 0.5, 1.0], Notifier())
    assert [np.unique(labels).size for labels in curve] == [6, 6, 6]


def test_without_refinement_the_factorisation_runs_its_course(planted):
    assert fit(planted, 0.0, refine=False, max_iter=12, tol=0).n_iter_ == 12
