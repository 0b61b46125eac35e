"""``equigraph choose-k``."""

import json

import equigraph as eg
from tests.tables import rows_of

QUICK = ["-m", "fair-louvain", "--seeds", 2, "--removals", 2, "--from", 2, "--to", 4]


def test_the_folder_holds_table_consensus_and_picture(run, source, tmp_path):
    out = tmp_path / "out"
    answer = run("choose-k", *source, *QUICK, "-o", out)
    told = json.loads((out / "stability.json").read_text(encoding="utf-8"))
    assert [row["k"] for row in told["rows"]] == [2, 3, 4]
    assert told["conclusion"] in answer.stdout
    rows = rows_of(out / "nodes.csv")
    assert len(rows) == 30
    assert {row["cluster of 3"] for row in rows} == {"0", "1", "2"}
    assert len(rows_of(out / "stability.csv")) == 3
    assert (out / "manifest.json").exists()


def test_it_says_what_python_says(run, source, graph):
    answer = run("choose-k", *source, *QUICK, "--json", "--seed", 5, "--fairness", 0.3)
    model = eg.FairLouvain(fairness=0.3)
    found = eg.stability(graph, [2, 3, 4], estimator=model, n_seeds=2, n_removals=2, random_state=5)
    assert json.loads(answer.stdout) == json.loads(json.dumps(found.summary()))


def test_there_are_no_more_clusters_than_nodes(run, tmp_path):
    (tmp_path / "edges.csv").write_text("a,b\nb,c\nc,a\nc,d\n")
    told = json.loads(run("choose-k", tmp_path / "edges.csv", *QUICK[:2], "--json").stdout)
    assert [row["k"] for row in told["rows"]] == [2, 3, 4]
    (tmp_path / "edges.csv").write_text("a,a\n")
    answer = run("choose-k", tmp_path / "edges.csv", code=2)
    assert "--from 2 is above the number of nodes, 1." in answer.stderr
