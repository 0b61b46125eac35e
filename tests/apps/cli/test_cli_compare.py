"""``equigraph compare``."""

import json

import pytest
from scipy import sparse

import equigraph as eg

ROOM = ["compare", "dataset:classroom", "-k", 3]


def test_a_failing_method(run, monkeypatch):
    def broken(*args, **kwargs):
        raise RuntimeError("the cable\n is out")

    monkeypatch.setattr(eg.SymNMF, "fit", broken)
    answer = run(*ROOM, "--methods", "sym-nmf,random", "--seeds", 1)
    assert "sym-nmf failed: the cable is out" in answer.stdout
    run(*ROOM, "--methods", "sym-nmf", "--seeds", 1, code=1)


@pytest.mark.parametrize("suffix", ["csv", "json", "md", "tex"])
def test_what_is_written_and_printed(run, tmp_path, suffix):
    path = tmp_path / f"table.{suffix}"
    path.write_text("mine")
    args = [*ROOM, "--methods", "random,nmtf", "--seeds", 2, "-o", path]
    assert "is there already" in run(*args, code=2).stderr
    assert path.read_text() == "mine"
    answer = run(*args, "--force")
    assert "random" in path.read_text()
    assert f"Wrote {path}." in answer.stdout
    assert [line.split()[0] for line in answer.stdout.splitlines()[3:5]] == ["random", "nmtf"]


def test_json_and_fairness_of_one_method(run):
    args = [*ROOM, "--methods", "ifair-nmtf,dfnmf", "--seeds", 1, "--json"]
    told = json.loads(run(*args, "--fairness", 20, "--fairness", "dfnmf=0").stdout)
    plain = json.loads(run(*args, "--fairness", 0).stdout)
    assert told["rows"][0]["NB"] > plain["rows"][0]["NB"]
    assert told["rows"][1]["NB"] == plain["rows"][1]["NB"]
    assert told["rows"][0]["status"] == "max_iter"


def test_several_graphs_metrics_and_paired_tests(run, tmp_path):
    other, path = tmp_path / "other.npz", tmp_path / "seeds.csv"
    sparse.save_npz(other, sparse.csr_array(eg.datasets.make_classroom().adjacency))
    answer = run(
        "compare", "dataset:classroom", other, "-k", 3, "-k", "other=2", "--methods", "random,nmtf", "--metrics",
        "Q,conductance", "--seeds", 2, "--baseline", "random", "--intervals", "--per-seed", path,
    )  # fmt: skip
    assert "Against random, in pairs over the graphs:" in answer.stdout
    assert "no p below 0.5 is possible" in answer.stderr
    assert len(path.read_text().splitlines()) == 1 + 2 * 2 * 2
