from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import equigraph as eg
from equigraph.analysis.tradeoff import TradeoffCurve
from equigraph.graph import Graph
from tests.tables import rows_of

Make = Callable[..., TradeoffCurve]
SCORES = ["Q", "B", "NB", "min_balance", "rho", "n_nonempty"]


@pytest.fixture(scope="module")
def curve(room: Graph) -> TradeoffCurve:
    model = eg.FairLouvain(3)
    return eg.tradeoff_curve(room, estimator=model, fairness=[0, 0.1, 1], n_restarts=2, random_state=0)


def test_table_has_one_row_per_point(curve: TradeoffCurve) -> None:
    table = curve.table()
    pairs = [f"{name}_{what}" for name in SCORES for what in ("mean", "std")]
    assert list(table) == [
        "fairness",
        *SCORES,
        *pairs,
        "stability",
        "sizes",
        "seed",
        "n_restarts",
        "status",
        "on_front",
    ]
    assert all(column.shape == (3,) for column in table.values())
    assert table["Q"].tolist() == [point.scores["Q"] for point in curve.points]
    assert table["NB_std"].tolist() == [point.spreads["NB"] for point in curve.points]
    assert table["sizes"][0] == " ".join(map(str, curve.points[0].sizes))


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frames(curve: TradeoffCurve, backend: str) -> None:
    pytest.importorskip(backend)
    frame = curve.to_frame(backend)
    assert frame.shape == (3, 25)
    assert list(frame["NB"].to_numpy()) == curve.values("NB").tolist()


def test_parquet(curve: TradeoffCurve, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    curve.to_parquet(tmp_path / "curve.parquet")
    stored = parquet.read_table(tmp_path / "curve.parquet").to_pydict()
    assert stored == {name: column.tolist() for name, column in curve.table().items()}


def test_csv_and_json(curve: TradeoffCurve, tmp_path: Path) -> None:
    curve.to_csv(tmp_path / "curve.csv")
    rows = rows_of(tmp_path / "curve.csv")
    assert [float(row["NB"]) for row in rows] == curve.values("NB").tolist()
    curve.to_json(tmp_path / "curve.json")
    told = json.loads((tmp_path / "curve.json").read_text(encoding="utf-8"))
    assert {name: told[name] for name in curve.summary()} == curve.summary()
    assert told["labels"] == [point.labels.tolist() for point in curve.points]
    assert told["nodes"] == curve.node_names.tolist()
    assert told["points"][1]["scores"] == dict(curve.points[1].scores)
    assert told["seeds"] == [0, 1]
    assert told["parameters"]["n_clusters"] == 3
    assert not {"fairness", "random_state"} & set(told["parameters"])


def test_a_single_restart_is_null_in_json(make_curve: Make, tmp_path: Path) -> None:
    single = make_curve([0.5, 0.4], [0.6, 0.8])
    single.to_json(tmp_path / "curve.json")
    text = (tmp_path / "curve.json").read_text(encoding="utf-8")
    assert "NaN" not in text
    assert json.loads(text)["points"][0]["stability"] is None


def test_labels_of_a_point(curve: TradeoffCurve, tmp_path: Path) -> None:
    curve.labels_to_csv(curve.points[2], tmp_path / "labels.csv")
    rows = rows_of(tmp_path / "labels.csv")
    assert [int(row["cluster"]) for row in rows] == curve.points[2].labels.tolist()
    assert [row["group"] for row in rows] == curve.sensitive_features.tolist()


def test_representations_tell_the_collapse(make_curve: Make) -> None:
    collapsed = make_curve([0.4, 0.0], [0.3, 1.0], found=[3, 1])
    assert repr(collapsed) == (
        "TradeoffCurve(Hand, 2 points, fairness 0 to 1, 1 to 3 of 3 clusters, Q 0.000 to 0.400, "
        "NB 0.300 to 1.000)"
    )
    assert (
        repr(collapsed.points[1]) == "TradeoffPoint(fairness=1, Q=0.000, B=1.000, NB=1.000, 1 of 3 clusters)"
    )
    assert "3 clusters, Q" in repr(make_curve([0.4, 0.2], [0.3, 1.0]))
