"""Shares of links, against a loop over all pairs."""

import numpy as np
import pytest
from scipy import sparse

import equigraph as eg
from equigraph.metrics.quality import share_inside


def naive_shares(A, labels):
    clusters = sorted(set(labels))
    shares = np.zeros((len(labels), len(clusters)))
    for i in range(len(labels)):
        degree = A[i].sum()
        for place, cluster in enumerate(clusters):
            inside = sum(A[i, j] for j in range(len(labels)) if labels[j] == cluster)
            shares[i, place] = inside / degree if degree else 0
    return shares


def test_shares_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    A = np.triu(rng.random((12, 12)) * (rng.random((12, 12)) < 0.3), 1)
    A[:, 3] = A[3] = 0
    A = A + A.T
    labels = rng.choice(list("abc"), 12)
    found = eg.metrics.link_shares(A, labels)
    assert found == pytest.approx(naive_shares(A, labels))
    assert found[3].sum() == 0


@pytest.mark.parametrize(
    ("labels", "share"),
    [([0, 0, 1, 1], 0.75), ([0, 0, 0, 0], 1.0), ([0, 1, 0, 1], 0.0), ([0, 1, 1, 0], 0.25)],
)
def test_share_inside(labels, share):
    weights = np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 2], [0, 0, 2, 0]])
    for dtype in (np.int8, np.float32, bool):
        A = sparse.csr_array(weights.astype(dtype))
        expected = share if dtype is not bool else {0.75: 2 / 3, 0.25: 1 / 3}.get(share, share)
        assert share_inside(A, np.array(labels)) == pytest.approx(expected)


def test_share_inside_without_links_and_of_many_small_integers():
    assert np.isnan(share_inside(sparse.csr_array((2, 2)), np.array([0, 0])))
    complete = np.full((20, 20), 100, dtype=np.int8)
    assert share_inside(sparse.csr_array(complete), np.arange(20) % 2) == 0.5
