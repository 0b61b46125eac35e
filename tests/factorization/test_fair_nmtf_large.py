"""FairNMTF on large graphs, made small here: the spectral start takes a bounded number of passes."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import equigraph as eg
from equigraph.factorization import fair_nmtf
from equigraph.search import plans
from equigraph.spectral.soft import soft_fair_labels


@pytest.fixture(autouse=True)
def everything_is_large(monkeypatch):
    monkeypatch.setattr(plans, "_LARGE_NODES", 1)
    monkeypatch.setattr(fair_nmtf, "soft_fair_labels", refuse)


def refuse(*arguments, **options):
    raise AssertionError("the exact start was asked for on a large graph")


@pytest.fixture(scope="module")
def planted():
    mix = np.array([np.roll([0.6, 0.2, 0.2], cluster % 3) for cluster in range(6)])
    return eg.datasets.make_planted_graph(3000, 6, mean_degree=20, group_mix=mix, random_state=0)


def fit(data, fairness=0.5, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return eg.FairNMTF(6, fairness, random_state=0, max_iter=15, **parameters).fit(
            data.adjacency, sensitive_features=data.sensitive_features
        )


def test_cohesion_alone_finds_the_planted_clusters(planted):
    assert eg.metrics.clustering_accuracy(planted.target, fit(planted, 0.0).labels_) > 0.99


def test_the_quick_start_is_as_good_as_the_exact_one(planted, monkeypatch):
    quick = fit(planted, 0.3)
    monkeypatch.undo()
    assert fair_nmtf.soft_fair_labels is soft_fair_labels
    exact = fit(planted, 0.3)
    assert quick.objective_history_[-1] <= exact.objective_history_[-1] * 1.02
