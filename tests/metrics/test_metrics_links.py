"""Shares of links, against a loop over all pairs."""

import numpy as np
import pytest

import equigraph as eg


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


def test_wrong_number_of_labels():
    with pytest.raises(eg.exceptions.ParameterError, match="2 labels for 3 nodes"):
        eg.metrics.link_shares(np.ones((3, 3)) - np.eye(3), [0, 1])
