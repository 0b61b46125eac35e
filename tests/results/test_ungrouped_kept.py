"""Nodes without a group come back from folders as such."""

import numpy as np
import pytest

import equigraph as eg
from equigraph.graph import Graph
from equigraph.results.features import group_cells


def room_with(values):
    room = eg.datasets.make_classroom()
    return Graph(room.adjacency, room.node_names, np.array(values, dtype=object), "team", missing="ignore")


@pytest.mark.parametrize("pair", [("a", "=b"), (1, 2), (1.5, 2.5), (True, False)])
def test_groups_are_what_they_were_and_none_is_none(tmp_path, pair):
    values = [*(pair * 14), None, None]
    graph = room_with(values)
    result = eg.cluster(graph, n_clusters=3, effort=0, random_state=0)
    result.save(tmp_path / "result")
    again = eg.ClusteringResult.load(tmp_path / "result")
    assert again.sensitive_features is not None
    assert again.sensitive_features.tolist() == values
    assert again.groups is not None
    assert again.groups.n_ungrouped == 2
    curve = eg.tradeoff_curve(graph, estimator=eg.FairLouvain(n_clusters=3), fairness=[0, 1], random_state=0)
    curve.save(tmp_path / "curve")
    assert eg.TradeoffCurve.load(tmp_path / "curve").sensitive_features.tolist() == values


def test_nan_is_an_empty_cell():
    assert group_cells(np.array(["a", np.nan, None], dtype=object)).tolist() == ["a", None, None]
    whole = np.array([1, 2])
    assert group_cells(whole) is whole
