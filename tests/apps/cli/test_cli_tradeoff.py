import json
import sys

import pytest

import equigraph as eg
from tests.tables import rows_of

ROOM = ["tradeoff", "dataset:classroom"]
LOUVAIN = [*ROOM, "-m", "fair-louvain", "-k", 3]


def test_files_in_files_out(run, source, graph, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "deep" / "out"
    answer = run("tradeoff", *source, "-m", "fair-louvain", "-k", 3, "--points", 6, "--seed", 2, "-o", out)
    names = ["curve.csv", "curve.json", "front.png", "labels.csv", "twin.png"]
    assert sorted(file.name for file in out.iterdir()) == sorted((*names, "manifest.json"))
    assert f"Wrote {', '.join(names)} to {out}." in answer.stdout
    values = [0, 0.2, 0.4, 0.6, 0.8, 1]
    expected = eg.tradeoff_curve(graph, estimator=eg.FairLouvain(3), fairness=values, random_state=2)
    assert [float(row["Q"]) for row in rows_of(out / "curve.csv")] == expected.values("Q").tolist()
    chosen = expected.select("product")
    labels = rows_of(out / "labels.csv")
    assert [int(row["cluster"]) for row in labels] == chosen.labels.tolist()
    assert [row["node"] for row in labels] == graph.node_names.tolist()
    told = json.loads((out / "curve.json").read_text(encoding="utf-8"))
    assert told["labels"] == [point.labels.tolist() for point in expected.points]
    assert told["seeds"] == [2]
    assert f"(dial {chosen.fairness:g}), where the product of cohesion" in answer.stdout


def test_table_has_a_row_per_value_and_an_arrow(run):
    answer = run(*LOUVAIN, "--fairness-values", "0,0.1,1", "--restarts", 2, "--max-quality-loss", 0)
    lines = answer.stdout.splitlines()
    assert lines[1].split() == ["NB", "Q", "links", "dial", "k", "sizes", "ARI"]
    rows = [line.split() for line in lines[3:6]]
    assert [row[3] for row in rows] == ["0", "0.1", "1"]
    assert [row[-1] == "<-" for row in rows] == [True, False, False]
    assert "the fairest clusters found that lose at most 0% of the best Q" in answer.stdout
    assert "nothing was written" in answer.stderr
    # A loss that rounds to nothing is not mentioned.
    assert "found is 0.474;" in run(*ROOM, "-m", "ifair-nmtf", "-k", 3, "--fairness-values", "0,10").stdout


def test_json_is_all_there_is_on_stdout(run):
    answer = run(*LOUVAIN, "--points", 3, "--json", "--at-least", 0.9)
    told = json.loads(answer.stdout)
    assert [point["fairness"] for point in told["points"]] == [0, 0.5, 1]
    assert told["recommended"]["rule"] == {"at_least": 0.9}
    assert told["points"][told["recommended"]["index"]]["scores"]["NB"] >= 0.9
    assert "NB of at least 0.9" in told["recommended"]["sentence"]
    assert told["points"][0]["stability"] is None


def test_without_matplotlib_the_tables_are_written(run, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    answer = run(*LOUVAIN, "--points", 2, "-o", tmp_path / "out")
    assert "equigraph[plot]" in answer.stderr
    assert not list((tmp_path / "out").glob("*.png"))
    assert (tmp_path / "out" / "curve.csv").exists()
