import json

import numpy as np
import pytest

import equigraph as eg
from equigraph.results.contents import RESULT_FILES
from tests.tables import rows_of


def test_files_in_files_out(run, source, files, tmp_path):
    out = tmp_path / "deep" / "out"
    run("cluster", *source, "-k", 3, "--fairness", 0.2, "--seed", 1, "-o", out)
    assert sorted(file.name for file in out.iterdir()) == sorted(RESULT_FILES)
    rows = rows_of(out / "labels.csv")
    assert len(rows) == 30
    assert {row["group"] for row in rows} == {"boy", "girl"}
    told = json.loads((out / "result.json").read_text(encoding="utf-8"))
    graph = eg.read_graph(files / "friends.csv", groups=files / "people.csv", attribute="gender")
    expected = eg.cluster(graph, n_clusters=3, fairness=0.2, random_state=1)
    assert [int(row["cluster"]) for row in rows] == expected.labels.tolist()
    assert told["scores"] == pytest.approx(dict(expected.scores))
    assert told["parameters"]["fairness"] == 0.2
    assert "callbacks" not in told["parameters"]
    with np.load(out / "membership.npz") as stored:
        assert np.array_equal(stored["membership"], expected.membership)
    assert np.loadtxt(out / "interaction.csv", delimiter=",").shape == (3, 3)


def test_summary_says_scores_sizes_and_where(run, source, tmp_path):
    answer = run("cluster", *source, "-k", 3, "-m", "nmtf", "-o", tmp_path / "out")
    assert "30 nodes, 73 edges; gender: 15 boy, 15 girl" in answer.stdout
    assert "modularity: edges within clusters" in answer.stdout
    assert "normalised balance" in answer.stdout
    cells = [line.split() for line in answer.stdout.splitlines()]
    assert ["all", "30", "15", "15"] in cells
    assert f"to {tmp_path / 'out'}." in answer.stdout


def test_warnings_are_single_notes_on_stderr(run):
    answer = run("cluster", "dataset:classroom", "-m", "ifair-nmtf", "-k", 3, "--max-iter", 2, "--json")
    lines = answer.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("Note: IFairNMTF did not converge in max_iter=2")
    assert "Warning" not in answer.stderr


def test_options_reach_the_estimator(run):
    options = ["--tol", "0", "--init", "spectral", "--no-self-pairs", "--dtype", "none", "-P", "max_iter=7"]
    answer = run("cluster", "dataset:classroom", "-m", "ifair-nmtf", "-k", 3, "--json", *options)
    expected = {"tol": 0, "init": "spectral", "self_pairs": False, "dtype": None, "max_iter": 7}
    assert expected.items() <= json.loads(answer.stdout)["parameters"].items()


def test_without_groups(run, files):
    answer = run("cluster", files / "friends.csv", "-k", 3, "-m", "nmtf")
    assert "no groups" in answer.stdout
    assert "NB" not in answer.stdout
    answer = run("cluster", files / "friends.csv", "-k", 3)
    assert "there are no groups" in answer.stderr


def test_reading_options(run, tmp_path):
    edges = tmp_path / "edges.dat"
    edges.write_text("a;b;2\nb;a;4\nb;c;1\nc;d;1\nd;a;1\n", encoding="utf-8")
    groups = tmp_path / "groups.csv"
    groups.write_text("team,id\nred,a\nblue,b\nred,c\nblue,d\nred,zoe\n", encoding="utf-8")
    reading = "--format edges --no-header --delimiter ; --symmetrize max --node-column id --attribute team"
    args = [edges, "--groups", groups, *reading.split(), "-m", "random", "-k", "2"]
    answer = run("cluster", *args, code=2)
    assert "zoe" in answer.stderr
    answer = run("cluster", *args, "--unknown", "ignore", "--weight", "2")
    assert "4 nodes, 4 weighted edges; team: 2 blue, 2 red" in answer.stdout
    answer = run("cluster", *args, "--unknown", "ignore", "--weight", "none")


def test_columns_named_by_a_number(run, tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("source,target\na,b\nb,c\nc,d\n", encoding="utf-8")
    groups = tmp_path / "groups.csv"
    groups.write_text("2024,7,1\nred,a,x\nblue,b,x\nred,c,y\nred,d,y\n", encoding="utf-8")
    args = ["cluster", edges, "-k", 2, "--groups", groups, "-m", "random", "--node-column", 7]
    assert "2024: 1 blue, 3 red" in run(*args, "--attribute", 2024).stdout
    assert "1: 2 x, 2 y" in run(*args, "--attribute", 1).stdout
    assert "2024: 1 blue, 3 red" in run(*args, "--attribute", 0).stdout


def test_pictures_of_as_many_clusters_as_come_out(run, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    answer = run(
        "cluster", "dataset:classroom", "-m", "fair-louvain", "-k", "none", "--plot", "-q", "-o", out
    )
    assert answer.stdout == ""
    assert {file.stem for file in out.glob("*.png")} == {"graph", "interaction", "composition"}
    assert (out / "interaction.csv").read_text().startswith("cluster,other,interaction")
