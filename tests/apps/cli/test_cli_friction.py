"""Options given twice, endings, outputs, signals and hints on the command line."""

import importlib
import json
import os
import signal
import sys
from html import unescape
from pathlib import Path

import pytest

import equigraph as eg
from equigraph.apps.cli.output import Stop
from tests.tables import rows_of

ROOM = "dataset:classroom"
DIVERGING = "-m ifair-nmtf --fairness 1e6 --no-self-pairs --max-iter 2000 --tol 0"
ENDLESS = ["-k", "3", "-m", "nmtf", "--max-iter", "1000000000", "--tol", "0"]


@pytest.mark.parametrize(
    ("args", "status", "sentence"),
    [
        (["-m", "nmtf"], "converged", None),
        (["-m", "nmtf", "--max-iter", 3], "max_iter", "used all its iterations"),
        (DIVERGING.split(), "diverged", "should not be relied on"),
        ([*ENDLESS[2:], "--time-limit", 0.01], "stopped", "was stopped before its end"),
        (["-m", "sc"], None, None),
    ],
)
def test_how_a_fit_ended_is_in_every_artefact(run, tmp_path, args, status, sentence):
    out = tmp_path / "out"
    answer = run("cluster", ROOM, "-k", 3, *args, "-o", out, "--report")
    assert json.loads((out / "result.json").read_text(encoding="utf-8"))["status"] == status
    assert eg.ClusteringResult.load(out).status == status
    page = (out / "report.html").read_text(encoding="utf-8")
    assert ('class="caution"' in page) == (sentence is not None)
    assert sentence is None or sentence in page
    assert (f", {status})" in answer.stdout.splitlines()[1]) == (status is not None)
    assert ("Note: stopped by the time limit of 0.01 s:" in answer.stderr) == (status == "stopped")


@pytest.mark.parametrize("command", ["cluster", "tradeoff", "refine"])
@pytest.mark.parametrize("where", ["/proc/nowhere/out", "file"])
def test_an_impossible_output_is_refused_before_the_graph_is_read(run, tmp_path, monkeypatch, command, where):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("here")
    labels = ["labels.csv"] if command == "refine" else []
    # The graph is not there either: the output is looked at first.
    answer = run(command, "nowhere.csv", *labels, "-k", 3, "-o", where, code=2)
    assert answer.stderr.startswith(f"Error: The output {where} ")
    assert len(answer.stderr.splitlines()) == 1


def test_results_of_other_runs_need_force(run, tmp_path):
    out = tmp_path / "out"
    first = ["cluster", ROOM, "-m", "nmtf", "-k", 3, "-o", out]
    run(*first)
    run(*first, "-q")  # the same run again
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for other in (["cluster", ROOM, "-m", "nmtf", "-k", 4, "-o", out], ["demo", "-o", out]):
        answer = run(*other, code=2)
        assert "holds the result of another run (`equigraph cluster dataset:classroom -m" in answer.stderr
        assert "replace it with the option force" in answer.stderr
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    run("cluster", ROOM, "-m", "nmtf", "-k", 4, "-o", out, "--force")
    assert eg.ClusteringResult.load(out).n_clusters == 4


@pytest.mark.skipif(os.name != "posix", reason="sends POSIX signals")
@pytest.mark.parametrize(
    ("number", "args", "file", "kept"),
    [
        (signal.SIGINT, ["compare", "--methods", "nmtf", "-k", 3], "t.json", lambda out: eg.Comparison.load(out).rows),
        (signal.SIGTERM, ["tradeoff", "-m", "fair-louvain", "-k", 3], "", lambda out: eg.TradeoffCurve.load(out).front),
        (signal.SIGTERM, ["cluster", *ENDLESS], "", lambda out: eg.ClusteringResult.load(out).status == "stopped"),
        (signal.SIGINT, ["refine", "labels.csv"], "", lambda file: eg.ClusteringResult.load(file).n_clusters == 3),
        (signal.SIGTERM, ["choose-k", "-m", "fair-louvain"], "", lambda out: rows_of(out / "stability.csv")),
    ],
)  # fmt: skip
def test_a_signal_keeps_what_there_is(run, tmp_path, monkeypatch, number, args, file, kept):
    heard, sent, real = [], [], Stop.__call__

    def call(self, progress):
        if not sent:
            sent.append(os.kill(os.getpid(), number))
        return real(self, progress)

    monkeypatch.setattr(Stop, "__call__", call)
    monkeypatch.chdir(tmp_path)
    people = eg.datasets.make_classroom().node_names
    Path("labels.csv").write_text("".join(f"{name},{i % 3}\n" for i, name in enumerate(people)))
    # What the command does not hear must not end the tests.
    before = signal.signal(number, lambda *_: heard.append(number))
    try:
        answer = run(args[0], ROOM, *args[1:], "-o", tmp_path / "out" / file, code=128 + number)
    finally:
        signal.signal(number, before)
    assert sent
    assert not heard
    assert "Note: stopped by " in answer.stderr
    assert kept(tmp_path / "out" / file)


