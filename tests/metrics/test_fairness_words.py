"""Exact tables and texts of a FairnessFrame on small graphs, with pandas and without."""

import numpy as np
import pytest

from equigraph.exceptions import GroupsError, ParameterError
from equigraph.graph import Graph
from equigraph.graph.groups import encode_groups
from equigraph.metrics import FairnessFrame

LINKS = [[0, 6], [0, 7], [1, 2], [1, 6], [1, 7], [2, 3], [3, 4], [4, 5], [5, 6]]
LINKS += [[8, 9], [9, 10], [10, 11], [8, 11]]
LABELS = list("aaaaaabbbbbb")
TEAM, SEX = list("xyyyyyxxxxyx"), list("mfmfmfmfmfmf")


def graph(n, links):
    A = np.zeros((n, n))
    for i, j in links:
        A[i, j] = A[j, i] = 1
    return A


def records(table):
    return table if isinstance(table, list) else table.reset_index().to_dict("records")


@pytest.fixture(scope="module")
def frame():
    return FairnessFrame(graph(12, LINKS), LABELS, sensitive_features={"team": TEAM, "sex": SEX})


def test_difference(frame):
    team, sex = records(frame.difference())
    assert team == pytest.approx(
        {"attribute": "team", "links_kept": 4 / 13, "without_link": 0.5, "alone": 0, "rho": 0}
    )
    assert sex == pytest.approx(
        {"attribute": "sex", "links_kept": 0, "without_link": 1 / 6, "alone": 0, "rho": 0}
    )


def test_the_worst(frame):
    alone = "among 6 people, where 2.3 others would be in proportion"
    usual = 5 * 5 / 11
    expected = [
        (0, "a", 2, 0, 0, f"no one of 2 linked people in the cluster; the only one of team 'x' {alone}"),
        (6, "b", 3, 0, 4, "no one of 3 linked people in the cluster"),
        (7, "b", 2, 0, 4, "no one of 2 linked people in the cluster"),
        (10, "b", 2, 2, 0, f"the only one of team 'y' {alone}"),
    ]
    heads = ("node", "cluster", "links", "kept", "fellows team", "reason")
    more = {"usual team": pytest.approx(usual), "fellows sex": 2, "usual sex": pytest.approx(usual)}
    assert records(frame.worst()) == [dict(zip(heads, row, strict=True)) | more for row in expected]
    assert len(records(frame.worst(1))) == 1
    with pytest.raises(ParameterError, match=r"FairnessFrame\.worst.* n .*0|n=0"):
        frame.worst(0)


def test_custom_score_gets_labels_and_groups():
    def first_of(labels, sensitive_features):
        return int(labels[0] == sensitive_features.codes[0])

    frame = FairnessFrame(
        graph(4, []), list("aabb"), sensitive_features=list("xyxy"), metrics={"own": first_of}
    )
    row = next(row for row in records(frame.chance(n_samples=200, random_state=0)) if row["score"] == "own")
    assert (row["attribute"], row["value"], row["samples"]) == ("group", 1.0, 200)
    assert 0.4 < row["chance"] < 0.6
    assert row["beats"] == pytest.approx(1 - row["chance"] / 2)


def test_cluster_without_grouped_nodes():
    groups = encode_groups(["x", "y", "x", None], missing="ignore")
    frame = FairnessFrame(graph(4, [(0, 1), (2, 3)]), list("aabc"), sensitive_features=groups)
    rows = records(frame.by_cluster)
    assert [row["NB group"] for row in rows] == pytest.approx([1.0, 1.0, float("nan")], nan_ok=True)
    first, second = records(frame.by_group)
    assert (first["least_share"], first["most_share"]) == (0.5, 1.0)
    assert (second["least_share"], second["most_share"], second["links_kept"]) == (0.0, 0.5, 1.0)
    alone = encode_groups([None, None, "x", "x"], missing="ignore")
    (only,) = records(FairnessFrame(graph(4, [(0, 1)]), list("aabb"), sensitive_features=alone).by_group)
    assert (only["least_share"], only["without_link"]) == (1.0, 0)
    assert np.isnan(only["links_kept"])


PAIRS = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])


def test_the_attribute_of_a_graph_names_its_groups():
    groups = encode_groups(list("xyxy"))
    graph = Graph(PAIRS, sensitive_features=list("xyxy"), attribute="team")
    assert list(FairnessFrame(graph, list("aabb")).attributes) == ["team"]
    assert list(FairnessFrame(graph, list("aabb"), sensitive_features=groups).attributes) == ["team"]
    assert list(FairnessFrame(PAIRS, list("aabb"), sensitive_features=groups).attributes) == ["group"]
    with pytest.raises(GroupsError, match="4 nodes"):
        FairnessFrame(PAIRS, list("aabb"), sensitive_features=encode_groups(list("xyx")))
