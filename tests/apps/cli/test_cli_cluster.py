import json

import numpy as np
import pytest

import equigraph as eg
from equigraph.results.contents import RESULT_FILES
from tests.tables import rows_of


def test_files_in_files_out(run, source, graph, tmp_path):
    out = tmp_path / "deep" / "out"
    run("cluster", *source, "-k", 3, "--fairness", 0.2, "--seed", 1, "-o", out)
    assert sorted(file.name for file in out.iterdir()) == sorted(RESULT_FILES)
    rows = rows_of(out / "labels.csv")
    assert {row["group"] for row in rows} == {"boy", "girl"}
    told = json.loads((out / "result.json").read_text(encoding="utf-8"))
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
    assert "30 nodes, 73 edges; gender: boy (15), girl (15)" in answer.stdout
    assert "modularity: edges within clusters" in answer.stdout
    assert "normalised balance" in answer.stdout
    cells = [line.split() for line in answer.stdout.splitlines()]
    assert ["all", "30", "15", "15"] in cells
    assert f"to {tmp_path / 'out'}." in answer.stdout


@pytest.mark.parametrize(
    ("method", "options", "expected"),
    [
        ("ifair-nmtf", "--seed 12 --init spectral --dtype none", {"init": "spectral", "dtype": None}),
        ("ifair-nmtf", "-P self_pairs=no --tol 1e-9", {"self_pairs": False, "tol": 1e-9}),
        ("dfnmf", "--layers 8,4 --exponent 0.25", {"layers": [8, 4], "exponent": 0.25}),
        ("dfnmf", "--layers 8 --seed 12", {"layers": [8], "random_state": 12}),
    ],
)
def test_options_reach_the_estimator_and_warnings_are_single_notes(run, method, options, expected):
    asked = ["-m", method, "-k", 3, "-P", "max_iter=7", *options.split()]
    answer = run("cluster", "dataset:classroom", *asked, "--json")
    assert {**expected, "max_iter": 7}.items() <= json.loads(answer.stdout)["parameters"].items()
    (line,) = answer.stderr.splitlines()
    assert line.startswith("Note: ")
    assert "did not converge in max_iter=7" in line


def test_reading_options(run, tmp_path):
    edges, groups = tmp_path / "edges.dat", tmp_path / "groups.csv"
    edges.write_text("a;b;2\nb;a;4\nb;c;1\nc;d;1\nd;a;1\n", encoding="utf-8")
    # Names of columns may be numbers.
    groups.write_text("2024,7,1\nred,a,x\nblue,b,x\nred,c,y\nblue,d,y\nred,zoe,y\n", encoding="utf-8")
    reading = "--format edges --no-header --delimiter ; --symmetrize max --node-column 7"
    args = ["cluster", edges, "--groups", groups, *reading.split(), "-m", "random", "-k", 2]
    assert "zoe" in run(*args, "--attribute", 2024, code=2).stderr
    for attribute, said in ((2024, "2024: blue (2), red"), (1, "1: x (2), y"), (0, "2024: blue (2), red")):
        answer = run(*args, "--attribute", attribute, "--unknown", "ignore", "--weight", 2)
        assert f"4 nodes, 4 weighted edges; {said} (2)" in answer.stdout
    run(*args, "--attribute", 1, "--unknown", "ignore", "--weight", "none")


def test_without_groups(run, files):
    answer = run("cluster", files / "friends.csv", "-k", 3, "-m", "nmtf")
    assert "no groups" in answer.stdout
    assert "NB" not in answer.stdout
    answer = run("cluster", files / "friends.csv", "-k", 3)
    assert "there are no groups" in answer.stderr


def test_pictures_of_as_many_clusters_as_come_out(run, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    asked = ["-m", "fair-louvain", "-k", "none", "--plot", "-q", "-o", out]
    assert run("cluster", "dataset:classroom", *asked).stdout == ""
    assert {file.stem for file in out.glob("*.png")} == {"graph", "interaction", "composition"}
    assert (out / "interaction.csv").read_text().startswith("cluster,other,interaction")
