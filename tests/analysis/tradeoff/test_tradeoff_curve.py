import json

import pytest

import equigraph as eg
from equigraph.exceptions import ParameterError
from equigraph.metrics.notions import Notion
from tests.tables import rows_of

SCORES = ["Q", "B", "NB", "min_balance", "rho", "n_nonempty"]


@pytest.fixture(scope="module")
def curve(room):
    model = eg.FairLouvain(3)
    return eg.tradeoff_curve(room, estimator=model, fairness=[0, 0.1, 1], n_restarts=2, random_state=0)


def test_table_has_one_row_per_point(curve):
    table = curve.table()
    pairs = [f"{name}_{what}" for name in SCORES for what in ("mean", "std")]
    further = ["stability", "sizes", "seed", "n_restarts", "status", "on_front"]
    assert list(table) == ["fairness", *SCORES, *pairs, *further]
    assert all(column.shape == (3,) for column in table.values())
    assert table["Q"].tolist() == [point.scores["Q"] for point in curve.points]
    assert table["NB_std"].tolist() == [point.spreads["NB"] for point in curve.points]
    assert table["sizes"][0] == " ".join(map(str, curve.points[0].sizes))


def test_csv_and_json(curve, tmp_path):
    curve.to_csv(tmp_path / "curve.csv")
    rows = rows_of(tmp_path / "curve.csv")
    assert [float(row["NB"]) for row in rows] == curve.values("NB").tolist()
    curve.to_json(tmp_path / "curve.json")
    told = json.loads((tmp_path / "curve.json").read_text(encoding="utf-8"))
    assert {name: told[name] for name in curve.summary()} == curve.summary()
    assert told["labels"] == [point.labels.tolist() for point in curve.points]
    assert told["nodes"] == curve.node_names.tolist()
    assert not {"fairness", "random_state"} & set(told["parameters"])
    curve.labels_to_csv(curve.points[1], tmp_path / "labels.csv")
    clusters = [int(row["cluster"]) for row in rows_of(tmp_path / "labels.csv")]
    assert clusters == curve.points[1].labels.tolist()


def halves(counts, population):
    size = 0
    for count in counts:
        size += count
    return 1 - abs(2 * counts[0] / size - 1)


def test_curves_and_results_with_a_custom_notion(room, tmp_path):
    notion = Notion("halves", "H", halves)
    model = eg.FairLouvain(3, notion=notion, random_state=0)
    curve = eg.tradeoff_curve(room, estimator=model, fairness=[0, 1])
    curve.save(tmp_path)
    back = eg.TradeoffCurve.load(tmp_path)
    assert back.summary() == curve.summary()
    assert back.at_least(0.5).scores == curve.at_least(0.5).scores
    # Not told of the normalised balance, for which nothing was searched.
    result = eg.cluster(room, method="fair-louvain", n_clusters=3, notion=notion, random_state=0)
    with pytest.raises(ParameterError, match="custom notion"):
        result.explain("Naledi")


def test_a_single_restart_is_null_in_json(make_curve, tmp_path):
    single = make_curve([0.5, 0.4], [0.6, 0.8])
    single.to_json(tmp_path / "curve.json")
    text = (tmp_path / "curve.json").read_text(encoding="utf-8")
    assert "NaN" not in text
    assert json.loads(text)["points"][0]["stability"] is None


def test_repr_shows_the_collapse(make_curve):
    collapsed = make_curve([0.4, 0.0], [0.3, 1.0], found=[3, 1])
    assert "fairness 0 to 1, 1 to 3 of 3 clusters" in repr(collapsed)
    assert "NB=1.000, 1 of 3 clusters" in repr(collapsed.points[1])
