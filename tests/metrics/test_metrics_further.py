"""Conductance, normalised cut and proportional balance against their definitions."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from equigraph.exceptions import ParameterError
from equigraph.metrics import (
    conductance_score,
    evaluate,
    normalized_cut_score,
    proportional_balance_score,
)
from tests.metrics.test_metrics_quality import random_graph


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.booleans(), st.integers(2, 5))
def test_cuts_are_the_definition(seed, weighted, k):
    A = random_graph(seed, weighted=weighted)
    labels = np.random.default_rng(seed).permutation(np.arange(len(A)) % k)
    cuts = [A[labels == c][:, labels != c].sum() for c in range(k)]
    volumes = [A[labels == c].sum() for c in range(k)]
    ncut = sum(cut / volume for cut, volume in zip(cuts, volumes, strict=True) if volume)
    each = [
        cut / min(volume, A.sum() - volume) if min(volume, A.sum() - volume) else 0.0
        for cut, volume in zip(cuts, volumes, strict=True)
    ]
    graph = sparse.csr_array(A)
    assert normalized_cut_score(graph, labels) == pytest.approx(ncut)
    assert conductance_score(graph, labels) == pytest.approx(np.mean(each))
    assert conductance_score(graph, labels, average="max") == pytest.approx(max(each))


def test_conductance_is_that_of_networkx():
    graph = nx.karate_club_graph()
    parts = nx.community.louvain_communities(graph, seed=0)
    expected = [nx.conductance(graph, part, weight="weight") for part in parts]
    assert conductance_score(graph, parts) == pytest.approx(np.mean(expected))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("xyz")), min_size=2, max_size=30))
def test_proportional_balance_is_the_definition(pairs):
    labels, groups = map(np.array, zip(*pairs, strict=True))
    scores, sizes = [], []
    for cluster in sorted(set(labels.tolist())):
        members = groups[labels == cluster]
        ratios = []
        for group in sorted(set(groups.tolist())):
            share, whole = np.mean(members == group), np.mean(groups == group)
            ratios.append(min(share / whole, whole / share) if share else 0.0)
        scores.append(min(ratios))
        sizes.append(members.size)
    options = {"sensitive_features": groups}
    assert proportional_balance_score(labels, **options) == pytest.approx(np.mean(scores))
    assert proportional_balance_score(labels, **options, average="min") == pytest.approx(min(scores))
    weighted = proportional_balance_score(labels, **options, average="weighted")
    assert weighted == pytest.approx(np.average(scores, weights=sizes))


def test_evaluate_computes_further_scores_by_name():
    graph = nx.barbell_graph(4, 0)
    labels, groups = [0] * 4 + [1] * 4, list("xyxyxyxy")
    found = evaluate(
        graph, labels, sensitive_features=groups, further=["ncut", "conductance", "PB", "min_PB"]
    )
    assert found["ncut"] == pytest.approx(2 / 13)
    assert found["conductance"] == pytest.approx(1 / 13)
    assert found["PB"] == found["min_PB"] == 1.0
    assert "ncut" not in evaluate(graph, labels)
    with pytest.raises(ParameterError, match="further='cut'"):
        evaluate(graph, labels, further=["cut"])
