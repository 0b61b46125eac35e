import doctest
import json

import pytest

pytest.importorskip("networkx")

from benchmarks.unseen import __main__ as command
from benchmarks.unseen import configuration, graphs, measure, report, rival
from equigraph.exceptions import MissingDependencyError


@pytest.fixture(scope="module")
def cases():
    return graphs.suite(3)


@pytest.fixture
def cold(monkeypatch):
    """Measure in this process without running everything once before: here nobody reads the seconds."""
    monkeypatch.setattr(measure, "warm_up", lambda: None)


def test_whole_run_and_resume(cases, cold, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(command, "suite", {3: cases}.__getitem__)  # drawn before
    pytest.importorskip("igraph")
    path = tmp_path / "run.json"
    options = ["--long", "0.1", "--vieclus", "0.2", "--json", str(path), "--cases", "miserables"]
    try:
        rival.check_vieclus()
    except MissingDependencyError:  # the wheel is built for newer processors than some that CI runs on
        options.append("--no-vieclus")
    assert command.main(["--seeds", "3", *options]) == 0
    stored = json.loads(path.read_text(encoding="utf-8"))
    (outcome,) = stored["outcomes"]
    assert [point["fairness"] for point in outcome["points"]] == [0, 0.2, 0.5, 0.8]
    for point in outcome["points"]:
        assert point["best"] >= max(point["ours"], point["louvain"])
        assert point["seconds"] > 0
    # The highest modularity of this graph.
    if "--no-vieclus" not in options:
        assert outcome["duel"]["vieclus"] == pytest.approx(0.5667, abs=1e-4)
    assert "4 points" in capsys.readouterr().out
    assert command.main(["--seeds", "3", *options, "--resume"]) == 0
    assert "1 of 1" not in capsys.readouterr().err
    assert json.loads(path.read_text(encoding="utf-8"))["outcomes"][0] == outcome


def test_case_that_fails_is_told_and_others_go_on(cases, cold, capsys):
    whole = cases[-1]
    broken = graphs.Case("broken", whole.adjacency, whole.groups, 1000)
    settings = measure.Settings(long=0, vieclus=0)
    outcomes = list(command.run([(3, broken), (3, whole)], settings, 1))
    assert [outcome.error is None for outcome in outcomes] == [False, True]
    report.print_run(outcomes)
    assert "broken failed: " in capsys.readouterr().out


@pytest.mark.parametrize("module", [configuration, graphs, report, rival])
def test_examples_of_docstrings(module):
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
