"""The sentences, against naive counts."""

import math
from dataclasses import replace
from fractions import Fraction
from html import unescape

import numpy as np
import pytest

import equigraph as eg
from equigraph.apps.report import page
from equigraph.apps.report.findings import aligned, findings_of
from equigraph.graph import Graph
from equigraph.metrics import composition
from tests.apps.report.conftest import as_result, make_large


def naive_mirroring(labels, groups):
    mirror = 0
    for cluster in set(labels):
        inside = [group for label, group in zip(labels, groups, strict=True) if label == cluster]
        mirror += all(
            0.9 * math.floor(due) <= inside.count(g) + 1e-9 and inside.count(g) <= math.ceil(due) / 0.9 + 1e-9
            for g in set(groups)
            for due in [Fraction(len(inside) * groups.count(g), len(groups))]
        )
    return mirror


def page_of(result, graph, baseline=False):
    text = page.make_page(findings_of(result, graph, baseline=baseline))
    return unescape(text).replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("seed", range(20))
def test_mirroring_counts_what_a_naive_count_does(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, 60)
    groups = rng.choice(["a", "b", "c"], 60, p=[0.6, 0.3, 0.1])
    found = page.mirroring(composition(labels, sensitive_features=groups))
    assert found["n_close"] == naive_mirroring(labels.tolist(), groups.tolist())
    inside = groups[labels == found["cluster"]]
    assert found["share"] == pytest.approx((inside == found["group"]).mean())
    assert found["population"] == pytest.approx((groups == found["group"]).mean())


@pytest.mark.parametrize(
    ("clusters", "sentence"),
    [
        (["ab", "ab"], "Every cluster mirrors the population by g exactly."),
        (["aba", "ba"], "Every cluster is as close to the population by g as whole nodes allow"),
        (["ab" * 24 + "a", "b" + "ab" * 25], "Every cluster mirrors the population by g as closely as whole"),
        (["a" * 26 + "b" * 24, "a" * 24 + "b" * 26], "Every cluster mirrors the population by g."),
        # A group of 3 % that one cluster lacks: off by three points only, and no mirror.
        (["a" * 100, "a" * 94 + "b" * 6], "None of 2 clusters mirrors the population by g"),
        # Nobody can be in two clusters.
        (["ab" * 5, "ab" * 4 + "ac"], "Every cluster mirrors the population by g as closely as whole nodes"),
        (["aa", "bb"], "None of 2 clusters mirrors the population by g; the widest gap is in"),
        (["ab", "ab", "aaaa"], "2 of 3 clusters mirror the population by g"),
        (["aabb"], "Everybody is in the same cluster"),
    ],
)
def test_fairness_sentences(clusters, sentence):
    groups = np.array(list("".join(clusters)))
    labels = np.repeat(np.arange(len(clusters)), [len(one) for one in clusters])
    graph = Graph(np.ones((groups.size, groups.size)) - np.eye(groups.size), None, groups, "g")
    text = page_of(as_result(graph, labels), None)
    assert f'<p class="lead">{sentence}' in text
    few, many = min(map(len, clusters)), max(map(len, clusters))
    sizes = f"{few}" if few == many else f"{few} to {many}"
    headline = f"{len(clusters)} clusters of {sizes}" if len(clusters) > 1 else f"1 cluster of all {few}"
    assert f"<h1>{headline}</h1>" in text


def test_remarks_name_ungrouped_nodes_small_groups_and_small_clusters():
    n = 20
    groups = np.array([*"ab" * 9, "c", None], dtype=object)
    graph = Graph(np.ones((n, n)) - np.eye(n), None, groups, "g", missing="ignore")
    labels = np.array([0] * 10 + [1] * 9 + [2])
    result = replace(as_result(graph, labels), parameters={"n_clusters": 3})
    text = page_of(result, None)
    assert "1 node without a group: it counts for cohesion and sizes, for no group's share." in text
    assert "No clustering has a member of c (1) in each of 3 clusters: that group has fewer" in text
    sentence = "Cluster 2 has 1 node, which nobody asked for: size_bounds of FairPartition avoid it."
    assert sentence in text
    asked = replace(result, parameters={"n_clusters": 3, "size_bounds": [1, None]})
    assert sentence not in page_of(asked, None)


def test_links_inside_by_weight_and_against_a_baseline():
    weights = np.array([[0, 3, 1, 0], [3, 0, 0, 0], [1, 0, 0, 4], [0, 0, 4, 0]], dtype=float)
    graph = Graph(weights, None, np.array(list("abab")), "g")
    result = as_result(graph, np.array([0, 0, 1, 1]))
    findings = findings_of(result, graph, baseline=np.array([0, 1, 0, 0]))
    assert findings.within(findings.labels) == pytest.approx(7 / 8)
    sentence = "88 % of the link weight stays inside a cluster, 25 points more than in the baseline."
    assert sentence in page_of(result, graph, np.array([0, 1, 0, 0]))
    graph = Graph(np.zeros((4, 4)), None, np.array(list("abab")), "g")
    assert "inside a cluster" not in page_of(as_result(graph, np.array([0, 0, 1, 1])), graph)


def test_too_many_clusters_are_not_aligned():
    notes = []
    labels = np.arange(2001)
    assert aligned(labels, labels, {}, "before", notes) is None
    assert "2,001 clusters, too many" in notes[0]


def test_every_score_has_a_name_and_a_meaning():
    graph, labels = make_large(30, 3, 2)
    scores = {*eg.metrics.evaluate(graph, labels), "mouflon", "evenness", "within"}
    assert scores == set(page.NAMES) == set(page.MEANINGS)
