"""Point 5: what is said of rho is what it measures."""

import itertools

import numpy as np
import pytest

from equigraph.metrics import individual_balance_score
from equigraph.metrics.scores import SCORES

PRINTED, TOLD = SCORES["rho"].short, SCORES["rho"].meaning


def test_point_05_even_clusters_score_what_the_text_says():
    for c in (2, 4, 7):
        labels, groups = np.repeat([0, 1, 2], 2 * c), np.tile(["x", "y"], 3 * c)
        assert individual_balance_score(labels, sensitive_features=groups) == pytest.approx((c - 1) / c)
    assert "4 of a group in every cluster score 0.75" in TOLD
    assert "(c - 1) / c" in individual_balance_score.__doc__


def test_point_05_one_is_out_of_reach():
    """Every division of eight nodes into two or three clusters: none scores 1, as the texts say."""
    groups = list("xxxxyyyy")
    best = max(
        individual_balance_score(labels, sensitive_features=groups)
        for k in (2, 3)
        for labels in itertools.product(range(k), repeat=8)
        if len(set(labels)) > 1
    )
    assert best < 1
    assert "below 1" in PRINTED
    assert "1 is out of reach" in TOLD
    for text in (PRINTED, TOLD):
        assert "evenly" not in text
