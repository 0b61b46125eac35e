"""A larger weight: fairer clusters, less modularity."""

import json

import numpy as np
import pytest

from equigraph.apps.reproduction import tradeoff_toy as figure
from equigraph.apps.reproduction.cells import Settings
from equigraph.apps.reproduction.toys import tradeoff_toy


@pytest.fixture(scope="module")
def outcome():
    settings = Settings(quick=True)
    cells = figure.cells(settings)
    return settings, {cell.key: json.loads(json.dumps(figure.fit_toy(**cell.arguments))) for cell in cells}


def test_fairness_rises_and_modularity_falls(outcome):
    runs = [run for result in outcome[1].values() for run in result["runs"]]
    assert len(runs) == 3 * 3 * 5
    means = np.array([figure.scores_at(runs, weight).mean(axis=0) for weight in figure.WEIGHTS.values()])
    quality, worst, _, balance = means.T
    assert np.all(np.diff(quality) < 0)
    assert quality[0] - quality[-1] > 0.1
    assert np.all(np.diff(worst) > 0)
    assert worst[-1] - worst[0] > 0.25
    assert np.all(np.diff(balance) > 0)
    shown = figure.typical_runs(runs)
    assert shown[0]["Q"] > shown[1]["Q"] > shown[2]["Q"]
    assert shown[0]["min_balance"] < shown[1]["min_balance"] < shown[2]["min_balance"]
    assert len({run["seed"] for run in shown}) == 1


def test_scores_belong_to_the_labels(outcome):
    _, results = outcome
    for run in next(iter(results.values()))["runs"]:
        toy = tradeoff_toy(run["seed"])
        labels = np.array(run["labels"])
        dense = toy.graph.adjacency.toarray()
        excess = dense - np.outer(dense.sum(axis=1), dense.sum(axis=0)) / dense.sum()
        assert run["Q"] == pytest.approx(excess[labels[:, None] == labels].sum() / dense.sum())
        worst = 1.0
        for cluster in range(3):
            n_first = np.count_nonzero(toy.graph.sensitive_features[labels == cluster] == "A")
            n_second = np.count_nonzero(labels == cluster) - n_first
            worst = min(worst, min(n_first, n_second) / max(n_first, n_second, 1))
        assert run["min_balance"] == pytest.approx(worst)
