"""Scores on the real graphs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.io
from scipy import sparse

from equigraph import metrics
from tests.optional import optional

nx = optional("networkx")

FOLDER = "iFairNMTF/Source/data"
FILES = {
    "Diaries": ("School/diaries.csv", "School/cd_attr.csv"),
    "Facebook": ("School/facebook.csv", "School/fb_attr.csv"),
    "Friendship": ("School/friendship.csv", "School/fr_attr.csv"),
    "DrugNet": ("DrugNet/DrugNetgraph.csv", "DrugNet/DrugNetfeature.csv"),
    "NBA": ("NBA/NBAgraph.csv", "NBA/NBAfeature.csv"),
}
BALANCES = {
    "Diaries": 0.765,
    "Facebook": 0.824,
    "Friendship": 0.671,
    "DrugNet": 0.138,
    "NBA": 0.361,
    "LastFM": 0.330,
}


def load(data_dir, name):
    folder = data_dir / FOLDER
    if name == "LastFM":
        content = scipy.io.loadmat(folder / "LastFM" / "LastFM.mat")
        return sparse.csr_array(content["A"].astype(float)), content["F"]
    graph, features = FILES[name]
    groups = np.loadtxt(folder / features, delimiter=",", usecols=0)
    return np.loadtxt(folder / graph, delimiter=","), groups


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


@pytest.mark.parametrize("name", ["Diaries", "DrugNet", "LastFM"])
def test_modularity_agrees_with_networkx(data_dir, name):
    adjacency, groups = load(data_dir, name)
    groups = np.ravel(groups)
    graph = nx.from_scipy_sparse_array(sparse.csr_array(adjacency))
    clusters = [set(np.flatnonzero(groups == s).tolist()) for s in np.unique(groups)]
    found = metrics.modularity_score(adjacency, groups)
    assert found == pytest.approx(nx.community.modularity(graph, clusters), abs=1e-12)
    # The groups as clusters: perfectly segregated, so fairness is nil.
    assert metrics.balance_score(groups, sensitive_features=groups) == 0.0
    assert metrics.normalized_balance_score(groups, sensitive_features=groups) == 0.0
    assert metrics.individual_balance_score(groups, sensitive_features=groups) == 0.0
    parts = metrics.group_modularity_scores(adjacency, groups, sensitive_features=groups)
    assert sum(parts.values()) == pytest.approx(found, abs=1e-12)
