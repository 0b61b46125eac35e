"""``equigraph report``, and ``--report`` of the commands that cluster."""

import json
import shutil

import pytest

pytest.importorskip("matplotlib")


@pytest.mark.parametrize(
    "args",
    [
        ["cluster", "--effort", 0.1, "--seed", 4],
        ["tradeoff", "-m", "fair-louvain", "--points", 5, "--select", "knee"],
    ],
)
def test_a_command_writes_the_page_and_report_writes_the_same(run, files, source, tmp_path, args):
    out = tmp_path / "out"
    answer = run(args[0], *source, "-k", 3, *args[1:], "-o", out, "--report")
    assert "report.html" in answer.stdout
    page = (out / "report.html").read_text(encoding="utf-8")
    assert f"equigraph {args[0]} {files / 'friends.csv'} --groups" in page
    assert " ".join(map(str, args[1:])) in page
    if args[0] == "tradeoff":
        told = json.loads((out / "curve.json").read_text(encoding="utf-8"))
        assert f"at dial {told['recommended']['fairness']:.3g}" in page
    answer = run("report", out, "-o", tmp_path / "again.html")
    assert answer.stdout == f"Wrote {(tmp_path / 'again.html').resolve()}.\n"
    assert args[0] == "tradeoff" or answer.stderr == ""
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page
    run("report", out, "-q")
    assert (out / "report.html").read_text(encoding="utf-8") == page


def test_a_graph_that_changed_is_refused_and_one_that_is_gone_is_told(run, source, files, tmp_path):
    out, edges = tmp_path / "out", tmp_path / "friends.csv"
    shutil.copy(files / "friends.csv", edges)
    run("cluster", edges, *source[1:], "-m", "nmtf", "-k", 3, "-o", out)
    lines = edges.read_text(encoding="utf-8").splitlines(keepends=True)
    edges.write_text("".join(lines[:-1]), encoding="utf-8")
    answer = run("report", out, code=2)
    assert answer.stderr.startswith("Error: The graph (")
    assert "is not the one that was clustered" in answer.stderr
    assert not (out / "report.html").exists()
    edges.unlink()
    assert "--graph EDGES" in run("explain", out, "Naledi", code=2).stderr
    answer = run("report", out)
    assert "does not exist: give its path as --graph EDGES" in answer.stderr
    assert "The graph was not at hand" in (out / "report.html").read_text(encoding="utf-8")
    # The options of reading are remembered; only the file has moved.
    answer = run("report", out, "--graph", files / "friends.csv")
    assert "The graph was not at hand" not in (out / "report.html").read_text(encoding="utf-8")
    answer = run("report", out, "--graph", files / "friends.csv", "--attribute", "house", code=2)
    assert "is not the one that was clustered" in answer.stderr
