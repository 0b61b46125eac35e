"""Fifty mistakes that people make, each with one sentence that names it and no option that is not there."""

import inspect
import re

import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import EquigraphError

TRIANGLES = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
TEAMS = ["x", "y", "x", "y", "x", "y"]
LABELS = [0, 0, 0, 1, 1, 1]
PLAIN = eg.Graph(TRIANGLES)
GRAPH = eg.Graph(TRIANGLES, list("abcdef"), TEAMS, "team")
MODEL = eg.FairLouvain(2)
CURVE = eg.tradeoff_curve(GRAPH, estimator=MODEL, fairness=[0, 1], random_state=0)
RESULT = eg.cluster(GRAPH, method="random", n_clusters=2, random_state=0)
TABLE = eg.compare(GRAPH, methods=["random"], n_clusters=2, n_seeds=2)


# What is called, how, and a word that the message must have.
MISTAKES = [
    # graphs
    (eg.as_graph, ("nowhere.csv",), {}, "read_graph"),
    (eg.as_graph, (7,), {}, "int"),
    (eg.as_graph, (np.triu(TRIANGLES),), {}, "symmetrize"),
    (eg.read_graph, ("nowhere.csv",), {}, "nowhere.csv"),
    (eg.read_graph, (GRAPH,), {"attribute": "age"}, "age"),
    (eg.knn_graph, (np.ones((5, 2)),), {"n_neighbors": 9}, "n_neighbors"),
    # groups
    (MODEL.fit, (TRIANGLES,), {"sensitive_features": TEAMS[:4]}, "4"),
    (MODEL.fit, (TRIANGLES,), {"sensitive_features": [*TEAMS[:5], None]}, "missing"),
    (MODEL.fit, (TRIANGLES,), {"sensitive_features": np.ones((6, 2, 2))}, "shape"),
    (MODEL.fit, (GRAPH,), {"sensitive_features": "club"}, "club"),
    (eg.Graph, (TRIANGLES, list("aabcde")), {}, "'a'"),
    # estimators
    (eg.FairPartition(0).fit, (GRAPH,), {}, "n_clusters"),
    (eg.FairPartition(9).fit, (GRAPH,), {}, "9"),
    (eg.FairPartition(2, fairness=2).fit, (GRAPH,), {}, "fairness"),
    (eg.FairPartition(2, notion="colour").fit, (GRAPH,), {}, "notion"),
    (eg.FairPartition(2, size_bounds=5).fit, (GRAPH,), {}, "size_bounds"),
    (eg.FairPartition(2, size_bounds=(5, 6)).fit, (GRAPH,), {}, "5"),
    (eg.FairPartition(2, at_least=7).fit, (GRAPH,), {}, "at_least"),
    (eg.FairPartition(2, random_state="x").fit, (GRAPH,), {}, "random_state"),
    (eg.FairPartition(2, effort=-1).fit, (GRAPH,), {}, "effort"),
    (eg.FairPartition(2, rules={"apart": [("a", "zoe")]}).fit, (GRAPH,), {}, "zoe"),
    (eg.FairPartition(2, rules={"colour": 1}).fit, (GRAPH,), {}, "colour"),
    (eg.FairPartition(2, rules={"apart": [("a", "b", "c")]}).fit, (GRAPH,), {}, "apart"),
    (eg.IFairNMTF(2, fairness=-1).fit, (GRAPH,), {}, "fairness"),
    (eg.SpectralClustering(99).fit, (GRAPH,), {}, "99"),
    # by name
    (eg.cluster, (GRAPH,), {}, "n_clusters"),
    (eg.cluster, (GRAPH,), {"method": "magic", "n_clusters": 2}, "magic"),
    (eg.cluster, (GRAPH,), {"k": 2}, "'k'"),
    (eg.fair_communities, (GRAPH, "team", 99), {}, "99"),
    (eg.refine_labels, (GRAPH, LABELS[:4]), {}, "4"),
    (eg.refine_labels, (GRAPH, [0] * 6), {}, "n_clusters"),
    # curves
    (eg.tradeoff_curve, (GRAPH,), {}, "n_clusters"),
    (eg.tradeoff_curve, (PLAIN,), {"n_clusters": 2}, "sensitive_features"),
    (eg.tradeoff_curve, (GRAPH,), {"estimator": eg.NMTF(2)}, "dial"),
    (eg.tradeoff_curve, (GRAPH,), {"n_clusters": 2, "fairness": [2]}, "fairness"),
    (eg.tradeoff_curve, (GRAPH,), {"n_clusters": 2, "n_restarts": 0}, "n_restarts"),
    (CURVE.select, ("elbow",), {}, "elbow"),
    (CURVE.at_least, (2,), {}, "fairness"),
    (CURVE.values, ("colour",), {}, "colour"),
    (CURVE.plot, ("pie",), {}, "pie"),
    # comparisons, numbers of clusters, explanations
    (eg.compare, (GRAPH,), {"n_clusters": 2, "methods": "magic"}, "magic"),
    (eg.compare, (GRAPH,), {"n_clusters": 2, "methods": [object]}, "object"),
    (eg.compare, (GRAPH,), {"n_clusters": 2, "metrics": ["colour"]}, "colour"),
    (TABLE.tests, ("NB",), {"baseline": "magic"}, "magic"),
    (eg.stability, (GRAPH, [1]), {}, "k_range"),
    (RESULT.explain, ("zoe",), {}, "zoe"),
    # metrics
    (eg.metrics.modularity_score, (GRAPH, LABELS[:4]), {}, "4"),
    (eg.metrics.normalized_balance_score, (LABELS,), {"sensitive_features": TEAMS[:4]}, "4"),
    (eg.metrics.evaluate, (GRAPH, LABELS), {"further": ["colour"]}, "colour"),
    # files
    (eg.ClusteringResult.load, ("nowhere",), {}, "nowhere"),
    (eg.Comparison.load, ("nowhere.json",), {}, "nowhere.json"),
    (eg.read_roster, ("nowhere.xlsx",), {}, "nowhere.xlsx"),
]  # fmt: skip


def options_of(function):
    """Return the options that the user of a function can give: its own, those of its estimator, and of reading."""
    # "shape" and "n_samples" are words that scikit-learn asks for; messages on groups name options of read_graph.
    names = {"shape", "n_samples", "missing", *inspect.signature(function).parameters}
    owner = getattr(function, "__self__", None)
    if hasattr(owner, "get_params"):
        names |= set(owner.get_params(deep=False))
    if "parameters" in names:
        names |= set(eg.FairPartition()._get_param_names())
    return names


@pytest.mark.parametrize(("function", "args", "options", "word"), MISTAKES)
def test_one_sentence_that_names_no_option_that_is_not_there(function, args, options, word):
    with pytest.raises(EquigraphError) as caught:
        function(*args, **options)
    text = str(caught.value)
    assert word in text
    assert "\n" not in text
    assert len(text) < 400
    assert text.endswith((".", "?"))
    assert not set(re.findall(r"\b([a-z_]+)=(?!=)", text)) - options_of(function), text
