"""The small graphs of the figures, which clusters interact in them, and what the weight does."""

import json

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from equigraph import IFairNMTF
from equigraph.apps.reproduction import toys
from equigraph.apps.reproduction.cells import Settings
from equigraph.metrics import evaluate

SEEDS = range(3)


def _links(toy):
    """Count the edges between and inside clusters."""
    of = np.eye(toy.target.max() + 1, dtype=int)[toy.target]
    ends = (of.T @ toy.graph.adjacency.toarray() @ of).astype(int)
    return np.triu(ends, 1) + np.diag(ends.diagonal() // 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_interaction_toy(seed):
    toy = toys.interaction_toy(seed)
    assert np.bincount(toy.target).tolist() == [10, 10, 10, 10]
    assert np.unique(toy.graph.sensitive_features, return_counts=True)[1].tolist() == [14, 26]
    assert _links(toy).tolist() == [[44, 0, 10, 10], [0, 40, 10, 30], [0, 0, 36, 10], [0, 0, 0, 40]]
    assert not toy.graph.is_weighted
    # Every node of IV has as many neighbours in II.
    across = toy.graph.adjacency[toy.target == 3][:, toy.target == 1]
    assert across.sum(axis=1).tolist() == [3] * 10
    assert across.sum(axis=0).tolist() == [3] * 10


@pytest.mark.parametrize("seed", SEEDS)
def test_tradeoff_toy(seed):
    toy = toys.tradeoff_toy(seed)
    groups = toy.graph.sensitive_features
    counts = [[np.sum(groups[toy.target == circle] == group) for group in "AB"] for circle in range(3)]
    assert counts == [[14, 1], [10, 5], [3, 12]]
    assert connected_components(toy.graph.adjacency)[0] == 1
    links = _links(toy)
    assert np.trace(links) > 2 * (links.sum() - np.trace(links))


# Interaction: zero without edges, larger with more of them.

FITTED = range(2)


@pytest.fixture(scope="module")
def fits():
    return {seed: toys.fit_interaction(seed) for seed in FITTED}


@pytest.mark.parametrize("seed", FITTED)
def test_clusters_and_interaction(fits, seed):
    run = fits[seed]["spectral"]
    assert run["labels"] == toys.interaction_toy(seed).target.tolist()
    assert run["accuracy"] == 1
    W = np.array(run["interaction"])
    np.testing.assert_allclose(W, W.T, rtol=1e-9, atol=1e-12)
    one, two, four = 0, 1, 3
    assert W[one, two] < toys.ZERO
    assert W[four, one] > 100 * toys.ZERO
    assert W[four, two] > 3 * W[four, one]
    assert W.diagonal().min() > 3 * (W - np.diag(W.diagonal())).max()
    assert W.diagonal().argmax() == 0  # the densest cluster
    assert W.diagonal().argmin() == 2


def test_a_diagonal_start_shows_no_interaction(fits):
    for runs in fits.values():
        W = np.array(runs["svd"]["interaction"])
        assert runs["svd"]["accuracy"] == 1
        assert not (W - np.diag(W.diagonal())).any()


def test_scaling_keeps_the_model():
    toy = toys.interaction_toy(0)
    model = IFairNMTF(4, 1.0, init="spectral", tol=0, random_state=0).fit(toy.graph)
    H, W, labels = model.membership_, model.interaction_, model.labels_
    own = np.array([H[labels == cluster, cluster].mean() for cluster in range(4)])
    scaled = toys.per_pair(H, W, labels)
    np.testing.assert_allclose((H / own) @ scaled @ (H / own).T, H @ W @ H.T, rtol=1e-9, atol=1e-12)
    assert not toys.per_pair(H, W, np.zeros_like(labels))[1:, 1:].any()


# A larger weight: fairer clusters, less modularity.


@pytest.fixture(scope="module")
def outcome():
    settings = Settings(quick=True)
    cells = toys.tradeoff_cells(settings)
    return settings, {cell.key: json.loads(json.dumps(toys.fit_tradeoff(**cell.arguments))) for cell in cells}


def test_fairness_rises_and_modularity_falls(outcome):
    runs = [run for result in outcome[1].values() for run in result["runs"]]
    assert len(runs) == 3 * 3 * 5
    means = np.array([toys.scores_at(runs, weight).mean(axis=0) for weight in toys.WEIGHTS.values()])
    quality, worst, _, balance = means.T
    assert np.all(np.diff(quality) < 0)
    assert quality[0] - quality[-1] > 0.1
    assert np.all(np.diff(worst) > 0)
    assert worst[-1] - worst[0] > 0.25
    assert np.all(np.diff(balance) > 0)
    shown = toys.typical_runs(runs)
    assert shown[0]["Q"] > shown[1]["Q"] > shown[2]["Q"]
    assert shown[0]["min_balance"] < shown[1]["min_balance"] < shown[2]["min_balance"]
    assert len({run["seed"] for run in shown}) == 1


def test_scores_belong_to_the_labels(outcome):
    _, results = outcome
    for run in next(iter(results.values()))["runs"]:
        toy = toys.tradeoff_toy(run["seed"])
        scores = evaluate(toy.graph, run["labels"])
        for name in ("Q", "min_balance"):
            assert run[name] == pytest.approx(scores[name])