def test_unmatched_names_are_listed_beside_the_labels(run, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\nc,d\nd,e\n", encoding="utf-8")
    (tmp_path / "people.csv").write_text("name,team\na,x\nb,y\nc,x\nd,y\n=zoe,x\nyan,y\n", encoding="utf-8")
    pytest.importorskip("matplotlib")
    args = ["cluster", tmp_path / "edges.csv", "--groups", tmp_path / "people.csv", "-m", "random", "-k", 2]
    out = tmp_path / "out"
    answer = run(*args, "--missing", "drop", "--unknown", "ignore", "-o", out, "--report")
    assert "2 names without a match left out: see unmatched.csv." in answer.stderr
    assert "1 node without a group left out: see dropped.csv." in answer.stderr
    assert rows_of(out / "unmatched.csv") == [{"name": "'=zoe"}, {"name": "yan"}]
    assert rows_of(out / "dropped.csv") == [{"node": "e"}]
    assert [row["node"] for row in rows_of(out / "labels.csv")] == ["a", "b", "c", "d"]
    assert eg.ClusteringResult.load(out).labels.size == 4
    assert json.loads((out / "result.json").read_text())["source"]["n_dropped"] == 1
    assert "1 node without a group was left out before" in (out / "report.html").read_text(encoding="utf-8")
    # Ignored nodes are clustered. Nobody is left out, and the files of the older result are gone.
    (tmp_path / "people.csv").write_text("name,team\na,x\nb,y\nc,x\nd,y\ne,\n", encoding="utf-8")
    answer = run(*args, "--missing", "ignore", "-o", out, "--report", "--plot", "--force")
    assert answer.stderr == ""
    sentence = "1 node without a group: it counts for cohesion and sizes, for no group's share."
    assert sentence in answer.stdout
    assert sentence in unescape((out / "report.html").read_text(encoding="utf-8"))
    assert [row["group"] for row in rows_of(out / "labels.csv")] == ["x", "y", "x", "y", ""]
    assert json.loads((out / "result.json").read_text())["n_ungrouped"] == 1
    assert not {"unmatched.csv", "dropped.csv"} & {path.name for path in out.iterdir()}


def test_cite(run):
    answer = run("cite")
    assert answer.stdout == eg.cite()
    assert "10.1007/978-981-97-2242-6_23" in answer.stdout
    assert f"version = {{{eg.__version__}}}" in answer.stdout


def test_dir_shows_public_names_only():
    assert dir(eg) == sorted(eg.__all__)
    assert [name for name in dir(eg) if name.startswith("_")] == ["__version__"]
    assert all(getattr(eg, name) is not None for name in dir(eg))
    for package in (eg.metrics, importlib.import_module("equigraph.graph")):
        assert dir(package) == sorted(package.__all__)
        assert all(getattr(package, name) is not None for name in dir(package))
        assert not hasattr(package, "nonsense")
    assert eg.metrics.notions.NORMALIZED.name


def test_terminal_escapes_in_names_are_shown_not_obeyed(run, tmp_path):
    bad = "\x1b]0;owned\x07\u202e\x7f"
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\nc,d\n", encoding="utf-8")
    (tmp_path / "people.csv").write_text(f"name,te{bad}am\na,x{bad}\nb,y\nc,x{bad}\nd,y\n", encoding="utf-8")
    args = [tmp_path / "edges.csv", "--groups", tmp_path / "people.csv"]
    for answer in (
        run("cluster", *args, "-m", "random", "-k", 2),
        run("cluster", *args, "-k", 2, "--attribute", f"x{bad}", code=2),
        run("compare", *args, "-k", 2, "--methods", "random", "--seeds", 1),
    ):
        assert not set(answer.stdout + answer.stderr) & set("\x1b\x07\u202e\x7f")
    assert "x\\x1b]0;owned\\x07\\u202e" in run("cluster", *args, "-m", "random", "-k", 2).stdout
    told = run("cluster", *args, "-m", "random", "-k", 2, "--json").stdout
    assert json.loads(told)["attribute"] == f"te{bad}am"


@pytest.mark.parametrize(
    ("flag", "package", "extra"), [("--plot", "matplotlib", "plot"), ("--parquet", "pyarrow", "io")]
)
def test_a_package_that_is_missing_is_told_first(run, tmp_path, monkeypatch, flag, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    answer = run("cluster", "nowhere.csv", "-k", 3, flag, "-o", tmp_path / "out", code=1)
    assert answer.stderr.count("\n") == 1
    assert f"pip install 'equigraph[{extra}]'" in answer.stderr
    assert list(tmp_path.iterdir()) == []
