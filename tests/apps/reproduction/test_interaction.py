"""W of iFairNMTF on a graph whose clusters are known: zero without edges, larger with more of them."""

import numpy as np
import pytest

from equigraph import IFairNMTF
from equigraph.apps.reproduction import interaction
from equigraph.apps.reproduction.toys import interaction_toy

SEEDS = range(2)


@pytest.fixture(scope="module")
def fits():
    return {seed: interaction.fit_toy(seed) for seed in SEEDS}


@pytest.mark.parametrize("seed", SEEDS)
def test_clusters_and_interaction(fits, seed):
    run = fits[seed]["spectral"]
    assert run["labels"] == interaction_toy(seed).target.tolist()
    assert run["accuracy"] == 1
    W = np.array(run["interaction"])
    np.testing.assert_allclose(W, W.T, rtol=1e-9, atol=1e-12)
    one, two, four = 0, 1, 3
    assert W[one, two] < interaction.ZERO
    assert W[four, one] > 100 * interaction.ZERO
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
    toy = interaction_toy(0)
    model = IFairNMTF(4, 1.0, init="spectral", tol=0, random_state=0).fit(toy.graph)
    H, W, labels = model.membership_, model.interaction_, model.labels_
    own = np.array([H[labels == cluster, cluster].mean() for cluster in range(4)])
    scaled = interaction.per_pair(H, W, labels)
    np.testing.assert_allclose((H / own) @ scaled @ (H / own).T, H @ W @ H.T, rtol=1e-9, atol=1e-12)
    assert not interaction.per_pair(H, W, np.zeros_like(labels))[1:, 1:].any()
