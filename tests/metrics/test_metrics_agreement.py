"""Accuracy against all permutations; the wrappers against scikit-learn."""

from itertools import permutations

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st

from equigraph.metrics import (
    adjusted_rand_score,
    clustering_accuracy,
    normalized_mutual_info_score,
)

FAST = settings(max_examples=40, deadline=None)
PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=30)


def naive_accuracy(true, pred):
    """Try every one-to-one matching of the predicted clusters with the true ones (or with nothing)."""
    names = sorted(set(pred))
    options = [*sorted(set(true)), *[None] * len(names)]
    return max(
        sum(t == mapping[p] for t, p in zip(true, pred, strict=True))
        for mapping in (dict(zip(names, c, strict=True)) for c in permutations(options, len(names)))
    ) / len(true)


@FAST
@given(PAIRS)
def test_accuracy_is_the_best_matching(pairs):
    true, pred = [p[0] for p in pairs], [p[1] for p in pairs]
    expected = naive_accuracy(true, pred)
    assert clustering_accuracy(true, pred) == pytest.approx(expected)
    assert clustering_accuracy(pred, true) == pytest.approx(expected)


def test_accuracy_of_many_clusters_uses_a_sparse_table():
    n = 10_000  # a dense table would be 10,000 x 5,000
    true, pred = np.arange(n), np.random.default_rng(0).permutation(n) // 2
    assert clustering_accuracy(true, pred) == 0.5


@FAST
@given(PAIRS)
def test_wrappers_agree_with_scikit_learn(pairs):
    true, pred = [p[0] for p in pairs], [p[1] for p in pairs]
    names = [f"c{p}" for p in pred]
    expected = sklearn.metrics.normalized_mutual_info_score(true, pred)
    assert normalized_mutual_info_score(true, names) == pytest.approx(expected)
    assert adjusted_rand_score(true, names) == pytest.approx(sklearn.metrics.adjusted_rand_score(true, pred))
