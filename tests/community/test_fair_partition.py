"""FairPartition: the dial, the bound, exactly k clusters, and groups that must not wreck a fit."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.exceptions import FairnessIgnoredWarning, FairnessNotReachedWarning
from tests.reference.labels_objective import NOTIONS
from tests.reference.marks import TINY_GRAPHS

pytestmark = TINY_GRAPHS


@pytest.fixture(scope="module")
def room():
    return eg.datasets.make_classroom()


def fit(graph, fairness=0.5, n_clusters=3, **parameters):
    parameters = {"effort": 0.1, "random_state": 0, **parameters}
    adjacency, codes = graph
    return eg.FairPartition(n_clusters, fairness, **parameters).fit(adjacency, sensitive_features=codes)


@pytest.mark.parametrize("notion", NOTIONS)
def test_the_ends_of_the_dial(apart, notion):
    points = [fit(apart, f, 4, notion=notion) for f in (0, 0.5, 1)]
    assert points[0].modularity_ == max(point.modularity_ for point in points) > points[2].modularity_
    assert points[2].notion_ >= max(point.notion_ for point in points) - 0.01
    assert points[2].notion_ > points[0].notion_ + 0.1


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("fairness", [0, 0.4, 1])
def test_attributes_are_the_definitions(blocks, naive, notion, fairness):
    model = fit(blocks, fairness, notion=notion)
    cohesion = naive.naive_modularity(blocks[0].toarray(), model.labels_)
    fair = naive.naive_notion(model.labels_, blocks[1], notion)
    assert model.modularity_ == pytest.approx(cohesion, abs=1e-12)
    assert model.notion_ == pytest.approx(fair, abs=1e-12)
    assert model.objective_ == pytest.approx((1 - fairness) * cohesion + fairness * fair, abs=1e-12)
    assert model.n_clusters_ == model.n_nonempty_clusters_ == 3


def test_a_bound_is_met_with_the_most_cohesion_also_between_the_corners_of_the_dial(apart):
    """A weighted sum jumps over what lies off the convex hull; a bound does not."""
    bounds = (0.3, 0.5, 0.7, 0.9)
    asked = [fit(apart, n_clusters=4, at_least=bound) for bound in bounds]
    dial = [fit(apart, f, 4) for f in (0.0, 0.2, 0.5, 0.8)]
    for bound, model in zip(bounds, asked, strict=True):
        assert bound <= model.notion_ < bound + 0.15
        assert model.objective_ == model.modularity_
        enough = [one.modularity_ for one in dial if one.notion_ >= bound]
        # A short search under a bound need not find what one along the dial did.
        assert model.modularity_ >= max(enough, default=-1) - 0.03
    assert (np.diff([model.modularity_ for model in asked]) <= 1e-3).all()


def test_a_bound_that_cannot_be_met_is_told_with_what_was_reached():
    # Two groups of 1 and 11: no three clusters are half and half.
    dense = np.kron(np.eye(3), np.ones((4, 4)) - np.eye(4))
    with pytest.warns(FairnessNotReachedWarning, match=r"no labels with B of at least 0\.9 .* have") as told:
        model = fit((dense, np.arange(12) == 0), notion="balance", at_least=0.9)
    short = [one for one in told if one.category is FairnessNotReachedWarning]
    assert len(short) == 1
    assert f"{model.notion_:.4f}" in str(short[0].message)


def test_more_effort_and_more_runs_are_no_worse(apart):
    quick, long, several = (fit(apart, 0.3, 5, **options) for options in ({"effort": 0}, {}, {"n_init": 3}))
    assert long.objective_ >= quick.objective_ - 1e-12
    assert several.objective_ >= long.objective_ - 1e-12


def test_without_groups_there_is_modularity_alone(blocks):
    adjacency, _ = blocks
    with pytest.warns(FairnessIgnoredWarning, match="no fairness term"):
        model = eg.FairPartition(3, 0.7, effort=0.1, random_state=0).fit(adjacency)
    assert eg.metrics.clustering_accuracy(np.arange(180) // 60, model.labels_) > 0.95
    silent = eg.FairPartition(3, 0, effort=0.1, random_state=0).fit(adjacency)
    np.testing.assert_array_equal(silent.labels_, model.labels_)


def test_the_number_of_clusters_may_come_out(blocks):
    model = fit(blocks, 0.8, None)
    assert model.n_clusters_ == np.unique(model.labels_).size == 3
    assert fit(blocks, 0.0, None).n_clusters_ >= 3


def test_planted_fair_clusters_are_found():
    planted = eg.datasets.make_fair_sbm(2000, 5, 5, random_state=0)
    model = fit((planted.adjacency, planted.sensitive_features), 0.5, 5)
    assert eg.metrics.clustering_accuracy(planted.target, model.labels_) >= 0.999


# Groups that must not wreck a fit.


@pytest.mark.parametrize(
    ("pupils", "names"),
    [
        (3, "unknown"),
        ([3, 17], "unknown"),
        ([2, 11, 29], ["p", "q", "r"]),
        (slice(None), [f"pupil {i}" for i in range(30)]),
    ],
    ids=["one unknown", "two unknown", "three of one", "everybody"],
)
def test_small_groups_leave_the_clusters_cohesive(room, pupils, names):
    plain = fit((room.adjacency, room.sensitive_features))
    groups = np.array(room.sensitive_features, dtype=object)
    groups[pupils] = names
    with warnings.catch_warnings():
        # Groups smaller than the number of clusters may be warned of.
        warnings.simplefilter("ignore")
        model = fit((room.adjacency, groups))
    assert model.modularity_ >= 0.95 * plain.modularity_
    assert np.bincount(model.labels_).min() > 1


# Curves.


@pytest.mark.parametrize(("name", "least"), [("diaries", 0.69), ("drugnet", 0.62)])
def test_the_claimed_trade_off_on_real_networks(name, least, data_dir):
    data = eg.datasets.load(name)
    curve = eg.tradeoff_curve(
        data.adjacency,
        sensitive_features=data.sensitive_features,
        n_clusters=5,
        fairness=[0, 0.1, 0.2, 0.35, 0.5, 0.8, 1],
        random_state=0,
    )
    assert curve.hypervolume("Q", "NB") >= least
    assert (np.diff(curve.values("NB")) >= -0.01).all()
    assert all(np.unique(point.labels).size == 5 for point in curve.points)


def test_counts_nearer_to_the_shares_are_preferred():
    # Cliques of 7, 6, 6 and 5 nodes; weak links between the first two and the last two. Of group "b" whole nodes allow
    # two or three in a cluster of 13 and one or two in one of 11: three and one as linked, two and two otherwise.
    adjacency = sparse.block_diag([np.ones((size, size)) - np.eye(size) for size in (7, 6, 6, 5)]).toarray()
    adjacency[0, 7] = adjacency[7, 0] = adjacency[13, 19] = adjacency[19, 13] = 0.01
    groups = np.array(["a"] * 24)
    groups[[0, 1, 7, 19]] = "b"
    labels = eg.FairPartition(2, random_state=0).fit(adjacency, sensitive_features=groups).labels_
    assert [np.count_nonzero(groups[labels == c] == "b") for c in (0, 1)] == [2, 2]
    assert eg.metrics.normalized_balance_score(labels, sensitive_features=groups) == 1


def test_planted_clusters_of_a_dense_graph_that_counts_as_large(monkeypatch):
    monkeypatch.setattr("equigraph.search.plans._LARGE_ENTRIES", 1000)
    data = eg.datasets.make_fair_sbm(600, 5, 5, random_state=0)
    model = eg.FairPartition(5, fairness=1, notion="balance", effort=0.2, random_state=0)
    labels = model.fit_predict(data.adjacency, sensitive_features=data.sensitive_features)
    # Without the spectral division to begin with, the clusters are as fair and have half the modularity.
    assert eg.metrics.evaluate(data.adjacency, labels, target=data.target)["accuracy"] > 0.99
