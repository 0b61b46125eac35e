"""Where a score stands among random ones, by hand; and what a frame takes for its attributes."""

import numpy as np
import pytest

from equigraph.exceptions import GroupsError
from equigraph.graph import Graph
from equigraph.graph.groups import encode_groups
from equigraph.metrics import FairnessFrame
from equigraph.metrics.audit_samples import _batches, standing

PAIRS = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])


@pytest.mark.parametrize(
    ("value", "confidence", "low", "high", "beats"),
    [(3, 0.5, 1.75, 3.25, 2.5 / 4), (9, 1, 1, 4, 1), (0, 0.2, 2.2, 2.8, 0), (2 + 1e-14, 1, 1, 4, 1.5 / 4)],
)
def test_standing(value, confidence, low, high, beats):
    found = standing(value, np.array([1.0, 2.0, 3.0, 4.0]), confidence)
    expected = {"value": value, "chance": 2.5, "low": low, "high": high, "beats": beats, "samples": 4}
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("n_samples", "entries", "sizes"), [(10, 3, [3, 3, 3, 1]), (4, 20, [1] * 4), (2, 0, [2]), (9, 1, [9])]
)
def test_batches(n_samples, entries, sizes):
    assert list(_batches(n_samples, entries, 9)) == sizes


def test_the_attribute_of_a_graph_names_its_groups():
    groups = encode_groups(list("xyxy"))
    graph = Graph(PAIRS, sensitive_features=list("xyxy"), attribute="team")
    assert list(FairnessFrame(graph, list("aabb")).attributes) == ["team"]
    assert list(FairnessFrame(graph, list("aabb"), sensitive_features=groups).attributes) == ["team"]
    assert list(FairnessFrame(PAIRS, list("aabb"), sensitive_features=groups).attributes) == ["group"]
    with pytest.raises(GroupsError, match="4 nodes"):
        FairnessFrame(PAIRS, list("aabb"), sensitive_features=encode_groups(list("xyx")))
