"""Folders of the commands come back as they were, and broken ones are refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import equigraph as eg
from equigraph.exceptions import InputError
from equigraph.graph import read_graph
from equigraph.report.stored import read_folder


def test_a_result_comes_back(result: eg.ClusteringResult, tmp_path: Path) -> None:
    result.save(tmp_path)
    back, point = read_folder(tmp_path)
    assert point is None
    assert isinstance(back, eg.ClusteringResult)
    assert back.labels.tolist() == result.labels.tolist()
    assert back.node_names.tolist() == result.node_names.tolist()
    assert back.sensitive_features is not None
    assert back.sensitive_features.tolist() == np.asarray(result.sensitive_features).tolist()
    np.testing.assert_allclose(back.interaction, result.interaction, rtol=1e-9)
    assert back.summary() == result.summary()


def test_a_sparse_result_comes_back(tmp_path: Path) -> None:
    pairs = nx.disjoint_union_all([nx.path_graph(2) for _ in range(40)])
    result = eg.cluster(read_graph(pairs, groups=np.arange(80) % 2), method="louvain", random_state=0)
    result.save(tmp_path)
    back, _ = read_folder(tmp_path)
    assert isinstance(back, eg.ClusteringResult)
    np.testing.assert_allclose(back.interaction.toarray(), result.interaction.toarray())


def test_a_curve_comes_back_with_its_point(curve: eg.TradeoffCurve, tmp_path: Path) -> None:
    curve.to_json(tmp_path / "curve.json", recommended={"index": 2})
    curve.labels_to_csv(curve.points[2], tmp_path / "labels.csv")
    back, point = read_folder(tmp_path)
    assert isinstance(back, eg.TradeoffCurve)
    assert back.summary() == curve.summary()
    assert point is back.points[2]
    for one, other in zip(back.points, curve.points, strict=True):
        assert one.labels.tolist() == other.labels.tolist()


def edit(path: Path, **changes: object) -> None:
    told = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        told.pop(key) if value is None else told.update({key: value})
    path.write_text(json.dumps(told), encoding="utf-8")


@pytest.mark.parametrize(
    ("break_it", "part"),
    [
        (lambda f: (f / "result.json").unlink(), "holds neither result.json nor curve.json"),
        (lambda f: (f / "result.json").write_text("{"), "is no JSON"),
        (lambda f: (f / "result.json").write_text("[]"), "has no entry"),
        (lambda f: edit(f / "result.json", seed=None), "has no entry 'seed'"),
        (lambda f: edit(f / "result.json", n_nodes=31), "30 rows for 31 nodes"),
        (lambda f: edit(f / "result.json", n_clusters=2), "has the cluster 2"),
        (lambda f: (f / "labels.csv").unlink(), "labels.csv is missing"),
        (lambda f: (f / "labels.csv").write_text("a,b\n1,2\n"), "no table with the columns node and cluster"),
        (
            lambda f: (f / "labels.csv").write_text("node,cluster\n" + "a,x\n" * 30),
            "a cluster that is no number",
        ),
        (lambda f: (f / "interaction.csv").write_text("1,2\n3,4\n"), "no interaction of 3 clusters"),
    ],
)
def test_broken_folders(result: eg.ClusteringResult, tmp_path: Path, break_it: object, part: str) -> None:
    result.save(tmp_path)
    break_it(tmp_path)  # type: ignore[operator]
    with pytest.raises(InputError, match=part):
        read_folder(tmp_path)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        read_folder(tmp_path / "nowhere")
