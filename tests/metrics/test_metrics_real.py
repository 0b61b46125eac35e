"""Scores on the real graphs."""

from __future__ import annotations

import numpy as np
import pytest

from equigraph import datasets, metrics
from tests.optional import optional

nx = optional("networkx")

BALANCES = {
    "diaries": 0.765,
    "facebook": 0.824,
    "friendship": 0.671,
    "drugnet": 0.138,
    "nba": 0.361,
    "lastfm": 0.330,
}


def load(data_dir, name):
    data = datasets.load(name, data_home=data_dir)
    return data.adjacency, data.sensitive_features


@pytest.mark.parametrize("name", BALANCES)
def test_published_balance_and_collapse(data_dir, name):
    adjacency, groups = load(data_dir, name)
    n = adjacency.shape[0]
    assert metrics.population_balance(groups) == pytest.approx(BALANCES[name], abs=5e-4)
    collapsed = metrics.evaluate(adjacency, np.zeros(n, dtype=int), sensitive_features=groups)
    assert collapsed["B"] == metrics.population_balance(groups)
    assert collapsed["NB"] == pytest.approx(1.0)
    assert collapsed["Q"] == pytest.approx(0.0, abs=1e-12)
    assert collapsed["n_nonempty"] == 1


@pytest.mark.parametrize("name", ["diaries", "drugnet", "lastfm"])
def test_modularity_agrees_with_networkx(data_dir, name):
    adjacency, groups = load(data_dir, name)
    graph = nx.from_scipy_sparse_array(adjacency)
    clusters = [set(np.flatnonzero(groups == s).tolist()) for s in np.unique(groups)]
    found = metrics.modularity_score(adjacency, groups)
    assert found == pytest.approx(nx.community.modularity(graph, clusters), abs=1e-12)
    # The groups as clusters: perfectly segregated, so fairness is nil.
    assert metrics.balance_score(groups, sensitive_features=groups) == 0.0
    assert metrics.normalized_balance_score(groups, sensitive_features=groups) == 0.0
    assert metrics.individual_balance_score(groups, sensitive_features=groups) == 0.0
    parts = metrics.group_modularity_scores(adjacency, groups, sensitive_features=groups)
    assert sum(parts.values()) == pytest.approx(found, abs=1e-12)
