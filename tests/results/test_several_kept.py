"""Several attributes in folders, files, notebooks and plots."""

import json
from dataclasses import replace

import numpy as np
import pytest

import equigraph as eg
from equigraph.analysis.comparison import Comparison
from equigraph.exceptions import InputError
from equigraph.results.features import stored_features

pytestmark = [
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallClusterWarning"),
    pytest.mark.filterwarnings("ignore::equigraph.exceptions.SmallGroupWarning"),
]


@pytest.fixture(scope="module")
def graph():
    room = eg.datasets.make_classroom()
    house = room.house.astype(object)
    house[[3, 8]] = None
    age = np.random.default_rng(0).integers(9, 13, 30)
    return eg.read_graph(
        eg.Graph(room.adjacency, room.node_names),
        {"gender": room.sensitive_features, "house": house, "age": age},
        missing="ignore",
        attribute_weights={"house": 2},
        bins={"age": 2},
    )


@pytest.fixture(scope="module")
def result(graph):
    return eg.cluster(graph, n_clusters=3, effort=0.1, random_state=0)


def test_clustering_round_trip_with_several_attributes(graph, result, tmp_path):
    result.save(tmp_path / "out")
    loaded = eg.ClusteringResult.load(tmp_path / "out")
    assert loaded.scores == result.scores
    assert loaded.attribute == "gender, house, age"
    assert loaded.attribute_options == result.attribute_options == graph.attribute_options
    for name, column in graph.features.items():
        assert loaded.features[name].tolist() == column.tolist()
    assert loaded.attributes.codes.tolist() == graph.attributes.codes.tolist()
    assert eg.metrics.evaluate(graph, loaded.labels, n_clusters=3) == result.scores


def test_binned_attribute_round_trip(tmp_path):
    room = eg.datasets.make_classroom()
    age = np.random.default_rng(0).integers(9, 13, 30)
    graph = eg.read_graph(room.adjacency, age, "age", bins={"age": 3})
    result = eg.cluster(graph, n_clusters=3, effort=0, random_state=0)
    result.save(tmp_path / "out")
    loaded = eg.ClusteringResult.load(tmp_path / "out")
    assert loaded.sensitive_features.tolist() == age.tolist()
    assert loaded.groups.names.tolist() == graph.groups.names.tolist()
    assert "mean_gap[age]" in loaded.scores
    assert "NB[age]" not in loaded.scores


def test_curve_round_trip_with_several_attributes(graph, tmp_path):
    curve = eg.tradeoff_curve(
        graph, estimator=eg.FairLouvain(n_clusters=3), fairness=[0, 1], notion="evenness", random_state=0
    )
    curve.save(tmp_path / "curve")
    loaded = eg.TradeoffCurve.load(tmp_path / "curve")
    assert loaded.attribute == "gender, house, age"
    assert loaded.attributes.weights.tolist() == [0.25, 0.5, 0.25]
    scores = loaded.points[-1].scores
    each = [scores[name] for name in loaded.attribute_measures().values()]
    assert scores[curve.measure] == pytest.approx(np.average(each, weights=[1, 2, 1]))
    assert list(scores)[:7] == ["Q", "B", "NB", "min_balance", "rho", curve.measure, "n_nonempty"]


def test_comparisons_have_the_scores_of_every_attribute(graph, tmp_path):
    table = eg.compare(graph, methods=["random"], n_clusters=3, n_seeds=1)
    each = [table.rows[0].by_attribute[f"NB[{name}]"] for name in graph.features]
    assert np.average(each, weights=[1, 2, 1]) == pytest.approx(table.rows[0].NB)
    table.to_json(tmp_path / "table.json")
    assert Comparison.load(tmp_path / "table.json") == table
    table.to_csv(tmp_path / "table.csv")
    assert "NB[house]" in (tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "NB[house]" in table.markdown()


def test_weights_of_a_method_are_kept_as_such(graph, tmp_path):
    own = eg.cluster(graph, n_clusters=3, effort=0, attribute_weights={"age": 5}, random_state=0)
    own.save(tmp_path / "out")
    told = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert told["parameters"]["attribute_weights"] == {"age": 5}
    assert [one["weight"] for one in told["attributes"]] == [1, 1, 5]
    assert replace(own, status=None).attributes.weights.tolist() == pytest.approx([1 / 7, 1 / 7, 5 / 7])


@pytest.mark.parametrize("pair", [("a", "=b"), (1, 2), (1.5, 2.5), (True, False)])
def test_groups_round_trip(tmp_path, pair):
    values = [*(pair * 14), None, np.nan]
    room = eg.datasets.make_classroom()
    features = np.array(values, dtype=object)
    graph = eg.Graph(room.adjacency, room.node_names, features, "team", missing="ignore")
    result = eg.cluster(graph, n_clusters=3, effort=0, random_state=0)
    result.save(tmp_path / "result")
    again = eg.ClusteringResult.load(tmp_path / "result")
    values[-1] = None  # both are empty cells
    assert again.sensitive_features.tolist() == values
    assert again.groups.n_ungrouped == 2
    curve = eg.tradeoff_curve(graph, estimator=eg.FairLouvain(n_clusters=3), fairness=[0, 1], random_state=0)
    curve.save(tmp_path / "curve")
    assert eg.TradeoffCurve.load(tmp_path / "curve").sensitive_features.tolist() == values


def test_missing_column_raises(tmp_path):
    entries = [{"name": name, "weight": 1, "bins": None, "n_ungrouped": 0} for name in "ab"]
    with pytest.raises(InputError, match="missing in the labels"):
        stored_features(entries, {"group[a]": np.array(["x"])}, tmp_path)
